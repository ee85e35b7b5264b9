"""Functions that write into a part of a tensor: slice_scatter, select_scatter; strided views."""

from __future__ import annotations

from typing import Any

import numpy

from ..graph.trace import Traced
from ..layout import normalize_dim
from . import build
from .checks import require_slice
from .indexing import index_primitive
from .kind import Output
from .kinds import Together
from .parts import select_dim, slice_dim
from .record import Size, composite, op, primitive
from .samples import Draw, calls


class Region(Together):
    """``whole`` with the slice ``start + i*step`` along ``dim`` replaced by ``part``; linear in
    both.
    """

    def infer(
        self, primitive: Any, inputs: Any, attributes: dict[str, Any], environment: Any
    ) -> list[Output]:
        return [(inputs[0].dtype, tuple(inputs[0].shape), False)]


def _scatter_arrays(whole: Any, part: Any, dim: int, start: int, step: int) -> Any:
    result = whole.copy()
    place: list[Any] = [slice(None)] * whole.ndim
    place[dim] = start + step * numpy.arange(part.shape[dim])
    result[tuple(place)] = part
    return result


def _whole_gradient(g: Traced, whole: Traced, part: Traced, dim: int, start: Any, step: Any) -> Any:
    zeros = build.full(part.shape, 0, g.dtype)
    return slice_scatter_primitive.apply(g, zeros, dim=dim, start=start, step=step)


@primitive(
    Region(),
    name="slice_scatter",
    transpose=(
        _whole_gradient,
        lambda g, whole, part, dim, start, step: build.slice_(g, dim, start, step, part.shape[dim]),
    ),
    reference=_scatter_arrays,
)
def slice_scatter_primitive(whole, part, dim, start, step):
    """A tensor with one of its slices replaced."""


@composite(
    names=["slice_scatter"],
    out="same dtype",
    samples=calls(
        (Draw((4, 3)), Draw((2, 3)), 0, 1, 3),
        (Draw((4, 3)), Draw((4, 2)), 1, 0, 3, 2),
        (Draw((4,)), Draw((4,))),
    ),
)
def slice_scatter(input, src, dim: int = 0, start: Size = None, end: Size = None, step: Size = 1):
    """The tensor with a slice along dim replaced by src."""
    dim = normalize_dim(dim, input.ndim)
    target = slice_dim(input, dim, start, end, step)
    require_slice("slice_scatter", src, target.shape)
    size = input.shape[dim]
    first = 0 if start is None else start + size if start < 0 else start
    first = size if first > size else 0 if first < 0 else first
    part = build.convert(src, input.dtype)
    return slice_scatter_primitive.apply(input, part, dim=dim, start=first, step=step)


@composite(names=["select_scatter"], samples=calls((Draw((4, 3)), Draw((3,)), 0, 1)))
def select_scatter(input, src, dim: int, index: Size):
    """The tensor with one index along dim replaced by src."""
    dim = normalize_dim(dim, input.ndim)
    target = select_dim(input, dim, index, "select_scatter")
    require_slice("select_scatter", src, target.shape)
    first = index + input.shape[dim] if index < 0 else index
    part = build.insert_dim(build.convert(src, input.dtype), dim)
    return slice_scatter_primitive.apply(input, part, dim=dim, start=first, step=1)


@composite(
    names=["as_strided"],
    views="input",
    samples=calls((Draw((6,)), (2, 2), (1, 2)), (Draw((3, 4)), (2, 3), (1, 2), 1)),
)
def as_strided(input, size: Size, stride: Size, storage_offset: Size = 0):
    """A view with any sizes and strides (in elements) of the tensor's memory, here taken as
    contiguous.
    """
    flat = op.reshape(input, (-1,))
    shape = tuple(size)
    places = build.full(shape, 0, build.INT64) + storage_offset
    for dim, (length, step) in enumerate(zip(size, stride, strict=True)):
        along = [length if each == dim else 1 for each in range(len(shape))]
        places = places + build.reshape(build.iota(length), along) * step
    return index_primitive.apply(flat, build.expand(places, shape), dims=(0,))
