"""Many small matrices at once: steps of elimination and substitution over whole batches.

A call of LAPACK takes longer than the few numbers of a small matrix need. The functions here give
None where LAPACK is the better choice, or has to say what becomes of numbers that are not finite.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

# How many matrices SciPy or NumPy take one by one in the time of a step's calls.
_IN_ELIMINATION, _IN_DETERMINANT, _IN_SOLUTION, _IN_SUBSTITUTION, _IN_SWAPS = 10, 40, 150, 3, 4


def _are_for_steps(matrices: int, *arrays: Any) -> bool:
    """Whether steps over the batch, one for each column of the first array, are worthwhile."""
    *batch, m, n = arrays[0].shape
    steps = min(m, n)
    return (
        0 < steps <= 16
        and math.prod(batch) >= matrices * steps
        and all(numpy.isfinite(each).all() for each in arrays)
    )


def _batch_last(A: Any) -> Any:
    """A copy ``[rows, columns, matrices]``, so that calls work on long rows of memory."""
    flat = A.reshape(math.prod(A.shape[:-2]), *A.shape[-2:])
    return numpy.ascontiguousarray(flat.transpose(1, 2, 0))


def _batch_first(x: Any, batch: tuple[int, ...]) -> Any:
    return numpy.ascontiguousarray(x.transpose(2, 0, 1)).reshape(*batch, *x.shape[:2])


def _magnitudes(x: Any) -> Any:
    """What LAPACK compares to find pivots."""
    return abs(x.real) + abs(x.imag) if x.dtype.kind == "c" else abs(x)


def _swap(x: Any, k: int, places: Any) -> None:
    """Swap a row ``x[k]`` with the one at the place for each matrix."""
    row = x[k].copy()
    elements = x.reshape(-1)
    chosen = numpy.arange(row.size).reshape(row.shape) + places * row.size
    x[k] = elements.take(chosen)
    elements[chosen] = row


def _eliminated(A: Any) -> tuple[Any, Any, Any]:
    """L and U in one with the batch last, pivots (from 0) and LAPACK's reports ``[matrices]``."""
    x = _batch_last(A)
    m, n, count = x.shape
    pivots = numpy.empty((min(m, n), count), numpy.int64)
    info = numpy.zeros(count, numpy.int32)
    for k in range(min(m, n)):
        pivots[k] = k
        if k + 1 < m:
            sizes = _magnitudes(x[k:, k])
            # argmax takes its time with so few
            pivots[k] += numpy.argmax(sizes, axis=0) if len(sizes) > 2 else sizes[1] > sizes[0]
            _swap(x, k, pivots[k])
        pivot, zero = x[k, k], x[k, k] == 0
        if zero.any():
            info[zero & (info == 0)] = k + 1
            pivot = numpy.where(zero, 1, pivot)
        if k + 1 < m:
            x[k + 1 :, k] /= pivot
            x[k + 1 :, k + 1 :] -= x[k + 1 :, k, None] * x[k, None, k + 1 :]
    return x, pivots, info


def lu_of_many(A: Any) -> tuple[Any, Any, Any] | None:
    """As LAPACK's getrf: L and U in one, pivots from 1, and the reports."""
    if not _are_for_steps(_IN_ELIMINATION, A):
        return None
    batch = A.shape[:-2]
    with numpy.errstate(all="ignore"):
        x, pivots, info = _eliminated(A)
    pivots = (pivots.T + 1).astype(numpy.int32).reshape(*batch, len(pivots))
    return _batch_first(x, batch), pivots, info.reshape(batch)


def order_of_many(pivots: Any, rows: int) -> Any:
    """The order of rows after swapping them by pivots from 1, in turn."""
    *batch, steps = pivots.shape
    if pivots.size == 0 or math.prod(batch) < _IN_SWAPS * steps:
        return None
    places = pivots.reshape(-1, steps).astype(numpy.int64).T - 1
    each = numpy.arange(places.shape[1])
    order = numpy.repeat(numpy.arange(rows)[:, None], len(each), axis=1)
    for i, place in enumerate(places):
        chosen = order[place, each]
        order[place, each] = order[i]
        order[i] = chosen
    return numpy.ascontiguousarray(order.T).reshape(*batch, rows)


def determinants_of_many(A: Any) -> Any:
    """The determinants of square matrices."""
    if not _are_for_steps(_IN_DETERMINANT, A):
        return None
    with numpy.errstate(all="ignore"):
        x, pivots, _ = _eliminated(A)
        # In double precision a product of large and small pivots does not overflow on the way.
        result = x[0, 0].astype(numpy.result_type(x.dtype, numpy.float64))
        for k in range(1, len(x)):
            result = result * x[k, k]
        odd = numpy.logical_xor.reduce(pivots != numpy.arange(len(pivots))[:, None], axis=0)
        return numpy.where(odd, -result, result).astype(A.dtype).reshape(A.shape[:-2])


def substituted_in_many(A: Any, B: Any, upper: bool, unitriangular: bool) -> Any:
    """The solutions of A @ X = B with triangular A, of which the other triangle is not read."""
    if not _are_for_steps(_IN_SUBSTITUTION, A, B):
        return None
    x = _batch_last(B)
    with numpy.errstate(all="ignore"):
        _substitute(_batch_last(A), x, upper, unitriangular)
    return _batch_first(x, B.shape[:-2])


def _substitute(a: Any, x: Any, upper: bool, unitriangular: bool) -> None:
    """Turn the right side into the solution."""
    size = len(a)
    for i in reversed(range(size)) if upper else range(size):
        if not unitriangular:
            x[i] /= a[i, i]
        rest = slice(0, i) if upper else slice(i + 1, size)
        x[rest] -= a[rest, i, None] * x[i]


def solutions_of_many(A: Any, B: Any) -> Any:
    """The solutions of A @ X = B; None also where a matrix is singular."""
    if not _are_for_steps(_IN_SOLUTION, A, B):
        return None
    x = _batch_last(B)
    with numpy.errstate(all="ignore"):
        a, pivots, info = _eliminated(A)
        if info.any():
            return None
        for k, places in enumerate(pivots):
            _swap(x, k, places)
        _substitute(a, x, False, True)
        _substitute(a, x, True, False)
    return _batch_first(x, B.shape[:-2])
