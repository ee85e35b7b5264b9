"""The two floating-point formats that code is emitted for, and exact operations on their bits."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..llvm import Builder, Reg


@dataclass(frozen=True)
class Format:
    """mantissa: stored bits; ln2_high has trailing zeros: small multiples of it are exact."""

    integer: str
    mantissa: int
    bias: int
    smallest: float  # the smallest normal number
    ln2_high: float
    ln2_low: float
    magic: float  # adding it leaves the nearest integer in the low mantissa bits
    exp_range: tuple[float, float]  # exp is 0 below and infinite above
    expm1_low: float  # exp(x) - 1 is -1 below
    tanh_high: float  # tanh is 1 above


SINGLE = Format(
    "i32", 23, 127, 2.0**-126, 0.693138122558593750, 9.0580006144591607e-06, 1.5 * 2.0**23,
    (-104.0, 89.0), -20.0, 10.0,
)  # fmt: skip
DOUBLE = Format(
    "i64", 52, 1023, 2.0**-1022, 0.69314718036912381649, 1.9082149292705877e-10, 1.5 * 2.0**52,
    (-746.0, 710.0), -40.0, 22.0,
)  # fmt: skip

LOG2_E = math.log2(math.e)
INFINITY = float("inf")
NAN = float("nan")


def format_of(x: Reg) -> Format:
    return DOUBLE if x.element == "double" else SINGLE


def absolute(x: Reg) -> Reg:
    return x.builder.intrinsic("fabs", x)


def copysign(magnitude: Reg, sign: Reg) -> Reg:
    return magnitude.builder.intrinsic("copysign", magnitude, sign)


def clamp(x: Reg, low: float, high: float) -> Reg:
    """x within bounds; NaN stays."""
    b = x.builder
    x = b.select(x.lt(low), low, x)
    return b.select(x.gt(high), high, x)


def nearest_integer(scaled: Reg) -> tuple[Reg, Reg]:
    """The nearest integer of a float of moderate size, as a float and as an integer."""
    f = format_of(scaled)
    shifted = scaled + f.magic
    magic_bits = scaled.like(f.magic).bitcast(f.integer)
    return shifted - f.magic, shifted.bitcast(f.integer) - magic_bits


def integer_to_float(n: Reg, f: Format) -> Reg:
    """An integer of moderate size as a float: cheaper than a conversion where vectors have none."""
    element = "double" if f is DOUBLE else "float"
    magic = n.builder.constant(element, n.lanes, f.magic)
    return (n + magic.bitcast(f.integer)).bitcast(element) - magic


def power_of_two(n: Reg, f: Format) -> Reg:
    """2^n for an n whose power is a normal number."""
    element = "double" if f is DOUBLE else "float"
    return ((n + f.bias) << f.mantissa).bitcast(element)


def scale(x: Reg, n: Reg, f: Format) -> Reg:
    """x 2^n, in two steps so that subnormal results are rounded once and overflow is exact."""
    half = n.ashr(1)
    return x * power_of_two(half, f) * power_of_two(n - half, f)


def split_exponent(x: Reg) -> tuple[Reg, Reg]:
    """A positive number, subnormal or not, as m 2^k: m in [sqrt(1/2), sqrt(2)), k as a float."""
    b, f = x.builder, format_of(x)
    shift = float(f.mantissa)
    tiny = x.lt(f.smallest)
    word = b.select(tiny, x * 2.0**shift, x).bitcast(f.integer)
    root = x.like(math.sqrt(0.5)).bitcast(f.integer)
    above = word - root
    k = integer_to_float(above.ashr(f.mantissa), f)
    m = ((above & ((1 << f.mantissa) - 1)) + root).bitcast(x.element)
    return m, b.select(tiny, k - shift, k)


def via_double(x: Reg) -> Reg:
    return x.cast("fpext", "double")


def narrow(x: Reg, like: Reg) -> Reg:
    """The nearest number of another register's format."""
    return x.cast("fptrunc", like.element)


def two_sum(a: Reg, c: Reg) -> tuple[Reg, Reg]:
    """The rounded sum and its error (Knuth, TAOCP 2, 4.2.2)."""
    s = a + c
    v = s - a
    return s, (a - (s - v)) + (c - v)


def two_product(b: Builder, a: Reg, c: Reg) -> tuple[Reg, Reg]:
    """The rounded product and its error, by a fused multiply-add."""
    p = a * c
    return p, b.fma(a, c, -p)
