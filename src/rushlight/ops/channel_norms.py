"""Normalisation over batches, groups of channels, examples and neighbouring channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..graph.trace import Traced
from ..layout import numel
from ..promotion import scalar_type_name
from . import build
from .record import Mutated, Operand, Size, Tensor, Update, composite, op
from .samples import Draw, calls


def _require_floating(input: Traced, kernel: str) -> None:
    if not input.dtype.is_floating_point:
        raise NotImplementedError(
            f"\"{kernel}\" not implemented for '{scalar_type_name(input.dtype)}'; convert the input"
        )


def _check_channels(channels: Any, name: str, **parameters: Any) -> None:
    """Each parameter that is given must have one element for each channel."""
    for label, parameter in parameters.items():
        if parameter is not None and numel(parameter.shape) != channels:
            raise RuntimeError(
                f"{label} should contain {channels} elements not {numel(parameter.shape)} "
                f"(in {name})"
            )


def _along_channels(parameter: Traced, rank: int) -> Traced:
    """One number for each channel, shaped to broadcast with an input of this rank."""
    return build.reshape(build.widened(parameter), (numel(parameter.shape), *[1] * (rank - 2)))


def _moments(x: Traced, dims: Sequence[int]) -> tuple[Traced, Traced]:
    """Mean and (biased) variance over dims, which stay with size 1."""
    count = numel(tuple(x.shape[dim] for dim in dims))
    mean = build.reduce_sum(x, dims) / count
    distance = x - mean
    return mean, build.reduce_sum(distance * distance, dims) / count


def _affine(x: Traced, weight: Any, bias: Any) -> Traced:
    if weight is not None:
        x = x * _along_channels(weight, x.ndim)
    return x if bias is None else x + _along_channels(bias, x.ndim)


def _updated(old: Traced, new: Traced, momentum: Any) -> Traced:
    """The running statistic moved towards that of this batch; it has no gradient."""
    new = build.reshape(op.detach(new), old.shape)
    return build.convert(build.widened(old) * (1 - momentum) + new * momentum, old.dtype)


def _batch_norm(
    input: Traced,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: Any,
    eps: Any,
    name: str,
) -> tuple[tuple[Traced, Any, Any], tuple[Traced, ...]]:
    """What batch norm gives, mean and 1 / deviation (None in evaluation), the new statistics."""
    _require_floating(input, "batch_norm")
    channels = input.shape[1] if input.ndim > 1 else 0
    _check_channels(
        channels, name, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias
    )
    statistics = tuple(each for each in (running_mean, running_var) if each is not None)
    x = build.widened(input)
    if numel(x.shape) == 0:
        none = [build.full((channels,), each, x.dtype) for each in (0, 1)]
        return (build.convert(x, input.dtype), none[0], none[1]), statistics
    if not training:
        if len(statistics) < 2:
            raise RuntimeError(
                "Expected running_mean and running_var to be defined when training=False "
                f"(in {name})"
            )
        mean = _along_channels(running_mean, x.ndim)
        scale = op.rsqrt(_along_channels(running_var, x.ndim) + eps)
        result = _affine((x - mean) * scale, weight, bias)
        return (build.convert(result, input.dtype), None, None), statistics
    dims = tuple(dim for dim in range(x.ndim) if dim != 1)
    mean, variance = _moments(x, dims)
    scale = op.rsqrt(variance + eps)
    result = build.convert(_affine((x - mean) * scale, weight, bias), input.dtype)
    updates = []
    if running_mean is not None:
        updates.append(_updated(running_mean, mean, momentum))
    if running_var is not None:
        count = numel(tuple(x.shape[dim] for dim in dims))
        unbiased = variance * (count / (count - 1)) if count != 1 else variance * float("nan")
        updates.append(_updated(running_var, unbiased, momentum))
    mean, scale = (build.reshape(each, (channels,)) for each in (mean, scale))
    return (result, mean, scale), tuple(updates)


_BATCH_NORM_SAMPLES: tuple[Any, ...] = (
    ((Draw((4, 3)), None, None), {"training": True}),
    ((Draw((4, 3, 2)), Draw((3,)), Draw((3,), 0.5, 2)), {}),
    ((Draw((2, 3, 2, 2)), None, None, Draw((3,)), Draw((3,))), {"training": True, "eps": 0.1}),
    ((Draw((2, 3, 2)), Draw((3,)), Draw((3,), 0.5, 2), Draw((3,)), Draw((3,))), {}),
)


@composite(
    name="functional_batch_norm",
    names=["nn.functional.batch_norm"],
    methods=[],
    channels_as=["input"],
    onnx="BatchNormalization",
    samples=calls(*_BATCH_NORM_SAMPLES),
)
def functional_batch_norm(
    input: Tensor,
    running_mean: Mutated | None,
    running_var: Mutated | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: Operand = 0.1,
    eps: Operand = 1e-05,
):
    """Shift and scale each channel to mean 0 and variance 1, then apply weight and bias.

    Training takes mean and variance of the batch and moves the running ones towards them by
    momentum; evaluation takes the running ones (Ioffe and Szegedy 2015, algorithms 1 and 2).
    """
    if eps < 0.0 or (training and eps == 0.0):
        allowed = "positive during training" if training else "non-negative"
        raise ValueError(f"batch_norm eps must be {allowed}, but got {eps}")
    if training and input.ndim >= 2:
        if numel((input.shape[0], *input.shape[2:])) == 1:
            raise ValueError(
                "batch_norm: Expected more than 1 value per channel in training mode, but "
                f"input has shape {list(input.shape)}; use a larger batch, or eval()"
            )
    (result, _, _), contents = _batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps, "batch_norm"
    )
    return Update(result, contents)


@composite(names=["batch_norm"], methods=[], channels_as=["input"])
def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Mutated | None,
    running_var: Mutated | None,
    training: bool,
    momentum: Operand,
    eps: Operand,
    cudnn_enabled: bool,
):
    """nn.functional.batch_norm with its arguments in another order."""
    (result, _, _), contents = _batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps, "batch_norm"
    )
    return Update(result, contents)


@composite(names=["native_batch_norm"], methods=[], out=True, channels_as=["input"])
def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Mutated | None,
    running_var: Mutated | None,
    training: bool,
    momentum: Operand,
    eps: Operand,
):
    """What batch norm gives, and of the batch the means and one over the standard deviations, which
    are empty in evaluation.
    """
    (result, mean, scale), contents = _batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps, "batch_norm"
    )
    if mean is None:
        mean = build.full((0,), 0, build.widened(input).dtype)
        scale = build.full((0,), 1, build.widened(input).dtype)
    if weight is None or weight.dtype is input.dtype:
        mean, scale = (build.convert(each, input.dtype) for each in (mean, scale))
    return Update((result, mean, scale), contents)


@composite(
    names=["nn.functional.instance_norm"],
    methods=[],
    onnx="InstanceNormalization",
    samples=calls(
        (Draw((2, 3, 4)),),
        (Draw((2, 3, 2, 2)), None, None, Draw((3,)), Draw((3,))),
        ((Draw((2, 3, 4)), Draw((3,)), Draw((3,), 0.5, 2)), {"use_input_stats": False}),
    ),
)
def instance_norm(
    input: Tensor,
    running_mean: Mutated | None = None,
    running_var: Mutated | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: Operand = 0.1,
    eps: Operand = 1e-05,
):
    """Shift and scale each channel of each example to mean 0 and variance 1, then apply weight and
    bias (Ulyanov et al. 2016). Without use_input_stats the running statistics are taken.
    """
    _require_floating(input, "instance_norm")
    if input.ndim < 2:
        raise RuntimeError(
            f"instance_norm: expected input of shape [batch, channels, ...], got "
            f"{list(input.shape)}"
        )
    _check_channels(
        input.shape[1], "instance_norm", running_mean=running_mean, running_var=running_var,
        weight=weight, bias=bias,
    )  # fmt: skip
    if not use_input_stats:
        (result, _, _), contents = _batch_norm(
            input, weight, bias, running_mean, running_var, False, momentum, eps, "instance_norm"
        )
        return Update(result, contents)
    count = numel(input.shape[2:])
    if count == 1:
        raise ValueError(
            "instance_norm: Expected more than 1 spatial element to normalize over, but input "
            f"has shape {list(input.shape)}"
        )
    x = build.widened(input)
    mean, variance = _moments(x, range(2, x.ndim))
    result = _affine((x - mean) * op.rsqrt(variance + eps), weight, bias)
    updates = []
    if running_mean is not None:
        updates.append(_updated(running_mean, _batch_mean(mean), momentum))
    if running_var is not None:
        unbiased = variance * (count / (count - 1))
        updates.append(_updated(running_var, _batch_mean(unbiased), momentum))
    return Update(build.convert(result, input.dtype), tuple(updates))


def _batch_mean(statistic: Traced) -> Traced:
    return build.reduce_sum(statistic, (0,)) / statistic.shape[0]


# ---------------------------------------------------------------- groups of channels


def _group_norm(
    input: Traced, num_groups: int, weight: Any, bias: Any, eps: Any
) -> tuple[Traced, Traced, Traced]:
    if input.ndim < 2:
        raise RuntimeError(
            "group_norm: input must have at least 2 dimensions, (batch, channels, ...), not "
            f"{input.ndim}"
        )
    _require_floating(input, "GroupNormKernelImpl")
    if num_groups < 1:
        raise RuntimeError(f"group_norm: num_groups must be positive, not {num_groups}")
    batch, channels, *rest = input.shape
    if channels % num_groups != 0:
        raise RuntimeError(
            f"group_norm: {channels} channels must be divisible by num_groups={num_groups}; "
            f"input has shape {list(input.shape)}"
        )
    for label, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and (parameter.ndim != 1 or parameter.shape[0] != channels):
            raise RuntimeError(
                f"group_norm: {label} must have shape [{channels}], a value per channel of "
                f"input, not {list(parameter.shape)}"
            )
    x = build.reshape(build.widened(input), (batch, num_groups, channels // num_groups, *rest))
    mean, variance = _moments(x, range(2, x.ndim))
    scale = op.rsqrt(variance + eps)
    result = _affine(build.reshape((x - mean) * scale, input.shape), weight, bias)
    groups = (batch, num_groups)
    return (
        build.convert(result, input.dtype),
        build.convert(build.reshape(mean, groups), input.dtype),
        build.convert(build.reshape(scale, groups), input.dtype),
    )


@composite(
    names=["group_norm"],
    methods=[],
    channels_as=["input"],
    samples=calls(
        (Draw((2, 6, 3)), 2),
        (Draw((2, 6)), 3),
        (Draw((2, 4, 2, 3)), 2, Draw((4,)), Draw((4,))),
        (Draw((2, 4, 3)), 4, Draw((4,)), None, 0.1),
    ),
)
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: Operand = 1e-05,
    cudnn_enabled: bool = True,
):
    """Shift and scale each group of channels of each example to mean 0 and variance 1, then apply
    weight and bias (Wu and He 2018).
    """
    return _group_norm(input, num_groups, weight, bias, eps)[0]


@composite(
    name="functional_group_norm",
    names=["nn.functional.group_norm"],
    methods=[],
    channels_as=["input"],
    samples=calls((Draw((2, 6, 3)), 2), (Draw((2, 4, 2, 3)), 2, Draw((4,)), Draw((4,)))),
)
def functional_group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: Operand = 1e-05,
):
    """Shift and scale each group of channels of each example to mean 0 and variance 1, then apply
    weight and bias.
    """
    if input.ndim >= 2 and numel(input.shape) == input.shape[0] * num_groups == num_groups:
        raise ValueError(
            f"group_norm: Expected more than 1 value per channel group, but {num_groups} "
            f"groups of input of shape {list(input.shape)} have one each"
        )
    return _group_norm(input, num_groups, weight, bias, eps)[0]


@composite(names=["native_group_norm"], methods=[], channels_as=["input"], samples=calls(
    (Draw((2, 4, 2, 3)), Draw((4,)), Draw((4,)), 2, 4, 6, 2, 1e-5),
))  # fmt: skip
def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: Size,
    C: Size,
    HxW: Size,
    group: int,
    eps: Operand,
):
    """What group_norm gives, the means, and one over the standard deviations."""
    if N * C * HxW != numel(input.shape):
        raise RuntimeError(
            f"native_group_norm: input of shape {list(input.shape)} does not have "
            f"{N} * {C} * {HxW} elements"
        )
    result, mean, scale = _group_norm(build.reshape(input, (N, C, HxW)), group, weight, bias, eps)
    return build.reshape(result, input.shape), mean, scale


# ---------------------------------------------------------------- neighbouring channels


def _response_samples(dtype: Any) -> Any:
    if dtype.itemsize > 2:  # PyTorch rounds to half precision after each step
        yield (Draw((2, 5, 3)), 3), {}
        yield (Draw((2, 4, 2, 3)), 2, 0.1, 0.5, 2.0), {}


@composite(
    names=["nn.functional.local_response_norm"],
    methods=[],
    laid_out_as=["input"],
    onnx="LRN",
    samples=_response_samples,
)
def local_response_norm(
    input: Tensor, size: int, alpha: Operand = 1e-4, beta: Operand = 0.75, k: Operand = 1.0
):
    """input / (k + alpha * mean of the squares of ``size`` neighbouring channels) ** beta
    (Krizhevsky et al. 2012, section 3.3).
    """
    if input.ndim < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions, in "
            "local_response_norm)"
        )
    if size < 1:
        raise RuntimeError(f"local_response_norm: size must be positive, got {size}")
    if numel(input.shape) == 0:
        return input
    if not input.dtype.is_floating_point and input.dtype is not dtypes.int64:
        raise NotImplementedError(
            f"\"local_response_norm\" not implemented for '{scalar_type_name(input.dtype)}'"
        )
    x = build.widened(input)
    channels = x.shape[1]
    before = size // 2
    squares = build.pad(x * x, 1, before, channels + size - 1)
    total: Any = 0
    for shift in range(size):
        total = total + build.slice_(squares, 1, shift, 1, channels)
    mean = total / size if input.dtype.is_floating_point else total // size
    result = x / (mean * alpha + k) ** beta
    return build.convert(result, input.dtype) if input.dtype.is_floating_point else result
