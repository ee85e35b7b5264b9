"""The reference device: evaluates a graph node by node with NumPy. Slow, and as plain as can be.

Values are ``Array``: NumPy data and a dtype. NumPy has no bfloat16 and no complex32: these are kept
as float32 and complex64 whose values the narrow type can hold. Half-precision inputs are widened,
results are rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.expressions import evaluate
from ..graph.node import Graph, Node, Value
from ..graph.polynomials import Atom
from ..graph.symbols import DataDependentError, SymbolicInt
from ..graph.trace import PRIMITIVES, GraphContext, Traced
from ..ops.record import Record

_STORED = {dtypes.bfloat16: numpy.dtype("float32"), dtypes.complex32: numpy.dtype("complex64")}
_WIDE = {dtypes.float16: numpy.dtype("float32")}


@dataclass(eq=False)
class Array:
    """A value on the reference device."""

    data: numpy.ndarray
    dtype: DType

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape


class Generator:
    """PyTorch's CPU generator: a Mersenne twister. Has what records use of the native one: ``fill``
    and ``next_normal``.
    """

    def __init__(self, seed: int = 0) -> None:
        self.manual_seed(seed)

    def manual_seed(self, seed: int) -> Generator:
        key = numpy.empty(624, numpy.uint32)
        word = seed & 0xFFFFFFFF
        for position in range(624):
            key[position] = word
            word = (1812433253 * (word ^ (word >> 30)) + position + 1) & 0xFFFFFFFF
        self._twister = numpy.random.MT19937()
        self._twister.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": 624}}
        self.next_normal: float | None = None
        return self

    def fill(self, buffer: numpy.ndarray) -> None:
        """Write the next outputs into an array of 4- or 8-byte items."""
        words = buffer.itemsize // 4
        draws = self._twister.random_raw(buffer.size * words).reshape(-1, words)
        joined = draws[:, 0] if words == 1 else (draws[:, 0] << numpy.uint64(32)) | draws[:, 1]
        buffer[...] = joined.astype(buffer.dtype).reshape(buffer.shape)


default_generator = Generator()


def stored(data: Any, dtype: DType) -> Array:
    """Data rounded to a dtype."""
    data = numpy.asarray(data)
    if dtype is dtypes.bfloat16:
        return Array(_round_to_bfloat16(data.astype(numpy.float32)), dtype)
    if dtype is dtypes.complex32:
        parts = data.astype(numpy.complex64).view(numpy.float32) if data.ndim else None
        if parts is None:
            return Array(stored(data.reshape(1), dtype).data.reshape(()), dtype)
        return Array(parts.astype(numpy.float16).astype(numpy.float32).view(numpy.complex64), dtype)
    return Array(data.astype(dtype.numpy), dtype)


def _round_to_bfloat16(data: numpy.ndarray) -> numpy.ndarray:
    """float32 numbers rounded to the nearest bfloat16, ties to even."""
    bits = data.view(numpy.uint32)
    rounded = (
        bits + numpy.uint32(0x7FFF) + ((bits >> numpy.uint32(16)) & numpy.uint32(1))
    ) & numpy.uint32(0xFFFF0000)
    return numpy.where(numpy.isnan(data), data, rounded.view(numpy.float32))


def widened(array: Array) -> numpy.ndarray:
    """The data in the type in which records compute."""
    wide = _WIDE.get(array.dtype)
    return array.data if wide is None else array.data.astype(wide)


class Evaluation:
    """One run of a graph: what its values and symbols are."""

    def __init__(self, generator: Any = None) -> None:
        self.generator = generator or default_generator
        self.symbols: dict[Atom, int] = {}
        self.values: dict[Value, Array] = {}

    def run(
        self, graph: Graph, inputs: Sequence[Any], ints: dict[int, int] | None = None
    ) -> list[Array | None]:
        for atom in graph.environment.symbols:
            if atom.origin is not None and atom.origin[0] == "int" and ints is not None:
                self.symbols[atom] = ints[atom.origin[1]]
        arrays = [
            array if isinstance(array, Array) else stored(array, value.dtype)
            for value, array in zip(graph.inputs, inputs, strict=True)
        ]
        for value, array in zip(graph.inputs, arrays, strict=True):
            self.note_symbols(value, array)
        self.note_origins(
            graph, [x for value, x in zip(graph.inputs, arrays, strict=True) if not value.weak]
        )
        for value, array in zip(graph.inputs, arrays, strict=True):
            self.set(value, array, "input")
        for node in graph.nodes:
            self.step(node)
        return [None if value is None else self.values[value] for value in graph.outputs]

    def note_origins(self, graph: Graph, tensors: Sequence[Array]) -> None:
        """What the symbols are that no shape has alone, if they come from sizes of tensors."""
        for atom in graph.environment.symbols:
            if atom.origin is not None and atom.origin[0] == "size" and atom not in self.symbols:
                _, position, dim = atom.origin
                self.symbols[atom] = tensors[position].shape[dim]

    def note_symbols(self, value: Value, array: Array) -> None:
        """What the symbols are that are a size by themselves."""
        for expected, size in zip(value.shape, array.shape, strict=True):
            atom = expected.atom() if isinstance(expected, SymbolicInt) else None
            if atom is not None:
                self.symbols.setdefault(atom, size)

    def step(self, node: Node) -> None:
        inputs = [self.values[value] for value in node.inputs]
        results = apply_primitive(
            node.name,
            inputs,
            self.concrete(node.attributes),
            [v.dtype for v in node.outputs],
            self.generator,
        )
        for value, result in zip(node.outputs, results, strict=True):
            self.set(value, result, node.name)

    def set(self, value: Value, array: Array, name: str) -> None:
        """Note a value; lone symbols among its sizes get known here, others must be as derived."""
        if len(value.shape) != array.data.ndim:
            raise AssertionError(f"{name}: rank {array.data.ndim} instead of shape {value.shape}")
        self.note_symbols(value, array)
        for expected, size in zip(value.shape, array.shape, strict=True):
            if self.size(expected) != size:
                raise AssertionError(f"{name}: shape {array.shape} instead of {value.shape}")
        self.values[value] = array

    def size(self, size: Any) -> int:
        return evaluate(size, self.symbols.__getitem__)

    def concrete(self, attribute: Any) -> Any:
        """An attribute with numbers in the place of symbols."""
        if isinstance(attribute, SymbolicInt):
            return self.size(attribute)
        if isinstance(attribute, dict):
            return {name: self.concrete(each) for name, each in attribute.items()}
        return tuple(map(self.concrete, attribute)) if isinstance(attribute, tuple) else attribute


def apply_primitive(
    name: str,
    inputs: Sequence[Array],
    attributes: dict[str, Any],
    output_dtypes: Sequence[DType],
    generator: Any = None,
) -> list[Array]:
    """The results of one primitive."""
    if "generator" in attributes and attributes["generator"] is None:
        attributes = {**attributes, "generator": generator or default_generator}
    with numpy.errstate(all="ignore"):
        results = PRIMITIVES[name].evaluate([widened(x) for x in inputs], attributes)
        results = results if isinstance(results, tuple) else (results,)
        return [stored(result, dtype) for result, dtype in zip(results, output_dtypes, strict=True)]


def run(
    graph: Graph, inputs: Sequence[Any], ints: dict[int, int] | None = None, generator: Any = None
) -> list[Array | None]:
    """The graph's outputs. inputs: arrays and numbers; ints: the sizes that the call passed, by
    position.
    """
    return Evaluation(generator).run(graph, inputs, ints)


# ---------------------------------------------------------------- calls of operators


class _CallTracer:
    """Makes graph inputs of a call's arguments."""

    def __init__(self, symbolic: bool) -> None:
        self.context = GraphContext()
        self.symbolic = symbolic
        self.inputs: list[Any] = []
        self.ints: dict[int, int] = {}

    def size(self, size: int, origin: tuple) -> Any:
        return self.context.environment.size(size, origin) if self.symbolic else size

    def tensor(self, array: Array) -> Traced:
        position = sum(isinstance(each, Array) for each in self.inputs)
        self.inputs.append(array)
        shape = [self.size(size, ("size", position, dim)) for dim, size in enumerate(array.shape)]
        return self.context.input(array.dtype, shape)

    def number(self, number: Any) -> Traced:
        self.inputs.append(number)
        return self.context.number_input(number)

    def integer(self, size: int) -> Any:
        position = len(self.ints)
        self.ints[position] = size
        return self.size(size, ("int", position))


def trace_call(
    record: Record, args: Sequence[Any], kwargs: dict[str, Any], symbolic: bool = True
) -> tuple[Graph, list, dict, Any]:
    """The graph of a call with ``Array`` arguments, its inputs, its ints, and how the results lie
    in each other.
    """
    tracer = _CallTracer(symbolic)
    args, kwargs = record.map_arguments(args, kwargs, tracer.tensor, tracer.number, tracer.integer)
    with tracer.context.active():
        result = record.trace(*args, **kwargs)
    flat: list[Any] = []
    flatten(result, flat)
    graph = tracer.context.finish(flat)
    return graph, tracer.inputs, tracer.ints, result


def flatten(result: Any, into: list[Any]) -> None:
    """Collect the tensors in nested tuples and lists."""
    if isinstance(result, tuple | list):
        for each in result:
            flatten(each, into)
    else:
        into.append(result)


def call(
    record: Record, *args: Any, symbolic: bool = True, generator: Any = None, **kwargs: Any
) -> Any:
    """Run an operator on ``Array`` arguments: trace it (sizes as symbols unless told otherwise) and
    evaluate the graph.
    """
    graph, inputs, ints, result = trace_call(record, args, kwargs, symbolic)
    outputs = iter(run(graph, inputs, ints, generator))
    return _rebuild(result, outputs)


def _rebuild(result: Any, outputs: Any) -> Any:
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*(_rebuild(each, outputs) for each in result))
    if isinstance(result, tuple | list):
        return type(result)(_rebuild(each, outputs) for each in result)
    return next(outputs)


# ---------------------------------------------------------------- printed graphs


def run_text(
    text: str, inputs: Sequence[Any], sizes: dict[str, int] | None = None, generator: Any = None
) -> Any:
    """Run a printed graph (``graph/print.py``). sizes: the symbols by name that no input's shape
    tells.
    """
    namespace: dict[str, Any] = {each.name: each for each in dtypes.ALL}
    namespace |= {"nan": numpy.nan, "inf": numpy.inf, "max": max, "min": min}
    namespace |= {f"{name}_": _text_primitive(name, generator) for name in PRIMITIVES}
    exec(text, namespace)
    return namespace["graph"](*inputs, **(sizes or {}))


def _text_primitive(name: str, generator: Any) -> Callable[..., Any]:
    def function(*inputs: Array, outputs: Sequence[DType], **attributes: Any) -> Any:
        results = apply_primitive(name, inputs, attributes, outputs, generator)
        return results[0] if len(results) == 1 else tuple(results)

    return function


__all__ = [
    "Array",
    "DataDependentError",
    "Evaluation",
    "Generator",
    "apply_primitive",
    "call",
    "default_generator",
    "run",
    "run_text",
    "stored",
    "trace_call",
]
