"""Comparisons and logic: the results are bools."""

from __future__ import annotations

import numpy

from .. import dtypes
from ..graph.symbols import same_shape
from . import build
from .arithmetic import computed_dtype, elementwise
from .kinds import Elementwise, everything, real
from .record import NONE, Tensor, composite, primitive
from .samples import binary, unary

_SPECIAL = (float("inf"), -float("inf"), float("nan"), 0.0)
_NUMBERS = (1, 0.5, True)


def _comparison(name: str, names: list[str], function, accepts, doc: str, onnx: str | None = None):
    def body(input: Tensor, other):
        """"""

    body.__doc__ = doc
    return primitive(
        Elementwise(accepts, output=dtypes.bool),
        names=names,
        derivative=NONE,
        reference=function,
        onnx=onnx,
        samples=binary(-2, 3, numbers=_NUMBERS),
    )(body)


eq = _comparison("eq", ["eq"], numpy.equal, everything, "Whether the elements are equal.", "Equal")
ne = _comparison(
    "ne", ["ne", "not_equal"], numpy.not_equal, everything, "Whether the elements differ."
)
lt = _comparison("lt", ["lt", "less"], numpy.less, real, "Whether input < other.", "Less")
le = _comparison(
    "le", ["le", "less_equal"], numpy.less_equal, real, "Whether input <= other.", "LessOrEqual"
)
gt = _comparison("gt", ["gt", "greater"], numpy.greater, real, "Whether input > other.", "Greater")
ge = _comparison(
    "ge",
    ["ge", "greater_equal"],
    numpy.greater_equal,
    real,
    "Whether input >= other.",
    "GreaterOrEqual",
)


@primitive(
    Elementwise(everything, output=dtypes.bool),
    names=["isnan"],
    derivative=NONE,
    reference=numpy.isnan,
    scalar=lambda s, x: s.ne(x, x),
    samples=unary(special=_SPECIAL),
    onnx="IsNaN",
    inplace=False,
    out=False,
)
def isnan(input):
    """Whether the elements are NaN."""


@composite(names=["isinf"], samples=unary(special=_SPECIAL), onnx="IsInf")
def isinf(input):
    """Whether the elements are infinite."""
    return abs(input) == float("inf") if input.dtype.is_differentiable else input != input


@composite(names=["isfinite"], samples=unary(special=_SPECIAL))
def isfinite(input):
    """Whether the elements are neither infinite nor NaN."""
    return abs(input) < float("inf") if input.dtype.is_differentiable else input == input


def _infinity(name: str, limit: float, doc: str) -> None:
    def body(input):
        if input.dtype.is_complex:
            raise RuntimeError(f"{name} does not support complex inputs.")
        return input == limit if input.dtype.is_floating_point else input != input

    body.__doc__ = doc
    composite(names=[name], out="same dtype", samples=unary(special=_SPECIAL))(body)


_infinity("isposinf", float("inf"), "Whether the elements are infinite.")
_infinity("isneginf", float("-inf"), "Whether the elements are minus infinity.")


# ---------------------------------------------------------------- logic


@primitive(
    Elementwise(frozenset((dtypes.bool,))),
    name="logical_and",
    derivative=NONE,
    reference=numpy.logical_and,
    scalar="and",
)
def both(x, y):
    """x and y, both bool."""


@primitive(
    Elementwise(frozenset((dtypes.bool,))),
    name="logical_or",
    derivative=NONE,
    reference=numpy.logical_or,
    scalar="or",
)
def either(x, y):
    """x or y, both bool."""


@primitive(
    Elementwise(frozenset((dtypes.bool,))),
    name="logical_xor",
    derivative=NONE,
    reference=numpy.logical_xor,
    scalar="xor",
)
def one_of(x, y):
    """x or y, but not both, both bool."""


@primitive(
    Elementwise(frozenset((dtypes.bool,))),
    name="logical_not",
    derivative=NONE,
    reference=numpy.logical_not,
    scalar="not",
)
def negation(x):
    """not x, bool."""


def truth(x):
    """A tensor or number as bool: whether it is not zero."""
    if isinstance(x, bool | int | float | complex):
        return bool(x)
    return x if x.dtype is dtypes.bool else ne(x, 0)


def _truths(*operands):
    """The operands as bools, by way of their common type, which may not hold large integers."""
    compute = computed_dtype(*operands)
    return (truth(build.convert(x, compute)) for x in operands)


@composite(names=["logical_and"], inplace=True, out=True, samples=binary(-1, 2), onnx="And")
def logical_and(input: Tensor, other: Tensor):
    """Whether both are not zero."""
    return elementwise("logical_and", *_truths(input, other))


@composite(names=["logical_or"], inplace=True, out=True, samples=binary(-1, 2), onnx="Or")
def logical_or(input: Tensor, other: Tensor):
    """Whether one is not zero."""
    return elementwise("logical_or", *_truths(input, other))


@composite(names=["logical_xor"], inplace=True, out=True, samples=binary(-1, 2), onnx="Xor")
def logical_xor(input: Tensor, other: Tensor):
    """Whether exactly one is not zero."""
    return elementwise("logical_xor", *_truths(input, other))


@composite(names=["logical_not"], inplace=True, out=True, samples=unary(-1, 2), onnx="Not")
def logical_not(input):
    """Whether the elements are zero."""
    return elementwise("logical_not", truth(input))


@composite(names=["isclose"], samples=binary(-2, 3))
def isclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
):
    """Whether |input - other| <= atol + rtol * |other|."""
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise RuntimeError(f"isclose: {name} must not be negative, but is {tolerance}")
    if input.dtype is not other.dtype:
        raise RuntimeError(
            f"{input.dtype} did not match {other.dtype}; isclose needs tensors of one dtype"
        )
    close = eq(input, other)
    if equal_nan and input.dtype.is_differentiable:
        close = close | (isnan(input) & isnan(other))
    if rtol == 0 and atol == 0:
        return close
    if not input.dtype.is_differentiable:
        input, other = (build.convert(x, dtypes.get_default_dtype()) for x in (input, other))
    distance = abs(input - other)
    return close | (isfinite(distance) & (distance <= atol + abs(rtol * other)))


@composite(names=["allclose"])
def allclose(input, other, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False):
    """Whether all elements are close (as a 0-d bool tensor while tracing)."""
    return isclose(input, other, rtol, atol, equal_nan).all()


@composite(names=["equal"], methods=["equal"])
def equal(input, other):
    """Whether shape and elements are equal (as a 0-d bool tensor while tracing)."""
    if len(input.shape) != len(other.shape) or not (
        same_shape(input.shape, other.shape) or input.shape == other.shape
    ):
        return eq(input, input).all() & False
    return eq(input, other).all()
