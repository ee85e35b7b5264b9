"""Functions that drop elements of their first argument in place."""

from __future__ import annotations

from typing import Any

from . import nn
from ._core import Tensor

__all__ = ["alpha_dropout_", "dropout_", "feature_alpha_dropout_"]


def _in_place(name: str, input: Tensor, p: float, train: bool) -> Any:
    return getattr(nn.functional, name)(input, p, train, inplace=True)


def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`nn.functional.dropout` in place."""
    return _in_place("dropout", input, p, train)


def alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`nn.functional.alpha_dropout` in place."""
    return _in_place("alpha_dropout", input, p, train)


def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`nn.functional.feature_alpha_dropout` in place."""
    return _in_place("feature_alpha_dropout", input, p, train)
