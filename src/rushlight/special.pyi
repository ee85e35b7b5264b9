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

def erf(input: Tensor, *, out: Any = None) -> Tensor:
    """The error function."""

def erfc(input: Tensor, *, out: Any = None) -> Tensor:
    """1 - erf(input), accurate for large inputs."""

def exp(input: Tensor, *, out: Any = None) -> Tensor:
    """e raised to each element."""

def exp2(input: Tensor, *, out: Any = None) -> Tensor:
    """2 raised to each element."""

def expit(input: Tensor, *, out: Any = None) -> Tensor:
    """1 / (1 + exp(-input))"""

def expm1(input: Tensor, *, out: Any = None) -> Tensor:
    """exp(input) - 1, accurate near zero."""

def log1p(input: Tensor, *, out: Any = None) -> Tensor:
    """log(1 + input), accurate near zero."""

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

def round(input: Tensor, *, decimals: _int = 0, out: Any = None) -> Tensor:
    """Round to the nearest number of this many decimals, halves to even."""

def sinc(input: Tensor, *, out: Any = None) -> Tensor:
    """sin(pi x) / (pi x), and 1 at 0."""

def softmax(input: Tensor, dim: _int, dtype: _dtype | None = None, *, out: Any = None) -> Tensor:
    """Scale exp(input) to sum to one along dim; shifting by the maximum prevents overflow."""

def xlogy(input: Tensor | _Number, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """input * log(other), and 0 where the input is 0 and other is a number."""
