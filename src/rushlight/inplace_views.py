"""Methods that change a tensor's layout in place: ``transpose_``, ``squeeze_`` and their like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _core
from ._core import Tensor

# PyTorch's names for the nodes of the in-place forms
NODES = {
    "transpose": "TransposeBackward1",
    "swapaxes": "TransposeBackward1",
    "swapdims": "TransposeBackward1",
    "t": "TBackward1",
    "squeeze": "SqueezeBackward3",
    "unsqueeze": "UnsqueezeBackward1",
    "as_strided": "AsStridedBackward1",
}


def take_layout(self: Tensor, view: Tensor, name: str, node: str) -> Tensor:
    """Make the tensor what ``view``, a view of it, is; gradients flow through the view."""
    _core.check_inplace(self, name)
    _core.take_view(self, view, node)
    return self


def in_place(name: str) -> Callable[..., Tensor]:
    """The in-place form of the view method ``name``."""
    view = getattr(Tensor, name)
    node = NODES[name]

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return take_layout(self, view(self, *args, **kwargs), f"{name}_", node)

    method.__name__ = f"{name}_"
    method.__doc__ = f"``{name}`` in place: this tensor gets the other layout."
    return method


def resize_as_(self: Tensor, other: Tensor, *, memory_format: Any = None) -> Tensor:
    """``resize_`` to the shape of another tensor."""
    for name, argument in (("input", self), ("the_template", other)):
        if not isinstance(argument, Tensor):
            raise TypeError(
                f"resize_as_(): argument '{name}' must be Tensor, not {type(argument).__name__}"
            )
    return self.resize_(other.shape)


def install() -> None:
    """Attach the methods to Tensor, which has its views by then."""
    for name in NODES:
        setattr(Tensor, f"{name}_", in_place(name))
    setattr(Tensor, "resize_as_", resize_as_)  # noqa: B010  # the stub has no such attribute yet
