"""Eigenvalues and eigenvectors.

Gradients: Giles, An extended collection of matrix derivative results, Oxford 2008, section 3.1; for
complex matrices and normalized eigenvectors Boeddeker et al., On the computation of complex-valued
gradients with application to statistically optimum beamforming, arXiv:1701.00392, 2017.
"""

from __future__ import annotations

from typing import Any

import numpy

from ...graph.trace import Traced
from ...promotion import scalar_type_name
from .. import build
from ..checks import require_square
from ..complex import real_part
from ..host_kinds import HostMatrices
from ..linear_algebra import adjoint
from ..record import Tensor, composite, op, primitive
from ..results import LinAlgError, named
from ..samples import Draw, calls, is_precise, only
from .arrays import decompose_finite
from .gauge import require_invariance, turns
from .inverses import solved
from .matrices import (
    column,
    copied,
    diagonal,
    inverse_off_diagonal,
    require_lapack,
    require_precision,
    row,
)

# ---------------------------------------------------------------- Hermitian matrices


def decompose_hermitian(A: Any, uplo: Any, vectors: bool) -> Any:
    """Eigenvalues in ascending order and eigenvectors; NaN for matrices that are not finite."""

    def function(x: Any) -> tuple[Any, ...]:
        return tuple(numpy.linalg.eigh(x, uplo)) if vectors else (numpy.linalg.eigvalsh(x, uplo),)

    return decompose_finite(A, "linalg.eigh", function)


def _inverse_gaps(values: Traced) -> Traced:
    """At (i, j) 1 / (values_j - values_i), zero at (i, i)."""
    return inverse_off_diagonal(row(values) - column(values))


def _hermitian_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    (A,), (values, V), (g_values, gV) = inputs, outputs, gradients
    if gV is None:
        return [(V * row(build.convert(g_values, A.dtype))) @ adjoint(V)]
    inner = adjoint(V) @ gV
    middle = inner * build.convert(_inverse_gaps(values), A.dtype)
    if A.dtype.is_complex:
        middle = require_invariance(middle, turns(inner), "linalg_eigh_backward", "eigenvectors")
    if g_values is not None:
        middle = middle + op.diag_embed(build.convert(g_values, A.dtype))
    return [V @ middle @ adjoint(V)]


def _hermitian_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    (A,), (values, V), (dA,) = inputs, outputs, tangents
    inner = adjoint(V) @ dA @ V
    gaps = build.convert(_inverse_gaps(values), A.dtype)
    return [real_part(diagonal(inner)), V @ (inner * gaps)]


@primitive(
    HostMatrices(
        lambda environment, A, uplo: [
            (A.dtype.to_real(), tuple(A.shape[:-1]), False),
            (A.dtype, tuple(A.shape), False),
        ]
    ),
    name="hermitian_eigen",
    vjp=_hermitian_vjp,
    jvp=_hermitian_jvp,
    reference=lambda A, uplo: decompose_hermitian(A, uplo, True),
)
def hermitian_primitive(A, uplo):
    """The eigenvalues, in ascending order, and eigenvectors of Hermitian matrices, of which the
    triangle uplo is read.
    """


def _hermitian_values_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    (A,), (g,) = inputs, gradients
    V = hermitian_primitive.apply(A, **attributes)[1]
    return [(V * row(build.convert(g, A.dtype))) @ adjoint(V)]


def _hermitian_values_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    V = hermitian_primitive.apply(inputs[0], **attributes)[1]
    return [real_part(op.sum(build.conjugate(V) * (tangents[0] @ V), -2))]


@primitive(
    HostMatrices(lambda environment, A, uplo: [(A.dtype.to_real(), tuple(A.shape[:-1]), False)]),
    name="hermitian_eigenvalues",
    vjp=_hermitian_values_vjp,
    jvp=_hermitian_values_jvp,
    reference=lambda A, uplo: decompose_hermitian(A, uplo, False)[0],
)
def hermitian_values_primitive(A, uplo):
    """The eigenvalues of Hermitian matrices, in ascending order."""


def values_of(A: Traced, uplo: str) -> Traced:
    """The eigenvalues of checked Hermitian matrices."""
    return hermitian_values_primitive.apply(copied(A), uplo=uplo)


def _checked_hermitian(A: Traced, uplo: str) -> str:
    """The triangle to read."""
    if uplo not in ("L", "U", "l", "u"):
        raise RuntimeError(f"linalg.eigh: UPLO must be 'L' or 'U', not {uplo}")
    require_square("linalg.eigh", A)
    if not A.dtype.is_differentiable:
        raise NotImplementedError(
            f"\"linalg_eigh_cpu\" not implemented for '{scalar_type_name(A.dtype)}'"
        )
    require_precision("linalg.eigh", A.dtype, "linalg_eigh_cpu")
    return uplo.upper()


# Of larger matrices only one triangle counts, and gradients are those of Hermitian ones.
_ONE = Draw((1, 1))
_SQUARES = only(is_precise, calls((_ONE,), (Draw((0, 0)),)))
_Eigh, _Eig = (
    named("linalg_eigh", "eigenvalues", "eigenvectors"),
    named("linalg_eig", "eigenvalues", "eigenvectors"),
)


@composite(
    names=["linalg.eigh"], methods=[], out="same dtype", samples=only(is_precise, calls((_ONE,)))
)
def eigh(A: Tensor, UPLO: str = "L"):
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
    return _Eigh(*hermitian_primitive.apply(A, uplo=_checked_hermitian(A, UPLO)))


@composite(names=["linalg.eigvalsh"], methods=[], out="same dtype", samples=_SQUARES)
def eigvalsh(A: Tensor, UPLO: str = "L"):
    """The eigenvalues of symmetric or Hermitian matrices (..., n, n), of which the triangle UPLO is
    read, in ascending order.

    Example:
        >>> rushlight.linalg.eigvalsh(rushlight.tensor([[2.0, 0.0], [0.0, 1.0]]))
        tensor([1., 2.])
    """
    return values_of(A, _checked_hermitian(A, UPLO))


# ---------------------------------------------------------------- general matrices


def _decompose(A: Any, vectors: bool) -> Any:
    if not numpy.isfinite(A).all():
        raise RuntimeError(
            f"linalg.{'eig' if vectors else 'eigvals'}: input tensor should not contain infs or "
            "NaNs"
        )
    try:
        return numpy.linalg.eig(A) if vectors else numpy.linalg.eigvals(A)
    except numpy.linalg.LinAlgError as error:
        raise LinAlgError(f"linalg.eig: The algorithm failed to converge ({error})") from None


def _general_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    (values, V), (g_values, gV) = outputs, gradients
    if gV is None:
        return [solved(adjoint(V), column(g_values) * adjoint(V))]
    inner = adjoint(V) @ gV
    middle = inner - (adjoint(V) @ V) * row(build.convert(real_part(diagonal(inner)), V.dtype))
    middle = require_invariance(middle, turns(inner), "linalg_eig_backward", "eigenvectors")
    middle = middle * build.conjugate(_inverse_gaps(values))
    if g_values is not None:
        middle = middle + op.diag_embed(g_values)
    return [solved(adjoint(V), middle @ adjoint(V))]


def _general_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    values, V = outputs
    inner = solved(V, build.convert(tangents[0], V.dtype) @ V)
    change = V @ (inner * _inverse_gaps(values))
    along = build.convert(real_part(op.sum(build.conjugate(V) * change, -2)), V.dtype)
    return [diagonal(inner), change - V * row(along)]


@primitive(
    HostMatrices(
        lambda environment, A: [
            (A.dtype.to_complex(), tuple(A.shape[:-1]), False),
            (A.dtype.to_complex(), tuple(A.shape), False),
        ]
    ),
    name="eigen",
    vjp=_general_vjp,
    jvp=_general_jvp,
    reference=lambda A: tuple(_decompose(A, True)),
)
def general_primitive(A):
    """The eigenvalues and the eigenvectors, of length 1, of square matrices."""


def _general_values_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    V = general_primitive.apply(inputs[0])[1]
    return [solved(adjoint(V), column(gradients[0]) * adjoint(V))]


def _general_values_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    V = general_primitive.apply(inputs[0])[1]
    return [diagonal(solved(V, build.convert(tangents[0], V.dtype) @ V))]


@primitive(
    HostMatrices(lambda environment, A: [(A.dtype.to_complex(), tuple(A.shape[:-1]), False)]),
    name="eigenvalues",
    vjp=_general_values_vjp,
    jvp=_general_values_jvp,
    reference=lambda A: _decompose(A, False),
)
def general_values_primitive(A):
    """The eigenvalues of square matrices."""


def _require_general(name: str, A: Traced) -> None:
    require_lapack(name, A, square=True, kernel="linalg_eig_out_cpu")


@composite(names=["linalg.eig"], methods=[], out="same dtype")
def eig(A: Tensor):
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
    _require_general("linalg.eig", A)
    return _Eig(*general_primitive.apply(A))


@composite(names=["linalg.eigvals"], methods=[], out="same dtype")
def eigvals(A: Tensor):
    """The eigenvalues of square matrices (..., n, n), complex, in no particular order.

    Example:
        >>> rushlight.linalg.eigvals(rushlight.tensor([[0.0, -1.0], [1.0, 0.0]]))
        tensor([0.+1.j, 0.-1.j])
    """
    _require_general("linalg.eigvals", A)
    return general_values_primitive.apply(copied(A))
