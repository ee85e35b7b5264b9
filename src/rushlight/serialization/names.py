"""The names under which objects stand in files: PyTorch's, so that both can read them.

A class or function ``rushlight.x.y`` is written as ``torch.x.y``, or under the name that PyTorch
has for it where it defines it in another module. The functions by which tensors
are put together again have fixed names in ``torch._utils``.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from .. import dtypes
from ..dtypes import dtype as DType
from ..storage import LEGACY_NAMES, LEGACY_TYPES, UntypedStorage
from . import rebuild


@dataclass(frozen=True)
class Global:
    """What is written as a module and a name."""

    module: str
    name: str

    def __call__(self, *args: Any) -> Any:
        raise TypeError(f"{self.module}.{self.name} stands for a name in a file")


REBUILD_TENSOR = Global("torch._utils", "_rebuild_tensor_v2")
REBUILD_TENSOR_OF_DTYPE = Global("torch._utils", "_rebuild_tensor_v3")
REBUILD_META = Global("torch._utils", "_rebuild_meta_tensor_no_storage")
REBUILD_PARAMETER = Global("torch._utils", "_rebuild_parameter")
REBUILD_PARAMETER_WITH_STATE = Global("torch._utils", "_rebuild_parameter_with_state")
REBUILD_FROM_TYPE = Global("torch._tensor", "_rebuild_from_type_v2")
SIZE = Global("torch", "Size")
DEVICE = Global("torch", "device")
LAYOUT = Global("torch.serialization", "_get_layout")
UNTYPED = Global("torch.storage", "UntypedStorage")

STORAGE_TYPES: dict[DType, Global] = {
    dtype: Global("torch", name) for name, dtype in LEGACY_NAMES.items()
}
DTYPE_NAMES = {dtype: Global("torch", dtype.name) for dtype in dtypes.ALL}


# What PyTorch defines in another module: all of a module, and single classes.
_SCHEDULERS = "torch.optim.lr_scheduler"
_MODULES = {
    "torch.nn.modules.attention": "torch.nn.modules.activation",
    "torch.nn.modules.margin_losses": "torch.nn.modules.loss",
    "torch.nn.modules.parameter_container": "torch.nn.modules.container",
    "torch.nn.modules.recurrent_cells": "torch.nn.modules.rnn",
    "torch.nn.parallel": "torch.nn.parallel.data_parallel",
    "torch.optim.adafactor": "torch.optim",
    "torch.optim.muon": "torch.optim",
    **{
        f"{_SCHEDULERS}.{each}": _SCHEDULERS
        for each in ("annealing", "base", "composed", "cyclic", "functions", "plateau", "steps")
    },
}
_CLASSES = {
    Global("torch.nn.modules.loss", "LinearCrossEntropyOptions"): Global(
        "torch.nn.modules.linear_cross_entropy_options", "LinearCrossEntropyOptions"
    ),
    Global("torch.optim.adam", "AdamW"): Global("torch.optim.adamw", "AdamW"),
    Global("torch.tensor", "Parameter"): Global("torch.nn.parameter", "Parameter"),
}
_OWN_NAMES = {
    **{name: own for own, name in _CLASSES.items()},
    Global("torch.nn.parallel.data_parallel", "DataParallel"): Global(
        "torch.nn.parallel", "DataParallel"
    ),
}


def name_of(module: str, name: str) -> Global:
    """The name in files of what a module (``rushlight.x``) of this package defines."""
    own = Global("torch" + module.removeprefix("rushlight"), name)
    return _CLASSES.get(own) or Global(_MODULES.get(own.module, own.module), name)


def fixed_globals() -> dict[str, Any]:
    """What names in files mean that are no paths in this package, or are safe to load."""
    found: dict[str, Any] = {f"torch.{dtype.name}": dtype for dtype in dtypes.ALL}
    found |= {f"torch.{name}": LEGACY_TYPES[name] for name in LEGACY_NAMES}
    found |= {
        "torch.UntypedStorage": UntypedStorage,
        "torch.storage.UntypedStorage": UntypedStorage,
        "torch._utils._rebuild_tensor": rebuild.tensor,
        "torch._utils._rebuild_tensor_v2": rebuild.tensor,
        "torch._utils._rebuild_tensor_v3": rebuild.tensor_of_dtype,
        "torch._utils._rebuild_meta_tensor_no_storage": rebuild.meta_tensor,
        "torch._utils._rebuild_parameter": rebuild.parameter,
        "torch._utils._rebuild_parameter_with_state": rebuild.parameter_with_state,
        "torch._tensor._rebuild_from_type_v2": rebuild.from_type,
        "torch.serialization._get_layout": rebuild.layout,
        "torch.storage._load_from_bytes": rebuild.nested_file,
    }
    return found


def resolve(module: str, name: str) -> Any:
    """The object of this package that a name in a file means.

    Raises:
        AttributeError, ImportError: if there is none.
    """
    path = f"{module}.{name}"
    fixed = fixed_globals()
    if path in fixed:
        return fixed[path]
    own = _OWN_NAMES.get(Global(module, name), Global(module, name))
    target: Any = importlib.import_module("rushlight" + own.module.removeprefix("torch"))
    for part in own.name.split("."):
        target = getattr(target, part)
    return target
