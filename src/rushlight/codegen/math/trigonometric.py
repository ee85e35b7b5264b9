"""sin, cos and inverse functions.

Kernels as in Sun's fdlibm (k_sin.c, k_cos.c); the reduction modulo pi/2 is Cody and Waite's with
the products split by fused multiply-adds. Huge arguments go to libm, lane by lane.
"""

from __future__ import annotations

import math

from ..llvm import Builder, Reg
from . import external
from .formats import DOUBLE, absolute, copysign, narrow, two_product, two_sum, via_double

# pi/2 in three doubles.
_HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
_LIMIT = 2.0**25

# (sin(r) - r) / r^3 and (cos(r) - 1 + r^2/2) / r^4 in r^2, for |r| <= pi/4.
_SIN_MEDIUM = (
    -0.1666666666374721, 0.008333331832316115, -0.00019840063762596578, 2.7246945949353705e-06,
)  # fmt: skip
_COS_MEDIUM = (
    0.04166666666423031, -0.0013888887636434044, 2.480058111748695e-05, -2.729846287600498e-07,
)  # fmt: skip
_SIN_DOUBLE = (
    -0.16666666666666666, 0.008333333333330828, -0.00019841269836578268, 2.7557316009321487e-06,
    -2.5051112483503946e-08, 1.5916739735766175e-10,
)  # fmt: skip
_COS_DOUBLE = (
    0.041666666666666664, -0.0013888888888887322, 2.4801587298652715e-05, -2.75573172133259e-07,
    2.0876134141358783e-09, -1.1381762182413896e-11,
)  # fmt: skip

# (atan(t) - t) / t^3 in t^2, for |t| <= 1, to 3e-10.
_ATAN = (
    -0.33333333303564794, 0.19999992287912774, -0.14285383356106732, 0.11105533802873456,
    -0.09042065582520367, 0.07437209305811798, -0.058052094668467176, 0.03894960176354433,
    -0.019787210372681472, 0.006453735105849746, -0.0009854002725438818,
)  # fmt: skip


def sin(b: Builder, x: Reg) -> Reg:
    return _circular(b, x, "sin")


def cos(b: Builder, x: Reg) -> Reg:
    return _circular(b, x, "cos")


def _circular(b: Builder, x: Reg, name: str) -> Reg:
    if x.element == "double":
        quadrant, r, low = _reduce_double(b, x)
        s, c = _sin_double(b, r, low), _cos_double(b, r, low)
    else:
        quadrant, r = _reduce_single(b, via_double(x))
        s, c = _kernels_single(b, r)
    if name == "cos":
        quadrant = quadrant + 1
    value = b.select((quadrant & 1).ne(0), c, s)
    value = narrow(b.select((quadrant & 2).ne(0), -value, value), x)
    if name == "sin":
        value = b.select(x.eq(0.0), x, value)
    huge = absolute(x).ge(_LIMIT)
    return external.call_where(b, huge, name, [x], value)


def _quadrant(b: Builder, x: Reg) -> tuple[Reg, Reg]:
    shifted = b.fma(x, 2 / math.pi, DOUBLE.magic)
    return shifted - DOUBLE.magic, shifted.bitcast("i64")


def _reduce_single(b: Builder, x: Reg) -> tuple[Reg, Reg]:
    n, quadrant = _quadrant(b, x)
    return quadrant, b.fma(n, -_HALF_PI[1], b.fma(n, -_HALF_PI[0], x))


def _reduce_double(b: Builder, x: Reg) -> tuple[Reg, Reg, Reg]:
    """x - n pi/2 as a double and its tail."""
    n, quadrant = _quadrant(b, x)
    product, lost = two_product(b, n, x.like(_HALF_PI[0]))
    r, first = two_sum(x - product, -lost)
    product, lost = two_product(b, n, x.like(_HALF_PI[1]))
    r, second = two_sum(r, -product)
    low = b.fma(n, -_HALF_PI[2], first + second - lost)
    high = r + low
    return quadrant, high, (r - high) + low


def _kernels_single(b: Builder, r: Reg) -> tuple[Reg, Reg]:
    z = r * r
    s = b.fma(r * z, b.polynomial(z, _SIN_MEDIUM), r)
    c = b.fma(z * z, b.polynomial(z, _COS_MEDIUM), b.fma(z, -0.5, 1.0))
    return s, c


def _sin_double(b: Builder, r: Reg, low: Reg) -> Reg:
    z = r * r
    tail = b.polynomial(z, _SIN_DOUBLE[1:])
    v = z * r
    return r - ((z * (low * 0.5 - v * tail) - low) - v * _SIN_DOUBLE[0])


def _cos_double(b: Builder, r: Reg, low: Reg) -> Reg:
    z = r * r
    tail = z * z * b.polynomial(z, _COS_DOUBLE)
    half = z * 0.5
    w = 1.0 - half
    return w + (((1.0 - w) - half) + (tail - r * low))


def atan2_single(b: Builder, y: Reg, x: Reg) -> Reg:
    """The angle of (x, y) for float32, in double."""
    return copysign(narrow(_angle(b, via_double(y), via_double(x)), x), y)


def atan_single(b: Builder, x: Reg) -> Reg:
    wide = via_double(x)
    return copysign(narrow(_angle(b, wide, wide.like(1.0)), x), x)


def asin_single(b: Builder, x: Reg) -> Reg:
    wide = via_double(x)
    cosine = b.intrinsic("sqrt", (1.0 - wide) * (1.0 + wide))
    return copysign(narrow(_angle(b, wide, cosine), x), x)


def acos_single(b: Builder, x: Reg) -> Reg:
    wide = via_double(x)
    return narrow(_angle(b, b.intrinsic("sqrt", (1.0 - wide) * (1.0 + wide)), wide), x)


def tan_single(b: Builder, x: Reg) -> Reg:
    quadrant, r = _reduce_single(b, via_double(x))
    s, c = _kernels_single(b, r)
    odd = (quadrant & 1).ne(0)
    value = b.select(odd, -c, s) / b.select(odd, s, c)
    value = b.select(x.eq(0.0), x, narrow(value, x))
    return external.call_where(b, absolute(x).ge(_LIMIT), "tan", [x], value)


def _angle(b: Builder, y: Reg, x: Reg) -> Reg:
    """The size of atan2 to 1e-9; signed zeros and infinities as in C99 (F.9.1.4). It gets y's sign
    when it is narrow: LLVM would narrow a double that only gives a sign through a library call.
    """
    ax, ay = absolute(x), absolute(y)
    swap = ay.gt(ax)
    small, large = b.select(swap, ax, ay), b.select(swap, ay, ax)
    ratio = small / large
    ratio = b.select(large.eq(0.0), 0.0, b.select(small.eq(float("inf")), 1.0, ratio))
    z = ratio * ratio
    angle = b.fma(ratio * z, b.polynomial(z, _ATAN), ratio)
    angle = b.select(swap, math.pi / 2 - angle, angle)
    angle = b.select(copysign(x.like(1.0), x).lt(0.0), math.pi - angle, angle)
    return b.select(x.isnan() | y.isnan(), x + y, angle)
