"""Arithmetic: sums, products, quotients."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.trace import PRIMITIVES, Traced
from ..promotion import result_type, scalar_type_name
from . import build
from .kinds import (
    Elementwise,
    complexes,
    floating,
    int_to_float,
    integers,
    numeric,
)
from .record import Operand, Tensor, composite, op, primitive
from .samples import Draw, binary, calls, unary

INFINITIES = (float("inf"), float("-inf"), float("nan"), 0.0, -0.0)


def elementwise(name: str, *operands: Any) -> Traced:
    """Apply an elementwise primitive to operands of any dtypes and shapes, as its operator does."""
    record = PRIMITIVES[name]
    return record.apply(*record.kind.prepare(record, operands))  # type: ignore[attr-defined]


def computed_dtype(*operands: Any) -> DType:
    """The promoted type of operands, of which at least one is a tensor."""
    context = build.context_of(operands)
    values = [build.lift(each, context) for each in operands]
    return result_type((x.dtype, build.category(x)) for x in values)


def by_number(name: str, input: Any, other: Any, first: bool = False) -> Traced:
    """An elementwise primitive of two operands where PyTorch's kernels of 16-bit types do not round
    the second to these if it is a number or has one element (nor the first if that is a number).
    """
    compute = computed_dtype(input, other)
    context = build.context_of((input, other))
    x, y = (build.lift(each, context, name) for each in (input, other))
    if not build.is_half(compute):
        return elementwise(name, x, y)
    if not (first and x.weak):
        x = build.convert(x, compute)
    if not all(size == 1 for size in y.shape):
        y = build.convert(y, compute)
    wide = (build.convert(each, dtypes.float32) for each in (x, y))
    return build.convert(elementwise(name, *wide), compute)


# ---------------------------------------------------------------- sums and products


@primitive(
    Elementwise(numeric), name="add", derivative=lambda out, x, y: (1, 1), reference=numpy.add
)
def plus(x, y):
    """x + y"""


@primitive(
    Elementwise(numeric), name="sub", derivative=lambda out, x, y: (1, -1), reference=numpy.subtract
)
def minus(x, y):
    """x - y"""


@primitive(
    Elementwise(numeric), name="mul", derivative=lambda out, x, y: (y, x), reference=numpy.multiply
)
def times(x, y):
    """x * y"""


@composite(
    names=["add"],
    inplace=True,
    out=True,
    reference=numpy.add,
    onnx="Add",
    samples=binary(numbers=[2, 2.5, True]),
)
def add(input, other, *, alpha: Operand = 1):
    """input + alpha * other"""
    other = _scaled("add", input, other, alpha)
    if computed_dtype(input, other) is dtypes.bool:
        return elementwise("logical_or", input, other)
    return elementwise("add", input, other)


@composite(
    names=["sub", "subtract"],
    inplace=True,
    out=True,
    reference=numpy.subtract,
    onnx="Sub",
    samples=binary(numbers=[2, 2.5]),
)
def sub(input, other, *, alpha: Operand = 1):
    """input - alpha * other"""
    if _is_bool(input) or _is_bool(other):
        raise RuntimeError(
            "sub: subtraction with a bool tensor is not supported; compare masks with `^` "
            "(logical_xor) and invert one with `~` (logical_not)"
        )
    return elementwise("sub", input, _scaled("sub", input, other, alpha))


@composite(names=["rsub"], samples=binary(numbers=[2, 2.5]))
def rsub(input: Tensor, other, *, alpha: Operand = 1):
    """other - alpha * input"""
    return sub(other, input, alpha=alpha)


def _is_bool(x: Any) -> bool:
    return isinstance(x, bool) or (isinstance(x, Traced) and x.dtype is dtypes.bool)


def _scaled(name: str, input: Any, other: Any, alpha: Any) -> Any:
    """alpha * other, with PyTorch's checks on alpha."""
    if isinstance(alpha, int) and not isinstance(alpha, bool) and alpha == 1:
        return other
    compute = computed_dtype(input, other)
    kind = (
        "b"
        if isinstance(alpha, bool)
        else build.lift(alpha, build.context_of((input, other)), name).dtype.kind
    )
    if kind == "b" and compute is not dtypes.bool:
        raise RuntimeError(f"{name}: Boolean alpha only supported for Boolean results.")
    if kind in "fc" and compute.is_integral:
        raise RuntimeError(
            f"{name}: alpha must not be a floating point number where the result is of "
            f"integers, but it is {alpha}"
        )
    if kind == "c" and not compute.is_complex:
        raise RuntimeError(
            f"{name}: alpha must not be a complex number where the result is real, but it is "
            f"{alpha}"
        )
    context = build.context_of((input, other))
    scaled = build.convert(build.lift(other, context, name), compute)
    return build.convert(mul(scaled, build.fitting(alpha, compute, context)), compute)


@composite(
    names=["mul", "multiply"],
    inplace=True,
    out=True,
    reference=numpy.multiply,
    onnx="Mul",
    samples=binary(numbers=[2, 2.5, True]),
)
def mul(input, other):
    """input * other"""
    if computed_dtype(input, other) is dtypes.bool:
        return elementwise("logical_and", input, other)
    return by_number("mul", input, other, first=True)


@composite(names=["positive"], views="input", itself=True, samples=unary())
def positive(input):
    """The input itself."""
    if input.dtype is dtypes.bool:
        raise RuntimeError(
            "positive: the unary `+` of a bool tensor is not supported; leave it out"
        )
    return input


@primitive(Elementwise(numeric), name="neg", derivative=lambda out, x: -1, reference=numpy.negative)
def negated(x):
    """-x"""


@composite(names=["neg", "negative"], inplace=True, out="same dtype", samples=unary(), onnx="Neg")
def neg(input):
    """-input"""
    if input.dtype is dtypes.bool:
        raise RuntimeError(
            "neg: negation of a bool tensor is not supported; invert a mask with `~` (logical_not)"
        )
    return elementwise("neg", input)


# ---------------------------------------------------------------- quotients


def _check_divisor(y: Any) -> None:
    if y.dtype.kind in "ui" and (y == 0).any():
        raise RuntimeError("ZeroDivisionError")


def _floor_divide_arrays(x: Any, y: Any) -> Any:
    _check_divisor(y)
    return numpy.floor_divide(x, y)


def _trunc_divide_arrays(x: Any, y: Any) -> Any:
    _check_divisor(y)
    if y.dtype.kind == "f":
        return numpy.trunc(numpy.divide(x, y))
    quotient = numpy.floor_divide(x, y)
    return quotient + ((x % y != 0) & ((x < 0) != (y < 0))).astype(x.dtype)


def _remainder_arrays(x: Any, y: Any) -> Any:
    _check_divisor(y)
    return numpy.remainder(x, y)


def _fmod_arrays(x: Any, y: Any) -> Any:
    _check_divisor(y)
    return numpy.fmod(x, y)


@primitive(
    Elementwise(floating | complexes, promote=int_to_float),
    name="div",
    derivative=lambda out, x, y: (op.reciprocal(y), -(x / y) / y),  # out may be changed in place
    reference=numpy.divide,
)
def divided(x, y):
    """x / y"""


@primitive(
    Elementwise(integers | floating),
    scalar="floor_divide",
    derivative=lambda out, x, y: (0, 0),
    reference=_floor_divide_arrays,
)
def floor_quotient(x, y):
    """x / y rounded down."""


@primitive(
    Elementwise(integers | floating),
    scalar="trunc_divide",
    derivative=lambda out, x, y: (0, 0),
    reference=_trunc_divide_arrays,
)
def trunc_quotient(x, y):
    """x / y rounded towards zero."""


@composite(
    names=["div", "divide"],
    inplace=True,
    out=True,
    reference=numpy.divide,
    onnx="Div",
    samples=binary(other=(1, 5), numbers=[2, 2.5]),
)
def div(input, other, *, rounding_mode: str | None = None):
    """input / other; rounding_mode "trunc" or "floor" rounds the quotient."""
    if rounding_mode is None:
        return by_number("div", input, other, first=True)
    if rounding_mode == "floor":
        return floor_divide(input, other)
    if rounding_mode == "trunc":
        return by_number("trunc_quotient", *_no_bools(input, other))
    raise RuntimeError(
        f"div: rounding_mode must be None, 'trunc' or 'floor', not '{rounding_mode}'"
    )


@composite(
    names=["true_divide"], inplace=True, out=True, samples=binary(other=(1, 5), numbers=[2, 2.5])
)
def true_divide(input, other):
    """input / other"""
    return by_number("div", input, other)


@composite(name="__rdiv__", methods=["__rdiv__"], samples=binary(1, 5, numbers=[2, 2.5]))
def reflected_div(self, other):
    """other / self"""
    return build.kept(op.reciprocal(self)) * other


@composite(
    names=["floor_divide"],
    inplace=True,
    out=True,
    samples=binary(other=(1, 5), numbers=[2, 2.5, -3]),
)
def floor_divide(input, other):
    """input / other rounded down."""
    return by_number("floor_quotient", *_no_bools(input, other))


def _no_bools(*operands: Any) -> tuple[Any, ...]:
    """Quotients and remainders of bools are not defined."""
    if computed_dtype(*operands) is dtypes.bool:
        raise NotImplementedError("\"div_floor_cpu\" not implemented for 'Bool'")
    return operands


@primitive(
    Elementwise(integers | floating),
    inplace=True,
    out=True,
    names=["remainder"],
    derivative=lambda out, x, y: (1, -floor_divide(x, y)),
    reference=_remainder_arrays,
    samples=binary(other=(1, 5), numbers=[2, 2.5, -3]),
)
def remainder(input, other):
    """The rest of the division rounded down; it has the sign of other."""


@primitive(
    Elementwise(integers | floating),
    names=["fmod"],
    derivative=lambda out, x, y: (1, -div(x, y, rounding_mode="trunc")),
    reference=_fmod_arrays,
    samples=binary(other=(1, 5), numbers=[2, 2.5, -3]),
    onnx="Mod",
)
def fmod(input: Tensor, other):
    """The rest of the division rounded towards zero; it has the sign of input."""


# ---------------------------------------------------------------- of three operands


@composite(
    names=["lerp"],
    inplace=True,
    out=True,
    samples=calls((Draw((3,)), Draw((3,)), 0.3), (Draw((3,)), Draw((2, 3)), Draw((3,)))),
)
def lerp(input, end, weight):
    """input + weight * (end - input), computed from the nearer end."""
    if end.dtype is not input.dtype:
        raise RuntimeError(
            f"lerp: expected dtype {input.dtype} for `end` but got dtype {end.dtype}"
        )
    if not build.is_number(weight):
        difference = end - input
        near, far = input + weight * difference, end - difference * (1 - weight)
        return op.where(op.abs(weight) < 0.5, near, far)
    compute = computed_dtype(input, end)
    if compute.is_integral:
        kind = scalar_type_name(compute)
        raise NotImplementedError(f"\"lerp_kernel_scalar\" not implemented for '{kind}'")
    number = build.lift(weight, input.context)
    operands = [input, end]
    input, end = build.widened(input), build.widened(end)
    weight = build.fitting(number, input.dtype, input.context)
    difference = end - input
    if number.dtype.is_complex or number < 0.5 and number > -0.5:
        result = input + weight * difference
    else:
        result = end - difference * (1 - weight)
    return build.laid_out_by(build.convert(result, compute), operands)


@composite(
    names=["addcmul"], inplace=True, out=True, samples=calls((Draw((3,)), Draw((3,)), Draw((2, 1))))
)
def addcmul(input, tensor1, tensor2, *, value: Operand = 1):
    """input + value * tensor1 * tensor2"""
    start, scaled, factor = _accumulated(input, tensor1, tensor2, value)
    if start.dtype is dtypes.bool:
        raise NotImplementedError("\"addcmul_cpu_out\" not implemented for 'Bool'")
    return build.convert(start + scaled * factor, computed_dtype(input, tensor1, tensor2))


@composite(
    names=["addcdiv"],
    inplace=True,
    out=True,
    samples=calls((Draw((3,)), Draw((3,)), Draw((2, 1), 1, 3))),
)
def addcdiv(input, tensor1, tensor2, *, value: Operand = 1):
    """input + value * tensor1 / tensor2"""
    if computed_dtype(tensor1, tensor2).is_integral:
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported; convert the tensors to a "
            "floating-point type first"
        )
    start, scaled, divisor = _accumulated(input, tensor1, tensor2, value)
    return build.convert(start + scaled / divisor, computed_dtype(input, tensor1, tensor2))


def _accumulated(input: Any, tensor1: Any, tensor2: Any, value: Any) -> tuple[Any, Any, Any]:
    """input, value * tensor1 and tensor2, rounded to their common type, as kernels compute them."""
    compute = computed_dtype(input, tensor1, tensor2)
    start, first, second = (
        build.widened(build.convert(each, compute)) for each in (input, tensor1, tensor2)
    )
    factor = build.fitting(value, start.dtype, start.context)
    return start, factor * first, second
