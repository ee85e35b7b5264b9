"""The places of elements that are not zero: results whose size depends on data."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from ..layout import broadcast_shapes
from .kinds import Host
from .record import NONE, Size, Tensor, composite, op, primitive, unsupported
from .samples import Draw, calls


@primitive(
    Host(lambda environment, x: [(dtypes.int64, (len(x.shape), environment.unbacked()), False)]),
    names=["_nonzero_places"],
    methods=[],
    derivative=NONE,
    batch=unsupported("nonzero gives each example another number of rows, which vmap cannot stack"),
    reference=lambda x: (
        numpy.stack(numpy.nonzero(x)).astype(numpy.int64)
        if x.ndim
        else numpy.zeros((0, int(bool(x))), numpy.int64)
    ),
)
def nonzero_places(x):
    """The places of the elements that are not zero, one a column, in row-major order."""


# The bodies below use operators only, no primitives: the runtime runs them one by one, each with
# sizes known by then.


@composite(
    names=["nonzero"],
    out="same dtype",
    samples=calls(
        (Draw((3, 4), -1, 2),), ((Draw((5,), -1, 2),), {"as_tuple": True}), (Draw((0,)),)
    ),
)
def nonzero(input, *, as_tuple: bool = False):
    """The places of the elements that are not zero: a row for each, or a tensor for each dim."""
    if not as_tuple:
        return op.transpose(nonzero_places(input), 0, 1)
    places = nonzero_places(input if input.ndim else op.reshape(input, (1,)))
    return tuple(op.select(places, 0, dim) for dim in range(max(input.ndim, 1)))


def _first_places(x: Any, size: int, fill_value: int) -> Any:
    places = numpy.argwhere(x)[:size]
    result = numpy.full((size, x.ndim), fill_value, numpy.int64)
    result[: len(places)] = places
    return result


@primitive(
    Host(lambda environment, x, size, fill_value: [(dtypes.int64, (size, len(x.shape)), False)]),
    name="first_nonzero_places",
    derivative=NONE,
    batch=unsupported("nonzero_static has no batching rule"),
    reference=_first_places,
)
def first_nonzero_places(x, size, fill_value):
    """The places of the first ``size`` elements that are not zero, one a row; then fill_value."""


@composite(
    names=["nonzero_static"],
    out="same dtype",
    samples=calls(((Draw((3, 4), -1, 2),), {"size": 5}), ((Draw((3,)),), {"size": 7})),
)
def nonzero_static(input: Tensor, *, size: Size, fill_value: int = -1):
    """The places of the first ``size`` elements that are not zero, one a row; rows for which there
    is no such element are filled with fill_value.
    """
    if size < 0:
        raise RuntimeError(
            f"nonzero_static: 'size' must be an non-negative integer, but it is {size}"
        )
    return first_nonzero_places.apply(input, size=size, fill_value=fill_value)


@composite(names=["argwhere"], samples=calls((Draw((3, 4), -1, 2),)))
def argwhere(input):
    """The places of the elements that are not zero, one a row."""
    return nonzero(input)


_MASKS = (Draw((2, 3), 0, 2, dtype=dtypes.bool), Draw((2, 1), 0, 2, dtype=dtypes.bool))


@composite(
    names=["masked_select"],
    out="exact",
    samples=calls((Draw((2, 3)), _MASKS[0]), (Draw((3,)), _MASKS[1])),
)
def masked_select(input: Tensor, mask: Tensor):
    """The elements where the mask is true, in one dim."""
    if mask.dtype is not dtypes.bool:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = broadcast_shapes([tuple(input.shape), tuple(mask.shape)], "masked_select")
    input, mask = (op.ravel(op.broadcast_to(x, shape)) for x in (input, mask))
    (places,) = nonzero(mask, as_tuple=True)
    return op.index_select(input, 0, places)
