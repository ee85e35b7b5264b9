"""The zip files that hold a pickle and the storages it refers to.

Records are stored uncompressed, with data at multiples of 64 bytes, so that they can be mapped into
memory. The names of the records are PyTorch's.
"""

from __future__ import annotations

import mmap
import struct
import sys
import uuid
import zipfile
import zlib
from typing import IO, Any

import numpy

from .. import _core
from ..storage import UntypedStorage

ALIGNMENT = 64
_LOCAL_HEADER = 30  # bytes before a record's name
_ZIP64_FIELD = 20
_ZIP_DAMAGE = (
    zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError, EOFError,
    IndexError, OverflowError,
)  # fmt: skip


def memory_of(storage: UntypedStorage) -> memoryview:
    """A storage's bytes."""
    return memoryview(_core.to_numpy(storage._bytes))


class Writer:
    """Writes records to a file.

    Args:
        file: a path, or an object with method ``write``.
        name: the folder that all records are in.
    """

    def __init__(self, file: Any, name: str) -> None:
        self.zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True)
        self.name = name

    def write(self, record: str, data: Any) -> None:
        """Write a record of bytes."""
        view = memoryview(data)
        info = zipfile.ZipInfo(f"{self.name}/{record}", (1980, 1, 1, 0, 0, 0))
        is_large = view.nbytes >= 1 << 30
        start = self.zip.fp.tell() + _LOCAL_HEADER + len(info.filename.encode())  # type: ignore[union-attr]
        start += 4 + (_ZIP64_FIELD if is_large else 0)
        padding = -start % ALIGNMENT
        info.extra = struct.pack("<2sH", b"FB", padding) + b"Z" * padding
        with self.zip.open(info, "w", force_zip64=is_large) as target:
            if view.nbytes:
                target.write(view)

    def finish(self) -> None:
        """Write what makes the file complete."""
        self.write("version", b"3\n")
        self.write(".data/serialization_id", uuid.uuid4().hex.encode())
        self.zip.close()

    def abandon(self) -> None:
        """Stop without completing the file."""
        self.zip._didModify = False  # type: ignore[attr-defined]  # no directory at the end
        self.zip.close()


class Reader:
    """Reads records.

    Args:
        file: a seekable file object.
        path: its path, if it is to be mapped into memory.

    Raises:
        RuntimeError: if this is no archive, or a damaged one.
    """

    def __init__(self, file: IO[bytes], path: str | None = None) -> None:
        self.file = file
        try:
            self.zip = zipfile.ZipFile(file)
        except _ZIP_DAMAGE as error:
            raise damaged(f"{error}; the file may be truncated") from error
        self.records = {info.filename: info for info in self.zip.infolist()}
        pickles = [name for name in self.records if name.endswith("/data.pkl")]
        if not pickles:
            raise damaged("there is no record data.pkl")
        self.name = min(pickles, key=len).removesuffix("/data.pkl")
        self.mapped: mmap.mmap | None = None
        if path is not None:
            with open(path, "rb") as source:
                self.mapped = mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_COPY)

    def __contains__(self, record: str) -> bool:
        return f"{self.name}/{record}" in self.records

    def info(self, record: str) -> zipfile.ZipInfo:
        info = self.records.get(f"{self.name}/{record}")
        if info is None:
            raise damaged(f"there is no record {record!r}")
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise damaged(f"record {record!r} is compressed")
        return info

    def start(self, info: zipfile.ZipInfo) -> int:
        """Where a record's data begin."""
        self.file.seek(info.header_offset)
        header = self.file.read(_LOCAL_HEADER)
        if len(header) < _LOCAL_HEADER or header[:4] != b"PK\x03\x04":
            raise damaged(f"the header of record {info.filename!r} is not where it should be")
        name_length, extra_length = struct.unpack("<HH", header[26:30])
        return info.header_offset + _LOCAL_HEADER + name_length + extra_length

    def read(self, record: str) -> bytes:
        """A small record."""
        info = self.info(record)
        self.file.seek(self.start(info))
        data = self.file.read(info.file_size)
        check(info, data)
        return data

    def storage(self, record: str) -> UntypedStorage:
        """A record as a storage."""
        info = self.info(record)
        start = self.start(info)
        if self.mapped is not None:
            if start + info.file_size > len(self.mapped):
                raise damaged(f"record {record!r} reaches beyond the end of the file")
            part = numpy.frombuffer(self.mapped, numpy.uint8, info.file_size, start)
            return UntypedStorage._of(_core.from_numpy(part))
        self.file.seek(0, 2)
        if start + info.file_size > self.file.tell():  # before memory is taken for it
            raise damaged(f"record {record!r} reaches beyond the end of the file")
        storage = UntypedStorage(info.file_size)
        if info.file_size:
            self.file.seek(start)
            fill(self.file, memory_of(storage))
            check(info, memory_of(storage))
        return storage

    def byteorder(self) -> str:
        """``"little"`` or ``"big"``; this machine's, if the file does not say."""
        if "byteorder" not in self:
            return sys.byteorder
        order = self.read("byteorder").decode(errors="replace")
        if order not in ("little", "big"):
            raise ValueError(f"Unknown endianness type: {order}")
        return order


def fill(file: IO[bytes], view: memoryview) -> None:
    """Read exactly as many bytes as there is room for."""
    done = 0
    readinto = getattr(file, "readinto", None)
    while done < view.nbytes:
        if readinto is not None:
            count = readinto(view[done:])
        else:
            data = file.read(view.nbytes - done)
            count = len(data)
            view[done : done + count] = data
        if not count:
            raise damaged(f"the file ends {view.nbytes - done} bytes too early")
        done += count


def check(info: zipfile.ZipInfo, data: Any) -> None:
    if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
        raise damaged(f"record {info.filename!r} has another checksum than it should have")


def damaged(why: str) -> RuntimeError:
    return RuntimeError(f"failed reading zip archive: {why}")
