"""Data types: the singletons ``float32``, ``int64`` and so on, and what is known about each."""

from __future__ import annotations

from builtins import bool as _bool
from typing import Any

import numpy


class dtype:
    """The type of a tensor's elements. One object exists for each type; compare with ``is`` or
    ``==``.

    name: ``"float32"``; code: the number the native core uses; kind: ``"b"`` (bool), ``"u"``,
    ``"i"`` (integers without and with sign), ``"f"`` or ``"c"``; numpy: the NumPy dtype, or None
    (bfloat16, complex32).
    """

    __slots__ = ("code", "itemsize", "kind", "name", "numpy")

    name: str
    code: int
    itemsize: int
    kind: str
    numpy: Any

    def __init__(self, name: str, code: int, itemsize: int, kind: str) -> None:
        set_slot = object.__setattr__
        set_slot(self, "name", name)
        set_slot(self, "code", code)
        set_slot(self, "itemsize", itemsize)
        set_slot(self, "kind", kind)
        has_numpy = name not in ("bfloat16", "complex32")
        set_slot(self, "numpy", numpy.dtype(name) if has_numpy else None)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"attribute {name!r} of a dtype cannot be set")

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name

    def __copy__(self) -> dtype:
        return self

    def __deepcopy__(self, memo: Any) -> dtype:
        return self

    @property
    def is_floating_point(self) -> _bool:
        return self.kind == "f"

    @property
    def is_complex(self) -> _bool:
        return self.kind == "c"

    @property
    def is_signed(self) -> _bool:
        return self.kind in "ifc"

    @property
    def is_differentiable(self) -> _bool:
        """Whether values of this type can have gradients."""
        return self.kind in "fc"

    @property
    def is_integral(self) -> _bool:
        """Whether this is an integer type; bool counts."""
        return self.kind in "bui"

    def to_real(self) -> dtype:
        """The type of the real part."""
        return _TO_REAL.get(self, self)

    def to_complex(self) -> dtype:
        """The complex type whose parts have this type (the default complex type for integers)."""
        if self.is_complex:
            return self
        return _TO_COMPLEX.get(self) or _TO_COMPLEX[_default]


bool = dtype("bool", 0, 1, "b")
uint8 = dtype("uint8", 1, 1, "u")
int8 = dtype("int8", 2, 1, "i")
int16 = dtype("int16", 3, 2, "i")
int32 = dtype("int32", 4, 4, "i")
int64 = dtype("int64", 5, 8, "i")
uint16 = dtype("uint16", 6, 2, "u")
uint32 = dtype("uint32", 7, 4, "u")
uint64 = dtype("uint64", 8, 8, "u")
float16 = dtype("float16", 9, 2, "f")
bfloat16 = dtype("bfloat16", 10, 2, "f")
float32 = dtype("float32", 11, 4, "f")
float64 = dtype("float64", 12, 8, "f")
complex32 = dtype("complex32", 13, 4, "c")
complex64 = dtype("complex64", 14, 8, "c")
complex128 = dtype("complex128", 15, 16, "c")

# All types in the order of their codes.
ALL: tuple[dtype, ...] = (
    bool, uint8, int8, int16, int32, int64, uint16, uint32, uint64,
    float16, bfloat16, float32, float64, complex32, complex64, complex128,
)  # fmt: skip

# PyTorch's other names. They are no module attributes here: ``float`` and ``int`` would hide the
# builtins.
ALIASES: dict[str, dtype] = {
    "half": float16,
    "float": float32,
    "double": float64,
    "short": int16,
    "int": int32,
    "long": int64,
    "chalf": complex32,
    "cfloat": complex64,
    "cdouble": complex128,
}

BY_NAME: dict[str, dtype] = {each.name: each for each in ALL} | ALIASES

_TO_REAL = {complex32: float16, complex64: float32, complex128: float64}
_TO_COMPLEX = {
    float16: complex32,
    bfloat16: complex64,
    float32: complex64,
    float64: complex128,
}

_default = float32


def get_default_dtype() -> dtype:
    """The type that Python floats become."""
    return _default


def set_default_dtype(d: dtype, /) -> None:
    """Set the type that Python floats become: a floating-point type."""
    global _default
    if not isinstance(d, dtype):
        raise TypeError(
            f"the default dtype must be one of the floating-point dtypes, not a {type(d).__name__}"
        )
    if not d.is_floating_point:
        raise TypeError(f"the default dtype must be one of the floating-point dtypes, not {d}")
    _default = d


def from_number(number_type: type) -> dtype:
    """The type that a Python number of this type becomes when nothing else decides."""
    if issubclass(number_type, _bool):
        return bool
    if issubclass(number_type, int):
        return int64
    if issubclass(number_type, float):
        return _default
    if issubclass(number_type, complex):
        return _default.to_complex()
    raise TypeError(f"{number_type.__name__} is not a number type")


def from_numpy(numpy_dtype: Any) -> dtype:
    """The type of a NumPy dtype; TypeError if there is none."""
    name = numpy.dtype(numpy_dtype).name
    found = BY_NAME.get(name)
    if found is None or found.numpy is None:
        raise TypeError(
            f"can't convert np.ndarray of type {name}: the dtypes of tensors are float16, float32, "
            "float64, complex64, complex128, int8 to int64, uint8 to uint64, and bool."
        )
    return found
