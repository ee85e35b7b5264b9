"""Tensors as text: ``repr``, ``str`` and ``format``.

A tensor is first read into nested lists of Python numbers, in which ``...`` stands for what a
summary leaves out (`read`). One format then fits all numbers (`NumberFormat`, `ComplexFormat`), and
`Layout` places them on lines.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from . import _core, dtypes
from ._core import Tensor
from .tensor import Parameter


@dataclass(frozen=True)
class PrintOptions:
    """How tensors are printed; `set_printoptions` describes the fields."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}
_options = PROFILES["default"]


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change how tensors are printed.

    Args:
        precision: digits after the decimal point (4).
        threshold: tensors with more elements than this are summarised (1000).
        edgeitems: how many items a summary shows at each end of a dim (3).
        linewidth: characters on a line (80).
        profile: ``"default"``, ``"short"`` or ``"full"``: where to start from.
        sci_mode: whether to write numbers with an exponent; None: if their range asks for it.

    Example:
        >>> rushlight.set_printoptions(precision=2)
        >>> rushlight.tensor([1.12345])
        tensor([1.12])
        >>> rushlight.set_printoptions(profile="default")
    """
    global _options
    options = _options
    if profile is not None:
        if profile not in PROFILES:
            raise ValueError(f"profile must be one of {', '.join(PROFILES)}, not {profile!r}")
        options = PROFILES[profile]
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    _options = replace(options, sci_mode=sci_mode, **changes)


# ---------------------------------------------------------------- reading the elements


def read(tensor: Tensor, edgeitems: int | None) -> Any:
    """The elements as nested lists; with ``edgeitems`` only the ends of each dim around ``...``."""
    if edgeitems is None or tensor.ndim == 0:
        return tensor.tolist()
    size = tensor.shape[0]
    if size <= 2 * edgeitems:
        head, middle, tail = range(size), [], range(0)
    else:
        head, middle, tail = range(edgeitems), [...], range(size - edgeitems, size)
    if tensor.ndim == 1:
        ends = [tensor[part.start : part.stop].tolist() if part else [] for part in (head, tail)]
        return ends[0] + middle + ends[1]
    return [
        *(read(tensor[i], edgeitems) for i in head),
        *middle,
        *(read(tensor[i], edgeitems) for i in tail),
    ]


def numbers_in(nested: Any) -> Iterator[Any]:
    """All numbers of nested lists."""
    if isinstance(nested, list):
        for each in nested:
            yield from numbers_in(each)
    elif nested is not ...:
        yield nested


# ---------------------------------------------------------------- numbers


class NumberFormat:
    """One format for all given numbers: ``1.``, ``1.0000`` or ``1.0000e+00``."""

    def __init__(self, numbers: list[Any], is_floating: bool, options: PrintOptions) -> None:
        self.width = 1
        if not is_floating:
            self.write: Callable[[Any], str] = str
            self.width = max(map(len, map(str, numbers)), default=1)
            return
        telling = [x for x in numbers if math.isfinite(x) and x != 0]  # decide about the format
        whole = all(x.is_integer() for x in telling)
        exponent = options.sci_mode
        if exponent is None:
            exponent = bool(telling) and needs_exponent(telling, whole)
        self.write = writer(whole, bool(telling) and exponent, options.precision)
        self.width = max((len(self.write(x)) for x in telling), default=1)

    def __call__(self, number: Any) -> str:
        return self.write(number).rjust(self.width)


def needs_exponent(numbers: list[float], whole: bool) -> bool:
    """Whether finite non-zero numbers differ too much, or are too large or small, to write out."""
    sizes = [abs(x) for x in numbers]
    least, greatest = min(sizes), max(sizes)
    return greatest / least > 1000 or greatest > 1e8 or (not whole and least < 1e-4)


def writer(whole: bool, exponent: bool, precision: int) -> Callable[[float], str]:
    """How to write a number."""
    if exponent:
        return lambda x: f"{x:.{precision}e}"
    if whole:
        return lambda x: f"{x:.0f}." if math.isfinite(x) else f"{x:.0f}"
    return lambda x: f"{x:.{precision}f}"


class ComplexFormat:
    """Real and imaginary part, each in a format of its own."""

    def __init__(self, numbers: list[complex], options: PrintOptions) -> None:
        self.real = NumberFormat([x.real for x in numbers], True, options)
        self.imag = NumberFormat([x.imag for x in numbers], True, options)
        self.width = self.real.width + self.imag.width + 1

    def __call__(self, number: complex) -> str:
        imag = self.imag(number.imag).lstrip() + "j"
        sign = "" if imag.startswith("-") else "+"
        return self.real(number.real) + sign + imag


# ---------------------------------------------------------------- lines


class Layout:
    """Places formatted numbers on lines of the given width."""

    def __init__(self, form: NumberFormat | ComplexFormat, options: PrintOptions) -> None:
        self.form = form
        self.options = options

    def text(self, nested: Any, ndim: int, indent: int) -> str:
        """The text of nested lists of ``ndim`` levels; later lines start at column ``indent``."""
        if ndim == 0:
            return self.form(nested)
        if ndim == 1:
            return self.row(nested, indent)
        separator = "," + "\n" * (ndim - 1) + " " * (indent + 1)
        parts = ("..." if x is ... else self.text(x, ndim - 1, indent + 1) for x in nested)
        return "[" + separator.join(parts) + "]"

    def row(self, numbers: list[Any], indent: int) -> str:
        per_line = max(1, int((self.options.linewidth - indent) / (self.form.width + 2)))
        gap = " ..." if len(numbers) > 1 else "..."
        words = [gap if x is ... else self.form(x) for x in numbers]
        lines = [words[i : i + per_line] for i in range(0, len(words), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(map(", ".join, lines)) + "]"


def contents(tensor: Tensor, indent: int) -> str:
    """The elements of a plain tensor that has some."""
    options = _options
    nested = read(tensor, options.edgeitems if tensor.numel() > options.threshold else None)
    numbers = list(numbers_in(nested))
    form = (
        ComplexFormat(numbers, options)
        if tensor.dtype.is_complex
        else NumberFormat(numbers, tensor.dtype.is_floating_point, options)
    )
    return Layout(form, options).text(nested, tensor.ndim, indent)


# ---------------------------------------------------------------- the whole text


def description(tensor: Tensor, shown: bool) -> list[str]:
    """Shape and dtype, where the elements do not tell them. shown: whether elements are printed."""
    parts = []
    default = dtypes.get_default_dtype()
    if tensor.device.type != "cpu":
        parts.append(f"device='{tensor.device}'")
    shape_is_visible = tensor.ndim == 1 if not tensor.numel() else shown and _options.edgeitems
    if tensor.device.type == "meta" or not shape_is_visible:
        parts.append(f"size={tuple(tensor.shape)}")
    default_complex = dtypes.complex128 if default is dtypes.float64 else dtypes.complex64
    obvious = (default, default_complex, dtypes.int64, dtypes.bool) if shown else (default,)
    if tensor.dtype not in obvious:
        parts.append(f"dtype={tensor.dtype}")
    return parts


def history(tensor: Tensor) -> list[str]:
    """What is known about gradients."""
    try:
        node = tensor.grad_fn
    except RuntimeError:  # a view whose history was invalidated by a write
        return ["grad_fn=<Invalid>"]
    if node is not None:
        return [f"grad_fn=<{type(node).__name__}>"]
    return ["requires_grad=True"] if tensor.requires_grad else []


def with_suffixes(text: str, suffixes: list[str], indent: int) -> str:
    """The text with the suffixes, each on a new line if it does not fit on the last."""
    column = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if column + len(suffix) + 2 > _options.linewidth:
            text += ",\n" + " " * indent + suffix
            column = indent + len(suffix)
        else:
            text += ", " + suffix
            column += len(suffix) + 2
    return text + ")"


def tensor_text(tensor: Tensor, *, tensor_contents: str | None = None) -> str:
    """What ``repr(tensor)`` gives.

    Args:
        tensor: any tensor; subclasses are named by their class.
        tensor_contents: the text to print in place of the elements.
    """
    is_plain = type(tensor) in (Tensor, Parameter)
    prefix = "tensor(" if is_plain else f"{type(tensor).__name__}("
    tangent = _core.tangent(tensor) if _core.dual_levels() else None
    plain = _DATA.__get__(tensor)  # shares the elements, has no history, and is no subclass
    shown = plain.device.type != "meta" and plain.numel() > 0
    if tensor_contents is None:
        empty = "..." if plain.device.type == "meta" else "[]"
        tensor_contents = contents(plain, len(prefix)) if shown else empty
    suffixes = description(plain, shown) + history(tensor)
    if tangent is not None:
        suffixes.append(f"tangent={tangent!r}")
    return with_suffixes(prefix + tensor_contents, suffixes, len(prefix))


def format_tensor(tensor: Tensor, format_spec: str) -> str:
    """What ``format(tensor, format_spec)`` gives: a 0-d tensor is formatted as a number."""
    if type(tensor) is Tensor and tensor.ndim == 0 and tensor.device.type != "meta":
        return format(tensor.item(), format_spec)
    return object.__format__(tensor, format_spec)


_DATA = Tensor.__dict__["data"]

Tensor.__repr__ = tensor_text  # type: ignore[method-assign, assignment]
Tensor.__str__ = tensor_text  # type: ignore[method-assign, assignment]
Tensor.__format__ = format_tensor  # type: ignore[method-assign, assignment]
