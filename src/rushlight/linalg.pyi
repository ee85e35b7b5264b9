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
from .ops.results import LinAlgError as LinAlgError

def cholesky(A: Tensor, *, upper: _bool = False, out: Any = None) -> Tensor:
    """The lower triangular L with A = L @ L.mH.

    Args:
        A: Hermitian positive-definite matrices (..., n, n), of which one triangle is read.
        upper: whether to read the upper triangle, and return L.mH.

    Returns:
        L or L.mH.

    Raises:
        LinAlgError: if a matrix is not positive-definite.

    Example:
        >>> rushlight.linalg.cholesky(rushlight.tensor([[4.0, 2.0], [2.0, 5.0]]))
        tensor([[2., 0.],
                [1., 2.]])
    """

def cholesky_ex(
    A: Tensor,
    *,
    upper: _bool = False,
    check_errors: _bool = False,
    out: Any = None,
) -> Any:
    """As ``linalg.cholesky``, with LAPACK's reports in the place of errors: 0, or the order of a
    leading minor that is not positive-definite.
    """

def cond(A: Tensor, p: Any = None, *, out: Any = None) -> Tensor:
    """The condition numbers of matrices: the norm times the norm of the inverse.

    Args:
        A: matrices (..., m, n), square unless p is None, 2 or -2.
        p: the matrix norm: None or 2, -2, "fro", "nuc", 1, -1, or an infinity.

    Returns:
        (...) real; infinite for singular matrices, 0 for empty ones.

    Example:
        >>> rushlight.linalg.cond(rushlight.tensor([[2.0, 0.0], [0.0, 0.5]]))
        tensor(4.)
    """

def cross(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    dim: _int = -1,
    out: Any = None,
) -> Tensor:
    """The cross product of vectors of three elements along dim."""

def det(A: Tensor, *, out: Any = None) -> Tensor:
    """The determinants of square matrices (..., n, n).

    Example:
        >>> rushlight.linalg.det(rushlight.tensor([[1.0, 2.0], [3.0, 5.0]]))
        tensor(-1.)
    """

def diagonal(A: Tensor, *, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
    """A diagonal over two dims, which comes last."""

def eig(A: Tensor, *, out: Any = None) -> Tensor:
    """The eigenvalues and eigenvectors of square matrices.

    Args:
        A: matrices (..., n, n).

    Returns:
        The eigenvalues (..., n), complex and in no particular order, and the eigenvectors
        (..., n, n), complex columns of length 1.

    Raises:
        RuntimeError: if A has NaN or infinities.

    Example:
        >>> values, vectors = rushlight.linalg.eig(rushlight.tensor([[0.0, -1.0], [1.0, 0.0]]))
        >>> values
        tensor([0.+1.j, 0.-1.j])
    """

def eigh(A: Tensor, UPLO: str = 'L', *, out: Any = None) -> Any:
    """The eigenvalues and eigenvectors of symmetric or Hermitian matrices.

    Args:
        A: matrices (..., n, n), of which one triangle is read.
        UPLO: which: "L" or "U".

    Returns:
        The eigenvalues (..., n), real and in ascending order, and the eigenvectors (..., n, n),
        orthonormal columns.

    The gradient through the eigenvectors is finite only if the eigenvalues are distinct.

    Example:
        >>> values, vectors = rushlight.linalg.eigh(rushlight.tensor([[2.0, 0.0], [0.0, 1.0]]))
        >>> values
        tensor([1., 2.])
    """

def eigvals(A: Tensor, *, out: Any = None) -> Tensor:
    """The eigenvalues of square matrices (..., n, n), complex, in no particular order.

    Example:
        >>> rushlight.linalg.eigvals(rushlight.tensor([[0.0, -1.0], [1.0, 0.0]]))
        tensor([0.+1.j, 0.-1.j])
    """

def eigvalsh(A: Tensor, UPLO: str = 'L', *, out: Any = None) -> Tensor:
    """The eigenvalues of symmetric or Hermitian matrices (..., n, n), of which the triangle UPLO is
    read, in ascending order.

    Example:
        >>> rushlight.linalg.eigvalsh(rushlight.tensor([[2.0, 0.0], [0.0, 1.0]]))
        tensor([1., 2.])
    """

def householder_product(input: Tensor, tau: Tensor, *, out: Any = None) -> Tensor:
    """The first n columns of the product of the reflections I - tau_i v_i v_i^H.

    Args:
        input: (..., m, n) with m >= n: below the diagonal of column i lie the elements of v_i,
            whose diagonal element is 1 and which is zero above.
        tau: (..., k) with k <= n.

    Returns:
        (..., m, n)

    Example:
        >>> A = rushlight.randn(3, 2)
        >>> Q = rushlight.linalg.householder_product(*rushlight.geqrf(A))
        >>> rushlight.allclose(Q, rushlight.linalg.qr(A).Q, atol=1e-6)
        True
    """

def inv(A: Tensor, *, out: Any = None) -> Tensor:
    """The inverses of square matrices (..., n, n); LinAlgError if one is singular.

    Example:
        >>> rushlight.linalg.inv(rushlight.tensor([[2.0, 0.0], [0.0, 4.0]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.2500]])
    """

def inv_ex(A: Tensor, *, check_errors: _bool = False, out: Any = None) -> Any:
    """The inverses, and LAPACK's reports: 0, or the place of the first pivot that is zero."""

def ldl_factor(A: Tensor, *, hermitian: _bool = False, out: Any = None) -> Tensor:
    """The decomposition A = L @ D @ L.mT (or L.mH) of symmetric (or Hermitian) matrices, as
    ``linalg.ldl_solve`` takes it: D has blocks of 1 and 2 rows.

    Args:
        A: matrices (..., n, n), of which the lower triangle is read.
        hermitian: whether complex matrices are Hermitian rather than symmetric.

    Returns:
        L and D in one matrix of A's shape, and the pivots (..., n), int32.

    Raises:
        LinAlgError: if D is singular.
    """

def ldl_factor_ex(
    A: Tensor,
    *,
    hermitian: _bool = False,
    check_errors: _bool = False,
    out: Any = None,
) -> Tensor:
    """As ``linalg.ldl_factor``, with LAPACK's reports in the place of errors: 0, or the place of a
    zero on D's diagonal.
    """

def ldl_solve(
    LD: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    hermitian: _bool = False,
    out: Any = None,
) -> Tensor:
    """The solution X of A @ X = B, given what ``linalg.ldl_factor`` returned for A.

    Args:
        LD, pivots: the decomposition of matrices (..., n, n).
        B: matrices (..., n, k).
        hermitian: as it was given to ``linalg.ldl_factor``.
    """

def lstsq(
    A: Tensor,
    B: Tensor,
    rcond: Tensor | _Number | None = None,
    *,
    driver: str | None = None,
    out: Any = None,
) -> Any:
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

def lu(A: Tensor, *, pivot: _bool = True, out: Any = None) -> Any:
    """The factors of A = P @ L @ U: a permutation, a lower triangle with ones on its diagonal, and
    an upper triangle.

    Example:
        >>> P, L, U = rushlight.linalg.lu(rushlight.tensor([[1.0, 2.0], [4.0, 4.0]]))
        >>> P @ L @ U
        tensor([[1., 2.],
                [4., 4.]])
    """

def lu_factor(A: Tensor, *, pivot: _bool = True, out: Any = None) -> Any:
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

def lu_factor_ex(
    A: Tensor,
    *,
    pivot: _bool = True,
    check_errors: _bool = False,
    out: Any = None,
) -> Any:
    """As ``linalg.lu_factor``, with LAPACK's reports in the place of errors: 0, or the place of the
    first zero on U's diagonal.
    """

def lu_solve(
    LU: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    left: _bool = True,
    adjoint: _bool = False,
    out: Any = None,
) -> Tensor:
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

def matmul(input: Tensor | _Number, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """The matrix product; a vector counts as a row on the left and a column on the right; batch
    dims broadcast.
    """

def matrix_exp(A: Tensor) -> Tensor:
    """The exponentials of square matrices (..., n, n): the sums of A^k / k!.

    Example:
        >>> rushlight.linalg.matrix_exp(rushlight.zeros(2, 2))
        tensor([[1., 0.],
                [0., 1.]])
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

def matrix_rank(
    A: Tensor | _Number,
    tol: Tensor | _Number | None = None,
    hermitian: _bool = False,
    *,
    atol: Tensor | _Number | None = None,
    rtol: Tensor | _Number | None = None,
    out: Any = None,
) -> Tensor:
    """How many singular values of each matrix exceed max(atol, rtol * the largest), as int64.

    Args:
        A: matrices (..., m, n).
        tol: another name of atol, with rtol 0.
        hermitian: whether A is Hermitian; then eigenvalues are counted.
        atol, rtol: as for ``linalg.pinv``.

    Example:
        >>> rushlight.linalg.matrix_rank(rushlight.ones(3, 3))
        tensor(1)
    """

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

def pinv(
    A: Tensor,
    rcond: Tensor | _Number | None = None,
    hermitian: _bool = False,
    *,
    atol: Tensor | _Number | None = None,
    rtol: Tensor | _Number | None = None,
    out: Any = None,
) -> Tensor:
    """The pseudoinverses (Moore and Penrose) of matrices.

    Args:
        A: matrices (..., m, n).
        rcond: another name of rtol.
        hermitian: whether A is Hermitian, of which the lower triangle is read.
        atol: singular values up to this count as zero; a number, or a tensor that broadcasts with
            the batch dims. 0 by default.
        rtol: likewise, in units of the largest singular value. max(m, n) times the dtype's epsilon
            by default, 0 if ``atol`` is given and positive.

    Returns:
        (..., n, m)

    Raises:
        LinAlgError: if A has NaN.

    Example:
        >>> rushlight.linalg.pinv(rushlight.tensor([[2.0, 0.0], [0.0, 0.0], [0.0, 0.0]]))
        tensor([[0.5000, 0.0000, 0.0000],
                [0.0000, 0.0000, 0.0000]])
    """

def qr(A: Tensor, mode: str = 'reduced', *, out: Any = None) -> Any:
    """The QR decomposition A = Q @ R.

    Args:
        A: matrices (..., m, n).
        mode: "reduced": Q has min(m, n) columns; "complete": Q is square; "r": only R is computed,
            as for "reduced", and Q is empty.

    Returns:
        Q with orthonormal columns, and upper triangular R with a real diagonal.

    Gradients exist if the first min(m, n) columns are independent, not for mode "r", and for
    "complete" only if m <= n.

    Example:
        >>> Q, R = rushlight.linalg.qr(rushlight.tensor([[3.0, 1.0], [4.0, 2.0]]))
        >>> R
        tensor([[-5.0000, -2.2000],
                [ 0.0000,  0.4000]])
    """

def slogdet(A: Tensor, *, out: Any = None) -> Any:
    """The signs of the determinants of square matrices (of complex ones: numbers of magnitude 1),
    and the logarithms of their magnitudes; 0 and -inf if a matrix is singular.

    Example:
        >>> sign, logabsdet = rushlight.linalg.slogdet(rushlight.eye(2) * 0.5)
        >>> sign, logabsdet.exp()
        (tensor(1.), tensor(0.2500))
    """

def solve(A: Tensor, B: Tensor, *, left: _bool = True, out: Any = None) -> Tensor:
    """The solution X of A @ X = B, or of X @ A = B.

    Args:
        A: square matrices (..., n, n).
        B: matrices (..., n, k), or vectors (n) or (..., n).
        left: whether A stands on the left.

    Returns:
        X, of the shape of B with the batch dims broadcast.

    Raises:
        LinAlgError: if a matrix is singular.

    Example:
        >>> A = rushlight.tensor([[2.0, 0.0], [0.0, 4.0]])
        >>> rushlight.linalg.solve(A, rushlight.tensor([2.0, 8.0]))
        tensor([1., 2.])
    """

def solve_ex(
    A: Tensor,
    B: Tensor,
    *,
    left: _bool = True,
    check_errors: _bool = False,
    out: Any = None,
) -> Any:
    """As ``linalg.solve``, with LAPACK's reports in the place of errors: 0, or the place of the
    first pivot that is zero.
    """

def solve_triangular(
    A: Tensor,
    B: Tensor,
    *,
    upper: _bool,
    left: _bool = True,
    unitriangular: _bool = False,
    out: Any = None,
) -> Tensor:
    """The solution X of A @ X = B (or X @ A = B) for triangular A.

    Args:
        A: square matrices (..., n, n), of which one triangle is read.
        B: matrices (..., n, k), or (..., k, n) with ``left=False``.
        upper: whether the upper triangle is read.
        left: whether A stands on the left.
        unitriangular: whether the diagonal counts as ones and is not read.

    Returns:
        X; zeros on the diagonal give infinities and NaN.

    Example:
        >>> A = rushlight.tensor([[2.0, 1.0], [0.0, 4.0]])
        >>> rushlight.linalg.solve_triangular(A, rushlight.tensor([[3.0], [4.0]]), upper=True)
        tensor([[1.],
                [1.]])
    """

def svd(
    A: Tensor,
    full_matrices: _bool = True,
    *,
    driver: str | None = None,
    out: Any = None,
) -> Any:
    """The singular value decomposition A = U @ diag(S) @ Vh.

    Args:
        A: matrices (..., m, n).
        full_matrices: whether U and Vh are square, else they have min(m, n) columns and rows.
        driver: must be None on the CPU.

    Returns:
        U (..., m, m) or (..., m, k), with orthonormal columns; the singular values (..., k), real
        and in descending order; and Vh (..., n, n) or (..., k, n), with orthonormal rows.

    Raises:
        LinAlgError: if A has NaN, or the algorithm does not converge.

    The gradients through U and Vh are finite only if the singular values are distinct, and not
    zero unless A is square.

    Example:
        >>> U, S, Vh = rushlight.linalg.svd(rushlight.tensor([[0.0, 2.0], [3.0, 0.0]]))
        >>> S
        tensor([3., 2.])
    """

def svdvals(A: Tensor, *, driver: str | None = None, out: Any = None) -> Tensor:
    """The singular values of matrices (..., m, n), in descending order: (..., min(m, n)).

    Example:
        >>> rushlight.linalg.svdvals(rushlight.tensor([[0.0, 2.0], [3.0, 0.0]]))
        tensor([3., 2.])
    """

def tensorinv(A: Tensor, ind: _int = 2, *, out: Any = None) -> Tensor:
    """The inverse with respect to ``tensordot(A, B, ind)``: of the matrix that the first ``ind``
    dims and the others make.
    """

def tensorsolve(
    A: Tensor,
    B: Tensor,
    dims: _int | Sequence[_int] | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """X with ``tensordot(A, X, X.ndim) = B``. dims: dims of A that are moved to its end before."""

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
