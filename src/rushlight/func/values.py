"""What traced values answer as tensors do, while a function is transformed."""

from __future__ import annotations

from typing import Any, NoReturn

from .. import formats
from ..device import device as Device
from ..graph.trace import Context, NestedContext, Traced
from ..ops.record import op
from .recording import ReverseContext
from .trace import Root


def root_of(x: Traced) -> Context:
    """The graph that a value belongs to in the end."""
    context = x.context
    while isinstance(context, NestedContext):
        context = context.below
    return context


def device_of(x: Traced) -> Device:
    """The device of the tensors that the transform was called with."""
    root = root_of(x)
    tensors = root.tensors if isinstance(root, Root) else []
    return tensors[0].device if tensors else Device("cpu")


def requires_grad_of(x: Traced) -> bool:
    """Whether a gradient flows through the value, in any of the transforms around it."""
    context = x.context
    if isinstance(context, ReverseContext):
        return True
    if isinstance(context, NestedContext):
        return requires_grad_of(x.value.primal)
    if isinstance(context, Root) and x.value.node is None and not x.weak:
        index = [value for value in context.graph.inputs if not value.weak].index(x.value)
        return context.tensors[index].requires_grad
    return False


def refuse_write(self: Traced, index: Any, value: Any) -> NoReturn:
    raise RuntimeError(
        "setitem: a function that is transformed (vmap, grad, jvp, ...) cannot change a tensor in "
        "place; use where, index_put, cat or stack instead"
    )


def install() -> None:
    """Attach these to the traced values."""
    properties = {
        "device": device_of,
        "requires_grad": requires_grad_of,
        "layout": lambda self: formats.strided,
        "data": lambda self: op.detach(self),
        "is_leaf": lambda self: False,
        "grad": lambda self: None,
        "grad_fn": lambda self: None,
        "itemsize": lambda self: self.dtype.itemsize,
        "is_sparse": lambda self: False,
        "is_cuda": lambda self: False,
        "is_meta": lambda self: False,
        "is_quantized": lambda self: False,
    }
    for name, getter in properties.items():
        setattr(Traced, name, property(getter))
    setattr(Traced, "__setitem__", refuse_write)  # noqa: B010  # mypy knows no such attribute
