"""How close a stage's values must be to the reference device's: by dtype, operator and size."""

from __future__ import annotations

from typing import Any

import numpy

from . import dtypes
from .devices.reference import Array
from .dtypes import dtype as DType
from .graph.node import Graph, Node, Value

_RELATIVE = {
    dtypes.float64: 1e-10,
    dtypes.complex128: 1e-10,
    dtypes.float32: 2e-5,
    dtypes.complex64: 1e-4,
    dtypes.float16: 8e-3,
    dtypes.bfloat16: 6e-2,
    dtypes.complex32: 2e-2,
}
_FLIPS = 1e-3  # share of elements that rounding may put on the other side of a comparison
_TOTALS = {"sum", "cumsum", "matmul", "scatter_add"}
_ADDITIVE = {"add", "sub", "fmod", "remainder", *_TOTALS}


class Comparison:
    """Compares values of a graph, knowing how rounding may have grown on the way to each."""

    def __init__(self) -> None:
        self.scale: dict[Value, float] = {}
        self.rounded: set[Value] = set()  # computed in floating point
        self.flipped: set[Value] = set()  # depends on a decision about rounded numbers

    def follow(self, graph: Graph, values: dict[Value, Array]) -> None:
        """Learn what a graph's values depend on."""
        for value in graph.inputs:
            self.scale[value] = _largest(values[value])
        for node in graph.nodes:
            inputs = [value for value in node.inputs if value in self.scale]
            from_numbers = any(value in self.rounded for value in inputs)
            flipped = any(value in self.flipped for value in inputs)
            for value in node.outputs:
                self.scale[value] = max(_largest(values[value]), self._carried(node, values))
                is_floating = value.dtype.is_floating_point or value.dtype.is_complex
                if is_floating and (inputs or node.primitive.impure):
                    self.rounded.add(value)
                if flipped or (from_numbers and not is_floating) or _decides(node):
                    self.flipped.add(value)

    def _carried(self, node: Node, values: dict[Value, Array]) -> float:
        """The size of what was added up: cancellation leaves its rounding."""
        if node.name not in _ADDITIVE and node.primitive.scalar not in _ADDITIVE:
            return 0.0
        scales = [self.scale[value] for value in node.inputs]
        result = max(scales, default=0.0)
        if node.name in _TOTALS:
            given = max(values[value].data.size for value in node.inputs)
            result *= max(1.0, given / max(1, values[node.outputs[0]].data.size)) ** 0.5
            result *= max(1.0, min(scales)) if node.name == "matmul" else 1.0
        return result

    def difference(self, value: Value, found: Array, expected: Array) -> str:
        """How two arrays differ beyond rounding; "" if they do not."""
        if found.shape != expected.shape or found.dtype is not expected.dtype:
            return f"{_type(found)} instead of {_type(expected)}"
        wrong = ~self._close(value, found, expected)
        count = int(numpy.count_nonzero(wrong))
        if not count or (value in self.flipped and count <= _FLIPS * wrong.size):
            return ""
        place = tuple(int(i) for i in numpy.argwhere(wrong)[0])
        where = f" at {list(place)}" if place else ""
        return (
            f"{found.data[place]} instead of {expected.data[place]}{where}, "
            f"{count} of {wrong.size} elements"
        )

    def _close(self, value: Value, found: Array, expected: Array) -> numpy.ndarray:
        relative = tolerance_of(value, found.dtype)
        if relative == 0:
            return numpy.asarray(found.data == expected.data)
        absolute = relative * min(1.0, self.scale.get(value, 1.0))
        if value.node is not None and value.node.name in _ADDITIVE:
            absolute = relative * self.scale.get(value, 1.0)
        wide = numpy.complex128 if found.dtype.is_complex else numpy.float64
        with numpy.errstate(all="ignore"):
            a, b = found.data.astype(wide), expected.data.astype(wide)
            return numpy.isclose(a, b, relative, absolute, equal_nan=True)


def tolerance_of(value: Value, dtype: DType) -> float:
    """Relative tolerance; a record may state its own: a number, or a function of the dtype."""
    default = _RELATIVE.get(dtype, 0.0)
    own: Any = None if value.node is None else value.node.primitive.tolerance
    if own is None or default == 0:
        return default
    return max(default, float(own(dtype) if callable(own) else own))


def _decides(node: Node) -> bool:
    """Whether a small change of an input may change the result a lot."""
    return node.primitive.scalar in (
        "floor",
        "ceil",
        "round",
        "trunc",
        "sign",
        "sgn",
        "fmod",
        "remainder",
    )


def _largest(array: Array) -> float:
    """The largest finite magnitude."""
    if not array.data.size:
        return 0.0
    with numpy.errstate(all="ignore"):
        size = numpy.abs(array.data.astype(complex if array.dtype.is_complex else float))
        return float(numpy.max(size, initial=0.0, where=numpy.isfinite(size)))


def _type(array: Array) -> str:
    return f"{array.dtype.name}{list(array.shape)}"
