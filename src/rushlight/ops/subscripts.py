"""``x[...]`` of traced tensors, and the operators that read and write at index tensors.

Tensors that are not traced take their subscripts apart in ``rushlight/indexing.py``; what remains
there is one call of ``index`` or ``index_put_``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import EllipsisType
from typing import Any

from .. import dtypes
from ..graph.symbols import DataDependentError, SymbolicInt, same
from ..graph.trace import METHODS, Traced
from ..layout import broadcast_shapes
from . import build
from .expanded_writes import places_of, warn_expanded
from .indexing import index_primitive, index_put_primitive, indexed_shape
from .parts import select_dim, slice_dim
from .record import Tensor, Tensors, composite, op
from .samples import Draw, calls
from .shapes import expanded_shape

# ---------------------------------------------------------------- parts, traced or not


def is_mask(part: Any) -> bool:
    """Whether a tensor in a subscript selects by truth."""
    return part.dtype in (dtypes.bool, dtypes.uint8)


def check_index(part: Any) -> None:
    """IndexError if a tensor in a subscript holds no integers."""
    if not part.dtype.is_integral:
        raise IndexError(f"tensors used as indices must be of integers or bool, not {part.dtype}")


def mask_places(x: Any, mask: Any, dim: int) -> Sequence[Any]:
    """The places where a mask over dims of x from ``dim`` on is true, as index tensors.

    A 0-d mask stands for a new dim, as True and False do; it gives one index.
    """
    shape = tuple(x.shape)[dim : dim + mask.ndim]
    if shape != tuple(mask.shape):
        raise IndexError(
            f"The shape of the mask, {list(mask.shape)}, must match that of the indexed "
            f"tensor, {list(x.shape)}, from dim {dim} on"
        )
    return op.nonzero(mask, as_tuple=True)


def consumed_dims(parts: Sequence[Any], rank: int) -> int:
    """How many dims of the tensor the parts stand for; IndexError if it has fewer."""
    used = 0
    for part in parts:
        if part is None or isinstance(part, bool | EllipsisType):
            continue
        used += part.ndim if hasattr(part, "dtype") and is_mask(part) else 1
    if used > rank:
        raise IndexError(f"too many indices for tensor of dimension {rank}")
    return used


# ---------------------------------------------------------------- subscripts of traced tensors


class Subscript:
    """A subscript of a traced tensor: ``view`` is what its basic parts give, ``indices`` holds the
    index tensors by the view's dim.
    """

    def __init__(self, x: Traced, index: Any) -> None:
        parts = [_as_traced(part) for part in (index if isinstance(index, tuple) else (index,))]
        self.unused = x.ndim - consumed_dims(parts, x.ndim)
        self.view = x
        self.dim = 0  # the view's next dim
        self.indices: dict[int, Traced] = {}
        for part in parts:
            self.add(part)

    def add(self, part: Any) -> None:
        if part is None or isinstance(part, bool):
            self.view = build.insert_dim(self.view, self.dim)
            if part is not None:
                self.indices[self.dim] = build.iota(int(part))
            self.dim += 1
        elif isinstance(part, EllipsisType):
            self.dim += self.unused
            self.unused = 0  # a second Ellipsis stands for nothing
        elif isinstance(part, slice):
            bounds = (part.start, part.stop, part.step)
            start, stop, step = (None if bound is None else as_int(bound) for bound in bounds)
            self.view = slice_dim(self.view, self.dim, start, stop, step)
            self.dim += 1
        elif isinstance(part, Traced):
            self.add_tensor(part)
        else:
            self.view = select_dim(self.view, self.dim, as_int(part), "index")

    def add_tensor(self, part: Traced) -> None:
        check_index(part)
        indices: Sequence[Traced] = [part]
        if is_mask(part):
            indices = mask_places(self.view, part, self.dim)
            if not part.ndim:
                self.view = build.insert_dim(self.view, self.dim)
        for index in indices:
            self.indices[self.dim] = build.convert(index, dtypes.int64)
            self.dim += 1


def as_int(part: Any) -> Any:
    """An int in a subscript, or IndexError."""
    if isinstance(part, int | SymbolicInt):
        return part
    if hasattr(part, "__index__"):
        return part.__index__()
    raise IndexError(
        "indices must be integers, slices (`:`), `...`, None, or tensors of integers or bool, "
        f"not {type(part).__name__}"
    )


def _as_traced(part: Any) -> Any:
    """A list or array as an index tensor; anything else as it is."""
    if isinstance(part, list | tuple):
        return _traced_list(part)
    if hasattr(part, "__array__") and not isinstance(part, Traced):
        if hasattr(part, "requires_grad"):
            raise TypeError(
                "a tensor that is no argument of the traced function is used as an index; pass it "
                "as an argument"
            )
        return _traced_list(part.tolist()) if part.ndim else part.item()
    return part


def _traced_list(part: Sequence[Any]) -> Traced:
    if not part:
        return build.iota(0)
    entries = [_traced_list(each) if isinstance(each, list | tuple) else each for each in part]
    dtype = dtypes.bool if all(isinstance(each, bool) for each in entries) else dtypes.int64
    return op.stack(
        [each if isinstance(each, Traced) else build.full((), each, dtype) for each in entries]
    )


def getitem(input: Traced, index: Any) -> Traced:
    """The part of a traced tensor that a subscript stands for."""
    parts = Subscript(input, index)
    if not parts.indices:
        return parts.view
    dims = tuple(parts.indices)
    indices = list(parts.indices.values())
    tensors = _broadcast(indices)
    _require_elements("index", parts.view, tensors, dims)
    result = index_primitive.apply(parts.view, *tensors, dims=dims)
    return build.laid_out_by(result, _operands(parts.view, indices, dims, result.shape))


def _operands(
    view: Traced, indices: Sequence[Traced], dims: Sequence[int], shape: Sequence[Any]
) -> list[Traced]:
    """What decides on the order of dims of ``view[indices]``, as in an elementwise operator: the
    view with its first position along the indexed dims in their place, and the index tensors.
    """
    if any(view.shape[dim] == 0 for dim in dims):
        return []
    rank = max(index.ndim for index in indices)
    first = dims[0] if list(dims) == list(range(dims[0], dims[0] + len(dims))) else 0
    after = len(shape) - first - rank
    start = view
    for dim in dims:
        start = build.slice_(start, dim, 0, 1, 1)
    rest = [size for dim, size in enumerate(view.shape) if dim not in dims]
    start = build.reshape(start, (*rest[:first], *[1] * rank, *rest[first:]))
    placed = [
        build.reshape(index, (*[1] * (first + rank - index.ndim), *index.shape, *[1] * after))
        for index in indices
    ]
    # Dims of size 1 that take the place of the indexed ones have stride 0 too.
    lead = range(first, first + rank)
    start = build.expand(
        start, [2 if dim in lead and size == 1 else size for dim, size in enumerate(shape)]
    )
    for dim in lead:
        if shape[dim] == 1:
            start = build.slice_(start, dim, 0, 1, 1)
    return [start, *placed]


METHODS["getitem"] = getitem


# ---------------------------------------------------------------- operators


def _broadcast(indices: list[Traced]) -> list[Traced]:
    try:
        shape = broadcast_shapes([index.shape for index in indices])
    except DataDependentError:
        raise
    except RuntimeError:
        shapes = ", ".join(str(list(index.shape)) for index in indices)
        raise IndexError(
            f"shape mismatch: indexing tensors of shapes {shapes} do not broadcast"
        ) from None
    return [build.expand(index, shape) for index in indices]


_ROWS = Draw((2,), 0, 3, dtype=dtypes.int64)


@composite(
    name="index_tensors", samples=calls((Draw((3, 4)), (_ROWS,)), (Draw((3, 4)), (None, _ROWS)))
)
def index(input: Tensor, indices: Tensors):
    """The elements at the places that index tensors (None: the whole dim) stand for."""
    return getitem(input, tuple(slice(None) if each is None else each for each in indices))


def _index_put_expanded(self: Any, indices: Any, values: Any, accumulate: bool) -> Any:
    """The values are written in row-major order of the result of indexing."""
    warn_expanded("index_put_")
    places, _ = places_of(self)
    numbers = op.broadcast_to(op.reshape(op.arange(places.numel()), places.shape), self.shape)
    chosen = numbers[tuple(slice(None) if each is None else each for each in indices)]
    values = _as_filling(self, indices, values, accumulate)
    places.index_put_(op.unravel_index(chosen, places.shape), values, accumulate)
    return self


def _as_filling(input: Any, indices: Any, values: Any, accumulate: bool) -> Any:
    """The values; one number at the places of a mask may have another dtype than the input."""
    if _other_dtype(values, input.dtype) and not accumulate:
        chosen = [each for each in indices if each is not None]
        if len(chosen) == 1 and is_mask(chosen[0]) and math.prod(values.shape) == 1:
            return values.to(input.dtype)
    return values


@composite(
    names=["index_put"],
    inplace=True,
    expanded=_index_put_expanded,
    samples=calls(
        (Draw((3, 4)), (_ROWS,), Draw((2, 4))), (Draw((3, 4)), (_ROWS, _ROWS), Draw((1,)), True)
    ),
)
def index_put(input: Tensor, indices: Tensors, values, accumulate: bool = False):
    """The tensor with values at the places that index tensors (None: the whole dim) stand for."""
    values = _as_filling(input, indices, values, accumulate)
    if _other_dtype(values, input.dtype):
        raise RuntimeError(
            "index_put: source and destination dtypes match only where they are one, not "
            f"{values.dtype} and {input.dtype}; convert the source with .to()"
        )
    if any(each is not None and is_mask(each) for each in indices):
        return op.index_put(input, _without_masks(input, indices), values, accumulate)
    dims = tuple(dim for dim, each in enumerate(indices) if each is not None)
    tensors = _broadcast(
        [build.convert(each, dtypes.int64) for each in indices if each is not None]
    )
    if len(indices) > input.ndim:
        raise IndexError(
            f"index_put: too many indices for tensor of dimension {input.ndim} (got {len(indices)})"
        )
    _require_elements("index_put", input, tensors, dims)
    shape = indexed_shape(input, tensors, dims)
    values = build.convert(build.lift(values, input.context, "index_put"), input.dtype)
    while values.ndim > len(shape) and values.shape[0] == 1:
        values = build.drop_dims(values, (0,))
    values = build.expand(values, expanded_shape(values, shape, "index_put"))
    result = index_put_primitive.apply(input, values, *tensors, dims=dims, accumulate=accumulate)
    return build.laid_out_like(result, input)


def _require_elements(
    operator: str, input: Traced, tensors: Sequence[Traced], dims: Sequence[int]
) -> None:
    """IndexError for any index into a dim without elements, also where nothing would be read."""
    for dim in dims:
        if same(input.shape[dim], 0) and not any(same(size, 0) for size in tensors[0].shape):
            raise IndexError(
                f"{operator}: index is out of bounds for dimension {dim} with size 0; only an "
                "empty index tensor selects from it"
            )


def _other_dtype(values: Any, dtype: Any) -> bool:
    """Are these values, traced or not, a tensor of another dtype?"""
    number = isinstance(values, (bool, int, float, complex)) or getattr(values, "weak", False)
    return not number and values.dtype is not dtype


def _without_masks(input: Any, indices: Sequence[Any]) -> list[Any]:
    places: list[Any] = []
    for each in indices:
        if each is not None and is_mask(each):
            places += mask_places(input, each, len(places))
        else:
            places.append(each)
    return places
