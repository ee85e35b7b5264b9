"""Decompositions of matrices of low rank by random projections.

Halko, Martinsson and Tropp, SIAM Review 53, 2011 (arXiv:0909.4061), algorithms 4.4 and 5.1.
"""

from __future__ import annotations

from typing import Any

from ...graph.trace import Traced
from .. import build
from ..linear_algebra import adjoint
from ..record import Tensor, composite, op
from ..samples import Draw
from .matrices import matrix_calls, require_lapack
from .orthogonal import qr_of
from .singular_values import svd_primitive


def _basis(A: Traced, M: Traced | None, count: int, iterations: int) -> Traced:
    """Orthonormal columns that nearly span the range of A - M."""

    def times(X: Traced) -> Traced:
        return A @ X if M is None else A @ X - M @ X

    def adjoint_times(X: Traced) -> Traced:
        return adjoint(A) @ X if M is None else adjoint(A) @ X - adjoint(M) @ X

    Q = qr_of(times(op.randn(A.shape[-1], count, dtype=A.dtype)))[0]
    for _ in range(iterations):
        Q = qr_of(adjoint_times(Q))[0]
        Q = qr_of(times(Q))[0]
    return Q


def _low_rank(A: Traced, count: int, iterations: int, M: Traced | None) -> tuple[Any, ...]:
    wide = A.shape[-2] < A.shape[-1]
    if wide:
        A, M = adjoint(A), None if M is None else adjoint(M)
    Q = _basis(A, M, count, iterations)
    B = adjoint(Q) @ A if M is None else adjoint(Q) @ A - adjoint(Q) @ M
    U, S, Vh = svd_primitive.apply(B, full=False, name="svd_lowrank")
    U, V = Q @ U, adjoint(Vh)
    return (V, S, U) if wide else (U, S, V)


@composite(names=["svd_lowrank"], methods=[], random=True, samples=matrix_calls((Draw((4, 3)), 0)))
def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M=None):
    """U, S and V with A - M nearly equal to U @ diag(S) @ V.mH, found by random projections.

    Args:
        A: matrices (..., m, n).
        q: how many singular values are computed; a little more than the rank.
        niter: how many power iterations sharpen the result.
        M: what is subtracted, of a shape that broadcasts to A's.

    Returns:
        U (..., m, q), S (..., q) and V (..., n, q).
    """
    require_lapack("svd_lowrank", A)
    if M is not None:
        M = build.expand(M, A.shape)
    return _low_rank(A, 6 if q is None else q, 2 if niter is None else niter, M)


@composite(names=["pca_lowrank"], methods=[], random=True, samples=matrix_calls((Draw((4, 3)), 0)))
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2):
    """The principal components of the rows of a matrix, found by random projections.

    Args:
        A: matrices (..., m, n): m samples of n features.
        q: how many components; min(6, m, n) by default.
        center: whether the mean of the rows is subtracted.
        niter: how many power iterations sharpen the result.

    Returns:
        U (..., m, q), S (..., q) and V (..., n, q), of which V has the directions in its columns.
    """
    require_lapack("pca_lowrank", A)
    m, n = A.shape[-2:]
    limit = m if m <= n else n
    if q is None:
        q = next((count for count in range(6) if limit <= count), 6)
    elif q < 0 or q > limit:
        raise ValueError(
            f"pca_lowrank: q(={q}) must be a non-negative integer and not greater than "
            f"min(m, n)={limit}"
        )
    if niter < 0:
        raise ValueError(f"pca_lowrank: niter(={niter}) must be a non-negative integer")
    centered = A - op.mean(A, -2, True) if center else A
    return _low_rank(centered, q, niter, None)
