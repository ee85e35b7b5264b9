"""Helpers around training; a module of this package is loaded when it is first used."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

_MODULES = ("checkpoint", "data", "dlpack", "hooks")


def __getattr__(name: str) -> ModuleType:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def set_module(obj: Any, mod: str) -> None:
    """Set the name of the module that an object says it is from.

    Raises:
        TypeError: if mod is no string.
    """
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod
