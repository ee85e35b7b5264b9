"""Devices: where a tensor's memory is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

_KNOWN = ("cpu", "meta")


class device:
    """A place for tensors: ``device("cpu")`` or ``device("meta")`` (shapes without data).

    Args:
        type: ``"cpu"``, ``"cpu:0"``, ``"meta"`` or another device.
        index: number of the device among those of its type; None for the current one.

    Raises:
        RuntimeError: for a type that this build does not have.

    Example:
        >>> rushlight.device("cpu").type
        'cpu'
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: str | device, index: int | None = None) -> None:
        if isinstance(type, device):
            name, number = type.type, type.index
        else:
            name, _, text = str(type).partition(":")
            if text and not text.isdigit():
                raise RuntimeError(
                    f"Invalid device string: '{type}'; write for example 'cpu' or 'cpu:0'"
                )
            number = int(text) if text else index
        if name not in _KNOWN:
            raise RuntimeError(
                f"device {name!r} is not available in this build; available are {', '.join(_KNOWN)}"
            )
        object.__setattr__(self, "type", name)
        object.__setattr__(self, "index", number)

    # Sets the device that constructors use and returns the former one; given by the runtime.
    _switch: ClassVar[Callable[[device | None], device | None]]
    _former: ClassVar[list[device | None]] = []

    def __enter__(self) -> device:
        """Let constructors use this device in a ``with`` block."""
        device._former.append(device._switch(self))
        return self

    def __exit__(self, *exception: object) -> None:
        device._switch(device._former.pop())

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"attribute {name!r} of a device cannot be set")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __repr__(self) -> str:
        return f"device(type={self.type!r}" + (
            ")" if self.index is None else f", index={self.index})"
        )

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (self.type, self.index)


cpu = device("cpu")
meta = device("meta")
