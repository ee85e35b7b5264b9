"""Parts of complex numbers."""

from __future__ import annotations

from typing import Any

import numpy

from . import build
from .kinds import Elementwise, everything
from .record import composite, primitive
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


@composite(names=["conj", "conj_physical"], views="input", itself=True, samples=unary())
def conj(input):
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


def real_part(x: Any) -> Any:
    return build.convert(x, x.dtype.to_real())
