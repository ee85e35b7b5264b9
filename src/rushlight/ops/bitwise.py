"""Operations on the bits of integers and on bools."""

from __future__ import annotations

import numpy

from .kinds import Elementwise, boolean, integers
from .record import NONE, primitive
from .samples import binary, unary

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
