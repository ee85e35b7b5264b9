"""Kernels in Python for tests of the core: the machine code only jumps to a ctypes callback.

The callback sees what compiled code would see, so tests can check both results and the loops that
the core chose.
"""

from __future__ import annotations

import ctypes
import platform
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from rushlight import _core

Words = ctypes.POINTER(ctypes.c_int64)
Callback = ctypes.CFUNCTYPE(
    ctypes.c_int64,
    ctypes.POINTER(ctypes.c_void_p),
    Words,
    Words,
    Words,
    Words,
    ctypes.c_void_p,
    ctypes.c_void_p,
)


def jump_to(address: int) -> bytes:
    """Position-independent code that jumps to an absolute address."""
    if platform.machine() in ("x86_64", "AMD64"):
        return b"\x48\xb8" + struct.pack("<Q", address) + b"\xff\xe0"  # mov rax, address; jmp rax
    if platform.machine() in ("aarch64", "arm64"):
        return struct.pack("<II", 0x58000050, 0xD61F0200) + struct.pack(
            "<Q", address
        )  # ldr x16, 8; br x16
    raise NotImplementedError(platform.machine())


class Launch:
    """One call of the code: ``arrays`` are the operands over [P1, P0, reduced...]."""

    def __init__(
        self, kernel: PythonKernel, variant: tuple[str, str, int, str], words: tuple[Any, ...]
    ):
        pointers, sizes, strides, scalars, ints, scratch, _ = words
        self.vector, self.classes, self.loops, self.split = variant
        count = 2 + (1 if self.split == "finish" else self.loops)
        self.sizes = tuple(sizes[i] for i in range(count))
        self.strides = [
            tuple(strides[i * count + j] for j in range(count)) for i in range(len(kernel.operands))
        ]
        self.pointers = [pointers[i] or 0 for i in range(len(kernel.operands))]
        self.scalars = [scalars[i] for i in range(kernel.scalars)]
        self.ints = [ints[i] for i in range(kernel.ints)]
        self.scratch = scratch
        self.arrays = [self.array(kernel, i) for i in range(len(kernel.operands))]

    def array(self, kernel: PythonKernel, index: int) -> np.ndarray:
        role, level, dtype = kernel.operands[index]
        axes = [
            i for i in range(len(self.sizes)) if ("P" if i < 2 else "R") in level or role == "read"
        ]
        if role == "coordinate":
            grid = np.meshgrid(*[np.arange(n) for n in self.sizes], indexing="ij")
            return self.pointers[index] + sum(s * g for s, g in zip(self.strides[index], grid))
        shape = tuple(self.sizes[i] for i in axes)
        if not all(shape):
            return np.empty(shape, dtype)
        strides = tuple(self.strides[index][i] for i in axes)
        return array_at(self.pointers[index], shape, dtype, strides)


def array_at(
    address: int, shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...] | None = None
) -> np.ndarray:
    """An array over foreign memory."""

    class Memory:
        __array_interface__ = {
            "data": (address, False), "shape": shape, "strides": strides,
            "typestr": np.dtype(dtype).str, "version": 3,
        }  # fmt: skip

    return np.asarray(Memory())


class PythonKernel:
    """A kernel whose code is ``function(launch)``, which may return a status.

    operands: (role, level, numpy dtype) each. ``launches`` records the calls.
    """

    def __init__(
        self,
        function: Callable[[Launch], int | None],
        operands: list[tuple[str, str, Any]],
        parallel: int,
        reduced: int = 0,
        **options: Any,
    ):
        self.function, self.operands = function, operands
        self.scalars, self.ints = options.get("scalars", 0), options.get("ints", 0)
        self.launches: list[Launch] = []
        self.callbacks: list[Any] = []
        self.compiled: list[tuple[str, str, int, str]] = []
        described = tuple(
            (role, level, np.dtype(dtype).itemsize) for role, level, dtype in operands
        )
        self.core = _core.Kernel("a nest", self.compile, described, parallel, reduced, **options)

    def compile(self, *variant: Any) -> tuple[bytes, int]:
        def call(*words: Any) -> int:
            launch = Launch(self, variant, words)
            self.launches.append(launch)
            return self.function(launch) or 0

        callback = Callback(call)
        self.callbacks.append(callback)
        self.compiled.append(variant)
        address = ctypes.cast(callback, ctypes.c_void_p).value
        assert address is not None
        return jump_to(address), 0


def elementwise(
    function: Callable[..., Any], dtypes: list[Any], parallel: int, **options: Any
) -> PythonKernel:
    """A kernel over parallel dims only; the last operand is written."""

    def run(launch: Launch) -> None:
        *inputs, output = launch.arrays
        output[...] = function(*inputs)

    roles = ["read"] * (len(dtypes) - 1) + ["write"]
    return PythonKernel(
        run, [(role, "P", dtype) for role, dtype in zip(roles, dtypes)], parallel, **options
    )


def reduction(
    function: Callable[..., Any], dtypes: list[Any], parallel: int, reduced: int, **options: Any
) -> Any:
    """A kernel that writes ``function(input, axes)`` for one input and one output."""

    def run(launch: Launch) -> None:
        source, output = launch.arrays
        output[...] = function(source, tuple(range(2, len(launch.sizes))))

    operands = [("read", "PR", dtypes[0]), ("write", "P", dtypes[1])]
    return PythonKernel(run, operands, parallel, reduced, **options)
