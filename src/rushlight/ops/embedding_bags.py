"""Sums, means and maxima of the rows of a table that bags of indices tell."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..graph.symbols import DataDependentError
from ..graph.trace import Traced
from ..layout import numel
from . import build
from .embeddings import add_rows, embedding, flat_index, limit_rows, row_number, rows_at
from .record import Selector, Tensor, composite, op
from .samples import Draw, calls
from .statistics import require_range


def _check(
    input: Traced, weight: Traced, offsets: Any, sample_weights: Any, mode: str, by_frequency: bool
) -> None:
    name = "embedding_bag"
    if sample_weights is not None and tuple(sample_weights.shape) != tuple(input.shape):
        raise ValueError(
            f"{name}: per_sample_weights must have the shape of input, {list(input.shape)}, "
            f"not {list(sample_weights.shape)}"
        )
    if weight.ndim != 2:
        raise ValueError(f"{name}: weight has to be a 2D Tensor, but it has {weight.ndim} dims")
    if input.ndim not in (1, 2):
        raise ValueError(f"{name}: input must be 1D or 2D, not {input.ndim}D")
    if input.ndim == 2 and offsets is not None:
        raise ValueError(
            f"{name}: offsets must be None where input is 2D, since each of its rows is a bag"
        )
    if input.ndim == 1 and (offsets is None or offsets.ndim != 1):
        raise ValueError(f"{name}: offsets has to be a 1D Tensor, as input is 1D")
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"{name}: mode must be 'sum', 'mean' or 'max', not {mode!r}")
    if mode == "max" and by_frequency:
        raise ValueError(f"{name}: mode='max' does not support scale_grad_by_freq")
    if sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            f"{name}: per_sample_weights goes with mode='sum' only, not mode='{mode}'"
        )
    _check_dtypes(input, weight, offsets, sample_weights)


def _check_dtypes(input: Traced, weight: Traced, offsets: Any, sample_weights: Any) -> None:
    for label, x in (("input", input), ("offsets", offsets)):
        if x is not None and x.dtype not in (dtypes.int64, dtypes.int32):
            raise RuntimeError(
                f"embedding_bag: expected {label} to be of type Long or Int, but got {x.dtype}"
            )
    if not weight.dtype.is_floating_point:
        raise RuntimeError(
            f"embedding_bag: expected weight to be floating point, but got {weight.dtype}"
        )
    if sample_weights is not None and sample_weights.dtype is not weight.dtype:
        raise RuntimeError(
            f"embedding_bag: expected weight ({weight.dtype}) and per_sample_weights "
            f"({sample_weights.dtype}) to have the same dtype"
        )


def _bags_of(offsets: Traced, count: Any, bags: Any) -> Traced:
    """The number of the bag that each of ``count`` indices lies in: how many begin before."""
    first = build.slice_(offsets, 0, 0, 1, 1)
    first = require_range(
        first,
        0,
        0,
        "embedding_bag: offsets[0] must be 0, so that the first bag starts where input does",
    )
    outside = require_range(
        build.convert((offsets < 0) | (offsets > count), build.INT64),
        0,
        0,
        "embedding_bag: offsets can not be negative or greater than the number of indices",
    )
    rest = build.slice_(offsets - outside, 0, 1, 1, offsets.shape[0] - 1)
    offsets = op.cat([first, rest])
    ones = build.full(offsets.shape, 1, build.INT64)
    zeros = build.full((count + 1, 1), 0, build.INT64)
    begun = op.cumsum(add_rows(zeros, offsets, build.insert_dim(ones, 1)), 0)
    return op.clamp_max(build.reshape(build.slice_(begun, 0, 0, 1, count), (count,)) - 1, bags - 1)


def _largest(rows: Traced, counted: Traced, bag: Traced, bags: Any) -> Traced:
    """The largest of the counted rows of each bag, the first among equals; zero for empty bags."""
    count, width = rows.shape
    place = build.expand(build.insert_dim(bag, 1), (count, width))
    shown = build.select_where(counted, op.detach(rows), -float("inf"), rows.dtype)
    lowest = build.full((bags, width), -float("inf"), rows.dtype)
    top = op.scatter_reduce(lowest, 0, place, shown, "amax")
    position = build.insert_dim(build.iota(count), 1)
    is_top = counted & ((shown == rows_at(top, bag)) | (shown != shown))
    candidates = build.select_where(is_top, position, count, build.INT64)
    none = build.full((bags, width), count, build.INT64)
    winner = op.scatter_reduce(none, 0, place, build.expand(candidates, rows.shape), "amin")
    padded = op.cat([rows, build.full((1, width), 0, rows.dtype)])
    return op.gather(padded, 0, winner)


_INDICES = Draw((6,), 0, 4, dtype=dtypes.int64)
_MATRIX = Draw((3, 2), 0, 4, dtype=dtypes.int64)
_ZERO = Draw((1,), 0, 1, dtype=dtypes.int64)


@composite(
    names=["nn.functional.embedding_bag"],
    methods=[],
    samples=calls(
        (_MATRIX, Draw((4, 5))),
        ((_MATRIX, Draw((4, 5))), {"mode": "max", "padding_idx": 1}),
        ((_MATRIX, Draw((4, 5))), {"mode": "sum", "per_sample_weights": Draw((3, 2))}),
        ((_INDICES, Draw((4, 5)), _ZERO), {"mode": "sum"}),
        ((_INDICES, Draw((4, 5)), _ZERO), {"padding_idx": 2}),
    ),
)
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets=None,
    max_norm: Selector = None,
    norm_type: Selector = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights=None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
):
    """The sum, mean or maximum of the rows of weight that the indices of each bag number.

    Args:
        input: indices; the rows of a matrix are bags, or the parts of a vector that offsets tell.
        weight: ``[rows, size]``.
        offsets: where bags begin in a vector of indices.
        max_norm: longer rows among these are first scaled down to it, in place.
        norm_type: the p of that norm.
        scale_grad_by_freq: whether gradients are divided by how often a row occurs.
        mode: "sum", "mean" or "max"; an empty bag gives zeros.
        sparse: not supported in backward passes.
        per_sample_weights: a factor for each index, where rows are summed.
        include_last_offset: whether the last offset is the end of the last bag.
        padding_idx: a row that does not count and gets no gradient.

    Returns:
        ``[bags, size]``.
    """
    _check(input, weight, offsets, per_sample_weights, mode, scale_grad_by_freq)
    if max_norm is not None:
        if isinstance(weight, Traced):
            raise DataDependentError(
                "embedding_bag with max_norm changes the rows that it finds in place, which cannot "
                "be traced"
            )
        limit_rows(weight, input, max_norm, norm_type)
        options = (mode, sparse, per_sample_weights, include_last_offset, padding_idx)
        return embedding_bag(input, weight, offsets, None, 2, scale_grad_by_freq, *options)
    padding = row_number(padding_idx, weight.shape[0], "embedding_bag")
    index = flat_index(input)
    rows = build.widened(embedding(index, weight, padding, None, 2.0, scale_grad_by_freq, sparse))
    column = build.insert_dim(index, 1)
    counted = column == column if padding is None else column != padding
    if per_sample_weights is not None:
        rows = rows * build.reshape(build.widened(per_sample_weights), (index.shape[0], 1))
    if mode != "max":
        rows = build.select_where(counted, rows, 0, rows.dtype)
    if input.ndim == 2:
        result = _even_bags(rows, counted, tuple(input.shape), mode)
    else:
        bags = offsets.shape[0] - (1 if include_last_offset else 0)
        result = _uneven_bags(rows, counted, offsets, bags, mode)
    return build.convert(result, weight.dtype)


def _even_bags(rows: Traced, counted: Traced, shape: tuple[Any, Any], mode: str) -> Traced:
    """Bags of equal lengths."""
    width = rows.shape[1]
    if mode == "max":
        row = build.expand(build.insert_dim(build.iota(shape[0]), 1), shape)
        bag = build.reshape(row, (numel(shape),))
        return _largest(rows, counted, bag, shape[0])
    total = build.reduce_sum(build.reshape(rows, (*shape, width)), (1,))
    total = build.reshape(total, (shape[0], width))
    if mode == "sum":
        return total
    counts = build.reduce_sum(build.convert(build.reshape(counted, shape), rows.dtype), (1,))
    return total / op.clamp_min(counts, 1)


def _uneven_bags(rows: Traced, counted: Traced, offsets: Traced, bags: Any, mode: str) -> Traced:
    """Bags that begin at offsets."""
    if bags <= 0 or numel(tuple(offsets.shape)) == 0:
        if bags < 0:
            raise RuntimeError(
                "embedding_bag: include_last_offset: number of offsets should be at least 1"
            )
        return build.full((0, rows.shape[1]), 0, rows.dtype)
    bag = _bags_of(build.convert(offsets, build.INT64), rows.shape[0], bags)
    if mode == "max":
        return _largest(rows, counted, bag, bags)
    zeros = build.full((bags, rows.shape[1]), 0, rows.dtype)
    total = add_rows(zeros, bag, rows)
    if mode == "sum":
        return total
    none = build.full((bags, 1), 0, rows.dtype)
    counts = add_rows(none, bag, build.convert(counted, rows.dtype))
    return total / op.clamp_min(counts, 1)
