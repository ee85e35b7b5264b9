"""Simplifications made when a node is appended, equality of nodes, and removal of dead nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import dtypes
from ..dtypes import dtype as DType
from .node import Graph, Node, Value
from .symbols import SymbolicInt, key_of, same, same_shape

if TYPE_CHECKING:
    from ..ops.record import Primitive

# A simplification gives an equal value, an equal application (name, inputs, attributes), or None.
Simpler = Value | tuple[str, tuple[Value, ...], dict[str, Any]] | None
_RULES: dict[str, Callable[[tuple[Value, ...], dict[str, Any]], Simpler]] = {}


def simplify(
    primitive: Primitive, inputs: tuple[Value, ...], attributes: dict[str, Any]
) -> Simpler:
    """Something simpler than this application that means the same; None if no rule applies."""
    rule = _RULES.get(primitive.name)
    return rule(inputs, attributes) if rule else None


def _rule(*names: str) -> Callable:
    def register(function: Callable) -> Callable:
        for name in names:
            _RULES[name] = function
        return function

    return register


def _producer(value: Value, name: str) -> Node | None:
    """The node that made a value, if it applies this primitive."""
    return value.node if value.node is not None and value.node.name == name else None


# ---------------------------------------------------------------- rules


@_rule("convert")
def _convert(inputs: tuple[Value, ...], attributes: dict[str, Any]) -> Simpler:
    (x,), target, weak = inputs, attributes["dtype"], attributes.get("weak", False)
    if attributes.get("copy"):
        return None
    if x.dtype is target and x.weak == weak:
        return x
    constant, conversion = _producer(x, "constant"), _producer(x, "convert")
    if constant and not isinstance(constant.attributes["value"], SymbolicInt):
        value = _convert_number(constant.attributes["value"], target)
        if value is not None:
            return "constant", (), {"value": value, "dtype": target, "weak": weak}
    if conversion:
        source = conversion.inputs[0]
        if source.dtype is target and not source.weak and _lossless(target, x.dtype):
            return source
    return None


def _convert_number(value: Any, target: DType) -> Any:
    """A constant's value in another type; None (not plain) leaves it to the device."""
    if target.is_complex:
        return complex(value)
    if isinstance(value, complex):
        return None
    if target.is_floating_point:
        return float(value)
    if target is dtypes.bool:
        return bool(value)
    if isinstance(value, float):
        return None
    low = -(1 << (8 * target.itemsize - 1)) if target.is_signed else 0
    return int(value) if low <= value < low + (1 << 8 * target.itemsize) else None


def _lossless(narrow: DType, wide: DType) -> bool:
    """Whether every value of the one type is a value of the other."""
    if narrow.kind == wide.kind:
        return narrow.itemsize < wide.itemsize
    if wide.is_complex:
        return _lossless(narrow, wide.to_real()) or narrow is wide.to_real()
    if narrow is dtypes.bool:
        return True
    if narrow.is_integral and wide.kind == "i":
        return narrow.itemsize < wide.itemsize
    bits = {dtypes.float16: 11, dtypes.bfloat16: 8, dtypes.float32: 24, dtypes.float64: 53}.get(
        wide, 0
    )
    return narrow.is_integral and 8 * narrow.itemsize <= bits


@_rule("expand")
def _expand(inputs: tuple[Value, ...], attributes: dict[str, Any]) -> Simpler:
    (x,), shape = inputs, attributes["shape"]
    if same_shape(x.shape, shape):
        return x
    if inner := _producer(x, "expand"):
        return "expand", inner.inputs, {"shape": shape}
    return None


@_rule("permute")
def _permute(inputs: tuple[Value, ...], attributes: dict[str, Any]) -> Simpler:
    (x,), dims = inputs, attributes["dims"]
    if dims == tuple(range(len(dims))):
        return x
    if inner := _producer(x, "permute"):
        order = inner.attributes["dims"]
        return "permute", inner.inputs, {"dims": tuple(order[dim] for dim in dims)}
    return None


@_rule("reshape")
def _reshape(inputs: tuple[Value, ...], attributes: dict[str, Any]) -> Simpler:
    (x,), shape = inputs, attributes["shape"]
    if same_shape(x.shape, shape):
        return x
    if inner := _producer(x, "reshape"):
        return "reshape", inner.inputs, {"shape": shape}
    return None


@_rule("slice")
def _slice(inputs: tuple[Value, ...], attributes: dict[str, Any]) -> Simpler:
    (x,) = inputs
    whole = same(attributes["start"], 0) and same(attributes["step"], 1)
    return x if whole and same(attributes["length"], x.shape[attributes["dim"]]) else None


@_rule("pad")
def _pad(inputs: tuple[Value, ...], attributes: dict[str, Any]) -> Simpler:
    (x,) = inputs
    whole = same(attributes["before"], 0) and same(attributes["step"], 1)
    return x if whole and same(attributes["size"], x.shape[attributes["dim"]]) else None


@_rule("flip")
def _flip(inputs: tuple[Value, ...], attributes: dict[str, Any]) -> Simpler:
    (x,) = inputs
    dims = tuple(dim for dim in attributes["dims"] if not same(x.shape[dim], 1))
    if not dims:
        return x
    return ("flip", inputs, {"dims": dims}) if len(dims) < len(attributes["dims"]) else None


@_rule("sum", "prod", "amax", "amin", "any", "all")
def _reduce_nothing(inputs: tuple[Value, ...], attributes: dict[str, Any]) -> Simpler:
    return inputs[0] if not attributes["dims"] else None


@_rule("cat")
def _cat(inputs: tuple[Value, ...], attributes: dict[str, Any]) -> Simpler:
    return inputs[0] if len(inputs) == 1 else None


@_rule("mul")
def _multiply(inputs: tuple[Value, ...], attributes: dict[str, Any]) -> Simpler:
    x, y = inputs
    return _without_neutral(y, x, 1) or _without_neutral(x, y, 1)


@_rule("div")
def _divide(inputs: tuple[Value, ...], attributes: dict[str, Any]) -> Simpler:
    x, y = inputs
    return _without_neutral(y, x, 1)


@_rule("sub")
def _subtract(inputs: tuple[Value, ...], attributes: dict[str, Any]) -> Simpler:
    x, y = inputs
    return _without_neutral(y, x, 0)


def _without_neutral(neutral: Value, other: Value, number: int) -> Value | None:
    """``other`` if ``neutral`` is the constant ``number`` and changes neither shape nor dtype nor
    the sign of zero.
    """
    constant = _producer(neutral, "constant")
    if not constant or neutral.weak != other.weak and other.weak:
        return None
    value = constant.attributes["value"]
    if isinstance(value, SymbolicInt) or value != number or neutral.dtype is not other.dtype:
        return None
    return None if str(value).startswith("-") else other


# ---------------------------------------------------------------- equality of nodes


def node_key(primitive: Primitive, inputs: tuple[Value, ...], attributes: dict[str, Any]) -> Any:
    """Equal for applications that compute the same."""
    return (
        primitive.name,
        tuple(map(id, inputs)),
        tuple((name, freeze(each)) for name, each in attributes.items()),
    )


def freeze(attribute: Any) -> Any:
    """A hashable stand-in that tells 1 from True and 1.0, 0.0 from -0.0, and compares symbols
    without a guard.
    """
    if isinstance(attribute, SymbolicInt):
        return key_of(attribute)
    if isinstance(attribute, tuple | list):
        return tuple(map(freeze, attribute))
    if isinstance(attribute, float | complex):
        return type(attribute), repr(attribute)
    if isinstance(attribute, bool | int | str) or attribute is None:
        return type(attribute), attribute
    return attribute if isinstance(attribute, DType) else (type(attribute), id(attribute))


# ---------------------------------------------------------------- dead nodes


def remove_dead(graph: Graph) -> None:
    """Remove the nodes whose results nothing needs, except those that draw random numbers or have
    other effects.

    The own derivative of a composite of which one output is needed may use the others (the places
    of the greatest elements): they stay until the graph is legalized.
    """
    needed: set[Value] = {value for value in graph.outputs if value is not None}
    count = -1
    while count != len(needed):
        count = len(needed)
        kept = []
        for node in reversed(graph.nodes):
            if node.primitive.impure or any(output in needed for output in node.outputs):
                kept.append(node)
                needed.update(node.inputs)
        for region in graph.regions:
            if not needed.isdisjoint(region.outputs):
                needed.update(region.outputs)
    graph.nodes[:] = reversed(kept)
