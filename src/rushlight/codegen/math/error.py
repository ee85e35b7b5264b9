"""erf and erfc: a polynomial near zero, beyond it 1 - erfc(x) with a fit of log(erfc).

The form is N. Juffa's (single-precision erff, 2013); the coefficients are our own minimax fits.
"""

from __future__ import annotations

from ..llvm import Builder, Reg
from .exponential import exp
from .formats import (
    absolute,
    copysign,
    format_of,
    narrow,
    nearest_integer,
    scale,
    via_double,
)

# erf(x) / x - 1 in x^2, for |x| <= _SPLIT (single) and 1 (double).
_SPLIT = 0.8
_SMALL_SINGLE = (
    0.1283791637004113, -0.3761260138485742, 0.11283112778474287, -0.02682080559718481,
    0.005085128943688481, -0.0006535229099041776,
)  # fmt: skip
_SMALL_DOUBLE = (
    0.12837916709551256, -0.3761263890318355, 0.11283791670945253, -0.02686617064327622,
    0.005223977607423468, -0.0008548325989696758, 0.00012055295320494294, -1.4924744663335489e-05,
    1.6447517677871873e-06, -1.6209175911748696e-07, 1.3722976265924504e-08, -7.801188874097751e-10,
)  # fmt: skip
# -log2(erfc(x)) in x - 1, for x from _SPLIT to 4.05; what counts is the error of erfc itself.
_LARGE_SINGLE = (
    2.668416718575271, 3.807225383825228, 1.216343803466206, 0.05995986398049594,
    -0.014426859687105414, 0.0027539450804849814, -0.0002992943093767428,
)  # fmt: skip
# (2^r - 1) / r for |r| <= 1/2.
_POWER_SINGLE = (
    0.693147214911751, 0.24022234647973192, 0.05550308353624088, 0.009671874093420666,
    0.0013407264684020732,
)  # fmt: skip
# -log(erfc(x)) - x^2 in (x - 4) / (x + 4), for x from 1 to 6.
_LARGE_DOUBLE = (
    1.9877783121035346, 1.8910151416331673, 0.19146880600737287, 0.4340117415587572,
    0.23416299470086885, 0.19016219597369974, 0.17653258224101265, 0.13874576019068774,
    0.12307955460591105, 0.10706918305457008, 0.08533195886441942, 0.06239549558080915,
    0.03739058852460803, 0.016380957883781654, 0.004716306738061994, 0.0006807782656966447,
)  # fmt: skip
# The same in (x - 6) / (x + 6), for x from 0 to 10.5.
_COMPLEMENT = (
    2.377561174109012, 1.9479512975389581, 0.09770657890175082, 0.5346088241082209,
    0.15271781566301446, 0.23996499470667783, 0.15541734771332685, 0.14113892747371928,
    0.13805317921418594, 0.1165680671768248, 0.09071329959742204, 0.036449996416817614,
    0.004512711339937302,
)  # fmt: skip


def erf(b: Builder, x: Reg) -> Reg:
    if x.element == "double":
        t = _limited(x, 6.0)
        small = b.fma(x, b.polynomial(x * x, _SMALL_DOUBLE), x)
        exponent = b.fma(t, t, b.polynomial((t - 4.0) / (t + 4.0), _LARGE_DOUBLE))
        complement, split = exp(b, -exponent), 1.0
    else:
        small = b.fma(x, b.polynomial(x * x, _SMALL_SINGLE), x)
        complement, split = _complement_single(b, _limited(x, 4.0)), _SPLIT
    return b.select(absolute(x).gt(split), copysign(1.0 - complement, x), small)


def _limited(x: Reg, limit: float) -> Reg:
    t = absolute(x)
    return x.builder.select(t.gt(limit), limit, t)


def _complement_single(b: Builder, t: Reg) -> Reg:
    """erfc(t) as 2^(n + r), for 1 - erfc(t) to be exact to an ulp: it needs fewer digits itself."""
    exponent = -b.polynomial(t - 1.0, _LARGE_SINGLE)
    n = nearest_integer(exponent)
    r = exponent - n
    return scale(b.fma(r, b.polynomial(r, _POWER_SINGLE), 1.0), n, format_of(t))


def erfc_single(b: Builder, x: Reg) -> Reg:
    """erfc of float32, in double."""
    t = via_double(absolute(x))
    t = b.select(t.gt(10.5), 10.5, t)
    value = exp(b, -b.fma(t, t, b.polynomial((t - 6.0) / (t + 6.0), _COMPLEMENT)))
    return narrow(b.select(x.lt(0.0), 2.0 - value, value), x)
