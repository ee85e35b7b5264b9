"""Tracing, differentiating and running small programs on the reference device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy
from rushlight import dtypes
from rushlight.devices import reference
from rushlight.graph.node import Graph, Value
from rushlight.graph.symbols import SymbolicInt, evaluate, hint_of
from rushlight.graph.trace import GraphContext, Number, Traced
from rushlight.ops.record import COMPOSITES, PRIMITIVES, Record
from rushlight.ops.samples import Draw
from rushlight.transform import reverse


def all_records() -> list[Record]:
    """The records that say how to call them."""
    found = {id(each): each for each in (*PRIMITIVES.values(), *COMPOSITES.values()) if each.samples is not None}
    return sorted(found.values(), key=lambda record: (record.name, type(record).__name__))


def flatten(result: Any) -> list[Any]:
    if isinstance(result, tuple | list):
        return [each for part in result for each in flatten(part)]
    return [] if result is None else [result]


class Program:
    """A traced function with the arrays it was traced for: its graph and its numbers."""

    def __init__(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        self.context = GraphContext()
        self.arrays: list[Any] = []
        mapped = [self._input(argument) for argument in args]
        named = {name: self._input(argument) for name, argument in kwargs.items()}
        with self.context.active():
            outputs = flatten(function(*mapped, **named))
        self.graph = self.context.finish(outputs)

    def _input(self, argument: Any) -> Any:
        if isinstance(argument, numpy.ndarray):
            return self.tensor(argument)
        if isinstance(argument, tuple | list):
            return type(argument)(map(self._input, argument))
        return argument

    def tensor(self, array: numpy.ndarray) -> Traced:
        environment, position = self.context.environment, len(self.arrays)
        shape = [environment.size(n, ("size", position, dim)) for dim, n in enumerate(array.shape)]
        self.arrays.append(array)
        return self.context.input(dtypes.from_numpy(array.dtype), shape)

    def number(self, number: Any) -> Traced:
        self.arrays.append(number)
        return self.context.number_input(number)

    @property
    def differentiable(self) -> list[Value]:
        return [value for value in self.graph.inputs if value.dtype.is_differentiable and not value.weak]


class RecordProgram(Program):
    """A record's sample call."""

    def __init__(self, record: Record, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        self.context = GraphContext()
        self.arrays = []
        self.sizes = 0
        mapped, named = record.map_arguments(args, kwargs, self.tensor, self.number, self._size)
        with self.context.active():
            outputs = flatten(record.trace(*mapped, **named))
        self.graph = self.context.finish([each for each in outputs if isinstance(each, Traced | Number)])

    def _size(self, number: int) -> Any:
        self.sizes += 1
        return self.context.environment.size(number, ("int", self.sizes - 1))


def sample_calls(record: Record, dtype: Any, smooth: bool = True) -> Iterator[tuple[tuple, dict[str, Any]]]:
    """The record's sample calls with arrays in the place of draws; smooth: without special values."""
    generator = numpy.random.default_rng(0)

    def draw(argument: Any) -> Any:
        if isinstance(argument, Draw):
            if smooth:
                argument = Draw(argument.shape, argument.low, argument.high, argument.dtype)
            target = argument.dtype or dtype
            return numpy.asarray(argument.array(dtype, generator)).astype(target.numpy)
        if isinstance(argument, tuple | list):
            return type(argument)(map(draw, argument))
        return argument

    for args, kwargs in record.samples(dtype):  # type: ignore[misc]
        yield tuple(map(draw, args)), {name: draw(each) for name, each in kwargs.items()}


def run(graph: Graph, arrays: Sequence[Any]) -> list[Any]:
    """The graph's outputs for these inputs, as arrays."""
    return reference.run(graph, list(arrays))


# ---------------------------------------------------------------- derivatives


class Backward:
    """The backward pass of a graph, made in a new environment from what ``saved_values`` keeps."""

    def __init__(self, graph: Graph, wrt: Sequence[Value], arrays: Sequence[Any], defined: Sequence[bool] | None = None) -> None:
        self.graph, self.wrt = graph, list(wrt)
        self.saved = reverse.saved_values(graph, wrt)
        self.hidden = [value for kind, value in self.saved.entries if kind == "hidden"]
        self.context = GraphContext()
        known = self._forward(arrays)
        sizes: dict[Any, Any] = {}
        self.arrays: list[Any] = []
        bindings, seeds = {}, {}
        for _, value in self.saved.entries:
            bindings[value] = self._input(value, known[value], sizes)
        for atom in graph.environment.symbols:
            sizes.setdefault(atom, self.context.environment.size(atom.hint))
        self.seeds = self.saved.outputs + [value for value in self.hidden if value.dtype.is_differentiable]
        for position, value in enumerate(self.seeds):
            if defined is None or (position < len(defined) and defined[position]):
                shape = [evaluate(size, lambda atom: hint_of(sizes[atom])) for size in value.shape]
                seeds[value] = self._input(value, numpy.ones(shape, value.dtype.numpy), sizes)
        self.seed_inputs = {value: traced.value for value, traced in seeds.items()}
        self.saved_inputs = {value: traced.value for value, traced in bindings.items()}
        with self.context.active():
            results = reverse.backward(graph, self.context, bindings, sizes.__getitem__, seeds, self.wrt)
        self.result = self.context.finish(results)

    def _forward(self, arrays: Sequence[Any]) -> dict[Value, Any]:
        wanted = list(dict.fromkeys(value for _, value in self.saved.entries))
        return dict(zip(wanted, values_of(self.graph, wanted, arrays), strict=True))

    def _input(self, value: Value, array: Any, sizes: dict[Any, Any]) -> Traced:
        if value.weak:
            self.arrays.append(array)
            return self.context.number_input(array)
        shape = [self.context.environment.size(n) for n in array.shape]
        for old, new in zip(value.shape, shape, strict=True):
            if isinstance(old, SymbolicInt) and len(old.terms) == 1:
                ((monomial, coefficient),) = old.terms.items()
                if coefficient == 1 and len(monomial) == 1 and monomial[0] == (monomial[0][0], 1):
                    if monomial[0][0].operation is None:
                        sizes[monomial[0][0]] = new
        self.arrays.append(array)
        return self.context.input(value.dtype, shape)

    def gradients(self, cotangents: Sequence[Any]) -> list[Any]:
        """The gradients for gradients of ``saved.outputs``; those of hidden values are zero."""
        hidden = [numpy.zeros_like(array) for array in self.arrays[len(self.saved.entries) + len(self.saved.outputs) :]]
        arrays = [*self.arrays[: len(self.saved.entries)], *cotangents, *hidden]
        return run(self.result, arrays)


def values_of(graph: Graph, wanted: Sequence[Value], arrays: Sequence[Any]) -> list[Any]:
    """Any values of a graph for these inputs."""
    view = Graph(graph.environment, graph.inputs, graph.nodes, list(wanted))
    return run(view, arrays)


def vjp(graph: Graph, wrt: Sequence[Value], arrays: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
    """The gradients of ``wrt`` for gradients of the graph's differentiable outputs that depend on them."""
    return Backward(graph, wrt, arrays).gradients(cotangents)


def random_like(array: Any, generator: numpy.random.Generator) -> Any:
    result = generator.standard_normal(array.shape)
    if array.dtype.kind == "c":
        result = result + 1j * generator.standard_normal(array.shape)
    return numpy.asarray(result).astype(array.dtype)


def dot(left: Sequence[Any], right: Sequence[Any]) -> float:
    """The real inner product of two lists of arrays; None is zero."""
    return float(sum(numpy.sum((a.conj() * b).real) for a, b in zip(left, right, strict=True) if a is not None and b is not None))


def with_direction(arrays: Sequence[Any], positions: Sequence[int], direction: Sequence[Any], step: float) -> list[Any]:
    moved = list(arrays)
    for position, each in zip(positions, direction, strict=True):
        moved[position] = moved[position] + step * each
    return moved
