"""The decomposition of symmetric and Hermitian matrices that need not be definite."""

from __future__ import annotations

from typing import Any

import numpy

from ... import dtypes
from .. import build
from ..checks import require_same_dtype
from ..host_kinds import HostMatrices
from ..record import Tensor, composite, primitive
from ..results import named
from .arrays import fill_each, lapack, require_success
from .inverses import check_equation
from .matrices import (
    INFO,
    info_shape,
    require_lapack,
    require_pivots,
    same_batch,
)
from .refusals import no_jvp, no_vjp, refuse

# ---------------------------------------------------------------- host steps


def _routine(name: str, dtype: Any, hermitian: bool) -> Any:
    """The symmetric or the Hermitian routine: sytrf or hetrf, sytrs or hetrs."""
    kind = "he" if hermitian and dtype.kind == "c" else "sy"
    return lapack(kind + name, dtype)


def _factor_arrays(A: Any, hermitian: bool, name: str | None) -> Any:
    LD = numpy.zeros_like(A)
    pivots = numpy.zeros(A.shape[:-1], numpy.int32)
    info = numpy.zeros(A.shape[:-2], numpy.int32)
    factor = _routine("trf", A.dtype, hermitian)

    def each(a: Any) -> Any:
        ldu, places, status = factor(a, lower=True)
        return numpy.tril(ldu), places, status

    fill_each(each, (LD, pivots, info), A, has_data=A.size > 0)
    if name is not None:
        require_success(
            info,
            name,
            lambda place: (
                f"D has a zero on its diagonal at {place}, so that ldl_solve would divide by zero; "
                "linalg.ldl_factor_ex gives the factors all the same"
            ),
        )
    return LD, pivots, info


def _check_pivots(pivots: Any) -> None:
    """LAPACK reads memory by these: they must be as it writes them."""
    size = pivots.shape[-1]
    if pivots.size and not ((numpy.abs(pivots) >= 1) & (numpy.abs(pivots) <= size)).all():
        raise RuntimeError(
            f"linalg.ldl_solve: pivots must be of magnitude 1 to {size}; pass those that "
            "ldl_factor returned"
        )
    for each in pivots.reshape(-1, size).tolist() if size else ():
        place = 0
        while place < size:
            if each[place] > 0:
                place += 1
            elif place + 1 < size and each[place] == each[place + 1]:
                place += 2
            else:
                raise RuntimeError(
                    "linalg.ldl_solve: negative pivots come in pairs of equal ones; pass those "
                    "that ldl_factor returned"
                )


def _solve_arrays(LD: Any, pivots: Any, B: Any, hermitian: bool) -> Any:
    _check_pivots(pivots)
    X = numpy.empty_like(B)
    solve = _routine("trs", LD.dtype, hermitian)
    fill_each(
        lambda ld, places, b: solve(ld, places, b, lower=True)[:1],
        (X,),
        LD,
        pivots,
        B,
        has_data=B.size > 0,
    )
    return X


_NO_FACTOR = "the derivative for linalg.ldl_factor is not implemented; use linalg.lu_factor"
_NO_SOLVE = "the derivative for linalg.ldl_solve with respect to LD is not implemented"


@primitive(
    HostMatrices(
        lambda environment, A, hermitian, name: [
            (A.dtype, tuple(A.shape), False),
            (INFO, tuple(A.shape[:-1]), False),
            (INFO, info_shape(A), False),
        ]
    ),
    name="ldl_factors",
    vjp=no_vjp(_NO_FACTOR),
    jvp=no_jvp(_NO_FACTOR),
    reference=_factor_arrays,
)
def factor_primitive(A, hermitian, name):
    """L and D in one matrix as LAPACK's sytrf stores them, its pivots and reports. name: of the
    operator in the name of which a LinAlgError is raised; None: none is raised.
    """


def _solve_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    (LD, pivots, _), (g,) = inputs, gradients
    if attributes["hermitian"]:
        right = solve_primitive.apply(LD, pivots, g, **attributes)
    else:
        turned = solve_primitive.apply(LD, pivots, build.conjugate(g), **attributes)
        right = build.conjugate(turned)
    return [refuse(LD, _NO_SOLVE), None, right]


def _solve_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    LD, pivots, _ = inputs
    if tangents[0] is not None:
        return [refuse(outputs[0], _NO_SOLVE)]
    return [solve_primitive.apply(LD, pivots, tangents[2], **attributes)]


@primitive(
    HostMatrices(lambda environment, LD, pivots, B, hermitian: [(B.dtype, tuple(B.shape), False)]),
    name="ldl_solution",
    vjp=_solve_vjp,
    jvp=_solve_jvp,
    reference=_solve_arrays,
)
def solve_primitive(LD, pivots, B, hermitian):
    """X with A @ X = B, given A's decomposition."""


# ---------------------------------------------------------------- operators

_Factor, _FactorEx = (
    named("linalg_ldl_factor", "LD", "pivots"),
    named("linalg_ldl_factor_ex", "LD", "pivots", "info"),
)


@composite(names=["linalg.ldl_factor"], methods=[], out="same dtype")
def ldl_factor(A: Tensor, *, hermitian: bool = False):
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
    require_lapack("linalg.ldl_factor_ex", A, square=True, kernel="ldl_factor_kernel_cpu")
    name = "linalg.ldl_factor"
    return _Factor(*factor_primitive.apply(A, hermitian=hermitian, name=name)[:2])


@composite(names=["linalg.ldl_factor_ex"], methods=[], out="same dtype")
def ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False):
    """As ``linalg.ldl_factor``, with LAPACK's reports in the place of errors: 0, or the place of a
    zero on D's diagonal.
    """
    name = "linalg.ldl_factor_ex"
    require_lapack(name, A, square=True, kernel="ldl_factor_kernel_cpu")
    name_if_checked = name if check_errors else None
    return _FactorEx(*factor_primitive.apply(A, hermitian=hermitian, name=name_if_checked))


@composite(names=["linalg.ldl_solve"], methods=[], out="same dtype")
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False):
    """The solution X of A @ X = B, given what ``linalg.ldl_factor`` returned for A.

    Args:
        LD, pivots: the decomposition of matrices (..., n, n).
        B: matrices (..., n, k).
        hermitian: as it was given to ``linalg.ldl_factor``.
    """
    name = "linalg.ldl_solve"
    require_lapack(name, LD, square=True)
    require_lapack(name, B)
    if pivots.dtype.is_differentiable or pivots.dtype is dtypes.bool:
        raise RuntimeError(
            f"{name}: Expected pivots to be integers, not {pivots.dtype}; pass those that "
            "ldl_factor returned"
        )
    require_pivots(name, pivots, LD)
    require_same_dtype(name, LD=LD, B=B)
    check_equation(name, LD, B, True)
    LD, B = same_batch(name, LD, B)
    places = build.convert(build.expand(pivots, LD.shape[:-1]), INFO)
    return solve_primitive.apply(LD, places, B, hermitian=hermitian)
