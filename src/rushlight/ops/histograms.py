"""Histograms of one and of several dims."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from ..graph.trace import Traced
from . import build
from .checks import require_same_dtype
from .kinds import Host
from .parts import concrete_size
from .record import (
    NONE,
    Operand,
    Selector,
    Size,
    Tensor,
    Tensors,
    composite,
    op,
    primitive,
    unsupported,
)
from .results import named
from .samples import Draw, calls, is_precise, only
from .sorting import refuse
from .statistics import require_range


def _outer_edges(x: Any, low: float, high: float, name: str) -> tuple[float, float]:
    """The range of a histogram: that of the data if none is given."""
    if low == high and x.size:
        low, high = float(x.min()), float(x.max())
    if not (numpy.isfinite(low) and numpy.isfinite(high)):
        raise RuntimeError(f"torch.{name}: range of [{low}, {high}] is not finite")
    if low == high:
        spread = 1.0 if name == "histc" else 0.5
        low, high = low - spread, high + spread
        if name == "histogram" and not x.size:
            low, high = 0.0, 1.0
    return low, high


def _histc_arrays(x: Any, low: Any, high: Any, bins: int) -> Any:
    x = x.reshape(-1)
    low, high = _outer_edges(x, float(low), float(high), "histc")
    kept = x[(x >= low) & (x <= high)]
    kind = kept.dtype.type
    place = ((kept - kind(low)) * bins / (kind(high) - kind(low))).astype(numpy.int64)
    return numpy.bincount(numpy.minimum(place, bins - 1), minlength=bins)


@primitive(
    Host(lambda environment, x, low, high, bins: [(x.dtype, (bins,), False)]),
    name="histc",
    derivative=NONE,
    batch=unsupported("histc has no batching rule"),
    reference=_histc_arrays,
)
def histc_primitive(x, low, high, bins):
    """How many elements fall into each of the bins of equal width from low to high."""


def _check_bins(bins: Any) -> None:
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")


@composite(
    names=["histc"],
    out="same dtype",
    samples=only(is_precise, calls((Draw((20,)), 5), (Draw((4, 5)), 4, -2, 2), (Draw((3,)),))),
)
def histc(input: Tensor, bins: Size = 100, min: Operand = 0, max: Operand = 0):
    """How many elements fall into each of ``bins`` bins of equal width from min to max (the range
    of the elements if both are equal).
    """
    if not input.dtype.is_floating_point:
        refuse("histogram_cpu", input, input.dtype)
    _check_bins(bins)
    low, high = (build.lift(each, input.context) for each in (min, max))
    low, high = (build.convert(each, dtypes.float64) for each in (low, high))
    low = _require_order(low, high, "torch.histc: max must be larger than min")
    return histc_primitive.apply(input, low, high, bins=bins)


def _require_order(low: Traced, high: Traced, message: str) -> Traced:
    """low itself; RuntimeError when the plan runs if it is greater than high."""
    gap = require_range(high - low, 0.0, float("inf"), message)
    return op.where(gap >= 0, low, high)


def _histogram_arrays(x: Any, edges: Any, *weights: Any, bins: int, density: bool) -> Any:
    x = x.reshape(-1)
    if bins:
        low, high = _outer_edges(x, float(edges[0]), float(edges[1]), "histogram")
        edges = numpy.linspace(low, high, bins + 1, dtype=x.dtype)
    inside = (x >= edges[0]) & (x <= edges[-1])
    place = numpy.searchsorted(edges, x[inside], "right") - 1
    place = numpy.minimum(place, len(edges) - 2)
    share = weights[0].reshape(-1)[inside].astype(numpy.float64) if weights else None
    counts = numpy.bincount(place, share, len(edges) - 1)
    if density:
        counts = counts / counts.sum() / numpy.diff(edges.astype(numpy.float64))
    return counts, edges


@primitive(
    Host(
        lambda environment, x, edges, *weights, bins, density: [
            (x.dtype, (bins or edges.shape[0] - 1,), False),
            (x.dtype, (bins + 1 if bins else edges.shape[0],), False),
        ]
    ),
    name="histogram",
    derivative=NONE,
    batch=unsupported("histogram has no batching rule"),
    reference=_histogram_arrays,
)
def histogram_primitive(x, edges, *weights, bins, density):
    """The counts (or weights, or densities) between edges, and these; with ``bins`` that many of
    equal width over the range of two edges.
    """


Histogram: Any = named("histogram", "hist", "bin_edges")


def _check_histogram(input: Traced, weight: Traced | None) -> list[Traced]:
    """The weights as a list."""
    if not input.dtype.is_floating_point:
        refuse("histogramdd", input, input.dtype)
    if weight is None:
        return []
    if tuple(weight.shape) != tuple(input.shape):
        raise RuntimeError(
            f"histogram: weight must have the shape of input, {list(input.shape)}, not "
            f"{list(weight.shape)}"
        )
    require_same_dtype("histogram", input=input, weight=weight)
    return [weight]


@composite(names=["_histogram_between"], methods=[], out=True)
def histogram_between(
    input: Tensor, bins: Tensor, *, range: Selector = None, weight=None, density: bool = False
):
    """``histogram`` with edges in the place of a number of bins."""
    weights = _check_histogram(input, weight)
    if bins.ndim != 1:
        raise RuntimeError(
            "torch.histogramdd: bins tensor should have one dimension, but got "
            f"{bins.ndim} dimensions in the bins tensor for dimension 0"
        )
    require_same_dtype("histogram", input=input, bins=bins)
    if range is not None:
        raise TypeError("histogram(): a range goes with a number of bins, not with edges")
    return Histogram(*histogram_primitive.apply(input, bins, *weights, bins=0, density=density))


@composite(
    names=["histogram"],
    out="same dtype",
    overload=lambda *args, **kwargs: histogram_between(*args, **kwargs),
    samples=only(
        is_precise,
        calls((Draw((20,)), 5), ((Draw((20,)), 4), {"range": (-2.0, 2.0), "density": True})),
    ),
)
def histogram(
    input: Tensor,
    bins: int,
    *,
    range: Selector = None,
    weight=None,
    density: bool = False,
):
    """How many elements (or how much of their weights) fall into each bin, and the bins' edges.
    bins: how many, of equal width, or the edges.
    """
    weights = _check_histogram(input, weight)
    _check_bins(bins)
    low, high = (0.0, 0.0) if range is None else range
    if low > high:
        raise RuntimeError(
            f"torch.histogramdd: min should not exceed max, but got min {low} max {high} for "
            "dimension 0"
        )
    ends = build.convert(build.iota(2), input.dtype) * (high - low) + low
    return Histogram(*histogram_primitive.apply(input, ends, *weights, bins=bins, density=density))


# ---------------------------------------------------------------- several dims


def _histogramdd_arrays(
    x: Any, *operands: Any, given: int, bins: tuple[int, ...], ends: Any, density: bool
) -> Any:
    edges, weight = list(operands[:given]), operands[given:]
    rank = x.shape[-1]
    points = x.reshape(numpy.prod(x.shape[:-1], dtype=int), rank)
    for dim, count in enumerate(bins):
        low, high = ends[2 * dim : 2 * dim + 2] if ends else (0.0, 0.0)
        low, high = _outer_edges(points[:, dim], low, high, "histogram")
        edges.append(numpy.linspace(low, high, count + 1, dtype=x.dtype))
    inside = numpy.ones(len(points), bool)
    for dim, edge in enumerate(edges):
        inside &= (points[:, dim] >= edge[0]) & (points[:, dim] <= edge[-1])
    place = numpy.zeros(int(inside.sum()), numpy.int64)
    for dim, edge in enumerate(edges):
        own = numpy.searchsorted(edge, points[inside, dim], "right") - 1
        place = place * (len(edge) - 1) + numpy.minimum(own, len(edge) - 2)
    share = weight[0].reshape(-1)[inside].astype(numpy.float64) if weight else None
    shape = tuple(len(edge) - 1 for edge in edges)
    counts = numpy.bincount(place, share, numpy.prod(shape, dtype=int)).reshape(shape)
    if density:
        counts = counts / counts.sum()
        for dim, edge in enumerate(edges):
            along = [-1 if each == dim else 1 for each in range(rank)]
            counts /= numpy.diff(edge.astype(numpy.float64)).reshape(along)
    return (counts, *edges)


def _histogramdd_outputs(
    environment: Any, x: Any, *operands: Any, given: int, bins: Any, ends: Any, density: bool
) -> list:
    lengths = [edge.shape[0] for edge in operands[:given]] or [count + 1 for count in bins]
    counts = (x.dtype, tuple(length - 1 for length in lengths), False)
    return [counts, *((x.dtype, (length,), False) for length in lengths)]


@primitive(
    Host(_histogramdd_outputs),
    name="histogramdd",
    derivative=NONE,
    batch=unsupported("histogramdd has no batching rule"),
    reference=_histogramdd_arrays,
)
def histogramdd_primitive(x, *operands, given, bins, ends, density):
    """The counts (or weights, or densities) of points between edges, and these: the first ``given``
    operands, or of bins of equal width between ``ends``.
    """


Histogramdd: Any = named("histogramdd", "hist", "bin_edges")


def _check_points(input: Traced, weight: Traced | None) -> list[Traced]:
    """The weights as a list."""
    if not input.dtype.is_floating_point:
        refuse("histogramdd", input, input.dtype)
    if input.ndim < 2:
        raise RuntimeError(
            "histogramdd: input must have at least 2 dimensions, (..., coordinates), not "
            f"{input.ndim}"
        )
    if weight is None:
        return []
    if tuple(weight.shape) != tuple(input.shape[:-1]):
        raise RuntimeError(
            "histogramdd: weight must have the shape of input without the last dimension, "
            f"{list(input.shape[:-1])}, not {list(weight.shape)}"
        )
    require_same_dtype("histogramdd", input=input, weight=weight)
    return [weight]


def _histogramdd(input: Any, edges: list, weights: list, density: bool, **bins: Any) -> Any:
    results = histogramdd_primitive.apply(
        input, *edges, *weights, given=len(edges), density=density, **bins
    )
    hist, *found = results if isinstance(results, tuple) else (results,)
    return Histogramdd(hist, tuple(found))


@composite(name="histogramdd_between", methods=["_histogramdd_between"])
def histogramdd_between(
    input: Tensor, bins: Tensors, *, range: Selector = None, weight=None, density: bool = False
):
    """``histogramdd`` with edges in the place of numbers of bins."""
    weights = _check_points(input, weight)
    edges, rank = list(bins), concrete_size(input.shape[-1], "histogramdd")
    if len(edges) != rank:
        raise RuntimeError(
            f"torch.histogramdd: expected {rank} sequences of bin edges for a {rank}-dimensional "
            f"histogram but got {len(edges)}"
        )
    for dim, edge in enumerate(edges):
        if edge.ndim != 1:
            raise RuntimeError(
                "torch.histogramdd: bins tensor should have one dimension, but got "
                f"{edge.ndim} dimensions in the bins tensor for dimension {dim}"
            )
        require_same_dtype("histogramdd", **{"input": input, f"bins[{dim}]": edge})
        if edge.shape[0] == 0:
            raise RuntimeError(f"histogramdd: bins[{dim}] is empty; it needs at least one edge")
    return _histogramdd(input, edges, weights, density, bins=(), ends=())


@composite(
    names=["histogramdd"],
    overload=lambda *args, **kwargs: histogramdd_between(*args, **kwargs),
    samples=only(
        is_precise,
        calls(
            (Draw((20, 2)), 3),
            ((Draw((4, 5, 2)), [2, 4]), {"range": [-2.0, 2.0, -1.0, 3.0], "density": True}),
        ),
    ),
)
def histogramdd(
    input: Tensor, bins: Selector, *, range: Selector = None, weight=None, density: bool = False
):
    """How many points, the rows along the last dim (or how much of their weights), fall into each
    bin, and the bins' edges along each dim.

    Args:
        bins: how many bins of equal width, for all dims or each; or the edges for each dim.
        range: the outer edges, two for each dim; None: the least and the greatest coordinates.
        weight: how much each point counts.
        density: whether the counts are divided by their sum and the bins' volumes.
    """
    weights = _check_points(input, weight)
    rank = concrete_size(input.shape[-1], "histogramdd")
    if not isinstance(bins, int | list | tuple):
        raise TypeError(f"histogramdd(): argument 'bins' must be ints, not {type(bins).__name__}")
    counts = (bins,) * rank if isinstance(bins, int) else tuple(bins)
    if len(counts) != rank:
        raise RuntimeError(
            f"histogramdd: bins must have an entry for each of the {rank} coordinates of "
            f"input, not {len(counts)}"
        )
    for dim, count in enumerate(counts):
        if count <= 0:
            raise RuntimeError(
                f"torch.histogram(): bins must be > 0, but got {count} for dimension {dim}"
            )
    ends = () if range is None else tuple(float(each) for each in range)
    if ends and len(ends) != 2 * rank:
        raise RuntimeError(
            f"torch.histogramdd: for a {rank}-dimensional histogram range should have {2 * rank} "
            f"elements, but got {len(ends)}"
        )
    for dim, (low, high) in enumerate(zip(ends[::2], ends[1::2], strict=True)):
        if low > high:
            raise RuntimeError(
                f"torch.histogramdd: min should not exceed max, but got min {low} max {high} for "
                f"dimension {dim}"
            )
    return _histogramdd(input, [], weights, density, bins=counts, ends=ends)
