"""What a tensor of either framework holds, byte by byte, through its data pointer."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy

# How NumPy reads each dtype; bfloat16 is widened in ``numbers``.
STORED = {
    "bool": numpy.uint8,
    "uint8": numpy.uint8,
    "int8": numpy.int8,
    "int16": numpy.int16,
    "int32": numpy.int32,
    "int64": numpy.int64,
    "float16": numpy.float16,
    "bfloat16": numpy.uint16,
    "float32": numpy.float32,
    "float64": numpy.float64,
    "complex32": numpy.dtype([("real", numpy.float16), ("imag", numpy.float16)]),
    "complex64": numpy.complex64,
    "complex128": numpy.complex128,
}
# Distance from 1 to the next number, and the largest finite number.
PRECISION = {
    "float16": (2.0**-10, 65504.0),
    "bfloat16": (2.0**-7, 3.3895e38),
    "float32": (2.0**-23, 3.4028e38),
    "float64": (2.0**-52, 1.7976e308),
    "complex32": (2.0**-10, 65504.0),
    "complex64": (2.0**-23, 3.4028e38),
    "complex128": (2.0**-52, 1.7976e308),
}
SMALLEST = {
    "float16": 2.0**-24,
    "bfloat16": 2.0**-133,
    "float32": 2.0**-149,
    "float64": 2.0**-1074,
    "complex32": 2.0**-24,
    "complex64": 2.0**-149,
    "complex128": 2.0**-1074,
}


def dtype_name(tensor: Any) -> str:
    return repr(tensor.dtype).rpartition(".")[2]


def numbers(tensor: Any) -> numpy.ndarray:
    """The elements as a new array; half precision widened to float64."""
    name = dtype_name(tensor)
    stored = STORED[name]
    shape = tuple(tensor.shape)
    if 0 in shape:
        wide = {"bfloat16": numpy.float64, "complex32": numpy.complex64}
        return numpy.empty(shape, wide.get(name, stored))
    if not tensor.data_ptr():  # PyTorch's zeros without memory, of some second derivatives
        tensor = tensor.clone()
    item = numpy.dtype(stored).itemsize
    strides = tuple(item * stride for stride in tensor.stride())
    extent = item + sum(stride * (size - 1) for stride, size in zip(strides, shape))
    buffer = (ctypes.c_char * extent).from_address(tensor.data_ptr())
    array = numpy.ndarray(shape, stored, buffer, strides=strides).copy()
    if name == "bfloat16":
        return (array.astype(numpy.uint32) << 16).view(numpy.float32).astype(numpy.float64)
    if name == "float16":
        return array.astype(numpy.float64)
    if name == "complex32":
        return array["real"] + numpy.complex64(1j) * array["imag"]
    return array


def fill(tensor: Any, array: numpy.ndarray) -> None:
    """Write a contiguous tensor's elements without the framework's knowledge."""
    name = dtype_name(tensor)
    if name == "bfloat16":
        array = (array.astype(numpy.float32).view(numpy.uint32) >> 16).astype(numpy.uint16)
    array = numpy.ascontiguousarray(array, STORED[name])
    if array.size:
        ctypes.memmove(tensor.data_ptr(), array.ctypes.data, array.nbytes)


def storage_place(tensor: Any) -> tuple[int, int]:
    """The address and the length of the tensor's storage; empty storages have none."""
    storage = tensor.untyped_storage()
    size = storage.nbytes()
    return (storage.data_ptr() if size else 0), size


def storage_bytes(tensor: Any) -> bytes:
    address, size = storage_place(tensor)
    return ctypes.string_at(address, size) if size else b""


def overwrite_storage(tensor: Any, content: bytes) -> None:
    address, size = storage_place(tensor)
    if size and size == len(content):
        ctypes.memmove(address, content, size)
