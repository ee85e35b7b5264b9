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
from .graph.trace import contains_traced, lifted
from .ops import subscripts
from .ops.creation import set_to
from .ops.record import op


def split(x: Tensor, index: Any) -> tuple[Tensor, list[Tensor | None]]:
    """The basic parts of a subscript applied as views (``x`` itself if they take all of it), and
    the index tensors for the view's dims (None: the whole dim).
    """
    parts = [as_index(part) for part in (index if isinstance(index, tuple) else (index,))]
    unused = x.ndim - subscripts.consumed_dims(parts, x.ndim)
    basic: list[Any] = []
    indices: list[Tensor | None] = []
    for part in parts:
        if part is ...:
            basic += [slice(None)] * unused
            indices += [None] * unused
            unused = 0  # a second Ellipsis stands for nothing
        elif isinstance(part, bool):
            basic.append(None)
            indices.append(_core.tensor_from_data([0] if part else [], dtypes.int64.code))
        elif isinstance(part, Tensor):
            subscripts.check_index(part)
            found = [part]
            if subscripts.is_mask(part):
                found = list(subscripts.mask_places(x, part, consumed(basic)))
            whole = None if subscripts.is_mask(part) and not part.ndim else slice(None)
            basic += [whole] * len(found)
            indices += found
        elif part is None or isinstance(part, slice):
            basic.append(part)
            indices.append(None)
        else:
            basic.append(subscripts.as_int(part))
    return x if takes_all(basic, x.shape) else x[tuple(basic)], indices


def takes_all(basic: list[Any], shape: tuple[int, ...]) -> bool:
    """Are these parts slices that leave each dim as it is?"""
    return len(basic) <= len(shape) and all(
        isinstance(part, slice) and part.indices(size) == (0, size, 1)
        for part, size in zip(basic, shape)
    )


def as_index(part: Any) -> Any:
    """A part of a subscript: lists and arrays as tensors, the rest as it is."""
    if isinstance(part, list | tuple):
        if any(isinstance(each, Tensor) for each in part):
            return op.stack(
                [
                    each
                    if isinstance(each, Tensor)
                    else as_index(each)
                    if isinstance(each, list | tuple)
                    else _core.tensor_from_data(each)
                    for each in part
                ]
            )
        tensor = _core.tensor_from_data(part)
        return tensor.to(dtypes.int64) if tensor.numel() == 0 else tensor
    if (
        isinstance(part, Tensor)
        and not part.ndim
        and part.dtype.is_integral
        and not subscripts.is_mask(part)
    ):
        return part.item()  # as in PyTorch: a 0-d tensor selects, which gives a view
    if hasattr(part, "__array__") and not isinstance(part, Tensor):
        return _core.from_numpy(part) if part.ndim else part.item()
    return part


def consumed(basic: list[Any]) -> int:
    """How many dims of the tensor the basic parts stand for."""
    return sum(part is not None for part in basic)


def is_subclass(x: Tensor) -> bool:
    """Is the tensor of a class of its own, neither Tensor nor Parameter?"""
    from .tensor import Parameter

    return type(x) not in (Tensor, Parameter)


def of_subclass(function: Any, x: Tensor, *args: Any) -> Any:
    """``x[index]`` or a write there, as the tensor's class has it."""
    from .tensor import as_plain, overridden

    result = overridden(function, f"Tensor.{function.__name__}", (x, *args), {})
    if result is not NotImplemented:
        return result
    return function(_core.alias_as(Tensor, x), *as_plain(args)[1])  # a parameter's class


def getitem(x: Tensor, index: Any) -> Tensor:
    """``x[index]`` for an index that holds tensors, lists or bools."""
    if _core.dual_levels() and _core.tangent(x) is not None:
        return _core.registered("dual_getitem")(x, index)
    if type(x) is not Tensor and is_subclass(x):
        return of_subclass(Tensor.__getitem__, x, index)
    if contains_traced(index):
        return lifted(x)[index]
    view, indices = split(x, index)
    if all(each is None for each in indices):
        return x[...] if view is x else view
    return subscripts.index.operator(view, indices)


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """``x[index] = value`` for an index that holds tensors, lists or bools, or a value that is no
    tensor or number.
    """
    if _core.dual_levels() and (_core.tangent(x), _core.tangent(value)) != (None, None):
        return _core.registered("dual_setitem")(x, index, value)
    if type(x) is not Tensor and is_subclass(x):
        of_subclass(Tensor.__setitem__, x, index, value)
        return
    if contains_traced((index, value)):
        raise RuntimeError(
            "setitem: a function that is transformed (vmap, grad, jvp, ...) cannot change a tensor "
            "in place; use where, index_put, cat or stack instead"
        )
    if not isinstance(value, (Tensor, bool, int, float, complex)):
        raise TypeError(
            f"can't assign a {type(value).__name__} to a {x.dtype} tensor; make it a tensor"
        )
    if not isinstance(value, Tensor):
        value = set_to.operator(_core.empty((), x.dtype.code), value)
    if index is False:
        return
    if index is True:
        index = None  # the tensor with a new dim, not chosen by a mask
    view, indices = split(x, index)
    while value.ndim > view.ndim and value.shape[0] == 1:
        value = value[0]
    if all(each is None for each in indices):
        view.copy_(value)
        return
    if value.dtype is not x.dtype and value.numel() == 1 and is_one_mask(index):
        value = filled_in(value, x.dtype)
    view.index_put_(indices, value)


def filled_in(value: Tensor, dtype: dtypes.dtype) -> Tensor:
    """A tensor of one number in another dtype; RuntimeError if the number does not fit."""
    if not value.is_meta:
        number = value.item()
        if isinstance(number, complex) and not number.imag:
            number = number.real
        op.fill(_core.empty((2,), dtype.code), number)  # of 16 bits one element may become infinite
    return value.to(dtype)


def is_one_mask(index: Any) -> bool:
    """Is a mask the only part of the subscript that is no int, slice, None or Ellipsis?"""
    parts = [as_index(part) for part in (index if isinstance(index, tuple) else (index,))]
    chosen = [part for part in parts if isinstance(part, (bool, Tensor))]
    return len(chosen) == 1 and (isinstance(chosen[0], bool) or subscripts.is_mask(chosen[0]))
