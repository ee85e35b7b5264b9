"""Storages: the memory that a tensor and its views share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from . import _core, dtypes
from ._core import Tensor
from .device import device as Device
from .dtypes import dtype as DType

__all__ = ["TypedStorage", "UntypedStorage"]

_handle_of = Tensor.untyped_storage  # the core's own, which this module replaces


class UntypedStorage:
    """The bytes that a tensor and its views share.

    Args:
        size: the number of bytes, which are not set; or their values, a sequence of ints.
        device: the CPU or ``"meta"``.

    Example:
        >>> rushlight.zeros(2).untyped_storage().nbytes()
        8
    """

    __slots__ = ("__weakref__", "_bytes", "_handle")

    _bytes: Tensor  # all of them, as uint8
    _handle: Any  # tells whether two storages are one

    def __new__(cls, size: Any = 0, *, device: Any = None) -> UntypedStorage:
        on_meta = device is not None and Device(device).type == "meta"
        if isinstance(size, int):
            return cls._of(_core.empty((size,), dtypes.uint8.code, int(on_meta)))
        values = numpy.array(list(size), dtype=numpy.uint8)
        return cls._of(_core.from_numpy(values))

    @classmethod
    def _of(cls, tensor: Tensor) -> UntypedStorage:
        """A tensor's storage."""
        self = object.__new__(cls)
        self._bytes = _core.storage_bytes(tensor)
        self._handle = _handle_of(tensor)
        return self

    @property
    def device(self) -> Device:
        """Where the bytes are."""
        return self._bytes.device

    @property
    def _cdata(self) -> int:
        """A number that is the same for handles of one storage only."""
        return hash(self._handle)

    is_cuda = is_sparse = False

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return self._handle.data_ptr()

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._handle.nbytes()

    size = __len__ = nbytes

    def element_size(self) -> int:
        """1: the elements are bytes."""
        return 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self._handle == other._handle

    def __hash__(self) -> int:
        return hash(self._handle)

    def __getitem__(self, index: Any) -> Any:
        part = self._bytes[index]
        return part.item() if isinstance(index, int) else UntypedStorage._of(part.clone())

    def __setitem__(self, index: Any, value: Any) -> None:
        self._bytes[index] = value

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def tolist(self) -> list[int]:
        """The bytes as ints."""
        return self._bytes.tolist()

    def fill_(self, value: int) -> UntypedStorage:
        """Set all bytes to a value."""
        self._bytes.fill_(value)
        return self

    def copy_(self, source: Any, non_blocking: bool | None = None) -> UntypedStorage:
        """Take over the bytes of a storage of the same length."""
        untyped = source._untyped_storage if isinstance(source, TypedStorage) else source
        self._bytes.copy_(untyped._bytes)
        return self

    def clone(self) -> UntypedStorage:
        """A copy."""
        return UntypedStorage._of(self._bytes.clone())

    def cpu(self) -> UntypedStorage:
        """This storage, if it is on the CPU."""
        return UntypedStorage._of(self._bytes.cpu())

    def untyped(self) -> UntypedStorage:
        """This storage."""
        return self

    def __deepcopy__(self, memo: dict[Any, Any]) -> UntypedStorage:
        key = ("storage", self._cdata)
        if key not in memo:
            memo[key] = self.clone(), self  # the number is taken as long as this one lives
        return memo[key][0]

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_bytes, (bytes(memoryview(_core.to_numpy(self._bytes))),)

    def __repr__(self) -> str:
        name = f"[{type(self).__name__}(device={self.device}) of size {self.nbytes()}]"
        if self.device.type == "meta":
            return f"...\n{name}"
        return "\n".join([*(f" {value}" for value in self.tolist()), name])


def _from_bytes(data: bytes) -> UntypedStorage:
    return UntypedStorage(data)


class TypedStorage:
    """A storage whose bytes count as elements of a dtype, for older programs.

    Args:
        size: the number of elements.
        wrap_storage: the storage whose bytes to use instead.
        dtype: the elements' type.
    """

    __slots__ = ("_untyped_storage", "dtype")

    dtype: DType
    _untyped_storage: UntypedStorage

    def __init__(
        self,
        size: Any = 0,
        *,
        wrap_storage: UntypedStorage | None = None,
        dtype: DType | None = None,
        device: Any = None,
        _internal: bool = False,
    ) -> None:
        self.dtype = dtypes.get_default_dtype() if dtype is None else dtype
        if wrap_storage is None:
            count = size if isinstance(size, int) else len(size)
            wrap_storage = UntypedStorage(count * self.dtype.itemsize, device=device)
        self._untyped_storage = wrap_storage
        if not isinstance(size, int):
            self._tensor().copy_(_core.tensor_from_data(list(size), self.dtype.code))

    def _tensor(self) -> Tensor:
        """All elements."""
        usable = self.size() * self.dtype.itemsize
        return self._untyped_storage._bytes[:usable].view(self.dtype)  # type: ignore[arg-type]

    def untyped(self) -> UntypedStorage:
        """The bytes."""
        return self._untyped_storage

    @property
    def device(self) -> Device:
        """Where the elements are."""
        return self._untyped_storage.device

    is_cuda = is_sparse = False

    def size(self) -> int:
        """The number of elements."""
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    __len__ = _size = size

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._untyped_storage.nbytes()

    def element_size(self) -> int:
        """The number of bytes of an element."""
        return self.dtype.itemsize

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self._untyped_storage.data_ptr()

    def tolist(self) -> list[Any]:
        """The elements as numbers."""
        return self._tensor().tolist()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, index: int) -> Any:
        return self._tensor()[index].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._tensor()[index] = value

    def fill_(self, value: Any) -> TypedStorage:
        """Set all elements to a value."""
        self._tensor().fill_(value)
        return self

    def copy_(self, source: TypedStorage, non_blocking: bool | None = None) -> TypedStorage:
        """Take over the elements of another storage."""
        self._tensor().copy_(source._tensor())
        return self

    def clone(self) -> TypedStorage:
        """A copy."""
        return TypedStorage(wrap_storage=self._untyped_storage.clone(), dtype=self.dtype)

    def cpu(self) -> TypedStorage:
        """This storage, if it is on the CPU."""
        return self

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TypedStorage)
            and self.dtype is other.dtype
            and self._untyped_storage == other._untyped_storage
        )

    def __hash__(self) -> int:
        return hash(self._untyped_storage)

    def __reduce__(self) -> tuple[Any, ...]:
        return _typed, (self._untyped_storage, self.dtype)

    def __repr__(self) -> str:
        kind = f"dtype={self.dtype}, device={self.device}"
        lines = [f" {value}" for value in self.tolist()]
        return "\n".join([*lines, f"[{type(self).__name__}({kind}) of size {self.size()}]"])


def _typed(storage: UntypedStorage, dtype: DType) -> TypedStorage:
    return TypedStorage(wrap_storage=storage, dtype=dtype)


class _LegacyType(type):
    """``FloatStorage`` and its kin: makes typed storages, which count as its instances."""

    dtype: DType

    def __call__(cls, size: Any = 0, **options: Any) -> TypedStorage:
        return TypedStorage(size, dtype=cls.dtype, **options)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TypedStorage) and instance.dtype is cls.dtype


def _legacy(name: str, dtype: DType) -> Any:
    return _LegacyType(name, (), {"dtype": dtype, "__doc__": f"Typed storages of {dtype}."})


DoubleStorage = _legacy("DoubleStorage", dtypes.float64)
FloatStorage = _legacy("FloatStorage", dtypes.float32)
HalfStorage = _legacy("HalfStorage", dtypes.float16)
BFloat16Storage = _legacy("BFloat16Storage", dtypes.bfloat16)
LongStorage = _legacy("LongStorage", dtypes.int64)
IntStorage = _legacy("IntStorage", dtypes.int32)
ShortStorage = _legacy("ShortStorage", dtypes.int16)
CharStorage = _legacy("CharStorage", dtypes.int8)
ByteStorage = _legacy("ByteStorage", dtypes.uint8)
BoolStorage = _legacy("BoolStorage", dtypes.bool)
ComplexDoubleStorage = _legacy("ComplexDoubleStorage", dtypes.complex128)
ComplexFloatStorage = _legacy("ComplexFloatStorage", dtypes.complex64)

LEGACY_TYPES: dict[str, Any] = {
    name: value for name, value in globals().items() if isinstance(value, _LegacyType)
}
LEGACY_NAMES: dict[str, DType] = {name: value.dtype for name, value in LEGACY_TYPES.items()}
__all__ += LEGACY_TYPES


# ---------------------------------------------------------------- methods of tensors


def untyped_storage(self: Tensor) -> UntypedStorage:
    """The bytes that this tensor shares with its views."""
    return UntypedStorage._of(self)


def storage(self: Tensor) -> TypedStorage:
    """The storage as elements of the tensor's dtype, for older programs."""
    return TypedStorage(wrap_storage=UntypedStorage._of(self), dtype=self.dtype)


def tensor_of(
    storage: UntypedStorage,
    dtype: DType,
    offset: int,
    size: tuple[int, ...],
    stride: tuple[int, ...],
) -> Tensor:
    """A tensor over a part of a storage.

    Args:
        storage: the bytes.
        dtype: the elements' type.
        offset: of the first element, in elements.
        size, stride: the layout, in elements.

    Raises:
        RuntimeError: if the layout reaches beyond the storage.
    """
    if storage.device.type == "meta":
        return _core.empty_strided(tuple(size), tuple(stride), dtype.code, 1)
    usable = storage.nbytes() // dtype.itemsize * dtype.itemsize
    flat = storage._bytes[:usable].view(dtype)  # type: ignore[arg-type]
    result = _core.empty((0,), dtype.code, 0)
    _core.set_data(result, flat.as_strided(size, stride, offset))  # type: ignore[arg-type]
    return result


def set_(
    self: Tensor,
    source: Any = None,
    storage_offset: int = 0,
    size: Any = None,
    stride: Any = None,
) -> Tensor:
    """Make this tensor a view of other memory, in place.

    Args:
        source: a tensor, whose layout is taken over, or a storage; None: no memory.
        storage_offset: of the first element, in elements.
        size: the new sizes; None: one dim over the whole storage.
        stride: the new strides; None: row-major.

    Returns:
        This tensor.

    Raises:
        RuntimeError: for a tensor of another dtype, a layout that reaches beyond the storage, or a
            leaf that requires a gradient.
    """
    if source is None:
        source = _core.empty((0,), self.dtype.code, 0)
    elif not isinstance(source, Tensor) and not hasattr(source, "untyped"):
        raise TypeError(
            f"set_(): argument 'source' must be a Tensor or a storage, not {type(source).__name__}"
        )
    if isinstance(source, Tensor) and size is None:
        target = source
    else:
        untyped = source.untyped_storage() if isinstance(source, Tensor) else source.untyped()
        count = untyped.nbytes() // self.dtype.itemsize - storage_offset
        sizes = (count,) if size is None else tuple(size)
        if stride is None:
            stride = _core.empty(sizes, self.dtype.code, 1).stride()
        target = tensor_of(untyped, self.dtype, storage_offset, sizes, tuple(stride))
    if target.dtype is not self.dtype:
        raise RuntimeError(
            f"set_(): the source must have this tensor's dtype {self.dtype}, not {target.dtype}"
        )
    _core.check_inplace(self, "set_")
    _core.set_data(self, target.detach())
    _core.increment_version(self)
    return self


for _name, _method in (("untyped_storage", untyped_storage), ("storage", storage), ("set_", set_)):
    setattr(Tensor, _name, _method)
