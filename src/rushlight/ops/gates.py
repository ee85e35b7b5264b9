"""Activations that gate, learn or draw: glu, prelu, rrelu, gumbel_softmax."""

from __future__ import annotations

from typing import Any

import numpy

from ..layout import normalize_dim
from ..promotion import scalar_type_name
from . import build
from .kinds import Host
from .random_numbers import double_uniform, draw_bits
from .record import NONE, Operand, Selector, Tensor, composite, op, primitive, unsupported
from .samples import Draw, calls


@composite(
    names=["nn.functional.glu"],
    methods=[],
    out=True,
    samples=calls((Draw((3, 4)),), (Draw((4, 3)), 0), (Draw((2, 6, 2)), 1)),
)
def glu(input: Tensor, dim: int = -1):
    """The first half along dim times sigmoid of the second (Dauphin et al. 2017)."""
    if not input.ndim:
        raise RuntimeError("glu does not support scalars: there is no dimension to halve")
    dim = normalize_dim(dim, input.ndim)
    size = input.shape[dim]
    if size % 2 != 0:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim} is size {size} (in glu)"
        )
    if not input.dtype.is_floating_point:
        raise NotImplementedError(
            f"\"glu_cpu\" not implemented for '{scalar_type_name(input.dtype)}'"
        )
    x = build.widened(input)
    half = size // 2
    first, second = (build.slice_(x, dim, start, 1, half) for start in (0, half))
    return build.laid_out_by(build.convert(first * op.sigmoid(second), input.dtype), [first])


@composite(
    names=["prelu", "nn.functional.prelu"],
    methods=["prelu"],
    laid_out_as=["input"],
    onnx="PRelu",
    samples=calls(
        (Draw((2, 3)), Draw((3,))), (Draw((2, 3, 4)), Draw((1,))), (Draw((3,)), Draw(()))
    ),
)
def prelu(input: Tensor, weight: Tensor):
    """The input where it is positive, else weight (one for all, or for each channel) times it."""
    if weight.dtype is not input.dtype:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {scalar_type_name(input.dtype)} and "
            f"{scalar_type_name(weight.dtype)}"
        )
    if weight.ndim > 1:
        raise RuntimeError(
            f"prelu: weight must be a scalar or 1-dimensional, not {weight.ndim}-dimensional"
        )
    if not input.dtype.is_floating_point:
        raise NotImplementedError(
            f"\"prelu_cpu\" not implemented for '{scalar_type_name(input.dtype)}'"
        )
    if weight.ndim and weight.shape[0] != 1:
        if not input.ndim:
            raise RuntimeError("Not allow zero-dim input tensor. (in prelu)")
        channels = input.shape[1] if input.ndim > 1 else 1
        if weight.shape[0] != channels:
            raise RuntimeError(
                f"prelu: weight has {weight.shape[0]} parameters for the {channels} channels "
                f"of input; give 1 or {channels}"
            )
        weight = build.reshape(weight, (channels, *[1] * (input.ndim - 2)))
    elif weight.ndim:
        weight = build.reshape(weight, ())
    return op.where(input > 0, input, input * weight)


def _slope_arrays(x: Any, lower: float, upper: float, generator: Any) -> Any:
    negative = x <= 0
    bits = draw_bits(generator, (int(negative.sum()),), 64) & numpy.uint64(2**53 - 1)
    slopes = numpy.ones(x.shape, numpy.float64)
    slopes[negative] = bits * 2.0**-53 * (upper - lower) + lower
    return slopes


@primitive(
    Host(lambda environment, x, lower, upper, generator: [(x.dtype, tuple(x.shape), False)], True),
    name="random_slopes",
    random=True,
    derivative=NONE,
    batch=unsupported("random slopes have no batching rule"),
    reference=_slope_arrays,
)
def random_slopes(x, lower, upper, generator):
    """1 where x is positive, else a random number from lower to upper; others draw nothing."""


@composite(
    names=["rrelu", "nn.functional.rrelu"],
    methods=[],
    random=True,
    samples=calls((Draw((2, 3)),), (Draw((4,)), 0.1, 0.5)),
)
def rrelu(
    input: Tensor,
    lower: Selector = 1.0 / 8,
    upper: Selector = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
):
    """The input where it is positive, else a slope times it: one drawn for each element between
    lower and upper while training, and their mean otherwise (Xu et al. 2015).
    """
    if lower > upper:
        raise RuntimeError(f"rrelu: lower must not exceed upper, but they are {lower} and {upper}")
    if not input.dtype.is_floating_point:
        raise NotImplementedError(
            f"\"rrelu\" not implemented for '{scalar_type_name(input.dtype)}'"
        )
    x = build.widened(input)
    slope: Any = (lower + upper) / 2
    if training:
        slope = random_slopes.apply(op.detach(x), lower=lower, upper=upper, generator=None)
    return build.convert(op.where(x > 0, x, x * slope), input.dtype)


@composite(names=["nn.functional.gumbel_softmax"], methods=[], random=True)
def gumbel_softmax(
    logits: Tensor, tau: Operand = 1, hard: bool = False, eps: Operand = 1e-10, dim: int = -1
):
    """A sample of the Gumbel-softmax distribution (Jang et al. 2017); hard: one-hot, with the
    gradient of the soft sample.
    """
    if not logits.dtype.is_floating_point:
        raise NotImplementedError(
            f"\"gumbel_softmax\" not implemented for '{scalar_type_name(logits.dtype)}'"
        )
    uniform = double_uniform(logits.shape, None)
    exponential = build.convert(-op.log1p(-uniform), logits.dtype)
    noise = -op.log(op.clamp_min(exponential, 1e-38))
    soft = op.softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    dim = normalize_dim(dim, logits.ndim)
    largest = op.argmax(soft, dim, True) if logits.ndim else build.full((), 0, build.INT64)
    if not logits.ndim:
        return soft
    position = build.reshape(
        build.iota(soft.shape[dim]),
        [size if each == dim else 1 for each, size in enumerate(soft.shape)],
    )
    chosen = build.convert(position == largest, soft.dtype)
    return chosen - op.detach(soft) + soft
