"""`Variable`: the class that once wrapped tensors; now they are differentiated themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._core import Tensor

__all__ = ["Variable"]


class VariableMeta(type):
    """Every tensor counts as a `Variable`."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class ImperativeEngine:
    """What programs reach as ``Variable._execution_engine``."""

    @staticmethod
    def queue_callback(callback: Callable[[], Any]) -> None:
        """Call a function when the running backward pass has ended.

        Raises:
            RuntimeError: outside of a backward pass.
        """
        _core.queue_callback(callback)


class Variable(metaclass=VariableMeta):
    """The old name of tensors: ``Variable(data)`` is a tensor over the elements of ``data``."""

    _execution_engine = ImperativeEngine()

    def __new__(cls, data: Tensor, requires_grad: bool = False, volatile: Any = None) -> Tensor:  # type: ignore[misc]
        result: Tensor = data.detach()
        return result.requires_grad_() if requires_grad else result
