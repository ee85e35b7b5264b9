"""Channels in another order."""

from __future__ import annotations

from ..._core import Tensor
from .. import functional as F
from .fields import module_fields
from .module import Module

__all__ = ["ChannelShuffle"]


@module_fields
class ChannelShuffle(Module):
    """The channels (dim 1), groups of which become interleaved."""

    groups: int

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)
