"""Integer division, shifts and powers, defined for every operand."""

from __future__ import annotations

from ...dtypes import dtype as DType
from ..llvm import Builder, Reg, bits, is_float


def divide(b: Builder, dtype: DType, x: Reg, y: Reg) -> tuple[Reg, Reg]:
    """The truncated quotient and the remainder; by zero that by 1, the lowest by -1 wraps.

    Vector units divide no integers: up to 32 bits the quotient of two doubles, truncated, is exact.
    """
    signed = dtype.is_signed
    lowest = -(1 << (bits(x.element) - 1))
    bad = y.eq(0)
    if signed:
        bad = bad | (y.eq(-1) & x.eq(lowest))
    divisor = b.select(bad, 1, y)
    if x.lanes > 1 and bits(x.element) <= 32:
        element = "double" if bits(x.element) == 32 else "float"
        to, back = ("sitofp", "fptosi") if signed else ("uitofp", "fptoui")
        quotient = (x.cast(to, element) / divisor.cast(to, element)).cast(back, x.element)
    else:
        op = "sdiv" if signed else "udiv"
        quotient = b.op(f"{op} {x.type} {x.name}, {divisor.name}", x.element, x.lanes)
    return quotient, x - quotient * divisor


def floor_divide(b: Builder, dtype: DType, x: Reg, y: Reg) -> Reg:
    quotient, remainder = divide(b, dtype, x, y)
    if not dtype.is_signed:
        return quotient
    below = remainder.ne(0) & (remainder ^ y).lt(0)
    return b.select(below, quotient - 1, quotient)


def remainder(b: Builder, dtype: DType, x: Reg, y: Reg) -> Reg:
    """The remainder with the sign of the divisor."""
    _, rest = divide(b, dtype, x, y)
    if not dtype.is_signed:
        return rest
    return b.select(rest.ne(0) & (rest ^ y).lt(0), rest + y, rest)


def shift_left(b: Builder, x: Reg, count: Reg) -> Reg:
    """Zero when the count is negative or no less than the width."""
    width = bits(x.element)
    fits = count.lt(width, signed=False)
    return b.select(fits, x << b.select(fits, count, 0), 0)


def shift_right(b: Builder, dtype: DType, x: Reg, count: Reg) -> Reg:
    """Nothing but sign bits when the count is negative or no less than the width."""
    width = bits(x.element)
    fits = count.lt(width, signed=False)
    if dtype.is_signed:
        return x.ashr(b.select(fits, count, width - 1))
    return b.select(fits, x.lshr(b.select(fits, count, 0)), 0)


def power(b: Builder, dtype: DType, x: Reg, exponent: Reg) -> Reg:
    """By squaring, modulo 2^width; a negative exponent leaves 1 and -1, else gives 0."""
    width = bits(x.element)
    magnitude = b.select(exponent.lt(0), 0, exponent) if dtype.is_signed else exponent
    largest = _largest(b, magnitude)
    zeros = _leading_zeros(b, largest)
    steps = b.constant("i64", 1, width) - b.widen_or_narrow(zeros, "i64", False)
    with b.loop(steps, 1, [x.like(1), x, magnitude]) as loop:
        result, square, rest = loop.carried
        odd = (rest & 1).ne(0)
        loop.next = [b.select(odd, result * square, result), square * square, rest.lshr(1)]
    result = loop.results[0]
    if not dtype.is_signed:
        return result
    alternating = b.select((exponent & 1).ne(0), -1, x.like(1))
    inverse = b.select(x.eq(1), 1, b.select(x.eq(-1), alternating, 0))
    return b.select(exponent.lt(0), inverse, result)


def _largest(b: Builder, x: Reg) -> Reg:
    if x.lanes == 1:
        return x
    name = f"llvm.vector.reduce.umax.v{x.lanes}{x.element}"
    return b.call(name, x.element, 1, [x])


def _leading_zeros(b: Builder, x: Reg) -> Reg:
    name = f"llvm.ctlz.{x.element}"
    return b.call(name, x.element, 1, [x, b.constant("i1", 1, 0)])


def sign(b: Builder, x: Reg) -> Reg:
    """-1, 0 or 1; of NaN 0."""
    if is_float(x.element):
        above, below = (each.cast("uitofp", x.element) for each in (x.gt(0.0), x.lt(0.0)))
        return above - below
    above, below = (each.cast("zext", x.element) for each in (x.gt(0), x.lt(0)))
    return above - below
