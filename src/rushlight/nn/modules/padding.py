"""Padding as modules."""

from __future__ import annotations

from typing import Any

from ..._core import Tensor
from .. import functional as F
from .module import Module
from .utils import _ntuple

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d",
    "ConstantPad3d", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d",
    "ReplicationPad2d", "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip


class _Pad(Module):
    """Padding of the last dims.

    Args:
        padding: one number for all sides, or (left, right, top, bottom, front, back).
    """

    __constants__ = ["padding"]
    _dims: int
    _mode: str

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _ntuple(2 * self._dims)(padding)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        """The padding."""
        return f"{self.padding}"


class _ConstantPadNd(_Pad):
    """Padding with a constant.

    Args:
        padding: one number for all sides, or (left, right, top, bottom, front, back).
        value: the constant.
    """

    __constants__ = ["padding", "value"]
    _mode = "constant"

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """The options with their values."""
        return f"padding={self.padding}, value={self.value}"


class _ZeroPadNd(_ConstantPadNd):
    """Padding with zeros."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """The padding."""
        return f"{self.padding}"


class _ReflectionPadNd(_Pad):
    """Padding with the input mirrored at its edge, the edge itself not repeated."""

    _mode = "reflect"


class _ReplicationPadNd(_Pad):
    """Padding with the elements at the edge."""

    _mode = "replicate"


class _CircularPadNd(_Pad):
    """Padding with the elements from the other end."""

    _mode = "circular"

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (self._dims + 1, self._dims + 2):
            raise ValueError(
                f"{type(self).__name__}: expected {self._dims + 1}D or {self._dims + 2}D input "
                f"(got {input.dim()}D input)"
            )

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        return super().forward(input)


class ConstantPad1d(_ConstantPadNd):
    """Padding of the last dim with a constant."""

    _dims = 1


class ConstantPad2d(_ConstantPadNd):
    """Padding of the last two dims with a constant."""

    _dims = 2


class ConstantPad3d(_ConstantPadNd):
    """Padding of the last three dims with a constant."""

    _dims = 3


class ZeroPad1d(_ZeroPadNd):
    """Padding of the last dim with zeros."""

    _dims = 1


class ZeroPad2d(_ZeroPadNd):
    """Padding of the last two dims with zeros."""

    _dims = 2


class ZeroPad3d(_ZeroPadNd):
    """Padding of the last three dims with zeros."""

    _dims = 3


class ReflectionPad1d(_ReflectionPadNd):
    """Padding of the last dim by mirroring the input."""

    _dims = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Padding of the last two dims by mirroring the input."""

    _dims = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Padding of the last three dims by mirroring the input."""

    _dims = 3


class ReplicationPad1d(_ReplicationPadNd):
    """Padding of the last dim with the elements at the edge."""

    _dims = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Padding of the last two dims with the elements at the edge."""

    _dims = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Padding of the last three dims with the elements at the edge."""

    _dims = 3


class CircularPad1d(_CircularPadNd):
    """Padding of the last dim with elements from the other end."""

    _dims = 1


class CircularPad2d(_CircularPadNd):
    """Padding of the last two dims with elements from the other end."""

    _dims = 2


class CircularPad3d(_CircularPadNd):
    """Padding of the last three dims with elements from the other end."""

    _dims = 3
