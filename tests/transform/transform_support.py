"""Tracing, differentiating and running small programs on the reference device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy

from rushlight import dtypes
from rushlight.devices import reference
from rushlight.graph.expressions import evaluate
from rushlight.graph.node import Graph, Value
from rushlight.graph.symbols import SymbolicInt, hint_of
from rushlight.graph.trace import GraphContext, Number, Traced
from rushlight.ops.record import COMPOSITES, PRIMITIVES, Record
from rushlight.ops.samples import Draw
from rushlight.transform import reverse


def all_records() -> list[Record]:
    """The records that say how to call them."""
    found = {
        id(each): each
        for each in (*PRIMITIVES.values(), *COMPOSITES.values())
        if each.samples is not None
    }
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
        return [
            value for value in self.graph.inputs if value.dtype.is_differentiable and not value.weak
        ]


class RecordProgram(Program):
    """A record's sample call."""

    def __init__(self, record: Record, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        self.context = GraphContext()
        self.arrays = []
        self.sizes = 0
        mapped, named = record.map_arguments(args, kwargs, self._input, self.number, self._size)
        with self.context.active():
            outputs = flatten(record.trace(*mapped, **named))
        self.graph = self.context.finish(
            [each for each in outputs if isinstance(each, (Traced, *Number))]
        )

    def _size(self, number: int) -> Any:
        self.sizes += 1
        return self.context.environment.size(number, ("int", self.sizes - 1))


def sample_calls(
    record: Record, dtype: Any, smooth: bool = True
) -> Iterator[tuple[tuple, dict[str, Any]]]:
    """The sample calls with arrays in the place of draws; smooth: without special values."""
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
    """The graph's outputs for these inputs, as arrays. Sizes that were passed are those traced."""
    origins = [
        (atom.origin, atom.hint) for atom in graph.environment.symbols if atom.origin is not None
    ]
    ints = {origin[1]: hint for origin, hint in origins if origin[0] == "int"}
    return [
        None if each is None else each.data for each in reference.run(graph, list(arrays), ints)
    ]


# ---------------------------------------------------------------- derivatives


class Backward:
    """The backward pass of a graph, made in a new environment from what ``saved_values`` keeps."""

    def __init__(
        self,
        graph: Graph,
        wrt: Sequence[Value],
        arrays: Sequence[Any],
        defined: Sequence[bool] | None = None,
    ) -> None:
        self.graph, self.wrt = graph, list(wrt)
        self.saved = reverse.saved_values(graph, wrt)
        self.hidden = [value for kind, value in self.saved.entries if kind == "hidden"]
        self.context = GraphContext()
        known = self._forward(arrays)
        sizes: dict[Any, Any] = {}  # of the new context
        numbers: dict[Any, int] = {}  # what they are in this call
        for value, array in zip(graph.inputs, arrays, strict=True):
            if not value.weak:
                bind_symbols(numbers, value.shape, array.shape)
        self.arrays: list[Any] = []
        bindings, seeds = {}, {}
        for _, value in self.saved.entries:
            bindings[value] = self._input(value, known[value], sizes)
        for atom in graph.environment.symbols:
            if atom.hint is not None:
                origin = ("int", atom.key[1])
                sizes.setdefault(
                    atom, self.context.environment.size(numbers.get(atom, atom.hint), origin)
                )
        self.seeds = self.saved.outputs + [
            value for value in self.hidden if value.dtype.is_differentiable
        ]
        for position, value in enumerate(self.seeds):
            if defined is None or (position < len(defined) and defined[position]):
                shape = [evaluate(size, lambda atom: hint_of(sizes[atom])) for size in value.shape]
                seeds[value] = self._input(value, numpy.ones(shape, value.dtype.numpy), sizes)
        with self.context.active():
            results = reverse.backward(
                graph, self.context, bindings, sizes.__getitem__, seeds, self.wrt
            )
        self.result = self.context.finish(results)

    def _forward(self, arrays: Sequence[Any]) -> dict[Value, Any]:
        wanted = list(dict.fromkeys(value for _, value in self.saved.entries))
        return dict(zip(wanted, values_of(self.graph, wanted, arrays), strict=True))

    def _input(self, value: Value, array: Any, sizes: dict[Any, Any]) -> Traced:
        if value.weak:
            self.arrays.append(array)
            return self.context.number_input(array)
        position = sum(not each.weak for each in self.context.graph.inputs)
        shape = [
            self.context.environment.size(n, ("size", position, dim))
            for dim, n in enumerate(array.shape)
        ]
        bind_symbols(sizes, value.shape, shape)
        self.arrays.append(array)
        return self.context.input(value.dtype, shape)

    def gradients(
        self, cotangents: Sequence[Any], hidden: Sequence[Any] | None = None
    ) -> list[Any]:
        """The gradients for gradients of ``saved.outputs`` and of the hidden values (else zero)."""
        return run(self.result, self.inputs(cotangents, hidden))

    def inputs(self, cotangents: Sequence[Any], hidden: Sequence[Any] | None = None) -> list[Any]:
        saved, outputs = len(self.saved.entries), len(self.saved.outputs)
        if hidden is None:
            hidden = [numpy.zeros_like(array) for array in self.arrays[saved + outputs :]]
        return [*self.arrays[:saved], *cotangents, *hidden]

    def twice(self, cotangents: Sequence[Any], seeds: Sequence[Any]) -> list[Any]:
        """The gradients of ``wrt`` for gradients of the gradients, as a tape finds them.

        The backward pass is differentiated with respect to the saved values; what a saved output or
        hidden value gets goes through the first backward pass again.
        """
        kinds = [kind for kind, _ in self.saved.entries]
        inputs = self.result.inputs[: len(kinds)]
        wrt = [value for value in inputs if value.dtype.is_differentiable and not value.weak]
        active = reverse.dependents(self.result, wrt)
        kept = merged_seeds(self.result, seeds, active)
        arrays = self.inputs(cotangents)
        found = (
            dict(zip(wrt, Backward(self.result, wrt, arrays).gradients(kept), strict=True))
            if kept
            else {}
        )
        by_value = {
            value: found.get(new)
            for (_, value), new in zip(self.saved.entries, inputs, strict=True)
        }

        def gradient_of(value: Value, like: Any) -> Any:
            known = by_value.get(value) if value not in self.wrt else None
            return numpy.zeros_like(like) if known is None else known

        again = [
            gradient_of(value, array)
            for value, array in zip(self.seeds, arrays[len(kinds) :], strict=True)
        ]
        count = len(self.saved.outputs)
        through = self.gradients(again[:count], again[count:])
        return [
            _sum(by_value.get(value), each) for value, each in zip(self.wrt, through, strict=True)
        ]


def merged_seeds(graph: Graph, seeds: Sequence[Any], active: Any) -> list[Any]:
    """One seed for each different active output: the sum, if it is several outputs."""
    merged: dict[Value, Any] = {}
    for output, seed in zip(graph.outputs, seeds, strict=True):
        if output in active:
            merged[output] = _sum(merged.get(output), seed)
    return list(merged.values())


def _sum(left: Any, right: Any) -> Any:
    return right if left is None else left if right is None else left + right


def bind_symbols(sizes: dict[Any, Any], old: Sequence[Any], new: Sequence[Any]) -> None:
    """Note what each symbol that is a size of the one shape is in the other."""
    for size, replacement in zip(old, new, strict=True):
        atom = size.atom() if isinstance(size, SymbolicInt) else None
        if atom is not None:
            sizes[atom] = replacement


def values_of(graph: Graph, wanted: Sequence[Value], arrays: Sequence[Any]) -> list[Any]:
    """Any values of a graph for these inputs."""
    view = Graph(graph.environment, graph.inputs, graph.nodes, list(wanted))
    return run(view, arrays)


def vjp(
    graph: Graph, wrt: Sequence[Value], arrays: Sequence[Any], cotangents: Sequence[Any]
) -> list[Any]:
    """The gradients of ``wrt`` for gradients of the outputs that depend on them."""
    return Backward(graph, wrt, arrays).gradients(cotangents)


def random_like(array: Any, generator: numpy.random.Generator) -> Any:
    result = generator.standard_normal(array.shape)
    if array.dtype.kind == "c":
        result = result + 1j * generator.standard_normal(array.shape)
    return numpy.asarray(result).astype(array.dtype)


def dot(left: Sequence[Any], right: Sequence[Any]) -> float:
    """The real inner product of two lists of arrays; None is zero."""
    return float(
        sum(
            numpy.sum((a.conj() * b).real)
            for a, b in zip(left, right, strict=True)
            if a is not None and b is not None
        )
    )


def with_direction(
    arrays: Sequence[Any], positions: Sequence[int], direction: Sequence[Any], step: float
) -> list[Any]:
    moved = list(arrays)
    for position, each in zip(positions, direction, strict=True):
        moved[position] = moved[position] + step * each
    return moved
