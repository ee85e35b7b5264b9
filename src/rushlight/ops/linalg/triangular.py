"""Systems of linear equations with triangular matrices.

Gradients: Giles, An extended collection of matrix derivative results, Oxford 2008, section 2.3.1,
restricted to the triangle.
"""

from __future__ import annotations

from typing import Any

import numpy

from ...graph.trace import Traced
from .. import build
from ..checks import require_same_dtype
from ..host_kinds import HostMatrices
from ..linear_algebra import adjoint
from ..record import Tensor, composite, op, primitive
from ..results import named
from ..samples import Draw
from .arrays import fill_each
from .inverses import check_equation
from .matrices import (
    matrix_calls,
    require_lapack,
    same_batch,
    transposed,
)
from .small_batches import substituted_in_many


def _substitute_arrays(A: Any, B: Any, upper: bool, unitriangular: bool) -> Any:
    from scipy.linalg import get_blas_funcs

    if (found := substituted_in_many(A, B, upper, unitriangular)) is not None:
        return found
    X = numpy.empty_like(B)
    trsm = get_blas_funcs(("trsm",), dtype=A.dtype)[0]

    def substitute(a: Any, b: Any) -> Any:
        # BLAS stores columns: it is given the transposed equation, X.T @ A.T = B.T.
        return (trsm(1, a.T, b.T, side=1, lower=upper, diag=unitriangular).T,)

    fill_each(substitute, (X,), A, B, has_data=B.size > 0)
    return X


def triangle_of(x: Traced, upper: bool, strict: bool) -> Traced:
    """The upper or lower triangle; strict: without the diagonal."""
    return op.triu(x, 1 if strict else 0) if upper else op.tril(x, -1 if strict else 0)


def _substitute_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    (A, _), (X,), (g,) = inputs, outputs, gradients
    upper, unit = attributes["upper"], attributes["unitriangular"]
    right = substituted(adjoint(A), g, not upper, unit)
    return [-triangle_of(right @ adjoint(X), upper, unit), right]


def _substitute_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    (A, B), (X,), (dA, dB) = inputs, outputs, tangents
    upper, unit = attributes["upper"], attributes["unitriangular"]
    change = build.zeros_like(B) if dB is None else dB
    if dA is not None:
        change = change - triangle_of(dA, upper, unit) @ X
    return [substituted(A, change, upper, unit)]


@primitive(
    HostMatrices(
        lambda environment, A, B, upper, unitriangular: [(B.dtype, tuple(B.shape), False)]
    ),
    name="substitution",
    vjp=_substitute_vjp,
    jvp=_substitute_jvp,
    reference=_substitute_arrays,
)
def substitute_primitive(A, B, upper, unitriangular):
    """X with A @ X = B for triangular A, of which the other triangle (and a diagonal of ones) is
    not read; infinities or NaN where the diagonal is zero.
    """


def substituted(A: Traced, B: Traced, upper: bool, unitriangular: bool = False) -> Traced:
    """X with A @ X = B for triangular A."""
    return substitute_primitive.apply(A, B, upper=upper, unitriangular=unitriangular)


def substituted_right(A: Traced, B: Traced, upper: bool, unitriangular: bool = False) -> Traced:
    """X with X @ A = B for triangular A."""
    return transposed(substituted(transposed(A), transposed(B), not upper, unitriangular))


@composite(
    names=["linalg.solve_triangular"],
    methods=[],
    out="same dtype",
    samples=matrix_calls(
        ((Draw((3, 3), 1, 4), Draw((3, 2))), {"upper": True}),
        ((Draw((2, 3, 3), 1, 4), Draw((3, 2))), {"upper": False, "unitriangular": True}),
        ((Draw((3, 3), 1, 4), Draw((2, 3))), {"upper": True, "left": False}),
        ((Draw((0, 0)), Draw((0, 2))), {"upper": True}),
    ),
)
def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
):
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
    name = "linalg.solve_triangular"
    require_lapack(name, A, square=True)
    require_lapack(name, B)
    require_same_dtype(name, A=A, B=B)
    check_equation(name, A, B, left)
    A, B = same_batch(name, A, B)
    return (substituted if left else substituted_right)(A, B, upper, unitriangular)


_TriangularSolve = named("triangular_solve", "solution", "cloned_coefficient")


@composite(
    names=["triangular_solve"],
    out="same dtype",
    samples=matrix_calls(
        (Draw((3, 2)), Draw((3, 3), 1, 4)),
        ((Draw((2, 3, 2)), Draw((3, 3), 1, 4)), {"upper": False, "transpose": True}),
    ),
)
def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
):
    """The solution of A @ X = b (or A.mT @ X = b) for triangular A, and a copy of A."""
    name = "triangular_solve"
    require_lapack(name, A, square=True)
    require_lapack(name, b)
    require_same_dtype(name, b=b, A=A)
    check_equation(name, A, b, True)
    coefficient, b = same_batch(name, A, b)
    read, side = (transposed(coefficient), not upper) if transpose else (coefficient, upper)
    solution = substituted(read, b, side, unitriangular)
    return _TriangularSolve(solution, build.contiguous(coefficient))
