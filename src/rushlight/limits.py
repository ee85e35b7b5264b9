"""`finfo` and `iinfo`: the ranges and precisions of dtypes."""

from __future__ import annotations

from typing import Any

from . import dtypes
from .dtypes import dtype as DType

# Bits of the significand (without the leading one) and of the exponent, and the decimal precision.
_LAYOUTS = {
    dtypes.float16: (10, 5, 1e-3),
    dtypes.bfloat16: (7, 8, 1e-2),
    dtypes.float32: (23, 8, 1e-6),
    dtypes.float64: (52, 11, 1e-15),
}


class _Limits:
    """Read-only attributes that compare by value."""

    __slots__ = ("bits", "dtype", "max", "min")
    __hash__ = None  # type: ignore[assignment]

    dtype: str

    def _set(self, **fields: Any) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"attribute {name!r} of {type(self).__name__} objects is not writable")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return bool(self.dtype == other.dtype)


class finfo(_Limits):
    """What a floating-point type can represent (of a complex type: its real part).

    bits; eps: the distance from 1 to the next number; max, min; tiny and smallest_normal: the
    smallest positive number of full precision; resolution: the decimal precision; dtype: the name.

    Args:
        type: a floating-point or complex dtype; None for the default dtype.

    Raises:
        TypeError: for other dtypes.

    Example:
        >>> rushlight.finfo(rushlight.float32).eps
        1.1920928955078125e-07
    """

    __slots__ = ("eps", "resolution", "smallest_normal", "tiny")

    bits: int
    eps: float
    max: float
    min: float
    tiny: float
    smallest_normal: float
    resolution: float
    dtype: str

    def __init__(self, type: DType | None = None) -> None:
        given = _require_dtype("finfo", dtypes.get_default_dtype() if type is None else type)
        real = given.to_real()
        if real not in _LAYOUTS:
            raise TypeError(
                "torch.finfo is about floating-point and complex dtypes; use torch.iinfo for "
                f"{given}"
            )
        significand, exponent, resolution = _LAYOUTS[real]
        eps = 2.0**-significand
        bias = 2 ** (exponent - 1) - 1
        largest = (2 - eps) * 2.0**bias
        tiny = 2.0 ** (1 - bias)
        self._set(bits=8 * real.itemsize, eps=eps, max=largest, min=-largest, tiny=tiny)
        self._set(smallest_normal=tiny, resolution=resolution, dtype=real.name)

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        numbers = ", ".join(f"{name}={getattr(self, name):g}" for name in names)
        return f"finfo({numbers}, dtype={self.dtype})"


class iinfo(_Limits):
    """What an integer type can represent: bits, max, min, dtype (the name).

    Args:
        type: an integer dtype.

    Raises:
        TypeError: for other dtypes.

    Example:
        >>> rushlight.iinfo(rushlight.int8).max
        127
    """

    __slots__ = ()

    bits: int
    max: int
    min: int
    dtype: str

    def __init__(self, type: DType) -> None:
        given = _require_dtype("iinfo", type)
        if given is dtypes.bool:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if not given.is_integral:
            raise TypeError(f"torch.iinfo is about integer dtypes; use torch.finfo for {given}")
        bits = 8 * given.itemsize
        least = -(2 ** (bits - 1)) if given.is_signed else 0
        self._set(bits=bits, min=least, max=2**bits - 1 + least, dtype=given.name)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


def _require_dtype(function: str, type: Any) -> DType:
    if isinstance(type, DType):
        return type
    given = type.__class__.__name__
    raise TypeError(f"{function}(): argument 'type' (position 1) must be torch.dtype, not {given}")
