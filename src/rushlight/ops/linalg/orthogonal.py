"""The QR decomposition and products of Householder reflections.

Gradients: Walter, Lehmann and Lamour, On evaluating higher-order derivatives of the QR
decomposition of tall matrices with full column rank, 2012; Roberts and Roberts, QR and LQ
decomposition matrix backpropagation algorithms for square, wide, and deep matrices,
arXiv:2009.10071, 2020. Products of reflections use the compact WY form of Schreiber and Van Loan,
A storage-efficient WY representation for products of Householder transformations, 1989:

    H_1 H_2 ... H_k = I - V T V^H,    T = (I + D striu(V^H V))^-1 D,    D = diag(tau).
"""

from __future__ import annotations

from typing import Any

import numpy

from ...graph.symbols import same_shape
from ...graph.trace import Traced
from .. import build
from ..checks import require_same_dtype
from ..host_kinds import HostMatrices
from ..linear_algebra import adjoint
from ..record import Tensor, composite, op, primitive
from ..results import named
from ..samples import Draw
from .matrices import (
    column,
    diagonal,
    identity,
    matrix_calls,
    require_lapack,
    smaller,
)
from .refusals import no_jvp, no_vjp
from .triangular import substituted, substituted_right

# ---------------------------------------------------------------- QR of square and tall matrices


def _real_triangle(x: Traced) -> Traced:
    """The upper triangular T with a real diagonal of which x is T plus a skew-Hermitian matrix."""
    halved = op.triu(x, 1) + op.diag_embed(diagonal(x)) * 0.5
    lower = op.tril(x, -1) + op.diag_embed(diagonal(x)) * 0.5
    return halved + adjoint(lower)


def _reduced_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    (Q, R), (gQ, gR) = outputs, gradients
    inner: Any = 0 if gR is None else gR @ adjoint(R)
    inner = inner if gQ is None else inner - adjoint(Q) @ gQ
    half = op.triu(inner) - op.diag_embed(diagonal(inner)) * 0.5
    total = Q @ (half + adjoint(half))
    total = total if gQ is None else gQ + total
    return [substituted_right(adjoint(R), total, False)]


def _reduced_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    (Q, R), (dA,) = outputs, tangents
    change = substituted_right(R, dA, True)
    triangle = _real_triangle(adjoint(Q) @ change)
    return [change - Q @ triangle, triangle @ R]


@primitive(
    HostMatrices(
        lambda environment, A: [
            (A.dtype, tuple(A.shape), False),
            (A.dtype, (*A.shape[:-2], A.shape[-1], A.shape[-1]), False),
        ]
    ),
    name="tall_qr",
    vjp=_reduced_vjp,
    jvp=_reduced_jvp,
    reference=lambda A: tuple(numpy.linalg.qr(A, "reduced")),
)
def tall_qr(A):
    """Q, of A's shape, and upper triangular R with A = Q @ R, of matrices with no more columns than
    rows.
    """


_COMPLETE = (
    "linalg.qr: not differentiable when mode='complete' and rows outnumber columns; use "
    "mode='reduced'"
)


@primitive(
    HostMatrices(
        lambda environment, A: [
            (A.dtype, (*A.shape[:-1], A.shape[-2]), False),
            (A.dtype, tuple(A.shape), False),
        ]
    ),
    name="complete_qr",
    vjp=no_vjp(_COMPLETE),
    jvp=no_jvp(_COMPLETE),
    reference=lambda A: tuple(numpy.linalg.qr(A, "complete")),
)
def complete_qr(A):
    """Square Q and R of A's shape with A = Q @ R."""


_R_ONLY = "linalg.qr: mode='r' leaves out Q, which the gradient needs; use mode='reduced'"


@primitive(
    HostMatrices(
        lambda environment, A: [
            (A.dtype, (*A.shape[:-2], smaller(A.shape[-2], A.shape[-1]), A.shape[-1]), False)
        ]
    ),
    name="qr_triangle",
    vjp=no_vjp(_R_ONLY),
    jvp=no_jvp(_R_ONLY),
    reference=lambda A: numpy.linalg.qr(A, "r"),
)
def qr_triangle(A):
    """R of A = Q @ R."""


def qr_of(A: Traced, complete: bool = False) -> tuple[Traced, Traced]:
    """Q and R of checked matrices.

    Of wide ones the first columns decide Q.
    """
    m, n = A.shape[-2:]
    if m >= n:
        return complete_qr.apply(A) if complete and m > n else tall_qr.apply(A)
    Q, R = tall_qr.apply(build.slice_(A, A.ndim - 1, 0, 1, m))
    rest = build.slice_(A, A.ndim - 1, m, 1, n - m)
    return Q, op.cat([R, adjoint(Q) @ rest], -1)


_QR = named("linalg_qr", "Q", "R")
_QR_SAMPLES = matrix_calls((Draw((3, 3)),), (Draw((4, 3)),), (Draw((2, 3, 4)),), (Draw((0, 3)),))


@composite(name="linalg_qr", names=["linalg.qr"], methods=[], out="same dtype", samples=_QR_SAMPLES)
def linalg_qr(A: Tensor, mode: str = "reduced"):
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
    require_lapack("linalg.qr", A, kernel="geqrf_cpu")
    if mode == "r":
        return _QR(build.full((0,), 0, A.dtype), qr_triangle.apply(A))
    if mode not in ("reduced", "complete"):
        raise RuntimeError(f"linalg.qr: mode must be 'reduced', 'complete' or 'r', not '{mode}'")
    return _QR(*qr_of(A, mode == "complete"))


_OldQR = named("qr", "Q", "R")


@composite(names=["qr"], out="same dtype", samples=matrix_calls((Draw((3, 3)),), (Draw((3, 4)),)))
def qr(input: Tensor, some: bool = True):
    """The QR decomposition input = Q @ R; without ``some`` Q is square."""
    require_lapack("linalg.qr", input, kernel="geqrf_cpu")
    return _OldQR(*qr_of(input, not some))


# ---------------------------------------------------------------- reflections


def _reflections_arrays(A: Any) -> Any:
    h, tau = numpy.linalg.qr(A, "raw")
    return numpy.swapaxes(h, -1, -2), tau


_GEQRF = "the derivative for 'geqrf' is not implemented; use linalg.qr"


@primitive(
    HostMatrices(
        lambda environment, A: [
            (A.dtype, tuple(A.shape), False),
            (A.dtype, (*A.shape[:-2], smaller(A.shape[-2], A.shape[-1])), False),
        ]
    ),
    name="reflections",
    vjp=no_vjp(_GEQRF, NotImplementedError),
    jvp=no_jvp(_GEQRF, NotImplementedError),
    reference=_reflections_arrays,
)
def reflections(A):
    """R on and above the diagonal, the vectors of Householder reflections below; their factors."""


_Geqrf = named("geqrf", "a", "tau")


@composite(names=["geqrf"], out="same dtype")
def geqrf(input: Tensor):
    """The QR decomposition as LAPACK stores it: R on and above the diagonal of ``a``, below it the
    vectors of reflections whose factors are ``tau``; see ``linalg.householder_product``.
    """
    if input.dtype.is_integral:
        raise NotImplementedError(f'"geqrf_cpu" not implemented for {input.dtype}')
    require_lapack("geqrf", input, kernel="geqrf_cpu")
    return _Geqrf(*reflections.apply(input))


def _require_reflections(name: str, A: Traced, tau: Traced) -> None:
    require_lapack(name, A, kernel=name)
    require_same_dtype(name, input=A, tau=tau)
    if A.shape[-2] < A.shape[-1]:
        raise RuntimeError(
            f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1], but input "
            f"has shape {list(A.shape)}"
        )
    if tau.ndim != A.ndim - 1 or not same_shape(tau.shape[:-1], A.shape[:-2]):
        raise RuntimeError(
            f"{name}: tau must have input's batch dims and one dim more, but input has shape "
            f"{list(A.shape)} and tau {list(tau.shape)}"
        )
    if tau.shape[-1] > A.shape[-1]:
        raise RuntimeError(
            f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1], but input "
            f"has shape {list(A.shape)} and tau {list(tau.shape)}"
        )


def _vectors(A: Traced, count: Any) -> Traced:
    """The vectors of the reflections as columns: ones on the diagonal, zeros above."""
    below = op.tril(build.slice_(A, A.ndim - 1, 0, 1, count), -1)
    return below + build.expand(op.eye(A.shape[-2], count, dtype=A.dtype), below.shape)


def _reflected(A: Traced, tau: Traced, C: Traced, adjoined: bool) -> Traced:
    """The product of the reflections, or its adjoint, times C."""
    V, factors = _vectors(A, tau.shape[-1]), column(tau)
    inner = adjoint(V) @ C
    system = identity(tau.shape[-1], V) + op.triu(factors * (adjoint(V) @ V), 1)
    if adjoined:
        change = build.conjugate(factors) * substituted(adjoint(system), inner, False, True)
    else:
        change = substituted(system, factors * inner, True, True)
    return C - V @ change


@composite(
    names=["linalg.householder_product", "orgqr"],
    methods=["orgqr"],
    out="same dtype",
    samples=matrix_calls((Draw((4, 3)), Draw((3,), 0, 1)), (Draw((2, 3, 3)), Draw((2, 2), 0, 1))),
)
def householder_product(input: Tensor, tau: Tensor):
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
    _require_reflections("linalg.householder_product", input, tau)
    columns = op.eye(input.shape[-2], input.shape[-1], dtype=input.dtype)
    return _reflected(input, tau, build.expand(columns, input.shape), False)


@composite(
    names=["ormqr"],
    out="same dtype",
    samples=matrix_calls(
        (Draw((4, 3)), Draw((3,), 0, 1), Draw((4, 2))),
        ((Draw((4, 3)), Draw((3,), 0, 1), Draw((2, 4))), {"left": False, "transpose": True}),
    ),
)
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False):
    """The product of the square matrix Q, of ``linalg.householder_product``, with a matrix.

    Args:
        input, tau: the reflections, as ``geqrf`` returns them.
        other: (..., m, k), or (..., k, m) with ``left=False``.
        left: whether Q stands on the left.
        transpose: whether Q.mH stands in Q's place.
    """
    name = "ormqr"
    require_lapack(name, other, kernel=name)
    require_lapack(name, input, kernel=name)
    require_same_dtype(name, input=input, other=other)
    require_same_dtype(name, input=input, tau=tau)
    size = other.shape[-2] if left else other.shape[-1]
    if tau.ndim != input.ndim - 1 or tau.shape[-1] > smaller(size, input.shape[-1]):
        raise RuntimeError(
            f"{name}: tau must have one dim less than input, and no more elements than input has "
            f"columns or Q has rows, but input has shape {list(input.shape)} and tau "
            f"{list(tau.shape)}"
        )
    batch = tuple(input.shape[:-2])
    if not (same_shape(batch, other.shape[:-2]) and same_shape(batch, tau.shape[:-1])):
        raise RuntimeError(
            f"{name}: input, tau and other must have the same batch dims, but they have shapes "
            f"{list(input.shape)}, {list(tau.shape)} and {list(other.shape)}"
        )
    if input.shape[-2] != size:
        raise RuntimeError(
            f"{name}: other.shape[{-2 if left else -1}] must be equal to input.shape[-2], but they "
            f"are {size} and {input.shape[-2]}"
        )
    if left:
        return _reflected(input, tau, other, transpose)
    return adjoint(_reflected(input, tau, adjoint(other), not transpose))
