"""The accelerator of this machine, whichever it is: this build has none."""

from __future__ import annotations

from typing import Any

from .device import device as Device

__all__ = [
    "current_accelerator", "current_device_index", "current_stream", "device_count", "empty_cache",
    "is_available", "memory_allocated", "set_device_index", "set_stream", "synchronize",
]  # fmt: skip


def _none() -> Any:
    raise RuntimeError("Cannot access accelerator device when none is available.")


def is_available() -> bool:
    """Whether there is an accelerator."""
    return False


def device_count() -> int:
    """The number of accelerators."""
    return 0


def current_accelerator(check_available: bool = False) -> Device | None:
    """The accelerator as a device: None."""
    return None


def current_device_index() -> int:
    """Raises RuntimeError: there is no accelerator."""
    return _none()


def set_device_index(device: Any, /) -> None:
    """Raises RuntimeError: there is no accelerator."""
    _none()


def current_stream(device: Any = None, /) -> Any:
    """Raises RuntimeError: there is no accelerator."""
    return _none()


def set_stream(stream: Any) -> None:
    """Raises RuntimeError: there is no accelerator."""
    _none()


def synchronize(device: Any = None, /) -> None:
    """Raises RuntimeError: there is no accelerator."""
    _none()


def empty_cache() -> None:
    """Raises RuntimeError: there is no accelerator."""
    _none()


def memory_allocated(device_index: Any = None, /) -> int:
    """Raises RuntimeError: there is no accelerator."""
    return _none()
