"""The operators of neural networks as functions. Filled from the operator table when the package is
imported; the forms in place are here.
"""

from __future__ import annotations

from collections.abc import Callable as _Callable
from typing import Any as _Any

from .._core import Tensor
from ..ops.checks import require_same_rank as _require_same_rank


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


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: _Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with any distance: at least 0, and else
    ``distance(anchor, positive) - distance(anchor, negative) + margin``.

    Args:
        anchor, positive, negative: batches of vectors, or single ones.
        distance_function: gives the distances of two batches; None: `pairwise_distance`.
        margin: see there.
        swap: whether the negative's distance to the positive counts if it is smaller.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Raises:
        ValueError: for an unknown reduction, or a margin that is not positive.
        RuntimeError: for tensors of different ranks.

    Example:
        >>> a, p, n = rushlight.zeros(1, 2), rushlight.zeros(1, 2), rushlight.ones(1, 2)
        >>> loss = triplet_margin_with_distance_loss
        >>> loss(a, p, n, distance_function=lambda x, y: (x - y).abs().sum(-1), margin=3.0)
        tensor(1.)
    """
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(
            f"triplet_margin_with_distance_loss: margin must be greater than 0, got {margin}"
        )
    _require_same_rank(
        "triplet_margin_with_distance_loss", anchor=anchor, positive=positive, negative=negative
    )
    distance = globals()["pairwise_distance"] if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    loss = (near - far + margin).clamp_min(0)
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()
