"""Methods of Tensor that belong to automatic differentiation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._core import Tensor
from .engine import Tensors
from .engine import backward as run_backward
from .hooks import RemovableHandle


def backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensors | None = None,
) -> None:
    """Add the gradients of this tensor to the `.grad` of the leaves it was computed from."""
    run_backward((self,), (gradient,), retain_graph, create_graph, inputs=inputs)


def register_hook(self: Tensor, hook: Callable[[Any], Any]) -> RemovableHandle:
    """Call `hook(gradient)` when this tensor's gradient is computed; it may return another."""
    return _core.register_hook(self, hook)


def register_post_accumulate_grad_hook(
    self: Tensor, hook: Callable[[Tensor], None]
) -> RemovableHandle:
    """Call `hook(self)` after a gradient was added to this leaf's `.grad`."""
    return _core.register_post_accumulate_grad_hook(self, hook)


def retain_grad(self: Tensor) -> None:
    """Let backward passes set `.grad` of this tensor although it is not a leaf."""
    _core.retain_grad(self)


def is_inference(self: Tensor) -> bool:
    """Was this tensor made in inference mode?"""
    return _core.is_inference(self)


def detach_(self: Tensor) -> Tensor:
    """Cut this tensor off from the operators that made it: it becomes a leaf without gradient.

    Raises:
        RuntimeError: for views, whose base would keep its history; use ``detach()``.
    """
    return _core.detach_in_place(self)


def _is_view(self: Tensor) -> bool:
    """Is this tensor a view whose writes reach another tensor's history?"""
    return _core.is_differentiable_view(self)


def _backward_hooks(self: Tensor) -> Any:
    """The hooks of a leaf by their handles' numbers; None if it has none."""
    return _core.leaf_hooks(self)


for _method in (
    detach_,
    _is_view,
    backward,
    register_hook,
    register_post_accumulate_grad_hook,
    retain_grad,
    is_inference,
):
    setattr(Tensor, _method.__name__, _method)
setattr(Tensor, "_backward_hooks", property(_backward_hooks))  # noqa: B010
