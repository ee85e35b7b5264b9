"""Copies of tensors with everything they hold (`copy.deepcopy`), and pickles."""

from __future__ import annotations

import copy
from typing import Any

import numpy

import rushlight

from . import _core, dtypes
from ._core import Tensor
from .dtypes import dtype as DType
from .storage import tensor_of

# Dtypes that NumPy lacks, and one with all their values.
_WIDER = {dtypes.bfloat16: dtypes.float32, dtypes.complex32: dtypes.complex64}


def deepcopy(self: Tensor, memo: dict[Any, Any]) -> Tensor:
    """A copy with memory of its own; tensors that share memory have copies that share memory.

    Raises:
        RuntimeError: if the tensor was computed from others that require gradients.
    """
    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError(
            "deepcopy of a tensor that was computed from others is not supported, as a copy would "
            "have to take its history along. Use x.detach().clone() for a copy of the values"
        )
    result = Tensor._make_subclass(type(self), _copied(self.detach(), memo))
    memo[id(self)] = result
    result.requires_grad_(self.requires_grad)
    if self.grad is not None:
        result.grad = copy.deepcopy(self.grad, memo)
    if type(self) is not Tensor or self.__dict__:
        result.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return result


def _copied(tensor: Tensor, memo: dict[Any, Any]) -> Tensor:
    """The same view of a copy of the storage, which is made once."""
    if tensor.device.type == "meta":
        return rushlight.empty_like(tensor)
    storage = copy.deepcopy(tensor.untyped_storage(), memo)
    layout = (tensor.storage_offset(), tuple(tensor.shape), tensor.stride())
    return tensor_of(storage, tensor.dtype, *layout)


def reduce_ex(self: Tensor, protocol: Any) -> tuple[Any, ...]:
    """How a tensor is pickled: values, dtype, layout and whether it requires gradients.

    Raises:
        NotImplementedError: for tensors without data.
    """
    if self.device.type == "meta":
        raise NotImplementedError("Cannot copy out of meta tensor; no data! It cannot be pickled")
    if not self.is_leaf:
        raise RuntimeError(
            "a tensor that was computed from others that require gradients cannot be pickled: use "
            "x.detach()"
        )
    dense = self.detach().clone()  # keeps the order of dims, without gaps
    values = _core.to_numpy(dense.to(_WIDER.get(self.dtype, self.dtype)).contiguous())
    state = self.__dict__ if type(self) is not Tensor or self.__dict__ else None
    return _rebuild, (type(self), values, self.dtype, dense.stride(), self.requires_grad, state)


def _rebuild(
    cls: type[Any],
    values: Any,
    dtype: DType,
    stride: tuple[int, ...],
    requires_grad: bool,
    state: dict[str, Any] | None,
) -> Any:
    """The tensor that was pickled."""
    array = values if values.flags.writeable and values.flags.owndata else numpy.array(values)
    result = _core.from_numpy(array).to(dtype)
    if result.stride() != stride:
        result = rushlight.empty_strided(tuple(result.shape), stride, dtype=dtype).copy_(result)
    if cls is not Tensor:
        result = _core.alias_as(cls, result)
    if state:
        result.__dict__.update(state)
    return result.requires_grad_(requires_grad)


for _name, _method in {"__deepcopy__": deepcopy, "__reduce_ex__": reduce_ex}.items():
    setattr(Tensor, _name, _method)
