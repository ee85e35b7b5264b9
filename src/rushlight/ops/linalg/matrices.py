"""Checks and shorthands for batches of matrices while tracing."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...dtypes import dtype as DType
from ...graph.symbols import same_shape
from ...graph.trace import Traced
from ...layout import broadcast_shapes
from ...promotion import scalar_type_name
from .. import build
from ..checks import require_differentiable, require_matrices, require_square
from ..linear_algebra import adjoint
from ..record import op
from ..samples import Samples, calls, only

INFO = dtypes.int32
_PRECISE = (dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)


def matrix_calls(*samples: Any) -> Samples:
    """Sample calls for the dtypes that LAPACK has."""
    return only(lambda dtype: dtype in _PRECISE, calls(*samples))


def require_lapack(
    name: str, x: Traced, *, square: bool = False, kernel: str | None = None
) -> None:
    """RuntimeError unless these are matrices, square if need be, of a dtype that LAPACK has.

    kernel: half precision is a NotImplementedError that says so.
    """
    if square:
        require_square(name, x)
    else:
        require_matrices(name, x)
    require_precision(name, x.dtype, kernel)


def require_precision(name: str, dtype: DType, kernel: str | None = None) -> None:
    """RuntimeError unless LAPACK has this dtype."""
    require_differentiable(name, dtype)
    if dtype not in _PRECISE:
        if kernel is not None:
            raise NotImplementedError(
                f"\"{kernel}\" not implemented for '{scalar_type_name(dtype)}'"
            )
        raise RuntimeError(
            f"{name}: Low precision dtypes not supported. Got {scalar_type_name(dtype)}; convert "
            "with float()"
        )


def require_pivots(name: str, pivots: Traced, factor: Traced) -> None:
    """RuntimeError unless there is a pivot for each row of the factor."""
    if not same_shape(pivots.shape, factor.shape[:-1]):
        raise RuntimeError(
            f"{name}: pivots must have the shape {list(factor.shape[:-1])}, one for each "
            f"row of the matrices, not {list(pivots.shape)}"
        )


def transposed(x: Traced) -> Traced:
    """The transpose of the last two dims."""
    dims = list(range(x.ndim))
    dims[-2:] = dims[-1], dims[-2]
    return build.permute(x, dims)


def same_batch(name: str, *tensors: Traced) -> list[Traced]:
    """The matrices with their batch dims broadcast."""
    batches = [tuple(x.shape[:-2]) for x in tensors]
    if all(same_shape(batches[0], each) for each in batches[1:]):
        return list(tensors)
    batch = broadcast_shapes(batches, name)
    return [build.expand(x, (*batch, *x.shape[-2:])) for x in tensors]


def diagonal(x: Traced) -> Traced:
    """The diagonals of matrices."""
    return op.diagonal(x, 0, -2, -1)


def identity(size: Any, like: Traced) -> Traced:
    """The identity matrix in the dtype of ``like``, for each of its batch."""
    eye = op.eye(size, dtype=like.dtype)
    return build.expand(eye, (*like.shape[:-2], size, size))


def column(x: Traced) -> Traced:
    """Vectors as matrices of one column."""
    return build.insert_dim(x, x.ndim)


def row(x: Traced) -> Traced:
    """Vectors as matrices of one row, by which columns are scaled."""
    return build.insert_dim(x, x.ndim - 1)


def inverse_off_diagonal(x: Traced) -> Traced:
    """1 / x of square matrices, and zero on the diagonal."""
    place = build.iota(x.shape[-1])
    on_diagonal = column(place) == row(place)
    return build.select_where(on_diagonal, 0, 1 / op.where(on_diagonal, 1, x), x.dtype)


def hermitian_part(x: Traced) -> Traced:
    """x + its adjoint."""
    return x + adjoint(x)


def skew_part(x: Traced) -> Traced:
    """x - its adjoint."""
    return x - adjoint(x)


def copied(x: Traced) -> Traced:
    """A copy for the backward pass to read: x may be changed in place before."""
    return build.kept(build.contiguous(x))


def smaller(rows: Any, columns: Any) -> Any:
    """The smaller of two sizes, fixed for the plan by a guard: matrices are wide or tall."""
    return rows if rows <= columns else columns


def info_shape(x: Traced) -> tuple[Any, ...]:
    return tuple(x.shape[:-2])
