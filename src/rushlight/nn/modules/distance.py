"""Distances and similarities of vectors."""

from __future__ import annotations

from ..._core import Tensor
from .. import functional as F
from .fields import module_fields
from .module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class PairwiseDistance(Module):
    """The p-norm of x1 - x2 + eps along the last dim.

    Args:
        p: see there.
        eps: see there.
        keepdim: whether the last dim stays, with size 1.
    """

    __constants__ = ["norm", "eps", "keepdim"]

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


@module_fields
class CosineSimilarity(Module):
    """The cosine of the angle between vectors along dim; norms count as eps at least."""

    dim: int = 1
    eps: float = 1e-8

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)

    def extra_repr(self) -> str:
        """Nothing."""
        return ""
