"""Writes objects as PyTorch's pickles: tensors refer to storages, which stand elsewhere."""

from __future__ import annotations

import pickle
import types
from collections import OrderedDict
from typing import IO, Any

from .. import _core, formats
from .._core import Size, Tensor
from ..device import device as Device
from ..dtypes import dtype as DType
from ..storage import TypedStorage, UntypedStorage
from ..tensor import Parameter
from . import names
from .names import Global

_Base: Any = pickle._Pickler  # names cannot be chosen in the C one


class StorageReference:
    """Stands for a storage in a pickle, as elements of a dtype (None: bytes)."""

    def __init__(self, storage: UntypedStorage, dtype: DType | None) -> None:
        self.storage = storage
        self.dtype = dtype


class Pickler(_Base):
    """Pickles to a file; `storages` collects what the pickle refers to.

    Args:
        file: has a method ``write``.
        protocol: of the pickle.
        legacy: whether for the format before zip files.
    """

    dispatch = dict(_Base.dispatch)

    def __init__(self, file: IO[bytes], protocol: int, legacy: bool = False) -> None:
        super().__init__(file, protocol)
        self.legacy = legacy
        self.storages: dict[str, UntypedStorage] = {}
        self.dtypes: dict[str, DType | None] = {}  # of the storages
        self.keys: dict[UntypedStorage, str] = {}
        self.references: list[Any] = []  # kept: the pickle's memo goes by ids

    # ------------------------------------------------------------ storages

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, TypedStorage):
            obj = StorageReference(obj._untyped_storage, obj.dtype)
        elif isinstance(obj, UntypedStorage):
            obj = StorageReference(obj, None)
        if not isinstance(obj, StorageReference):
            return None
        self.references.append(obj)
        return self.reference(obj.storage, obj.dtype)

    def reference(self, storage: UntypedStorage, dtype: DType | None) -> tuple[Any, ...]:
        """The tuple that stands for a storage."""
        if self.legacy and dtype is None:
            raise RuntimeError("storages without a type cannot be saved in the legacy format")
        key = self.keys.setdefault(storage, str(len(self.keys)))
        self.storages[key] = storage
        known = self.dtypes.setdefault(key, dtype)
        if known is None:
            self.dtypes[key] = dtype
        elif dtype is not None and dtype is not known:
            raise RuntimeError(
                f"save: one memory is seen as different types, {known} and {dtype}, which the "
                "format cannot express: save a clone of one of them"
            )
        kind = names.UNTYPED if dtype is None else names.STORAGE_TYPES.get(dtype, names.UNTYPED)
        count = storage.nbytes() // (1 if kind is names.UNTYPED else dtype.itemsize)  # type: ignore[union-attr]
        found = ("storage", kind, key, storage.device.type, count)
        return (*found, None) if self.legacy else found

    # ------------------------------------------------------------ tensors

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Tensor):
            return self.reduce_tensor(obj)
        if isinstance(obj, Size):
            return names.SIZE, (tuple(obj),)
        if isinstance(obj, Device):
            return names.DEVICE, (obj.type,) if obj.index is None else (obj.type, obj.index)
        if isinstance(obj, formats.layout):
            return names.LAYOUT, (f"torch.{str(obj).removeprefix('torch.')}",)
        return NotImplemented

    def reduce_tensor(self, obj: Tensor) -> tuple[Any, ...]:
        own_way = type(obj).__reduce_ex__ is not Tensor.__reduce_ex__
        if own_way and type(obj) is not Parameter:
            return obj.__reduce_ex__(self.proto)
        state = dict(obj.__dict__) if type(obj) is not Tensor or obj.__dict__ else {}
        if isinstance(obj, Parameter):
            data = _core.alias_as(Tensor, obj.detach())
            self.references.append(data)
            common: tuple[Any, ...] = (data, obj.requires_grad, OrderedDict())
            if state:
                return names.REBUILD_PARAMETER_WITH_STATE, (*common, state)
            return names.REBUILD_PARAMETER, common
        function, args = self.parts(obj)
        if type(obj) is Tensor and not state:
            return function, args
        return names.REBUILD_FROM_TYPE, (function, type(obj), args, state)

    def parts(self, obj: Tensor) -> tuple[Any, tuple[Any, ...]]:
        """What puts a plain tensor together again."""
        layout = (obj.storage_offset(), tuple(obj.shape), tuple(obj.stride()))
        if obj.device.type == "meta":
            return names.REBUILD_META, (obj.dtype, *layout[1:], obj.requires_grad)
        untyped = UntypedStorage._of(obj)
        if obj.dtype in names.STORAGE_TYPES:
            typed = StorageReference(untyped, obj.dtype)
            return names.REBUILD_TENSOR, (typed, *layout, obj.requires_grad, OrderedDict())
        plain = StorageReference(untyped, None)
        return (
            names.REBUILD_TENSOR_OF_DTYPE,
            (plain, *layout, obj.requires_grad, OrderedDict(), obj.dtype),
        )

    # ------------------------------------------------------------ names

    def save_name(self, obj: Global, original: Any = None) -> None:
        """Write a name; ``original`` is the object that it stands for, if that is another."""
        self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
        self.memoize(obj if original is None else original)

    dispatch[Global] = save_name

    def save_dtype(self, obj: DType) -> None:
        self.save_name(names.DTYPE_NAMES[obj], obj)

    dispatch[DType] = save_dtype

    def save_global(self, obj: Any, name: str | None = None) -> None:
        module = str(getattr(obj, "__module__", None))
        own = (module + ".").startswith("rushlight.")
        if not own or "<" in (path := name or obj.__qualname__):
            super().save_global(obj, name)
            return
        self.save_name(names.name_of(module, path), obj)

    dispatch[types.FunctionType] = save_global
