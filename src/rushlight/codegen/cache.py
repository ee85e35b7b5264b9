"""The kernel cache on disk: machine code by a digest of everything that decides it.

The folder holds code that will run, so it must belong to the user and be closed to others.
Files that are truncated, altered or foreign are ignored and written again.

Keys are spread evenly over 256 folders, each bounded by its part of the limit, so keeping the
bound takes a look at one small folder and no count of the whole cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import struct
import warnings
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from .nest import Nest, Variant
from .target import Target

_MAGIC = b"RLKC\x01\x00\x00\x00"
_HEADER = struct.Struct("<8s32s32sQ")  # magic, key, digest of the rest, entry
_SUFFIX = ".kernel"
SIZE_LIMIT = 512 << 20
_PARTS = 256  # folders, named by the first byte of the keys in them
_EVICTION_INTERVAL = 16  # of so many keys one looks at its folder's size


def key(nest: Nest, variant: Variant, target: Target) -> bytes:
    """Digest of the kernel's structure, the compiler, this package's code and the CPU."""
    text = "\0".join([repr(nest), repr(variant), repr(target), _versions()])
    return hashlib.sha256(text.encode()).digest()


@lru_cache(maxsize=1)
def _versions() -> str:
    """A digest of llvmlite's version (its releases pin LLVM's) and of the code generator."""
    digest = hashlib.sha256()
    folder = Path(__file__).parent
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        digest.update(path.read_bytes())
    found = find_spec("llvmlite")  # its metadata take far longer to read
    if found is not None and found.origin:
        digest.update((Path(found.origin).parent / "_version.py").read_bytes())
    return digest.hexdigest()


def load(key: bytes) -> tuple[bytes, int] | None:
    """A kernel's blob and entry, if the cache holds them."""
    folder = _folder()
    if folder is None:
        return None
    try:
        path = _place(folder, key)
        content = _read(path)
    except OSError:
        return None
    if len(content) <= _HEADER.size:
        return None
    magic, stored_key, digest, entry = _HEADER.unpack_from(content)
    blob = content[_HEADER.size :]
    if magic != _MAGIC or stored_key != key or digest != _digest(entry, blob) or entry >= len(blob):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # recently used
    return blob, entry


def store(key: bytes, blob: bytes, entry: int) -> None:
    """Add a kernel; a cache that cannot be written is no error."""
    import tempfile

    folder = _folder()
    if folder is None:
        return
    content = _HEADER.pack(_MAGIC, key, _digest(entry, blob), entry) + blob
    path = _place(folder, key)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(name, path)
        except OSError:
            os.unlink(name)
            return
    except OSError:
        return
    if key[1] % _EVICTION_INTERVAL == 0:
        _evict(path.parent)


def _place(folder: Path, key: bytes) -> Path:
    digits = key.hex()
    return folder / digits[:2] / (digits[2:] + _SUFFIX)


def _read(path: Path) -> bytes:
    """A file's content; empty if anybody but us may have written it."""
    no_links_no_waiting = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(path, os.O_RDONLY | no_links_no_waiting)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or not _is_ours(status) or status.st_mode & 0o022:
            return b""
        with open(handle, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(handle)


def _is_ours(status: os.stat_result) -> bool:
    return not hasattr(os, "getuid") or status.st_uid == os.getuid()


def _digest(entry: int, blob: bytes) -> bytes:
    return hashlib.sha256(struct.pack("<Q", entry) + blob).digest()


def _folder() -> Path | None:
    """The cache's folder, made if need be; None if it is unusable or not safely ours."""
    configured = os.environ.get("RUSHLIGHT_CACHE_DIR")
    if configured:
        return _checked(configured)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return _checked(os.path.join(base, "rushlight"))


@lru_cache(maxsize=8)
def _checked(name: str) -> Path | None:
    folder = Path(name)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        warnings.warn(f"kernels are not cached: {folder} cannot be made ({error})", stacklevel=2)
        return None
    problem = ""
    if not stat.S_ISDIR(status.st_mode):
        problem = "it is not a folder"
    elif not _is_ours(status):
        problem = "it belongs to another user"
    elif status.st_mode & 0o077:
        problem = "others may use it; its mode must be 0700"
    if problem:
        warnings.warn(f"kernels are not cached in {folder}: {problem}", stacklevel=2)
        return None
    return folder


def _evict(part: Path) -> None:
    """Remove what was used longest ago until three quarters of the part's limit are left."""
    limit = SIZE_LIMIT // _PARTS
    files = sorted(_files(part))
    total = sum(size for _, size, _ in files)
    if total <= limit:
        return
    for _, size, path in files:
        if total <= limit * 3 // 4:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)
            total -= size


def _files(part: Path) -> Iterator[tuple[float, int, str]]:
    """Time of last use, size and path of every file of a part, temporary ones included."""
    with contextlib.suppress(OSError), os.scandir(part) as entries:
        for entry in entries:
            if entry.name.endswith((_SUFFIX, ".tmp")):
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    yield status.st_mtime, _size_on_disk(status), entry.path


def _size_on_disk(status: os.stat_result) -> int:
    """Kernels are smaller than the blocks they are kept in."""
    return max(status.st_size, getattr(status, "st_blocks", 0) * 512)


def describe() -> list[tuple[str, str]]:
    """What ``rushlight doctor`` says about the kernel cache."""
    folder = _folder()
    if folder is None:
        return [("folder", "none: kernels are compiled anew in each process")]
    parts = [folder / f"{number:02x}" for number in range(_PARTS)]
    sizes = [size for part in parts for _, size, _ in _files(part)]
    return [
        ("folder", str(folder)),
        ("kernels", f"{len(sizes)}, {sum(sizes) / 1e6:.1f} of at most {SIZE_LIMIT / 1e6:.0f} MB"),
    ]
