"""Trigonometric and hyperbolic functions, their inverses, and functions of two coordinates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from .. import dtypes
from . import build
from .kinds import Elementwise, complexes, floating, int_to_float, real
from .record import NONE, Tensor, composite, op, primitive
from .samples import binary, unary

_SPECIAL = (float("inf"), float("-inf"), float("nan"), 0.0, -0.0)


def _function(
    name: str,
    doc: str,
    derivative: Callable[[Any, Any], Any],
    reference: Callable[[Any], Any],
    low: float = -4,
    high: float = 4,
    alias: tuple[str, ...] = (),
    onnx: str | None = None,
) -> None:
    def body(input):
        """"""

    body.__doc__ = doc
    primitive(
        Elementwise(floating | complexes, promote=int_to_float),
        names=[name, *alias],
        derivative=derivative,
        reference=reference,
        samples=unary(low, high, special=_SPECIAL),
        onnx=onnx,
    )(body)


_function("sin", "The sine.", lambda out, x: op.cos(x), numpy.sin, onnx="Sin")
_function("cos", "The cosine.", lambda out, x: -op.sin(x), numpy.cos, onnx="Cos")
_function("tan", "The tangent.", lambda out, x: 1 + out * out, numpy.tan, onnx="Tan")
_function(
    "asin", "The inverse sine.", lambda out, x: op.rsqrt(1 - x * x), numpy.arcsin, -1, 1,
    ("arcsin",), "Asin",
)  # fmt: skip
_function(
    "acos", "The inverse cosine.", lambda out, x: -op.rsqrt(1 - x * x), numpy.arccos, -1, 1,
    ("arccos",), "Acos",
)  # fmt: skip
_function(
    "atan", "The inverse tangent.", lambda out, x: 1 / (x * x + 1), numpy.arctan,
    alias=("arctan",), onnx="Atan",
)  # fmt: skip
_function("sinh", "The hyperbolic sine.", lambda out, x: op.cosh(x), numpy.sinh, onnx="Sinh")
_function("cosh", "The hyperbolic cosine.", lambda out, x: op.sinh(x), numpy.cosh, onnx="Cosh")
_function(
    "asinh", "The inverse hyperbolic sine.", lambda out, x: op.rsqrt(x * x + 1), numpy.arcsinh,
    alias=("arcsinh",), onnx="Asinh",
)  # fmt: skip
_function(
    "acosh", "The inverse hyperbolic cosine.", lambda out, x: op.rsqrt(x * x - 1), numpy.arccosh,
    1, 9, ("arccosh",), "Acosh",
)  # fmt: skip
_function(
    "atanh", "The inverse hyperbolic tangent.", lambda out, x: 1 / (1 - x * x), numpy.arctanh,
    -1, 1, ("arctanh",), "Atanh",
)  # fmt: skip


# ---------------------------------------------------------------- two coordinates


def _atan2_partials(out: Any, y: Any, x: Any) -> tuple[Any, Any]:
    square = y * y + x * x
    scale = op.where(square == 0, 0, op.reciprocal(square))
    return x * scale, -y * scale


@primitive(
    Elementwise(floating, promote=int_to_float),
    names=["atan2", "arctan2"],
    derivative=_atan2_partials,
    reference=numpy.arctan2,
    samples=binary(),
)
def atan2(input: Tensor, other: Tensor):
    """The angle of the point (other, input), from -pi to pi."""


@primitive(
    Elementwise(floating),
    names=["hypot"],
    derivative=lambda out, x, y: (x / out, y / out),
    reference=numpy.hypot,
    samples=binary(),
)
def hypot(input: Tensor, other: Tensor):
    """The length of the vector (input, other)."""


@primitive(
    Elementwise(floating, promote=int_to_float),
    names=["copysign"],
    derivative=lambda out, x, y: (op.where(x == 0, 0, out / x), 0),
    reference=numpy.copysign,
    samples=binary(numbers=[2, -2.5]),
)
def copysign(input: Tensor, other):
    """The magnitude of input with the sign of other."""


@primitive(
    Elementwise(floating),
    names=["nextafter"],
    derivative=lambda out, x, y: (1, 0),
    reference=numpy.nextafter,
    samples=binary(),
)
def nextafter(input: Tensor, other: Tensor):
    """The next number that the dtype has after input, in the direction of other."""


@primitive(
    Elementwise(real, output=dtypes.bool),
    names=["signbit"],
    methods=["signbit"],
    inplace=False,
    derivative=NONE,
    reference=lambda x: numpy.signbit(x) if x.dtype.kind == "f" else x < 0,
    samples=unary(special=(float("inf"), float("-inf"), 0.0, -0.0)),
    out="same dtype",
)
def signbit(input):
    """Whether the sign is minus, of zeros and NaN too."""


# ---------------------------------------------------------------- degrees


def _scaled(name: str, factor: float, doc: str) -> None:
    def body(input):
        if input.dtype.is_complex:
            raise RuntimeError(f"{name} is not supported for complex tensors.")
        if input.dtype.is_integral:
            input = build.convert(input, dtypes.get_default_dtype())
        return input * factor

    body.__doc__ = doc
    composite(names=[name], inplace=True, out=True, samples=unary())(body)


_scaled("deg2rad", numpy.pi / 180, "Degrees in radians.")
_scaled("rad2deg", 180 / numpy.pi, "Radians in degrees.")


@composite(
    names=["sinc", "special.sinc"], methods=["sinc"], inplace=True, out=True, samples=unary()
)
def sinc(input):
    """sin(pi x) / (pi x), and 1 at 0."""
    if input.dtype.is_integral:
        input = build.convert(input, dtypes.get_default_dtype())
    dtype, input = input.dtype, build.widened(input)
    angle = input * numpy.pi
    safe = op.where(input == 0, 1, angle)
    # Where the input is zero the value and the gradient are those of the limit.
    return build.convert(op.where(input == 0, 1 - angle * angle / 6, op.sin(safe) / safe), dtype)
