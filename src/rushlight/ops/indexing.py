"""The primitives that read and write at computed places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ..graph.symbols import same, same_shape
from ..graph.trace import Traced
from . import build
from .kind import Kind, Output, shifted, with_batch
from .kinds import Host, Indexing
from .record import primitive, unsupported

# ---------------------------------------------------------------- primitives along one dim


class IndexOutOfRange(IndexError, RuntimeError):
    """An index out of range: PyTorch raises the one or the other, depending on the operator."""


def places_along(index: Any, dim: int, size: int) -> tuple:
    """NumPy indices for torch's gather and scatter; IndexOutOfRange if one is."""
    wrong = (index < 0) | (index >= size)
    if wrong.any():
        raise IndexOutOfRange(
            f"index {index[wrong][0]} is out of bounds for dimension {dim} with size {size}"
        )
    places = list(numpy.indices(index.shape, sparse=True))
    places[dim] = index
    return tuple(places)


def _gather_arrays(x: Any, index: Any, dim: int) -> Any:
    return x[places_along(index, dim, x.shape[dim])] if index.ndim else x


def _scatter_arrays(x: Any, index: Any, source: Any, dim: int) -> Any:
    if not index.ndim:
        return source
    result = x.copy()
    result[places_along(index, dim, x.shape[dim])] = source
    return result


def _scatter_add_arrays(x: Any, index: Any, source: Any, dim: int) -> Any:
    if not index.ndim:
        return x + source
    result = x.copy()
    numpy.add.at(result, places_along(index, dim, x.shape[dim]), source)
    return result


def add_at_zeros(x: Traced, index: Traced, source: Traced, dim: int) -> Traced:
    """``scatter_add`` onto zeros of x's shape. With one index along dim no element is hit twice: a
    comparison will do.
    """
    others_same = same_shape(
        index.shape[:dim] + index.shape[dim + 1 :], x.shape[:dim] + x.shape[dim + 1 :]
    )
    if index.ndim and same(index.shape[dim], 1) and others_same:
        along = [size if each == dim else 1 for each, size in enumerate(x.shape)]
        position = build.reshape(build.iota(x.shape[dim]), along)
        return build.select_where(position == index, source, 0, source.dtype)
    return scatter_add_primitive.apply(build.full_like(x, 0, source.dtype), index, source, dim=dim)


@primitive(
    Indexing(1),
    name="gather",
    reference=_gather_arrays,
    transpose=(lambda g, x, index, dim: add_at_zeros(x, index, g, dim), None),
)
def gather_primitive(x, index, dim):
    """x at ``index`` along dim, elsewhere at the index's own place; both have one size there."""


def gather_at(x: Traced, index: Traced, dim: int) -> Traced:
    """The elements at ``index``, which may be smaller than x along the other dims too."""
    for each, size in enumerate(index.shape):
        if each != dim and not same(size, x.shape[each]):
            x = build.slice_(x, each, 0, 1, size)
    return gather_primitive.apply(x, index, dim=dim)


@primitive(
    Indexing(0),
    name="scatter",
    reference=_scatter_arrays,
    transpose=(
        lambda g, x, index, source, dim: scatter_primitive.apply(
            g, index, build.zeros_like(source), dim=dim
        ),
        None,
        lambda g, x, index, source, dim: gather_at(g, index, dim),
    ),
)
def scatter_primitive(x, index, source, dim):
    """x with the elements of source (shaped like index) at ``index`` along dim."""


@primitive(
    Indexing(0),
    name="scatter_add",
    reference=_scatter_add_arrays,
    transpose=(
        lambda g, x, index, source, dim: g,
        None,
        lambda g, x, index, source, dim: gather_at(g, index, dim),
    ),
)
def scatter_add_primitive(x, index, source, dim):
    """x with the elements of source (shaped like index) added at ``index`` along dim."""


def _scatter_multiply_arrays(x: Any, index: Any, source: Any, dim: int) -> Any:
    if not index.ndim:
        return x * source
    result = x.copy()
    numpy.multiply.at(result, places_along(index, dim, x.shape[dim]), source)
    return result


@primitive(
    Host(lambda environment, x, index, source, dim: [(x.dtype, tuple(x.shape), False)]),
    name="scatter_multiply",
    reference=_scatter_multiply_arrays,
    vjp=unsupported("the derivative for scatter with reduce='multiply' is not implemented"),
    jvp=unsupported("the derivative for scatter with reduce='multiply' is not implemented"),
    batch=unsupported("scatter with reduce='multiply' has no batching rule"),
)
def scatter_multiply_primitive(x, index, source, dim):
    """x with the elements of source (shaped like index) multiplied in at ``index`` along dim."""


# ---------------------------------------------------------------- primitives along several dims


def _adjacent(dims: Sequence[int]) -> bool:
    return list(dims) == list(range(dims[0], dims[0] + len(dims)))


def indexed_shape(x: Any, indices: Sequence[Any], dims: Sequence[int]) -> tuple[Any, ...]:
    """The shape of ``index``: the indices' shape in the place of dims if these are adjacent, else
    in front.
    """
    first = dims[0] if _adjacent(dims) else 0
    rest = [size for dim, size in enumerate(x.shape) if dim not in dims]
    return (*rest[:first], *indices[0].shape, *rest[first:])


def _index_places(x: Any, indices: Sequence[Any], dims: Sequence[int]) -> tuple:
    places: list[Any] = [slice(None)] * x.ndim
    for index, dim in zip(indices, dims, strict=True):
        size = x.shape[dim]
        wrong = (index < -size) | (index >= size)
        if wrong.any():
            raise IndexError(
                f"index {index[wrong][0]} is out of bounds for dimension {dim} with size {size}"
            )
        places[dim] = index
    return tuple(places)


def _index_arrays(x: Any, *indices: Any, dims: Sequence[int]) -> Any:
    return x[_index_places(x, indices, dims)]


def _index_put_arrays(
    x: Any, values: Any, *indices: Any, dims: Sequence[int], accumulate: bool
) -> Any:
    result = x.copy()
    places = _index_places(x, indices, dims)
    if accumulate:
        numpy.add.at(result, places, values)
    else:
        result[places] = values
    return result


def _batch_indices(
    x: Traced, indices: Sequence[Traced], batched: Sequence[bool], size: Any, dims: Sequence[int]
) -> tuple:
    """The indices and dims with the batch dim indexed too."""
    shape = next(
        index.shape[is_batched:] for index, is_batched in zip(indices, batched, strict=True)
    )
    rows = build.reshape(build.iota(size), (size, *[1] * len(shape)))
    full = (size, *shape)
    wide = [build.expand(index, full) for index in indices]
    return (build.expand(rows, full), *wide), (0, *shifted(tuple(dims)))


def _result_order(dims: Sequence[int], rank: int, index_rank: int) -> list[int]:
    """Where the dims of an unbatched result stand in the result of the batched primitive, which has
    the indices in front unless the indexed dims start the tensor.
    """
    first = dims[0] if _adjacent(dims) else 0
    rest = rank - len(dims)
    before = [1 + index_rank + dim for dim in range(first)]
    after = [1 + index_rank + dim for dim in range(first, rest)]
    return [0, *before, *range(1, 1 + index_rank), *after]


class _Index(Kind):
    """x, *indices; dims."""

    def infer(
        self, primitive: Any, inputs: Any, attributes: dict[str, Any], environment: Any
    ) -> list[Output]:
        x, *indices = inputs
        return [(x.dtype, indexed_shape(x, indices, attributes["dims"]), False)]

    def vjp(
        self, primitive: Any, inputs: Any, outputs: Any, gradients: Any, attributes: dict[str, Any]
    ) -> list:
        x, *indices = inputs
        (g,) = gradients
        zeros = build.full_like(x, 0, g.dtype)
        return [
            index_put_primitive.apply(zeros, g, *indices, dims=attributes["dims"], accumulate=True),
            *[None] * len(indices),
        ]

    def jvp(
        self, primitive: Any, inputs: Any, outputs: Any, tangents: Any, attributes: dict[str, Any]
    ) -> list:
        return [
            None if tangents[0] is None else primitive.apply(tangents[0], *inputs[1:], **attributes)
        ]

    def batch(
        self, primitive: Any, inputs: Any, batched: Any, size: Any, attributes: dict[str, Any]
    ) -> list:
        x, *indices = inputs
        dims = attributes["dims"]
        if not any(batched[1:]) and _adjacent(dims):
            return [primitive.apply(x, *indices, dims=shifted(tuple(dims)))]
        indices, wide_dims = _batch_indices(x, indices, batched[1:], size, dims)
        result = primitive.apply(with_batch(x, batched[0], size), *indices, dims=wide_dims)
        index_rank = indices[0].ndim - 1
        rank = x.ndim - batched[0]
        return [
            result
            if _adjacent(wide_dims)
            else build.permute(result, _result_order(dims, rank, index_rank))
        ]

    def missing(self, primitive: Any) -> list[str]:
        return []


class _IndexPut(Kind):
    """x, values, *indices; dims, accumulate."""

    def infer(
        self, primitive: Any, inputs: Any, attributes: dict[str, Any], environment: Any
    ) -> list[Output]:
        return [(inputs[0].dtype, tuple(inputs[0].shape), False)]

    def vjp(
        self, primitive: Any, inputs: Any, outputs: Any, gradients: Any, attributes: dict[str, Any]
    ) -> list:
        x, values, *indices = inputs
        (g,), dims = gradients, attributes["dims"]
        kept = g
        if not attributes["accumulate"]:
            kept = primitive.apply(
                g, build.full_like(values, 0, g.dtype), *indices, dims=dims, accumulate=False
            )
        return [kept, index_primitive.apply(g, *indices, dims=dims), *[None] * len(indices)]

    def jvp(
        self, primitive: Any, inputs: Any, outputs: Any, tangents: Any, attributes: dict[str, Any]
    ) -> list:
        x, values, *indices = inputs
        pair = [
            build.zeros_like(each) if t is None else t
            for t, each in zip(tangents, (x, values), strict=False)
        ]
        return [primitive.apply(*pair, *indices, **attributes)]

    def batch(
        self, primitive: Any, inputs: Any, batched: Any, size: Any, attributes: dict[str, Any]
    ) -> list:
        x, values, *indices = inputs
        dims = attributes["dims"]
        rank = x.ndim - batched[0]
        index_rank = indices[0].ndim - batched[2]
        indices, wide_dims = _batch_indices(x, indices, batched[2:], size, dims)
        values = with_batch(values, batched[1], size)
        if not _adjacent(wide_dims):
            order = _result_order(dims, rank, index_rank)
            values = build.permute(values, sorted(range(len(order)), key=order.__getitem__))
        return [
            primitive.apply(
                with_batch(x, batched[0], size),
                values,
                *indices,
                dims=wide_dims,
                accumulate=attributes["accumulate"],
            )
        ]

    def missing(self, primitive: Any) -> list[str]:
        return []


@primitive(_Index(), name="index", reference=_index_arrays)
def index_primitive(x, *indices, dims):
    """x at indices of one shape, which apply to ``dims``; negative ones count from the end."""


@primitive(_IndexPut(), name="index_put", reference=_index_put_arrays)
def index_put_primitive(x, values, *indices, dims, accumulate):
    """x with values at indices; they add up where an index is repeated if accumulate."""
