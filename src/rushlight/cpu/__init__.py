"""The CPU in the terms of accelerators."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from . import amp

__all__ = [
    "Stream", "StreamContext", "amp", "current_device", "current_stream", "device_count",
    "is_available", "is_initialized", "set_device", "stream", "synchronize",
]  # fmt: skip


class Stream:
    """The one queue of the CPU's work: what is called has been done."""

    def __init__(self, priority: int = -1) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        """Wait for another queue; it is empty."""


class StreamContext(AbstractContextManager[None]):
    """A context in which work goes to a stream: the only one."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __exit__(self, *exception: object) -> None:
        pass


_stream = Stream()


def stream(stream: Stream) -> AbstractContextManager[None]:
    """A context in which work goes to a stream."""
    return StreamContext(stream)


def current_stream(device: Any = None) -> Stream:
    """The queue of the CPU's work."""
    return _stream


def is_available() -> bool:
    """True."""
    return True


def is_initialized() -> bool:
    """True."""
    return True


def device_count() -> int:
    """1."""
    return 1


def current_device() -> str:
    """``"cpu"``."""
    return "cpu"


def set_device(device: Any) -> None:
    """Do nothing: there is only one."""


def synchronize(device: Any = None) -> None:
    """Do nothing: what was called has been done."""
