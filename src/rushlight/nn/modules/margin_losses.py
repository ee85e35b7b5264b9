"""Losses of scores that should differ by a margin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._core import Tensor
from .. import functional as F
from .distance import PairwiseDistance
from .fields import InitVar, module_fields
from .loss_base import Old, _Loss, _WeightedLoss
from .module import Module

__all__ = [
    "CosineEmbeddingLoss",
    "HingeEmbeddingLoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


@module_fields
class HingeEmbeddingLoss(_Loss):
    """input where target is 1, max(0, margin - input) where it is -1."""

    margin: float = 1.0
    size_average: InitVar[Old] = None
    reduce: InitVar[Old] = None
    reduction: str = "mean"

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


@module_fields
class MultiLabelMarginLoss(_Loss):
    """The margins of each right class over each wrong one, for several right classes."""

    size_average: InitVar[Old] = None
    reduce: InitVar[Old] = None
    reduction: str = "mean"

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


@module_fields
class SoftMarginLoss(_Loss):
    """log(1 + exp(-target * input)), of targets 1 and -1."""

    size_average: InitVar[Old] = None
    reduce: InitVar[Old] = None
    reduction: str = "mean"

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


@module_fields
class MultiLabelSoftMarginLoss(_WeightedLoss):
    """`BCEWithLogitsLoss`, averaged over the classes."""

    weight: InitVar[Tensor | None] = None
    size_average: InitVar[Old] = None
    reduce: InitVar[Old] = None
    reduction: str = "mean"

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(
            input, target, weight=self.weight, reduction=self.reduction
        )


@module_fields
class CosineEmbeddingLoss(_Loss):
    """1 - cos where target is 1, max(0, cos - margin) where it is -1, of two vectors."""

    margin: float = 0.0
    size_average: InitVar[Old] = None
    reduce: InitVar[Old] = None
    reduction: str = "mean"

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


@module_fields
class MarginRankingLoss(_Loss):
    """max(0, -target * (input1 - input2) + margin)"""

    margin: float = 0.0
    size_average: InitVar[Old] = None
    reduce: InitVar[Old] = None
    reduction: str = "mean"

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


@module_fields
class MultiMarginLoss(_WeightedLoss):
    """The mean of max(0, margin - input[target] + input[i]) ** p over the wrong classes.

    Raises:
        ValueError: for a p other than 1 and 2, or a weight of other dims.
    """

    p: int = 1
    margin: float = 1.0
    weight: InitVar[Tensor | None] = None
    size_average: InitVar[Old] = None
    reduce: InitVar[Old] = None
    reduction: str = "mean"

    def setup(  # type: ignore[override]
        self,
        weight: Tensor | None = None,
        size_average: Old = None,
        reduce: Old = None,
    ) -> None:
        super().setup(weight, size_average, reduce)
        if self.p not in (1, 2):
            raise ValueError(f"MultiMarginLoss: p must be 1 or 2, not {self.p}")
        if weight is not None and weight.dim() != 1:
            raise ValueError(f"MultiMarginLoss: expected weight to be 1D, got {weight.dim()}D")

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(
            input,
            target,
            p=self.p,
            margin=self.margin,
            weight=self.weight,
            reduction=self.reduction,
        )


@module_fields
class TripletMarginLoss(_Loss):
    """max(0, |anchor - positive| - |anchor - negative| + margin), in the p-norm.

    Args:
        margin: see there.
        p: see there.
        eps: is added to differences.
        swap: whether the negative's distance to the positive counts if it is smaller.
        size_average: old.
        reduce: old.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Raises:
        ValueError: for a margin that is not positive.
    """

    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False
    size_average: InitVar[Old] = None
    reduce: InitVar[Old] = None
    reduction: str = "mean"

    def setup(self, size_average: Old = None, reduce: Old = None) -> None:
        super().setup(size_average, reduce)
        _check_margin(self, self.margin)

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_Loss):
    """`TripletMarginLoss` with any distance.

    Args:
        distance_function: gives the distances of two batches of vectors; by default
            `PairwiseDistance`.
        margin: see there.
        swap: whether the negative's distance to the positive counts if it is smaller.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Raises:
        ValueError: for a margin that is not positive.
    """

    __constants__ = ["margin", "swap", "reduction"]

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        _check_margin(self, margin)
        self.reduction = reduction
        self.distance_function: Any = (
            PairwiseDistance() if distance_function is None else distance_function
        )
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


def _check_margin(loss: Module, margin: float) -> None:
    if margin <= 0:
        raise ValueError(
            f"{type(loss).__name__}: expected margin to be greater than 0, got {margin} instead"
        )
