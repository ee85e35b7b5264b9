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

def exp(input: Tensor, *, out: Any = None) -> Tensor:
    """e raised to each element."""

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

def softmax(input: Tensor, dim: _int, dtype: _dtype | None = None, *, out: Any = None) -> Tensor:
    """Scale exp(input) to sum to one along dim; shifting by the maximum prevents overflow."""
