"""The formats before zip files: a sequence of pickles and raw storages, and tar files."""

from __future__ import annotations

import io
import pickle
import struct
import sys
import tarfile
from collections.abc import Callable
from typing import IO, Any

from ..storage import LEGACY_TYPES, TypedStorage, UntypedStorage, tensor_of
from .archive import fill, memory_of
from .pickler import Pickler

MAGIC = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
SYSTEM = {
    "protocol_version": PROTOCOL_VERSION,
    "little_endian": sys.byteorder == "little",
    "type_sizes": {"short": 2, "int": 4, "long": 4},
}

# Makes an unpickler for a file, given what loads a storage.
MakeUnpickler = Callable[[IO[bytes], Callable[[Any], Any]], Any]


def save(obj: Any, file: IO[bytes], protocol: int) -> None:
    """Write an object, then its storages."""
    for head in (MAGIC, PROTOCOL_VERSION, SYSTEM):
        pickle.dump(head, file, protocol)
    pickler = Pickler(file, protocol, legacy=True)
    pickler.dump(obj)
    keys = sorted(pickler.storages)
    pickle.dump(keys, file, protocol)
    file.flush() if hasattr(file, "flush") else None
    for key in keys:
        storage, dtype = pickler.storages[key], pickler.dtypes[key]
        assert dtype is not None
        file.write(struct.pack("<q", storage.nbytes() // dtype.itemsize))
        if storage.nbytes():
            file.write(memory_of(storage))


def no_storage(reference: Any) -> Any:
    raise pickle.UnpicklingError("the file refers to a storage before it has any")


def load(
    file: IO[bytes], restore: Callable[[UntypedStorage, str], Any], unpickler: MakeUnpickler
) -> Any:
    """Read what `save` wrote.

    Args:
        file: positioned at the start.
        restore: gives the storage to use in the place of a loaded one, and its location.
        unpickler: see `MakeUnpickler`.

    Raises:
        RuntimeError: for a damaged file.
    """
    if unpickler(file, no_storage).load() != MAGIC:
        raise RuntimeError("Invalid magic number; corrupt file?")
    version = unpickler(file, no_storage).load()
    if version != PROTOCOL_VERSION:
        raise RuntimeError(f"Invalid protocol version: {version}")
    system = unpickler(file, no_storage).load()
    is_little = not isinstance(system, dict) or system.get("little_endian", True)
    place = file.tell()
    storages = LegacyStorages(restore, file.seek(0, 2))
    file.seek(place)
    result = unpickler(file, storages.load).load()
    keys = unpickler(file, no_storage).load()
    if not isinstance(keys, list) or set(map(str, keys)) != set(storages.by_key):
        raise RuntimeError("the file's list of storages does not match its tensors; corrupt file?")
    for key in keys:
        storages.read(str(key), file, is_little)
    return result


class LegacyStorages:
    """Storages of which tensors are made before their bytes are read."""

    def __init__(self, restore: Callable[[UntypedStorage, str], Any], limit: int) -> None:
        self.restore = restore
        self.limit = limit  # no storage has more bytes than the file
        self.by_key: dict[str, tuple[TypedStorage, TypedStorage]] = {}  # where to read, what to use

    def load(self, reference: Any) -> Any:
        """The storage that a persistent id means."""
        if not isinstance(reference, tuple) or not reference:
            raise pickle.UnpicklingError(f"unknown reference {reference!r} in the file")
        if isinstance(reference[0], bytes):
            reference = (reference[0].decode("ascii", "replace"), *reference[1:])
        if reference[0] == "module" and len(reference) == 4:
            return reference[1]  # a class with its source text, which does not matter
        if reference[0] != "storage" or len(reference) != 6:
            raise pickle.UnpicklingError(f"unknown reference {reference!r} in the file")
        _, kind, key, location, count, view = reference
        dtype = getattr(kind, "dtype", None)
        if dtype is None or not isinstance(count, int) or count < 0:
            raise pickle.UnpicklingError("a storage in the file has no type or size")
        if str(key) not in self.by_key:
            if count * dtype.itemsize > self.limit:
                raise RuntimeError(f"a storage of {count} elements is too large; corrupt file?")
            source = TypedStorage(count, dtype=dtype)
            used = self.restore(source._untyped_storage, location)
            self.by_key[str(key)] = source, TypedStorage(wrap_storage=used, dtype=dtype)
        whole = self.by_key[str(key)][1]
        if view is None:
            return whole
        _, offset, size = view
        part = tensor_of(whole._untyped_storage, dtype, offset, (size,), (1,))
        return TypedStorage(wrap_storage=part.clone().untyped_storage(), dtype=dtype)

    def read(self, key: str, file: IO[bytes], is_little: bool) -> None:
        source, used = self.by_key[key]
        head = file.read(8)
        if len(head) < 8 or struct.unpack("<q" if is_little else ">q", head)[0] != len(source):
            raise RuntimeError(f"storage {key} has another size than it should have; corrupt file?")
        if source.nbytes():
            fill(file, memory_of(source._untyped_storage))
        if is_little != (sys.byteorder == "little"):
            swap_bytes(source._untyped_storage, source.dtype)
        if used._untyped_storage != source._untyped_storage and used.device.type == "cpu":
            used._untyped_storage.copy_(source._untyped_storage)


def swap_bytes(storage: UntypedStorage, dtype: Any) -> None:
    """Reverse the bytes of each number."""
    import numpy

    width = dtype.itemsize // 2 if dtype.is_complex else dtype.itemsize
    numbers = numpy.asarray(memory_of(storage)).view(f"u{width}")
    numbers.byteswap(inplace=True)


# ---------------------------------------------------------------- tar files


def load_tar(
    file: IO[bytes], restore: Callable[[UntypedStorage, str], Any], unpickler: MakeUnpickler
) -> Any:
    """Read a tar file, which PyTorch wrote before version 0.1.10."""
    with tarfile.open(fileobj=file, mode="r:") as tar:

        def member(name: str) -> io.BytesIO:
            found = tar.extractfile(name)
            if found is None:
                raise RuntimeError(f"the tar file lacks {name!r}")
            return io.BytesIO(found.read())

        objects: dict[Any, Any] = {}
        source = member("storages")
        for _ in range(unpickler(source, no_storage).load()):
            key, location, kind = unpickler(source, no_storage).load()
            dtype = LEGACY_TYPES[getattr(kind, "__name__", "")].dtype
            count = struct.unpack("<q", source.read(8))[0]
            if not 0 <= count * dtype.itemsize <= len(source.getbuffer()):
                raise RuntimeError("a storage reaches beyond the end of the file; corrupt file?")
            typed = TypedStorage(count, dtype=dtype)
            fill(source, memory_of(typed._untyped_storage))
            used = restore(typed._untyped_storage, location)
            objects[key] = TypedStorage(wrap_storage=used, dtype=dtype)
        for target, root, offset, size in unpickler(source, no_storage).load():
            part = objects[root]._tensor()[offset : offset + size]
            objects[target] = TypedStorage(
                wrap_storage=part.clone().untyped_storage(), dtype=objects[root].dtype
            )
        source = member("tensors")
        for _ in range(unpickler(source, no_storage).load()):
            key, storage, _ = unpickler(source, no_storage).load()
            ndim = struct.unpack("<i", source.read(4))[0]
            source.read(4)
            numbers = struct.unpack(f"<{2 * ndim + 1}q", source.read(8 * (2 * ndim + 1)))
            typed = objects[storage]
            objects[key] = tensor_of(
                typed._untyped_storage,
                typed.dtype,
                numbers[-1],
                numbers[:ndim],
                numbers[ndim:-1],
            )

        def load(reference: Any) -> Any:
            return reference[1] if isinstance(reference, tuple) else objects[reference]

        return unpickler(member("pickle"), load).load()
