"""Pseudoinverses, ranks and condition numbers.

Gradients of pseudoinverses: Golub and Pereyra, The differentiation of pseudo-inverses and nonlinear
least squares problems whose variables separate, SIAM Journal on Numerical Analysis 10, 1973. They
hold as long as the rank does not change.
"""

from __future__ import annotations

from typing import Any

import numpy

from ... import dtypes
from ...graph.symbols import maximum
from ...graph.trace import Traced
from ...layout import broadcast_shapes
from ...limits import finfo
from ...promotion import scalar_type_name
from .. import build
from ..host_kinds import HostMatrices
from ..linear_algebra import adjoint
from ..record import Operand, Selector, Tensor, composite, op, primitive
from ..samples import Draw
from .arrays import adjoint_arrays
from .eigen import decompose_hermitian, values_of
from .inverses import inverse_primitive
from .matrices import column, matrix_calls, require_lapack
from .singular_values import decompose, svdvals_of


def _pseudo_inverse_arrays(A: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    if hermitian:
        S, U = decompose_hermitian(A, "L", True)
        right = U
    else:
        U, S, Vh = decompose(A, False, True, "linalg.svd")
        right = adjoint_arrays(Vh)
    magnitude = numpy.abs(S)
    largest = magnitude.max(axis=-1, initial=0)
    keep = magnitude > numpy.maximum(atol, rtol * largest)[..., None]
    keep |= numpy.isnan(S)
    inverse = numpy.where(keep, 1 / numpy.where(keep, S, 1), 0).astype(S.dtype)
    return (right * inverse[..., None, :]) @ adjoint_arrays(U)


def pseudo_inverse_change(A: Traced, P: Traced, dA: Traced) -> Traced:
    """The derivative of P, the pseudoinverse of A, in the direction dA."""
    turned = adjoint(dA)
    left = P @ adjoint(P) @ turned  # times I - A @ P
    right = turned @ adjoint(P) @ P  # I - P @ A times this
    return -P @ dA @ P + (left - left @ A @ P) + (right - P @ (A @ right))


def pseudo_inverse_gradient(A: Traced, P: Traced, g: Traced) -> Traced:
    """The gradient of A from that of P, its pseudoinverse."""
    turned = adjoint(g)
    left = turned @ P @ adjoint(P)  # I - A @ P times this
    right = adjoint(P) @ P @ turned  # times I - P @ A
    return -adjoint(P) @ g @ adjoint(P) + (left - A @ (P @ left)) + (right - right @ P @ A)


@primitive(
    HostMatrices(
        lambda environment, A, atol, rtol, hermitian: [
            (A.dtype, (*A.shape[:-2], A.shape[-1], A.shape[-2]), False)
        ]
    ),
    name="pseudo_inverse",
    vjp=lambda inputs, outputs, gradients, attributes: [
        pseudo_inverse_gradient(inputs[0], outputs[0], gradients[0]),
        None,
        None,
    ],
    jvp=lambda inputs, outputs, tangents, attributes: [
        None if tangents[0] is None else pseudo_inverse_change(inputs[0], outputs[0], tangents[0])
    ],
    reference=_pseudo_inverse_arrays,
)
def pseudo_inverse(A, atol, rtol, hermitian):
    """The pseudoinverses, in which singular values up to max(atol, rtol * the largest) count as
    zero.
    """


def _tolerances(A: Traced, atol: Any, rtol: Any) -> tuple[Traced, Traced]:
    """The tolerances as real tensors of A's precision, with PyTorch's defaults."""
    dtype = A.dtype.to_real()
    for each in (atol, rtol):
        if isinstance(each, Traced) and each.dtype.is_complex:
            raise RuntimeError(
                f"linalg: atol and rtol must be real, not of dtype {scalar_type_name(each.dtype)}"
            )
    absolute = build.convert(build.lift(0.0 if atol is None else atol, A.context), dtype)
    if rtol is not None:
        return absolute, build.convert(build.lift(rtol, A.context), dtype)
    largest = build.full((), maximum(A.shape[-2], A.shape[-1]), dtype)
    relative = largest * finfo(dtype).eps
    if atol is not None:
        relative = build.select_where(absolute > 0, 0, relative, dtype)
    return absolute, relative


def pinv_of(A: Traced, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Traced:
    """The pseudoinverses of checked matrices."""
    absolute, relative = _tolerances(A, atol, rtol)
    batch = broadcast_shapes([A.shape[:-2], absolute.shape, relative.shape], "linalg.pinv")
    A = build.expand(A, (*batch, *A.shape[-2:]))
    absolute, relative = (build.expand(op.detach(x), batch) for x in (absolute, relative))
    return pseudo_inverse.apply(A, absolute, relative, hermitian=hermitian)


def _pinv(A: Traced, atol: Any, rtol: Any, hermitian: bool) -> Traced:
    require_lapack("linalg.pinv", A)
    if hermitian:
        require_lapack("linalg.eigh", A, square=True)
    return pinv_of(A, atol, rtol, hermitian)


_PINV_SAMPLES = matrix_calls(
    (Draw((3, 3)),), (Draw((2, 3, 4)),), (Draw((0, 3)),), (Draw((4, 2)), 0.1)
)


@composite(names=["linalg.pinv"], methods=[], out="same dtype", samples=_PINV_SAMPLES)
def pinv(
    A: Tensor,
    rcond: Operand = None,
    hermitian: bool = False,
    *,
    atol: Operand = None,
    rtol: Operand = None,
):
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
    if rcond is not None:
        atol, rtol = (0.0 if atol is None else atol), rcond
    return _pinv(A, atol, rtol, hermitian)


@composite(names=["pinverse"], samples=_PINV_SAMPLES)
def pinverse(input: Tensor, rcond: Operand = 1e-15):
    """The pseudoinverses of matrices; rcond: as rtol of ``linalg.pinv``."""
    return _pinv(input, 0.0, rcond, False)


# ---------------------------------------------------------------- ranks


@composite(
    names=["linalg.matrix_rank"],
    methods=[],
    out="same dtype",
    samples=matrix_calls(
        (Draw((3, 3)),),
        (Draw((2, 3, 4)), 3.0),
        ((Draw((3, 3)),), {"hermitian": True}),
        ((Draw((3, 3)),), {"atol": 1.0, "rtol": 0.5}),
        (Draw((0, 3)),),
        (Draw((2, 3, 0)),),
    ),
)
def matrix_rank(
    A,
    tol: Operand = None,
    hermitian: bool = False,
    *,
    atol: Operand = None,
    rtol: Operand = None,
):
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
    require_lapack("linalg.matrix_rank", A)
    if tol is not None:
        atol, rtol = tol, 0.0
    absolute, relative = _tolerances(A, atol, rtol)
    A = op.detach(A)
    if hermitian:
        require_lapack("linalg.eigh", A, square=True)
        magnitude = op.abs(values_of(A, "L"))
    else:
        magnitude = svdvals_of(A)
    if magnitude.shape[-1] == 0:
        batch = broadcast_shapes([A.shape[:-2], absolute.shape, relative.shape], "matrix_rank")
        return build.full(batch, 0, dtypes.int64)
    threshold = op.maximum(absolute, relative * op.amax(magnitude, -1))
    return op.sum(magnitude > column(threshold), -1)


# ---------------------------------------------------------------- condition numbers

_INF = float("inf")


@composite(
    names=["linalg.cond"],
    methods=[],
    out="same dtype",
    samples=matrix_calls(
        (Draw((3, 3)),),
        (Draw((2, 3, 4)), -2),
        (Draw((3, 3)), 1),
        (Draw((2, 3, 3)), "fro"),
        (Draw((3, 3)), -_INF),
        (Draw((0, 0)), 1),
        (Draw((2, 0, 0)),),
    ),
)
def cond(A: Tensor, p: Selector = None):
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
    require_lapack("linalg.cond", A, kernel="linalg_svd_cpu")
    if p is None or (p in (2, -2) and not isinstance(p, str)):
        S = svdvals_of(A)
        if S.shape[-1] == 0:
            return build.full(S.shape[:-1], 0, S.dtype)
        first, last = (op.select(S, -1, place) for place in (0, -1))
        return last / first if p == -2 else first / last
    known = p in ("fro", "nuc") if isinstance(p, str) else p in (1, -1, _INF, -_INF)
    if not known:
        raise RuntimeError(
            f"linalg.cond got an invalid norm type: {p}; it may be None, 2, -2, 'fro', 'nuc', 1, "
            "-1, or an infinity"
        )
    require_lapack(f"linalg.cond(ord={p})", A, square=True)
    if A.shape[-1] == 0:
        return build.full(A.shape[:-2], 0, A.dtype.to_real())
    norm = getattr(op, "linalg.matrix_norm")
    inverse, info = inverse_primitive.apply(A, name=None)
    product = norm(A, p) * norm(
        build.select_where(column(column(info)) > 0, 0, inverse, A.dtype), p
    )
    return op.where(info > 0, _INF, product)
