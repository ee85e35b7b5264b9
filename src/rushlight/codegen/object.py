"""From an ELF object to a blob: its sections in one piece of memory, all references resolved.

The blob runs at any address that is a multiple of ``ALIGNMENT``.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

ALIGNMENT = 64
_X86_64, _AARCH64 = 62, 183
_SHT_RELA, _SHT_SYMTAB, _SHT_NOBITS = 4, 2, 8
_SHF_ALLOC = 2
_SKIPPED = (".eh_frame", ".note", ".comment")


class ObjectError(RuntimeError):
    """The object file holds something that a kernel must not need."""


@dataclass
class _Section:
    name: str
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int

    def placed(self) -> bool:
        return (
            bool(self.flags & _SHF_ALLOC) and self.size > 0 and not self.name.startswith(_SKIPPED)
        )


@dataclass
class _Relocation:
    at: int  # offset in the blob
    kind: int
    target: int  # offset in the blob
    symbol: str


def link(image: bytes, entry: str = "kernel") -> tuple[bytes, int]:
    """The blob of an ELF64 object file, and the offset of a function in it."""
    machine, sections = _read_sections(image)
    places: dict[int, int] = {}
    blob = bytearray()
    order = sorted(range(len(sections)), key=lambda k: not sections[k].name.startswith(".text"))
    for index in order:
        section = sections[index]
        if not section.placed():
            continue
        if section.alignment > ALIGNMENT:
            raise ObjectError(f"section {section.name} needs alignment {section.alignment}")
        blob += bytes(-len(blob) % max(1, section.alignment))
        places[index] = len(blob)
        if section.kind == _SHT_NOBITS:
            blob += bytes(section.size)
        else:
            blob += image[section.offset : section.offset + section.size]
    symbols = _read_symbols(image, sections)
    for section in sections:
        if section.kind == _SHT_RELA and section.info in places:
            for relocation in _read_relocations(image, section, symbols, places):
                _apply(blob, machine, relocation)
    for name, index, value in symbols:
        if name == entry and index in places:
            return bytes(blob), places[index] + value
    raise ObjectError(f"the object defines no function {entry!r}")


def _read_sections(image: bytes) -> tuple[int, list[_Section]]:
    if image[:6] != b"\x7fELF\x02\x01":
        raise ObjectError("not a little-endian ELF64 object")
    machine = struct.unpack_from("<H", image, 18)[0]
    table = struct.unpack_from("<Q", image, 40)[0]
    size, count, names = struct.unpack_from("<HHH", image, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", image, table + k * size) for k in range(count)]
    strings = headers[names][4]
    sections = []
    for name, kind, flags, _, offset, length, link_, info, alignment, _ in headers:
        text = _string(image, strings + name)
        sections.append(_Section(text, kind, flags, offset, length, link_, info, alignment))
    return machine, sections


def _string(image: bytes, offset: int) -> str:
    return image[offset : image.index(b"\0", offset)].decode()


def _read_symbols(image: bytes, sections: list[_Section]) -> list[tuple[str, int, int]]:
    """Name, section and value of each symbol."""
    result = []
    for section in sections:
        if section.kind != _SHT_SYMTAB:
            continue
        strings = sections[section.link].offset
        for start in range(section.offset, section.offset + section.size, 24):
            name, _, _, index, value, _ = struct.unpack_from("<IBBHQQ", image, start)
            result.append((_string(image, strings + name), index, value))
    return result


def _read_relocations(
    image: bytes,
    section: _Section,
    symbols: list[tuple[str, int, int]],
    places: dict[int, int],
) -> list[_Relocation]:
    result = []
    for start in range(section.offset, section.offset + section.size, 24):
        offset, info, addend = struct.unpack_from("<QQq", image, start)
        name, index, value = symbols[info >> 32]
        if index not in places:
            raise ObjectError(f"the kernel refers to {name or 'a section'!r} outside of itself")
        at = places[section.info] + offset
        target = places[index] + value + addend
        result.append(_Relocation(at, info & 0xFFFFFFFF, target, name))
    return result


def _apply(blob: bytearray, machine: int, relocation: _Relocation) -> None:
    if machine == _X86_64:
        _apply_x86_64(blob, relocation)
    elif machine == _AARCH64:
        _apply_aarch64(blob, relocation)
    else:
        raise ObjectError(f"unknown machine {machine}")


def _apply_x86_64(blob: bytearray, relocation: _Relocation) -> None:
    distance = relocation.target - relocation.at
    if relocation.kind in (2, 4):  # PC32, PLT32
        struct.pack_into("<i", blob, relocation.at, distance)
    elif relocation.kind == 24:  # PC64
        struct.pack_into("<q", blob, relocation.at, distance)
    else:
        raise ObjectError(f"x86-64 relocation {relocation.kind} of {relocation.symbol!r}")


# Relocations of an address's low 12 bits: ADD, loads and stores of 1, 2, 4, 8 and 16 bytes.
_LOW_12 = {277, 278, 284, 285, 286, 299}


def _apply_aarch64(blob: bytearray, relocation: _Relocation) -> None:
    """A page address (ADRP) becomes a plain address (ADR): a blob is small and may lie anywhere.

    The instruction that adds the low 12 bits then adds nothing.
    """
    (word,) = struct.unpack_from("<I", blob, relocation.at)
    distance = relocation.target - relocation.at
    if relocation.kind in (274, 275):  # ADR_PREL_LO21, ADR_PREL_PG_HI21
        _check_range(distance, 21, relocation)
        word &= ~0x80000000 & ~0x60FFFFE0
        word |= (distance & 3) << 29 | ((distance >> 2) & 0x7FFFF) << 5
    elif relocation.kind in _LOW_12:
        word &= ~(0xFFF << 10)
    elif relocation.kind == 273:  # LD_PREL_LO19
        _check_range(distance, 21, relocation)
        word = word & ~(0x7FFFF << 5) | ((distance >> 2) & 0x7FFFF) << 5
    elif relocation.kind in (282, 283):  # JUMP26, CALL26
        _check_range(distance, 28, relocation)
        word = word & ~0x3FFFFFF | (distance >> 2) & 0x3FFFFFF
    elif relocation.kind == 261:  # PREL32
        word = distance & 0xFFFFFFFF
    else:
        raise ObjectError(f"AArch64 relocation {relocation.kind} of {relocation.symbol!r}")
    struct.pack_into("<I", blob, relocation.at, word)


def _check_range(distance: int, width: int, relocation: _Relocation) -> None:
    if not -(1 << (width - 1)) <= distance < 1 << (width - 1):
        raise ObjectError(f"the kernel is too large for the reference to {relocation.symbol!r}")
