"""``x[...]`` and ``x[...] = value``.

A subscript is taken apart before an operator sees it: ``structure`` says of what parts it consists
and is part of the call's key; the index tensors and the ints, which change from call to call, are
arguments of their own. Masks become the places where they are true. So ``getitem`` and ``setitem``
are plain functions, and their operators never have results whose size depends on data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import Any

from .. import dtypes
from ..graph.symbols import DataDependentError, SymbolicInt
from ..graph.trace import METHODS, Traced, contains_traced, current_context
from ..layout import broadcast_shapes
from . import build
from .indexing import index_primitive, index_put_primitive, indexed_shape
from .record import Mutated, Selector, Size, composite, op
from .samples import Draw, calls
from .shapes import expanded_shape, select_dim, slice_dim

# Makes an index tensor of a nested list or an array; set when the runtime loads.
tensor_from: Callable[[Any], Any] | None = None

# ---------------------------------------------------------------- taking a subscript apart


class Parts:
    """A subscript in parts. structure has one entry for each: "int", "none", "ellipsis", "true",
    "false", "tensor", or ``("slice", has start, has stop, has step)``.
    """

    def __init__(self, x: Any, index: Any) -> None:
        self.structure: list[Any] = []
        self.tensors: list[Any] = []
        self.sizes: list[Any] = []
        self.dim = 0  # the next dim of x
        self.x = x
        parts = [_as_tensor(part) for part in (index if isinstance(index, tuple) else (index,))]
        used = sum(map(_consumed, parts))
        if used > x.ndim:
            raise IndexError(f"too many indices for tensor of dimension {x.ndim}")
        self.unused = x.ndim - used
        for part in parts:
            self.add(part)

    def add(self, part: Any) -> None:
        if part is None or isinstance(part, bool):
            self.structure.append({None: "none", True: "true", False: "false"}[part])
        elif isinstance(part, EllipsisType):
            self.structure.append("ellipsis")
            self.dim += self.unused
            self.unused = 0  # a second Ellipsis stands for nothing
        elif isinstance(part, slice):
            bounds = (part.start, part.stop, part.step)
            self.structure.append(("slice", *(bound is not None for bound in bounds)))
            self.sizes += [_as_int(bound) for bound in bounds if bound is not None]
            self.dim += 1
        elif hasattr(part, "dtype") and hasattr(part, "ndim"):
            self.add_tensor(part)
        else:
            self.structure.append("int")
            self.sizes.append(_as_int(part))
            self.dim += 1

    def add_tensor(self, part: Any) -> None:
        if not part.dtype.is_integral:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        tensors = _places(self.x, part, self.dim) if _is_mask(part) else [part]
        self.structure += ["tensor"] * len(tensors)
        self.tensors += tensors
        self.dim += part.ndim if _is_mask(part) else 1


def _is_mask(part: Any) -> bool:
    return part.dtype in (dtypes.bool, dtypes.uint8)


def _places(x: Any, mask: Any, dim: int) -> Sequence[Any]:
    """The places where a mask over dims of x from ``dim`` on is true, as index tensors."""
    shape = tuple(x.shape)[dim : dim + mask.ndim]
    if shape != tuple(mask.shape):
        raise IndexError(
            f"The shape of the mask {list(mask.shape)} at index {dim} does not match the shape of "
            "the indexed tensor "
            f"{list(x.shape)} at index {dim}"
        )
    if not mask.ndim:  # stands for a new dim, as True and False do
        return op.nonzero(op.reshape(mask, (1,)), as_tuple=True)
    return op.nonzero(mask, as_tuple=True)


def _consumed(part: Any) -> int:
    """How many dims of the tensor a part of a subscript stands for."""
    if part is None or isinstance(part, bool | EllipsisType):
        return 0
    return part.ndim if hasattr(part, "dtype") and _is_mask(part) else 1


def _as_int(part: Any) -> Any:
    if isinstance(part, int | SymbolicInt):
        return part
    if hasattr(part, "__index__"):
        return part.__index__()
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
        "indices "
        f"(got {type(part).__name__})"
    )


def _as_tensor(part: Any) -> Any:
    """A list or array as an index tensor; anything else as it is."""
    if isinstance(part, list | tuple):
        if contains_traced(part) or current_context() is not None:
            return _traced_list(part)
    elif (
        not hasattr(part, "__array__") or hasattr(part, "requires_grad") or isinstance(part, Traced)
    ):
        return part
    if tensor_from is None:
        raise RuntimeError("lists as indices need the runtime; import rushlight")
    return tensor_from(part)


def _traced_list(part: Sequence[Any]) -> Traced:
    if not part:
        return build.iota(0)
    entries = [_traced_list(each) if isinstance(each, list | tuple) else each for each in part]
    dtype = dtypes.bool if all(isinstance(each, bool) for each in entries) else dtypes.int64
    return op.stack(
        [each if isinstance(each, Traced) else build.full((), each, dtype) for each in entries]
    )


# ---------------------------------------------------------------- putting it together while tracing


def _view_and_indices(
    x: Traced, tensors: Sequence[Traced], sizes: Sequence[Any], structure: Sequence[Any]
) -> tuple[Traced, list[Traced], tuple[int, ...]]:
    """The view that the basic parts give, the index tensors in one shape, and the view's dims that
    these apply to.
    """
    used = sum(1 for part in structure if part in ("int", "tensor") or isinstance(part, tuple))
    view, dim = x, 0
    unused = x.ndim - used
    numbers, remaining = iter(sizes), iter(tensors)
    found: dict[int, Traced] = {}
    for part in structure:
        if part == "int":
            view = select_dim(view, dim, next(numbers), "index")
            continue
        if part == "ellipsis":
            dim += unused
            unused = 0
            continue
        if part in ("none", "true", "false"):
            view = build.insert_dim(view, dim)
            if part != "none":
                found[dim] = build.iota(1 if part == "true" else 0)
        elif part == "tensor":
            found[dim] = build.convert(next(remaining), dtypes.int64)
        else:
            start, stop, step = (next(numbers) if given else None for given in part[1:])
            view = slice_dim(view, dim, start, stop, step)
        dim += 1
    return view, _broadcast(list(found.values())), tuple(found)


def _broadcast(indices: list[Traced]) -> list[Traced]:
    try:
        shape = broadcast_shapes([index.shape for index in indices])
    except DataDependentError:
        raise
    except RuntimeError:
        shapes = ", ".join(str(list(index.shape)) for index in indices)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        ) from None
    return [build.expand(index, shape) for index in indices]


# ---------------------------------------------------------------- reading


@composite(name="getitem_parts", names=["_getitem"], methods=[])
def getitem_parts(input, tensors, sizes: Size, structure: Selector):
    """The part of the tensor that a subscript, taken apart, stands for."""
    view, indices, dims = _view_and_indices(input, tensors, sizes, structure)
    return index_primitive.apply(view, *indices, dims=dims) if dims else view


def getitem(input: Any, index: Any) -> Any:
    """The part of the tensor that a subscript stands for."""
    parts = Parts(input, index)
    return getitem_parts(input, parts.tensors, parts.sizes, tuple(parts.structure))


METHODS["getitem"] = getitem

# ---------------------------------------------------------------- writing


def _put(
    x: Traced,
    values: Any,
    indices: list[Traced],
    dims: tuple[int, ...],
    accumulate: bool,
    name: str,
) -> Traced:
    shape = indexed_shape(x, indices, dims)
    values = build.convert(build.lift(values, x.context, name), x.dtype)
    while values.ndim > len(shape) and values.shape[0] == 1:
        values = build.drop_dims(values, (0,))
    values = build.expand(values, expanded_shape(values, shape, name))
    return index_put_primitive.apply(x, values, *indices, dims=dims, accumulate=accumulate)


_ROWS = Draw((2,), 0, 3, dtype=dtypes.int64)


@composite(
    name="index_tensors", samples=calls((Draw((3, 4)), (_ROWS,)), (Draw((3, 4)), (None, _ROWS)))
)
def index(input, indices):
    """The elements at the places that index tensors (None: the whole dim) stand for."""
    return getitem(input, tuple(slice(None) if each is None else each for each in indices))


@composite(
    names=["index_put"],
    inplace=True,
    samples=calls(
        (Draw((3, 4)), (_ROWS,), Draw((2, 4))), (Draw((3, 4)), (_ROWS, _ROWS), Draw((1,)), True)
    ),
)
def index_put(input, indices, values, accumulate: bool = False):
    """The tensor with values at the places that index tensors (None: the whole dim) stand for."""
    if not build.is_number(values) and values.dtype is not input.dtype:
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {input.dtype} for "
            "the destination and "
            f"{values.dtype} for the source. (in index_put)"
        )
    if any(index is not None and _is_mask(index) for index in indices):
        parts = Parts(input, tuple(slice(None) if index is None else index for index in indices))
        tensors = iter(parts.tensors)
        places = [next(tensors) if part == "tensor" else None for part in parts.structure]
        return op.index_put(input, places, values, accumulate)
    dims = tuple(dim for dim, index in enumerate(indices) if index is not None)
    tensors = _broadcast(
        [build.convert(index, dtypes.int64) for index in indices if index is not None]
    )
    return _put(input, values, tensors, dims, accumulate, "index_put")


@composite(name="setitem_parts", names=["_setitem"], methods=[])
def setitem_parts(self: Mutated, value, tensors, sizes: Size, structure: Selector):
    """The tensor with a value at the places that a subscript, taken apart, stands for."""
    _, indices, dims = _view_and_indices(self, tensors, sizes, structure)
    if dims and dims == tuple(range(len(dims))) and structure == ("tensor",) * len(dims):
        return _put(self, value, indices, dims, False, "setitem")
    count = self.numel()
    places = getitem_parts(build.reshape(build.iota(count), self.shape), tensors, sizes, structure)
    values = build.convert(build.lift(value, self.context, "setitem"), self.dtype)
    while values.ndim > places.ndim and values.shape[0] == 1:
        values = build.drop_dims(values, (0,))
    values = build.expand(values, expanded_shape(values, places.shape, "setitem"))
    flat = build.reshape(self, (count,))
    return build.reshape(
        index_put_primitive.apply(flat, values, places, dims=(0,), accumulate=False), self.shape
    )


def setitem(self: Any, index: Any, value: Any) -> None:
    """Write a value to the places that a subscript stands for."""
    parts = Parts(self, index)
    setitem_parts(self, value, parts.tensors, parts.sizes, tuple(parts.structure))
