"""Functions that work on the parts of a number's encoding: nextafter, ldexp."""

from __future__ import annotations

from ...dtypes import dtype as DType
from ..llvm import Builder, Reg, bits
from ..values import from_memory, to_memory
from .formats import DOUBLE, narrow, power_of_two, via_double

_WORDS = {"half": "i16", "i16": "i16", "float": "i32", "double": "i64"}


def next_after(b: Builder, dtype: DType, x: Reg, y: Reg) -> Reg:
    """The next number of the dtype after x, towards y: encodings of one sign are consecutive."""
    stored = to_memory(b, dtype, x)
    integer = _WORDS[stored.element]
    word = stored if stored.element == integer else stored.bitcast(integer)
    away = x.lt(y) ^ x.lt(0.0)
    moved = b.select(away, word + 1, word - 1)
    sign_bit = -(1 << bits(integer) - 1)
    from_zero = b.select(y.lt(0.0), word.like(sign_bit + 1), 1)
    moved = b.select(x.eq(0.0), from_zero, moved)
    if stored.element != integer:
        moved = moved.bitcast(stored.element)
    result = b.select(x.eq(y), y, from_memory(b, dtype, moved))
    return b.select(x.isnan() | y.isnan(), x + y, result)


def times_power(b: Builder, x: Reg, exponent: Reg) -> Reg:
    """x 2^exponent for an int32 exponent, rounded once.

    A float is multiplied as a double. A double takes three factors, as its exponents span more
    than twice those of one; only the last product that is not exact rounds.
    """
    if x.element == "double":
        n = _clamped(b, exponent.cast("sext", "i64"), 2200)
        for _ in range(2):
            part = _clamped(b, n, 1000)
            x = x * power_of_two(part, DOUBLE)
            n = n - part
        return x * power_of_two(n, DOUBLE)
    n = _clamped(b, exponent.cast("sext", "i64"), 600)
    return narrow(via_double(x) * power_of_two(n, DOUBLE), x)


def _clamped(b: Builder, n: Reg, limit: int) -> Reg:
    n = b.select(n.lt(-limit), n.like(-limit), n)
    return b.select(n.gt(limit), n.like(limit), n)
