"""Complex arithmetic on pairs of registers; elementary functions are the C library's, in double."""

from __future__ import annotations

import math

from ..llvm import Builder, Reg
from . import external
from .exponential import log, log1p
from .formats import absolute

Complex = tuple[Reg, ...]  # real and imaginary part


def add(x: Complex, y: Complex) -> Complex:
    return x[0] + y[0], x[1] + y[1]


def sub(x: Complex, y: Complex) -> Complex:
    return x[0] - y[0], x[1] - y[1]


def mul(x: Complex, y: Complex) -> Complex:
    return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]


def div(b: Builder, x: Complex, y: Complex) -> Complex:
    """Smith's algorithm (CACM 5, 1962), as NumPy and PyTorch divide; by zero: part by part."""
    (re, im), (c, d) = x, y
    swap = absolute(c).lt(absolute(d))
    large, small = b.select(swap, d, c), b.select(swap, c, d)
    ratio = small / large
    factor = 1.0 / (large + small * ratio)
    first = b.select(swap, re * ratio + im, re + im * ratio)
    second = b.select(swap, im * ratio - re, im - re * ratio)
    zero = absolute(c).eq(0.0) & absolute(d).eq(0.0)
    size = absolute(c)
    return (
        b.select(zero, re / size, first * factor),
        b.select(zero, im / size, second * factor),
    )


def reciprocal(b: Builder, x: Complex) -> Complex:
    return div(b, (x[0].like(1.0), x[0].like(0.0)), x)


def magnitude(b: Builder, x: Complex) -> Reg:
    """sqrt(re^2 + im^2) without overflow: float in double, double scaled by powers of two."""
    re, im = x
    if re.element == "float":
        re, im = re.cast("fpext", "double"), im.cast("fpext", "double")
        size = b.intrinsic("sqrt", b.fma(re, re, im * im)).cast("fptrunc", "float")
    else:
        larger = b.select(absolute(re).lt(absolute(im)), absolute(im), absolute(re))
        big, little = larger.gt(2.0**500), larger.lt(2.0**-500)
        down = b.select(big, 2.0**-600, b.select(little, larger.like(2.0**600), 1.0))
        up = b.select(big, 2.0**600, b.select(little, larger.like(2.0**-600), 1.0))
        re, im = re * down, im * down
        size = b.intrinsic("sqrt", b.fma(re, re, im * im)) * up
    infinite = absolute(x[0]).eq(math.inf) | absolute(x[1]).eq(math.inf)
    return b.select(infinite, math.inf, size)


def angle(b: Builder, x: Complex) -> Reg:
    return external.call(b, "atan2", [x[1], x[0]])


def sign(b: Builder, x: Complex) -> Complex:
    size = magnitude(b, x)
    zero = size.eq(0.0)
    return b.select(zero, 0.0, x[0] / size), b.select(zero, 0.0, x[1] / size)


def library(b: Builder, name: str, *arguments: Complex) -> Complex:
    """A function of C's <complex.h>."""
    element = arguments[0][0].element
    wide = [part.cast("fpext", "double") for each in arguments for part in each]
    re, im = external.call_complex(b, name, wide)
    return re.cast("fptrunc", element), im.cast("fptrunc", element)


def power(b: Builder, x: Complex, y: Complex) -> Complex:
    """cpow, but z^0 is 1 and 0^z is 0."""
    re, im = library(b, "cpow", x, y)
    x_zero = x[0].eq(0.0) & x[1].eq(0.0)
    y_zero = y[0].eq(0.0) & y[1].eq(0.0)
    re = b.select(y_zero, 1.0, b.select(x_zero, 0.0, re))
    im = b.select(y_zero, 0.0, b.select(x_zero, 0.0, im))
    return re, im


def log_base(b: Builder, x: Complex, base: int) -> Complex:
    re, im = library(b, "clog", x)
    return re * (1 / math.log(base)), im * (1 / math.log(base))


def exp2(b: Builder, x: Complex) -> Complex:
    return library(b, "cexp", (x[0] * math.log(2), x[1] * math.log(2)))


def expm1(b: Builder, x: Complex) -> Complex:
    """2 exp(z/2) sinh(z/2), which keeps small results accurate."""
    half = (x[0] * 0.5, x[1] * 0.5)
    re, im = mul(library(b, "cexp", half), library(b, "csinh", half))
    return re + re, im + im


def complex_log1p(b: Builder, x: Complex) -> Complex:
    """log(1 + z): near |1 + z| = 1 the real part is log1p(re (re + 2) + im^2) / 2."""
    re, im = x
    beyond = b.fma(re, re + 2.0, im * im)
    near = absolute(beyond).lt(0.5)
    real = b.select(near, log1p(b, beyond) * 0.5, log(b, magnitude(b, (re + 1.0, im))))
    return real, external.call(b, "atan2", [im, re + 1.0])


def sigmoid(b: Builder, x: Complex) -> Complex:
    wide = [-part.cast("fpext", "double") for part in x]
    re, im = external.call_complex(b, "cexp", wide)
    result = reciprocal(b, (re + 1.0, im))  # in double, as the sum may cancel
    return result[0].cast("fptrunc", x[0].element), result[1].cast("fptrunc", x[0].element)
