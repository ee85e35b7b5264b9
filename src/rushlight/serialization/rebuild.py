"""How tensors are put together from what stands in a file."""

from __future__ import annotations

from typing import Any

from .. import _core, formats
from .._core import Tensor
from ..dtypes import dtype as DType
from ..storage import TypedStorage, UntypedStorage, tensor_of
from ..tensor import Parameter


def tensor(
    storage: Any,
    storage_offset: int,
    size: tuple[int, ...],
    stride: tuple[int, ...],
    requires_grad: bool = False,
    backward_hooks: Any = None,
    metadata: dict[str, bool] | None = None,
) -> Tensor:
    """A tensor over a part of a typed storage.

    Raises:
        RuntimeError: if the layout reaches beyond the storage.
        TypeError: for arguments of other types.
    """
    if not isinstance(storage, TypedStorage):
        raise TypeError(f"a tensor in the file has a {type(storage).__name__} for its storage")
    result = tensor_of(
        storage._untyped_storage,
        storage.dtype,
        storage_offset,
        ints(size),
        ints(stride),
    )
    return completed(result, requires_grad, metadata)


def tensor_of_dtype(
    storage: Any,
    storage_offset: int,
    size: tuple[int, ...],
    stride: tuple[int, ...],
    requires_grad: bool,
    backward_hooks: Any,
    dtype: DType,
    metadata: dict[str, bool] | None = None,
) -> Tensor:
    """A tensor over a part of a storage without a type."""
    untyped = storage.untyped() if isinstance(storage, TypedStorage) else storage
    if not isinstance(untyped, UntypedStorage) or not isinstance(dtype, DType):
        raise TypeError("a tensor in the file has no storage or no dtype")
    typed = TypedStorage(wrap_storage=untyped, dtype=dtype)
    return tensor(typed, storage_offset, size, stride, requires_grad, backward_hooks, metadata)


def completed(result: Tensor, requires_grad: bool, metadata: Any) -> Tensor:
    """The values that flags stand for, and whether gradients are wanted."""
    if isinstance(metadata, dict):
        result = result.conj() if metadata.get("conj") else result
        result = -result if metadata.get("neg") else result
    return result.requires_grad_() if requires_grad else result


def ints(values: Any) -> tuple[int, ...]:
    if not isinstance(values, tuple | list) or not all(type(each) is int for each in values):
        raise TypeError(f"sizes and strides in a file must be tuples of ints, not {values!r}")
    return tuple(values)


def meta_tensor(dtype: DType, size: Any, stride: Any, requires_grad: bool) -> Tensor:
    """A tensor without data."""
    result = _core.empty_strided(ints(size), ints(stride), dtype.code, 1)
    return completed(result, requires_grad, None)


def parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Parameter:
    return Parameter(data, requires_grad)


def parameter_with_state(
    data: Tensor, requires_grad: bool, backward_hooks: Any, state: Any
) -> Parameter:
    return with_attributes(Parameter(data, requires_grad), state)


def from_type(function: Any, kind: type, args: tuple[Any, ...], state: Any) -> Any:
    """A tensor of a subclass, or with attributes."""
    result = function(*args)
    if not (isinstance(kind, type) and issubclass(kind, Tensor)):
        raise TypeError(f"a tensor in the file is said to be a {kind!r}, which is no tensor type")
    if type(result) is not kind:
        wants = result.requires_grad
        result = _core.alias_as(kind, result.detach()).requires_grad_(wants)
    restore = getattr(result, "__setstate__", None)
    if restore is not None:
        restore(state)
        return result
    return with_attributes(result, state)


def with_attributes(result: Any, state: Any) -> Any:
    """Set the attributes that were saved: a dict, or a tuple of one and a dict of slots."""
    attributes, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    for values in (attributes, slots):
        if values:
            if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
                raise TypeError("the attributes of a tensor in the file are no dict by names")
            for name, value in values.items():
                setattr(result, name, value)
    return result


def layout(name: str) -> Any:
    """A layout by PyTorch's name for it."""
    found = getattr(formats, str(name).removeprefix("torch."), None)
    if not isinstance(found, formats.layout):
        raise ValueError(f"there is no layout {name!r}")
    return found


def nested_file(data: bytes) -> Any:
    """A storage that was pickled as a file of its own; only ever loaded safely."""
    import io

    from . import load

    return load(io.BytesIO(data), weights_only=True)
