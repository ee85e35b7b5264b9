"""Initialisation of parameters: functions that fill a tensor and return it.

The numbers are those that PyTorch draws with the same seed. Nothing is recorded for gradients.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import rushlight

from .._core import Tensor
from ..autograd import no_grad

__all__ = [
    "calculate_gain", "constant", "constant_", "dirac", "dirac_", "eye", "eye_", "kaiming_normal",
    "kaiming_normal_", "kaiming_uniform", "kaiming_uniform_", "normal", "normal_", "ones_",
    "orthogonal", "orthogonal_", "sparse", "sparse_", "trunc_normal_", "uniform", "uniform_",
    "xavier_normal", "xavier_normal_", "xavier_uniform", "xavier_uniform_", "zeros_",
]  # fmt: skip

_LINEAR = (
    "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "sigmoid",
)  # fmt: skip


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By which factor weights should be larger because of the function that follows.

    Args:
        nonlinearity: the function's name in `nn.functional`.
        param: for ``"leaky_relu"`` the negative slope (0.01).

    Raises:
        ValueError: for another function, or a slope that is no number.
    """
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "selu":
        return 3.0 / 4
    if nonlinearity != "leaky_relu":
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    slope = 0.01 if param is None else param
    if isinstance(slope, bool) or not isinstance(slope, int | float):
        raise ValueError(f"negative_slope {param} not a valid number")
    return math.sqrt(2.0 / (1 + slope**2))


# ---------------------------------------------------------------- simple distributions


@no_grad()
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with numbers that are uniform in [a, b)."""
    return tensor.uniform_(a, b, generator=generator)


@no_grad()
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with numbers of the normal distribution."""
    return tensor.normal_(mean, std, generator=generator)


@no_grad()
def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Any = None,
) -> Tensor:
    """Fill with numbers of the normal distribution, drawn again while they are outside of [a, b].

    Args:
        tensor: what to fill.
        mean: the mean of the distribution that is not truncated.
        std: its standard deviation.
        a: the lower limit, in the units of the numbers.
        b: the upper limit.
        generator: the stream of random numbers.
    """
    if tensor.device.type == "meta":
        return tensor
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            f"trunc_normal_: mean={mean} lies over 2 * std outside [{a}, {b}], where the "
            "values may be distributed wrongly",
            stacklevel=2,
        )
    accepted = _normal_cdf((b - mean) / std) - _normal_cdf((a - mean) / std)
    draw = _truncated_from_normal if accepted > 0.3 else _truncated_from_uniform
    result = draw(tensor, mean, std, a, b, generator)
    return tensor if result is tensor else tensor.copy_(result)


def _normal_cdf(x: float) -> float:
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def _truncated_from_normal(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any
) -> Tensor:
    """Rejection: numbers of the normal distribution until all are within the limits."""
    low, high = (tensor.new_tensor(limit).item() for limit in (a, b))
    result = tensor.normal_(mean, std, generator=generator)
    while True:
        outside = (result < low) | (result > high)
        if not outside.any():
            return result
        again = rushlight.empty_like(result).normal_(mean, std, generator=generator)
        result = rushlight.where(outside, again, result)


def _truncated_from_uniform(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any
) -> Tensor:
    """Rejection: uniform numbers, each kept with the probability of its density.

    For limits far out, where hardly any number of the normal distribution would be kept.
    """
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2

    def refused(candidates: Tensor) -> Tensor:
        density = candidates.sub(mean).div_(std).pow_(2).mul_(-0.5).sub_(peak)
        return rushlight.empty_like(tensor).uniform_(generator=generator).log_().gt(density)

    result = tensor.uniform_(a, b, generator=generator)
    pending = refused(result)
    while pending.any():
        candidates = rushlight.empty_like(tensor).uniform_(a, b, generator=generator)
        result = rushlight.where(pending, candidates, result)
        pending = pending & refused(candidates)
    return result


# ---------------------------------------------------------------- constants


@no_grad()
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one number."""
    return tensor.fill_(val)


@no_grad()
def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return tensor.fill_(1.0)


@no_grad()
def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return tensor.zero_()


@no_grad()
def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with ones on its diagonal, else zeros.

    Raises:
        ValueError: if it is no matrix.
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return tensor.copy_(rushlight.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


@no_grad()
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the weight of a convolution so that it copies as many channels as it can.

    Args:
        tensor: a weight of 3, 4 or 5 dims, [out channels, in channels / groups, ...].
        groups: the groups of the convolution.

    Raises:
        ValueError: for other numbers of dims, or groups that do not divide the out channels.
    """
    if tensor.ndim not in (3, 4, 5):
        raise ValueError(f"dirac_: tensor must have 3, 4 or 5 dimensions, not {tensor.ndim}")
    if tensor.size(0) % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    if tensor.device.type == "meta":
        return tensor
    tensor.zero_()
    group_size = tensor.size(0) // groups
    centre = tuple(size // 2 for size in tensor.shape[2:])
    for group in range(groups):
        for channel in range(min(group_size, tensor.size(1))):
            tensor[(group * group_size + channel, channel, *centre)] = 1
    return tensor


# ---------------------------------------------------------------- scaled to the layer


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs each output of a layer has, and how many outputs each input."""
    if tensor.ndim < 2:
        raise ValueError(f"Fan in and fan out need at least 2 dimensions, not {tensor.ndim}")
    receptive_field = math.prod(tensor.shape[2:])
    return tensor.size(1) * receptive_field, tensor.size(0) * receptive_field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    modes = ["fan_in", "fan_out"]
    if mode.lower() not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {modes}")
    fans = _calculate_fan_in_and_fan_out(tensor)
    return fans[modes.index(mode.lower())]


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with uniform numbers of standard deviation ``gain * sqrt(2 / (fan_in + fan_out))``.

    Glorot and Bengio, 2010.

    Raises:
        ValueError: for tensors of fewer than 2 dims.
    """
    std = gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with normal numbers of standard deviation ``gain * sqrt(2 / (fan_in + fan_out))``.

    Raises:
        ValueError: for tensors of fewer than 2 dims.
    """
    std = gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))
    return normal_(tensor, 0.0, std, generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float | None:
    """The standard deviation that keeps that of activations; None for an empty tensor."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return None
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Fill with uniform numbers of standard deviation ``gain / sqrt(fan)``.

    He et al., "Delving deep into rectifiers", 2015.

    Args:
        tensor: what to fill.
        a: the negative slope, for ``"leaky_relu"``.
        mode: ``"fan_in"`` keeps the variance in the forward pass, ``"fan_out"`` in the backward
            pass.
        nonlinearity: the function that follows, as for `calculate_gain`.
        generator: the stream of random numbers.

    Raises:
        ValueError: for another mode or function, or tensors of fewer than 2 dims.
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Fill with normal numbers of standard deviation ``gain / sqrt(fan)``; arguments as of
    `kaiming_uniform_`.
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0, std, generator)


@no_grad()
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Fill with an orthogonal matrix, times a gain: dim 0 by all others.

    Saxe, McClelland and Ganguli, arXiv:1312.6120, 2013; uniform by Mezzadri, arXiv:math-ph/0609050.

    Raises:
        ValueError: for tensors of fewer than 2 dims.
    """
    if tensor.ndim < 2:
        raise ValueError(f"orthogonal_: tensor must have at least 2 dimensions, not {tensor.ndim}")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    flat = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
    q, r = rushlight.linalg.qr(flat.t() if rows < columns else flat)
    q = q * r.diagonal().sign()
    tensor.view_as(flat).copy_(q.t() if rows < columns else q)
    return tensor.mul_(gain)


@no_grad()
def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Fill a matrix with normal numbers, and a share of each column with zeros.

    Args:
        tensor: a matrix.
        sparsity: the share of zeros in each column.
        std: the standard deviation of the others.
        generator: the stream of random numbers; places of zeros come from the default one.

    Raises:
        ValueError: if it is no matrix.
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    if tensor.device.type == "meta":
        return tensor
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    tensor.normal_(0, std, generator=generator)
    for column in range(columns):
        tensor[rushlight.randperm(rows)[:zeros], column] = 0
    return tensor


# ---------------------------------------------------------------- names without underscore


def _deprecated(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    name = function.__name__[:-1]

    @functools.wraps(function)
    def old(*args: Any, **kwargs: Any) -> Tensor:
        warnings.warn(
            f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    old.__name__ = old.__qualname__ = name
    old.__doc__ = f"The old name of `{name}_`."
    return old


uniform = _deprecated(uniform_)
normal = _deprecated(normal_)
constant = _deprecated(constant_)
eye = _deprecated(eye_)
dirac = _deprecated(dirac_)
xavier_uniform = _deprecated(xavier_uniform_)
xavier_normal = _deprecated(xavier_normal_)
kaiming_uniform = _deprecated(kaiming_uniform_)
kaiming_normal = _deprecated(kaiming_normal_)
orthogonal = _deprecated(orthogonal_)
sparse = _deprecated(sparse_)
