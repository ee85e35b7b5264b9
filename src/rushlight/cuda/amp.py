"""Mixed precision on GPUs, under its older names."""

from __future__ import annotations

import functools

from .. import amp, dtypes
from ..amp.by_device import DeviceAutocast, DeviceGradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(DeviceAutocast):
    __doc__ = DeviceAutocast.__doc__
    kind = "cuda"
    lower = dtypes.float16


class GradScaler(DeviceGradScaler):
    __doc__ = DeviceGradScaler.__doc__
    kind = "cuda"


custom_fwd = functools.partial(amp.custom_fwd, device_type="cuda")
custom_bwd = functools.partial(amp.custom_bwd, device_type="cuda")
