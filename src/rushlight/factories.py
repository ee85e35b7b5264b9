"""Constructors: what all operators that make new tensors offer (device, requires_grad, ...)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from . import _core
from .device import device as Device
from .formats import layout as Layout
from .formats import strided
from .ops.record import Record

# ---------------------------------------------------------------- the default device


class _Default(threading.local):
    device: Device | None = None  # None: the CPU


_default = _Default()
_ELSEWHERE = 1 << 6  # the mode bit of calls with another default than the CPU


def default_device() -> Device | None:
    """The device that constructors use in this thread; None: the CPU."""
    return _default.device


def switch_default_device(device: Device | None) -> Device | None:
    """Set the device that constructors use in this thread; returns the former one."""
    former, _default.device = _default.device, device
    bits = _core.get_mode_bits() & ~_ELSEWHERE
    is_cpu = device is None or device.type == "cpu"
    _core.set_mode_bits(bits if is_cpu else bits | _ELSEWHERE)
    return former


Device._switch = staticmethod(switch_default_device)


# ---------------------------------------------------------------- arguments


def require_device(device: Any, function: str) -> Device:
    """The device that an argument means: a device, its name, or None for the CPU."""
    if device is None:
        return Device("cpu")
    if isinstance(device, Device | str):
        return Device(device)
    if isinstance(device, int) and not isinstance(device, bool):
        raise RuntimeError(
            f"{function}(): device {device} is an accelerator, and there is none; use 'cpu'"
        )
    given = type(device).__name__
    raise TypeError(f"{function}(): argument 'device' must be torch.device, not {given}")


def require_strided(layout: Any, function: str) -> None:
    """TypeError for what is no layout, NotImplementedError for a sparse one."""
    if layout is None or layout is strided:
        return
    if not isinstance(layout, Layout):
        given = type(layout).__name__
        raise TypeError(f"{function}(): argument 'layout' must be torch.layout, not {given}")
    raise NotImplementedError(
        f"{function}(): tensors of layout {layout} do not exist yet; use torch.strided"
    )


def refuse_pinned(pin_memory: Any, function: str) -> None:
    """RuntimeError if pinned memory is wanted."""
    if pin_memory:
        raise RuntimeError(
            f"{function}(): pin_memory=True needs an accelerator, and there is none; leave it out"
        )


def moved(tensor: Any, device: Device) -> Any:
    """The tensor on a device: on ``meta`` only its layout is left."""
    if device.type == tensor.device.type:
        return tensor
    if device.type == "meta":
        return _core.empty_strided(tuple(tensor.shape), tensor.stride(), tensor.dtype.code, 1)
    raise NotImplementedError("Cannot copy out of meta tensor; no data!")


def finished(result: Any, device: Any, requires_grad: bool, pin_memory: bool, function: str) -> Any:
    """A new tensor, made without these arguments, with what they ask for."""
    refuse_pinned(pin_memory, function)
    if device is not None:
        result = moved(result, require_device(device, function))
    return result.requires_grad_() if requires_grad else result


def result_device(record: Record, kwargs: dict[str, Any]) -> str | None:
    """The type of the device that a call of a constructor asks for; None: that of its inputs."""
    refuse_pinned(kwargs.get("pin_memory"), record.name)
    device = kwargs.get("device")
    if device is None and not record.name.startswith("new_") and not record.name.endswith("_like"):
        device = _default.device
    return None if device is None else require_device(device, record.name).type


def elsewhere(record: Record, args: tuple, kwargs: dict[str, Any]) -> Callable[..., Any] | None:
    """How to run a constructor's call whose input is on the meta device but not its result."""
    source = args[0] if args else None
    if not isinstance(source, _core.Tensor) or not source.is_meta:
        return None
    if result_device(record, kwargs) != "cpu":
        return None

    def run(source: Any, *args: Any, **kwargs: Any) -> Any:
        model = _core.empty_strided(tuple(source.shape), source.stride(), source.dtype.code, 0)
        return record.operator(model, *args, **kwargs)

    return run
