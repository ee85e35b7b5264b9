"""Methods that change a tensor's layout in place: ``transpose_``, ``squeeze_`` and their like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _core
from ._core import Tensor
from .plan import tape_name

VIEWS = ("transpose", "swapaxes", "swapdims", "t", "squeeze", "unsqueeze", "as_strided")


def take_layout(self: Tensor, view: Tensor, name: str) -> Tensor:
    """Make the tensor what ``view``, a view of it, is; gradients flow through the view."""
    if view.requires_grad:
        if self.is_leaf:
            raise RuntimeError(
                f"{name}: a leaf Variable that requires grad is being used in an in-place "
                "operation."
            )
        if self._base is not None:
            raise NotImplementedError(
                f"{name}: a view that requires grad cannot change its layout in place; use "
                f"{name[:-1]}"
            )
    _core.set_data(self, view.detach())
    if view.requires_grad:
        _core.attach_node(lambda gradient: (gradient,), tape_name(name), (view,), (self,))
    return self


def in_place(name: str) -> Callable[..., Tensor]:
    """The in-place form of the view method ``name``."""
    view = getattr(Tensor, name)

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return take_layout(self, view(self, *args, **kwargs), f"{name}_")

    method.__name__ = f"{name}_"
    method.__doc__ = f"``{name}`` in place: this tensor gets the other layout."
    return method


def resize_as_(self: Tensor, other: Tensor, *, memory_format: Any = None) -> Tensor:
    """``resize_`` to the shape of another tensor."""
    if not isinstance(other, Tensor):
        raise TypeError(
            f"resize_as_(): argument 'the_template' must be Tensor, not {type(other).__name__}"
        )
    return self.resize_(other.shape)


def install() -> None:
    """Attach the methods to Tensor, which has its views by then."""
    for name in VIEWS:
        setattr(Tensor, f"{name}_", in_place(name))
    setattr(Tensor, "resize_as_", resize_as_)  # noqa: B010  # the stub has no such attribute yet
