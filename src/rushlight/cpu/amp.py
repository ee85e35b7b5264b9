"""Mixed precision on the CPU, under its older names."""

from __future__ import annotations

from .. import dtypes
from ..amp.by_device import DeviceAutocast, DeviceGradScaler

__all__ = ["GradScaler", "autocast"]


class autocast(DeviceAutocast):
    __doc__ = DeviceAutocast.__doc__
    kind = "cpu"
    lower = dtypes.bfloat16


class GradScaler(DeviceGradScaler):
    __doc__ = DeviceGradScaler.__doc__
    kind = "cpu"
