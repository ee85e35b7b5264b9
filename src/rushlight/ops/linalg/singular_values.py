"""The singular value decomposition, and what is measured by singular values.

Gradients: Townsend, Differentiating the singular value decomposition, 2016; for complex matrices
Wan and Zhang, Automatic differentiation for complex valued SVD, arXiv:1909.02659, 2019.
"""

from __future__ import annotations

from typing import Any

import numpy

from ...graph.trace import Traced
from .. import build
from ..complex import real_part
from ..host_kinds import HostMatrices
from ..linear_algebra import adjoint
from ..record import Tensor, composite, op, primitive
from ..results import LinAlgError, named
from ..samples import Draw, calls, is_precise, only
from .arrays import decompose_finite
from .gauge import require_invariance, turns
from .matrices import (
    column,
    copied,
    diagonal,
    hermitian_part,
    inverse_off_diagonal,
    matrix_calls,
    require_lapack,
    row,
    skew_part,
    smaller,
)

# ---------------------------------------------------------------- host steps


def decompose(A: Any, full: bool, vectors: bool, name: str) -> Any:
    """U, S and V.mH, or S alone; NaN for matrices with infinities."""
    if numpy.isnan(A).any():
        raise LinAlgError(f"{name}: failed to converge, as the matrix contains NaN")

    def function(x: Any) -> tuple[Any, ...]:
        return tuple(numpy.linalg.svd(x, full)) if vectors else (numpy.linalg.svdvals(x),)

    return decompose_finite(A, name, function)


def _singular_values_arrays(A: Any, name: str) -> Any:
    return decompose(A, False, False, name)[0]


def _svd_arrays(A: Any, full: bool, name: str) -> Any:
    return decompose(A, full, True, name)


# ---------------------------------------------------------------- derivatives


def _inverse_square_gaps(S: Traced) -> Traced:
    """At (i, j) 1 / (s_j² - s_i²), zero at (i, i)."""
    return inverse_off_diagonal((row(S) - column(S)) * (row(S) + column(S)))


def _thin(U: Traced, S: Traced, Vh: Traced) -> tuple[Traced, Traced]:
    """The singular vectors that belong to singular values."""
    k = S.shape[-1]
    return build.slice_(U, U.ndim - 1, 0, 1, k), build.slice_(Vh, Vh.ndim - 2, 0, 1, k)


def _inner_gradient(U: Traced, S: Traced, Vh: Traced, gU: Any, gV: Any) -> Traced:
    """What stands between U and V.mH in the gradient of A, for the singular vectors' gradients."""
    values, gaps = (build.convert(x, U.dtype) for x in (S, _inverse_square_gaps(S)))
    left, right = (
        None if gU is None else adjoint(U) @ gU,
        None if gV is None else Vh @ gV,
    )
    terms = []
    if left is not None:
        terms.append((skew_part(left) * gaps) * row(values))
    if right is not None:
        terms.append((skew_part(right) * gaps) * column(values))
    middle = terms[0] if len(terms) == 1 else terms[0] + terms[1]
    if not U.dtype.is_complex:
        return middle
    zero = build.zeros_like(S)
    left_turn = zero if left is None else turns(left)
    right_turn = zero if right is None else turns(right)
    middle = require_invariance(middle, left_turn + right_turn, "svd_backward", "singular vectors")
    turn = (left_turn - right_turn) / (2 * S)
    return middle + op.diag_embed(build.convert(turn, U.dtype) * 1j)


def _svd_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    (A,), (U, S, Vh), (gU, gS, gVh) = inputs, outputs, gradients
    U, Vh = _thin(U, S, Vh)
    k = S.shape[-1]
    gU = None if gU is None else build.slice_(gU, gU.ndim - 1, 0, 1, k)
    gV = None if gVh is None else adjoint(build.slice_(gVh, gVh.ndim - 2, 0, 1, k))
    if gU is None and gV is None:
        return [(U * row(build.convert(gS, A.dtype))) @ Vh]
    middle = _inner_gradient(U, S, Vh, gU, gV)
    if gS is not None:
        middle = middle + op.diag_embed(build.convert(gS, A.dtype))
    result = U @ middle @ Vh
    values = row(build.convert(S, A.dtype))
    if gU is not None and A.shape[-2] > k:
        scaled = gU / values
        result = result + (scaled - U @ (adjoint(U) @ scaled)) @ Vh
    if gV is not None and A.shape[-1] > k:
        scaled = gV / values
        result = result + U @ adjoint(scaled - adjoint(Vh) @ (Vh @ scaled))
    return [result]


def _svd_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    (A,), (U, S, Vh), (dA,) = inputs, outputs, tangents
    m, n, k = A.shape[-2], A.shape[-1], S.shape[-1]
    if attributes["full"] and m != n:
        raise RuntimeError(
            "linalg.svd: the singular vectors of full_matrices=True that belong to no singular "
            "value have no derivative; use full_matrices=False"
        )
    V = adjoint(Vh)
    inner = adjoint(U) @ dA @ V
    dS = real_part(diagonal(inner))
    values, gaps = (build.convert(x, A.dtype) for x in (S, _inverse_square_gaps(S)))
    left = hermitian_part(inner * row(values)) * gaps
    right = hermitian_part(inner * column(values)) * gaps
    if A.dtype.is_complex:
        turn = op.diag_embed(build.convert(turns(inner) / (2 * S), A.dtype) * 1j)
        left, right = left + turn, right - turn
    dU, dV = U @ left, V @ right
    if m > k:
        change = dA @ V / row(values)
        dU = dU + change - U @ (adjoint(U) @ change)
    if n > k:
        change = adjoint(dA) @ U / row(values)
        dV = dV + change - V @ (Vh @ change)
    return [dU, dS, adjoint(dV)]


def _svd_outputs(environment: Any, A: Any, full: bool, name: str) -> list:
    *batch, m, n = A.shape
    k = smaller(m, n)
    return [
        (A.dtype, (*batch, m, m if full else k), False),
        (A.dtype.to_real(), (*batch, k), False),
        (A.dtype, (*batch, n if full else k, n), False),
    ]


@primitive(
    HostMatrices(_svd_outputs),
    name="singular_value_decomposition",
    vjp=_svd_vjp,
    jvp=_svd_jvp,
    reference=_svd_arrays,
)
def svd_primitive(A, full, name):
    """U, S and V.mH with A = U @ diag(S) @ V.mH. full: whether U and V are square; name: of the
    operator, for errors.
    """


def _values_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    (A,), (g,) = inputs, gradients
    U, _, Vh = svd_primitive.apply(A, full=False, name=attributes["name"])
    return [(U * row(build.convert(g, A.dtype))) @ Vh]


def _values_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    U, _, Vh = svd_primitive.apply(inputs[0], full=False, name=attributes["name"])
    return [real_part(op.sum(build.conjugate(U) * (tangents[0] @ adjoint(Vh)), -2))]


@primitive(
    HostMatrices(
        lambda environment, A, name: [
            (A.dtype.to_real(), (*A.shape[:-2], smaller(A.shape[-2], A.shape[-1])), False)
        ]
    ),
    name="singular_values",
    vjp=_values_vjp,
    jvp=_values_jvp,
    reference=_singular_values_arrays,
)
def values_primitive(A, name):
    """The singular values, in descending order."""


# ---------------------------------------------------------------- operators

# Of other matrices the signs of the singular vectors may be others.
_DIAGONAL = Draw((2, 2), special=(3.0, 0.0, 0.0, 2.0))
_LinalgSVD, _SVD = named("linalg_svd", "U", "S", "Vh"), named("svd", "U", "S", "V")
_VALUE_SAMPLES = matrix_calls(
    (Draw((3, 3)),), (Draw((2, 3, 4)),), (Draw((0, 0)),), (Draw((2, 0, 3, 3)),), (Draw((0, 3)),)
)


def _require_driver(driver: str | None) -> None:
    if driver is not None:
        raise RuntimeError(
            "linalg.svd: driver= chooses among algorithms of CUDA; leave it out on the CPU"
        )


@composite(
    name="linalg_svd",
    names=["linalg.svd"],
    methods=[],
    out="same dtype",
    samples=only(is_precise, calls((_DIAGONAL,), (_DIAGONAL, False))),
)
def linalg_svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None):
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
    require_lapack("linalg.svd", A, kernel="linalg_svd_cpu")
    _require_driver(driver)
    return _LinalgSVD(*svd_primitive.apply(A, full=full_matrices, name="linalg.svd"))


@composite(names=["svd"], out="same dtype", samples=only(is_precise, calls((_DIAGONAL,))))
def svd(input: Tensor, some: bool = True, compute_uv: bool = True):
    """The singular value decomposition input = U @ diag(S) @ V.mH; without ``some`` U and V are
    square, without ``compute_uv`` they are zero.
    """
    require_lapack("linalg.svd", input, kernel="linalg_svd_cpu")
    if compute_uv:
        U, S, Vh = svd_primitive.apply(input, full=not some, name="linalg.svd")
        return _SVD(U, S, adjoint(Vh))
    *batch, m, n = input.shape
    S = values_primitive.apply(copied(input), name="linalg.svd")
    U, V = (build.full((*batch, size, size), 0, input.dtype) for size in (m, n))
    return _SVD(U, S, V)


def svdvals_of(A: Traced) -> Traced:
    """The singular values in descending order, of checked matrices."""
    require_lapack("linalg.svd", A, kernel="linalg_svd_cpu")
    return values_primitive.apply(copied(A), name="linalg.svd")


@composite(names=["linalg.svdvals"], methods=[], out="same dtype", samples=_VALUE_SAMPLES)
def svdvals(A: Tensor, *, driver: str | None = None):
    """The singular values of matrices (..., m, n), in descending order: (..., min(m, n)).

    Example:
        >>> rushlight.linalg.svdvals(rushlight.tensor([[0.0, 2.0], [3.0, 0.0]]))
        tensor([3., 2.])
    """
    _require_driver(driver)
    return svdvals_of(A)
