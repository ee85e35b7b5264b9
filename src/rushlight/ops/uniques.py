"""Distinct elements: unique, unique_consecutive, isin."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from ..graph.trace import Traced
from ..layout import normalize_dim, numel
from ..promotion import scalar_type_name
from . import build
from .arithmetic import computed_dtype
from .kinds import Host, with_batch
from .orders import order_arrays, sort_keys
from .record import NONE, Operand, Tensor, composite, op, primitive, unsupported
from .samples import Draw, calls
from .sorting import refuse


def _rows(x: Any, dim: int | None) -> Any:
    """What is compared: the elements, or the slices along dim, as rows of keys."""
    keys = numpy.ascontiguousarray(sort_keys(x))
    if dim is None:
        return keys.reshape(-1, 1)
    count = x.shape[dim]
    return numpy.moveaxis(keys, dim, 0).reshape(count, keys.size // max(count, 1))


def _unique_arrays(x: Any, dim: int | None, ordered: bool) -> Any:
    rows = _rows(x, dim)
    count = rows.shape[0]
    if not ordered or rows.shape[1] == 0:
        order = numpy.arange(count)
    elif rows.shape[1] == 1:
        order = order_arrays(rows[:, 0], 0, False)
    else:
        order = numpy.lexsort(rows.T[::-1])
    arranged = rows[order]
    starts = numpy.ones(count, bool)
    starts[1:] = (arranged[1:] != arranged[:-1]).any(axis=1)
    if x.dtype.kind == "f":  # NaN differs from NaN
        nans = numpy.isnan(x)
        nans = nans.reshape(-1) if dim is None else numpy.moveaxis(nans, dim, 0).reshape(rows.shape)
        starts |= nans[order] if nans.ndim == 1 else nans[order].any(axis=1)
    inverse = numpy.empty(count, numpy.int64)
    inverse[order] = numpy.cumsum(starts) - 1
    counts = numpy.diff(numpy.append(numpy.flatnonzero(starts), count))
    return order[starts].astype(numpy.int64), inverse, counts.astype(numpy.int64)


def _unique_outputs(environment: Any, x: Any, dim: int | None, ordered: bool) -> list:
    found = environment.unbacked()
    total = numel(tuple(x.shape)) if dim is None else x.shape[dim]
    return [
        (dtypes.int64, (found,), False),
        (dtypes.int64, (total,), False),
        (dtypes.int64, (found,), False),
    ]


@primitive(
    Host(_unique_outputs),
    names=["_unique_places"],
    methods=[],
    derivative=NONE,
    batch=unsupported("unique gives each example another size, which vmap cannot stack"),
    reference=_unique_arrays,
)
def unique_places(x, dim: int | None, ordered: bool):
    """The places of the distinct elements (or slices along dim) in order, which of them each is
    equal to, and how many are equal.
    """


# The bodies below use operators only, no primitives: the runtime runs them one by one, each with
# sizes known by then.


def _distinct(
    input: Any, dim: int | None, ordered: bool, want_inverse: bool, want_counts: bool, name: str
) -> Any:
    refuse(name, input)
    shape = tuple(input.shape)
    if dim is not None:
        dim = normalize_dim(dim, input.ndim)
        if not input.ndim:
            raise IndexError(f"{name}: dim={dim} is given, but input has no dimensions")
        if shape[dim] != 0 and 0 in shape:
            raise RuntimeError(
                f"{name}: slices along dim {dim} of input of shape {list(shape)} cannot be "
                "told apart, as they are empty"
            )
    input = op.detach(input)
    places, inverse, counts = unique_places(input, dim, ordered)
    if dim is None:
        values = op.index_select(op.ravel(input), 0, places)
        inverse = op.reshape(inverse, shape)
    else:
        values = op.index_select(input, dim, places)
    results = [values, *([inverse] if want_inverse else []), *([counts] if want_counts else [])]
    return results[0] if len(results) == 1 else tuple(results)


_SAMPLES = calls(
    (Draw((3, 4), 0, 4),),
    ((Draw((8,), 0, 4),), {"return_inverse": True, "return_counts": True}),
    ((Draw((6, 2), 0, 2),), {"dim": 0, "return_counts": True}),
    (Draw((0,)),),
)


@composite(names=["unique"], samples=_SAMPLES)
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
):
    """The distinct elements, or slices along dim, in order; on request which of them each element
    is, and how many there are of each.
    """
    return _distinct(input, dim, True, return_inverse, return_counts, "unique")


@composite(names=["unique_consecutive"], samples=_SAMPLES)
def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
):
    """The elements, or slices along dim, without those that equal the one before."""
    return _distinct(input, dim, False, return_inverse, return_counts, "unique")


# ---------------------------------------------------------------- membership


def _is_in_batch(inputs: Any, batched: Any, size: Any, attributes: Any) -> list:
    elements, tests = inputs
    if not batched[1]:
        return [is_in_primitive.apply(elements, tests, **attributes)]
    elements = with_batch(elements, batched[0], size)
    wide = build.reshape(elements, (*elements.shape, 1))
    flat = build.reshape(tests, (size, *[1] * (elements.ndim - 1), numel(tuple(tests.shape[1:]))))
    found = op.any(wide == flat, -1)
    return [~found if attributes["invert"] else found]


@primitive(
    Host(
        lambda environment, elements, tests, invert: [(dtypes.bool, tuple(elements.shape), False)]
    ),
    name="is_in",
    derivative=NONE,
    batch=_is_in_batch,
    reference=lambda elements, tests, invert: numpy.isin(elements, tests, invert=invert),
)
def is_in_primitive(elements, tests, invert):
    """Whether each element is among tests."""


@composite(
    names=["isin"],
    methods=[],
    out="same dtype",
    samples=calls(
        (Draw((3, 4), 0, 6), Draw((3,), 0, 6)),
        ((Draw((2, 3), 0, 6), Draw((20,), 0, 6)), {"invert": True}),
    ),
)
def isin(
    elements: Operand, test_elements: Operand, *, assume_unique: bool = False, invert: bool = False
):
    """Whether each element is among the test elements."""
    dtype = computed_dtype(elements, test_elements)
    for each in (elements, test_elements):
        if isinstance(each, Traced) and (each.dtype.is_complex or each.dtype is dtypes.bool):
            raise RuntimeError(
                f"Unsupported input type encountered for isin(): {scalar_type_name(each.dtype)}"
            )
    context = build.context_of((elements, test_elements))
    elements, test_elements = (
        build.convert(build.lift(each, context), dtype) for each in (elements, test_elements)
    )
    return is_in_primitive.apply(elements, test_elements, invert=invert)
