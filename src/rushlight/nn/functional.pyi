"""Operators under nn.functional.

Written by ``python -m rushlight.tools.stubs``; do not edit.
"""

# ruff: noqa

from builtins import bool as _bool, float as _float, int as _int
from collections.abc import Sequence
from typing import Any

from .._core import Generator as _Generator, Tensor as Tensor, _Number
from ..device import device as _device
from ..dtypes import dtype as _dtype
from ..formats import layout as _layout, memory_format as _memory_format

def cross_entropy(
    input: Tensor | _Number,
    target: Tensor | _Number,
    weight: Tensor | _Number | None = None,
    size_average: _bool | None = None,
    ignore_index: _int = -100,
    reduce: _bool | None = None,
    reduction: str = 'mean',
    label_smoothing: Tensor | _Number = 0.0,
) -> Tensor:
    """The negative log-likelihood of targets (classes or probabilities) under softmax(input)."""

def dropout(
    input: Tensor | _Number,
    p: Tensor | _Number = 0.5,
    training: _bool = True,
    inplace: _bool = False,
) -> Tensor:
    """Set elements to zero with probability p and scale the others by 1 / (1 - p)."""

def dropout1d(
    input: Tensor | _Number,
    p: Tensor | _Number = 0.5,
    training: _bool = True,
    inplace: _bool = False,
) -> Tensor:
    """Drop whole channels of 1 dims with probability p and scale the others."""

def dropout2d(
    input: Tensor | _Number,
    p: Tensor | _Number = 0.5,
    training: _bool = True,
    inplace: _bool = False,
) -> Tensor:
    """Drop whole channels of 2 dims with probability p and scale the others."""

def dropout3d(
    input: Tensor | _Number,
    p: Tensor | _Number = 0.5,
    training: _bool = True,
    inplace: _bool = False,
) -> Tensor:
    """Drop whole channels of 3 dims with probability p and scale the others."""

def l1_loss(
    input: Tensor | _Number,
    target: Tensor | _Number,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
    weight: Tensor | _Number | None = None,
) -> Tensor:
    """The absolute difference."""

def layer_norm(
    input: Tensor | _Number,
    normalized_shape: _int | Sequence[_int],
    weight: Tensor | _Number | None = None,
    bias: Tensor | _Number | None = None,
    eps: Tensor | _Number = 1e-05,
    cudnn_enable: _bool = True,
) -> Tensor:
    """Shift and scale to mean 0 and variance 1 over the last dims, then apply weight and bias."""

def linear(
    input: Tensor | _Number,
    weight: Tensor | _Number,
    bias: Tensor | _Number | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """input @ weight.T + bias"""

def log_softmax(
    input: Tensor,
    dim: _int | None = None,
    _stacklevel: _int = 3,
    dtype: _dtype | None = None,
) -> Tensor:
    """The logarithm of softmax."""

def mse_loss(
    input: Tensor | _Number,
    target: Tensor | _Number,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
    weight: Tensor | _Number | None = None,
) -> Tensor:
    """The squared difference."""

def nll_loss(
    input: Tensor | _Number,
    target: Tensor | _Number,
    weight: Tensor | _Number | None = None,
    size_average: _bool | None = None,
    ignore_index: _int = -100,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """Minus the log-probability of the target class."""

def relu(input: Tensor, inplace: _bool = False) -> Tensor:
    """The input where it is positive, else 0."""

def rms_norm(
    input: Tensor | _Number,
    normalized_shape: _int | Sequence[_int],
    weight: Tensor | _Number | None = None,
    eps: Tensor | _Number | None = None,
) -> Tensor:
    """Scale by the root of the mean square over the last dims."""

def sigmoid(input: Tensor, *, out: Any = None) -> Tensor:
    """1 / (1 + exp(-input))"""

def softmax(
    input: Tensor,
    dim: _int | None = None,
    _stacklevel: _int = 3,
    dtype: _dtype | None = None,
) -> Tensor:
    """Scale exp(input) to sum to one along dim."""

def tanh(input: Tensor, *, out: Any = None) -> Tensor:
    """The hyperbolic tangent."""
