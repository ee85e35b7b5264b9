"""exp, log and what follows from them.

Cody and Waite's argument reduction (Software Manual for the Elementary Functions, 1980);
logarithms as in Sun's fdlibm (e_log.c, s_log1p.c). The polynomials are minimax fits by the Remez
algorithm.
"""

from __future__ import annotations

import math

from ..llvm import Builder, Reg
from .formats import (
    DOUBLE,
    INFINITY,
    LOG2_E,
    NAN,
    SINGLE,
    absolute,
    clamp,
    copysign,
    float_to_integer,
    format_of,
    narrow,
    nearest_integer,
    power_of_two,
    scale,
    split_exponent,
    via_double,
)  # fmt: skip

# (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2.
_EXP_SINGLE = (
    0.5000000028597934, 0.16666573341728233, 0.041666363413022885, 0.008363778338190353,
    0.0013942164030139124,
)  # fmt: skip
_EXP_MEDIUM = (
    0.4999999999990275, 0.16666666722241144, 0.04166666686508826, 0.008333297060212888,
    0.0013888821534196586, 0.00019900446176801772, 2.487766706570285e-05,
)  # fmt: skip
_EXP_DOUBLE = (
    0.5000000000000001, 0.16666666666666674, 0.04166666666662063, 0.008333333333321294,
    0.0013888888918943214, 0.00019841269889351839, 2.480151863611152e-05, 2.7557239244458533e-06,
    2.7621340825620834e-07, 2.511120397630789e-08,
)  # fmt: skip

# (log(1 + f) - 2 s) / (s z) with s = f / (2 + f) and z = s^2, 1 + f from sqrt(1/2) to sqrt(2).
_LOG_SINGLE = (0.6666666654838328, 0.4000012650589866, 0.28550315071541327, 0.23343781552518286)
_LOG_DOUBLE = (
    0.666666666666667, 0.39999999999892155, 0.2857142862923095, 0.2222221061390521,
    0.1818292643049427, 0.1533050011909631, 0.14631345950248212,
)  # fmt: skip

# (tanh(x) - x) / x^3 in x^2, for |x| < _TANH_SPLIT.
_TANH_SPLIT = 0.5625
_TANH_SINGLE = (
    -0.3333333178772895, 0.13333082977708433, -0.0539031839679793, 0.021270514135641586,
    -0.006536779198415345,
)  # fmt: skip
_TANH_DOUBLE = (
    -0.3333333333333333, 0.133333333333333, -0.05396825396820483, 0.021869488533224016,
    -0.008863235439464425, 0.0035921263870634535, -0.001455815255582615, 0.0005898806444361825,
    -0.00023837145503659667, 9.42938170756163e-05, -3.3351771883617176e-05, 7.646467834547607e-06,
)  # fmt: skip


def _exp_tail(b: Builder, r: Reg) -> Reg:
    """(exp(r) - 1 - r) / r^2."""
    return b.polynomial(r, _EXP_DOUBLE if r.element == "double" else _EXP_SINGLE)


def _exp_reduced(b: Builder, x: Reg) -> tuple[Reg, Reg]:
    """n and exp(r) - 1 with x = n ln(2) + r, n an integer (as a float).

    What rounding takes from r is added again in double, where it would cost the last digit.
    """
    f = format_of(x)
    n = nearest_integer(x, LOG2_E)
    high = b.fma(n, -f.ln2_high, x)
    r = b.fma(n, -f.ln2_low, high)
    square, tail = r * r, _exp_tail(b, r)
    if f is SINGLE:
        return n, b.fma(square, tail, r)
    return n, r + b.fma(square, tail, b.fma(n, -f.ln2_low, high - r))


def exp(b: Builder, x: Reg) -> Reg:
    f = format_of(x)
    n, fraction = _exp_reduced(b, clamp(x, *f.exp_range))
    return scale(fraction + 1.0, n, f)


def exp2(b: Builder, x: Reg) -> Reg:
    """2^x, in double."""
    limited = clamp(via_double(x), -1076.0, 1025.0)
    n = nearest_integer(limited)
    r = (limited - n) * math.log(2)
    value = b.fma(r * r, _exp_tail(b, r), r) + 1.0
    return narrow(scale(value, n, DOUBLE), x)


def expm1(b: Builder, x: Reg) -> Reg:
    """2^n (exp(r) - 1) + (2^n - 1), scaled in two steps so that nothing overflows early."""
    f = format_of(x)
    n_float, p = _exp_reduced(b, clamp(x, f.expm1_low, f.exp_range[1]))
    n = float_to_integer(n_float, f)
    half = n.ashr(1)
    first, second = power_of_two(half, f), power_of_two(n - half, f)
    one = power_of_two(half - n, f)
    value = b.fma(p, first, first - one) * second
    return copysign(value, x)


def _log_of_ratio(b: Builder, f: Reg) -> tuple[Reg, Reg]:
    """log(1 + f) as f - (h - t): the pieces h = f^2 / 2 and t."""
    s = f / (f + 2.0)
    z = s * s
    tail = z * b.polynomial(z, _LOG_DOUBLE if f.element == "double" else _LOG_SINGLE)
    half_square = f * f * 0.5
    return half_square, s * (half_square + tail)


def _log_limits(b: Builder, x: Reg, value: Reg, zero: float) -> Reg:
    """A logarithm's value where the argument (``x - zero``) is zero, negative, infinite or NaN."""
    value = b.select(x.lt(INFINITY), value, x)
    value = b.select(x.eq(zero), -INFINITY, value)
    return b.select(x.lt(zero), NAN, value)


def log(b: Builder, x: Reg) -> Reg:
    fmt = format_of(x)
    m, k = split_exponent(x)
    f = m - 1.0
    h, t = _log_of_ratio(b, f)
    value = k * fmt.ln2_high - ((h - (t + k * fmt.ln2_low)) - f)
    return _log_limits(b, x, value, 0.0)


def log1p(b: Builder, x: Reg) -> Reg:
    fmt = format_of(x)
    u = x + 1.0
    m, k = split_exponent(u)
    near = k.eq(0.0)
    lost = b.select(x.gt(1.0), 1.0 - (u - x), x - (u - 1.0)) / u
    f = b.select(near, x, m - 1.0)
    h, t = _log_of_ratio(b, f)
    correction = b.select(near, 0.0, k * fmt.ln2_low + lost)
    value = k * fmt.ln2_high - ((h - (t + correction)) - f)
    value = b.select(x.eq(0.0), x, value)
    return _log_limits(b, x, value, -1.0)


def log_of_double(b: Builder, x: Reg) -> tuple[Reg, Reg]:
    """The natural logarithm of m and the exponent k, of a positive double m 2^k."""
    m, k = split_exponent(x)
    f = m - 1.0
    h, t = _log_of_ratio(b, f)
    return f - (h - t), k


def log_base(b: Builder, x: Reg, base: int) -> Reg:
    """The logarithm of a float32 to another base, in double."""
    wide = via_double(x)
    fraction, k = log_of_double(b, wide)
    value = b.fma(fraction, 1 / math.log(base), k * math.log(2, base))
    return narrow(_log_limits(b, wide, value, 0.0), x)


def tanh(b: Builder, x: Reg) -> Reg:
    """An odd polynomial near zero, elsewhere 1 - 2 / (exp(2 |x|) + 1)."""
    magnitude = absolute(x)
    limit = format_of(x).tanh_high
    limited = b.select(magnitude.gt(limit), limit, magnitude)
    large = 1.0 - 2.0 / (exp(b, limited + limited) + 1.0)
    square = x * x
    series = b.polynomial(square, _TANH_DOUBLE if x.element == "double" else _TANH_SINGLE)
    small = b.fma(series * square, magnitude, magnitude)
    return copysign(b.select(magnitude.lt(_TANH_SPLIT), small, large), x)


def sigmoid(b: Builder, x: Reg) -> Reg:
    e = exp(b, -absolute(x))
    return b.select(x.lt(0.0), e, 1.0) / (e + 1.0)


def power_single(b: Builder, x: Reg, y: Reg) -> Reg:
    """x^y of float32, in double; special cases as in C99 (F.9.4.4)."""
    wide, exponent = via_double(absolute(x)), via_double(y)
    fraction, k = log_of_double(b, wide)
    binary = b.fma(fraction, LOG2_E, k)
    binary = b.select(wide.eq(0.0), -INFINITY, b.select(wide.eq(INFINITY), INFINITY, binary))
    scaled = clamp(exponent * binary, -200.0, 200.0)
    n = nearest_integer(scaled)
    r = (scaled - n) * math.log(2)
    value = scale(b.fma(r * r, b.polynomial(r, _EXP_MEDIUM), r) + 1.0, n, DOUBLE)
    value = narrow(b.select(wide.isnan(), wide, value), x)
    return _power_cases(b, x, y, value)


def _power_cases(b: Builder, x: Reg, y: Reg, magnitude: Reg) -> Reg:
    """x^y from |x|^y."""
    half = y * 0.5
    integral = b.intrinsic("trunc", y).eq(y)
    odd = integral & b.intrinsic("trunc", half).ne(half)
    one = absolute(x).eq(1.0) & ~y.isnan()
    value = b.select(one, 1.0, magnitude)
    value = b.select(x.lt(0.0) & ~integral & x.gt(-INFINITY), NAN, value)
    negative = odd & copysign(x.like(1.0), x).lt(0.0)
    value = b.select(negative, -value, value)
    return b.select(y.eq(0.0) | x.eq(1.0), 1.0, value)


# Hyperbolic functions of float32, in double: nothing overflows or cancels there.


def sinh_single(b: Builder, x: Reg) -> Reg:
    t = expm1(b, absolute(via_double(x)))
    value = (t + t / (t + 1.0)) * 0.5
    return copysign(narrow(b.select(t.eq(INFINITY), t, value), x), x)


def cosh_single(b: Builder, x: Reg) -> Reg:
    e = exp(b, absolute(via_double(x)))
    return narrow((e + 1.0 / e) * 0.5, x)


def asinh_single(b: Builder, x: Reg) -> Reg:
    t = absolute(via_double(x))
    square = t * t
    root = b.intrinsic("sqrt", square + 1.0) + 1.0
    value = log1p(b, t + square / root)
    return copysign(narrow(b.select(t.eq(INFINITY), t, value), x), x)


def acosh_single(b: Builder, x: Reg) -> Reg:
    t = via_double(x) - 1.0
    value = log1p(b, t + b.intrinsic("sqrt", t * (t + 2.0)))
    return narrow(b.select(t.lt(0.0), NAN, value), x)


def atanh_single(b: Builder, x: Reg) -> Reg:
    t = absolute(via_double(x))
    return copysign(narrow(log1p(b, (t + t) / (1.0 - t)) * 0.5, x), x)
