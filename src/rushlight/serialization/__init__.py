"""Saving and loading: files that PyTorch reads, and PyTorch's files.

A file is a zip archive of a pickle and of the storages that its tensors refer to. Loading is safe
by default: the pickle can make nothing but tensors, containers, numbers and text (`safe`).
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import pickletools
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from enum import Enum
from typing import IO, Any

from ..storage import TypedStorage, UntypedStorage
from . import legacy, names
from .archive import Reader, Writer, memory_of
from .locations import default_restore_location, location_tag, register_package, restorer
from .pickler import Pickler
from .safe import (
    SafeUnpickler,
    _allowed,
    add_safe_globals,
    clear_safe_globals,
    default_globals,
    get_safe_globals,
    safe_globals,
)

__all__ = [
    "LoadEndianness", "add_safe_globals", "clear_safe_globals", "default_restore_location",
    "get_default_load_endianness", "get_safe_globals", "get_unsafe_globals_in_checkpoint", "load",
    "location_tag", "register_package", "safe_globals", "save", "set_default_load_endianness",
]  # fmt: skip

DEFAULT_PROTOCOL = 2


class LoadEndianness(Enum):
    """The byte order of files that do not say which they have."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


_load_endianness: LoadEndianness | None = None


def get_default_load_endianness() -> LoadEndianness | None:
    """The byte order of files that do not say which they have; None: this machine's."""
    return _load_endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Set the byte order of files that do not say which they have."""
    global _load_endianness
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    _load_endianness = endianness


# ---------------------------------------------------------------- save


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Save an object: a tensor, a state dict, a container of such, a module.

    Tensors that share memory do so when they are loaded; a view is saved with all of its storage.

    Args:
        obj: what can be pickled.
        f: a path, or an object with methods ``write`` and ``flush``.
        pickle_module: only the standard library's is supported.
        pickle_protocol: of the pickle.

    Raises:
        AttributeError: if f is neither a path nor a file.
        RuntimeError: if the path cannot be written.
        pickle.PicklingError, TypeError: for an object that cannot be pickled.

    Example:
        >>> rushlight.save({"weight": rushlight.ones(2)}, "/tmp/weights.pt")
        >>> rushlight.load("/tmp/weights.pt")
        {'weight': tensor([1., 1.])}
    """
    if not is_path(f) and not hasattr(f, "write"):
        raise AttributeError(
            "save: 'f' must be a path or have a 'write' method, as files do, but is "
            f"{type(f).__name__}"
        )
    if not _use_new_zipfile_serialization:
        with opened(f, "wb") as file:
            legacy.save(obj, file, pickle_protocol)
        return
    data = io.BytesIO()
    pickler = Pickler(data, pickle_protocol)
    pickler.dump(obj)  # before the file is touched
    name = os.path.splitext(os.path.basename(os.fspath(f)))[0] if is_path(f) else "archive"
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(opened(f, "wb"))
        except OSError as error:
            raise RuntimeError(
                f"save(): {error}; is the folder there, and may it be written?"
            ) from None
        writer = Writer(file, os.fsdecode(name) or "archive")
        try:
            writer.write("data.pkl", data.getbuffer())
            writer.write(".format_version", b"1")
            writer.write(".storage_alignment", b"64")
            if not _disable_byteorder_record:
                writer.write("byteorder", sys.byteorder.encode())
            for key, storage in pickler.storages.items():
                writer.write(f"data/{key}", memory_of(storage))
        except BaseException:
            writer.abandon()
            raise
        writer.finish()


def is_path(f: Any) -> bool:
    return isinstance(f, str | bytes | os.PathLike)


@contextlib.contextmanager
def opened(f: Any, mode: str) -> Iterator[IO[bytes]]:
    """A file at a path, closed at the end; a file object stays open."""
    if is_path(f):
        with open(f, mode) as file:
            yield file
        return
    yield f
    if "w" in mode and hasattr(f, "flush"):
        f.flush()


# ---------------------------------------------------------------- load


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Load what `save` or PyTorch's has saved.

    Args:
        f: a path, or an object with methods ``read``, ``readline``, ``tell`` and ``seek``.
        map_location: where storages go: a device, a dict from locations to locations, or a function
            of a storage and its location that returns a storage or None.
        pickle_module: for files that are not loaded safely, with an ``Unpickler``.
        weights_only: None or True: make nothing but tensors, containers, numbers, text, and what
            `add_safe_globals` allows. False: unpickle anything, which runs whatever code the file
            asks for.
        mmap: map the file into memory instead of reading it; only for paths.
        pickle_load_args: for the unpickler, such as ``encoding``.

    Returns:
        The object.

    Raises:
        pickle.UnpicklingError: if the file asks for something that is not allowed.
        RuntimeError: for a damaged file, or a location that does not exist here.
        EOFError: for an empty file.
    """
    if weights_only is None:
        weights_only = pickle_module is None
    if weights_only and pickle_module is not None:
        raise RuntimeError("load: a pickle_module runs code, so it needs weights_only=False")
    if mmap and not is_path(f):
        raise ValueError("load: only a file on disk can be mapped; mmap=True needs f to be a path")
    if not is_path(f):
        for method in ("read", "readline", "tell", "seek"):
            if not hasattr(f, method):
                raise AttributeError(
                    f"'{type(f).__name__}' object has no attribute '{method}': a file must be "
                    "seekable to be loaded; read it into an io.BytesIO first"
                )
    unpickler = unpicklers(weights_only, pickle_module or pickle, pickle_load_args)
    with opened(f, "rb") as file:
        try:
            return loaded(file, f if mmap else None, restorer(map_location), unpickler)
        except pickle.UnpicklingError as error:
            if not weights_only:
                raise
            raise pickle.UnpicklingError(
                f"Weights only load failed. {error}. With weights_only=False this file could be "
                "loaded, and could run any code: do so only if you trust its source"
            ) from None


def loaded(
    file: IO[bytes],
    path: Any,
    restore: Callable[[UntypedStorage, str], UntypedStorage],
    unpickler: legacy.MakeUnpickler,
) -> Any:
    """What is in an open file; path: that of a file to map."""
    start = file.tell()
    head = file.read(4)
    file.seek(start)
    if not head:
        raise EOFError("Ran out of input: the file is empty")
    if head == b"PK\x03\x04":
        return load_archive(file, path, restore, unpickler)
    if path is not None:
        raise RuntimeError(
            "load: mmap=True needs the zip format, and this file has the older one. Load it "
            "without mmap and save it again."
        )
    if is_tar(file, start):
        return legacy.load_tar(file, restore, unpickler)
    return legacy.load(file, restore, unpickler)


def is_tar(file: IO[bytes], start: int) -> bool:
    try:
        with tarfile.open(fileobj=file, mode="r:"):
            return True
    except (tarfile.TarError, OSError):
        return False
    finally:
        file.seek(start)


def load_archive(
    file: IO[bytes],
    path: Any,
    restore: Callable[[UntypedStorage, str], UntypedStorage],
    unpickler: legacy.MakeUnpickler,
) -> Any:
    reader = Reader(shifted(file), None if path is None else os.fspath(path))
    if "constants.pkl" in reader:
        raise RuntimeError("this is a TorchScript archive, not a file of `save`")
    order = reader.byteorder()
    if "byteorder" not in reader and _load_endianness not in (None, LoadEndianness.NATIVE):
        order = _load_endianness.name.lower()
    found: dict[str, UntypedStorage] = {}

    def load_storage(reference: Any) -> Any:
        is_storage = isinstance(reference, tuple) and len(reference) == 5
        if not is_storage or reference[0] not in ("storage", b"storage"):
            raise pickle.UnpicklingError(f"unknown reference {reference!r:.100} in the file")
        _, kind, key, location, count = reference
        dtype = getattr(kind, "dtype", None)
        if dtype is None and kind is not UntypedStorage:
            raise pickle.UnpicklingError(f"a storage in the file has unknown type {kind!r}")
        if key not in found:
            storage = reader.storage(f"data/{key}")
            if order != sys.byteorder and dtype is not None:
                legacy.swap_bytes(storage, dtype)
            if storage.nbytes() != count * (1 if dtype is None else dtype.itemsize):
                raise RuntimeError(f"storage {key} has another size than its tensors say")
            found[key] = restore(storage, location)
        storage = found[key]
        return storage if dtype is None else TypedStorage(wrap_storage=storage, dtype=dtype)

    return unpickler(io.BytesIO(reader.read("data.pkl")), load_storage).load()


def shifted(file: IO[bytes]) -> IO[bytes]:
    """The file from its present position on as a file of its own."""
    start = file.tell()
    if start == 0:
        return file
    return io.BytesIO(file.read())


def unpicklers(
    weights_only: bool, pickle_module: Any, options: dict[str, Any]
) -> legacy.MakeUnpickler:
    """What makes unpicklers of the wanted kind."""
    options = {"encoding": "utf-8", **options}
    if weights_only:

        def make_safe(file: IO[bytes], load_storage: Callable[[Any], Any]) -> Any:
            return SafeUnpickler(file, load_storage, encoding=options["encoding"])

        return make_safe

    class Unpickler(pickle_module.Unpickler):
        """Finds PyTorch's classes and functions in this package."""

        def __init__(self, file: IO[bytes], load_storage: Callable[[Any], Any]) -> None:
            super().__init__(file, **options)
            self.load_storage = load_storage

        def persistent_load(self, reference: Any) -> Any:
            return self.load_storage(reference)

        def find_class(self, module: str, name: str) -> Any:
            if (module + ".").startswith("torch."):
                try:
                    return names.resolve(module, name)
                except (ImportError, AttributeError):
                    raise AttributeError(
                        f"the file needs {module}.{name}, which this version lacks"
                    ) from None
            return super().find_class(module, name)

    return Unpickler


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The names in a file that ``weights_only=True`` does not allow.

    Args:
        f: a path or a seekable file.

    Returns:
        Full names of classes and functions.

    Raises:
        ValueError: for files that are no zip archives.
    """
    with opened(f, "rb") as file:
        if not zipfile.is_zipfile(file):
            raise ValueError("The file is no checkpoint in the zip format that torch.save writes")
        file.seek(0)
        data = Reader(file).read("data.pkl")
    allowed = set(default_globals()) | set(_allowed)
    found: dict[str, None] = {}
    texts: list[str] = []
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name == "GLOBAL":
            found[str(argument).replace(" ", ".", 1)] = None
        elif opcode.name == "STACK_GLOBAL" and len(texts) > 1:
            found[f"{texts[-2]}.{texts[-1]}"] = None
        elif isinstance(argument, str):
            texts.append(argument)
    return [name for name in found if name not in allowed]
