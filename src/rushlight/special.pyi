"""Operators under special.

Written by ``python -m rushlight.tools.stubs``; do not edit.
"""

# ruff: noqa

from builtins import bool as _bool, float as _float, int as _int
from collections.abc import Sequence
from typing import Any

from ._core import Generator as _Generator, Tensor as Tensor, _Number
from .device import device as _device
from .dtypes import dtype as _dtype
from .formats import layout as _layout, memory_format as _memory_format

def airy_ai(input: Tensor, *, out: Any = None) -> Tensor:
    """The Airy function Ai."""

def bessel_j0(input: Tensor, *, out: Any = None) -> Tensor:
    """The Bessel function J0 of the first kind."""

def bessel_j1(input: Tensor, *, out: Any = None) -> Tensor:
    """The Bessel function J1 of the first kind."""

def bessel_y0(input: Tensor, *, out: Any = None) -> Tensor:
    """The Bessel function Y0 of the second kind."""

def bessel_y1(input: Tensor, *, out: Any = None) -> Tensor:
    """The Bessel function Y1 of the second kind."""

def chebyshev_polynomial_t(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Any = None,
) -> Tensor:
    """The Chebyshev polynomial of the first kind of degree n (negative degrees give 0)."""

def chebyshev_polynomial_u(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Any = None,
) -> Tensor:
    """The Chebyshev polynomial of the second kind of degree n (negative degrees give 0)."""

def chebyshev_polynomial_v(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Any = None,
) -> Tensor:
    """The Chebyshev polynomial of the third kind of degree n (negative degrees give 0)."""

def chebyshev_polynomial_w(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Any = None,
) -> Tensor:
    """The Chebyshev polynomial of the fourth kind of degree n (negative degrees give 0)."""

def digamma(input: Tensor, *, out: Any = None) -> Tensor:
    """The derivative of lgamma."""

def entr(input: Tensor, *, out: Any = None) -> Tensor:
    """-input * log(input); 0 at 0, and minus infinity for negative numbers."""

def erf(input: Tensor, *, out: Any = None) -> Tensor:
    """The error function."""

def erfc(input: Tensor, *, out: Any = None) -> Tensor:
    """1 - erf(input), accurate for large inputs."""

def erfcx(input: Tensor, *, out: Any = None) -> Tensor:
    """exp(input ** 2) * erfc(input), without overflow."""

def erfinv(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse of erf."""

def exp(input: Tensor, *, out: Any = None) -> Tensor:
    """e raised to each element."""

def exp2(input: Tensor, *, out: Any = None) -> Tensor:
    """2 raised to each element."""

def expit(input: Tensor, *, out: Any = None) -> Tensor:
    """1 / (1 + exp(-input))"""

def expm1(input: Tensor, *, out: Any = None) -> Tensor:
    """exp(input) - 1, accurate near zero."""

def gammainc(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The regularized lower incomplete gamma function of order input at other."""

def gammaincc(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The regularized upper incomplete gamma function of order input at other."""

def gammaln(input: Tensor, *, out: Any = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function."""

def hermite_polynomial_h(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Any = None,
) -> Tensor:
    """The Hermite polynomial for the weight exp(-x**2) of degree n (negative degrees give 0)."""

def hermite_polynomial_he(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Any = None,
) -> Tensor:
    """The Hermite polynomial for the weight exp(-x**2 / 2) of degree n (negative degrees give 0)."""

def i0(input: Tensor, *, out: Any = None) -> Tensor:
    """The modified Bessel function I0 of the first kind."""

def i0e(input: Tensor, *, out: Any = None) -> Tensor:
    """exp(-|input|) * i0(input)"""

def i1(input: Tensor, *, out: Any = None) -> Tensor:
    """The modified Bessel function I1 of the first kind."""

def i1e(input: Tensor, *, out: Any = None) -> Tensor:
    """exp(-|input|) * i1(input)"""

def laguerre_polynomial_l(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Any = None,
) -> Tensor:
    """The Laguerre polynomial of degree n (negative degrees give 0)."""

def legendre_polynomial_p(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Any = None,
) -> Tensor:
    """The Legendre polynomial of degree n (negative degrees give 0)."""

def log1p(input: Tensor, *, out: Any = None) -> Tensor:
    """log(1 + input), accurate near zero."""

def log_ndtr(input: Tensor, *, out: Any = None) -> Tensor:
    """The logarithm of ndtr."""

def log_softmax(
    input: Tensor,
    dim: _int,
    dtype: _dtype | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The logarithm of softmax."""

def logit(input: Tensor | _Number, eps: _float | None = None, *, out: Any = None) -> Tensor:
    """log(input / (1 - input)); eps clamps the input to [eps, 1 - eps]."""

def logsumexp(
    input: Tensor,
    dim: _int | Sequence[_int] | None,
    keepdim: _bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """log(sum(exp(input))); shifting by the maximum prevents overflow."""

def modified_bessel_i0(input: Tensor, *, out: Any = None) -> Tensor:
    """The modified Bessel function I0 of the first kind."""

def modified_bessel_i1(input: Tensor, *, out: Any = None) -> Tensor:
    """The modified Bessel function I1 of the first kind."""

def modified_bessel_k0(input: Tensor, *, out: Any = None) -> Tensor:
    """The modified Bessel function K0 of the second kind."""

def modified_bessel_k1(input: Tensor, *, out: Any = None) -> Tensor:
    """The modified Bessel function K1 of the second kind."""

def multigammaln(input: Tensor, p: _int, *, out: Any = None) -> Tensor:
    """The logarithm of the gamma function of p dimensions."""

def ndtr(input: Tensor, *, out: Any = None) -> Tensor:
    """The normal distribution's cumulative probability."""

def ndtri(input: Tensor, *, out: Any = None) -> Tensor:
    """The normal distribution's quantile: the inverse of ndtr."""

def polygamma(n: _int, input: Tensor, *, out: Any = None) -> Tensor:
    """The n-th derivative of digamma."""

def psi(input: Tensor, *, out: Any = None) -> Tensor:
    """The derivative of lgamma."""

def round(input: Tensor, *, decimals: _int = 0, out: Any = None) -> Tensor:
    """Round to the nearest number of this many decimals, halves to even."""

def scaled_modified_bessel_k0(input: Tensor, *, out: Any = None) -> Tensor:
    """exp(input) * modified_bessel_k0(input)"""

def scaled_modified_bessel_k1(input: Tensor, *, out: Any = None) -> Tensor:
    """exp(input) * modified_bessel_k1(input)"""

def shifted_chebyshev_polynomial_t(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Any = None,
) -> Tensor:
    """The Chebyshev polynomial of the first kind at 2 * input - 1 of degree n (negative degrees give 0)."""

def shifted_chebyshev_polynomial_u(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Any = None,
) -> Tensor:
    """The Chebyshev polynomial of the second kind at 2 * input - 1 of degree n (negative degrees give 0)."""

def shifted_chebyshev_polynomial_v(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Any = None,
) -> Tensor:
    """The Chebyshev polynomial of the third kind at 2 * input - 1 of degree n (negative degrees give 0)."""

def shifted_chebyshev_polynomial_w(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Any = None,
) -> Tensor:
    """The Chebyshev polynomial of the fourth kind at 2 * input - 1 of degree n (negative degrees give 0)."""

def sinc(input: Tensor, *, out: Any = None) -> Tensor:
    """sin(pi x) / (pi x), and 1 at 0."""

def softmax(input: Tensor, dim: _int, dtype: _dtype | None = None, *, out: Any = None) -> Tensor:
    """Scale exp(input) to sum to one along dim; shifting by the maximum prevents overflow."""

def spherical_bessel_j0(input: Tensor, *, out: Any = None) -> Tensor:
    """The spherical Bessel function j0 of the first kind: sin(input) / input."""

def xlog1py(input: Tensor | _Number, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """input * log1p(other), and 0 where the input is 0 and other is a number."""

def xlogy(input: Tensor | _Number, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """input * log(other), and 0 where the input is 0 and other is a number."""

def zeta(input: Tensor | _Number, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """The Hurwitz zeta function: the sum of (other + k) ** -input over all k from 0."""
