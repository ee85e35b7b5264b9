"""Exponentials, logarithms and the functions made of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from .. import dtypes
from ..graph.symbols import same_shape
from ..layout import broadcast_shapes
from ..promotion import scalar_type_name
from . import build
from .arithmetic import computed_dtype
from .complex import real_part
from .kinds import Elementwise, Where, complexes, everything, floating, int_to_float
from .record import Tensor, composite, op, primitive
from .samples import binary, unary

_INF, _NAN = float("inf"), float("nan")


def special(name: str) -> Callable[..., Any]:
    """A reference function of SciPy's, which is imported when it is first called."""

    def reference(*arrays: Any) -> Any:
        import scipy.special

        return getattr(scipy.special, name)(*arrays)

    return reference


def _sigmoid_arrays(x):
    half = numpy.tanh(x * 0.5) * 0.5 + 0.5
    small = numpy.exp(numpy.minimum(x.real, 0)) / (1 + numpy.exp(numpy.minimum(x.real, 0)))
    return (
        half
        if x.dtype.kind == "c"
        else numpy.where(x < 0, small, 1 / (1 + numpy.exp(-numpy.abs(x))))
    )


@primitive(
    Elementwise(floating | complexes, promote=int_to_float),
    names=["exp", "special.exp"],
    methods=["exp"],
    derivative=lambda out, x: out,
    reference=numpy.exp,
    samples=unary(-20, 20, special=[_INF, -_INF, _NAN]),
    onnx="Exp",
)
def exp(input):
    """e raised to each element."""


@primitive(
    Elementwise(floating | complexes, promote=int_to_float),
    names=["expm1", "special.expm1"],
    methods=["expm1"],
    derivative=lambda out, x: out + 1,
    reference=numpy.expm1,
    samples=unary(-4, 4, special=[_INF, -_INF, _NAN]),
)
def expm1(input):
    """exp(input) - 1, accurate near zero."""


@primitive(
    Elementwise(floating | complexes, promote=int_to_float),
    names=["log"],
    derivative=lambda out, x: 1 / x,
    reference=numpy.log,
    samples=unary(0.01, 20, special=[_INF, 0.0, _NAN]),
    onnx="Log",
)
def log(input):
    """The natural logarithm."""


@primitive(
    Elementwise(floating | complexes, promote=int_to_float),
    names=["log1p", "special.log1p"],
    methods=["log1p"],
    derivative=lambda out, x: 1 / (x + 1),
    reference=numpy.log1p,
    samples=unary(-0.9, 4, special=[_INF, -1.0, _NAN]),
)
def log1p(input):
    """log(1 + input), accurate near zero."""


@primitive(
    Elementwise(floating | complexes, promote=int_to_float),
    names=["log2"],
    derivative=lambda out, x: 1 / (x * 0.6931471805599453),
    reference=numpy.log2,
    samples=unary(0.01, 20, special=[_INF, 0.0, _NAN]),
)
def log2(input):
    """The logarithm to base 2."""


@primitive(
    Elementwise(floating | complexes, promote=int_to_float),
    names=["tanh", "nn.functional.tanh"],
    methods=["tanh"],
    derivative=lambda out, x: 1 - out * out,
    reference=numpy.tanh,
    samples=unary(-4, 4, special=[_INF, -_INF, _NAN]),
    onnx="Tanh",
)
def tanh(input):
    """The hyperbolic tangent."""


@primitive(
    Elementwise(floating | complexes, promote=int_to_float),
    names=["sigmoid", "special.expit", "nn.functional.sigmoid"],
    methods=["sigmoid"],
    derivative=lambda out, x: out * (1 - out),
    reference=_sigmoid_arrays,
    samples=unary(-10, 10, special=[_INF, -_INF, _NAN]),
    onnx="Sigmoid",
)
def sigmoid(input):
    """1 / (1 + exp(-input))"""


# ---------------------------------------------------------------- other bases, error functions


@primitive(
    Elementwise(floating | complexes, promote=int_to_float),
    names=["exp2", "special.exp2"],
    methods=["exp2"],
    derivative=lambda out, x: out * math.log(2),
    reference=numpy.exp2,
    samples=unary(-20, 20, special=[_INF, -_INF, _NAN]),
)
def exp2(input):
    """2 raised to each element."""


@primitive(
    Elementwise(floating | complexes, promote=int_to_float),
    names=["log10"],
    derivative=lambda out, x: 1 / (x * math.log(10)),
    reference=numpy.log10,
    samples=unary(0.01, 20, special=[_INF, 0.0, _NAN]),
)
def log10(input):
    """The logarithm to base 10."""


@primitive(
    Elementwise(floating, promote=int_to_float),
    names=["erf", "special.erf"],
    methods=["erf"],
    derivative=lambda out, x: op.exp(-x * x) * (2 / math.sqrt(math.pi)),
    reference=special("erf"),
    samples=unary(special=[_INF, -_INF, _NAN]),
    onnx="Erf",
)
def erf(input):
    """The error function."""


@primitive(
    Elementwise(floating, promote=int_to_float),
    names=["erfc", "special.erfc"],
    methods=["erfc"],
    derivative=lambda out, x: op.exp(-x * x) * (-2 / math.sqrt(math.pi)),
    reference=special("erfc"),
    samples=unary(special=[_INF, -_INF, _NAN]),
)
def erfc(input):
    """1 - erf(input), accurate for large inputs."""


# ---------------------------------------------------------------- logarithms of sums and products


def _log_sum(name: str, exponential: Any, logarithm: Any, doc: str) -> None:
    def body(input: Tensor, other: Tensor):
        compute = computed_dtype(input, other)
        if name == "logaddexp" and compute.is_complex:
            input, other = build.convert(input, compute), build.convert(other, compute)
            ordered = real_part(input) >= real_part(other)
            greater, lesser = op.where(ordered, input, other), op.where(ordered, other, input)
        else:
            greater, lesser = op.maximum(input, other), op.minimum(input, other)
        if not greater.dtype.is_differentiable:
            raise NotImplementedError(
                f"\"{name}_cpu\" not implemented for '{scalar_type_name(greater.dtype)}'"
            )
        # The difference of equal infinities is not a number.
        difference = op.where(greater == lesser, 0, lesser - greater)
        return greater + logarithm(exponential(difference))

    body.__doc__ = doc
    composite(names=[name], out=True, samples=binary())(body)


_log_sum("logaddexp", exp, log1p, "log(exp(input) + exp(other)), without overflow.")
_log_sum(
    "logaddexp2",
    exp2,
    lambda x: log1p(x) / math.log(2),
    "log2(2**input + 2**other), without overflow.",
)


@composite(
    names=["logit", "special.logit"], methods=["logit"], inplace=True, out=True,
    samples=unary(0.1, 0.9),
)  # fmt: skip
def logit(input, eps: float | None = None):
    """log(input / (1 - input)); eps clamps the input to [eps, 1 - eps]."""
    if input.dtype.is_complex:
        kind = scalar_type_name(input.dtype)
        raise NotImplementedError(f"\"logit_cpu\" not implemented for '{kind}'")
    if input.dtype.is_integral:
        input = build.convert(input, dtypes.get_default_dtype())
    if eps is not None:
        input = op.clamp(input, eps, 1 - eps)
    return log(input / (1 - input))


@primitive(
    Elementwise(floating, promote=int_to_float),
    names=["xlogy", "special.xlogy"],
    methods=["xlogy"],
    scalar=lambda s, x, y: s.where(
        s.isnan(y), y, s.where(s.eq(x, 0), s.mul(s.abs(x), 0), s.mul(x, s.log(y)))
    ),
    derivative=lambda out, x, y: (Where((x != 0) | ~(y <= 0), log(y)), x / y),
    reference=special("xlogy"),
    samples=binary(0, 4, other=(0.1, 4), numbers=[2]),
)
def xlogy(input, other):
    """input * log(other), and 0 where the input is 0 and other is a number."""


@primitive(
    Elementwise(everything),
    scalar="ldexp",
    derivative=lambda out, exponent, x: (None, times_power.apply(exponent, build.full_like(x, 1))),
    reference=lambda exponent, x: numpy.ldexp(x, exponent).astype(x.dtype),
)
def times_power(exponent, x):
    """x * 2**exponent, rounded once; the exponent is int32."""


@composite(
    names=["ldexp"],
    inplace=True,
    out=True,
    samples=binary(),
)
def ldexp(input: Tensor, other: Tensor):
    """input * 2**other"""
    if not input.dtype.is_floating_point or not other.dtype.is_integral:
        plain = input.dtype.is_integral or input.dtype is dtypes.get_default_dtype()
        return input * op.pow(2.0 if plain else build.full((), 2.0, input.dtype), other)
    if other.dtype is dtypes.bool:
        raise NotImplementedError("\"ldexp_cpu_exp\" not implemented for 'Bool'")
    exponent = build.convert(other, dtypes.int32)
    shape = broadcast_shapes([input.shape, exponent.shape], "ldexp")
    operands = [build.expand(each, shape) for each in (exponent, input)]
    result = times_power.apply(*operands)
    return build.laid_out_by(result, operands[1:]) if same_shape(input.shape, shape) else result
