"""What pooling operators have in common: their arguments, and the windows along a dim."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import dtypes
from ..graph.trace import Traced
from ..promotion import scalar_type_name
from . import build
from .indexing import index_primitive
from .record import op
from .regions import slice_scatter_primitive
from .windows import quotient


@dataclass(frozen=True)
class Windows:
    """How windows lie along one dim of ``size`` elements, of which ``before`` are padding.

    length: how many; taps: elements in each; step, spacing: between windows and between elements.
    """

    size: Any
    length: Any
    taps: int
    step: int
    spacing: int
    before: int

    def of(self, x: Traced, dim: int, fill: Any) -> Traced:
        """The windows of x, with ``fill`` as padding: dim becomes two dims."""
        needed = (self.length - 1) * self.step + (self.taps - 1) * self.spacing + 1
        if self.before != 0 or needed > self.size:
            total = needed if needed > self.size + self.before else self.size + self.before
            shape = (*x.shape[:dim], total, *x.shape[dim + 1 :])
            whole = build.full(shape, fill, x.dtype)
            x = slice_scatter_primitive.apply(whole, x, dim=dim, start=self.before, step=1)
        return build.window(x, dim, self.length, self.step, self.taps, self.spacing)

    def position(self, tap: Traced, dim: int) -> Traced:
        """Where a tap of each window lies in x; taps in the padding before x count as the first
        one in x.
        """
        place = along(build.iota(self.length), tap.ndim, dim) * self.step + tap * self.spacing
        missing = op.clamp_min(self.before - place, 0)
        if self.before:
            place = place + quotient(missing + (self.spacing - 1), self.spacing) * self.spacing
        return place - self.before

    def counts(self, with_padding: bool) -> Traced:
        """How many elements of each window count, of all taps or of those in x."""
        start = build.iota(self.length) * self.step
        low, high = (0, self.size + 2 * self.before) if with_padding else (
            self.before, self.size + self.before
        )  # fmt: skip
        return op.clamp_max(start + self.taps, high) - op.clamp_min(start, low)


@dataclass(frozen=True)
class AdaptiveWindows:
    """``length`` windows that share ``size`` elements as evenly as whole numbers allow."""

    size: Any
    length: Any

    @property
    def taps(self) -> Any:
        return (self.size + self.length - 1) // self.length + 1

    def starts(self) -> Traced:
        return build.iota(self.length) * self.size // self.length

    def counts(self, with_padding: bool = False) -> Traced:
        end = ((build.iota(self.length) + 1) * self.size + (self.length - 1)) // self.length
        return end - self.starts()

    def of(self, x: Traced, dim: int, fill: Any) -> Traced:
        tap = build.insert_dim(build.iota(self.taps), 0)
        start, count = (build.insert_dim(each, 1) for each in (self.starts(), self.counts()))
        place = op.clamp_max(start + tap, self.size - 1)
        found = index_primitive.apply(x, place, dims=(dim,))
        inside = build.reshape(
            tap < count, (*[1] * dim, self.length, self.taps, *[1] * (x.ndim - dim - 1))
        )
        return build.select_where(inside, found, fill, x.dtype)

    def position(self, tap: Traced, dim: int) -> Traced:
        return along(self.starts(), tap.ndim, dim) + tap


def along(x: Traced, rank: int, dim: int) -> Traced:
    """A 1-d tensor along one of ``rank`` dims."""
    return build.reshape(x, [x.shape[0] if each == dim else 1 for each in range(rank)])


# ---------------------------------------------------------------- arguments


def each_dim(name: str, label: str, argument: Any, rank: int) -> tuple[int, ...]:
    """An option given for all dims at once, or one for each."""
    values = tuple(argument) if isinstance(argument, list | tuple) else (argument,)
    if len(values) not in (1, rank):
        raise RuntimeError(f"{name}: {label} must be one int or {rank} ints, not {list(values)}")
    return values * rank if len(values) == 1 else values


def check_input(
    name: str, input: Traced, rank: int, accepted: Callable[[Any], bool], batched: bool = True
) -> None:
    """RuntimeError for a wrong number of dims, NotImplementedError for a wrong dtype."""
    if input.ndim not in (rank + 1, rank + 2):
        raise RuntimeError(
            f"{name}: Expected {rank + 1}D or {rank + 2}D (batch mode) tensor for input, but got "
            f"{list(input.shape)}"
        )
    if any(size == 0 for size in input.shape[input.ndim - rank - 1 :]):
        raise RuntimeError(
            f"{name}: input must be {rank + 1}D, or {rank + 2}D with a batch, and only the "
            f"batch may be empty, but its shape is {list(input.shape)}"
        )
    if not accepted(input.dtype):
        raise NotImplementedError(
            f"\"{name}\" not implemented for '{scalar_type_name(input.dtype)}'; convert the input"
        )


def sliding(
    name: str,
    input: Traced,
    rank: int,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
) -> list[Windows]:
    """The windows along each of the last dims."""
    kernel = each_dim(name, "kernel_size", kernel_size, rank)
    given = stride is not None and not (isinstance(stride, list | tuple) and not stride)
    steps = each_dim(name, "stride", stride, rank) if given else kernel
    padding = each_dim(name, "padding", padding, rank)
    spacing = each_dim(name, "dilation", dilation, rank)
    sizes = input.shape[input.ndim - rank :]
    result = [
        _sliding(name, *each, ceil_mode)
        for each in zip(sizes, kernel, steps, padding, spacing, strict=True)
    ]
    if any(windows.length < 1 for windows in result):
        lengths = "x".join(str(windows.length) for windows in result)
        raise RuntimeError(
            f"{name}: Given input size: {list(input.shape)}. Calculated output size: ({lengths}). "
            "Output size is too small"
        )
    return result


def _sliding(
    name: str, size: Any, taps: int, step: int, padding: int, spacing: int, ceil_mode: bool
) -> Windows:
    if taps < 1 or step < 1 or spacing < 1:
        raise RuntimeError(
            f"{name}: kernel_size, stride and dilation must be greater than zero (stride should "
            f"not be zero), but got {taps}, {step} and {spacing}"
        )
    if padding < 0:
        raise RuntimeError(f"{name}: pad must be non-negative, but got pad: {padding}")
    if padding > ((taps - 1) * spacing + 1) // 2:
        raise RuntimeError(
            f"{name}: pad should be at most half of the kernel's span, but padding={padding}, "
            f"kernel_size={taps} and dilation={spacing}"
        )
    room = size + 2 * padding - spacing * (taps - 1) - 1
    length = (room + (step - 1 if ceil_mode else 0)) // step + 1
    if ceil_mode and (length - 1) * step >= size + padding:
        length = length - 1  # the last window begins in x or in the padding before it
    return Windows(size, length, taps, step, spacing, padding)


def adaptive(name: str, input: Traced, rank: int, output_size: Any) -> list[Any]:
    """The windows along each of the last dims; None keeps a dim as it is."""
    if input.ndim < rank + 1:
        raise ValueError(f"Input dimension should be at least {rank + 1} (in {name})")
    check_input(name, input, rank, is_floating)
    lengths = tuple(output_size) if isinstance(output_size, list | tuple) else (output_size,)
    if len(lengths) not in (1, rank):
        raise RuntimeError(f"{name}: output_size must be {rank} ints, not {list(lengths)}")
    lengths = lengths * rank if len(lengths) == 1 else lengths
    sizes = input.shape[input.ndim - rank :]
    result: list[Any] = []
    for size, wanted in zip(sizes, lengths, strict=True):
        length = size if wanted is None else wanted
        if length < 0:
            raise RuntimeError(f"{name}: output_size must not be negative, but is {list(lengths)}")
        if length != 0 and size % length == 0:
            result.append(Windows(size, length, size // length, size // length, 1, 0))
        else:
            result.append(AdaptiveWindows(size, length))
    return result


def has_order(dtype: Any) -> bool:
    return not dtype.is_complex and dtype is not dtypes.bool


def is_floating(dtype: Any) -> bool:
    return dtype.is_floating_point
