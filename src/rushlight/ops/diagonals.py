"""Diagonals and triangles of matrices."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.symbols import maximum as size_maximum
from ..graph.symbols import minimum as size_minimum
from ..graph.trace import Traced
from ..layout import normalize_dim, numel
from . import build
from .checks import require_slice
from .kinds import Host
from .record import NONE, Size, Tensor, composite, constructor, op, primitive, unsupported
from .regions import slice_scatter_primitive
from .samples import Draw, calls

# ---------------------------------------------------------------- diagonals


def _diagonal_slice(rows: Any, columns: Any, offset: Any) -> tuple[Any, Any]:
    """Where a diagonal starts in the flattened matrix, and its length."""
    if offset >= 0:
        return offset, size_maximum(size_minimum(rows, columns - offset), 0)
    return -offset * columns, size_maximum(size_minimum(rows + offset, columns), 0)


def _two_dims(input: Traced, dim1: int, dim2: int, name: str) -> tuple[int, int]:
    first, second = normalize_dim(dim1, input.ndim), normalize_dim(dim2, input.ndim)
    if first == second:
        raise RuntimeError(
            f"{name} dimensions cannot be identical {dim1}, {dim2} for input of shape "
            f"{list(input.shape)}"
        )
    return first, second


def _last_two(input: Traced, first: int, second: int) -> Traced:
    rest = [dim for dim in range(input.ndim) if dim not in (first, second)]
    return build.permute(input, [*rest, first, second])


def diagonal_of(input: Traced, offset: Any, dim1: int, dim2: int) -> Traced:
    """A diagonal over two dims as the last dim."""
    first, second = _two_dims(input, dim1, dim2, "diagonal")
    matrix = _last_two(input, first, second)
    *batch, rows, columns = matrix.shape
    start, length = _diagonal_slice(rows, columns, offset)
    flat = build.reshape(matrix, (*batch, rows * columns))
    if length == 0:
        return build.slice_(flat, flat.ndim - 1, 0, 1, 0)
    return build.slice_(flat, flat.ndim - 1, start, columns + 1, length)


_DIAGONAL_SAMPLES = calls(
    (Draw((3, 4)),),
    (Draw((3, 4)), 1),
    (Draw((4, 3)), -1),
    (Draw((2, 3, 4)), 0, 0, 2),
    (Draw((3, 3)), 5),
)


@composite(names=["diagonal"], views="input", samples=_DIAGONAL_SAMPLES)
def diagonal(input: Tensor, offset: Size = 0, dim1: int = 0, dim2: int = 1):
    """A diagonal over two dims, which comes last."""
    return diagonal_of(input, offset, dim1, dim2)


@composite(
    name="linalg_diagonal",
    names=["linalg.diagonal"],
    methods=[],
    samples=calls((Draw((2, 3, 4)),), ((Draw((3, 4)),), {"offset": 1})),
)
def linalg_diagonal(A: Tensor, *, offset: Size = 0, dim1: int = -2, dim2: int = -1):
    """A diagonal over two dims, which comes last."""
    return op.diagonal(A, offset, dim1, dim2)


@composite(
    names=["diagonal_scatter"],
    samples=calls((Draw((3, 3)), Draw((3,))), (Draw((2, 3, 4)), Draw((3, 2)), 0, 0, 2)),
)
def diagonal_scatter(input, src, offset: Size = 0, dim1: int = 0, dim2: int = 1):
    """input with a diagonal over two dims replaced by src."""
    first, second = _two_dims(input, dim1, dim2, "diagonal")
    matrix = _last_two(input, first, second)
    *batch, rows, columns = matrix.shape
    start, length = _diagonal_slice(rows, columns, offset)
    require_slice("diagonal_scatter", src, (*batch, length))
    if length == 0:
        return build.contiguous(input)
    flat = build.reshape(matrix, (*batch, rows * columns))
    src = build.convert(src, input.dtype)
    flat = slice_scatter_primitive.apply(flat, src, dim=len(batch), start=start, step=columns + 1)
    order = [dim for dim in range(input.ndim) if dim not in (first, second)] + [first, second]
    inverse = sorted(range(input.ndim), key=order.__getitem__)
    return build.permute(build.reshape(flat, matrix.shape), inverse)


@composite(
    names=["diag_embed"],
    samples=calls((Draw((2, 3)),), (Draw((3,)), 1), (Draw((2, 3)), -1, 0, 2), (Draw((2, 0)),)),
)
def diag_embed(input, offset: Size = 0, dim1: int = -2, dim2: int = -1):
    """Matrices over two new dims with the last dim on a diagonal, zero elsewhere."""
    rank = input.ndim + 1
    first, second = normalize_dim(dim1, rank), normalize_dim(dim2, rank)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    length = input.shape[-1]
    size = length + (offset if offset >= 0 else -offset)
    start, _ = _diagonal_slice(size, size, offset)
    batch = input.shape[:-1]
    if length == 0:
        flat = build.full((*batch, size * size), 0, input.dtype)
    else:
        flat = build.pad(input, input.ndim - 1, start, size * size, size + 1)
    matrix = build.reshape(flat, (*batch, size, size))
    order = [dim for dim in range(rank) if dim not in (first, second)] + [first, second]
    return build.permute(matrix, sorted(range(rank), key=order.__getitem__))


@composite(
    names=["diag"],
    out="same dtype",
    samples=calls((Draw((3,)),), (Draw((3, 4)),), (Draw((3,)), -2), (Draw((3, 4)), 1)),
)
def diag(input, diagonal: Size = 0):
    """The matrix with a vector on a diagonal, or a matrix's diagonal."""
    if input.ndim not in (1, 2):
        raise RuntimeError(
            f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D of shape {list(input.shape)}"
        )
    if input.ndim == 1:
        return diag_embed(input, diagonal)
    return build.contiguous(op.diagonal(input, diagonal))


@composite(names=["diagflat"], samples=calls((Draw((3,)),), (Draw((2, 2)), 1), (Draw(()), -1)))
def diagflat(input, offset: Size = 0):
    """The matrix with all elements on a diagonal."""
    return diag_embed(build.reshape(input, (numel(input.shape),)), offset)


# ---------------------------------------------------------------- triangles


def _triangle_arrays(row: int, col: int, offset: int, lower: bool) -> Any:
    if lower:
        return numpy.stack(numpy.tril_indices(row, offset, col))
    return numpy.stack(numpy.triu_indices(row, offset, col))


def _triangle_count(row: int, col: int, offset: int, lower: bool) -> int:
    if lower:
        return sum(min(max(i + offset + 1, 0), col) for i in range(row))
    return sum(col - min(max(i + offset, 0), col) for i in range(row))


@primitive(
    Host(
        lambda environment, row, col, offset, lower: [
            (dtypes.int64, (2, _triangle_count(row, col, offset, lower)), False)
        ]
    ),
    name="triangle_places",
    derivative=NONE,
    batch=unsupported("the indices of a triangle have no inputs to batch over"),
    reference=_triangle_arrays,
)
def triangle_places(row, col, offset, lower):
    """The indices of the elements on and below (or above) a diagonal, in row-major order."""


def _triangle_indices(name: str, lower: bool, doc: str) -> None:
    def body(row: int, col: int, offset: int = 0, *, dtype: DType | None = None):
        if row < 0 or col < 0:
            raise RuntimeError(f"{name}: row and col must be non-negative, got {row} and {col}")
        dtype = dtypes.int64 if dtype is None else dtype
        if dtype not in (dtypes.int64, dtypes.int32):
            raise RuntimeError(f'"{name}" not implemented for {dtype}; give int64 or int32')
        places = triangle_places.apply(row=row, col=col, offset=offset, lower=lower)
        return build.convert(places, dtype)

    body.__doc__ = doc
    constructor(names=[name], samples=calls((3, 4), (4, 3, 1), (3, 3, -2), (0, 3)))(body)


_triangle_indices(
    "tril_indices",
    True,
    "The indices (rows, columns) of a matrix's elements on and below a diagonal.",
)
_triangle_indices(
    "triu_indices",
    False,
    "The indices (rows, columns) of a matrix's elements on and above a diagonal.",
)
