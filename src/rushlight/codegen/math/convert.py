"""Conversions between dtypes, as PyTorch converts on x86-64."""

from __future__ import annotations

from ...dtypes import dtype as DType
from ..llvm import Builder, Reg, bits, is_float
from ..values import Value, element_of, round_half

_HALF = ("float16", "bfloat16", "complex32")


def convert(b: Builder, dtype: DType, value: Value) -> Value:
    source = value.dtype
    if source == dtype:
        return value
    if source.name in _HALF:  # what was computed as float counts as what it is stored as
        value = value._replace(parts=round_half(b, source, value.parts))
    if dtype.is_complex:
        real = [_convert_part(b, dtype, source, part) for part in value.parts]
        parts: tuple[Reg, ...] = (real[0], real[1] if len(real) == 2 else real[0].like(0.0))
    elif dtype.kind == "b" and source.is_complex:
        parts = (value.parts[0].ne(0.0) | value.parts[1].ne(0.0),)
    else:
        parts = (_convert_part(b, dtype, source, value.parts[0]),)
    if dtype.name in _HALF:
        parts = round_half(b, dtype, parts)
    return Value(dtype, parts, None)


def _convert_part(b: Builder, dtype: DType, source: DType, x: Reg) -> Reg:
    element = element_of(dtype)
    if is_float(x.element):
        if is_float(element):
            wider = bits(element) > bits(x.element)
            return x.cast("fpext" if wider else "fptrunc", element)
        return _float_to_integer(b, dtype, x)
    if is_float(element):
        return x.cast("sitofp" if source.is_signed else "uitofp", element)
    return x.ne(0) if element == "i1" else b.widen_or_narrow(x, element, source.is_signed)


def _float_to_integer(b: Builder, dtype: DType, x: Reg) -> Reg:
    """Truncation; what does not fit gives the lowest int32 or int64, as on x86, narrowed."""
    element = element_of(dtype)
    if dtype.kind == "b":
        return x.ne(0.0)
    if dtype.name == "uint64":
        high = x.ge(2.0**63)
        low = truncate(b, b.select(high, x - 2.0**63, x), "i64")
        return b.select(high, low ^ (1 << 63), low)
    via = "i64" if dtype.name in ("int64", "uint32") else "i32"
    return truncate(b, x, via).cast("trunc", element)


def truncate(b: Builder, x: Reg, element: str) -> Reg:
    """A float as a signed integer; the lowest one for NaN and for what is out of range."""
    limit = 2.0 ** (bits(element) - 1)
    fits = b.intrinsic("fabs", x).lt(limit)
    safe = b.select(fits, x, 0.0)
    return b.select(fits, safe.cast("fptosi", element), -int(limit))
