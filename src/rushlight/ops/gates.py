<<<<<<< HEAD
"""Activations that gate, learn or draw: glu, prelu, rrelu, gumbel_softmax."""
=======
"""Activations with gates and slopes of their own, and one-hot encoding."""
>>>>>>> 6b55996 (Losses with margins, of distributions and of pairs; glu, prelu, rrelu, one_hot)

from __future__ import annotations

from typing import Any

<<<<<<< HEAD
from ..layout import normalize_dim
from ..promotion import scalar_type_name
from . import build
from .random import double_uniform
from .record import Operand, Selector, Tensor, composite, op
from .samples import Draw, calls
=======
import numpy

from .. import dtypes
from ..layout import normalize_dim
from ..promotion import scalar_type_name
from . import build
from .kinds import Host
from .random import draw_bits
from .record import NONE, Operand, Size, Tensor, composite, op, primitive, unsupported
from .regression_losses import refuse_unless_floating
from .samples import Draw, calls
from .statistics import require_range
>>>>>>> 6b55996 (Losses with margins, of distributions and of pairs; glu, prelu, rrelu, one_hot)


@composite(
    names=["nn.functional.glu"],
    methods=[],
    out=True,
<<<<<<< HEAD
    samples=calls((Draw((3, 4)),), (Draw((4, 3)), 0), (Draw((2, 6, 2)), 1)),
)
def glu(input: Tensor, dim: int = -1):
    """The first half along dim times sigmoid of the second (Dauphin et al. 2017)."""
=======
    samples=calls((Draw((3, 4)),), (Draw((4, 3)), 0), (Draw((6,)), -1)),
)
def glu(input: Tensor, dim: int = -1):
    """The first half along dim times the sigmoid of the second."""
>>>>>>> 6b55996 (Losses with margins, of distributions and of pairs; glu, prelu, rrelu, one_hot)
    if not input.ndim:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    dim = normalize_dim(dim, input.ndim)
    size = input.shape[dim]
    if size % 2 != 0:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim} is size {size} (in glu)"
        )
<<<<<<< HEAD
    if not input.dtype.is_floating_point:
        raise NotImplementedError(
            f"\"glu_cpu\" not implemented for '{scalar_type_name(input.dtype)}'"
        )
    x = build.widened(input)
    half = size // 2
    first, second = (build.slice_(x, dim, start, 1, half) for start in (0, half))
    return build.convert(first * op.sigmoid(second), input.dtype)
=======
    refuse_unless_floating("glu_cpu", input)
    x = build.widened(input)
    half = size // 2
    value, gate = (build.slice_(x, dim, start, 1, half) for start in (0, half))
    return build.convert(value * op.sigmoid(gate), input.dtype)
>>>>>>> 6b55996 (Losses with margins, of distributions and of pairs; glu, prelu, rrelu, one_hot)


@composite(
    names=["prelu", "nn.functional.prelu"],
<<<<<<< HEAD
    methods=["prelu"],
    onnx="PRelu",
    samples=calls(
        (Draw((2, 3)), Draw((3,))), (Draw((2, 3, 4)), Draw((1,))), (Draw((3,)), Draw(()))
    ),
)
def prelu(input: Tensor, weight: Tensor):
    """The input where it is positive, else weight (one for all, or for each channel) times it."""
    if weight.dtype is not input.dtype:
=======
    samples=calls((Draw((2, 3, 4)), Draw((3,))), (Draw((5,)), Draw((1,)))),
)
def prelu(input: Tensor, weight: Tensor):
    """The input where it is positive, else the weight (one, or one for each channel) times it."""
    if input.dtype is not weight.dtype:
>>>>>>> 6b55996 (Losses with margins, of distributions and of pairs; glu, prelu, rrelu, one_hot)
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {scalar_type_name(input.dtype)} and "
            f"{scalar_type_name(weight.dtype)}"
        )
    if weight.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}"
        )
<<<<<<< HEAD
    if not input.dtype.is_floating_point:
        raise NotImplementedError(
            f"\"prelu_cpu\" not implemented for '{scalar_type_name(input.dtype)}'"
        )
    if weight.ndim and weight.shape[0] != 1:
        if not input.ndim:
            raise RuntimeError("Not allow zero-dim input tensor. (in prelu)")
        channels = input.shape[1] if input.ndim > 1 else 1
        if weight.shape[0] != channels:
=======
    if weight.ndim == 1 and weight.shape[0] != 1:
        if not input.ndim:
            raise RuntimeError("Not allow zero-dim input tensor. (in prelu)")
        channels = input.shape[1] if input.ndim >= 2 else 1
        if channels != weight.shape[0]:
>>>>>>> 6b55996 (Losses with margins, of distributions and of pairs; glu, prelu, rrelu, one_hot)
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{weight.shape[0]} and channel size = {channels}. (in prelu)"
            )
<<<<<<< HEAD
        weight = build.reshape(weight, (channels, *[1] * (input.ndim - 2)))
    elif weight.ndim:
        weight = build.reshape(weight, ())
    return op.where(input > 0, input, input * weight)


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
        raise RuntimeError(
            f"Lower bound should be less than or equal to the upper bound (in rrelu: {lower} and "
            f"{upper})"
        )
    if not input.dtype.is_floating_point:
        raise NotImplementedError(
            f"\"rrelu\" not implemented for '{scalar_type_name(input.dtype)}'"
        )
    x = build.widened(input)
    slope: Any = (lower + upper) / 2
    if training:
        drawn = build.convert(double_uniform(input.shape, None), x.dtype)
        slope = drawn * (upper - lower) + lower
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
=======
        weight = build.reshape(
            weight, [weight.shape[0] if each == 1 else 1 for each in range(input.ndim)]
        )
    elif weight.ndim == 1:
        weight = build.reshape(weight, ())
    refuse_unless_floating("prelu_cpu", input)
    return op.where(input > 0, input, weight * input)


# ---------------------------------------------------------------- rrelu


def _slope_arrays(x: Any, lower: Any, upper: Any, generator: Any) -> Any:
    negative = x <= 0
    bits = draw_bits(generator, (int(negative.sum()),), 64) & numpy.uint64(2**53 - 1)
    slopes = numpy.ones(x.shape, numpy.float64)
    slopes[negative] = bits * 2.0**-53 * (float(upper) - float(lower)) + float(lower)
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
    """1 where x is positive, else a random number from lower to upper."""


@composite(names=["rrelu", "nn.functional.rrelu"], methods=[], random=True)
def rrelu(
    input: Tensor,
    lower: Operand = 1.0 / 8,
    upper: Operand = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
):
    """The input where it is positive, else a slope times it: random from lower to upper in
    training, else their mean.
    """
    refuse_unless_floating("rrelu_with_noise_out_cpu", input)
    low, high = (
        build.convert(build.lift(each, input.context), dtypes.float64) for each in (lower, upper)
    )
    if not training:
        slope = build.convert((low + high) * 0.5, input.dtype)
        return op.where(input > 0, input, input * slope)
    message = "Lower bound should be less than or equal to the upper bound (in rrelu)"
    width = require_range(high - low, 0.0, float("inf"), message)
    slopes = random_slopes.apply(op.detach(input), low, low + width, generator=None)
    return input * slopes


# ---------------------------------------------------------------- one-hot


def _one_hot_arrays(x: Any) -> Any:
    if x.min() < 0:
        raise RuntimeError("Class values must be non-negative. (in one_hot)")
    return (x[..., None] == numpy.arange(x.max() + 1)).astype(numpy.int64)


@primitive(
    Host(lambda environment, x: [(dtypes.int64, (*x.shape, environment.unbacked()), False)]),
    names=["_one_hot_of_all"],
    methods=[],
    derivative=NONE,
    batch=unsupported("give one_hot num_classes under vmap: only the data tell how many there are"),
    reference=_one_hot_arrays,
)
def one_hot_of_all(x):
    """``one_hot`` with as many classes as the greatest needs."""


@composite(
    names=["nn.functional.one_hot"],
    methods=[],
    samples=calls(
        (Draw((2, 3), 0, 4, dtype=dtypes.int64), 5), (Draw((), 0, 4, dtype=dtypes.int64), 4)
    ),
)
def one_hot(input: Tensor, num_classes: Size = -1):
    """Each class as a vector with a 1 in its place; num_classes -1: one more than the greatest."""
    if input.dtype is not dtypes.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if num_classes <= 0 and input.numel() == 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if num_classes == -1:
        return one_hot_of_all(input)
    if num_classes < 1:
        raise RuntimeError("Class values must be smaller than num_classes.")
    lowest = "Class values must be non-negative."
    highest = "Class values must be smaller than num_classes."
    classes = require_range(input, 0, 2**63 - 1, lowest)
    hot = op.unsqueeze(classes, -1) == build.iota(num_classes)
    known = require_range(num_classes - 1 - classes, 0, 2**63 - 1, highest)
    return build.convert(hot & (op.unsqueeze(known, -1) >= 0), dtypes.int64)
>>>>>>> 6b55996 (Losses with margins, of distributions and of pairs; glu, prelu, rrelu, one_hot)
