"""Weights of convolutions in other orders of elements."""

from __future__ import annotations

from typing import Any

from ...autograd import no_grad

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


@no_grad()
def _convert(module: Any, memory_format: Any, classes: tuple[type, ...]) -> Any:
    for part in module.modules():
        if isinstance(part, classes):
            part.weight.data = part.weight.detach().clone().contiguous(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Put the weights of all 2-d convolutions of a module into an order of elements."""
    from ..modules.conv import Conv2d, ConvTranspose2d

    return _convert(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Put the weights of all 3-d convolutions of a module into an order of elements."""
    from ..modules.conv import Conv3d, ConvTranspose3d

    return _convert(module, memory_format, (Conv3d, ConvTranspose3d))
