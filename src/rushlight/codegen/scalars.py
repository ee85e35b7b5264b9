"""The scalar instructions: one function per name, from values to a value.

Every instruction is defined for every input as PyTorch defines it. float16 and bfloat16 are
computed in float.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from ..dtypes import dtype as DType
from .llvm import Builder, Reg
from .math import (
    complexes,
    division,
    error,
    exponential,
    exponents,
    external,
    integers,
    trigonometric,
)
from .math.convert import convert
from .reductions import extreme
from .target import Target
from .values import Value, element_of

STATUS_INDEX = 1
STATUS_DIVISION = 2


class Context:
    """Where instructions go: the builder, the lanes that exist (``mask``), the status."""

    def __init__(self, b: Builder, target: Target) -> None:
        self.b = b
        self.target = target
        self.mask: Reg | None = None
        self._status: Reg | None = None

    def flag(self, bit: int, condition: Reg) -> None:
        """Set a bit of the status where the condition holds in a lane that exists."""
        b = self.b
        if self._status is None:
            self._status = b.slot("i64")
            b.slots.append(f"store i64 0, {self._status}")
        if self.mask is not None and condition.lanes > 1:
            condition = condition & self.mask
        raised = b.any_lane(condition).cast("zext", "i64") * bit
        b.store(self._status, b.load(self._status, "i64") | raised)

    def status(self) -> Reg:
        if self._status is None:
            return self.b.constant("i64", 1, 0)
        return self.b.load(self._status, "i64")


Instruction = Callable[..., Value]
_TABLE: dict[str, Instruction] = {}


def apply(context: Context, name: str, dtype: DType, operands: list[Value]) -> Value:
    """Emit one scalar instruction whose result has the given dtype; operands have equal lanes."""
    emit = _TABLE.get(name)
    if emit is None:
        raise NotImplementedError(f"there is no scalar instruction {name!r}")
    return emit(context, dtype, *operands)


def names() -> list[str]:
    """The names of all scalar instructions."""
    return sorted(_TABLE)


def _instruction(name: str) -> Callable[[Instruction], Instruction]:
    def register(function: Instruction) -> Instruction:
        _TABLE[name] = function
        return function

    return register


def _refuse(name: str, dtype: DType) -> NotImplementedError:
    return NotImplementedError(f'"{name}" not implemented for {dtype.name!r}')


# ---------------------------------------------------------------- arithmetic


def _arithmetic(
    name: str, real: Callable[[Reg, Reg], Reg], boolean: Callable[[Reg, Reg], Reg]
) -> None:
    @_instruction(name)
    def emit(c: Context, dtype: DType, x: Value, y: Value) -> Value:
        if dtype.is_complex:
            return Value(dtype, getattr(complexes, name)(x.parts, y.parts))
        return Value(dtype, ((boolean if dtype.kind == "b" else real)(x.reg, y.reg),))


_arithmetic("add", lambda x, y: x + y, lambda x, y: x | y)
_arithmetic("sub", lambda x, y: x - y, lambda x, y: x ^ y)
_arithmetic("mul", lambda x, y: x * y, lambda x, y: x & y)


@_instruction("div")
def _div(c: Context, dtype: DType, x: Value, y: Value) -> Value:
    if dtype.is_complex:
        return Value(dtype, complexes.div(c.b, x.parts, y.parts))
    if dtype.kind != "f":
        raise _refuse("div", dtype)
    return Value(dtype, (x.reg / y.reg,))


@_instruction("multiply_add")
def _multiply_add(c: Context, dtype: DType, x: Value, y: Value, z: Value) -> Value:
    """x * y + z, rounded once."""
    return Value(dtype, (c.b.fma(x.reg, y.reg, z.reg),))


def _quotient(
    name: str,
    integer: Callable[[Builder, DType, Reg, Reg], Reg],
    floating: Callable[[Builder, Reg, Reg], Reg],
) -> None:
    @_instruction(name)
    def emit(c: Context, dtype: DType, x: Value, y: Value) -> Value:
        if dtype.kind == "f":
            return Value(dtype, (floating(c.b, x.reg, y.reg),))
        if dtype.kind not in "iu":
            raise _refuse(name, dtype)
        if not y.constant:
            c.flag(STATUS_DIVISION, y.reg.eq(0))
        return Value(dtype, (integer(c.b, dtype, x.reg, y.reg),))


_quotient("floor_divide", integers.floor_divide, division.floor_divide)
_quotient("remainder", integers.remainder, division.remainder)
_quotient("fmod", lambda b, t, x, y: integers.divide(b, t, x, y)[1], division.fmod)
_quotient(
    "trunc_divide",
    lambda b, t, x, y: integers.divide(b, t, x, y)[0],
    lambda b, x, y: b.intrinsic("trunc", x / y),
)


@_instruction("pow")
def _pow(c: Context, dtype: DType, x: Value, y: Value) -> Value:
    b = c.b
    if dtype.is_complex:
        return Value(dtype, complexes.power(b, x.parts, y.parts))
    if dtype.kind in "iu":
        return Value(dtype, (integers.power(b, dtype, x.reg, y.reg),))
    if dtype.kind == "b":
        return Value(dtype, (x.reg | ~y.reg,))
    if isinstance(y.constant, (int, float)) and y.constant == 2:
        return Value(dtype, (x.reg * x.reg,))
    if x.reg.element == "double":
        return Value(dtype, (external.call(b, "pow", [x.reg, y.reg]),))
    return Value(dtype, (exponential.power_single(b, x.reg, y.reg),))


def _sign_pair(name: str, largest: bool) -> None:
    @_instruction(name)
    def emit(c: Context, dtype: DType, x: Value, y: Value) -> Value:
        return Value(dtype, (extreme(c.b, dtype, largest, x.reg, y.reg),))


_sign_pair("maximum", True)
_sign_pair("minimum", False)


@_instruction("neg")
def _neg(c: Context, dtype: DType, x: Value) -> Value:
    return Value(dtype, tuple(-part for part in x.parts))


@_instruction("abs")
def _abs(c: Context, dtype: DType, x: Value) -> Value:
    b, source = c.b, x.dtype
    if source.is_complex:
        return Value(dtype, (complexes.magnitude(b, x.parts),))
    if source.kind == "f":
        return Value(dtype, (b.intrinsic("fabs", x.reg),))
    if source.kind == "i":
        return Value(dtype, (b.select(x.reg.lt(0), -x.reg, x.reg),))
    return x


@_instruction("sign")
def _sign(c: Context, dtype: DType, x: Value) -> Value:
    if dtype.is_complex:
        return Value(dtype, complexes.sign(c.b, x.parts))
    if dtype.kind == "b":
        return x
    if dtype.kind == "u":
        return Value(dtype, (x.reg.ne(0).cast("zext", x.reg.element),))
    return Value(dtype, (integers.sign(c.b, x.reg),))


_TABLE["sgn"] = _sign


@_instruction("square")
def _square(c: Context, dtype: DType, x: Value) -> Value:
    return apply(c, "mul", dtype, [x, x])


# ---------------------------------------------------------------- comparison and logic


def _comparison(name: str) -> None:
    @_instruction(name)
    def emit(c: Context, dtype: DType, x: Value, y: Value) -> Value:
        source = x.dtype
        if name in ("eq", "ne"):
            tests = [getattr(p, name)(q) for p, q in zip(x.parts, y.parts, strict=True)]
            result = tests[0]
            for each in tests[1:]:
                result = result & each if name == "eq" else result | each
            return Value(dtype, (result,))
        if source.is_complex:
            raise _refuse(name, source)
        return Value(dtype, (getattr(x.reg, name)(y.reg, signed=source.is_signed),))


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _comparison(_name)


def _bits(name: str, emit_bits: Callable[[Reg, Reg], Reg]) -> None:
    @_instruction(name)
    def emit(c: Context, dtype: DType, x: Value, y: Value) -> Value:
        if dtype.kind not in "biu":
            raise _refuse(name, dtype)
        return Value(dtype, (emit_bits(x.reg, y.reg),))


_bits("and", lambda x, y: x & y)
_bits("or", lambda x, y: x | y)
_bits("xor", lambda x, y: x ^ y)
_bits("shift_left", lambda x, y: integers.shift_left(x.builder, x, y))


@_instruction("shift_right")
def _shift_right(c: Context, dtype: DType, x: Value, y: Value) -> Value:
    return Value(dtype, (integers.shift_right(c.b, dtype, x.reg, y.reg),))


@_instruction("not")
def _not(c: Context, dtype: DType, x: Value) -> Value:
    return Value(dtype, (~x.reg,))


@_instruction("where")
def _where(c: Context, dtype: DType, condition: Value, x: Value, y: Value) -> Value:
    pairs = zip(x.parts, y.parts, strict=True)
    return Value(dtype, tuple(c.b.select(condition.reg, p, q) for p, q in pairs))


def _classification(
    name: str, test: Callable[[Builder, Reg], Reg], integer: bool, every: bool
) -> None:
    @_instruction(name)
    def emit(c: Context, dtype: DType, x: Value) -> Value:
        if x.dtype.kind not in "fc":
            return Value(dtype, (c.b.constant("i1", x.lanes, integer),))
        tests = [test(c.b, part) for part in x.parts]
        result = tests[0]
        for each in tests[1:]:
            result = result & each if every else result | each
        return Value(dtype, (result,))


_classification("isnan", lambda b, x: x.isnan(), False, False)
_classification("isinf", lambda b, x: b.intrinsic("fabs", x).eq(float("inf")), False, False)
_classification("isfinite", lambda b, x: b.intrinsic("fabs", x).lt(float("inf")), True, True)


@_instruction("signbit")
def _signbit(c: Context, dtype: DType, x: Value) -> Value:
    if x.dtype.kind == "f":
        one = c.b.intrinsic("copysign", x.reg.like(1.0), x.reg)
        return Value(dtype, (one.lt(0.0),))
    return Value(dtype, (x.reg.lt(0, signed=x.dtype.is_signed),))


# ---------------------------------------------------------------- rounding, complex parts


def _rounding(name: str, intrinsic: str) -> None:
    @_instruction(name)
    def emit(c: Context, dtype: DType, x: Value) -> Value:
        return x if dtype.kind in "biu" else Value(dtype, (c.b.intrinsic(intrinsic, x.reg),))


for _name, _intrinsic in (
    ("floor", "floor"), ("ceil", "ceil"), ("trunc", "trunc"), ("round", "roundeven"),
):  # fmt: skip
    _rounding(_name, _intrinsic)


@_instruction("copysign")
def _copysign(c: Context, dtype: DType, x: Value, y: Value) -> Value:
    return Value(dtype, (c.b.intrinsic("copysign", x.reg, y.reg),))


@_instruction("convert")
def _convert(c: Context, dtype: DType, x: Value) -> Value:
    return convert(c.b, dtype, x)


@_instruction("real")
def _real(c: Context, dtype: DType, x: Value) -> Value:
    return Value(dtype, x.parts[:1])


@_instruction("imag")
def _imag(c: Context, dtype: DType, x: Value) -> Value:
    return Value(dtype, x.parts[1:] or (x.reg.like(0),))


@_instruction("conj")
def _conj(c: Context, dtype: DType, x: Value) -> Value:
    return Value(dtype, (x.parts[0], -x.parts[1])) if dtype.is_complex else x


@_instruction("complex")
def _complex(c: Context, dtype: DType, re: Value, im: Value) -> Value:
    return Value(dtype, (re.reg, im.reg))


@_instruction("angle")
def _angle(c: Context, dtype: DType, x: Value) -> Value:
    if x.dtype.is_complex:
        return Value(dtype, (complexes.angle(c.b, x.parts),))
    turned = c.b.select(x.reg.lt(0.0), math.pi, x.reg.like(0.0))  # of -0 too it is 0
    return Value(dtype, (c.b.select(x.reg.isnan(), x.reg, turned),))


# ---------------------------------------------------------------- elementary functions

_Real = Callable[[Builder, Reg], Reg]
_Complex = Callable[[Builder, complexes.Complex], complexes.Complex]


def _elementary(
    name: str, single: _Real | None, double: _Real | None, complex_: _Complex | str | None
) -> None:
    """A function of one number: for float, for double (None: libm's of that name), for complex."""

    @_instruction(name)
    def emit(c: Context, dtype: DType, x: Value) -> Value:
        b = c.b
        if dtype.is_complex:
            if complex_ is None:
                raise _refuse(name, dtype)
            if isinstance(complex_, str):
                return Value(dtype, complexes.library(b, complex_, x.parts))
            return Value(dtype, complex_(b, x.parts))
        if dtype.kind != "f":
            raise _refuse(name, dtype)
        function = double if element_of(dtype) == "double" else single
        result = function(b, x.reg) if function else external.call(b, name, [x.reg])
        return Value(dtype, (result,))


def _both(name: str, function: _Real, complex_: _Complex | str | None) -> None:
    _elementary(name, function, function, complex_)


def _rsqrt_complex(b: Builder, x: complexes.Complex) -> complexes.Complex:
    return complexes.reciprocal(b, complexes.library(b, "csqrt", x))


_both("reciprocal", lambda b, x: 1.0 / x, complexes.reciprocal)
_both("sqrt", lambda b, x: b.intrinsic("sqrt", x), "csqrt")
_both("rsqrt", lambda b, x: 1.0 / b.intrinsic("sqrt", x), _rsqrt_complex)
_both("exp", exponential.exp, "cexp")
_both("exp2", exponential.exp2, complexes.exp2)
_both("expm1", exponential.expm1, complexes.expm1)
_both("log", exponential.log, "clog")
_both("log1p", exponential.log1p, complexes.complex_log1p)
for _base in (2, 10):
    _elementary(
        f"log{_base}",
        partial(exponential.log_base, base=_base),
        None,
        partial(complexes.log_base, base=_base),
    )
_both("tanh", exponential.tanh, "ctanh")
_both("sigmoid", exponential.sigmoid, complexes.sigmoid)
_both("sin", trigonometric.sin, "csin")
_both("cos", trigonometric.cos, "ccos")
_elementary("tan", trigonometric.tan_single, None, "ctan")
_elementary("asin", trigonometric.asin_single, None, "casin")
_elementary("acos", trigonometric.acos_single, None, "cacos")
_elementary("atan", trigonometric.atan_single, None, "catan")
_elementary("sinh", exponential.sinh_single, None, "csinh")
_elementary("cosh", exponential.cosh_single, None, "ccosh")
_elementary("asinh", exponential.asinh_single, None, "casinh")
_elementary("acosh", exponential.acosh_single, None, "cacosh")
_elementary("atanh", exponential.atanh_single, None, "catanh")
_both("erf", error.erf, None)
_elementary("erfc", error.erfc_single, None, None)
_elementary("lgamma", None, None, None)


def _binary(name: str, single: Callable[[Builder, Reg, Reg], Reg] | None) -> None:
    @_instruction(name)
    def emit(c: Context, dtype: DType, x: Value, y: Value) -> Value:
        if dtype.kind != "f":
            raise _refuse(name, dtype)
        if single is not None and element_of(dtype) == "float":
            return Value(dtype, (single(c.b, x.reg, y.reg),))
        return Value(dtype, (external.call(c.b, name, [x.reg, y.reg]),))


_binary("atan2", trigonometric.atan2_single)
_binary("hypot", lambda b, x, y: complexes.magnitude(b, (x, y)))


@_instruction("nextafter")
def _nextafter(c: Context, dtype: DType, x: Value, y: Value) -> Value:
    return Value(dtype, (exponents.next_after(c.b, dtype, x.reg, y.reg),))


@_instruction("ldexp")
def _ldexp(c: Context, dtype: DType, exponent: Value, x: Value) -> Value:
    return Value(dtype, (exponents.times_power(c.b, x.reg, exponent.reg),))
