"""Operators under linalg.

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

def cross(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    dim: _int = -1,
    out: Any = None,
) -> Tensor:
    """The cross product of vectors of three elements along dim."""

def diagonal(A: Tensor, *, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
    """A diagonal over two dims, which comes last."""

def matmul(input: Tensor | _Number, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """The matrix product; a vector counts as a row on the left and a column on the right; batch
    dims broadcast.
    """

def matrix_norm(
    A: Tensor,
    ord: Any = 'fro',
    dim: _int | Sequence[_int] | None = ...,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Any = None,
) -> Tensor:
    """The norm of matrices: "fro", "nuc", 1, -1, 2, -2, or an infinity."""

def matrix_power(A: Tensor, n: _int, *, out: Any = None) -> Tensor:
    """The n-th power of square matrices, by repeated squaring; negative n: of the inverses."""

def multi_dot(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """The product of several matrices, in the order that costs least; the first and the last may be
    vectors.
    """

def norm(
    A: Tensor,
    ord: Any = None,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Any = None,
) -> Tensor:
    """The norm of vectors (one dim) or matrices (two dims); without ord the 2-norm of all."""

def vander(x: Tensor, *, N: _int | None = None) -> Tensor:
    """Vandermonde matrices: the powers 0 to N - 1 of each element along a new last dim.

    N: None is the size of the last dim.
    """

def vdot(input: Tensor | _Number, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """The sum of the products of two vectors' elements, the first conjugated."""

def vecdot(x: Tensor | _Number, y: Tensor | _Number, *, dim: _int = -1, out: Any = None) -> Tensor:
    """The sums along dim of the products of elements, the first conjugated."""

def vector_norm(
    x: Tensor,
    ord: Any = 2,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Any = None,
) -> Tensor:
    """The norm of order ord of the elements over dims: sum(|x| ** ord) ** (1 / ord); for infinite
    orders the greatest or least magnitude, for 0 the number of elements that are not zero.
    """
