"""The matrix exponential.

Higham, The scaling and squaring method for the matrix exponential revisited, SIAM Journal on Matrix
Analysis and Applications 26, 2005. The derivative in the direction E is the upper right block of
the exponential of [[A, E], [0, A]]: Najfeld and Havel, Derivatives of the matrix exponential and
their computation, Advances in Applied Mathematics 16, 1995.
"""

from __future__ import annotations

from typing import Any

import numpy

from ...graph.trace import Traced
from .. import build
from ..checks import require_differentiable
from ..host_kinds import HostMatrices
from ..linear_algebra import adjoint
from ..record import Tensor, composite, op, primitive
from ..samples import Draw, calls, only
from .arrays import are_finite, eye_like

# The diagonal Padé approximant of order 13, and the 1-norm up to which its error is below the
# rounding of float64.
_COEFFICIENTS = (
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
)
_LIMIT = 5.371920351148152


def _pade(A: Any) -> Any:
    b = _COEFFICIENTS
    one = eye_like(A)
    A2 = A @ A
    A4 = A2 @ A2
    A6 = A4 @ A2
    odd = A @ (
        A6 @ (b[13] * A6 + b[11] * A4 + b[9] * A2) + b[7] * A6 + b[5] * A4 + b[3] * A2 + b[1] * one
    )
    even = (
        A6 @ (b[12] * A6 + b[10] * A4 + b[8] * A2) + b[6] * A6 + b[4] * A4 + b[2] * A2 + b[0] * one
    )
    return numpy.linalg.solve(even - odd, even + odd)


def _exponential_arrays(A: Any) -> Any:
    if A.size == 0:
        return A
    finite = are_finite(A)
    wide = numpy.where(finite[..., None, None], A, 0)
    wide = wide.astype(numpy.complex128 if A.dtype.kind == "c" else numpy.float64)
    norms = numpy.abs(wide).sum(axis=-2).max(axis=-1)
    norms = numpy.where(numpy.isfinite(norms), norms, numpy.finfo(numpy.float64).max)
    halvings = numpy.ceil(numpy.log2(numpy.maximum(norms / _LIMIT, 1))).astype(int)
    result = _pade(wide * numpy.ldexp(1.0, -halvings)[..., None, None])
    for step in range(int(halvings.max())):
        squared = result @ result
        result = numpy.where((halvings > step)[..., None, None], squared, result)
    result[~finite] = numpy.nan
    return result


def _derivative(A: Traced, direction: Traced) -> Traced:
    """The derivative of exp(A) in a direction."""
    n = A.shape[-1]
    above = op.cat([A, direction], -1)
    below = op.cat([build.zeros_like(A), A], -1)
    result = exponential.apply(op.cat([above, below], -2))
    return build.slice_(build.slice_(result, A.ndim - 2, 0, 1, n), A.ndim - 1, n, 1, n)


@primitive(
    HostMatrices(lambda environment, A: [(A.dtype, tuple(A.shape), False)]),
    name="exponential_of_matrix",
    vjp=lambda inputs, outputs, gradients, attributes: [
        _derivative(adjoint(inputs[0]), gradients[0])
    ],
    jvp=lambda inputs, outputs, tangents, attributes: [_derivative(inputs[0], tangents[0])],
    reference=_exponential_arrays,
)
def exponential(A):
    """The exponentials of square matrices; NaN for those that are not finite."""


_SAMPLES = only(
    lambda dtype: dtype.is_differentiable and dtype.itemsize > 2,
    calls(
        (Draw((3, 3), -1, 1),), (Draw((2, 2, 2), -1, 1),), (Draw((0, 0)),), (Draw((1, 1), -1, 1),)
    ),
)


def _matrix_exp(A: Traced) -> Traced:
    name = "linalg.matrix_exp"
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but has shape {list(A.shape)}"
        )
    require_differentiable(name, A.dtype)
    return exponential.apply(A)


@composite(name="linalg_matrix_exp", names=["linalg.matrix_exp"], methods=[], samples=_SAMPLES)
def linalg_matrix_exp(A: Tensor):
    """The exponentials of square matrices (..., n, n): the sums of A^k / k!.

    Example:
        >>> rushlight.linalg.matrix_exp(rushlight.zeros(2, 2))
        tensor([[1., 0.],
                [0., 1.]])
    """
    return _matrix_exp(A)


@composite(names=["matrix_exp"], samples=_SAMPLES)
def matrix_exp(input: Tensor):
    """The exponentials of square matrices."""
    return _matrix_exp(input)
