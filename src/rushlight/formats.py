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
    """How elements are found: ``strided`` is the only layout that tensors have so far."""

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
sparse_coo = _make(layout, "sparse_coo")
sparse_csr = _make(layout, "sparse_csr")
sparse_csc = _make(layout, "sparse_csc")
sparse_bsr = _make(layout, "sparse_bsr")
sparse_bsc = _make(layout, "sparse_bsc")
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
    "sparse_bsc",
    "sparse_bsr",
    "sparse_coo",
    "sparse_csc",
    "sparse_csr",
    "strided",
]
