"""Parameters and buffers of modules."""

from __future__ import annotations

from typing import Any

import rushlight

from .._core import Tensor
from ..tensor import Parameter

__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "UninitializedTensorMixin",
    "is_lazy",
]


def is_lazy(param: Any) -> bool:
    """Whether a parameter or buffer has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)


class _BufferMeta(type):
    """Counts tensors that `Buffer` marked as its instances."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is Buffer:
            return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)
        return super().__instancecheck__(instance)


class Buffer(metaclass=_BufferMeta):
    """A tensor that becomes a buffer of the module to which it is assigned as an attribute.

    The result is a plain tensor that is marked.

    Args:
        data: the values; shared, not copied. None: an empty tensor.
        persistent: whether `state_dict` has the buffer.
    """

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        result: Any = rushlight.empty(0) if data is None else data
        result = result.detach().requires_grad_(result.requires_grad)
        result.persistent = persistent
        result._is_buffer = True
        return result


class UninitializedTensorMixin:
    """A tensor that gets its shape later, by `materialize`."""

    cls_to_become: Any

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become an ordinary parameter or buffer.

        Args:
            shape: its shape; the values are not set.
            device: its device, by default that of this one.
            dtype: its dtype, by default that of this one.
        """
        given: Any = self
        given.data = rushlight.empty(
            shape,
            device=given.data.device if device is None else device,
            dtype=given.data.dtype if dtype is None else dtype,
        )
        given.__class__ = given.cls_to_become

    @property
    def shape(self) -> Any:
        """Raises RuntimeError: there is no shape yet."""
        raise RuntimeError(
            "the shape of an uninitialized parameter or buffer is unknown: call the module's "
            "forward() once, or load a state with initialized parameters"
        )

    def share_memory_(self) -> Any:
        """Raises RuntimeError: there is no memory yet."""
        raise RuntimeError(
            "an uninitialized parameter or buffer has no memory to share: call the module's "
            "forward() once before share_memory()"
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    __str__ = __repr__

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "name", None) or getattr(func, "__name__", "")
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {name}(): call the lazy module's "
            "forward() once to give its parameters shapes"
        )


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter of a lazy module, which gets its shape at the first call.

    Args:
        requires_grad: whether gradients are wanted.
        device: the device it will be on.
        dtype: the dtype it will have.
    """

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return cls._make_subclass(
            cls, rushlight.empty(0, device=device, dtype=dtype), requires_grad
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            data = self.data
            memo[id(self)] = type(self)(self.requires_grad, data.device, data.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return UninitializedParameter, (self.requires_grad, self.data.device, self.data.dtype)


class MaterializedBuffer(Tensor):
    """What an `UninitializedBuffer` becomes; lazy modules put a plain tensor in its place."""


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer of a lazy module, which gets its shape at the first call.

    Args:
        requires_grad: whether gradients are wanted.
        device: the device it will be on.
        dtype: the dtype it will have.
        persistent: whether `state_dict` has the buffer.
    """

    cls_to_become = MaterializedBuffer

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> Any:
        data = rushlight.empty(0, device=device, dtype=dtype)
        result: Any = cls._make_subclass(cls, data, requires_grad)
        result.persistent = persistent
        result._is_buffer = True
        return result

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            data = self.data
            memo[id(self)] = type(self)(self.requires_grad, data.device, data.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return UninitializedBuffer, (self.requires_grad, self.data.device, self.data.dtype)
