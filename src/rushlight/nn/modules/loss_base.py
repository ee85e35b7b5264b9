"""What losses have in common."""

from __future__ import annotations

from ..._core import Tensor
from ...ops.losses import reduction_of
from .module import Module

# An argument of PyTorch's older releases: ``size_average=False`` stands for ``reduction="sum"``,
# ``reduce=False`` for ``"none"``.
Old = bool | None


class _Loss(Module):
    """A loss with a reduction: ``"none"``, ``"mean"`` or ``"sum"``."""

    reduction: str

    def setup(self, size_average: Old = None, reduce: Old = None) -> None:
        if size_average is not None or reduce is not None:
            self.reduction = reduction_of(self.reduction, size_average, reduce)

    def extra_repr(self) -> str:
        """Nothing."""
        return ""


class _WeightedLoss(_Loss):
    """A loss with a weight for each class, which is a buffer."""

    weight: Tensor | None

    def setup(  # type: ignore[override]
        self,
        weight: Tensor | None = None,
        size_average: Old = None,
        reduce: Old = None,
    ) -> None:
        super().setup(size_average, reduce)
        self.register_buffer("weight", weight)
