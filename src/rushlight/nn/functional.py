"""The operators of neural networks as functions. Filled from the operator table when the package is
imported; the forms in place are here.
"""

from __future__ import annotations

from typing import Any as _Any

from .._core import Tensor


def _in_place(name: str, input: Tensor, *arguments: _Any) -> Tensor:
    return globals()[name](input, *arguments, inplace=True)


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`celu` in place."""
    return _in_place("celu", input, alpha)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`elu` in place."""
    return _in_place("elu", input, alpha)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """`hardtanh` in place."""
    return _in_place("hardtanh", input, min_val, max_val)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """`leaky_relu` in place."""
    return _in_place("leaky_relu", input, negative_slope)


def relu_(input: Tensor) -> Tensor:
    """`relu` in place."""
    return _in_place("relu", input)


def rrelu_(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False
) -> Tensor:
    """`rrelu` in place."""
    return _in_place("rrelu", input, lower, upper, training)


def selu_(input: Tensor) -> Tensor:
    """`selu` in place."""
    return _in_place("selu", input)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """`threshold` in place."""
    return _in_place("threshold", input, threshold, value)
