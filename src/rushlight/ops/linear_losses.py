"""Losses of linear maps."""

from __future__ import annotations

from typing import Any

from ..graph.trace import Traced
from ..layout import numel
from . import build
from .linear_algebra import linear
from .losses import cross_entropy
from .record import Operand, Selector, Tensor, composite
from .samples import Draw, calls


def _check(input: Traced, linear_weight: Traced, linear_bias: Any) -> None:
    name = "linear_cross_entropy"
    if input.ndim not in (1, 2):
        raise RuntimeError(f"{name}: expected input with dimensionality 1 or 2, got {input.ndim}")
    if linear_weight.ndim < 2:
        raise RuntimeError(
            f"{name}: expected linear_weight with dimensionality at least 2, got "
            f"{linear_weight.ndim}"
        )
    if input.shape[-1] != linear_weight.shape[-1]:
        raise RuntimeError(
            f"{name}: the last dimensions of input and linear_weight are in_features in both, "
            f"but have sizes {input.shape[-1]} and {linear_weight.shape[-1]}"
        )
    if linear_bias is not None and tuple(linear_bias.shape) != tuple(linear_weight.shape[:-1]):
        raise RuntimeError(
            f"{name}: expected linear_bias shape {list(linear_weight.shape[:-1])}, got "
            f"{list(linear_bias.shape)}"
        )
    if linear_weight.ndim > 2 and input.ndim == 1:
        raise RuntimeError(
            f"{name}: K-dimensional loss defined by linear_weight shape "
            f"{list(linear_weight.shape)} requires batched input, but it has shape "
            f"{list(input.shape)}"
        )


_CLASSES = Draw((4,), 0, 3, dtype=build.INT64)


@composite(
    names=["nn.functional.linear_cross_entropy"],
    methods=[],
    samples=calls(
        (Draw((4, 5)), Draw((3, 5)), _CLASSES),
        ((Draw((5,)), Draw((3, 5)), Draw((3,), 0, 1)), {"linear_bias": Draw((3,))}),
        (
            (Draw((4, 5)), Draw((3, 2, 5)), Draw((4, 2), 0, 3, dtype=build.INT64)),
            {"linear_bias": Draw((3, 2)), "reduction": "none", "ignore_index": 1},
        ),
    ),
)
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias=None,
    weight=None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: Operand = 0.0,
    options: Selector = None,
):
    """``cross_entropy(linear(input, linear_weight, linear_bias), target)``.

    Args:
        input: ``[batch, in]`` or ``[in]``.
        linear_weight: ``[classes, *out, in]``.
        target: classes ``[batch, *out]`` or probabilities ``[batch, classes, *out]``.
        linear_bias: ``[classes, *out]`` or None.
        weight: a weight for each class.
        reduction: "none", "mean" or "sum".
        ignore_index: a class that does not count; None: -100.
        label_smoothing: the share of the target that all classes have in common.
        options: how PyTorch divides the work; no effect here.
    """
    _check(input, linear_weight, linear_bias)
    outputs, size = tuple(linear_weight.shape[:-1]), linear_weight.shape[-1]
    shape = (*input.shape[:-1], *outputs)
    if ignore_index is not None and tuple(target.shape) == shape:
        raise RuntimeError(
            "linear_cross_entropy: ignore_index cannot be specified when target contains "
            "probabilities"
        )
    if len(outputs) > 1:
        linear_weight = build.reshape(linear_weight, (numel(outputs), size))
        if linear_bias is not None:
            linear_bias = build.reshape(linear_bias, (numel(outputs),))
    logits = build.reshape(linear(input, linear_weight, linear_bias), shape)
    return cross_entropy(
        logits,
        target,
        weight,
        ignore_index=-100 if ignore_index is None else ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )
