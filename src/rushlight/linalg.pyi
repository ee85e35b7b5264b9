"""Operators under linalg.

Written by ``python -m rushlight.tools.stubs``; do not edit.
"""

# ruff: noqa

from builtins import bool as _bool, float as _float, int as _int
from collections.abc import Sequence
from typing import Any

from ._core import Generator as _Generator, Tensor as Tensor, _Number
from .device import device as _device
from .dtypes import dtype as _dtype
from .formats import layout as _layout, memory_format as _memory_format

def matmul(input: Tensor | _Number, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """The matrix product; a vector counts as a row on the left and a column on the right; batch
    dims broadcast.
    """
