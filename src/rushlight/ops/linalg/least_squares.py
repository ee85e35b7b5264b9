"""Least squares.

The gradients are those of pinv(A) @ B: see ``pseudo_inverse``.
"""

from __future__ import annotations

from typing import Any

import numpy

from ... import dtypes
from ...limits import finfo
from ..checks import require_same_dtype
from ..host_kinds import HostMatrices
from ..linear_algebra import adjoint
from ..record import Operand, Tensor, composite, op, primitive
from ..results import LinAlgError, named
from ..samples import Draw
from .arrays import adjoint_arrays, are_finite, fill_each, lapack, require_success
from .matrices import matrix_calls, require_precision, smaller
from .pseudo_inverse import pinv_of, pseudo_inverse_change, pseudo_inverse_gradient

_NAME = "torch.linalg.lstsq"
_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")

# ---------------------------------------------------------------- host steps


def _by_singular_values(A: Any, B: Any, rcond: Any) -> Any:
    U, S, Vh = numpy.linalg.svd(A, full_matrices=False)
    keep = S > rcond * S.max(axis=-1, initial=0, keepdims=True)
    scaled = numpy.where(keep, 1 / numpy.where(keep, S, 1), 0)[..., None] * (adjoint_arrays(U) @ B)
    return adjoint_arrays(Vh) @ scaled.astype(B.dtype), keep.sum(axis=-1), S


def _padded(b: Any, rows: int) -> Any:
    """b in as many rows as LAPACK needs for the solution."""
    result = numpy.zeros((max(rows, b.shape[0]), b.shape[1]), b.dtype)
    result[: b.shape[0]] = b
    return result


def _by_pivoting(A: Any, B: Any, X: Any, rank: Any, rcond: Any) -> None:
    solve, work = lapack("gelsy", A.dtype), lapack("gelsy_lwork", A.dtype)
    m, n = A.shape[-2:]
    size, _ = work(m, n, B.shape[-1], rcond)

    def each(a: Any, b: Any) -> Any:
        columns = numpy.zeros((n, 1), numpy.int32)
        _, x, _, found, _ = solve(a, _padded(b, n), columns, rcond, int(size.real))
        return x[:n], found

    fill_each(each, (X, rank), A, B)


def _by_full_rank(A: Any, B: Any, X: Any) -> None:
    solve = lapack("gels", A.dtype)
    n = A.shape[-1]
    info = numpy.zeros(A.shape[:-2], numpy.int32)

    def each(a: Any, b: Any) -> Any:
        _, x, status = solve(a, _padded(b, n))
        return x[:n], status

    fill_each(each, (X, info), A, B)
    require_success(
        info,
        _NAME,
        lambda code: (
            f"A lacks full rank (error code: {code}), which the driver gels needs; use the "
            "driver gelsy, gelsd or gelss"
        ),
    )


def _least_squares_arrays(A: Any, B: Any, rcond: Any, driver: str) -> Any:
    *batch, m, n = A.shape
    X = numpy.zeros((*batch, n, B.shape[-1]), B.dtype)
    rank = numpy.zeros(batch, numpy.int64)
    S = numpy.zeros((*batch, min(m, n)), A.real.dtype)
    if not (are_finite(A).all() and are_finite(B).all()):
        raise LinAlgError(f"{_NAME}: the input has NaN or infinities")
    limit = float(rcond.reshape(-1)[0]) if rcond.size else 0.0
    if A.size == 0 or B.size == 0 and driver in ("gels", "gelsy"):
        return X, rank, S
    if driver == "gels":
        _by_full_rank(A, B, X)
    elif driver == "gelsy":
        _by_pivoting(A, B, X, rank, limit)
    else:
        return _by_singular_values(A, B, limit)
    return X, rank, S


def _least_squares_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    (A, B, rcond), g = inputs, gradients[0]
    if g is None:
        return [None, None, None]
    P = pinv_of(A, 0.0, rcond)
    return [pseudo_inverse_gradient(A, P, g @ adjoint(B)), adjoint(P) @ g, None]


def _least_squares_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    (A, B, rcond), (dA, dB, _) = inputs, tangents
    P = pinv_of(A, 0.0, rcond)
    change = None if dA is None else pseudo_inverse_change(A, P, dA) @ B
    if dB is not None:
        change = P @ dB if change is None else change + P @ dB
    return [change, None, None]


@primitive(
    HostMatrices(
        lambda environment, A, B, rcond, driver: [
            (A.dtype, (*A.shape[:-2], A.shape[-1], B.shape[-1]), False),
            (dtypes.int64, tuple(A.shape[:-2]), False),
            (A.dtype.to_real(), (*A.shape[:-2], smaller(A.shape[-2], A.shape[-1])), False),
        ]
    ),
    names=["_least_squares"],
    methods=[],
    vjp=_least_squares_vjp,
    jvp=_least_squares_jvp,
    reference=_least_squares_arrays,
)
def least_squares(A, B, rcond, driver: str):
    """X of least length that makes ||A @ X - B|| least, the ranks of A and its singular values; the
    last two as far as the driver computes them. rcond: one for each matrix, all equal.
    """


# ---------------------------------------------------------------- the operator

# The body uses operators only, no primitives: if the shape of a result depends on data the runtime
# runs them one by one.

_LstSq = named("linalg_lstsq", "solution", "residuals", "rank", "singular_values")


def _check(A: Any, B: Any, driver: str) -> bool:
    """RuntimeError for a call without meaning; whether B holds one vector for each matrix."""
    name = _NAME
    require_precision(name, A.dtype, "linalg_lstsq_cpu")
    if A.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions, not {A.ndim}")
    if B.ndim < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension, but is a number")
    require_same_dtype(name, input=A, other=B)
    if B.ndim not in (A.ndim, A.ndim - 1):
        raise RuntimeError(
            f"{name}: other must have as many dimensions as input or one less, but they have "
            f"shapes {list(A.shape)} and {list(B.shape)}"
        )
    vectors = B.ndim == A.ndim - 1
    rows = B.shape[-1] if vectors else B.shape[-2]
    if A.shape[-2] != rows:
        raise RuntimeError(
            f"{name}: other must have as many rows as input, but they have shapes {list(B.shape)} "
            f"and {list(A.shape)}"
        )
    if driver not in _DRIVERS:
        raise RuntimeError(
            f"{name}: parameter `driver` should be one of ({', '.join(_DRIVERS)}), not {driver}"
        )
    return vectors


def _are_all(numbers: Any, value: Any) -> bool:
    """Whether all elements have a value: only known when operators run one by one."""
    return bool(op.nonzero(numbers != value).shape[0] == 0)


@composite(
    names=["linalg.lstsq"],
    methods=[],
    out="same dtype",
    samples=matrix_calls(
        (Draw((4, 3)), Draw((4, 2))),
        (Draw((2, 3, 4)), Draw((2, 3))),
        ((Draw((4, 3)), Draw((4, 2))), {"driver": "gels"}),
        ((Draw((3, 3)), Draw((3, 2))), {"driver": "gelsd"}),
        ((Draw((2, 3, 4)), Draw((2, 3, 2))), {"driver": "gelss", "rcond": 1e-3}),
        (Draw((0, 3)), Draw((0, 2))),
    ),
)
def lstsq(A: Tensor, B: Tensor, rcond: Operand = None, *, driver: str | None = None):
    """The X of least length that makes the length of A @ X - B least.

    Args:
        A: matrices (..., m, n).
        B: matrices (..., m, k), or vectors (..., m).
        rcond: singular values up to this times the largest count as zero; max(m, n) times the
            dtype's epsilon by default.
        driver: "gelsy" (the default: QR with pivoting), "gels" (QR; A has full rank), "gelsd" or
            "gelss" (singular values).

    Returns:
        The solution X; the residuals, squared lengths of the columns of A @ X - B, if m > n, all
        matrices have full rank and the driver is not "gelsy", else empty; the ranks, int64, empty
        for "gels"; and the singular values of A, empty for "gels" and "gelsy".

    Raises:
        LinAlgError: if the driver is "gels" and a matrix has not full rank, or for NaN and
            infinities.

    Example:
        >>> A = rushlight.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
        >>> B = rushlight.tensor([[1.0], [3.0], [5.0]])
        >>> X = rushlight.linalg.lstsq(A, B).solution
        >>> rushlight.allclose(X, rushlight.tensor([[1.0], [2.0]]))
        True
    """
    driver = "gelsy" if driver is None else driver
    vectors = _check(A, B, driver)
    m, n = A.shape[-2], A.shape[-1]
    B = op.unsqueeze(B, -1) if vectors else B
    batch = op.add(op.sum(op.detach(A), (-2, -1)), op.sum(op.detach(B), (-2, -1))).shape
    A, B = (op.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (A, B))
    real = A.dtype.to_real()
    if rcond is None:
        rcond = (n if m <= n else m) * finfo(real).eps
    limit = op.zeros(batch, dtype=real) + rcond
    solution, rank, values = op._least_squares(A, B, limit, driver)
    residuals = op.narrow(op.flatten(op.abs(solution)), 0, 0, 0)
    if m > n and (driver == "gels" or driver != "gelsy" and _are_all(rank, n)):
        difference = op.abs(op.matmul(A, solution) - B)
        residuals = op.sum(difference * difference, -2)
    if vectors:
        solution = op.squeeze(solution, -1)
    if driver == "gels":
        rank = op.zeros((0,), dtype=dtypes.int64)
    if driver in ("gels", "gelsy"):
        values = op.zeros((0,), dtype=real)
    return _LstSq(solution, residuals, rank, op.detach(values))
