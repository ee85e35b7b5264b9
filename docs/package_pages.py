"""Writes the pages of packages from their lists of public names."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from types import ModuleType

from operator_pages import heading, write_pages

PACKAGES = {
    "rushlight.nn": "Networks: modules and parameters",
    "rushlight.nn.init": "Initial values of parameters",
    "rushlight.nn.utils": "Helpers for parameters and gradients",
    "rushlight.nn.utils.rnn": "Sequences of different lengths",
    "rushlight.nn.utils.parametrize": "Parametrizations",
    "rushlight.optim": "Optimizers",
    "rushlight.optim.lr_scheduler": "Learning rate schedules",
    "rushlight.autograd": "Automatic differentiation",
    "rushlight.autograd.functional": "Jacobians and Hessians of functions",
    "rushlight.autograd.graph": "The graph of a backward pass",
    "rushlight.autograd.forward_ad": "Forward mode on tensors",
    "rushlight.func": "Function transforms",
    "rushlight.utils.data": "Data sets and loaders",
    "rushlight.utils.checkpoint": "Recomputing instead of storing",
    "rushlight.serialization": "Saving and loading",
    "rushlight.profiler": "Profiling",
}


def write(folder: Path) -> None:
    """Write an index and a page for each package into a folder."""
    modules = {name: importlib.import_module(name) for name in PACKAGES}
    pages = {f"{name}.rst": page(name, module) for name, module in modules.items()}
    entries = "".join(f"   {name}\n" for name in PACKAGES)
    pages["packages.rst"] = heading("Packages", "=") + f".. toctree::\n   :maxdepth: 1\n\n{entries}"
    write_pages(folder, pages)


def public_names(module: ModuleType) -> list[str]:
    """What a package offers: ``__all__``, else what it defines."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return sorted(listed)
    return sorted(
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    )


def page(name: str, module: ModuleType) -> str:
    """A package's page: its docstring, then its classes and functions."""
    text = heading(PACKAGES[name], "=") + f"``{name}``: "
    text += inspect.cleandoc(module.__doc__ or "") + f"\n\n.. currentmodule:: {name}\n\n"
    for each in public_names(module):
        value = getattr(module, each)
        if inspect.isclass(value):
            text += f".. autoclass:: {each}\n   :members:\n\n"
        elif callable(value):
            text += f".. autofunction:: {each}\n\n"
    return text
