"""Solutions of systems of linear equations, and inverses.

Gradients: Giles, An extended collection of matrix derivative results for forward and reverse mode
algorithmic differentiation, Oxford 2008, sections 2.2.3 and 2.3.1.
"""

from __future__ import annotations

from typing import Any

import numpy

from ...graph.symbols import same_shape
from ...graph.trace import Traced
from ...layout import numel
from .. import build
from ..checks import require_same_dtype
from ..host_kinds import HostMatrices
from ..linear_algebra import adjoint
from ..record import Dim, Tensor, composite, op, primitive
from ..results import named
from ..samples import Draw
from .arrays import eye_like, fill_each, lapack, require_success
from .matrices import (
    INFO,
    column,
    info_shape,
    matrix_calls,
    require_lapack,
    same_batch,
    transposed,
)
from .small_batches import solutions_of_many

# ---------------------------------------------------------------- host steps


def _solve_with_zero_pivots(A: Any, B: Any) -> tuple[Any, Any]:
    """The solutions and LAPACK's reports where a matrix is singular: numbers divided by zero."""
    X, info = numpy.zeros_like(B), numpy.zeros(A.shape[:-2], numpy.int32)
    factor, substitute = lapack("getrf", A.dtype), lapack("getrs", A.dtype)

    def solve(a: Any, b: Any) -> Any:
        lu, pivots, status = factor(a)
        return substitute(lu, pivots, b)[0], status

    fill_each(solve, (X, info), A, B, has_data=B.size > 0)
    return X, info


def _solve_arrays(A: Any, B: Any, name: str | None) -> Any:
    try:
        X = solutions_of_many(A, B)
        X = numpy.linalg.solve(A, B) if X is None else X
        return X, numpy.zeros(A.shape[:-2], numpy.int32)
    except numpy.linalg.LinAlgError:
        X, info = _solve_with_zero_pivots(A, B)
    if name is not None:
        require_success(
            info, name, lambda place: "the matrix is singular, so no single solution exists"
        )
    return X, info


def inverse_arrays(A: Any) -> Any:
    """The inverses; NumPy's LinAlgError if a matrix has none."""
    found = solutions_of_many(A, eye_like(A))
    return numpy.linalg.inv(A) if found is None else found


def _inverse_arrays(A: Any, name: str | None) -> Any:
    try:
        return inverse_arrays(A), numpy.zeros(A.shape[:-2], numpy.int32)
    except numpy.linalg.LinAlgError:
        X, info = _solve_with_zero_pivots(A, eye_like(A))
    if name is not None:
        require_success(
            info,
            name,
            lambda place: (
                f"the diagonal element {place} is zero, so the matrix is singular and has no "
                "inverse"
            ),
        )
    return X, info


def _solve_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    (A, _), (X, _), g = inputs, outputs, gradients[0]
    right = solved(adjoint(A), g)
    return [-right @ adjoint(X), right]


def _solve_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    (A, B), (X, _), (dA, dB) = inputs, outputs, tangents
    change = build.zeros_like(B) if dB is None else dB
    if dA is not None:
        change = change - dA @ X
    return [solved(A, change), None]


@primitive(
    HostMatrices(
        lambda environment, A, B, name: [
            (B.dtype, tuple(B.shape), False),
            (INFO, info_shape(A), False),
        ]
    ),
    name="solution",
    vjp=_solve_vjp,
    jvp=_solve_jvp,
    reference=_solve_arrays,
)
def solve_primitive(A, B, name):
    """X with A @ X = B, and LAPACK's reports: 0, or the place of the first pivot that is zero.

    name: the operator in the name of which a LinAlgError is raised; None: none is raised.
    """


def solved(A: Traced, B: Traced) -> Traced:
    """X with A @ X = B; infinities or NaN where A is singular."""
    return solve_primitive.apply(A, B, name=None)[0]


@primitive(
    HostMatrices(
        lambda environment, A, name: [
            (A.dtype, tuple(A.shape), False),
            (INFO, info_shape(A), False),
        ]
    ),
    name="inverse_matrix",
    vjp=lambda inputs, outputs, gradients, attributes: [
        -adjoint(outputs[0]) @ gradients[0] @ adjoint(outputs[0])
    ],
    jvp=lambda inputs, outputs, tangents, attributes: [
        -outputs[0] @ tangents[0] @ outputs[0],
        None,
    ],
    reference=_inverse_arrays,
)
def inverse_primitive(A, name):
    """The inverses, and LAPACK's reports. name: as in ``solution``."""


# ---------------------------------------------------------------- solve


def is_vector_batch(A: Traced, B: Traced) -> bool:
    """Whether B holds one vector for each matrix of A."""
    return B.ndim == 1 or (B.ndim == A.ndim - 1 and same_shape(B.shape, A.shape[:-1]))


def check_equation(name: str, A: Traced, B: Traced, left: bool) -> None:
    """RuntimeError unless A @ X = B (or X @ A = B) has fitting sizes."""
    size, other = A.shape[-1], B.shape[-2] if left else B.shape[-1]
    if size != other:
        raise RuntimeError(
            f"{name}: {'AX = B' if left else 'XA = B'} needs matrices that can be multiplied, "
            f"but A is {A.shape[-2]}x{A.shape[-1]} and B {B.shape[-2]}x{B.shape[-1]}"
        )


def _of_batch(info: Traced, batch: tuple[Any, ...]) -> Traced:
    """Reports on the matrices before their batch dims were broadcast."""
    for _ in range(info.ndim - len(batch)):
        info = op.select(info, 0, 0) if info.shape[0] else build.full(info.shape[1:], 0, INFO)
    for dim, size in enumerate(batch):
        if size == 1 and info.shape[dim] > 1:
            info = build.slice_(info, dim, 0, 1, 1)
    return info if same_shape(info.shape, batch) else build.full(batch, 0, INFO)


def _solve(name: str, A: Traced, B: Traced, left: bool, required: bool) -> tuple[Traced, Traced]:
    require_lapack(name, A, square=True)
    require_same_dtype(name, A=A, B=B)
    if not B.ndim:
        raise RuntimeError(f"{name}: B must have at least 1 dimension, but is a number")
    vectors = is_vector_batch(A, B)
    if vectors and not left:
        raise RuntimeError(
            f"{name}: a vector B is not broadcast where left=False; give B as a matrix"
        )
    B = column(B) if vectors else B
    check_equation(name, A, B, left)
    if not left:
        A, B = transposed(A), transposed(B)
    batch = tuple(A.shape[:-2])
    A, B = same_batch(name, A, B)
    X, info = solve_primitive.apply(A, B, name=name if required else None)
    info = _of_batch(info, batch)
    if vectors:
        X = build.drop_dims(X, (X.ndim - 1,))
    return X if left else transposed(X), info


_SOLVE_SAMPLES = matrix_calls(
    (Draw((3, 3)), Draw((3, 2))),
    (Draw((2, 3, 3)), Draw((2, 3))),
    (Draw((3, 3)), Draw((3,))),
    (Draw((2, 1, 3, 3)), Draw((4, 3, 2))),
    ((Draw((3, 3)), Draw((2, 3))), {"left": False}),
    (Draw((0, 0)), Draw((0, 2))),
)


@composite(names=["linalg.solve"], methods=[], out="same dtype", samples=_SOLVE_SAMPLES)
def solve(A: Tensor, B: Tensor, *, left: bool = True):
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
    return _solve("linalg.solve", A, B, left, True)[0]


_SolveEx = named("linalg_solve_ex", "result", "info")


@composite(names=["linalg.solve_ex"], methods=[], out="same dtype", samples=_SOLVE_SAMPLES)
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False):
    """As ``linalg.solve``, with LAPACK's reports in the place of errors: 0, or the place of the
    first pivot that is zero.
    """
    return _SolveEx(*_solve("linalg.solve_ex", A, B, left, check_errors))


# ---------------------------------------------------------------- inverses

_INVERSE_SAMPLES = matrix_calls(
    (Draw((3, 3)),), (Draw((2, 2, 2)),), (Draw((0, 0)),), (Draw((2, 0, 3, 3)),)
)


def inverse_of(name: str, A: Traced) -> Traced:
    """The inverses; LinAlgError if a matrix has none."""
    require_lapack(name, A, square=True)
    return inverse_primitive.apply(A, name=name)[0]


@composite(names=["linalg.inv"], methods=[], out="same dtype", samples=_INVERSE_SAMPLES)
def inv(A: Tensor):
    """The inverses of square matrices (..., n, n); LinAlgError if one is singular.

    Example:
        >>> rushlight.linalg.inv(rushlight.tensor([[2.0, 0.0], [0.0, 4.0]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.2500]])
    """
    return inverse_of("linalg.inv", A)


@composite(names=["inverse"], out="same dtype", samples=_INVERSE_SAMPLES)
def inverse(input: Tensor):
    """The inverses of square matrices; LinAlgError if one is singular."""
    return inverse_of("linalg.inv", input)


_InvEx = named("linalg_inv_ex", "inverse", "info")


@composite(names=["linalg.inv_ex"], methods=[], out="same dtype", samples=_INVERSE_SAMPLES)
def inv_ex(A: Tensor, *, check_errors: bool = False):
    """The inverses, and LAPACK's reports: 0, or the place of the first pivot that is zero."""
    require_lapack("linalg.inv_ex", A, square=True)
    return _InvEx(*inverse_primitive.apply(A, name="linalg.inv_ex" if check_errors else None))


# ---------------------------------------------------------------- tensors as matrices


@composite(
    names=["linalg.tensorinv"],
    methods=[],
    out="same dtype",
    samples=matrix_calls((Draw((4, 2, 2)), 1), (Draw((2, 2, 2, 2)),)),
)
def tensorinv(A: Tensor, ind: int = 2):
    """The inverse with respect to ``tensordot(A, B, ind)``: of the matrix that the first ``ind``
    dims and the others make.
    """
    if ind <= 0:
        raise RuntimeError(f"linalg.tensorinv: ind must be a positive integer, but is {ind}")
    first, rest = tuple(A.shape[:ind]), tuple(A.shape[ind:])
    if numel(first) != numel(rest):
        raise RuntimeError(
            f"linalg.tensorinv: the product of the sizes of the first {ind} dims must equal that "
            f"of the others, but A has shape {list(A.shape)}"
        )
    matrix = build.reshape(A, (numel(rest), numel(first)))
    return build.reshape(inverse_of("linalg.inv", matrix), (*rest, *first))


@composite(
    names=["linalg.tensorsolve"],
    methods=[],
    out="same dtype",
    samples=matrix_calls((Draw((2, 3, 6)), Draw((2, 3))), ((Draw((6, 2, 3)), Draw((2, 3)), (0,)))),
)
def tensorsolve(A: Tensor, B: Tensor, dims: Dim = None):
    """X with ``tensordot(A, X, X.ndim) = B``. dims: dims of A that are moved to its end before."""
    if dims is not None:
        moved = [dims] if isinstance(dims, int) else list(dims)
        A = op.movedim(A, moved, list(range(A.ndim - len(moved), A.ndim)))
    result_shape = tuple(A.shape[B.ndim :])
    if numel(result_shape) != numel(tuple(B.shape)):
        raise RuntimeError(
            f"linalg.tensorsolve: A of shape {list(A.shape)} and B of shape {list(B.shape)} make "
            "no system of as many equations as unknowns"
        )
    size = numel(result_shape)
    matrix = build.reshape(A, (size, size))
    return build.reshape(solve(matrix, build.reshape(B, (size,))), result_shape)
