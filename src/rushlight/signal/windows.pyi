"""Operators under signal.windows.

Written by ``python -m rushlight.tools.stubs``; do not edit.
"""

# ruff: noqa

from builtins import bool as _bool, float as _float, int as _int
from collections.abc import Sequence
from typing import Any

from .._core import Generator as _Generator, Tensor as Tensor, _Number
from ..device import device as _device
from ..dtypes import dtype as _dtype
from ..formats import layout as _layout, memory_format as _memory_format

def bartlett(
    M: _int,
    *,
    sym: _bool = True,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """A triangle that is zero at both ends."""

def blackman(
    M: _int,
    *,
    sym: _bool = True,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """Blackman's window, a sum of three cosines."""

def cosine(
    M: _int,
    *,
    sym: _bool = True,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """Half a period of the sine."""

def exponential(
    M: _int,
    *,
    center: Any = None,
    tau: Tensor | _Number = 1.0,
    sym: _bool = True,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """exp(-|n - center| / tau); center is by default in the middle."""

def gaussian(
    M: _int,
    *,
    std: Tensor | _Number = 1.0,
    sym: _bool = True,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """exp(-(n - middle)**2 / (2 * std**2))"""

def general_cosine(
    M: _int,
    *,
    a: Any,
    sym: _bool = True,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """A sum of cosines: (-1)**i * a[i] * cos(i * angle).

    Args:
        M: the number of points.
        a: the weights, a sequence of numbers.
        sym: whether the window is symmetric; else it is one period, without the last point.
    """

def general_hamming(
    M: _int,
    *,
    alpha: Tensor | _Number = 0.54,
    sym: _bool = True,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """alpha - (1 - alpha) * cos(angle)"""

def hamming(
    M: _int,
    *,
    sym: _bool = True,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """Hamming's window: 0.54 - 0.46 * cos(angle)"""

def hann(
    M: _int,
    *,
    sym: _bool = True,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """Hann's window: 0.5 - 0.5 * cos(angle)"""

def kaiser(
    M: _int,
    *,
    beta: Tensor | _Number = 12.0,
    sym: _bool = True,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """Kaiser's window: i0(beta * sqrt(1 - x**2)) / i0(beta) for x from -1 to 1."""

def nuttall(
    M: _int,
    *,
    sym: _bool = True,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """The minimum four-term window of Nuttall (1981)."""
