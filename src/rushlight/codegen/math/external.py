"""Functions of the C library that kernels call, lane by lane, through a table of addresses."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..llvm import Builder, Reg

# Real functions, each in double and (with the suffix f) in float.
_REAL = (
    "exp2 log2 log10 sin cos tan asin acos atan atan2 sinh cosh asinh acosh atanh erfc pow fmod "
    "lgamma tgamma hypot"
).split()
# Complex functions, in double only: complex64 is computed with them too.
_COMPLEX = (
    "cexp clog cpow csqrt csin ccos ctan casin cacos catan csinh ccosh ctanh casinh cacosh catanh"
).split()

# The order of the table that every kernel is given.
EXTERNAL: tuple[str, ...] = tuple(
    [name + suffix for name in _REAL for suffix in ("", "f")] + _COMPLEX
)
_PAIR = "{double, double}"
_INDEX = {name: index for index, name in enumerate(EXTERNAL)}


@lru_cache(maxsize=1)
def external_addresses() -> list[int]:
    """The addresses of the external functions in this process; OSError if one is missing."""
    library = _math_library()
    try:
        return [
            ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in EXTERNAL
        ]
    except AttributeError as error:
        raise OSError(f"the C library lacks a function that Rushlight needs: {error}") from error


def _math_library() -> ctypes.CDLL:
    for name in ("libm.so.6", "libSystem.dylib", None):
        try:
            library = ctypes.CDLL(name)
            if hasattr(library, "lgamma"):
                return library
        except OSError:
            continue
    from ctypes.util import find_library

    found = find_library("m")
    if found is None:
        raise OSError("the C mathematics library (libm) was not found")
    return ctypes.CDLL(found)


def call(b: Builder, name: str, inputs: Sequence[Reg]) -> Reg:
    """A real function of every lane."""
    zero = inputs[0].like(0.0)
    (result,) = b.per_lane(inputs, lambda lane: [_scalar(b, name, lane)], [zero])
    return result


def call_where(b: Builder, mask: Reg, name: str, inputs: Sequence[Reg], otherwise: Reg) -> Reg:
    """A real function in the lanes of the mask, which are rare."""

    def slow() -> list[Reg]:
        return b.per_lane(inputs, lambda lane: [_scalar(b, name, lane)], [otherwise], mask)

    (result,) = b.branch(b.any_lane(mask), slow, lambda: [otherwise])
    return result


def call_complex(b: Builder, name: str, inputs: Sequence[Reg]) -> list[Reg]:
    """A complex function of doubles given as real and imaginary parts.

    Returned as {double, double}, as the C conventions of x86-64 and AArch64 return them.
    """
    zero = inputs[0].like(0.0)

    def lane(scalars: list[Reg]) -> list[Reg]:
        arguments = ", ".join(map(str, scalars))
        pair = b.effect(f"call {_PAIR} {_address(b, name)}({arguments})", _PAIR, 1)
        return [b.effect(f"extractvalue {pair}, {k}", "double", 1) for k in (0, 1)]

    return b.per_lane(inputs, lane, [zero, zero])


def _scalar(b: Builder, name: str, inputs: Sequence[Reg]) -> Reg:
    element = inputs[0].element
    if element == "float":
        name += "f"
    arguments = ", ".join(map(str, inputs))
    return b.effect(f"call {element} {_address(b, name)}({arguments})", element, 1)


def _address(b: Builder, name: str) -> str:
    table = b.argument("table")
    return b.load(b.offset(table, 8 * _INDEX[name]), "ptr").name
