"""Powers and roots."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from ..graph.trace import Traced
from ..promotion import scalar_type_name
from . import build
from .arithmetic import INFINITIES, computed_dtype, elementwise
from .kinds import Elementwise, Where, complexes, floating, int_to_float, numeric
from .record import Size, Tensor, composite, op, primitive
from .samples import Draw, binary, calls, unary


def _pow_arrays(x: Any, y: Any) -> Any:
    if x.dtype.kind in "ui":
        result = numpy.power(x, numpy.maximum(y, 0))
        inverse = numpy.where(
            x == 1, 1, numpy.where((x == -1) if x.dtype.kind == "i" else False, 1 - 2 * (y % 2), 0)
        )
        return numpy.where(y < 0, inverse.astype(x.dtype), result)
    return numpy.power(x, y)


def _pow_partials(out: Any, x: Any, y: Any) -> tuple[Where, Any]:
    base = op.where(y == 0, 1, x)  # 0 ** -1 would be infinite, and NaN in second derivatives
    by_base = Where(y != 0, y * base.pow(y - 1))
    flat = (x == 0) & (y >= 0 if not y.dtype.is_complex else y == y)
    # Both factors are finite there, whatever the result and the logarithm of 0 are.
    return by_base, op.where(flat, 0, out) * op.log(op.where(flat, 1, x))


@primitive(Elementwise(numeric), name="pow", derivative=_pow_partials, reference=_pow_arrays)
def power(x, y):
    """x to the power y."""


@composite(
    name="_root",
    methods=[],
    derivative=lambda g, out, x: g * build.conjugate(0.5 * op.rsqrt(x)),
)
def _root(x):
    """The square root, of which the backward pass reads x, as it does of other powers."""
    return elementwise("sqrt", x)


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
    if compute is dtypes.bool:
        if exponent:
            return build.convert(x, compute)
        return build.laid_out_like(build.full_like(x, True), x)
    if integral and kind == "i" or build.is_half(compute):
        build.fitting(exponent, compute, x.context)  # raises if it does not fit
    if exponent == 2:
        x = build.convert(x, compute) if not x.weak else x
        return x * x
    if exponent == 1:
        return build.convert(x, compute) if not x.weak else x
    if exponent == 3:
        x = build.convert(x, compute) if not x.weak else x
        return x * x * x
    # PyTorch takes no roots in float16: pow(-inf, 0.5) is infinite, sqrt(-inf) NaN.
    if (not integral or kind == "f") and compute is not dtypes.float16:
        if exponent == 0.5:
            return _root(x)
        for special, name in ((-0.5, "rsqrt"), (-1, "reciprocal")):
            if exponent == special:
                return elementwise(name, x)
    return elementwise("pow", x, exponent)


@composite(
    names=["float_power"],
    inplace=True,
    out="same dtype",
    samples=binary(0.5, 4, other=(0, 3), numbers=[2, 0.5]),
)
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
    derivative=lambda out, x: -0.5 * (out * out * out),
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


@composite(
    names=["linalg.vander"],
    methods=[],
    samples=calls((Draw((4,)),), ((Draw((2, 3)),), {"N": 4}), ((Draw((0,)),), {"N": 3})),
)
def vander(x: Tensor, *, N: Size = None):
    """Vandermonde matrices: the powers 0 to N - 1 of each element along a new last dim.

    N: None is the size of the last dim.
    """
    if x.dtype is dtypes.bool or build.is_half(x.dtype):
        raise RuntimeError(
            "linalg.vander: input must be float32, float64, complex or of integers, not "
            f"{scalar_type_name(x.dtype)}"
        )
    x = x if x.ndim else build.reshape(x, (1,))
    if N is None:
        N = x.shape[-1]
    if N <= 1:
        raise RuntimeError(f"linalg.vander: N must be greater than 1, but it is {N}.")
    powers = _running_powers(x, N - 1)
    ones = build.full((*x.shape, 1), 1, powers.dtype)
    return op.cat([ones, powers], -1)


def _running_powers(x: Traced, count: Any) -> Traced:
    """The powers 1 to count along a new last dim."""
    count = 1 if count == 1 else count  # the plan's guard, so that the size is known to be 1
    return op.cumprod(build.expand(build.insert_dim(x, x.ndim), (*x.shape, count)), x.ndim)


@composite(
    name="powers_by_column",
    names=["vander"],
    methods=[],
    samples=calls((Draw((4,)),), (Draw((3,)), 2, True), ((Draw((3,)), 0))),
)
def powers_by_column(x: Tensor, N: Size = None, increasing: bool = False):
    """The Vandermonde matrix of a vector: its powers N - 1 to 0 as columns, or 0 to N - 1.

    N: None is the size of x.
    """
    if x.ndim != 1:
        raise RuntimeError(f"vander: x must be a one-dimensional tensor, not {x.ndim}-dimensional")
    N = x.shape[0] if N is None else N
    if N < 0:
        raise RuntimeError(f"vander: N must be non-negative, but it is {N}.")
    whole = dtypes.int64 if x.dtype.is_integral else x.dtype
    parts = [build.full((x.shape[0], N if N < 1 else 1), 1, whole)]
    if N > 1:
        parts.append(_running_powers(x, N - 1))
    result = op.cat(parts, 1)
    return result if increasing else op.flip(result, (1,))
