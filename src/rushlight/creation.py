"""Tensors from data (numbers, NumPy arrays, buffers), and questions that Python values answer."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy

from . import _core, dtypes, layout
from ._core import Size, Tensor, from_numpy, get_num_threads, set_num_threads
from .device import device as Device
from .dtypes import dtype as DType
from .factories import default_device, finished, moved, require_device
from .ops import comparison
from .promotion import scalar_type_name
from .storage import TypedStorage, UntypedStorage

__all__ = [
    "allclose", "as_tensor", "asarray", "broadcast_shapes", "empty_permuted", "empty_strided",
    "equal", "frombuffer", "from_numpy", "get_num_threads", "is_nonzero", "is_storage",
    "is_tensor", "numel", "scalar_tensor", "set_default_dtype", "set_num_threads", "tensor",
]  # fmt: skip


# ---------------------------------------------------------------- arguments


def require_dtype(dtype: Any, function: str) -> DType:
    """The dtype, or TypeError."""
    if isinstance(dtype, DType):
        return dtype
    given = type(dtype).__name__
    raise TypeError(f"{function}(): argument 'dtype' must be torch.dtype, not {given}")


def set_default_dtype(d: DType, /) -> None:
    """Set the type that Python floats become and that constructors use: a floating-point type."""
    dtypes.set_default_dtype(d)
    _core.set_default_dtype(d)


# ---------------------------------------------------------------- copies of data


def tensor(
    data: Any,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor that holds a copy of the data and has no history.

    Args:
        data: a number, nested sequences of numbers, a NumPy array or scalar, or a tensor.
        dtype: the type of the elements; None: inferred from the data.
        device: where the tensor will be; None: the CPU.
        requires_grad: whether gradients are to be computed for it.
        pin_memory: only for accelerators.

    Returns:
        The tensor.

    Raises:
        ValueError: for sequences of unequal lengths.
        TypeError, RuntimeError: for data of other types.

    Example:
        >>> rushlight.tensor([[1, 2], [3, 4]])
        tensor([[1, 2],
                [3, 4]])
    """
    result = copied(data, dtype, "tensor")
    device = default_device() if device is None else device
    if device is None and not (requires_grad or pin_memory):
        return result
    return finished(result, device, requires_grad, pin_memory, "tensor")


_NUMBERS = frozenset((float, int, bool, complex))
_SEQUENCES = (list, tuple)


def copied(data: Any, dtype: DType | None, function: str) -> Tensor:
    """A copy of any kind of data as a tensor."""
    code = -1 if dtype is None else require_dtype(dtype, function).code
    if type(data) in _NUMBERS:
        return _core.tensor_from_data(data, code)
    if isinstance(data, Tensor):
        source = "torch.tensor" if function == "tensor" else f"tensor.{function}"
        warnings.warn(
            f"{source}(x) of a tensor x: x.detach().clone() says what is meant, followed by "
            ".requires_grad_() where gradients are wanted.",
            stacklevel=3,
        )
        return copied_tensor(data, dtype)
    if isinstance(data, _SEQUENCES) and data and isinstance(data[0], numpy.ndarray):
        stacked = numpy.array(data)  # raises for unequal shapes
        data = stacked if stacked.dtype.kind in "biufc" else data
    if isinstance(data, numpy.ndarray):
        return copied_array(data, dtype)
    return _core.tensor_from_data(data, code)


def copied_tensor(data: Tensor, dtype: DType | None) -> Tensor:
    """A copy without history."""
    source = data.detach()
    return source.clone() if dtype is None or dtype is source.dtype else source.to(dtype)


def copied_array(array: Any, dtype: DType | None) -> Tensor:
    """A copy of a NumPy array in memory of our own."""
    result = _core.empty(array.shape, dtypes.from_numpy(array.dtype).code, 0)
    _core.to_numpy(result)[...] = array
    return result if dtype is None or dtype is result.dtype else result.to(dtype)


def scalar_tensor(
    s: Any,
    *,
    dtype: DType | None = None,
    layout: Any = None,
    device: Device | str | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A 0-d tensor that holds a number, by default of the default dtype."""
    number = s.item() if isinstance(s, Tensor) else s
    if dtype is None:
        default = dtypes.get_default_dtype()
        dtype = default.to_complex() if isinstance(number, complex) else default
    result = _core.tensor_from_data(number, require_dtype(dtype, "scalar_tensor").code)
    device = default_device() if device is None else device
    return finished(result, device, requires_grad, pin_memory, "scalar_tensor")


# ---------------------------------------------------------------- sharing memory


def as_tensor(data: Any, dtype: DType | None = None, device: Device | str | None = None) -> Tensor:
    """The data as a tensor; tensors and the memory of NumPy arrays are not copied if possible.

    Args:
        data: as in `tensor`.
        dtype: the type to convert to; None: the data's own.
        device: where the tensor will be; None: where the data is.

    Returns:
        A tensor; with the history of ``data`` if that is a tensor.
    """
    if device is None and not isinstance(data, Tensor):
        device = default_device()
    if isinstance(data, numpy.ndarray):
        result = from_numpy(data)
    else:
        result = data if isinstance(data, Tensor) else copied(data, dtype, "as_tensor")
    if dtype is not None and require_dtype(dtype, "as_tensor") is not result.dtype:
        result = result.to(dtype)
    return result if device is None else moved(result, require_device(device, "as_tensor"))


def asarray(
    obj: Any,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """An object as a tensor, which shares the object's memory where it can.

    Args:
        obj: a tensor, a NumPy array or scalar, a buffer such as bytes, or what `tensor` takes.
        dtype: the type of the elements; None: the object's own (of buffers: the default dtype).
        device: where the tensor will be; None: where the object is.
        copy: True: copy always; False: ValueError where a copy is needed; None: copy if needed.
        requires_grad: whether the result requires a gradient; None: as the object.

    Returns:
        A tensor; a part of the history of ``obj`` unless ``requires_grad`` is False.
    """
    result, shares = shared(obj, dtype)
    if copy is False:
        if not shares:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        if dtype is not None and dtype is not result.dtype:
            raise ValueError(
                f"can't alias tensor with dtype '{scalar_type_name(result.dtype)}' into dtype "
                f"'{scalar_type_name(dtype)}'."
            )
    if dtype is not None and require_dtype(dtype, "asarray") is not result.dtype:
        result = result.to(dtype)
    elif copy and shares:
        result = result.clone()
    if device is not None:
        result = moved(result, require_device(device, "asarray"))
    if requires_grad is None or requires_grad == result.requires_grad:
        return result
    return result.requires_grad_() if requires_grad else result.detach()


def shared(obj: Any, dtype: DType | None) -> tuple[Tensor, bool]:
    """A tensor of the object, and whether they share memory."""
    if isinstance(obj, Tensor):
        return obj, True
    if isinstance(obj, numpy.ndarray):
        return from_numpy(obj), True
    if isinstance(obj, bytes | bytearray | memoryview) or type(obj).__module__ in ("array", "mmap"):
        default = dtypes.get_default_dtype()
        return frombuffer(obj, dtype=default if dtype is None else dtype), True
    return copied(obj, dtype, "asarray"), False


def frombuffer(
    buffer: Any,
    *,
    dtype: DType,
    count: int = -1,
    offset: int = 0,
    requires_grad: bool = False,
) -> Tensor:
    """A 1-d tensor that shares the memory of an object with the buffer protocol.

    Args:
        buffer: the object, such as bytes, a bytearray or an array.
        dtype: as what the bytes are read.
        count: the number of elements; -1: as many as there are.
        offset: bytes to skip at the start.
        requires_grad: whether gradients are to be computed for it.

    Returns:
        The tensor.

    Raises:
        ValueError: if the buffer is empty or does not hold so many elements.
    """
    require_dtype(dtype, "frombuffer")
    try:
        view = memoryview(buffer).cast("B")
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    length, item = view.nbytes, dtype.itemsize
    if length == 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"frombuffer: offset must be a byte of the buffer, in [0, {length - 1}], not {offset}"
        )
    if count < 0 and (length - offset) % item:
        raise ValueError(
            f"frombuffer: the {length - offset} bytes after offset {offset} are not a multiple of "
            f"the element size, {item}; give count"
        )
    if count > 0 and offset + count * item > length:
        raise ValueError(
            f"frombuffer: {count} elements of {item} bytes from offset {offset} on do not fit into "
            f"a buffer of {length} bytes"
        )
    end = length if count < 0 else offset + count * item
    part = numpy.frombuffer(view[offset:end], dtype=dtype.numpy or numpy.dtype(f"u{item}"))
    result = from_numpy(part)
    if dtype.numpy is None:
        result = result.view(dtype)  # type: ignore[arg-type]
    return result.requires_grad_() if requires_grad else result


# ---------------------------------------------------------------- uninitialised tensors


def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: DType | None = None,
    layout: Any = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of these sizes and strides (in elements) whose elements are not set.

    Raises:
        RuntimeError: for negative strides, or as many strides as there are no sizes for.
    """
    dtype = dtypes.get_default_dtype() if dtype is None else require_dtype(dtype, "empty_strided")
    device = default_device() if device is None else device
    on_meta = require_device(device, "empty_strided").type == "meta"
    result = _core.empty_strided(tuple(size), tuple(stride), dtype.code, int(on_meta))
    return finished(result, None, requires_grad, pin_memory, "empty_strided")


def empty_permuted(
    size: Sequence[int],
    physical_layout: Sequence[int],
    *,
    dtype: DType | None = None,
    layout: Any = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A dense tensor whose elements are not set, with its dims in a given order in memory.

    Args:
        size: the sizes.
        physical_layout: the dims from outermost to innermost; ``(0, 2, 3, 1)`` is channels last.
        dtype, device, requires_grad: as in `empty`.

    Raises:
        RuntimeError: unless each dim is named once, counted from 0.

    Example:
        >>> rushlight.empty_permuted((2, 3), (1, 0)).stride()
        (1, 2)
    """
    sizes, order = tuple(size), tuple(physical_layout)
    if len(sizes) != len(order):
        raise RuntimeError(
            f"empty_permuted: physical_layout must name each dim once, but it has {len(order)} "
            f"entries for the {len(sizes)} dims of size"
        )
    if sorted(order) != list(range(len(sizes))):
        raise RuntimeError(
            f"empty_permuted: physical_layout names each of the dims 0 to {len(sizes) - 1} once, "
            f"but it is {order} (Dimension out of range or Duplicate dim not allowed)"
        )
    strides, step = [0] * len(sizes), 1
    for dim in reversed(order):
        strides[dim] = step
        step *= max(sizes[dim], 1)
    return empty_strided(
        sizes,
        strides,
        dtype=dtype,
        device=device,
        requires_grad=requires_grad,
        pin_memory=pin_memory,
    )


# ---------------------------------------------------------------- questions


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of these shapes have after broadcasting.

    Args:
        shapes: each an int or a sequence of ints.

    Raises:
        RuntimeError: for shapes that do not broadcast, and what is no shape.
        ValueError: for negative sizes.

    Example:
        >>> rushlight.broadcast_shapes((2, 1), 3)
        torch.Size([2, 3])
    """
    found = []
    for each in shapes:
        if not isinstance(each, int | list | tuple):
            raise RuntimeError(
                f"broadcast_shapes: a shape is an int, or a tuple or list of ints, not {each}"
            )
        sizes = (each,) if isinstance(each, int) else tuple(each)
        if any(not hasattr(size, "__index__") for size in sizes):
            raise TypeError(f"broadcast_shapes: sizes are ints, but {sizes} was given")
        if any(size < 0 for size in sizes):
            raise ValueError(
                f"broadcast_shapes: a shape has a dimension with negative length: {sizes}"
            )
        found.append(sizes)
    return Size(layout.broadcast_shapes(found, "broadcast_shapes"))


def is_tensor(obj: Any) -> bool:
    """Whether an object is a tensor."""
    return isinstance(obj, Tensor)


def is_storage(obj: Any) -> bool:
    """Whether an object is a tensor's storage."""
    return isinstance(obj, UntypedStorage | TypedStorage)


def numel(input: Tensor) -> int:
    """The number of elements."""
    if not isinstance(input, Tensor):
        raise TypeError(f"numel(): argument 'input' must be Tensor, not {type(input).__name__}")
    return input.numel()


def is_nonzero(input: Tensor) -> bool:
    """Whether the only element of a tensor is not zero."""
    return bool(input)


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and equal elements; NaN equals nothing."""
    require_tensors("equal", input, other)
    return decided(comparison.equal, input, other)


def allclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool:
    """Whether all elements fulfil ``|input - other| <= atol + rtol * |other|``.

    Args:
        input: a tensor.
        other: a tensor of the same dtype; shapes broadcast.
        rtol: relative tolerance.
        atol: absolute tolerance.
        equal_nan: whether NaN is close to NaN.
    """
    require_tensors("allclose", input, other)
    return decided(comparison.allclose, input, other, rtol, atol, equal_nan)


def decided(record: Any, *args: Any) -> Any:
    """What an operator says in a 0-d bool tensor as a bool; a traced tensor stays."""
    result = record.operator(*args)
    return bool(result) if isinstance(result, Tensor) else result


def require_tensors(function: str, input: Any, other: Any) -> None:
    """TypeError for what is certainly no tensor."""
    if isinstance(input, Tensor) and isinstance(other, Tensor):
        return
    for position, (name, value) in enumerate((("input", input), ("other", other)), start=1):
        if not hasattr(value, "dtype") or isinstance(value, numpy.ndarray | numpy.generic):
            given = type(value).__name__
            raise TypeError(
                f"{function}(): argument '{name}' (position {position}) must be Tensor, not {given}"
            )
