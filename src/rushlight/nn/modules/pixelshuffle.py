"""Channels as pixels, and back."""

from __future__ import annotations

from ..._core import Tensor
from .. import functional as F
from .fields import module_fields
from .module import Module

__all__ = ["PixelShuffle", "PixelUnshuffle"]


@module_fields
class PixelShuffle(Module):
    """[*, C * r * r, H, W] as [*, C, H * r, W * r] (Shi et al., arXiv:1609.05158)."""

    upscale_factor: int

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)


@module_fields
class PixelUnshuffle(Module):
    """[*, C, H * r, W * r] as [*, C * r * r, H, W]: the inverse of `PixelShuffle`."""

    downscale_factor: int

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)
