"""Floating-point quotients and remainders that are rounded: fmod, remainder, floor_divide."""

from __future__ import annotations

from ..llvm import Builder, Reg
from . import external
from .formats import DOUBLE, absolute, copysign, format_of, narrow, via_double

_INFINITY = float("inf")


def fmod(b: Builder, x: Reg, y: Reg) -> Reg:
    """The exact remainder of a truncated division.

    A fused multiply-add gives it from a quotient below 2^53, which is at most one too large.
    Quotients beyond that go to libm, lane by lane.
    """
    if format_of(x) is not DOUBLE:
        wide_x, wide_y = via_double(x), via_double(y)
        return narrow(_fmod(b, wide_x, wide_y), x)
    return _fmod(b, x, y)


def _fmod(b: Builder, x: Reg, y: Reg) -> Reg:
    size, divisor = absolute(x), absolute(y)
    quotient = b.intrinsic("trunc", size / divisor)
    rest = b.fma(-quotient, divisor, size)
    rest = b.select(rest.lt(0.0), rest + divisor, rest)
    rest = b.select(divisor.eq(_INFINITY) & size.lt(_INFINITY), size, rest)
    rest = copysign(rest, x)
    large = quotient.ge(2.0**53) & divisor.gt(0.0) & size.lt(_INFINITY)
    return external.call_where(b, large, "fmod", [x, y], rest)


def remainder(b: Builder, x: Reg, y: Reg) -> Reg:
    """The remainder with the sign of the divisor."""
    rest = fmod(b, x, y)
    differs = rest.ne(0.0) & (rest.lt(0.0) ^ y.lt(0.0))
    return b.select(differs, rest + y, rest)


def floor_divide(b: Builder, x: Reg, y: Reg) -> Reg:
    """Python's //: floor of the exact quotient, from the remainder; by zero the true quotient."""
    true = x / y
    rest = fmod(b, x, y)
    quotient = (x - rest) / y
    quotient = b.select(rest.ne(0.0) & (rest.lt(0.0) ^ y.lt(0.0)), quotient - 1.0, quotient)
    floor = b.intrinsic("floor", quotient)
    floor = b.select((quotient - floor).gt(0.5), floor + 1.0, floor)
    value = b.select(quotient.ne(0.0), floor, copysign(quotient.like(0.0), true))
    return b.select(y.eq(0.0), true, value)
