"""Parts of complex numbers."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from . import build
from .arithmetic import elementwise
from .expanded_writes import unchanged_if
from .kinds import Elementwise, complexes, everything, floating, int_to_float
from .record import Tensor, composite, op, primitive
from .samples import unary


@primitive(
    Elementwise(everything),
    name="conj",
    reference=numpy.conj,
    vjp=lambda inputs, outputs, gradients, attributes: [build.conjugate(gradients[0])],
    jvp=lambda inputs, outputs, tangents, attributes: [build.conjugate(tangents[0])],
)
def conjugated(x):
    """The complex conjugate."""


@composite(names=["conj"], views="input", itself=True, samples=unary())
def conj(input):
    """The complex conjugate; of a real tensor, the tensor itself."""
    return build.conjugate(input)


@composite(
    names=["conj_physical"],
    views="input",
    itself=True,
    inplace=True,
    out="same dtype",
    expanded=unchanged_if("conj_physical_", lambda x: not x.dtype.is_complex),
    samples=unary(),
)
def conj_physical(input):
    """The complex conjugate; of a real tensor, the tensor itself."""
    return build.conjugate(input)


@composite(names=["resolve_conj", "resolve_neg"], views="input", itself=True, samples=unary())
def resolve_conj(input):
    """The tensor itself: conjugates and negatives are computed at once, never put off."""
    return input


@composite(names=["real"], methods=[], views="input", itself=True, samples=unary())
def real(input):
    """The real part."""
    return real_part(input)


@composite(name="real_copy")
def real_copy(input: Tensor):
    """The real part in memory of its own: what the gradient of a real tensor is made of."""
    return real_part(input)


def real_part(x: Any) -> Any:
    return build.convert(x, x.dtype.to_real())


@primitive(
    Elementwise(complexes, output=lambda dtype: dtype.to_real()),
    names=["imag"],
    methods=[],
    inplace=False,
    out=False,
    vjp=lambda inputs, outputs, gradients, attributes: [gradients[0] * 1j],
    jvp=lambda inputs, outputs, tangents, attributes: [op.imag(tangents[0])],
    reference=numpy.imag,
    samples=lambda dtype: unary()(dtype) if dtype.is_complex else iter(()),
)
def imag(input):
    """The imaginary part of a complex tensor."""


@composite(name="from_real")
def from_real(real: Tensor):
    """Complex numbers whose real parts these are; their imaginary parts are zero."""
    return build.convert(real, real.dtype.to_complex())


@composite(name="from_imag")
def from_imag(imag: Tensor):
    """Complex numbers whose imaginary parts these are; their real parts are zero."""
    return from_real(imag) * 1j


def _angle_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    (x,), (g,) = inputs, gradients
    if not x.dtype.is_complex:
        return [build.zeros_like(x)]
    square = real_part(x * build.conjugate(x))
    return [op.where(square == 0, 0, g * (x * 1j) / op.where(square == 0, 1, square))]


def _angle_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    (x,), (tangent,) = inputs, tangents
    if not x.dtype.is_complex:
        return [build.zeros_like(x)]
    square = real_part(x * build.conjugate(x))
    turn = op.imag(build.conjugate(x) * tangent)
    return [op.where(square == 0, 0, turn / op.where(square == 0, 1, square))]


@primitive(
    Elementwise(floating | complexes, promote=int_to_float, output=lambda dtype: dtype.to_real()),
    name="angle",
    vjp=_angle_vjp,
    jvp=_angle_jvp,
    reference=lambda x: numpy.angle(x if numpy.iscomplexobj(x) else x + 0.0),  # -0 counts as 0
)
def angle_primitive(x):
    """The angle of a complex number; of a real one 0, or pi if it is negative."""


@composite(names=["angle"], out=True, samples=unary())
def angle(input):
    """The angle of the complex number; of a real one 0, or pi if it is negative."""
    result = elementwise("angle", input)
    return build.row_major(result) if input.dtype.is_complex else result


_FROM_PARTS = Elementwise(floating, output=lambda dtype: dtype.to_complex())


@primitive(
    _FROM_PARTS,
    name="complex",
    vjp=lambda inputs, outputs, gradients, attributes: [
        real_part(gradients[0]),
        op.imag(gradients[0]),
    ],
    jvp=lambda inputs, outputs, tangents, attributes: [
        op.complex(
            *(
                build.zeros_like(x) if t is None else t
                for x, t in zip(inputs, tangents, strict=True)
            )
        )
    ],
    reference=lambda x, y: x + 1j * y,
)
def from_parts(real, imag):
    """Complex numbers from their parts."""


@composite(names=["complex"], methods=[], out="exact")
def complex(real: Tensor, imag: Tensor):
    """Complex numbers from their parts, which have one floating-point dtype."""
    if real.dtype is not imag.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {real.dtype} but got scalar type {imag.dtype} for "
            "second argument (in complex)"
        )
    if real.dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
        raise RuntimeError(
            f"complex: real and imag must be float16, float32 or float64, not {real.dtype}"
        )
    return from_parts.apply(*_FROM_PARTS.prepare(from_parts, (real, imag)))


@composite(names=["polar"], methods=[], out=True)
def polar(abs: Tensor, angle: Tensor):
    """Complex numbers from their absolute values and angles."""
    return op.complex(abs * op.cos(angle), abs * op.sin(angle))


@composite(names=["isreal"], samples=unary())
def isreal(input):
    """Whether the imaginary part is zero."""
    if input.dtype.is_complex:
        return op.imag(input) == 0
    return build.laid_out_like(build.full_like(input, True, build.BOOL), input)
