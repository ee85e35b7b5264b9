"""Types for annotations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import IO, TypeAlias

from ._core import Size, Tensor
from .device import device as _device
from .dtypes import dtype as _dtype
from .formats import layout as _layout
from .storage import TypedStorage, UntypedStorage

Device: TypeAlias = _device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
Number: TypeAlias = int | float | bool
Storage: TypeAlias = UntypedStorage | TypedStorage

_int, _float, _bool, _complex = int, float, bool, complex
_size: TypeAlias = Size | list[int] | tuple[int, ...]
_symsize = _size
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
_TensorOrTensorsOrGradEdge = _TensorOrTensors

__all__ = [
    "Device", "FileLike", "Number", "Storage",
]  # fmt: skip
__all__ += ["_device", "_dtype", "_layout"]
