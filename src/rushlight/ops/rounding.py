"""Absolute value, signs, rounding."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from . import build
from .arithmetic import INFINITIES, elementwise
from .complex import real_part
from .kinds import Elementwise, everything, floating, real
from .record import composite, op, primitive
from .samples import unary


def _abs_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    return [gradients[0] * sgn(inputs[0])]


def _abs_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    (x,), (tangent,) = inputs, tangents
    return [build.convert(build.conjugate(sgn(x)) * tangent, outputs[0].dtype)]


@primitive(
    Elementwise(everything - frozenset((dtypes.bool,)), output=lambda dtype: dtype.to_real()),
    names=["abs", "absolute"],
    vjp=_abs_vjp,
    jvp=_abs_jvp,
    reference=numpy.abs,
    samples=unary(special=INFINITIES),
    onnx="Abs",
    out=lambda input: input.dtype.is_complex or "same dtype",
)
def abs(input):
    """The absolute value."""


def _sgn_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    (x,), (out,), (g,) = inputs, outputs, gradients
    if not x.dtype.is_complex:
        return [build.zeros_like(x)]
    # Only the part of g that is at a right angle to x turns sgn(x).
    size = abs(x)
    turning = g - real_part(build.conjugate(out) * g) * out
    return [op.where(size == 0, 0, turning / op.where(size == 0, 1, size))]


@primitive(
    Elementwise(everything),
    names=["sgn"],
    vjp=_sgn_vjp,
    jvp=lambda inputs, outputs, tangents, attributes: _sgn_vjp(
        inputs, outputs, tangents, attributes
    ),
    reference=lambda x: (
        x
        if x.dtype.kind == "b"
        else numpy.where(x == 0, 0, x / numpy.where(x == 0, 1, numpy.abs(x)))
        if x.dtype.kind == "c"
        else numpy.where(x > 0, 1, numpy.where(x < 0, -1, 0))
    ),
    samples=unary(),
    out="same dtype",
)
def sgn(input):
    """The sign; of a complex number, the number scaled to absolute value 1."""


@primitive(
    Elementwise(real),
    names=["sign"],
    derivative=lambda out, x: 0,
    reference=lambda x: (
        x if x.dtype.kind == "b" else numpy.where(x > 0, 1, numpy.where(x < 0, -1, 0))
    ),
    samples=unary(),
    onnx="Sign",
    out="same dtype",
)
def sign(input):
    """-1, 0 or 1."""


def _rounding(
    name: str, function: Any, doc: str, onnx: str | None = None, alias: tuple[str, ...] = ()
) -> Any:
    def body(input):
        return input if input.dtype.kind in "ui" else elementwise(f"{name}_floating", input)

    def point(input):
        """Rounding of floating-point numbers."""

    body.__doc__ = doc
    primitive(
        Elementwise(floating),
        name=f"{name}_floating",
        scalar=name,
        derivative=lambda out, x: 0,
        reference=function,
    )(point)
    return composite(
        names=[name, *alias],
        inplace=True,
        out="same dtype",
        samples=unary(special=INFINITIES),
        onnx=onnx,
    )(body)


floor = _rounding("floor", numpy.floor, "Round down.", "Floor")
ceil = _rounding("ceil", numpy.ceil, "Round up.", "Ceil")
trunc = _rounding("trunc", numpy.trunc, "Round towards zero.", alias=("fix",))


@primitive(
    Elementwise(floating), scalar="round", derivative=lambda out, x: 0, reference=numpy.round
)
def round_floating(x):
    """Round to the nearest integer, halves to even."""


@composite(
    names=["round", "special.round"],
    methods=["round"],
    inplace=True,
    out="same dtype",
    samples=unary(special=INFINITIES),
    onnx="Round",
)
def round(input, *, decimals: int = 0):
    """Round to the nearest number of this many decimals, halves to even."""
    if input.dtype.kind in "ui":
        return input
    if decimals == 0:
        return elementwise("round_floating", input)
    scale = 10.0 ** (decimals if decimals > 0 else -decimals)
    wide = build.widened(input)
    if decimals > 0:
        result = elementwise("round_floating", wide * scale) / scale
    else:
        result = elementwise("round_floating", wide / scale) * scale
    return build.convert(result, input.dtype)


@composite(names=["frac"], inplace=True, out="same dtype", samples=unary())
def frac(input):
    """What trunc takes away."""
    return input - trunc(input)
