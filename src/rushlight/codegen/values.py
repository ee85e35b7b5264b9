"""Values of a kernel: a dtype and the registers that hold it; how elements lie in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..dtypes import dtype as DType

if TYPE_CHECKING:
    from .llvm import Builder, Number, Reg

# dtype name -> element type of the registers, element type in memory.
_ELEMENTS = {
    "bool": ("i1", "i8"),
    "uint8": ("i8", "i8"),
    "int8": ("i8", "i8"),
    "int16": ("i16", "i16"),
    "int32": ("i32", "i32"),
    "int64": ("i64", "i64"),
    "uint16": ("i16", "i16"),
    "uint32": ("i32", "i32"),
    "uint64": ("i64", "i64"),
    "float16": ("float", "half"),
    "bfloat16": ("float", "i16"),
    "float32": ("float", "float"),
    "float64": ("double", "double"),
    "complex32": ("float", "half"),
    "complex64": ("float", "float"),
    "complex128": ("double", "double"),
}


class Value(NamedTuple):
    """One register, or two for a complex number (real and imaginary part).

    ``constant`` is the Python number if it is known.
    """

    dtype: DType
    parts: tuple[Reg, ...]
    constant: Number | complex | None = None

    @property
    def reg(self) -> Reg:
        return self.parts[0]

    @property
    def lanes(self) -> int:
        return self.parts[0].lanes


def element_of(dtype: DType) -> str:
    """The element type of the registers that hold a dtype."""
    return _ELEMENTS[dtype.name][0]


def memory_element(dtype: DType) -> str:
    return _ELEMENTS[dtype.name][1]


def parts_of(dtype: DType) -> int:
    return 2 if dtype.is_complex else 1


def register_bytes(dtype: DType) -> int:
    """Bytes that a value takes in registers, as kept between phases."""
    sizes = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "float": 4, "double": 8}
    return sizes[element_of(dtype)] * parts_of(dtype)


def constant(b: Builder, dtype: DType, number: Number | complex) -> Value:
    """A Python number as a scalar of a dtype."""
    element = element_of(dtype)
    if dtype.is_complex:
        z = complex(number)
        parts = (b.constant(element, 1, z.real), b.constant(element, 1, z.imag))
        return Value(dtype, parts, number)
    if isinstance(number, complex):
        raise TypeError(f"a complex constant cannot have type {dtype.name}")
    if dtype.name in ("float16", "bfloat16"):
        scalar = b.constant("float", 1, number)
        return Value(dtype, (scalar,), number)
    if dtype.kind in "iu" and number != number:
        number = 0
    return Value(dtype, (b.constant(element, 1, number),), number)


def splat(b: Builder, value: Value, lanes: int) -> Value:
    if value.lanes == lanes:
        return value
    return value._replace(parts=tuple(b.splat(each, lanes) for each in value.parts))


def from_memory(b: Builder, dtype: DType, raw: Reg) -> Reg:
    """An element (or one part of it) as computed with."""
    if dtype.name == "bool":
        return raw.ne(0)
    if dtype.name == "bfloat16":
        reg = (raw.cast("zext", "i32") << 16).bitcast("float")
        b.stored[reg.name] = raw
        return reg
    if raw.element == "half":
        reg = raw.cast("fpext", "float")
        b.stored[reg.name] = raw
        return reg
    return raw


def to_memory(b: Builder, dtype: DType, reg: Reg) -> Reg:
    """A register as stored, rounded to nearest even; what was loaded or rounded is so already."""
    if dtype.name == "bool":
        return reg.cast("zext", "i8")
    if memory_element(dtype) not in ("half", "i16") or element_of(dtype) != "float":
        return reg
    known = b.stored.get(reg.name)
    if known is not None and known.element == memory_element(dtype):
        return known
    return _to_bfloat16(b, reg) if dtype.name == "bfloat16" else reg.cast("fptrunc", "half")


def _to_bfloat16(b: Builder, reg: Reg) -> Reg:
    """By integer arithmetic: the CPU's own instruction flushes subnormals to zero."""
    word = reg.bitcast("i32")
    odd = word.lshr(16) & 1
    rounded = (word + odd + 0x7FFF).lshr(16)
    quiet = word.lshr(16) | 0x40
    return b.select(reg.isnan(), quiet, rounded).cast("trunc", "i16")


def round_half(b: Builder, dtype: DType, parts: tuple[Reg, ...]) -> tuple[Reg, ...]:
    """Registers rounded to the precision that a 16-bit dtype has in memory."""

    def rounded(reg: Reg) -> Reg:
        raw = to_memory(b, dtype, reg)
        return reg if b.stored.get(reg.name) is raw else from_memory(b, dtype, raw)

    return tuple(map(rounded, parts))
