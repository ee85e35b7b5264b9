"""``x[index]`` and ``x[index] = value`` with index tensors, masks and lists, for tensors that are
not traced.

The core answers ints, slices, None and Ellipsis by itself and calls these functions for the rest.
Basic parts become views; what remains is one call of ``index`` or ``index_put_``. The rules are
those of ``ops/subscripts.py``.
"""

from __future__ import annotations

from typing import Any

from . import _core, dtypes
from ._core import Tensor
from .ops import subscripts
from .ops.indexing import nonzero
from .ops.record import op


def split(x: Tensor, index: Any) -> tuple[Tensor, list[Tensor | None]]:
    """The basic parts of a subscript applied as views, and the index tensors for the view's dims
    (None: the whole dim).
    """
    parts = list(index) if isinstance(index, tuple) else [index]
    parts = [as_index(part) for part in parts]
    used = sum(
        part.ndim if is_mask(part) else part is not None and not isinstance(part, bool)
        for part in parts
        if part is not ...
    )
    if used > x.ndim:
        raise IndexError(f"too many indices for tensor of dimension {x.ndim}")
    basic: list[Any] = []
    indices: list[Tensor | None] = []
    for part in parts:
        if part is ...:
            whole = x.ndim - used
            basic += [slice(None)] * whole
            indices += [None] * whole
        elif isinstance(part, bool):
            basic.append(None)
            indices.append(_core.tensor_from_data([0] if part else [], dtypes.int64.code))
        elif isinstance(part, Tensor):
            found = (
                masked(part, x, sum(each is not None for each in basic))
                if is_mask(part)
                else [integers(part)]
            )
            basic += [slice(None)] * len(found)
            indices += found
        else:
            basic.append(part)
            if part is None or isinstance(part, slice):
                indices.append(None)
    return x[tuple(basic)], indices


def as_index(part: Any) -> Any:
    """A part of a subscript: lists and arrays as tensors, the rest as it is."""
    if isinstance(part, list | tuple):
        if any(isinstance(each, Tensor) for each in part):
            return op.stack(
                [
                    as_index(each)
                    if isinstance(each, list | tuple | Tensor)
                    else _core.tensor_from_data(each)
                    for each in part
                ]
            )
        tensor = _core.tensor_from_data(part)
        return tensor.to(dtypes.int64) if tensor.numel() == 0 else tensor
    if hasattr(part, "__array__") and not isinstance(part, Tensor):
        return _core.from_numpy(part) if part.ndim else part.item()
    return part


def is_mask(part: Any) -> bool:
    return isinstance(part, Tensor) and part.dtype in (dtypes.bool, dtypes.uint8)


def masked(mask: Tensor, x: Tensor, dim: int) -> list[Tensor]:
    """A mask as one index tensor per dim."""
    shape = tuple(x.shape[dim : dim + mask.ndim])
    if shape != tuple(mask.shape):
        raise IndexError(
            f"The shape of the mask {list(mask.shape)} at index 0 does not match the shape of the "
            f"indexed tensor {list(x.shape)} at index {dim}"
        )
    return list(nonzero(mask, as_tuple=True))


def integers(part: Tensor) -> Tensor:
    if part.dtype.is_floating_point or part.dtype.is_complex:
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    return part.to(dtypes.int64)


def getitem(x: Tensor, index: Any) -> Tensor:
    """``x[index]`` for an index that holds tensors, lists or bools."""
    if type(index) is Tensor and index.dtype is dtypes.int64 and x.ndim:
        return subscripts.index.operator(x, [index])
    view, indices = split(x, index)
    return (
        view if all(each is None for each in indices) else subscripts.index.operator(view, indices)
    )


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """``x[index] = value`` for an index that holds tensors, lists or bools, or a value that is no
    tensor or number.
    """
    if not isinstance(value, (Tensor, bool, int, float, complex)):
        raise TypeError(
            f"can't assign a {type(value).__name__} to a {x.dtype} tensor; make it a tensor"
        )
    view, indices = split(x, index)
    if not isinstance(value, Tensor):
        value = _core.tensor_from_data(value, x.dtype.code)
    elif value.dtype is not x.dtype:
        value = value.to(x.dtype)
    if all(each is None for each in indices):
        view.copy_(value)
        return
    while value.ndim > view.ndim and value.shape[0] == 1:
        value = value[0]
    view.index_put_(indices, value)
