"""Modules whose parameters are not initialised."""

from __future__ import annotations

import inspect
from typing import Any

__all__ = ["skip_init"]


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A module whose parameters and buffers are not initialised.

    Args:
        module_cls: the module's class, which must take an argument `device`.
        args: arguments of the constructor.
        kwargs: keyword arguments of the constructor.

    Raises:
        RuntimeError: if the class is no module's, or does not take a device.
    """
    from ..modules.module import Module

    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError(
            f"skip_init: {module_cls.__name__} takes no 'device' argument, which it needs to leave "
            "out initialization"
        )
    final_device = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=final_device)
