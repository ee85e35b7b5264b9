"""Activation functions of single elements."""

from __future__ import annotations

import math
from typing import Any

from .. import dtypes
from ..promotion import scalar_type_name
from . import build
from .record import Operand, Selector, Tensor, composite, op
from .samples import Draw, calls, unary

_SPECIAL = (float("inf"), float("-inf"), 0.0, 1.0, -1.0)
_UNARY = unary(special=_SPECIAL)


def _floating(input: Any, name: str) -> Any:
    """The input in the precision of computation; only floating-point numbers have an activation."""
    if not input.dtype.is_floating_point:
        raise NotImplementedError(
            f"\"{name}\" not implemented for '{scalar_type_name(input.dtype)}'; convert the input"
        )
    return build.widened(input)


def _like(result: Any, input: Any) -> Any:
    return build.convert(result, input.dtype)


def _above(x: Any, limit: Any) -> Any:
    """Where x is greater than the limit or NaN, whose gradient passes."""
    return ~(x <= limit)


@composite(names=["nn.functional.leaky_relu"], methods=[], samples=_UNARY)
def leaky_relu(input: Tensor, negative_slope: Operand = 0.01, inplace: bool = False):
    """The input where it is positive, else negative_slope times it."""
    x = _floating(input, "leaky_relu")
    slope = build.fitting(negative_slope, x.dtype, x.context)
    return _like(op.where(x > 0, x, x * slope), input)


@composite(names=["nn.functional.elu"], methods=[], samples=_UNARY)
def elu(input: Tensor, alpha: Operand = 1.0, inplace: bool = False):
    """The input where it is positive, else alpha * (exp(input) - 1)."""
    x = _floating(input, "elu")
    alpha = build.fitting(alpha, x.dtype, x.context)
    return _like(op.where(_above(x, 0), x, alpha * op.expm1(op.clamp_max(x, 0))), input)


@composite(names=["celu", "nn.functional.celu"], methods=[], samples=_UNARY)
def celu(input: Tensor, alpha: Operand = 1.0, inplace: bool = False):
    """The input where it is positive, else alpha * (exp(input / alpha) - 1)."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    x = _floating(input, "celu")
    return _like(op.where(_above(x, 0), x, alpha * op.expm1(op.clamp_max(x, 0) / alpha)), input)


@composite(names=["selu", "nn.functional.selu"], methods=[], samples=_UNARY)
def selu(input: Tensor, inplace: bool = False):
    """elu, scaled so that layers keep mean 0 and variance 1."""
    alpha, scale = 1.6732632423543772, 1.0507009873554805
    x = _floating(input, "selu")
    powers = alpha * op.expm1(op.clamp_max(x, 0))
    return _like(op.where(_above(x, 0), x, powers) * scale, input)


@composite(names=["nn.functional.silu"], methods=[], samples=_UNARY)
def silu(input: Tensor, inplace: bool = False):
    """input * sigmoid(input)"""
    if input.dtype.is_complex:
        return input * op.sigmoid(input)
    x = _floating(input, "silu")
    return _like(x * op.sigmoid(x), input)


@composite(names=["nn.functional.mish"], methods=[], samples=_UNARY)
def mish(input: Tensor, inplace: bool = False):
    """input * tanh(log(1 + exp(input)))"""
    x = _floating(input, "mish")
    return _like(x * op.tanh(_log_one_plus_exp(x)), input)


def _log_one_plus_exp(x: Any) -> Any:
    return op.clamp_min(x, 0) + op.log1p(op.exp(-op.abs(x)))


@composite(names=["nn.functional.softplus"], methods=[], out="same dtype", samples=_UNARY)
def softplus(input: Tensor, beta: Operand = 1, threshold: Operand = 20):
    """log(1 + exp(beta * input)) / beta; the input itself where beta * input > threshold."""
    x = _floating(input, "softplus")
    scaled = x * beta
    return _like(op.where(scaled > threshold, x, op.log1p(op.exp(scaled)) / beta), input)


@composite(names=["nn.functional.logsigmoid"], methods=[], out="same dtype", samples=_UNARY)
def logsigmoid(input: Tensor):
    """log(sigmoid(input)), without overflow."""
    x = _floating(input, "log_sigmoid")
    return _like(-_log_one_plus_exp(-x), input)


@composite(names=["nn.functional.softsign"], methods=[], samples=_UNARY)
def softsign(input: Tensor):
    """input / (1 + |input|)"""
    return input / (op.abs(input) + 1)


@composite(names=["nn.functional.tanhshrink"], methods=[], samples=_UNARY)
def tanhshrink(input: Tensor):
    """input - tanh(input)"""
    return input - build.kept(op.tanh(input))


@composite(
    names=["hardshrink", "nn.functional.hardshrink"],
    methods=["hardshrink"],
    out="same dtype",
    samples=_UNARY,
)
def hardshrink(input: Tensor, lambd: Operand = 0.5):
    """The input where it is beyond lambd from zero, else 0."""
    x = _floating(input, "hardshrink")
    return _like(op.where((x >= -lambd) & (x <= lambd), 0, x), input)


@composite(names=["nn.functional.softshrink"], methods=[], out="same dtype", samples=_UNARY)
def softshrink(input: Tensor, lambd: Operand = 0.5):
    """The input moved towards zero by lambd, and 0 where it would pass it."""
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    x = _floating(input, "softshrink")
    moved = op.where(x < -lambd, x + lambd, op.where(_above(x, lambd), x - lambd, x * 0))
    return _like(moved, input)


@composite(
    names=["threshold", "nn.functional.threshold"],
    methods=[],
    fills=True,
    samples=calls((Draw((3, 4)), 0.5, 2)),
)
def threshold(input: Tensor, threshold: Operand, value: Operand, inplace: bool = False):
    """The input where it is greater than the threshold, else value."""
    if input.dtype is dtypes.bool or input.dtype.is_complex:
        kind = scalar_type_name(input.dtype)
        raise NotImplementedError(f"\"threshold_cpu\" not implemented for '{kind}'")
    fits = [build.fitting(each, input.dtype, input.context) for each in (threshold, value)]
    return op.where(input <= fits[0], fits[1], input)


@composite(names=["nn.functional.hardtanh"], methods=[], samples=_UNARY)
def hardtanh(
    input: Tensor, min_val: Selector = -1.0, max_val: Selector = 1.0, inplace: bool = False
):
    """The input, but at least min_val and at most max_val; at these the gradient is zero."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val (in hardtanh)")
    if input.dtype is dtypes.bool:
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if not input.dtype.is_signed and min_val < 0:
        raise RuntimeError(
            f"hardtanh: an unsigned input takes no negative limits, but min_val is {min_val}"
        )
    if input.dtype.is_integral:
        min_val, max_val = (
            build.fitting(bound, input.dtype, input.context) for bound in (min_val, max_val)
        )
    inside = (input > min_val) & (input < max_val)
    clamped = op.detach(op.clamp(input, min_val, max_val))
    return _like(op.where(inside | (input != input), input, clamped), input)


@composite(names=["nn.functional.relu6"], methods=[], samples=_UNARY)
def relu6(input: Tensor, inplace: bool = False):
    """The input, but at least 0 and at most 6."""
    return hardtanh(input, 0, 6)


@composite(names=["nn.functional.hardsigmoid"], methods=[], samples=_UNARY)
def hardsigmoid(input: Tensor, inplace: bool = False):
    """input / 6 + 1/2, but at least 0 and at most 1."""
    x = _floating(input, "hardsigmoid")
    inside = (x > -3) & (x < 3)
    limited = op.where(x > 0, 1.0, op.where(x != x, op.detach(x), 0.0))
    return _like(op.where(inside, x / 6 + 0.5, limited), input)


@composite(names=["nn.functional.hardswish"], methods=[], samples=_UNARY)
def hardswish(input: Tensor, inplace: bool = False):
    """0 up to -3, the input from 3 on, input * (input + 3) / 6 between them."""
    x = _floating(input, "hardswish")
    between = op.where((x > -3) & (x < 3), x, 0)
    curve = between * (between + 3) / 6
    return _like(op.where(x <= -3, x * 0, op.where(_above(x, 3), x, curve)), input)


@composite(names=["nn.functional.gelu"], methods=[], out="same dtype", onnx="Gelu", samples=unary())
def gelu(input: Tensor, approximate: str = "none"):
    """input times the normal distribution's cumulative probability of it."""
    x = _floating(input, "GeluKernelImpl")
    if approximate == "none":
        return _like(x * 0.5 * (1 + op.erf(x * math.sqrt(0.5))), input)
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
        return _like(0.5 * x * (1 + op.tanh(inner)), input)
    raise RuntimeError("approximate argument must be either none or tanh.")
