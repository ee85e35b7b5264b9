"""Writes in place into tensors that have several elements at one place, as after ``expand()``.

They are refused, but for the operators of which PyTorch lets them pass. Those state a rule, the
field ``expanded`` of their records, called with tensors, outside of traces. The rules write
a view with one element for each place, so that each place is written once, whatever the number of
threads.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from .record import op


def is_expanded(x: Any) -> bool:
    """Whether elements of a tensor certainly share a place: a size > 1 has stride 0.

    False for what is no tensor.
    """
    if not hasattr(x, "stride") or not x.numel():
        return False
    return any(size > 1 and stride == 0 for size, stride in zip(x.shape, x.stride()))


def refuse_expanded(name: str) -> None:
    """Raise the error for a write that has no rule."""
    raise RuntimeError(
        f"{name}: unsupported operation: several elements of the written tensor have a single "
        "memory location, as after expand(). Please clone() it."
    )


def warn_expanded(name: str) -> None:
    """Warn of a write that PyTorch has deprecated."""
    warnings.warn(
        f"{name}: writing a tensor in which several elements have a single memory location, as "
        "after expand(), is deprecated. Please clone() it.",
        UserWarning,
        stacklevel=3,
    )


def places_of(x: Any) -> tuple[Any, tuple[int, ...]]:
    """A view of x with one element for each place, and the dims along which x repeats them."""
    repeated = tuple(dim for dim in range(x.ndim) if x.stride(dim) == 0 and x.shape[dim] > 1)
    for dim in repeated:
        x = op.narrow(x, dim, 0, 1)
    return x, repeated


def fill_places(x: Any, mask: Any, value: Any) -> Any:
    """Write value at each place at which the mask is true for one of the elements."""
    places, repeated = places_of(x)
    places.masked_fill_(op.any(op.broadcast_to(mask, x.shape), repeated, True), value)
    return x


def unchanged_if(name: str, condition: Callable[[Any], bool]) -> Callable[..., Any]:
    """The rule of an operator that leaves some tensors as they are and refuses others."""

    def rule(self: Any, *args: Any) -> Any:
        if not condition(self):
            refuse_expanded(name)
        getattr(places_of(self)[0], name)(*args)  # which counts as a write
        return self

    return rule
