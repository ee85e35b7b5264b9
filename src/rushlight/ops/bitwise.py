"""Operations on the bits of integers and on bools."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from ..layout import reduced_dims
from ..promotion import scalar_type_name
from . import build
from .checks import require_elements
from .host_kinds import HostOver
from .kinds import Elementwise, boolean, integers
from .record import NONE, Dim, Tensor, composite, primitive
from .samples import Draw, binary, calls, unary

_BITS = Elementwise(boolean | integers)


@primitive(
    _BITS,
    names=["bitwise_and"],
    methods=["bitwise_and", "__and__"],
    scalar="and",
    derivative=NONE,
    reference=numpy.bitwise_and,
    samples=binary(numbers=[3]),
    onnx="BitwiseAnd",
)
def bitwise_and(input, other):
    """The bits set in both."""


@primitive(
    _BITS,
    names=["bitwise_or"],
    methods=["bitwise_or", "__or__"],
    scalar="or",
    derivative=NONE,
    reference=numpy.bitwise_or,
    samples=binary(numbers=[3]),
    onnx="BitwiseOr",
)
def bitwise_or(input, other):
    """The bits set in one or both."""


@primitive(
    _BITS,
    names=["bitwise_xor"],
    methods=["bitwise_xor", "__xor__"],
    scalar="xor",
    derivative=NONE,
    reference=numpy.bitwise_xor,
    samples=binary(numbers=[3]),
    onnx="BitwiseXor",
)
def bitwise_xor(input, other):
    """The bits set in exactly one."""


@primitive(
    _BITS,
    names=["bitwise_not"],
    scalar="not",
    derivative=NONE,
    reference=numpy.invert,
    samples=unary(),
    onnx="BitwiseNot",
)
def bitwise_not(input):
    """All bits turned; of bools, the negation."""


def _left_shift(x, y):
    bits = 8 * x.dtype.itemsize
    valid = (y >= 0) & (y < bits)
    return numpy.where(valid, numpy.left_shift(x, numpy.where(valid, y, 0)), 0)


def _right_shift(x, y):
    bits = 8 * x.dtype.itemsize
    return numpy.right_shift(x, numpy.where((y >= 0) & (y < bits), y, bits - 1))


@primitive(
    Elementwise(integers),
    names=["bitwise_left_shift"],
    methods=["bitwise_left_shift", "__lshift__"],
    scalar="shift_left",
    derivative=NONE,
    reference=_left_shift,
    samples=binary(0, 5, other=(0, 4), numbers=[2]),
)
def bitwise_left_shift(input, other):
    """The bits moved towards the high end; 0 for a shift by as many bits as there are, or by a
    negative number.
    """


@primitive(
    Elementwise(integers),
    names=["bitwise_right_shift"],
    methods=["bitwise_right_shift", "__rshift__"],
    scalar="shift_right",
    derivative=NONE,
    reference=_right_shift,
    samples=binary(0, 50, other=(0, 4), numbers=[2]),
)
def bitwise_right_shift(input, other):
    """The bits moved towards the low end, the sign kept; too large a shift leaves only the sign."""


# ---------------------------------------------------------------- hashes


def _hash_arrays(x: Any, dims: tuple[int, ...]) -> Any:
    if x.dtype.kind == "f":
        bits = x.astype(numpy.float64).view(numpy.uint64)
    else:
        bits = x.astype(numpy.uint64 if x.dtype == numpy.uint64 else numpy.int64).view(numpy.uint64)
    return numpy.bitwise_xor.reduce(bits, axis=dims, keepdims=True)


@primitive(
    HostOver(dtypes.uint64),
    name="hash_over",
    derivative=NONE,
    reference=_hash_arrays,
)
def hash_over(x, dims):
    """All elements over dims as 64 bits, combined by exclusive or."""


@composite(
    names=["hash_tensor"],
    out="same dtype",
    samples=lambda dtype: (
        iter(()) if dtype.is_complex else calls((Draw((3, 4)),), (Draw((3, 4)), 1))(dtype)
    ),
)
def hash_tensor(input: Tensor, dim: Dim = None, *, keepdim: bool = False, mode: int = 0):
    """A hash of the elements over dims, as uint64: their bits, as 64-bit floating-point numbers or
    integers, combined by exclusive or. mode: 0 is the only one.
    """
    if mode != 0:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    if input.dtype.is_complex:
        raise NotImplementedError(
            f"\"xor_sum_cpu\" not implemented for '{scalar_type_name(input.dtype)}'"
        )
    dims = reduced_dims(dim, input.ndim)
    if dim is None:
        require_elements("hash_tensor", input)
    for each in dims:
        if input.shape[each] == 0:
            raise IndexError(f"hash_tensor: Expected reduction dim {each} to have non-zero size.")
    result = hash_over.apply(input, dims=dims)
    return result if keepdim else build.drop_dims(result, dims)
