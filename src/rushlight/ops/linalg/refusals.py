"""Gradients that do not exist: an error when a backward pass asks for one, not before."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from ...graph.trace import Traced
from ..host_kinds import HostMatrices
from ..record import NONE, primitive


def _refuse(x: Any, error: str, message: str) -> Any:
    raise getattr(builtins, error)(message)


@primitive(
    HostMatrices(lambda environment, x, error, message: [(x.dtype, tuple(x.shape), False)]),
    name="refused",
    derivative=NONE,
    reference=_refuse,
)
def refused(x, error, message):
    """Raises the error, a built-in exception given by its name, when it is computed."""


def refuse(x: Traced, message: str, error: type[Exception] = RuntimeError) -> Traced:
    """What would have x's dtype and shape; the error when it is computed."""
    return refused.apply(x, error=error.__name__, message=message)


def no_vjp(
    message: str, error: type[Exception] = RuntimeError
) -> Callable[[Any, Any, Any, Any], list]:
    """A ``vjp`` rule for a function of one tensor that has no gradient."""
    return lambda inputs, outputs, gradients, attributes: [refuse(inputs[0], message, error)]


def no_jvp(
    message: str, error: type[Exception] = RuntimeError
) -> Callable[[Any, Any, Any, Any], list]:
    """A ``jvp`` rule for a function without derivative."""
    return lambda inputs, outputs, tangents, attributes: [
        refuse(each, message, error) if each.dtype.is_differentiable else None for each in outputs
    ]
