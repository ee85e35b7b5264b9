"""Batches of matrices as NumPy arrays: what the host steps have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ..results import LinAlgError


def lapack(name: str, dtype: Any) -> Any:
    """LAPACK's routine of a name for arrays of a dtype."""
    from scipy.linalg import get_lapack_funcs

    return get_lapack_funcs((name,), dtype=dtype)[0]


def fill_each(
    function: Callable[..., Any], results: Sequence[Any], *arrays: Any, has_data: bool = True
) -> None:
    """Write ``function(*matrices)`` into the results, for each place in the batch dims.

    The first array is a batch of matrices. has_data: whether there is anything to compute.
    """
    if not has_data:
        return
    for place in numpy.ndindex(*arrays[0].shape[:-2]):
        values = function(*(each[place] for each in arrays))
        for result, value in zip(results, values, strict=True):
            result[place] = value


def eye_like(matrices: Any) -> Any:
    """Identity matrices of the shape of these square ones."""
    identity = numpy.eye(matrices.shape[-1], dtype=matrices.dtype)
    return numpy.broadcast_to(identity, matrices.shape)


def adjoint_arrays(matrices: Any) -> Any:
    """The conjugate transposes."""
    return numpy.conj(numpy.swapaxes(matrices, -1, -2))


def are_finite(matrices: Any) -> Any:
    """Of each matrix, whether all elements are finite."""
    return numpy.isfinite(matrices).all(axis=(-2, -1))


def decompose_finite(A: Any, name: str, function: Callable[[Any], tuple[Any, ...]]) -> Any:
    """What NumPy's decomposition gives, with NaN for matrices that are not finite; LinAlgError if
    it does not converge.
    """
    finite = are_finite(A)
    safe: Any = A if finite.all() else numpy.where(finite[..., None, None], A, 0)
    try:
        results = function(safe)
    except numpy.linalg.LinAlgError as error:
        raise LinAlgError(f"{name}: The algorithm failed to converge ({error})") from None
    if not finite.all():
        for result in results:
            result[~finite] = numpy.nan
    return results


def require_success(
    info: Any,
    name: str,
    describe: Callable[[int], str],
    error: type[RuntimeError] = LinAlgError,
) -> None:
    """An error for the first matrix of which LAPACK reports a failure, described by the report."""
    failed = numpy.flatnonzero(info)
    if failed.size:
        first = int(failed[0])
        batch = f"(Batch element {first}): " if info.ndim else ""
        raise error(f"{name}: {batch}{describe(int(info.reshape(-1)[first]))}")
