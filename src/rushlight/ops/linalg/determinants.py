"""Determinants.

The determinant is a polynomial, so its gradient, the adjugate, exists for singular matrices too;
the derivative of the adjugate is taken from the singular value decomposition. With A = U S V^H,

    adj(A) = det(U) det(V^H) V D U^H,    D_i = the product of all singular values but the i-th,

and to first order in M the adjugate of S + M is D plus, with P_ij = the product of all singular
values but the i-th and the j-th, sum_j P_ij M_jj at (i, i) and -P_ij M_ij at (i, j).
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
from ..results import named
from ..samples import Draw
from .arrays import adjoint_arrays, are_finite, eye_like
from .inverses import inverse_arrays, inverse_primitive
from .matrices import column, diagonal, info_shape, matrix_calls, require_lapack, row, transposed
from .singular_values import svd_primitive
from .small_batches import determinants_of_many

# ---------------------------------------------------------------- the adjugate


def _determinant_arrays(A: Any) -> Any:
    """The product of the pivots."""
    from scipy.linalg import det

    if A.size == 0:
        return numpy.ones(A.shape[:-2], A.dtype)
    if (found := determinants_of_many(A)) is not None:
        return found
    return numpy.asarray(det(A, check_finite=False))


def _adjugate_arrays(A: Any) -> Any:
    size = A.shape[-1]
    if size == 0:
        return A
    result = numpy.full_like(A, numpy.nan)
    finite = are_finite(A)
    if not finite.all():
        if finite.any():
            result[finite] = _adjugate_arrays(A[finite])
        return result
    determinants = _determinant_arrays(A)
    regular = numpy.asarray(determinants != 0)
    try:
        inverse = inverse_arrays(numpy.where(regular[..., None, None], A, eye_like(A)))
    except numpy.linalg.LinAlgError:
        return _adjugate_by_singular_values(A)
    limit = numpy.finfo(A.dtype).eps ** -0.25  # the inverse is that inaccurate
    with numpy.errstate(all="ignore"):
        sizes = [numpy.linalg.norm(each, axis=(-2, -1)) for each in (A, inverse)]
        good = regular & (sizes[0] * sizes[1] < limit)
        result = determinants[..., None, None] * inverse
    if not good.all():
        result[~good] = _adjugate_by_singular_values(A[~good])
    return result


def _adjugate_by_singular_values(A: Any) -> Any:
    U, S, Vh = numpy.linalg.svd(A)
    sign = _determinant_arrays(U) * _determinant_arrays(Vh)
    factors = numpy.where(numpy.eye(A.shape[-1], dtype=bool), 1, S[..., None, :])
    others = numpy.prod(factors, axis=-1) * sign[..., None]
    return (adjoint_arrays(Vh) * others[..., None, :]) @ adjoint_arrays(U)


def _products_without_pairs(S: Traced) -> Traced:
    """At (i, j) the product of all elements but the i-th and the j-th; zero at (i, i)."""
    size = S.shape[-1]
    one = build.full((*S.shape[:-1], 1), 1, S.dtype)
    before = op.cat([one, op.cumprod(S, -1)], -1)
    after = op.flip(op.cat([one, op.cumprod(op.flip(S, [-1]), -1)], -1), [-1])
    before = build.slice_(before, before.ndim - 1, 0, 1, size)
    after = build.slice_(after, after.ndim - 1, 1, 1, size)
    place = build.iota(size)
    later = build.insert_dim(place, 0) > build.insert_dim(place, 1)
    between = op.cumprod(op.where(later, row(S), 1), -1)  # from i + 1 to k
    between = op.cat([column(build.full_like(before, 1)), between], -1)
    between = build.slice_(between, between.ndim - 1, 0, 1, size)  # from i + 1 to j - 1
    upper = build.select_where(later, column(before) * between * row(after), 0, S.dtype)
    return upper + transposed(upper)


def _adjugate_change(A: Traced, dA: Traced, adjoined: bool) -> Traced:
    """The derivative of the adjugate in the direction dA, or the adjoint of that map."""
    U, S, Vh = svd_primitive.apply(A, full=False, name="linalg.det")
    sign = determinant.apply(U) * determinant.apply(Vh)
    V = adjoint(Vh)
    sign = column(column(build.conjugate(sign) if adjoined else sign))
    middle = Vh @ dA @ U if adjoined else adjoint(U) @ dA @ V
    pairs = build.convert(_products_without_pairs(S), A.dtype)
    on_diagonal = op.sum(pairs * row(diagonal(middle)), -1)
    middle = sign * (op.diag_embed(on_diagonal) - pairs * middle)
    return U @ middle @ Vh if adjoined else V @ middle @ adjoint(U)


@primitive(
    HostMatrices(lambda environment, A: [(A.dtype, tuple(A.shape), False)]),
    name="adjugate",
    vjp=lambda inputs, outputs, gradients, attributes: [
        _adjugate_change(inputs[0], gradients[0], True)
    ],
    jvp=lambda inputs, outputs, tangents, attributes: [
        _adjugate_change(inputs[0], tangents[0], False)
    ],
    reference=_adjugate_arrays,
)
def adjugate(A):
    """The transposed matrix of cofactors: det(A) * inv(A), and its limit for singular A."""


def _determinant_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    return [op.sum(transposed(adjugate.apply(inputs[0])) * tangents[0], (-2, -1))]


@primitive(
    HostMatrices(lambda environment, A: [(A.dtype, info_shape(A), False)]),
    name="determinant",
    vjp=lambda inputs, outputs, gradients, attributes: [
        column(column(gradients[0])) * adjoint(adjugate.apply(inputs[0]))
    ],
    jvp=_determinant_jvp,
    reference=_determinant_arrays,
)
def determinant(A):
    """The determinants of square matrices."""


# ---------------------------------------------------------------- logarithms


def _logarithm_arrays(A: Any) -> Any:
    sign, logarithm = numpy.linalg.slogdet(A)
    return sign if A.dtype.kind == "c" else numpy.where(numpy.isnan(logarithm), 0, sign), logarithm


def _logarithm_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    """The derivative of log det is tr(inv(A) dA): its real part changes the logarithm, its
    imaginary part turns the sign.
    """
    (A,), (sign, _), (g_sign, g) = inputs, outputs, gradients
    factor = None if g is None else build.convert(g, A.dtype)
    if A.dtype.is_complex and g_sign is not None:
        turned = op.imag(build.conjugate(g_sign) * sign)
        turn = build.convert(turned, A.dtype) * -1j
        factor = turn if factor is None else factor + turn
    if factor is None:
        return [None]
    return [column(column(factor)) * adjoint(inverse_primitive.apply(A, name=None)[0])]


def _logarithm_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    (A,), (sign, _), (dA,) = inputs, outputs, tangents
    trace = op.sum(transposed(inverse_primitive.apply(A, name=None)[0]) * dA, (-2, -1))
    if not A.dtype.is_complex:
        return [None, trace]
    return [sign * (build.convert(op.imag(trace), A.dtype) * 1j), real_part(trace)]


@primitive(
    HostMatrices(
        lambda environment, A: [
            (A.dtype, info_shape(A), False),
            (A.dtype.to_real(), info_shape(A), False),
        ]
    ),
    name="logarithm_of_determinant",
    vjp=_logarithm_vjp,
    jvp=_logarithm_jvp,
    reference=_logarithm_arrays,
)
def logarithm_primitive(A):
    """The signs of the determinants and the logarithms of their magnitudes."""


# ---------------------------------------------------------------- operators

_SAMPLES = matrix_calls((Draw((3, 3)),), (Draw((2, 2, 2)),), (Draw((0, 0)),), (Draw((2, 0, 3, 3)),))


@composite(name="linalg_det", names=["linalg.det"], methods=[], out="same dtype", samples=_SAMPLES)
def linalg_det(A: Tensor):
    """The determinants of square matrices (..., n, n).

    Example:
        >>> rushlight.linalg.det(rushlight.tensor([[1.0, 2.0], [3.0, 5.0]]))
        tensor(-1.)
    """
    require_lapack("linalg.det", A, square=True, kernel="lu_cpu")
    return determinant.apply(A)


@composite(names=["det"], samples=_SAMPLES)
def det(input: Tensor):
    """The determinants of square matrices."""
    require_lapack("linalg.det", input, square=True, kernel="lu_cpu")
    return determinant.apply(input)


_Slogdet, _LinalgSlogdet = (
    named("slogdet", "sign", "logabsdet"),
    named("linalg_slogdet", "sign", "logabsdet"),
)


@composite(
    name="linalg_slogdet",
    names=["linalg.slogdet"],
    methods=[],
    out="same dtype",
    samples=_SAMPLES,
)
def linalg_slogdet(A: Tensor):
    """The signs of the determinants of square matrices (of complex ones: numbers of magnitude 1),
    and the logarithms of their magnitudes; 0 and -inf if a matrix is singular.

    Example:
        >>> sign, logabsdet = rushlight.linalg.slogdet(rushlight.eye(2) * 0.5)
        >>> sign, logabsdet.exp()
        (tensor(1.), tensor(0.2500))
    """
    require_lapack("linalg.slogdet", A, square=True)
    return _LinalgSlogdet(*logarithm_primitive.apply(A))


@composite(names=["slogdet"], out="same dtype", samples=_SAMPLES)
def slogdet(input: Tensor):
    """As ``linalg.slogdet``."""
    require_lapack("linalg.slogdet", input, square=True)
    return _Slogdet(*logarithm_primitive.apply(input))


@composite(names=["logdet"], samples=_SAMPLES)
def logdet(input: Tensor):
    """The logarithms of the determinants; NaN where a real determinant is negative."""
    require_lapack("logdet", input, square=True)
    sign, logarithm = logarithm_primitive.apply(input)
    if input.dtype.is_complex:
        return logarithm + op.log(sign)
    return op.where(sign == -1, float("nan"), logarithm)
