"""The Cholesky decomposition and what is computed from it.

Gradients: Murray, Differentiation of the Cholesky decomposition, arXiv:1602.07527, 2016.
"""

from __future__ import annotations

from typing import Any

import numpy

from ...graph.trace import Traced
from ..checks import require_same_dtype
from ..host_kinds import HostMatrices
from ..linear_algebra import adjoint
from ..record import Tensor, composite, op, primitive
from ..results import LinAlgError, named
from ..samples import Draw, calls, is_precise, only
from .arrays import fill_each, lapack, require_success
from .inverses import check_equation
from .matrices import (
    INFO,
    diagonal,
    identity,
    info_shape,
    matrix_calls,
    require_lapack,
    same_batch,
)
from .triangular import substituted, substituted_right


def _by_columns(a: Any) -> tuple[Any, int]:
    """The factor up to the first minor that is not positive, and that one's order or 0."""
    L = numpy.tril(a)
    for j in range(len(a)):
        pivot = (L[j, j] - (L[j, :j] * L[j, :j].conj()).sum()).real
        if not pivot > 0:
            L[j, j] = pivot
            return L, j + 1
        L[j, j] = numpy.sqrt(pivot)
        L[j + 1 :, j] = (L[j + 1 :, j] - L[j + 1 :, :j] @ L[j, :j].conj()) / L[j, j]
    return L, 0


def _factor_arrays(A: Any, name: str | None) -> Any:
    info = numpy.zeros(A.shape[:-2], numpy.int32)
    if numpy.isfinite(A).all():
        try:
            return numpy.linalg.cholesky(A), info
        except numpy.linalg.LinAlgError:
            pass
    L = numpy.zeros_like(A)
    potrf = lapack("potrf", A.dtype)

    def factor(a: Any) -> Any:
        if not numpy.isfinite(a).all():  # libraries differ in what they report
            return _by_columns(a)
        return potrf(a, lower=True, clean=True)

    fill_each(factor, (L, info), A, has_data=A.size > 0)
    if name is not None:
        require_success(
            info,
            name,
            lambda order: (
                f"input is not positive-definite: its leading minor of order {order} is not "
                "positive"
            ),
        )
    return L, info


def _lower_half(x: Traced) -> Traced:
    """The lower triangle with half the diagonal: x of which this plus its adjoint is made."""
    return op.tril(x) - op.diag_embed(diagonal(x)) * 0.5


def _factor_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    L, g = outputs[0], gradients[0]
    half = _lower_half(adjoint(L) @ op.tril(g))
    middle = (half + adjoint(half)) * 0.5
    return [substituted_right(L, substituted(adjoint(L), middle, True), False)]


def _factor_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    L, (dA,) = outputs[0], tangents
    dA = (dA + adjoint(dA)) * 0.5
    middle = substituted_right(adjoint(L), substituted(L, dA, False), True)
    return [L @ _lower_half(middle), None]


@primitive(
    HostMatrices(
        lambda environment, A, name: [
            (A.dtype, tuple(A.shape), False),
            (INFO, info_shape(A), False),
        ]
    ),
    name="cholesky_factor",
    vjp=_factor_vjp,
    jvp=_factor_jvp,
    reference=_factor_arrays,
)
def factor_primitive(A, name):
    """The lower triangular L with A = L @ L.mH, of Hermitian positive-definite A, of which the
    lower triangle is read; and LAPACK's reports: 0, or the order of a minor that is not positive.
    name: the operator in the name of which a LinAlgError is raised; None: none is raised.
    """


def _factored(name: str, A: Traced, upper: bool, required: bool) -> tuple[Traced, Traced]:
    require_lapack(name, A, square=True, kernel="cholesky_cpu")
    L, info = factor_primitive.apply(adjoint(A) if upper else A, name=name if required else None)
    return (adjoint(L) if upper else L), info


# Of larger matrices only one triangle counts, and few that are drawn are positive-definite.
_POSITIVE = Draw((1, 1), 1, 4)
_SAMPLES = only(is_precise, calls((_POSITIVE,), ((_POSITIVE,), {"upper": True}), (Draw((0, 0)),)))


@composite(
    name="linalg_cholesky",
    names=["linalg.cholesky"],
    methods=[],
    out="same dtype",
    samples=_SAMPLES,
)
def linalg_cholesky(A: Tensor, *, upper: bool = False):
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
    return _factored("linalg.cholesky", A, upper, True)[0]


_CholeskyEx = named("linalg_cholesky_ex", "L", "info")


@composite(
    names=["linalg.cholesky_ex"],
    methods=[],
    out="same dtype",
    samples=_SAMPLES,
)
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False):
    """As ``linalg.cholesky``, with LAPACK's reports in the place of errors: 0, or the order of a
    leading minor that is not positive-definite.
    """
    return _CholeskyEx(*_factored("linalg.cholesky_ex", A, upper, check_errors))


@composite(names=["cholesky"], out="same dtype", samples=_SAMPLES)
def cholesky(input: Tensor, upper: bool = False):
    """The lower triangular L with input = L @ L.mH, or with ``upper`` its adjoint."""
    return _factored("cholesky", input, upper, True)[0]


# ---------------------------------------------------------------- with a known factor


def _check_diagonal(L: Any) -> Any:
    zeros = numpy.argwhere(numpy.diagonal(L, axis1=-2, axis2=-1) == 0)
    if len(zeros):
        raise LinAlgError(
            f"cholesky_inverse: the diagonal element {zeros[0][-1] + 1} is zero, so the matrix "
            "is singular and has no inverse"
        )
    return L


@primitive(
    HostMatrices(lambda environment, L: [(L.dtype, tuple(L.shape), False)]),
    name="invertible_triangle",
    vjp=lambda inputs, outputs, gradients, attributes: [gradients[0]],
    jvp=lambda inputs, outputs, tangents, attributes: [tangents[0]],
    reference=_check_diagonal,
)
def invertible_triangle(L):
    """L itself; LinAlgError if its diagonal has a zero."""


@composite(
    names=["cholesky_inverse"],
    out="same dtype",
    samples=only(
        is_precise, calls((Draw((3, 3), 1, 3),), ((Draw((2, 3, 3), 1, 3),), {"upper": True}))
    ),
)
def cholesky_inverse(input: Tensor, upper: bool = False):
    """The inverse of the matrix with the Cholesky factor ``input``: of input @ input.mH, or with
    ``upper`` of input.mH @ input.
    """
    require_lapack("cholesky_inverse", input, square=True, kernel="cholesky_inverse")
    factor = invertible_triangle.apply(input)
    inverse = substituted(factor, identity(input.shape[-1], input), upper)
    return inverse @ adjoint(inverse) if upper else adjoint(inverse) @ inverse


@composite(
    names=["cholesky_solve"],
    out="same dtype",
    samples=matrix_calls(
        (Draw((3, 2)), Draw((3, 3), 1, 3)),
        ((Draw((2, 3, 2)), Draw((3, 3), 1, 3)), {"upper": True}),
    ),
)
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False):
    """The solution X of A @ X = input, where A has the Cholesky factor ``input2``."""
    name = "cholesky_solve"
    require_lapack(name, input, kernel="cholesky_solve")
    require_lapack(name, input2, square=True, kernel="cholesky_solve")
    require_same_dtype(name, input=input, input2=input2)
    check_equation(name, input2, input, True)
    B, factor = same_batch(name, input, input2)
    lower = adjoint(factor) if upper else factor
    return substituted(adjoint(lower), substituted(lower, B, False), True)
