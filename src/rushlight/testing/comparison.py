"""`assert_close`."""

from __future__ import annotations

import cmath
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from .. import _core, dtypes
from .._core import Tensor
from ..creation import as_tensor
from ..dtypes import dtype as DType
from ..promotion import promote_types

# Relative and absolute tolerance; exact for other types.
_TOLERANCES = {
    dtypes.float16: (1e-3, 1e-5),
    dtypes.bfloat16: (1.6e-2, 1e-5),
    dtypes.float32: (1.3e-6, 1e-5),
    dtypes.float64: (1e-7, 1e-7),
    dtypes.complex32: (1e-3, 1e-5),
    dtypes.complex64: (1.3e-6, 1e-5),
    dtypes.complex128: (1e-7, 1e-7),
}
_NUMBERS = (bool, int, float, complex)


@dataclass(frozen=True)
class Options:
    """The arguments of `assert_close`."""

    allow_subclasses: bool = True
    rtol: float | None = None
    atol: float | None = None
    equal_nan: bool = False
    check_device: bool = True
    check_dtype: bool = True
    check_layout: bool = True
    check_stride: bool = False
    message: str | Callable[[str], str] | None = None


class Mismatch(Exception):
    """Where two values differ, and how."""

    def __init__(
        self,
        kind: type[Exception],
        text: str,
        path: tuple[Any, ...],
        of_structure: bool = False,  # then the user's text does not replace this one
    ) -> None:
        super().__init__(text)
        self.kind = kind
        self.text = text
        self.path = path
        self.of_structure = of_structure

    def error(self, message: str | Callable[[str], str] | None) -> Exception:
        text = self.text
        if self.path:
            place = "".join(f"[{each!r}]" for each in self.path)
            text += f"\n\nThe failure occurred for item {place}"
        if message is not None and self.kind is AssertionError and not self.of_structure:
            text = message(text) if callable(message) else message
        return self.kind(text)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise unless two values are close: ``|actual - expected| <= atol + rtol * |expected|``.

    Args:
        actual: a tensor, a NumPy array, a number, None, or sequences and mappings of such.
        expected: another of the same structure.
        allow_subclasses: whether a value may be of a subclass of the other's type.
        rtol: relative tolerance; None: by dtype, as ``atol``.
        atol: absolute tolerance.
        equal_nan: whether NaN is close to NaN.
        check_device, check_dtype, check_layout, check_stride: what else must be equal. If the dtype
            may differ, both are promoted.
        msg: the error's text, or a function of the usual text that gives it.

    Raises:
        AssertionError: if they differ.
        TypeError: for values of other types, or types that do not belong together.
        ValueError: if only one tolerance is given.

    Example:
        >>> rushlight.testing.assert_close(rushlight.ones(2), rushlight.ones(2) + 1e-7)
    """
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(
            f"rtol and atol go together: they must be either specified or omitted, but {missing} "
            "is missing."
        )
    options = Options(
        allow_subclasses,
        rtol,
        atol,
        equal_nan,
        check_device,
        check_dtype,
        check_layout,
        check_stride,
        msg,
    )
    try:
        compare(actual, expected, options, ())
    except Mismatch as mismatch:
        raise mismatch.error(msg) from None


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """`assert_close` as older programs call it: of anything that can be a tensor, dtypes aside."""
    actual = actual if isinstance(actual, Tensor) else as_tensor(actual)
    expected = expected if isinstance(expected, Tensor) else as_tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        pairs = [_TOLERANCES.get(each.dtype, (0.0, 0.0)) for each in (actual, expected)]
        rtol, atol = max(pair[0] for pair in pairs), max(pair[1] for pair in pairs)
    assert_close(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=True,
        check_dtype=False,
        check_stride=False,
        msg=msg or None,
    )


# ---------------------------------------------------------------- structure


def compare(actual: Any, expected: Any, options: Options, path: tuple[Any, ...]) -> None:
    """Mismatch for the first difference."""
    if actual is None or expected is None:
        if actual is not expected:
            other = actual if expected is None else expected
            raise Mismatch(AssertionError, f"None mismatch: None is not {other}", path)
        return
    if is_sequence(actual) and is_sequence(expected):
        if len(actual) != len(expected):
            text = f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            raise Mismatch(AssertionError, text, path, of_structure=True)
        for place, (a, b) in enumerate(zip(actual, expected)):
            compare(a, b, options, (*path, place))
        return
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        compare_keys(actual, expected, path)
        for key in sorted_keys(actual):
            compare(actual[key], expected[key], options, (*path, key))
        return
    if is_boolean(actual) and is_boolean(expected):
        if bool(actual) != bool(expected):
            text = f"Booleans mismatch: {bool(actual)} is not {bool(expected)}"
            raise Mismatch(AssertionError, text, path)
        return
    if is_number(actual) and is_number(expected):
        compare_numbers(actual, expected, options, path)
        return
    if are_tensors(actual, expected, options):
        compare_tensors(to_tensor(actual), to_tensor(expected), options, path)
        return
    text = f"No comparison pair handles {type(actual)} and {type(expected)}."
    raise Mismatch(TypeError, text, path)


def is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def is_boolean(value: Any) -> bool:
    return isinstance(value, bool | numpy.bool_)


def is_number(value: Any) -> bool:
    return isinstance(value, numbers.Number | numpy.number) and not isinstance(value, Tensor)


def are_tensors(actual: Any, expected: Any, options: Options) -> bool:
    related = type(actual) is type(expected) or (
        options.allow_subclasses
        and (isinstance(actual, type(expected)) or isinstance(expected, type(actual)))
    )
    return related and isinstance(actual, Tensor | numpy.ndarray)


def to_tensor(value: Any) -> Tensor:
    return value.detach() if isinstance(value, Tensor) else as_tensor(value)


def sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        return list(mapping)


def compare_keys(
    actual: Mapping[Any, Any], expected: Mapping[Any, Any], path: tuple[Any, ...]
) -> None:
    if actual.keys() == expected.keys():
        return
    missing = [key for key in expected if key not in actual]
    additional = [key for key in actual if key not in expected]
    text = (
        "The keys of the mappings do not match:\n"
        f"Missing keys in the actual mapping: {missing}\n"
        f"Additional keys in the actual mapping: {additional}"
    )
    raise Mismatch(AssertionError, text, path, of_structure=True)


# ---------------------------------------------------------------- numbers


def tolerances(options: Options, *types: DType) -> tuple[float, float]:
    if options.rtol is not None and options.atol is not None:
        return options.rtol, options.atol
    pairs = [_TOLERANCES.get(each, (0.0, 0.0)) for each in types]
    return max(pair[0] for pair in pairs), max(pair[1] for pair in pairs)


def plain_number(value: Any) -> Any:
    return value.item() if isinstance(value, numpy.generic) else value


def compare_numbers(actual: Any, expected: Any, options: Options, path: tuple[Any, ...]) -> None:
    a, b = plain_number(actual), plain_number(expected)
    if options.check_dtype and type(a) is not type(b):
        text = f"The (d)types do not match: {type(a)} != {type(b)}."
        raise Mismatch(AssertionError, text, path)
    rtol, atol = tolerances(options, *(dtypes.from_number(type(each)) for each in (a, b)))
    if isinstance(a, float | complex) and options.rtol is None:
        rtol, atol = tolerances(options, dtypes.float64)  # Python's floats are doubles
    if not number_is_close(a, b, rtol, atol, options.equal_nan):
        raise Mismatch(AssertionError, scalar_text(a, b, rtol, atol), path)


def number_is_close(a: Any, b: Any, rtol: float, atol: float, equal_nan: bool) -> bool:
    if a == b:
        return True
    if equal_nan and cmath.isnan(a) and cmath.isnan(b):
        return True
    difference = abs(a - b)
    return bool(cmath.isfinite(difference) and difference <= atol + rtol * abs(b))


def allowed(tolerance: float, rtol: float, atol: float) -> str:
    return f" (up to {tolerance} allowed)" if rtol or atol else ""


def scalar_text(a: Any, b: Any, rtol: float, atol: float) -> str:
    difference = abs(a - b)
    relative = difference / abs(b) if b else float("inf")
    return (
        f"Scalars are not {'close' if rtol or atol else 'equal'}!\n\n"
        f"Expected {b} but got {a}.\n"
        f"Absolute difference: {difference}{allowed(atol, rtol, atol)}\n"
        f"Relative difference: {relative}{allowed(rtol, rtol, atol)}"
    )


# ---------------------------------------------------------------- tensors


def compare_tensors(a: Tensor, b: Tensor, options: Options, path: tuple[Any, ...]) -> None:
    for name, wanted, left, right in (
        ("shape", True, a.shape, b.shape),
        ("layout", options.check_layout, a.layout, b.layout),
        ("device", options.check_device, a.device, b.device),
        ("dtype", options.check_dtype, a.dtype, b.dtype),
        ("stride()", options.check_stride, a.stride(), b.stride()),
    ):
        if wanted and left != right:
            text = f"The values for attribute '{name}' do not match: {left} != {right}."
            raise Mismatch(AssertionError, text, path)
    if a.device.type == "meta":
        return
    rtol, atol = tolerances(options, a.dtype, b.dtype)
    common = promote_types(a.dtype, b.dtype)
    left, right = values_of(a.to(common)), values_of(b.to(common))
    close = is_close(left, right, rtol, atol, options.equal_nan)
    if close.all():
        return
    if a.ndim == 0:
        raise Mismatch(AssertionError, scalar_text(a.item(), b.item(), rtol, atol), path)
    raise Mismatch(AssertionError, tensor_text(left, right, ~close, rtol, atol), path)


def values_of(tensor: Tensor) -> Any:
    """The elements in a type that NumPy has, integers in the widest."""
    wider = {dtypes.bfloat16: dtypes.float32, dtypes.complex32: dtypes.complex64}
    if not tensor.dtype.is_integral:
        return _core.to_numpy(tensor.to(wider.get(tensor.dtype, tensor.dtype)))
    if tensor.dtype is dtypes.uint64:
        return _core.to_numpy(tensor).astype(object)
    return _core.to_numpy(tensor.to(dtypes.int64))


def is_close(a: Any, b: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    with numpy.errstate(all="ignore"):
        close = numpy.asarray(a == b, dtype=bool)
        if rtol or atol:
            difference = numpy.abs(a - b)
            limit = atol + rtol * numpy.abs(b)
            close |= numpy.asarray((difference < numpy.inf) & (difference <= limit), dtype=bool)
        if equal_nan:
            close |= numpy.asarray((a != a) & (b != b), dtype=bool)
    return close


def tensor_text(a: Any, b: Any, different: Any, rtol: float, atol: float) -> str:
    count = int(different.sum())
    with numpy.errstate(all="ignore"):
        absolute = numpy.abs(a - b)
        relative = numpy.abs(absolute / numpy.abs(b))
    absolute[~different] = 0
    relative[~different] = 0
    lines = [
        f"Tensor-likes are not {'close' if rtol or atol else 'equal'}!\n",
        f"Mismatched elements: {count} / {different.size} ({count / different.size:.1%})",
    ]
    for name, values, tolerance in (("absolute", absolute, atol), ("relative", relative, rtol)):
        place = numpy.unravel_index(int(numpy.argmax(values)), values.shape)
        index = tuple(int(each) for each in place)
        value = plain_number(values[index])
        lines.append(
            f"Greatest {name} difference: {value} at index {index}{allowed(tolerance, rtol, atol)}"
        )
    return "\n".join(lines)
