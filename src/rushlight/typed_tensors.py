"""``FloatTensor`` and its kin, by which older programs make tensors."""

from __future__ import annotations

import warnings
from typing import Any

from . import _core, dtypes
from ._core import Size, Tensor
from .creation import set_default_dtype
from .dtypes import dtype as DType


class _TypedTensorType(type):
    """Makes tensors of one dtype, which count as its instances."""

    dtype: DType

    def __call__(cls, *args: Any) -> Tensor:
        """Of sizes: elements are not set; of a sequence: its numbers; of a tensor: the same memory.

        Raises:
            TypeError: for other arguments, or a tensor of another dtype.
        """
        if not args:
            return _core.empty((0,), cls.dtype.code, 0)
        first = args[0]
        if len(args) == 1 and not isinstance(first, int | Size):
            if isinstance(first, Tensor):
                if first.dtype is not cls.dtype:
                    raise TypeError(
                        f"{cls.__name__}(): expected a tensor of {cls.dtype}, not {first.dtype}"
                    )
                return first.detach()
            if not hasattr(first, "__len__"):
                raise TypeError(f"new(): data must be a sequence (got {type(first).__name__})")
            return _core.tensor_from_data(first, cls.dtype.code)
        sizes = tuple(first) if isinstance(first, Size) else args
        return _core.empty(sizes, cls.dtype.code, 0)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype


def _typed(name: str, dtype: DType) -> Any:
    return _TypedTensorType(
        name, (), {"dtype": dtype, "__doc__": f"Tensors of {dtype}.", "__module__": "torch"}
    )


DoubleTensor = _typed("DoubleTensor", dtypes.float64)
FloatTensor = _typed("FloatTensor", dtypes.float32)
HalfTensor = _typed("HalfTensor", dtypes.float16)
BFloat16Tensor = _typed("BFloat16Tensor", dtypes.bfloat16)
LongTensor = _typed("LongTensor", dtypes.int64)
IntTensor = _typed("IntTensor", dtypes.int32)
ShortTensor = _typed("ShortTensor", dtypes.int16)
CharTensor = _typed("CharTensor", dtypes.int8)
ByteTensor = _typed("ByteTensor", dtypes.uint8)
BoolTensor = _typed("BoolTensor", dtypes.bool)
TYPES: dict[str, Any] = {
    name: value for name, value in globals().items() if isinstance(value, _TypedTensorType)
}


def set_default_tensor_type(t: Any, /) -> None:
    """Set the default dtype by a tensor type or its name: `set_default_dtype` is the newer way.

    Raises:
        TypeError: for what is no tensor type.
    """
    warnings.warn("set_default_tensor_type() is deprecated: use set_default_dtype()", stacklevel=2)
    found = TYPES.get(t.removeprefix("torch.")) if isinstance(t, str) else t
    if not isinstance(found, _TypedTensorType):
        raise TypeError(f"invalid type object: {t!r} is no tensor type")
    set_default_dtype(found.dtype)


__all__ = [*TYPES, "set_default_tensor_type"]
