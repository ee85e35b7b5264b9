"""Runs kernels without the native core: maps a blob into memory and calls it on NumPy arrays."""

from __future__ import annotations

import ctypes
import mmap
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy

from rushlight import dtypes
from rushlight.codegen import compile as codegen
from rushlight.codegen.nest import Instruction, Nest, Operand, Variant
from rushlight.codegen.target import Target, host_target

_SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 7)


class Kernel:
    """A kernel in executable memory."""

    def __init__(self, code: codegen.Code) -> None:
        size = max(len(code.blob), 1)
        self.memory = mmap.mmap(-1, size, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self.memory.write(code.blob)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.function = _SIGNATURE(start + code.entry)
        addresses = codegen.external_addresses()
        self.table = (ctypes.c_uint64 * len(addresses))(*addresses)

    def __call__(
        self,
        pointers: Sequence[int],
        sizes: Sequence[int],
        strides: Sequence[int],
        scalars: bytes = b"",
        ints: Sequence[int] = (),
        scratch: numpy.ndarray | None = None,
    ) -> int:
        def words(values: Sequence[int]) -> ctypes.Array:
            return (ctypes.c_int64 * max(len(values), 1))(*values)

        packed = ctypes.create_string_buffer(scalars, max(len(scalars), 8))
        scratch_address = scratch.ctypes.data if scratch is not None else 0
        return self.function(
            words(pointers),
            words(sizes),
            words(strides),
            packed,
            words(ints),
            scratch_address,
            self.table,
        )


@dataclass
class View:
    """An operand: an array and a stride for each dim of the domain (0 where it does not vary)."""

    array: numpy.ndarray | None
    strides: Sequence[int]  # bytes, one per domain dim
    start: int = 0  # of a coordinate


def view(array: numpy.ndarray, shape: Sequence[int]) -> View:
    """An array broadcast to the domain's shape."""
    spread = numpy.broadcast_to(array, tuple(shape))
    return View(array, spread.strides)


@dataclass
class Program:
    """Builds nests tersely."""

    parallel: int
    reduced: int
    operands: list[Operand] = field(default_factory=list)
    body: list[Instruction] = field(default_factory=list)
    stores: list[tuple[int, int]] = field(default_factory=list)
    scalars: int = 0
    ints: int = 0

    def operand(self, dtype, role: str, level: str) -> int:
        self.operands.append(Operand(dtype, role, level))
        return len(self.operands) - 1

    def emit(self, name: str, *arguments, dtype, wrap: bool = False) -> int:
        self.body.append(Instruction(name, arguments, dtype, wrap))
        return len(self.body) - 1

    def read(self, dtype, level: str) -> int:
        return self.emit("load", self.operand(dtype, "read", level), dtype=dtype)

    def write(self, value: int, level: str, dtype=None) -> int:
        operand = self.operand(dtype or self.body[value].dtype, "write", level)
        self.stores.append((operand, value))
        return operand

    def nest(self) -> Nest:
        return Nest(
            self.parallel, self.reduced, tuple(self.operands), self.scalars, self.ints,
            tuple(self.body), tuple(self.stores),
        )  # fmt: skip


def classes_of(nest: Nest, views: Sequence[View], loop: int) -> str:
    letters = ""
    for operand, each in zip(nest.operands, views, strict=True):
        stride = each.strides[loop] if each.strides else 0
        unit = 1 if operand.role == "coordinate" else operand.dtype.itemsize
        letters += "B" if stride == 0 else "C" if stride == unit else "S"
    return letters


def evaluate(
    nest: Nest,
    domain: Sequence[int],
    views: Sequence[View],
    vector: str = "P",
    scalars: bytes = b"",
    ints: Sequence[int] = (),
    target: Target | None = None,
) -> int:
    """Run a nest over a domain of at most two parallel dims; returns the status."""
    parallel = list(domain[: nest.parallel])
    reduced = list(domain[nest.parallel :])
    assert len(parallel) <= 2
    padding = 2 - len(parallel)
    sizes = [1] * padding + parallel + reduced
    loops = [[0] * padding + list(each.strides) for each in views]
    padded = [View(v.array, strides, v.start) for v, strides in zip(views, loops, strict=True)]
    classes = classes_of(nest, padded, 1 if vector == "P" else len(sizes) - 1)
    variant = Variant(vector, classes, len(reduced))
    target = target or host_target()
    per_element = codegen.scratch_bytes(nest, variant, target)
    count = int(numpy.prod(reduced)) if reduced else 1
    scratch = numpy.full(per_element * count + 64, 0xAA, numpy.uint8)
    kernel = Kernel(codegen.compile(nest, variant, target))
    pointers = [v.start if v.array is None else v.array.ctypes.data for v in padded]
    flat = [stride for strides in loops for stride in strides]
    status = kernel(pointers, sizes, flat, scalars, ints, scratch)
    assert (scratch[per_element * count :] == 0xAA).all(), "scratch overrun"
    return status


def evaluate_split(
    nest: Nest,
    domain: Sequence[int],
    views: Sequence[View],
    vector: str,
    parts: int,
    scalars: bytes = b"",
) -> int:
    """Run a nest of at most one parallel dim with its innermost reduced loop cut into parts."""
    parallel, reduced = list(domain[: nest.parallel]), list(domain[nest.parallel :])
    padding = 2 - len(parallel)
    points = parallel[0] if parallel else 1
    count = len(nest.stores)
    slots = numpy.zeros((points, parts, count, 64), numpy.uint8)
    sizes = [1] * padding + parallel
    bounds = [reduced[-1] * k // parts for k in range(parts + 1)]
    loops = [[0] * padding + list(each.strides) for each in views]
    status = 0
    for part in range(parts):
        pointers, flat, partial_views = [], [], []
        for k, each in enumerate(views):
            strides = list(loops[k])
            if nest.operands[k].role == "write":
                store = [operand for operand, _ in nest.stores].index(k)
                pointers.append(slots[0, part, store].ctypes.data if points else 0)
                strides = [0] * len(strides)
                strides[1] = slots.strides[0] if parallel else 0
            elif each.array is None:
                pointers.append(each.start + bounds[part] * strides[-1])
            else:
                pointers.append(each.array.ctypes.data + bounds[part] * strides[-1])
            flat += strides
            partial_views.append(View(each.array, strides))
        classes = classes_of(
            nest, partial_views, 1 if vector == "P" else len(sizes) + len(reduced) - 1
        )
        kernel = Kernel(codegen.compile(nest, Variant(vector, classes, len(reduced), "partial")))
        length = bounds[part + 1] - bounds[part]
        status |= kernel(pointers, [*sizes, *reduced[:-1], length], flat, scalars)
    padded = [View(v.array, strides) for v, strides in zip(views, loops, strict=True)]
    classes = classes_of(nest, padded, 1)
    kernel = Kernel(codegen.compile(nest, Variant(vector, classes, len(reduced), "finish")))
    pointers = [v.start if v.array is None else v.array.ctypes.data for v in views]
    flat = [stride for strides in loops for stride in strides]
    return status | kernel(pointers, [*sizes, *reduced[:-1], parts], flat, scalars, (), slots)


def numpy_of(dtype) -> numpy.dtype:
    """The NumPy type of an element in memory (bfloat16: its bits, complex32: a pair of halves)."""
    if dtype is dtypes.bfloat16:
        return numpy.dtype(numpy.uint16)
    if dtype is dtypes.complex32:
        return numpy.dtype([("re", numpy.float16), ("im", numpy.float16)])
    return dtype.numpy


def unary(
    name: str, source, result, x: numpy.ndarray, target: Target | None = None
) -> numpy.ndarray:
    """One scalar instruction over a contiguous array."""
    p = Program(1, 0)
    p.write(p.emit(name, p.read(source, "P"), dtype=result), "P")
    out = numpy.zeros(x.shape, numpy_of(result))
    evaluate(p.nest(), x.shape, [view(x, x.shape), view(out, x.shape)], target=target)
    return out


def binary(
    name: str, source, result, x: numpy.ndarray, y: numpy.ndarray
) -> tuple[numpy.ndarray, int]:
    p = Program(1, 0)
    p.write(p.emit(name, p.read(source, "P"), p.read(source, "P"), dtype=result), "P")
    out = numpy.zeros(x.shape, numpy_of(result))
    views = [view(each, x.shape) for each in (x, y, out)]
    return out, evaluate(p.nest(), x.shape, views)


def pack_scalars(*numbers: int | float | complex) -> bytes:
    """Run-time words as a call passes them."""
    result = b""
    for number in numbers:
        if isinstance(number, complex):
            result += struct.pack("dd", number.real, number.imag)
        else:
            result += struct.pack("d" if isinstance(number, float) else "q", number)
    return result
