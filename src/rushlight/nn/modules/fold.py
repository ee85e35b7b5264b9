"""Sliding windows of images, and back."""

from __future__ import annotations

from typing import Any

from ..._core import Tensor
from .. import functional as F
from .fields import module_fields
from .module import Module

__all__ = ["Fold", "Unfold"]


@module_fields
class Fold(Module):
    """Adds up windows [N, C * window elements, windows] to images; the transpose of `Unfold`.

    Args:
        output_size: the size of the images.
        kernel_size: the size of the windows, one number or one for each dim; so all below.
        dilation: the distance of neighbouring elements of a window.
        padding: by how much the images are enlarged at each side.
        stride: the distance of neighbouring windows.
    """

    output_size: Any
    kernel_size: Any
    dilation: Any = 1
    padding: Any = 0
    stride: Any = 1

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )


@module_fields
class Unfold(Module):
    """The windows of images [N, C, H, W] as columns: [N, C * window elements, windows].

    Args:
        kernel_size: the size of the windows, one number or one for each dim; so all below.
        dilation: the distance of neighbouring elements of a window.
        padding: by how much the images are enlarged at each side, with zeros.
        stride: the distance of neighbouring windows.
    """

    kernel_size: Any
    dilation: Any = 1
    padding: Any = 0
    stride: Any = 1

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)
