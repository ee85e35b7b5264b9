"""The two floating-point formats that code is emitted for, and exact operations on their bits."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..llvm import Builder, Reg, bits


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
_CURRENT_ROUNDING = 4


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


def nearest_integer(x: Reg, factor: float = 1.0) -> Reg:
    """The integer nearest to a product of moderate size, as a float."""
    f = format_of(x)
    shifted = x + f.magic if factor == 1.0 else x.builder.fma(x, factor, f.magic)
    return shifted - f.magic


def float_to_integer(n: Reg, f: Format) -> Reg:
    """A float with an integer value of moderate size: cheaper where vectors have no conversion."""
    magic_bits = n.like(f.magic).bitcast(f.integer)
    return (n + f.magic).bitcast(f.integer) - magic_bits


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
    """x 2^n for a float n with an integer value, rounded once if the result is subnormal.

    Without an instruction for it, two factors whose product is exact before the last rounding.
    """
    if x.builder.scalef and x.lanes > 1:
        return _scalef(x, n)
    whole = float_to_integer(n, f)
    half = whole.ashr(1)
    return x * power_of_two(half, f) * power_of_two(whole - half, f)


def _scalef(x: Reg, n: Reg) -> Reg:
    """AVX-512's instruction, on as many registers as the vectors take."""
    b, suffix = x.builder, "pd" if x.element == "double" else "ps"
    width = min(x.lanes, 512 // bits(x.element))
    name = f"llvm.x86.avx512.mask.scalef.{suffix}.{width * bits(x.element)}"
    mask = b.constant(f"i{max(8, width)}", 1, -1)
    rounding = [b.constant("i32", 1, _CURRENT_ROUNDING)] if width * bits(x.element) == 512 else []
    pieces = []
    for start in range(0, x.lanes, width):
        picks = range(start, start + width)
        part, power = (
            each if width == x.lanes else b.shuffle(each, each, picks) for each in (x, n)
        )
        operands = [part, power, part, mask, *rounding]
        pieces.append(b.call(name, x.element, width, operands))
    while len(pieces) > 1:
        pairs = zip(pieces[::2], pieces[1::2], strict=True)
        pieces = [b.shuffle(low, high, range(2 * low.lanes)) for low, high in pairs]
    return pieces[0]


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
