"""erf and erfc: a polynomial near zero, beyond it 1 - exp(-Q(x)) with a fit of Q = -log(erfc).

The form is N. Juffa's (single-precision erff, 2013); the coefficients are our own minimax fits.
"""

from __future__ import annotations

from ..llvm import Builder, Reg
from .exponential import exp
from .formats import absolute, copysign, narrow, via_double

# erf(x) / x - 1 in x^2, for |x| <= 1.
_SMALL_SINGLE = (
    0.1283791659141862, -0.3761262713742421, 0.11283600185630827, -0.026854444844954316,
    0.005189535663580804, -0.0008020843115195521, 7.889122768195912e-05,
)  # fmt: skip
_SMALL_DOUBLE = (
    0.12837916709551256, -0.3761263890318355, 0.11283791670945253, -0.02686617064327622,
    0.005223977607423468, -0.0008548325989696758, 0.00012055295320494294, -1.4924744663335489e-05,
    1.6447517677871873e-06, -1.6209175911748696e-07, 1.3722976265924504e-08, -7.801188874097751e-10,
)  # fmt: skip
# -log(erfc(x)) in x - 1, for x from 1 to 4.05.
_LARGE_SINGLE = (
    1.8496055100637792, 2.6389675129563392, 0.8431070996823684, 0.04156341053697452,
    -0.010046325178176016, 0.002011852129846935, -0.0002894785177123328, 2.167857313729372e-05,
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
    double = x.element == "double"
    t = absolute(x)
    limit = 6.0 if double else 4.0
    t = b.select(t.gt(limit), limit, t)
    square = x * x
    small = b.fma(x, b.polynomial(square, _SMALL_DOUBLE if double else _SMALL_SINGLE), x)
    if double:
        exponent = b.fma(t, t, b.polynomial((t - 4.0) / (t + 4.0), _LARGE_DOUBLE))
    else:
        exponent = b.polynomial(t - 1.0, _LARGE_SINGLE)
    large = copysign(1.0 - exp(b, -exponent), x)
    return b.select(absolute(x).gt(1.0), large, small)


def erfc_single(b: Builder, x: Reg) -> Reg:
    """erfc of float32, in double."""
    t = via_double(absolute(x))
    t = b.select(t.gt(10.5), 10.5, t)
    value = exp(b, -b.fma(t, t, b.polynomial((t - 6.0) / (t + 6.0), _COMPLEMENT)))
    return narrow(b.select(x.lt(0.0), 2.0 - value, value), x)
