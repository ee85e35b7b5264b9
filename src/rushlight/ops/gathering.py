"""Reading and writing along one dim at computed places: gather, scatter, index_select."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..graph.symbols import same
from ..graph.trace import Traced
from ..layout import broadcast_shapes, normalize_dim, numel
from . import build
from .checks import require_rest, require_same_rank, require_single_value
from .expanded_writes import places_of, warn_expanded
from .indexing import (
    gather_at,
    gather_primitive,
    index_put_primitive,
    scatter_add_primitive,
    scatter_multiply_primitive,
    scatter_primitive,
)
from .record import Operand, Tensor, composite, op
from .samples import Draw, calls


def check_index(name: str, input: Traced, dim: int, index: Traced, source: Any = None) -> None:
    if numel(index.shape) == 0:
        return
    if index.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(
            f"{name}(): Expected dtype int32 or int64 for index, but got {index.dtype}"
        )
    if max(index.ndim, 1) != max(input.ndim, 1):
        raise RuntimeError(
            f"{name}: index of shape {list(index.shape)} must have as many dimensions as "
            f"input, {list(input.shape)}"
        )
    if isinstance(source, Traced) and source.shape and max(source.ndim, 1) != max(index.ndim, 1):
        raise RuntimeError(
            f"{name}: index of shape {list(index.shape)} must have as many dimensions as src, "
            f"{list(source.shape)}"
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


def one_dim(x: Traced) -> Traced:
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
def gather(input, dim: int, index: Tensor, *, sparse_grad: bool = False):
    """The elements at ``index`` along dim."""
    dim = normalize_dim(dim, input.ndim)
    check_index("gather", input, dim, index)
    if numel(index.shape) == 0:
        flat = build.reshape(input, (numel(input.shape),))
        return build.reshape(build.slice_(flat, 0, 0, 1, 0), index.shape)
    result = gather_at(one_dim(input), _as_index(one_dim(index)), dim)
    return build.reshape(result, index.shape)


def _scatter(name: str, record: Any, input: Traced, dim: int, index: Traced, source: Any) -> Traced:
    dim = normalize_dim(dim, input.ndim)
    check_index(name, input, dim, index, source)
    if isinstance(source, Traced) and not source.weak and source.dtype is not input.dtype:
        raise RuntimeError(
            f"{name}(): Expected self.dtype to be equal to src.dtype, got {input.dtype} and "
            f"{source.dtype}"
        )
    if numel(index.shape) == 0:
        return input
    index = _as_index(one_dim(index))
    if build.is_number(source):
        number = build.fitting(source, input.dtype, input.context)
        source = build.full(index.shape, number, input.dtype)
    source = one_dim(source)
    for each in range(source.ndim):
        if not same(source.shape[each], index.shape[each]):
            source = build.slice_(source, each, 0, 1, index.shape[each])
    return build.reshape(record.apply(one_dim(input), index, source, dim=dim), input.shape)


@composite(
    names=["scatter"],
    inplace=True,
    out="same dtype",
    onnx="ScatterElements",
    samples=calls(
        (Draw((4, 3)), 0, Draw((1, 3), 0, 4, dtype=dtypes.int64), Draw((2, 3))),
        (Draw((2, 5)), 1, Draw((2, 1), 0, 5, dtype=dtypes.int64), 2.0),
    ),
)
def scatter(
    input, dim: int, index: Tensor, src=None, *, value: Operand = None, reduce: str | None = None
):
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
    out="same dtype",
    samples=calls(
        (Draw((4, 3)), 0, Draw((2, 3), 0, 4, dtype=dtypes.int64), Draw((2, 3))),
        (Draw((2, 3)), 1, _INDEX, Draw((2, 3))),
    ),
)
def scatter_add(input, dim: int, index: Tensor, src: Tensor):
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


def vector_index(name: str, index: Traced) -> Traced:
    if index.ndim > 1:
        raise IndexError(f"{name}(): index must be a vector, but its shape is {list(index.shape)}")
    if index.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(
            f"{name}(): Expected dtype int32 or int64 for index, but got {index.dtype}"
        )
    return _as_index(one_dim(index))


@composite(
    names=["index_select"],
    out="same dtype",
    onnx="Gather",
    samples=calls(
        (Draw((4, 3)), 0, Draw((5,), 0, 4, dtype=dtypes.int64)),
        (Draw((4, 3)), 1, Draw((2,), 0, 3, dtype=dtypes.int32)),
    ),
)
def index_select(input, dim: int, index: Tensor):
    """The positions in a 1-d index along dim."""
    dim = normalize_dim(dim, input.ndim)
    index = vector_index("index_select", index)
    if not input.ndim:
        return build.reshape(gather_primitive.apply(one_dim(input), index, dim=0), ())
    return gather_primitive.apply(input, expand_index(index, input.shape, dim), dim=dim)


@composite(
    names=["index_add"],
    inplace=True,
    out="same dtype",
    samples=calls((Draw((4, 3)), 0, Draw((2,), 0, 4, dtype=dtypes.int64), Draw((2, 3)))),
)
def index_add(input, dim: int, index: Tensor, source: Tensor, *, alpha: Operand = 1):
    """input with alpha * source added at the positions of a 1-d index along dim."""
    dim = normalize_dim(dim, input.ndim)
    require_rest("index_add()", input, source, dim)
    return _at_positions(
        "index_add", scatter_add_primitive, input, dim, index, build.scaled(source, alpha)
    )


@composite(
    names=["index_copy"],
    inplace=True,
    out="same dtype",
    samples=calls((Draw((4, 3)), 0, Draw((1,), 0, 4, dtype=dtypes.int64), Draw((1, 3)))),
)
def index_copy(input, dim: int, index: Tensor, source: Tensor):
    """input with source at the positions of a 1-d index along dim."""
    return _at_positions("index_copy", scatter_primitive, input, dim, index, source)


def _index_fill_expanded(self: Any, dim: int, index: Any, value: Any) -> Any:
    warn_expanded("index_fill_")
    places, repeated = places_of(self)
    if index.dtype is dtypes.int64 and index.ndim < 2 and normalize_dim(dim, self.ndim) in repeated:
        zeros = op.zeros((self.shape[dim],), dtype=index.dtype)
        index = zeros[index]  # all are the one place; indexing checks them
    places.index_fill_(dim, index, value)
    return self


@composite(
    names=["index_fill"],
    inplace=True,
    expanded=_index_fill_expanded,
    samples=calls((Draw((4, 3)), 0, Draw((2,), 0, 4, dtype=dtypes.int64), 2.0)),
)
def index_fill(input, dim: int, index: Tensor, value: Operand):
    """input with one value at the positions of a 1-d index along dim; negative ones count from the
    end.
    """
    require_single_value("index_fill_", value)
    if build.lift(value, input.context, "index_fill").dtype.is_complex > input.dtype.is_complex:
        raise RuntimeError(
            f"index_fill_(): a complex value does not fit into {input.dtype}; take its .real"
        )
    dim = normalize_dim(dim, input.ndim)
    index = vector_index("index_fill", index)
    size = one_dim(input).shape[dim]
    if any(same(extent, 0) for each, extent in enumerate(input.shape) if each != dim):
        return input  # where nothing is written no index is looked at
    hit = index_put_primitive.apply(
        build.full((size,), False, dtypes.bool),
        build.full(index.shape, True, dtypes.bool),
        index,
        dims=(0,),
        accumulate=False,
    )
    along = [size if each == dim else 1 for each in range(input.ndim)]
    value = build.fitting(value, input.dtype, input.context)
    result = build.select_where(build.reshape(hit, along), value, input, input.dtype)
    return build.laid_out_like(result, input)


def _at_positions(
    name: str, record: Any, input: Traced, dim: int, index: Traced, source: Traced
) -> Traced:
    """input with source at the positions of a 1-d index along dim."""
    dim = normalize_dim(dim, input.ndim)
    index = vector_index(name, index)
    if not input.ndim and index.shape[0] != 1 and name == "index_add":
        raise IndexError(f"index_add: a 0-dimensional input takes one index, not {index.shape[0]}")
    whole = one_dim(input)
    index = expand_index(index, whole.shape, dim)
    if not source.ndim and not input.ndim:
        source = build.expand(source, index.shape)
    return build.reshape(_scatter(name, record, whole, dim, index, source), input.shape)


@composite(
    names=["take_along_dim"],
    out="same dtype",
    samples=calls((Draw((2, 5)), _INDEX, 1)),
)
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None):
    """The elements at indices along dim, both broadcast elsewhere; negative ones count from the
    end.
    """
    if dim is None:
        input, indices, dim = op.flatten(input), op.flatten(indices), 0
    dim = normalize_dim(dim, input.ndim)
    require_same_rank("take_along_dim", input=input, indices=indices)
    lead = [
        a if d == dim else broadcast_shapes([(a,), (b,)], "take_along_dim")[0]
        for d, (a, b) in enumerate(zip(input.shape, indices.shape, strict=True))
    ]
    input = build.expand(input, lead)
    lead[dim] = indices.shape[dim]
    indices = build.expand(_as_index(indices), lead)
    return gather(input, dim, op.where(indices < 0, indices + input.shape[dim], indices))
