"""The LU decomposition and what is computed from it.

Gradients: Roberts and Roberts, QR and LQ decomposition matrix backpropagation algorithms for
square, wide, and deep matrices and their software implementation, arXiv:2009.10071, 2020, whose
splitting into blocks is used here for LU.
"""

from __future__ import annotations

from typing import Any

import numpy

from ... import dtypes
from ...graph.symbols import same_shape
from ...graph.trace import Traced
from .. import build
from ..checks import require_same_dtype, require_square
from ..host_kinds import HostMatrices
from ..linear_algebra import adjoint
from ..record import NONE, Tensor, composite, op, primitive
from ..results import named
from ..samples import Draw
from .arrays import fill_each, lapack, require_success
from .inverses import check_equation
from .matrices import (
    INFO,
    info_shape,
    matrix_calls,
    require_lapack,
    require_pivots,
    same_batch,
    smaller,
)
from .small_batches import lu_of_many, order_of_many
from .triangular import substituted, substituted_right

# ---------------------------------------------------------------- host steps


def _factor_arrays(A: Any) -> Any:
    if (found := lu_of_many(A)) is not None:
        return found
    *batch, m, n = A.shape
    LU = numpy.zeros_like(A)
    pivots = numpy.zeros((*batch, min(m, n)), numpy.int32)
    info = numpy.zeros(batch, numpy.int32)
    getrf = lapack("getrf", A.dtype)

    def factor(a: Any) -> Any:
        lu, places, status = getrf(a)
        return lu, places + 1, status

    fill_each(factor, (LU, pivots, info), A, has_data=A.size > 0)
    return LU, pivots, info


def _permutation_arrays(pivots: Any, rows: int, inverse: bool) -> Any:
    if pivots.size and not ((pivots >= 1) & (pivots <= rows)).all():
        raise RuntimeError(
            f"lu: pivots must be from 1 to {rows}, the number of rows; pass those that lu_factor "
            "returned"
        )
    if (found := order_of_many(pivots, rows)) is not None:
        return numpy.argsort(found, axis=-1) if inverse else found
    result = numpy.empty((*pivots.shape[:-1], rows), numpy.int64)
    for place in numpy.ndindex(*pivots.shape[:-1]):
        order = list(range(rows))
        for i, pivot in enumerate(pivots[place].tolist()):
            order[i], order[pivot - 1] = order[pivot - 1], order[i]
        result[place] = numpy.argsort(order) if inverse else order
    return result


# ---------------------------------------------------------------- factors


@primitive(
    HostMatrices(
        lambda environment, pivots, rows, inverse: [
            (dtypes.int64, (*pivots.shape[:-1], rows), False)
        ]
    ),
    name="order_of_rows",
    derivative=NONE,
    reference=_permutation_arrays,
)
def order_of_rows(pivots, rows, inverse):
    """The order of rows that exchanging row i with row pivots[i] - 1, one after another, makes."""


def _rows(x: Traced, start: Any, length: Any) -> Traced:
    return build.slice_(x, x.ndim - 2, start, 1, length)


def _columns(x: Traced, start: Any, length: Any) -> Traced:
    return build.slice_(x, x.ndim - 1, start, 1, length)


def _permuted(x: Traced, pivots: Traced, inverse: bool = False) -> Traced:
    """P.mT @ x, or P @ x."""
    order = order_of_rows.apply(pivots, rows=x.shape[-2], inverse=inverse)
    return op.gather(x, -2, build.expand(build.insert_dim(order, order.ndim), x.shape))


def _lower(LU: Traced, size: Any) -> Traced:
    """L, with its ones, from what LAPACK stores."""
    rows = LU.shape[-2]
    part = op.tril(_columns(LU, 0, size), -1)
    return part + build.expand(op.eye(rows, size, dtype=LU.dtype), part.shape)


def _upper(LU: Traced, size: Any) -> Traced:
    return op.triu(_rows(LU, 0, size))


def _factor_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    (A,), (LU, pivots, _), g = inputs, outputs, gradients[0]
    m, n = A.shape[-2:]
    k = smaller(m, n)
    L, U = _lower(_rows(LU, 0, k), k), _upper(_columns(LU, 0, k), k)
    gL, gU = op.tril(_columns(_rows(g, 0, k), 0, k), -1), op.triu(_columns(_rows(g, 0, k), 0, k))
    beside = below = None
    if n > k:  # U = [U1 U2], and U2 is L^-1 times the columns
        g2, U2 = _columns(g, k, n - k), _columns(LU, k, n - k)
        beside = substituted(adjoint(L), g2, True, True)
        gL = gL - op.tril(beside @ adjoint(U2), -1)
    if m > k:  # L = [L1; L2], and L2 is the rows times U^-1
        g2, L2 = _rows(g, k, m - k), _rows(LU, k, m - k)
        below = substituted_right(adjoint(U), g2, False)
        gU = gU - op.triu(adjoint(L2) @ below)
    middle = op.tril(adjoint(L) @ gL, -1) + op.triu(gU @ adjoint(U))
    result = substituted(adjoint(L), substituted_right(adjoint(U), middle, False), True, True)
    if beside is not None:
        result = op.cat([result, beside], -1)
    if below is not None:
        result = op.cat([result, below], -2)
    return [_permuted(result, pivots, inverse=True)]


def _factor_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    (A,), (LU, pivots, _), (dA,) = inputs, outputs, tangents
    m, n = A.shape[-2:]
    k = smaller(m, n)
    dA = _permuted(dA, pivots)
    L, U = _lower(_rows(LU, 0, k), k), _upper(_columns(LU, 0, k), k)
    middle = substituted_right(
        U, substituted(L, _columns(_rows(dA, 0, k), 0, k), False, True), True
    )
    dL, dU = L @ op.tril(middle, -1), op.triu(middle) @ U
    result = dL + dU
    if n > k:
        change = _columns(dA, k, n - k) - dL @ _columns(LU, k, n - k)
        result = op.cat([result, substituted(L, change, False, True)], -1)
    if m > k:
        change = _rows(dA, k, m - k) - _rows(LU, k, m - k) @ dU
        result = op.cat([result, substituted_right(U, change, True)], -2)
    return [result, None, None]


@primitive(
    HostMatrices(
        lambda environment, A: [
            (A.dtype, tuple(A.shape), False),
            (INFO, (*A.shape[:-2], smaller(A.shape[-2], A.shape[-1])), False),
            (INFO, info_shape(A), False),
        ]
    ),
    name="lu_factors",
    vjp=_factor_vjp,
    jvp=_factor_jvp,
    reference=_factor_arrays,
)
def factor_primitive(A):
    """L (without its diagonal of ones) and U in one matrix, the pivots (from 1), and LAPACK's
    reports: 0, or the place of the first zero on U's diagonal. A = P @ L @ U.
    """


def _without_zero_pivots(LU: Any, info: Any, name: str) -> Any:
    require_success(
        info,
        name,
        lambda place: (
            f"U[{place},{place}] is zero, so that lu_solve would divide by it; linalg.lu and "
            "linalg.lu_factor_ex give the factors all the same"
        ),
        RuntimeError,
    )
    return LU


@primitive(
    HostMatrices(lambda environment, LU, info, name: [(LU.dtype, tuple(LU.shape), False)]),
    name="without_zero_pivots",
    vjp=lambda inputs, outputs, gradients, attributes: [gradients[0], None],
    jvp=lambda inputs, outputs, tangents, attributes: [tangents[0]],
    reference=_without_zero_pivots,
)
def without_zero_pivots(LU, info, name):
    """LU itself; RuntimeError if LAPACK reports a zero on U's diagonal."""


def _factored(name: str, A: Traced, pivot: bool) -> tuple[Traced, Traced, Traced]:
    if A.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected tensor with 2 or more dimensions. Got shape {list(A.shape)} instead"
        )
    if A.dtype.is_integral:
        raise NotImplementedError(f'{name}: "lu_cpu" not implemented for {A.dtype}')
    require_lapack(name, A, kernel="lu_cpu")
    if not pivot:
        raise RuntimeError(f"{name}: pivot=False is not implemented on the CPU")
    LU, pivots, info = factor_primitive.apply(A)
    return LU, pivots, info


_SAMPLES = matrix_calls(
    (Draw((3, 3)),), (Draw((2, 3, 4)),), (Draw((4, 3)),), (Draw((0, 0)),), (Draw((2, 0, 3, 3)),)
)
_Factor, _FactorEx = (
    named("linalg_lu_factor", "LU", "pivots"),
    named("linalg_lu_factor_ex", "LU", "pivots", "info"),
)


@composite(names=["linalg.lu_factor"], methods=[], out="same dtype", samples=_SAMPLES)
def lu_factor(A: Tensor, *, pivot: bool = True):
    """The LU decomposition A = P @ L @ U with partial pivoting, as ``linalg.lu_solve`` takes it.

    Args:
        A: matrices (..., m, n).
        pivot: must be true on the CPU.

    Returns:
        L (without its diagonal of ones) and U in one matrix of A's shape; and the pivots
        (..., min(m, n)), int32, where row i was exchanged with row pivots[i] - 1.

    Raises:
        RuntimeError: if U has a zero on its diagonal.

    Example:
        >>> LU, pivots = rushlight.linalg.lu_factor(rushlight.tensor([[1.0, 2.0], [4.0, 4.0]]))
        >>> LU
        tensor([[4.0000, 4.0000],
                [0.2500, 1.0000]])
    """
    LU, pivots, info = _factored("linalg.lu_factor", A, pivot)
    return _Factor(without_zero_pivots.apply(LU, info, name="torch.linalg.lu_factor"), pivots)


@composite(names=["linalg.lu_factor_ex"], methods=[], out="same dtype", samples=_SAMPLES)
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False):
    """As ``linalg.lu_factor``, with LAPACK's reports in the place of errors: 0, or the place of the
    first zero on U's diagonal.
    """
    LU, pivots, info = _factored("linalg.lu_factor_ex", A, pivot)
    if check_errors:
        LU = without_zero_pivots.apply(LU, info, name="torch.linalg.lu_factor_ex")
    return _FactorEx(LU, pivots, info)


_WithInfo = named("_lu_with_info", "LU", "pivots", "info")


@composite(names=["lu"], out="same dtype", samples=_SAMPLES)
def packed_lu(A: Tensor, pivot: bool = True, get_infos: bool = False):
    """The LU decomposition as ``linalg.lu_factor`` gives it, or on request ``lu_factor_ex``."""
    LU, pivots, info = _factored("lu", A, pivot)
    if get_infos:
        return _WithInfo(LU, pivots, info)
    return without_zero_pivots.apply(LU, info, name="lu"), pivots


# ---------------------------------------------------------------- the parts


def _permutation(pivots: Traced, rows: Any, like: Traced) -> Traced:
    """P as a matrix."""
    order = order_of_rows.apply(pivots, rows=rows, inverse=True)
    hits = build.insert_dim(order, order.ndim) == build.iota(rows)
    return build.convert(hits, like.dtype)


def _unpacked(LU: Traced, pivots: Traced, data: bool, permutation: bool) -> list[Traced]:
    m, n = LU.shape[-2:]
    k = smaller(m, n)
    empty = build.full((0,), 0, LU.dtype)
    P = _permutation(pivots, m, LU) if permutation else empty
    return [P, _lower(LU, k), _upper(LU, k)] if data else [P, empty, empty]


_Unpacked, _LU = named("lu_unpack", "P", "L", "U"), named("linalg_lu", "P", "L", "U")


_PIVOTS = Draw((3,), 1, 4, dtype=dtypes.int32)


@composite(
    names=["lu_unpack"],
    methods=[],
    out="same dtype",
    samples=matrix_calls((Draw((3, 3)), _PIVOTS), (Draw((3, 4)), _PIVOTS)),
)
def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
):
    """The factors P, L and U of what ``lu_factor`` returns; those that are not wanted are empty."""
    require_lapack("lu_unpack", LU_data)
    if unpack_pivots and LU_pivots.dtype is not dtypes.int32:
        raise RuntimeError(
            f"torch.lu_unpack: LU_pivots must have dtype torch.int32, not {LU_pivots.dtype}; pass "
            "the pivots that lu_factor returned"
        )
    k = smaller(*LU_data.shape[-2:])
    if unpack_pivots and not same_shape(LU_pivots.shape, (*LU_data.shape[:-2], k)):
        raise RuntimeError(
            f"lu_unpack: pivots must have shape {[*LU_data.shape[:-2], k]} for LU of shape "
            f"{list(LU_data.shape)}, but have {list(LU_pivots.shape)}"
        )
    return _Unpacked(*_unpacked(LU_data, LU_pivots, unpack_data, unpack_pivots))


@composite(name="linalg_lu", names=["linalg.lu"], methods=[], out="same dtype", samples=_SAMPLES)
def linalg_lu(A: Tensor, *, pivot: bool = True):
    """The factors of A = P @ L @ U: a permutation, a lower triangle with ones on its diagonal, and
    an upper triangle.

    Example:
        >>> P, L, U = rushlight.linalg.lu(rushlight.tensor([[1.0, 2.0], [4.0, 4.0]]))
        >>> P @ L @ U
        tensor([[1., 2.],
                [4., 4.]])
    """
    LU, pivots, _ = _factored("linalg.lu", A, pivot)
    return _LU(*_unpacked(LU, pivots, True, True))


# ---------------------------------------------------------------- solutions


def _solve(LU: Traced, pivots: Traced, B: Traced, adjoined: bool) -> Traced:
    """X with A @ X = B, or with the adjoint of A in its place."""
    if adjoined:
        inner = substituted(adjoint(LU), B, False)
        return _permuted(substituted(adjoint(LU), inner, True, True), pivots, inverse=True)
    return substituted(LU, substituted(LU, _permuted(B, pivots), False, True), True)


def _solved(name: str, LU: Traced, pivots: Traced, B: Traced, left: bool, adjoined: bool) -> Traced:
    require_square(name, LU)
    require_lapack(name, B)
    require_same_dtype(name, LU=LU, B=B)
    if pivots.dtype is not dtypes.int32:
        raise RuntimeError(
            f"{name}: pivots must be int32, not {pivots.dtype}; pass those that lu_factor returned"
        )
    require_pivots(name, pivots, LU)
    check_equation(name, LU, B, left)
    LU, B = same_batch(name, LU, B)
    pivots = build.expand(pivots, LU.shape[:-1])
    if left:
        return _solve(LU, pivots, B, adjoined)
    return adjoint(_solve(LU, pivots, adjoint(B), not adjoined))


@composite(
    name="linalg_lu_solve",
    names=["linalg.lu_solve"],
    methods=[],
    out="same dtype",
    samples=matrix_calls(
        (Draw((3, 3), 1, 4), _PIVOTS, Draw((3, 2))),
        ((Draw((3, 3), 1, 4), _PIVOTS, Draw((2, 3))), {"left": False, "adjoint": True}),
    ),
)
def linalg_lu_solve(
    LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False
):
    """The solution X of A @ X = B, given A's LU decomposition.

    Args:
        LU, pivots: what ``linalg.lu_factor`` returned for square matrices (..., n, n).
        B: matrices (..., n, k), or (..., k, n) with ``left=False``.
        left: whether A stands on the left.
        adjoint: whether A.mH stands in A's place.

    Returns:
        X, with the batch dims broadcast.

    Example:
        >>> LU, pivots = rushlight.linalg.lu_factor(rushlight.tensor([[1.0, 2.0], [4.0, 4.0]]))
        >>> rushlight.linalg.lu_solve(LU, pivots, rushlight.tensor([[3.0], [8.0]]))
        tensor([[1.],
                [1.]])
    """
    return _solved("linalg.lu_solve", LU, pivots, B, left, adjoint)


@composite(
    names=["lu_solve"],
    out="same dtype",
    samples=matrix_calls((Draw((3, 2)), Draw((3, 3), 1, 4), _PIVOTS)),
)
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor):
    """The solution X of A @ X = input, given A's LU decomposition."""
    return _solved("lu_solve", LU_data, LU_pivots, input, True, False)
