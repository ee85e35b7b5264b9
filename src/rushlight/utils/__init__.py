"""Helpers around training; a module of this package is loaded when it is first used."""

from __future__ import annotations

import importlib
from types import ModuleType

_MODULES = ("checkpoint", "data", "dlpack", "hooks")


def __getattr__(name: str) -> ModuleType:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
