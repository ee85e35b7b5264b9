"""Operators under masked.

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
from .amp.autocast_mode import Any as Any

def amax(
    input: Tensor | _Number,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _dtype | None = None,
    mask: Tensor | _Number | None = None,
) -> Tensor:
    """The greatest of the elements over dims where the mask is true."""

def amin(
    input: Tensor | _Number,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _dtype | None = None,
    mask: Tensor | _Number | None = None,
) -> Tensor:
    """The least of the elements over dims where the mask is true."""

def argmax(
    input: Tensor | _Number,
    dim: _int | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _dtype | None = None,
    mask: Tensor | _Number | None = None,
) -> Tensor:
    """The index of the greatest element that the mask lets through along dim, in the input's dtype."""

def argmin(
    input: Tensor | _Number,
    dim: _int | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _dtype | None = None,
    mask: Tensor | _Number | None = None,
) -> Tensor:
    """The index of the least element that the mask lets through along dim, in the input's dtype."""

def cumprod(
    input: Tensor | _Number,
    dim: _int,
    *,
    dtype: _dtype | None = None,
    mask: Tensor | _Number | None = None,
) -> Tensor:
    """``cumprod`` of the elements along dim where the mask is true."""

def cumsum(
    input: Tensor | _Number,
    dim: _int,
    *,
    dtype: _dtype | None = None,
    mask: Tensor | _Number | None = None,
) -> Tensor:
    """``cumsum`` of the elements along dim where the mask is true."""

def log_softmax(
    input: Tensor | _Number,
    dim: _int,
    *,
    dtype: _dtype | None = None,
    mask: Tensor | _Number | None = None,
) -> Tensor:
    """``log_softmax`` of the elements along dim where the mask is true."""

def logaddexp(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    dtype: _dtype | None = None,
    input_mask: Tensor | _Number | None = None,
    other_mask: Tensor | _Number | None = None,
) -> Tensor:
    """log(exp(input) + exp(other)), where what a mask does not let through does not count."""

def logsumexp(
    input: Tensor | _Number,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _dtype | None = None,
    mask: Tensor | _Number | None = None,
) -> Tensor:
    """The logarithm of the sum of the exponentials of the elements over dims where the mask is true."""

def mean(
    input: Tensor | _Number,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _dtype | None = None,
    mask: Tensor | _Number | None = None,
) -> Tensor:
    """The mean of the elements over dims where the mask is true."""

def median(
    input: Tensor | _Number,
    dim: _int = -1,
    *,
    keepdim: _bool = False,
    dtype: _dtype | None = None,
    mask: Tensor | _Number | None = None,
) -> Tensor:
    """The lower median along dim of the elements that the mask lets through and that are not NaN.

    ValueError if there are none of integers.
    """

def norm(
    input: Tensor | _Number,
    ord: Any = 2.0,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _dtype | None = None,
    mask: Tensor | _Number | None = None,
) -> Tensor:
    """The norm of order ord of the elements over dims where the mask is true."""

def normalize(
    input: Tensor | _Number,
    ord: Any,
    dim: _int,
    *,
    eps: Any = 1e-12,
    dtype: _dtype | None = None,
    mask: Tensor | _Number | None = None,
) -> Tensor:
    """The elements divided by their norm along dim, or by eps if that is greater, and zero where
    the mask is false.
    """

def prod(
    input: Tensor | _Number,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _dtype | None = None,
    mask: Tensor | _Number | None = None,
) -> Tensor:
    """The product of the elements over dims where the mask is true."""

def softmax(
    input: Tensor | _Number,
    dim: _int,
    *,
    dtype: _dtype | None = None,
    mask: Tensor | _Number | None = None,
) -> Tensor:
    """``softmax`` of the elements along dim where the mask is true."""

def softmin(
    input: Tensor | _Number,
    dim: _int,
    *,
    dtype: _dtype | None = None,
    mask: Tensor | _Number | None = None,
) -> Tensor:
    """``softmin`` of the elements along dim where the mask is true."""

def std(
    input: Tensor | _Number,
    dim: _int | Sequence[_int] | None = None,
    unbiased: _bool | None = None,
    *,
    correction: Any = None,
    keepdim: _bool | None = False,
    dtype: _dtype | None = None,
    mask: Tensor | _Number | None = None,
) -> Tensor:
    """The standard deviation of the elements over dims where the mask is true.

    The sum of squares is divided by their number less ``correction``, which is 1, or 0 without
    ``unbiased``.
    """

def sum(
    input: Tensor | _Number,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _dtype | None = None,
    mask: Tensor | _Number | None = None,
) -> Tensor:
    """The sum of the elements over dims where the mask is true."""

def var(
    input: Tensor | _Number,
    dim: _int | Sequence[_int] | None = None,
    unbiased: _bool | None = None,
    *,
    correction: Any = None,
    keepdim: _bool | None = False,
    dtype: _dtype | None = None,
    mask: Tensor | _Number | None = None,
) -> Tensor:
    """The variance of the elements over dims where the mask is true.

    The sum of squares is divided by their number less ``correction``, which is 1, or 0 without
    ``unbiased``.
    """
