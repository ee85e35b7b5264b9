"""Windows that slide along a dim, and what lies in them added up again: the parts of pooling."""

from __future__ import annotations

from typing import Any

import numpy

from ..graph.trace import Traced
from . import build
from .indexing import index_primitive
from .kind import Kind, Output
from .kinds import View
from .record import op, primitive


def _windows(x: Any, dim: int, length: Any, step: Any, taps: Any, spacing: Any) -> tuple:
    return (*x.shape[:dim], length, taps, *x.shape[dim + 1 :])


def _shifted(x: Traced, size: Any, /, dim: int, **others: Any) -> dict[str, Any]:
    return {"dim": dim + 1, **others}


def window_positions(length: int, step: int, taps: int, spacing: int) -> numpy.ndarray:
    """Where each tap of each window lies: an array of shape [length, taps]."""
    return numpy.arange(length)[:, None] * step + numpy.arange(taps) * spacing


def _window_arrays(x: Any, dim: int, length: int, step: int, taps: int, spacing: int) -> Any:
    positions = window_positions(length, step, taps, spacing)
    return numpy.take(x, positions, axis=dim)


def _overlap_arrays(x: Any, dim: int, size: int, step: int, spacing: int) -> Any:
    result = numpy.zeros((*x.shape[:dim], size, *x.shape[dim + 2 :]), x.dtype)
    place: list[Any] = [slice(None)] * result.ndim
    tap: list[Any] = [slice(None)] * x.ndim
    for each in range(x.shape[dim + 1]):
        tap[dim + 1] = each
        place[dim] = each * spacing + step * numpy.arange(x.shape[dim])
        result[tuple(place)] += x[tuple(tap)]
    return result


class _Overlap(Kind):
    """The transpose of ``window``."""

    def infer(
        self, primitive: Any, inputs: Any, attributes: dict[str, Any], environment: Any
    ) -> list[Output]:
        (x,), dim = inputs, attributes["dim"]
        return [(x.dtype, (*x.shape[:dim], attributes["size"], *x.shape[dim + 2 :]), False)]

    def batch(
        self, primitive: Any, inputs: Any, batched: Any, size: Any, attributes: dict[str, Any]
    ) -> list:
        return [primitive.apply(*inputs, **{**attributes, "dim": attributes["dim"] + 1})]


@primitive(
    View(_windows, _shifted),
    name="window",
    transpose=lambda g, x, dim, length, step, taps, spacing: overlap_add_primitive.apply(
        g, dim=dim, size=x.shape[dim], step=step, spacing=spacing
    ),
    reference=_window_arrays,
)
def window_primitive(x, dim, length, step, taps, spacing):
    """``length`` windows that begin every ``step`` elements of dim, each of ``taps`` elements that
    lie ``spacing`` apart: dim becomes two dims, the windows and their taps.
    """


@primitive(
    _Overlap(),
    name="overlap_add",
    transpose=lambda g, x, dim, size, step, spacing: window_primitive.apply(
        g, dim=dim, length=x.shape[dim], step=step, taps=x.shape[dim + 1], spacing=spacing
    ),
    reference=_overlap_arrays,
)
def overlap_add_primitive(x, dim, size, step, spacing):
    """Windows and taps (dim and the next one) added up where they lie: the transpose of window."""


def quotient(position: Traced, step: int) -> Traced:
    """position // step for non-negative positions; in floating point, which vectorises."""
    if step == 1:
        return position
    return build.convert(
        op.floor((build.convert(position, build.FLOAT64) + 0.5) / step), build.INT64
    )


def covering(position: Traced, tap: Traced, length: Any, step: int, spacing: Any) -> tuple:
    """The window of which a tap lies at a position, and whether there is one.

    Where there is none, the first window stands in.
    """
    start = position - tap * spacing
    which = quotient(op.clamp_min(start, 0), step)
    there = (which * step == start) & (which < length)
    return build.select_where(there, which, 0, build.INT64), there


def window_count(size: Any, taps: Any, step: Any, spacing: Any) -> Any:
    """How many windows lie inside ``size`` elements."""
    return (size - (taps - 1) * spacing - 1) // step + 1


def overlapped(x: Traced, dim: int, size: Any, step: int, spacing: Any) -> Traced:
    """``overlap_add`` by reading: each place adds up the taps that lie on it."""
    length, taps = x.shape[dim], x.shape[dim + 1]
    before, after = x.shape[:dim], x.shape[dim + 2 :]
    if isinstance(taps, int) and spacing == 1 and taps <= step:
        if taps < step:
            x = build.pad(x, dim + 1, 0, step)
        if length * step == size:
            return build.reshape(x, (*before, size, *after))
        x = build.reshape(x, (*before, length * step, *after))
        if length * step > size:
            return build.slice_(x, dim, 0, 1, size)
        return build.pad(x, dim, 0, size)
    position = build.expand(build.insert_dim(build.iota(size), 1), (size, taps))
    tap = build.expand(build.insert_dim(build.iota(taps), 0), (size, taps))
    which, there = covering(position, tap, length, step, spacing)
    found = index_primitive.apply(x, which, tap, dims=(dim, dim + 1))
    there = build.reshape(there, (*[1] * dim, size, taps, *[1] * len(after)))
    found = build.select_where(there, found, 0, x.dtype)
    return build.drop_dims(build.reduce_sum(found, (dim + 1,)), (dim + 1,))
