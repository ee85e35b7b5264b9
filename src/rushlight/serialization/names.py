"""The names under which objects stand in files: PyTorch's, so that both can read them.

A class or function ``rushlight.x.y`` is written as ``torch.x.y``. The functions by which tensors
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
    target: Any = importlib.import_module("rushlight" + module.removeprefix("torch"))
    for part in name.split("."):
        target = getattr(target, part)
    return target
