"""Some eigenvalues of a symmetric matrix: ``lobpcg``."""

from __future__ import annotations

from typing import Any

from ...graph.trace import Traced
from .. import build
from ..linear_algebra import adjoint
from ..record import Selector, Tensor, composite, op
from ..samples import Draw, calls, is_precise, only
from .cholesky import factor_primitive
from .eigen import hermitian_primitive
from .matrices import require_precision, same_batch
from .triangular import substituted, substituted_right


def _check(A: Traced, B: Traced | None, count: int) -> None:
    for label, matrix in (("A", A), ("B", B)):
        if matrix is None:
            continue
        if matrix.ndim < 2:
            raise IndexError(f"lobpcg: {label} must be a matrix, not of shape {list(matrix.shape)}")
        if matrix.shape[-1] != matrix.shape[-2]:
            raise AssertionError(f"{label} must be square, got shape {list(matrix.shape)}")
        require_precision("lobpcg", matrix.dtype)
    if count < 1:
        raise ValueError(f"lobpcg: the number of eigenvalues must be at least 1, not {count}")
    if A.shape[-1] < 3 * count:
        raise ValueError(
            f"lobpcg: {count} eigenpairs need a matrix of at least {3 * count} rows, not "
            f"{A.shape[-1]}; use linalg.eigh"
        )


# A matrix with the eigenvalues 1, 2 and 4.
_DIAGONAL = Draw((3, 3), special=(1.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 2.0))


@composite(names=["lobpcg"], methods=[], samples=only(is_precise, calls((_DIAGONAL, 1))))
def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Any = None,
    X: Any = None,
    n: int | None = None,
    iK: Any = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Selector = None,
    ortho_iparams: Selector = None,
    ortho_fparams: Selector = None,
    ortho_bparams: Selector = None,
):
    """The k largest (or smallest) eigenvalues, and eigenvectors, of A @ x = E * B @ x.

    Matrices are dense here, so all eigenvalues are computed, and exactly: the arguments that steer
    the iteration (X but for its size, n, iK, niter, tol, method, ...) have no influence.

    Args:
        A: symmetric or Hermitian matrices (..., m, m).
        k: how many; X.shape[-1] by default, or 1.
        B: positive-definite matrices (..., m, m); the identity by default.
        X: a first approximation of the eigenvectors, whose columns count.
        largest: whether the largest are wanted (the default).

    Returns:
        E (..., k), the wanted end of the spectrum first; and the eigenvectors (..., m, k).

    Raises:
        ValueError: if m < 3 * k.
        LinAlgError: if B is not positive-definite.

    Example:
        >>> E, X = rushlight.lobpcg(rushlight.diag(rushlight.arange(1.0, 7.0)), 2)
        >>> E
        tensor([6., 5.])
    """
    count = k if k is not None else 1 if X is None else X.shape[-1]
    _check(A, B, count)
    factor = None
    if B is not None:
        A, B = same_batch("lobpcg", A, B)
        factor = factor_primitive.apply(B, name="lobpcg")[0]
        A = substituted_right(adjoint(factor), substituted(factor, A, False), True)
    values, vectors = hermitian_primitive.apply((A + adjoint(A)) / 2, uplo="L")
    if largest is None or largest:
        values, vectors = op.flip(values, [-1]), op.flip(vectors, [-1])
    values = build.slice_(values, values.ndim - 1, 0, 1, count)
    vectors = build.slice_(vectors, vectors.ndim - 1, 0, 1, count)
    if factor is not None:
        vectors = substituted(adjoint(factor), vectors, True)
    return values, vectors
