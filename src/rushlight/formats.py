"""Layouts and memory formats: names for how a tensor's elements are arranged."""

from __future__ import annotations

from typing import Any, NoReturn


class _Name:
    """A constant that is known by its name; no others can be made."""

    __slots__ = ("name",)

    name: str

    def __new__(cls, *args: Any) -> NoReturn:
        raise TypeError(
            f"cannot create '{cls.__name__}' instances; use the constants, such as {cls.example}"
        )

    example = ""

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class layout(_Name):
    """How elements are found: ``strided`` is the only layout so far."""

    __slots__ = ()
    example = "torch.strided"


class memory_format(_Name):
    """The order of a dense tensor's dims in memory."""

    __slots__ = ()
    example = "torch.contiguous_format"


def _make(cls: type, name: str) -> Any:
    constant: Any = object.__new__(cls)
    constant.name = name
    return constant


strided = _make(layout, "strided")
contiguous_format = _make(memory_format, "contiguous_format")
preserve_format = _make(memory_format, "preserve_format")
channels_last = _make(memory_format, "channels_last")
channels_last_3d = _make(memory_format, "channels_last_3d")

__all__ = [
    "channels_last",
    "channels_last_3d",
    "contiguous_format",
    "layout",
    "memory_format",
    "preserve_format",
    "strided",
]
