"""Losses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..._core import Tensor
from .. import functional as F
from .fields import InitVar, module_fields
from .linear import Linear
from .loss_base import Old, _Loss, _WeightedLoss
from .margin_losses import (
    CosineEmbeddingLoss,
    HingeEmbeddingLoss,
    MarginRankingLoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss",
    "GaussianNLLLoss", "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss",
    "LinearCrossEntropyLoss", "LinearCrossEntropyOptions", "MSELoss", "MarginRankingLoss",
    "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss",
    "NLLLoss", "NLLLoss2d", "PoissonNLLLoss", "SmoothL1Loss", "SoftMarginLoss",
    "TripletMarginLoss", "TripletMarginWithDistanceLoss",
]  # fmt: skip


@module_fields
class L1Loss(_Loss):
    """|input - target|"""

    size_average: InitVar[Old] = None
    reduce: InitVar[Old] = None
    reduction: str = "mean"

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


@module_fields
class NLLLoss(_WeightedLoss):
    """-weight[target] * input[target]: the loss of log-probabilities [N, C, ...] for classes.

    Args:
        weight: a weight for each class.
        size_average: old.
        ignore_index: a class that does not count.
        reduce: old.
        reduction: ``"none"``, ``"mean"`` (by weight) or ``"sum"``.
    """

    weight: InitVar[Tensor | None] = None
    size_average: InitVar[Old] = None
    ignore_index: int = -100
    reduce: InitVar[Old] = None
    reduction: str = "mean"

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
        )


class NLLLoss2d(NLLLoss):
    """The old name of `NLLLoss` for images."""


@module_fields
class PoissonNLLLoss(_Loss):
    """The loss of a Poisson distribution's rate: exp(input) - target * input.

    Args:
        log_input: whether the input is the rate's logarithm; else the loss is
            input - target * log(input + eps).
        full: whether Stirling's approximation of log(target!) is added.
        size_average: old.
        eps: see there.
        reduce: old.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.
    """

    log_input: bool = True
    full: bool = False
    size_average: InitVar[Old] = None
    eps: float = 1e-8
    reduce: InitVar[Old] = None
    reduction: str = "mean"

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(
            log_input,
            target,
            log_input=self.log_input,
            full=self.full,
            eps=self.eps,
            reduction=self.reduction,
        )


class GaussianNLLLoss(_Loss):
    """The loss of a normal distribution's mean and variance.

    Args:
        full: whether the constant term is added.
        eps: what variances are at least.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.
    """

    __constants__ = ["full", "eps", "reduction"]

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__()
        self.full = full
        self.eps = eps
        self.reduction = reduction

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return F.gaussian_nll_loss(
            input, target, var, full=self.full, eps=self.eps, reduction=self.reduction
        )


@module_fields
class KLDivLoss(_Loss):
    """target * (log(target) - input): the divergence from a distribution's logarithm to another.

    Args:
        size_average: old.
        reduce: old.
        reduction: ``"none"``, ``"mean"``, ``"batchmean"`` (the sum by the size of dim 0) or
            ``"sum"``.
        log_target: whether the target too is a logarithm.
    """

    __constants__ = ["reduction"]

    size_average: InitVar[Old] = None
    reduce: InitVar[Old] = None
    reduction: str = "mean"
    log_target: bool = False

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


@module_fields
class MSELoss(_Loss):
    """(input - target) ** 2"""

    size_average: InitVar[Old] = None
    reduce: InitVar[Old] = None
    reduction: str = "mean"

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


@module_fields
class BCELoss(_WeightedLoss):
    """-(target * log(input) + (1 - target) * log(1 - input)), of probabilities."""

    weight: InitVar[Tensor | None] = None
    size_average: InitVar[Old] = None
    reduce: InitVar[Old] = None
    reduction: str = "mean"

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


@module_fields
class BCEWithLogitsLoss(_WeightedLoss):
    """`BCELoss` of sigmoid(input).

    Args:
        weight: a weight for each element.
        size_average: old.
        reduce: old.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.
        pos_weight: a weight for the positive case of each class.
    """

    __constants__ = []  # type: ignore[var-annotated]

    weight: InitVar[Tensor | None] = None
    size_average: InitVar[Old] = None
    reduce: InitVar[Old] = None
    reduction: str = "mean"
    pos_weight: InitVar[Tensor | None] = None

    def setup(  # type: ignore[override]
        self,
        weight: Tensor | None = None,
        size_average: Old = None,
        reduce: Old = None,
        pos_weight: Tensor | None = None,
    ) -> None:
        super().setup(weight, size_average, reduce)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(
            input,
            target,
            self.weight,
            pos_weight=self.pos_weight,
            reduction=self.reduction,
        )


@module_fields
class SmoothL1Loss(_Loss):
    """|d| - beta / 2 where |d| = |input - target| is beta or more, else d**2 / (2 * beta)."""

    __constants__ = ["reduction"]

    size_average: InitVar[Old] = None
    reduce: InitVar[Old] = None
    reduction: str = "mean"
    beta: float = 1.0

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


@module_fields
class HuberLoss(_Loss):
    """delta * (|d| - delta / 2) where |d| = |input - target| is over delta, else d**2 / 2."""

    reduction: str = "mean"
    delta: float = 1.0

    def setup(self) -> None:  # type: ignore[override]
        if isinstance(self.delta, complex):
            raise TypeError(f"HuberLoss: delta must be a real number, but got {self.delta}")

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


@module_fields
class CrossEntropyLoss(_WeightedLoss):
    """The loss of logits [N, C, ...] for classes, or for probabilities of classes.

    Args:
        weight: a weight for each class.
        size_average: old.
        ignore_index: a class that does not count.
        reduce: old.
        reduction: ``"none"``, ``"mean"`` (by weight) or ``"sum"``.
        label_smoothing: the share of the target that all classes have in common.

    Example:
        >>> CrossEntropyLoss()(rushlight.zeros(1, 2), rushlight.tensor([1])).item()
        0.6931471824645996
    """

    weight: InitVar[Tensor | None] = None
    size_average: InitVar[Old] = None
    ignore_index: int = -100
    reduce: InitVar[Old] = None
    reduction: str = "mean"
    label_smoothing: float = 0.0

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


@module_fields
class CTCLoss(_Loss):
    """The loss of log-probabilities [time, N, classes] for sequences that are not aligned to them.

    (Graves et al., "Connectionist temporal classification", 2006.)

    Args:
        blank: the class that stands for no label.
        reduction: ``"none"``, ``"mean"`` (each by its target's length first) or ``"sum"``.
        zero_infinity: whether infinite losses and their gradients count as zero.
    """

    blank: int = 0
    reduction: str = "mean"
    zero_infinity: bool = False

    def forward(
        self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any
    ) -> Tensor:
        return F.ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )


@dataclass(frozen=True, slots=True)
class LinearCrossEntropyOptions:
    """How PyTorch divides the work of `LinearCrossEntropyLoss`; without effect here."""

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None


class LinearCrossEntropyLoss(_Loss):
    """`CrossEntropyLoss` of a `Linear`.

    Args:
        in_features: the size of the input's last dim.
        num_classes: the number of classes.
        out_features: further dims of the logits, for several targets of each input.
        bias: whether the `Linear` has a bias.
        device: where the parameters are.
        dtype: their dtype.
        reduction: ``"none"``, ``"mean"`` (by weight) or ``"sum"``.
        weight: a weight for each class.
        ignore_index: a class that does not count; None: -100.
        label_smoothing: the share of the target that all classes have in common.
        options: have no effect.

    Raises:
        RuntimeError: for a weight of another shape, or label smoothing outside of [0, 1].
    """

    __constants__ = ["num_classes", "out_features", "reduction", "ignore_index", "label_smoothing"]

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        super().__init__()
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(
                f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}"
            )
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"label_smoothing must be from 0 to 1, but is {label_smoothing}")
        self.register_buffer("weight", weight)
        self.reduction = reduction
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        size = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, size, bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of inputs [N, in_features] for classes [N, out_features ...], or for
        probabilities [N, classes, out_features ...].
        """
        if self.out_features and input.dim() < 2:
            raise RuntimeError(
                f"{type(self).__name__}: out_features={self.out_features} needs inputs [N, "
                f"{self.linear.in_features}], but got {tuple(input.shape)}"
            )
        shape = (*input.shape[:-1], self.num_classes, *self.out_features)
        if self.ignore_index is not None and tuple(target.shape) == shape:
            raise RuntimeError(
                "ignore_index cannot be specified when target contains probabilities"
            )
        return F.cross_entropy(
            self.linear(input).reshape(shape),
            target,
            weight=self.weight,
            ignore_index=-100 if self.ignore_index is None else self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )

    def extra_repr(self) -> str:
        """The options with their values."""
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, "
            f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )
