"""Reading and writing at computed places: gather, scatter, index_select and their like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .. import dtypes
from ..graph.symbols import same, same_shape
from ..graph.trace import Traced
from ..layout import broadcast_shapes, normalize_dim, numel
from . import build
from .kinds import Host, Indexing, Kind, Output, shifted, with_batch
from .record import NONE, Operand, composite, op, primitive, unsupported
from .samples import Draw, calls

# ---------------------------------------------------------------- primitives along one dim


class IndexOutOfRange(IndexError, RuntimeError):
    """An index out of range: PyTorch raises the one or the other, depending on the operator."""


def _places(index: Any, dim: int, size: int) -> tuple:
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
    return x[_places(index, dim, x.shape[dim])] if index.ndim else x


def _scatter_arrays(x: Any, index: Any, source: Any, dim: int) -> Any:
    if not index.ndim:
        return source
    result = x.copy()
    result[_places(index, dim, x.shape[dim])] = source
    return result


def _scatter_add_arrays(x: Any, index: Any, source: Any, dim: int) -> Any:
    if not index.ndim:
        return x + source
    result = x.copy()
    numpy.add.at(result, _places(index, dim, x.shape[dim]), source)
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
    numpy.multiply.at(result, _places(index, dim, x.shape[dim]), source)
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


# ---------------------------------------------------------------- data-dependent sizes


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
    out=True,
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
def masked_select(input, mask):
    """The elements where the mask is true, in one dim."""
    if mask.dtype is not dtypes.bool:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = broadcast_shapes([tuple(input.shape), tuple(mask.shape)], "masked_select")
    input, mask = (op.ravel(op.broadcast_to(x, shape)) for x in (input, mask))
    (places,) = nonzero(mask, as_tuple=True)
    return op.index_select(input, 0, places)


# ---------------------------------------------------------------- operators along one dim


def _check_index(name: str, input: Traced, dim: int, index: Traced, source: Any = None) -> None:
    if numel(index.shape) == 0:
        return
    if index.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(
            f"{name}(): Expected dtype int32 or int64 for index, but got {index.dtype}"
        )
    if max(index.ndim, 1) != max(input.ndim, 1):
        raise RuntimeError(
            "Index tensor must have the same number of dimensions as self tensor: "
            f"{list(index.shape)} and {list(input.shape)} "
            f"(in {name})"
        )
    if isinstance(source, Traced) and source.shape and max(source.ndim, 1) != max(index.ndim, 1):
        raise RuntimeError(
            "Index tensor must have the same number of dimensions as src tensor: "
            f"{list(index.shape)} and {list(source.shape)} (in {name})"
        )
    for each in range(index.ndim):
        if input.ndim and each != dim and index.shape[each] > input.shape[each]:
            raise RuntimeError(
                f"Size does not match at dimension {each} expected index {list(index.shape)} to "
                "be no larger than self "
                f"{list(input.shape)} apart from dimension {dim} (in {name})"
            )
        if isinstance(source, Traced) and source.ndim and index.shape[each] > source.shape[each]:
            raise RuntimeError(
                f"Expected index {list(index.shape)} to be no larger than src "
                f"{list(source.shape)} (in {name})"
            )


def _as_index(index: Traced) -> Traced:
    return build.convert(index, dtypes.int64)


def _one_dim(x: Traced) -> Traced:
    return x if x.ndim else build.reshape(x, (1,))


_INDEX = Draw((2, 3), 0, 2, dtype=dtypes.int64)


@composite(
    names=["gather"],
    out="exact",
    onnx="GatherElements",
    samples=calls(
        (Draw((2, 3)), 0, _INDEX),
        (Draw((2, 5)), 1, _INDEX),
        (Draw((4, 5)), -1, _INDEX),
        (Draw(()), 0, Draw((), 0, 1, dtype=dtypes.int64)),
    ),
)
def gather(input, dim: int, index, *, sparse_grad: bool = False):
    """The elements at ``index`` along dim."""
    dim = normalize_dim(dim, input.ndim)
    _check_index("gather", input, dim, index)
    if numel(index.shape) == 0:
        flat = build.reshape(input, (numel(input.shape),))
        return build.reshape(build.slice_(flat, 0, 0, 1, 0), index.shape)
    result = gather_at(_one_dim(input), _as_index(_one_dim(index)), dim)
    return build.reshape(result, index.shape)


def _scatter(name: str, record: Any, input: Traced, dim: int, index: Traced, source: Any) -> Traced:
    dim = normalize_dim(dim, input.ndim)
    _check_index(name, input, dim, index, source)
    if isinstance(source, Traced) and not source.weak and source.dtype is not input.dtype:
        raise RuntimeError(
            f"{name}(): Expected self.dtype to be equal to src.dtype, got {input.dtype} and "
            f"{source.dtype}"
        )
    if numel(index.shape) == 0:
        return input
    index = _as_index(_one_dim(index))
    if build.is_number(source):
        number = build.fitting(source, input.dtype, input.context)
        source = build.full(index.shape, number, input.dtype)
    source = _one_dim(source)
    for each in range(source.ndim):
        if not same(source.shape[each], index.shape[each]):
            source = build.slice_(source, each, 0, 1, index.shape[each])
    return build.reshape(record.apply(_one_dim(input), index, source, dim=dim), input.shape)


@composite(
    names=["scatter"],
    inplace=True,
    out=True,
    onnx="ScatterElements",
    samples=calls(
        (Draw((4, 3)), 0, Draw((1, 3), 0, 4, dtype=dtypes.int64), Draw((2, 3))),
        (Draw((2, 5)), 1, Draw((2, 1), 0, 5, dtype=dtypes.int64), 2.0),
    ),
)
def scatter(input, dim: int, index, src=None, *, value: Operand = None, reduce: str | None = None):
    """input with the elements of src (or one number) at ``index`` along dim."""
    source = src if value is None else value
    if source is None:
        raise TypeError("scatter(): give src or value")
    if reduce is None:
        return _scatter("scatter", scatter_primitive, input, dim, index, source)
    if reduce == "add":
        return _scatter("scatter", scatter_add_primitive, input, dim, index, source)
    if reduce == "multiply":
        return _scatter("scatter", scatter_multiply_primitive, input, dim, index, source)
    raise RuntimeError("reduce argument must be either add or multiply. (in scatter)")


@composite(
    names=["scatter_add"],
    inplace=True,
    out=True,
    samples=calls(
        (Draw((4, 3)), 0, Draw((2, 3), 0, 4, dtype=dtypes.int64), Draw((2, 3))),
        (Draw((2, 3)), 1, _INDEX, Draw((2, 3))),
    ),
)
def scatter_add(input, dim: int, index, src):
    """input with the elements of src added at ``index`` along dim."""
    return _scatter("scatter_add", scatter_add_primitive, input, dim, index, src)


def expand_index(index: Traced, shape: Sequence[Any], dim: int) -> Traced:
    """A 1-d index along dim, repeated along the other dims."""
    along = build.reshape(
        index, [index.shape[0] if each == dim else 1 for each in range(len(shape))]
    )
    return build.expand(
        along, [index.shape[0] if each == dim else size for each, size in enumerate(shape)]
    )


def _vector_index(name: str, index: Traced) -> Traced:
    if index.ndim > 1:
        raise IndexError(
            f"{name}(): Index is supposed to be a vector, but got shape {list(index.shape)}"
        )
    if index.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(
            f"{name}(): Expected dtype int32 or int64 for index, but got {index.dtype}"
        )
    return _as_index(_one_dim(index))


@composite(
    names=["index_select"],
    out=True,
    onnx="Gather",
    samples=calls(
        (Draw((4, 3)), 0, Draw((5,), 0, 4, dtype=dtypes.int64)),
        (Draw((4, 3)), 1, Draw((2,), 0, 3, dtype=dtypes.int32)),
    ),
)
def index_select(input, dim: int, index):
    """The positions in a 1-d index along dim."""
    dim = normalize_dim(dim, input.ndim)
    index = _vector_index("index_select", index)
    if not input.ndim:
        return build.reshape(gather_primitive.apply(_one_dim(input), index, dim=0), ())
    return gather_primitive.apply(input, expand_index(index, input.shape, dim), dim=dim)


@composite(
    names=["index_add"],
    inplace=True,
    out=True,
    samples=calls((Draw((4, 3)), 0, Draw((2,), 0, 4, dtype=dtypes.int64), Draw((2, 3)))),
)
def index_add(input, dim: int, index, source, *, alpha: Operand = 1):
    """input with alpha * source added at the positions of a 1-d index along dim."""
    dim = normalize_dim(dim, input.ndim)
    rest = [tuple(x.shape[:dim]) + tuple(x.shape[dim + 1 :]) for x in (input, source)]
    if max(source.ndim, 1) != max(input.ndim, 1) or rest[0] != rest[1]:
        raise RuntimeError(
            "index_add(): source tensor shape must match self tensor shape, excluding the specified "
            f"dimension. Got self.shape = {list(input.shape)} source.shape = {list(source.shape)}"
        )
    return _at_positions(
        "index_add", scatter_add_primitive, input, dim, index, build.scaled(source, alpha)
    )


@composite(
    names=["index_copy"],
    inplace=True,
    out=True,
    samples=calls((Draw((4, 3)), 0, Draw((1,), 0, 4, dtype=dtypes.int64), Draw((1, 3)))),
)
def index_copy(input, dim: int, index, source):
    """input with source at the positions of a 1-d index along dim."""
    return _at_positions("index_copy", scatter_primitive, input, dim, index, source)


@composite(
    names=["index_fill"],
    inplace=True,
    samples=calls((Draw((4, 3)), 0, Draw((2,), 0, 4, dtype=dtypes.int64), 2.0)),
)
def index_fill(input, dim: int, index, value: Operand):
    """input with one value at the positions of a 1-d index along dim; negative ones count from the
    end.
    """
    if isinstance(value, Traced) and value.shape:
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    dim = normalize_dim(dim, input.ndim)
    index = _vector_index("index_fill", index)
    size = _one_dim(input).shape[dim]
    hit = index_put_primitive.apply(
        build.full((size,), False, dtypes.bool),
        build.full(index.shape, True, dtypes.bool),
        index,
        dims=(0,),
        accumulate=False,
    )
    along = [size if each == dim else 1 for each in range(input.ndim)]
    value = build.fitting(value, input.dtype, input.context)
    return build.select_where(build.reshape(hit, along), value, input, input.dtype)


def _at_positions(
    name: str, record: Any, input: Traced, dim: int, index: Traced, source: Traced
) -> Traced:
    """input with source at the positions of a 1-d index along dim."""
    dim = normalize_dim(dim, input.ndim)
    index = _vector_index(name, index)
    if not input.ndim and index.shape[0] != 1 and name == "index_add":
        raise IndexError("Dimension specified as 0 but tensor has no dimensions (in index_add)")
    whole = _one_dim(input)
    index = expand_index(index, whole.shape, dim)
    if not source.ndim and (not input.ndim or name == "index_fill"):
        source = build.expand(source, index.shape)
    return build.reshape(_scatter(name, record, whole, dim, index, source), input.shape)


@composite(
    names=["take_along_dim"],
    out=True,
    samples=calls((Draw((2, 5)), _INDEX, 1)),
)
def take_along_dim(input, indices, dim: int | None = None):
    """The elements at indices along dim, both broadcast elsewhere; negative ones count from the
    end.
    """
    if dim is None:
        input, indices, dim = op.flatten(input), op.flatten(indices), 0
    dim = normalize_dim(dim, input.ndim)
    if input.ndim != indices.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of "
            f"dimensions, but got {input.ndim} "
            f"dimensions for input, and {indices.ndim} dimensions for indices"
        )
    lead = [
        a if d == dim else broadcast_shapes([(a,), (b,)], "take_along_dim")[0]
        for d, (a, b) in enumerate(zip(input.shape, indices.shape, strict=True))
    ]
    input = build.expand(input, lead)
    lead[dim] = indices.shape[dim]
    indices = build.expand(_as_index(indices), lead)
    return gather(input, dim, op.where(indices < 0, indices + input.shape[dim], indices))
