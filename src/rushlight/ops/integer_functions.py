"""Functions of integers: gcd, lcm; the parts of floating-point numbers."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from ..promotion import scalar_type_name
from . import build
from .host_kinds import HostElementwise
from .kinds import floating, integers
from .record import NONE, Tensor, composite, op, primitive
from .results import named
from .samples import binary, unary


def _lcm(a: Any, b: Any) -> Any:
    """Computed in 32 bits at least; a multiple that does not fit wraps around."""
    wide = numpy.int32 if a.dtype.itemsize < 4 else a.dtype
    return numpy.abs(numpy.lcm(a.astype(wide), b.astype(wide))).astype(a.dtype)


for _name, _reference, _doc in (
    ("gcd", numpy.gcd, "The greatest common divisor."),
    ("lcm", _lcm, "The least common multiple."),
):

    def _body(input: Tensor, other: Tensor):
        """"""

    _body.__doc__ = _doc
    primitive(
        HostElementwise(integers),
        names=[_name],
        derivative=NONE,
        reference=_reference,
        samples=binary(0, 12),
    )(_body)


@primitive(
    HostElementwise(floating, output=dtypes.int32),
    name="exponents",
    derivative=NONE,
    reference=lambda x: numpy.frexp(x)[1],
)
def exponents(x):
    """The exponents of 2 for mantissas from 0.5 to 1."""


Frexp: Any = named("frexp", "mantissa", "exponent")


@composite(
    names=["frexp"],
    out="same dtype",
    samples=lambda dtype: unary(special=(0.0, 1.0))(dtype) if dtype.is_floating_point else iter(()),
)
def frexp(input: Tensor):
    """Mantissas of magnitude 0.5 to 1, and exponents of 2, whose product is the input."""
    if not input.dtype.is_floating_point:
        raise RuntimeError(
            "torch.frexp() only supports floating-point dtypes, not "
            f"{scalar_type_name(input.dtype)}"
        )
    exponent: Any = build.kept(exponents.apply(op.detach(input)))
    # Two steps, as one power of two may overflow.
    half = exponent // 2
    scale = op.pow(2.0, -half.to(input.dtype))
    rest = op.pow(2.0, (half - exponent).to(input.dtype))
    mantissa = op.where(build.kept(op.isfinite(input)), input * scale * rest, input)
    return Frexp(mantissa, exponent)
