"""Activation functions as modules."""

from __future__ import annotations

from typing import Any

import rushlight

from ..._core import Tensor
from .. import functional as F
from ..parameter import Parameter
from .fields import module_fields
from .module import Module

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU",
    "LogSigmoid", "LogSoftmax", "Mish", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU",
    "Sigmoid", "Softmax", "Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh",
    "Tanhshrink", "Threshold",
]  # fmt: skip


@module_fields
class Threshold(Module):
    """input where it is greater than a threshold, else a value."""

    threshold: float
    value: float
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)


@module_fields
class ReLU(Module):
    """max(input, 0)"""

    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)


@module_fields
class RReLU(Module):
    """Leaky ReLU with a slope that is drawn from [lower, upper] in training, their mean else."""

    lower: float = 1.0 / 8
    upper: float = 1.0 / 3
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class Hardtanh(Module):
    """input limited to [min_val, max_val]; `min_value` and `max_value` are older names."""

    __constants__ = ["min_val", "max_val", "inplace"]

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(
                f"Hardtanh: max_val {self.max_val} must be greater than min_val {self.min_val}"
            )

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        """The options with their values."""
        inplace = ", inplace=True" if self.inplace else ""
        return f"min_val={self.min_val}, max_val={self.max_val}{inplace}"


class ReLU6(Hardtanh):
    """min(max(input, 0), 6)"""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        """The options with their values."""
        return "inplace=True" if self.inplace else ""


class Sigmoid(Module):
    """1 / (1 + exp(-input))"""

    def forward(self, input: Tensor) -> Tensor:
        return rushlight.sigmoid(input)


@module_fields
class Hardsigmoid(Module):
    """A piecewise linear sigmoid: input / 6 + 1 / 2, limited to [0, 1]."""

    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        """Nothing."""
        return ""


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, input: Tensor) -> Tensor:
        return rushlight.tanh(input)


@module_fields
class SiLU(Module):
    """input * sigmoid(input), also called swish."""

    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


@module_fields
class Mish(Module):
    """input * tanh(softplus(input))"""

    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)


@module_fields
class Hardswish(Module):
    """input * hardsigmoid(input)"""

    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        """Nothing."""
        return ""


@module_fields
class ELU(Module):
    """input if positive, else alpha * (exp(input) - 1)."""

    alpha: float = 1.0
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)


@module_fields
class CELU(Module):
    """max(input, 0) + min(alpha * (exp(input / alpha) - 1), 0)"""

    alpha: float = 1.0
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)


@module_fields
class SELU(Module):
    """ELU scaled so that the outputs of deep networks keep mean 0 and variance 1."""

    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)


@module_fields
class GLU(Module):
    """The first half along dim times the sigmoid of the second half."""

    dim: int = -1

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)


@module_fields
class GELU(Module):
    """input times the normal distribution function of it; approximate: "none" or "tanh"."""

    approximate: str = "none"

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)


@module_fields
class Hardshrink(Module):
    """input where its magnitude is greater than lambd, else 0."""

    lambd: float = 0.5

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """The threshold."""
        return f"{self.lambd}"


@module_fields
class LeakyReLU(Module):
    """input if positive, else negative_slope * input."""

    negative_slope: float = 1e-2
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class LogSigmoid(Module):
    """log(sigmoid(input))"""

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


@module_fields
class Softplus(Module):
    """log(1 + exp(beta * input)) / beta; input itself where beta * input is over the threshold."""

    beta: float = 1.0
    threshold: float = 20.0

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)


@module_fields
class Softshrink(Module):
    """input moved towards 0 by lambd, 0 if it is closer."""

    lambd: float = 0.5

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """The threshold."""
        return str(self.lambd)


class PReLU(Module):
    """Leaky ReLU with a slope that is learnt.

    Args:
        num_parameters: 1, or one slope for each channel (dim 1).
        init: the slope to begin with.
        device: where the parameter is.
        dtype: its dtype.
    """

    __constants__ = ["num_parameters"]

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(rushlight.empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the slopes to `init`."""
        rushlight.nn.init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """The options with their values."""
        return f"num_parameters={self.num_parameters}"


class Softsign(Module):
    """input / (1 + |input|)"""

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(Module):
    """input - tanh(input)"""

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


@module_fields
class Softmin(Module):
    """Softmax of -input along dim."""

    dim: int | None = None

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim, _stacklevel=5)


@module_fields
class Softmax(Module):
    """exp(input), scaled to sum to one along dim."""

    dim: int | None = None

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """Softmax over the channels of images [N, C, H, W] or [C, H, W]."""

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: input must be 3D or 4D, not {input.dim()}D")
        return F.softmax(input, -3, _stacklevel=5)


@module_fields
class LogSoftmax(Module):
    """log(softmax(input)) along dim."""

    dim: int | None = None

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim, _stacklevel=5)


def __getattr__(name: str) -> Any:
    """`MultiheadAttention`, which PyTorch has in this module."""
    if name == "MultiheadAttention":
        from .attention import MultiheadAttention

        return MultiheadAttention
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
