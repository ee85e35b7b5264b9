"""Arithmetic: sums, products, quotients, powers, extremes."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.trace import PRIMITIVES, Traced
from . import build
from .complex import real_part
from .kinds import (
    Elementwise,
    complexes,
    everything,
    floating,
    int_to_float,
    integers,
    numeric,
    real,
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
    from ..promotion import result_type

    context = build.context_of(operands)
    values = [build.lift(each, context) for each in operands]
    return result_type((x.dtype, build.category(x)) for x in values)


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
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are "
            "trying to invert a mask, "
            "use the `~` or `logical_not()` operator instead."
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
            f"{name}: For integral input tensors, argument alpha must not be a floating point "
            "number."
        )
    if kind == "c" and not compute.is_complex:
        raise RuntimeError(
            f"{name}: For non-complex input tensors, argument alpha must not be a complex number."
        )
    context = build.context_of((input, other))
    scaled = build.convert(build.lift(other, context, name), compute)
    return mul(scaled, alpha)


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
    return elementwise("mul", input, other)


@composite(names=["positive"], views="input", itself=True, samples=unary())
def positive(input):
    """The input itself."""
    if input.dtype is dtypes.bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


@primitive(Elementwise(numeric), name="neg", derivative=lambda out, x: -1, reference=numpy.negative)
def negated(x):
    """-x"""


@composite(names=["neg", "negative"], inplace=True, out=True, samples=unary(), onnx="Neg")
def neg(input):
    """-input"""
    if input.dtype is dtypes.bool:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
            "invert a mask, use the "
            "`~` or `logical_not()` operator instead."
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
    derivative=lambda out, x, y: (reciprocal(y), -out / y),
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
        return elementwise("div", input, other)
    if rounding_mode == "floor":
        return floor_divide(input, other)
    if rounding_mode == "trunc":
        return elementwise("trunc_quotient", *_no_bools(input, other))
    raise RuntimeError(
        "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
        f"'{rounding_mode}'"
    )


@composite(
    names=["true_divide"], inplace=True, out=True, samples=binary(other=(1, 5), numbers=[2, 2.5])
)
def true_divide(input, other):
    """input / other"""
    return elementwise("div", input, other)


@composite(name="__rdiv__", methods=["__rdiv__"], samples=binary(1, 5, numbers=[2, 2.5]))
def reflected_div(self, other):
    """other / self"""
    return div(other, self)


@composite(
    names=["floor_divide"],
    inplace=True,
    out=True,
    samples=binary(other=(1, 5), numbers=[2, 2.5, -3]),
)
def floor_divide(input, other):
    """input / other rounded down."""
    return elementwise("floor_quotient", *_no_bools(input, other))


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


# ---------------------------------------------------------------- powers and roots


def _pow_arrays(x: Any, y: Any) -> Any:
    if x.dtype.kind in "ui":
        result = numpy.power(x, numpy.maximum(y, 0))
        inverse = numpy.where(
            x == 1, 1, numpy.where((x == -1) if x.dtype.kind == "i" else False, 1 - 2 * (y % 2), 0)
        )
        return numpy.where(y < 0, inverse.astype(x.dtype), result)
    return numpy.power(x, y)


def _pow_partials(out: Any, x: Any, y: Any) -> tuple[Any, Any]:
    base = op.where(y == 0, 1, x)  # 0 ** -1 would be infinite, and NaN in second derivatives
    by_base = op.where(y == 0, 0, y * base.pow(y - 1))
    logarithm = op.where((x == 0) & (y >= 0 if not y.dtype.is_complex else y == y), 0, op.log(x))
    return by_base, out * logarithm


@primitive(Elementwise(numeric), name="pow", derivative=_pow_partials, reference=_pow_arrays)
def power(x, y):
    """x to the power y."""


@composite(
    names=["pow"],
    inplace=True,
    out=True,
    onnx="Pow",
    samples=binary(0.5, 4, other=(0, 3), numbers=[2, 0.5, 3, 1, 0, 2.5]),
)
def pow(input, exponent):
    """input to the power exponent. The common exponents have kernels of their own."""
    if not isinstance(exponent, Traced) or exponent.weak:
        return _pow_number(input, exponent)
    result = elementwise("pow", input, exponent)
    return build.row_major(result) if build.is_number(input) else result


def _pow_number(x: Any, exponent: Any) -> Any:
    kind = build.lift(exponent, build.context_of((x, exponent)), "pow").dtype.kind
    if not isinstance(x, Traced) or kind == "c":
        return elementwise("pow", x, exponent)
    integral = x.dtype.is_integral
    if integral and kind in "bi" and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    compute = computed_dtype(x, exponent)
    if exponent == 2:
        x = build.convert(x, compute) if not x.weak else x
        return x * x
    if exponent == 1:
        return build.convert(x, compute) if not x.weak else x
    if exponent == 3:
        x = build.convert(x, compute) if not x.weak else x
        return x * x * x
    if not integral or kind == "f":
        for special, name in ((0.5, "sqrt"), (-0.5, "rsqrt"), (-1, "reciprocal")):
            if exponent == special:
                return elementwise(name, x)
    return elementwise("pow", x, exponent)


@composite(names=["float_power"], inplace=True, out=True, samples=binary(0.5, 4, other=(0, 3), numbers=[2, 0.5]))
def float_power(input, exponent):
    """input to the power exponent, in double precision."""
    double = dtypes.complex128 if computed_dtype(input, exponent).is_complex else dtypes.float64
    context = build.context_of((input, exponent))
    operands = (build.lift(each, context, "float_power") for each in (input, exponent))
    base, power_ = (x if x.weak else build.convert(x, double) for x in operands)
    return pow(base, power_)


@composite(names=["square"], inplace=True, out=True, samples=unary())
def square(input):
    """input * input"""
    return pow(input, 2)


@primitive(
    Elementwise(floating | complexes, promote=int_to_float),
    names=["sqrt"],
    derivative=lambda out, x: 1 / (2 * out),
    reference=numpy.sqrt,
    samples=unary(0, 9, special=INFINITIES),
    onnx="Sqrt",
)
def sqrt(input):
    """The square root."""


@primitive(
    Elementwise(floating | complexes, promote=int_to_float),
    names=["rsqrt"],
    derivative=lambda out, x: -0.5 * out / x,
    reference=lambda x: 1 / numpy.sqrt(x),
    samples=unary(0.1, 9, special=(float("inf"), 0.0)),
)
def rsqrt(input):
    """One over the square root."""


@primitive(
    Elementwise(floating | complexes, promote=int_to_float),
    names=["reciprocal"],
    derivative=lambda out, x: -out * out,
    reference=lambda x: 1 / x,
    samples=unary(special=INFINITIES),
    onnx="Reciprocal",
)
def reciprocal(input):
    """One over the input."""


# ---------------------------------------------------------------- absolute value, signs, rounding


def _abs_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    return [gradients[0] * sgn(inputs[0])]


def _abs_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    (x,), (tangent,) = inputs, tangents
    return [build.convert(build.conjugate(sgn(x)) * tangent, outputs[0].dtype)]


@primitive(
    Elementwise(everything - frozenset((dtypes.bool,)), output=lambda dtype: dtype.to_real()),
    names=["abs", "absolute"],
    vjp=_abs_vjp,
    jvp=_abs_jvp,
    reference=numpy.abs,
    samples=unary(special=INFINITIES),
    onnx="Abs",
)
def abs(input):
    """The absolute value."""


def _sgn_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    (x,), (out,), (g,) = inputs, outputs, gradients
    if not x.dtype.is_complex:
        return [build.zeros_like(x)]
    # Only the part of g that is at a right angle to x turns sgn(x).
    size = abs(x)
    turning = g - real_part(build.conjugate(out) * g) * out
    return [op.where(size == 0, 0, turning / op.where(size == 0, 1, size))]


@primitive(
    Elementwise(everything),
    names=["sgn"],
    vjp=_sgn_vjp,
    jvp=lambda inputs, outputs, tangents, attributes: _sgn_vjp(
        inputs, outputs, tangents, attributes
    ),
    reference=lambda x: (
        x
        if x.dtype.kind == "b"
        else numpy.where(x == 0, 0, x / numpy.where(x == 0, 1, numpy.abs(x)))
        if x.dtype.kind == "c"
        else numpy.where(x > 0, 1, numpy.where(x < 0, -1, 0))
    ),
    samples=unary(),
)
def sgn(input):
    """The sign; of a complex number, the number scaled to absolute value 1."""


@primitive(
    Elementwise(real),
    names=["sign"],
    derivative=lambda out, x: 0,
    reference=lambda x: (
        x if x.dtype.kind == "b" else numpy.where(x > 0, 1, numpy.where(x < 0, -1, 0))
    ),
    samples=unary(),
    onnx="Sign",
)
def sign(input):
    """-1, 0 or 1."""


def _rounding(
    name: str, function: Any, doc: str, onnx: str | None = None, alias: tuple[str, ...] = ()
) -> Any:
    def body(input):
        return input if input.dtype.kind in "ui" else elementwise(f"{name}_floating", input)

    def point(input):
        """Rounding of floating-point numbers."""

    body.__doc__ = doc
    primitive(
        Elementwise(floating),
        name=f"{name}_floating",
        scalar=name,
        derivative=lambda out, x: 0,
        reference=function,
    )(point)
    return composite(
        names=[name, *alias], inplace=True, out=True, samples=unary(special=INFINITIES), onnx=onnx
    )(body)


floor = _rounding("floor", numpy.floor, "Round down.", "Floor")
ceil = _rounding("ceil", numpy.ceil, "Round up.", "Ceil")
trunc = _rounding("trunc", numpy.trunc, "Round towards zero.", alias=("fix",))


@primitive(
    Elementwise(floating), scalar="round", derivative=lambda out, x: 0, reference=numpy.round
)
def round_floating(x):
    """Round to the nearest integer, halves to even."""


@composite(
    names=["round", "special.round"],
    methods=["round"],
    inplace=True,
    out=True,
    samples=unary(special=INFINITIES),
    onnx="Round",
)
def round(input, *, decimals: int = 0):
    """Round to the nearest number of this many decimals, halves to even."""
    if input.dtype.kind in "ui":
        return input
    if decimals == 0:
        return elementwise("round_floating", input)
    scale = 10.0 ** (decimals if decimals > 0 else -decimals)
    if decimals > 0:
        return elementwise("round_floating", input * scale) / scale
    return elementwise("round_floating", input / scale) * scale


@composite(names=["frac"], inplace=True, out=True, samples=unary())
def frac(input):
    """What trunc takes away."""
    return input - trunc(input)


# ---------------------------------------------------------------- extremes


def _maximum_partials(out: Any, x: Any, y: Any) -> tuple[Any, Any]:
    return op.where(x == y, 0.5, op.where(x < y, 0.0, 1.0)), op.where(
        x == y, 0.5, op.where(x > y, 0.0, 1.0)
    )


def _minimum_partials(out: Any, x: Any, y: Any) -> tuple[Any, Any]:
    return tuple(reversed(_maximum_partials(out, x, y)))  # type: ignore[return-value]


@primitive(
    Elementwise(real),
    names=["maximum"],
    derivative=_maximum_partials,
    reference=numpy.maximum,
    samples=binary(),
    onnx="Max",
)
def maximum(input: Tensor, other: Tensor):
    """The greater of two; NaN if either is."""


@primitive(
    Elementwise(real),
    names=["minimum"],
    derivative=_minimum_partials,
    reference=numpy.minimum,
    samples=binary(),
    onnx="Min",
)
def minimum(input: Tensor, other: Tensor):
    """The lesser of two; NaN if either is."""


@primitive(
    Elementwise(integers | floating),
    name="clamp",
    scalar=lambda s, x, low, high: s.minimum(s.maximum(x, low), high),
    derivative=lambda out, x, low, high: (
        (x >= low) & (x <= high),
        (low < high) & (x < low),
        (x > high) | (high < low),
    ),
    reference=lambda x, low, high: numpy.minimum(numpy.maximum(x, low), high),
)
def clamped(x, low, high):
    """x, but at least low, then at most high."""


@primitive(
    Elementwise(real),
    scalar="maximum",
    derivative=lambda out, x, low: (x >= low, x < low),
    reference=numpy.maximum,
)
def clamp_low(x, low):
    """x, but at least low. The gradient at equality is x's."""


@primitive(
    Elementwise(real),
    scalar="minimum",
    derivative=lambda out, x, high: (x <= high, x > high),
    reference=numpy.minimum,
)
def clamp_high(x, high):
    """x, but at most high. The gradient at equality is x's."""


@composite(
    names=["clamp", "clip"],
    inplace=True,
    out=True,
    onnx="Clip",
    samples=calls(
        (Draw((3, 4)), -1, 2),
        ((Draw((3, 4)),), {"min": 0.5}),
        ((Draw((3, 4)),), {"max": 1}),
        (Draw((2, 3)), Draw((3,)), Draw((2, 1))),
        (Draw((3,)), 2, -1),
    ),
)
def clamp(input, min=None, max=None):
    """input, but at least min, then at most max; each bound may be a tensor, a number or None."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if max is None:
        return elementwise("clamp_low", input, min)
    if min is None:
        return elementwise("clamp_high", input, max)
    return elementwise("clamp", input, min, max)


@composite(names=["clamp_min"], inplace=True, out=True, samples=binary(numbers=[0.5]))
def clamp_min(input: Tensor, min):
    """input, but at least min."""
    return elementwise("clamp_low", input, min)


@composite(names=["clamp_max"], inplace=True, out=True, samples=binary(numbers=[0.5]))
def clamp_max(input: Tensor, max):
    """input, but at most max."""
    return elementwise("clamp_high", input, max)


@composite(
    names=["lerp"],
    inplace=True,
    out=True,
    samples=calls((Draw((3,)), Draw((3,)), 0.3), (Draw((3,)), Draw((2, 3)), Draw((3,)))),
)
def lerp(input, end, weight):
    """input + weight * (end - input)"""
    if end.dtype is not input.dtype:
        raise RuntimeError(
            f"lerp: expected dtype {input.dtype} for `end` but got dtype {end.dtype}"
        )
    return input + weight * (end - input)


@composite(
    names=["addcmul"], inplace=True, out=True, samples=calls((Draw((3,)), Draw((3,)), Draw((2, 1))))
)
def addcmul(input, tensor1, tensor2, *, value: Operand = 1):
    """input + value * tensor1 * tensor2"""
    compute = computed_dtype(input, tensor1, tensor2)
    value = build.fitting(value, compute, build.context_of((input, tensor1, tensor2)))
    return value * tensor1 * tensor2 + input


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
    compute = computed_dtype(input, tensor1, tensor2)
    value = build.fitting(value, compute, build.context_of((input, tensor1, tensor2)))
    return input + value * (tensor1 / tensor2)
