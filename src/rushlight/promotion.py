"""Type promotion: the dtype in which operands of different dtypes meet."""

from __future__ import annotations

from collections.abc import Iterable

from . import dtypes
from .dtypes import dtype as DType

# How much an operand says: a tensor with dims decides before a 0-d tensor, which decides before a
# Python number.
NUMBER, ZERO_DIM, DIMENSIONED = 0, 1, 2

_SCALAR_TYPE_NAMES = {
    "bool": "Bool",
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "uint16": "UInt16",
    "uint32": "UInt32",
    "uint64": "UInt64",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "float32": "Float",
    "float64": "Double",
    "complex32": "ComplexHalf",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}
_WIDE_UNSIGNED = frozenset((dtypes.uint16, dtypes.uint32, dtypes.uint64))
_SIGNED_AT_LEAST = {1: dtypes.int8, 2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64}


def scalar_type_name(dtype: DType) -> str:
    """The name that PyTorch's messages use: ``Float`` for float32."""
    return _SCALAR_TYPE_NAMES[dtype.name]


def promote_types(a: DType, b: DType) -> DType:
    """The smallest type that is at least as wide, and of a kind at least as high, as both."""
    if a is b:
        return a
    if a.is_complex or b.is_complex:
        if _WIDE_UNSIGNED & {a, b}:
            raise _no_promotion(a, b)
        return _promote_complex(a, b)
    if a.is_floating_point and b.is_floating_point:
        if a.itemsize == b.itemsize:  # float16 and bfloat16
            return dtypes.float32
        return a if a.itemsize > b.itemsize else b
    if a.is_floating_point or b.is_floating_point:
        return a if a.is_floating_point else b
    return _promote_integers(a, b)


def _promote_complex(a: DType, b: DType) -> DType:
    if a.is_integral or b.is_integral:
        return a if a.is_complex else b
    real = promote_types(a.to_real(), b.to_real())
    return real.to_complex()


def _promote_integers(a: DType, b: DType) -> DType:
    if _WIDE_UNSIGNED & {a, b}:
        raise _no_promotion(a, b)
    if a is dtypes.bool or b is dtypes.bool:
        return b if a is dtypes.bool else a
    if a.is_signed == b.is_signed:
        return a if a.itemsize > b.itemsize else b
    signed, unsigned = (a, b) if a.is_signed else (b, a)
    return _SIGNED_AT_LEAST[max(signed.itemsize, 2 * unsigned.itemsize)]


def _no_promotion(a: DType, b: DType) -> RuntimeError:
    return RuntimeError(
        f"Promotion for uint16, uint32 and uint64 is not defined, but {scalar_type_name(a)} meets "
        f"{scalar_type_name(b)}; convert one of them first, for example with .to(torch.int64)"
    )


def number_dtype(dtype: DType) -> DType:
    """The type as which a Python number takes part: floats as the default type."""
    if dtype.is_floating_point:
        return dtypes.get_default_dtype()
    return dtypes.get_default_dtype().to_complex() if dtype.is_complex else dtype


def result_type(operands: Iterable[tuple[DType, int]]) -> DType:
    """The type of the result for operands ``(dtype, category)``.

    Operands of a lower category count only for their kind (bool, integer, floating, complex), and
    only if it is higher.
    """
    by_category: list[DType | None] = [None, None, None]
    for dtype, category in operands:
        if category == NUMBER:
            dtype = number_dtype(dtype)
        known = by_category[category]
        by_category[category] = dtype if known is None else promote_types(known, dtype)
    result: DType | None = None
    for level in reversed(by_category):
        if level is not None:
            result = level if result is None else _combine(result, level)
    if result is None:
        raise RuntimeError("at least one operand is needed to find a result type")
    return result


def _combine(high: DType, low: DType) -> DType:
    """``high`` has the say, unless ``low`` is of a higher kind."""
    if high.is_complex:
        return high
    if high.is_floating_point:
        return high.to_complex() if low.is_complex else high
    if low.is_complex and high in _WIDE_UNSIGNED:
        return low
    if high is dtypes.bool or low.is_floating_point or low.is_complex:
        return promote_types(high, low)
    return high


def can_cast(from_: DType, to: DType) -> bool:
    """Whether a result of one type may be stored in the other (in-place and ``out=``)."""
    if from_.is_complex and not to.is_complex:
        return False
    if from_.is_floating_point and to.is_integral:
        return False
    return not (from_ is not dtypes.bool and to is dtypes.bool)
