"""The order of the elements of arrays: all of them sorted, or the first few selected."""

from __future__ import annotations

import math
from typing import Any

import numpy


def sort_keys(x: Any) -> Any:
    """Unsigned integers in the order of the elements: equal for equal ones, NaN last."""
    if x.dtype.kind == "b":
        return x.astype(numpy.uint8)
    bits = numpy.dtype(f"u{x.dtype.itemsize}")
    top = bits.type(1 << (8 * x.dtype.itemsize - 1))
    if x.dtype.kind == "i":
        return x.view(bits) ^ top
    if x.dtype.kind == "u":
        return x
    keys = numpy.ascontiguousarray(x + 0).view(bits)  # adding 0 makes -0 equal to 0
    keys = numpy.where(keys & top, ~keys, keys | top)
    return numpy.where(numpy.isnan(x), numpy.iinfo(bits).max, keys)


def order_arrays(x: Any, dim: int, descending: bool) -> Any:
    """The indices that sort x along dim; equal elements stay in their order."""
    keys = numpy.moveaxis(sort_keys(x), dim, -1)
    if descending:
        keys = ~keys
    length = keys.shape[-1]
    if keys.dtype.itemsize <= 4 and length < 2**32:
        order = _sorted_pairs(keys, numpy.arange(length))
    else:
        order = numpy.argsort(keys, axis=-1, kind="stable")
    return numpy.moveaxis(order, -1, dim)


def _sorted_pairs(keys: Any, places: Any) -> Any:
    """Places of less than 2**32 in the order of keys of at most 32 bits, along the last axis, equal
    ones by their places: sorting numbers that hold both is faster than sorting indices, and stable.
    """
    pairs = (keys.astype(numpy.uint64) << numpy.uint64(32)) | places.astype(numpy.uint64)
    pairs.sort(axis=-1)
    return (pairs & numpy.uint64(0xFFFFFFFF)).astype(numpy.int64)


# ---------------------------------------------------------------- the first few


def largest_arrays(x: Any, k: int, dim: int, largest: bool) -> Any:
    """The indices of the k greatest (or least) elements along dim, in order, NaN being greatest;
    of equal elements the first.
    """
    length = x.shape[dim]
    if k * 8 > length:
        return numpy.take(order_arrays(x, dim, largest), range(k), dim)
    shape = (math.prod(x.shape[:dim]), length, math.prod(x.shape[dim + 1 :]))
    rows = numpy.ascontiguousarray(x).reshape(shape)
    chosen = _few(rows, k, largest) if k and rows.size else None
    if chosen is None:
        chosen = _partitioned(rows, k, largest)
    chosen = chosen.reshape(shape[0], shape[2], k).transpose(0, 2, 1)
    return chosen.reshape(*x.shape[:dim], k, *x.shape[dim + 1 :])


def _few(rows: Any, k: int, largest: bool) -> Any:
    """What ``largest_arrays`` finds in the middle axis, with k as the last one; None where too many
    elements are equal.

    At least k elements reach what k groups of them reach, so all others drop out. Most do; what
    remains is sorted.
    """
    bounds = _bounds(rows, k, largest)
    if rows.dtype.kind == "f" and numpy.isnan(bounds).any():
        rows = sort_keys(rows)
        bounds = _bounds(rows, k, largest)
    reached = (rows >= bounds if largest else rows <= bounds).transpose(0, 2, 1)
    found = numpy.flatnonzero(reached)
    outer, length, inner = rows.shape
    row, place = numpy.divmod(found, length)
    counts = numpy.bincount(row, minlength=outer * inner)
    most = int(counts.max())
    if most > 4 * k + 64:
        return None
    keys = sort_keys(rows[row // inner, place, row % inner])
    padded = numpy.full((len(counts), most), numpy.iinfo(keys.dtype).max, keys.dtype)
    places = numpy.full((len(counts), most), length)
    column = numpy.arange(len(found)) - (numpy.cumsum(counts) - counts)[row]
    padded[row, column] = ~keys if largest else keys
    places[row, column] = place
    if keys.dtype.itemsize <= 4 and length < 2**32:
        return _sorted_pairs(padded, places)[:, :k]
    order = numpy.lexsort((places, padded), axis=-1)[:, :k]
    return numpy.take_along_axis(places, order, -1)


def _bounds(rows: Any, k: int, largest: bool) -> Any:
    """For each place in the outer axes a number that at least k elements of the middle axis reach:
    the k-th of the extremes of groups. NaN where an element is that counts.
    """
    outer, length, inner = rows.shape
    groups = max(4 * k, min(length // 16, 4096))
    whole = length // groups * groups
    extreme = numpy.maximum if largest else numpy.minimum
    found = extreme.reduce(rows[:, :whole].reshape(outer, -1, groups, inner), axis=1)
    rest = rows[:, whole:]
    extreme(found[:, : length - whole], rest, out=found[:, : length - whole])
    position = groups - k if largest else k - 1
    bounds = numpy.partition(found, position, axis=1)[:, position : position + 1]
    if rows.dtype.kind == "f":
        bounds = numpy.where(numpy.isnan(found).any(axis=1, keepdims=True), numpy.nan, bounds)
    return bounds


def _partitioned(rows: Any, k: int, largest: bool) -> Any:
    """What ``largest_arrays`` finds in the middle axis, with k as the last one."""
    outer, length, inner = rows.shape
    if not k or not rows.size:
        return numpy.zeros((outer, inner, k), numpy.int64)
    keys = numpy.ascontiguousarray(sort_keys(rows).transpose(0, 2, 1))
    if largest:
        keys = ~keys
    last = numpy.partition(keys, k - 1, axis=-1)[..., k - 1 : k]
    before, equal = keys < last, keys == last
    wanted = k - numpy.count_nonzero(before, axis=-1, keepdims=True)
    chosen = before | equal & (numpy.cumsum(equal, axis=-1) <= wanted)
    places = numpy.flatnonzero(chosen).reshape(outer, inner, k) % length
    order = numpy.argsort(numpy.take_along_axis(keys, places, -1), axis=-1, kind="stable")
    return numpy.take_along_axis(places, order, -1)
