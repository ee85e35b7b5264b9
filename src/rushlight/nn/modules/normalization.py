"""Normalisation over channels, groups of them or the last dims."""

from __future__ import annotations

import numbers
from typing import Any

import rushlight

from ..._core import Tensor
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .fields import module_fields
from .module import Module

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


@module_fields
class LocalResponseNorm(Module):
    """input / (k + alpha * mean of squares over neighbouring channels) ** beta

    Args:
        size: how many neighbouring channels count.
        alpha: see there.
        beta: see there.
        k: see there.
    """

    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """The options with their values."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """`LocalResponseNorm` of images [N, C, H, W], in its oldest form.

    As in PyTorch, channel 0 counts for all channels.
    """

    __constants__: list[str] = []

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        reach, channels = (self.size - 1) // 2 + 1, input.size(1)
        squares = input * input
        sums = []
        for channel in range(channels):
            first, end = max(0, channel - reach + 1), min(channel + reach, channels)
            total = squares[:, first:end].sum(1)
            sums.append(total + squares[:, 0] if first > 0 else total)
        scale = self.k + self.alpha / self.size * rushlight.stack(sums, 1)
        return input * scale**-self.beta


class LayerNorm(Module):
    """(input - mean) / sqrt(variance + eps) * weight + bias, over the last dims.

    (Ba et al., arXiv:1607.06450.)

    Args:
        normalized_shape: the sizes of these dims.
        eps: a small number that keeps the denominator from zero.
        elementwise_affine: whether there are a weight and a bias.
        bias: whether there is a bias, if so.
        device: where the parameters are.
        dtype: their dtype.

    Example:
        >>> LayerNorm(3)(rushlight.tensor([[1.0, 2.0, 3.0]]))[0, 1].item()
        0.0
    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _as_shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        for name, wanted in (("weight", True), ("bias", bias)):
            parameter = None
            if elementwise_affine and wanted:
                parameter = Parameter(
                    rushlight.empty(self.normalized_shape, device=device, dtype=dtype)
                )
            self.register_parameter(name, parameter)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The options with their values."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


def _as_shape(normalized_shape: Any) -> tuple[int, ...]:
    if isinstance(normalized_shape, numbers.Integral):
        return (int(normalized_shape),)
    return tuple(normalized_shape)


class GroupNorm(Module):
    """(input - mean) / sqrt(variance + eps) * weight + bias, over each group of channels.

    (Wu and He, arXiv:1803.08494.)

    Args:
        num_groups: into how many groups the channels are divided.
        num_channels: the number of channels (dim 1).
        eps: a small number that keeps the denominator from zero.
        affine: whether there are a weight and a bias for each channel.
        device: where the parameters are.
        dtype: their dtype.
        bias: whether there is a bias, if affine.

    Raises:
        ValueError: if the groups do not divide the channels.
    """

    __constants__ = ["num_groups", "num_channels", "eps", "affine"]

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        for name, wanted in (("weight", True), ("bias", bias)):
            parameter = None
            if affine and wanted:
                parameter = Parameter(rushlight.empty(num_channels, device=device, dtype=dtype))
            self.register_parameter(name, parameter)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The options with their values."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """input / sqrt(mean of squares + eps) * weight, over the last dims.

    (Zhang and Sennrich, arXiv:1910.07467.)

    Args:
        normalized_shape: the sizes of these dims.
        eps: a small number that keeps the denominator from zero; None: that of the dtype.
        elementwise_affine: whether there is a weight.
        device: where the parameter is.
        dtype: its dtype.
    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _as_shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        weight = None
        if elementwise_affine:
            weight = Parameter(rushlight.empty(self.normalized_shape, device=device, dtype=dtype))
        self.register_parameter("weight", weight)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """The options with their values."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )
