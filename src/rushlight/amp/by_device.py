"""The older names of mixed precision, with the device in their path: `cuda.amp`, `cpu.amp`."""

from __future__ import annotations

import warnings
from typing import ClassVar

from .. import dtypes
from ..dtypes import dtype as DType
from .autocast_mode import autocast
from .grad_scaler import GradScaler


class DeviceAutocast(autocast):
    """`amp.autocast` for one kind of device.

    Args:
        enabled: whether it is on.
        dtype: the lower precision.
        cache_enabled: accepted.

    Example:
        >>> with rushlight.cpu.amp.autocast():
        ...     print((rushlight.ones(2, 2) @ rushlight.ones(2, 2)).dtype)
        torch.bfloat16
    """

    kind: ClassVar[str]
    lower: ClassVar[DType] = dtypes.bfloat16

    def __init__(
        self, enabled: bool = True, dtype: DType | None = None, cache_enabled: bool = True
    ) -> None:
        warn_of(self.kind, "autocast")
        super().__init__(self.kind, dtype or self.lower, enabled, cache_enabled)


class DeviceGradScaler(GradScaler):
    """`amp.GradScaler` for one kind of device; arguments as there, without the device."""

    kind: ClassVar[str]

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        warn_of(self.kind, "GradScaler")
        super().__init__(
            self.kind, init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )


def warn_of(kind: str, name: str) -> None:
    """FutureWarning at the caller's caller: the name without the device does the same."""
    warnings.warn(
        f"`torch.{kind}.amp.{name}(args...)` is deprecated. Use `torch.amp.{name}('{kind}', "
        "args...)`.",
        FutureWarning,
        stacklevel=3,
    )
