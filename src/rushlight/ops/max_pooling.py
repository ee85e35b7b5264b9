"""Max pooling: the largest element of each window, where it lies, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..graph.trace import Traced
from ..layout import numel
from ..limits import iinfo
from . import build
from .indexing import gather_at, scatter_add_primitive, scatter_primitive
from .pooling_windows import (
    adaptive,
    check_input,
    each_dim,
    has_order,
    is_floating,
    sliding,
)
from .record import Dim, Selector, Size, Tensor, composite, op
from .samples import Draw, calls


def _lowest(dtype: Any) -> Any:
    return iinfo(dtype).min if dtype.is_integral else -float("inf")


def _largest(x: Traced, windows: Sequence[Any]) -> tuple[Traced, Traced]:
    """The largest element of each window over the last dims, and its number in x's last dims.

    One dim after the other, from the last: of equal elements the first in row-major order.
    """
    rank, lowest = len(windows), _lowest(x.dtype)
    number: Any = None
    below: Any = 1
    for d in reversed(range(rank)):
        dim = x.ndim - rank + d
        shown = windows[d].of(x, dim, lowest)
        tap = op.argmax(shown, dim + 1)
        x = op.amax(shown, dim + 1)
        place = windows[d].position(tap, dim)
        own = place * below
        number = own if number is None else own + gather_at(number, place, dim)
        below = below * windows[d].size
    return x, number


def _flat(x: Traced, rank: int) -> Traced:
    """The last dims as one."""
    first = x.ndim - rank
    return build.reshape(x, (*x.shape[:first], numel(x.shape[first:])))


def _scattered(g: Traced, indices: Traced, sizes: Sequence[Any]) -> Traced:
    """g added at ``indices`` into zeros whose last dims have these sizes."""
    rank = len(sizes)
    lead = tuple(g.shape[: g.ndim - rank])
    zeros = build.full((*lead, numel(tuple(sizes))), 0, g.dtype)
    flat = scatter_add_primitive.apply(zeros, _flat(indices, rank), _flat(g, rank), dim=len(lead))
    return build.reshape(flat, (*lead, *sizes))


def _max_derivative(rank: int) -> Any:
    def derivative(g: Any, out: Any, input: Any, *options: Any) -> Any:
        sizes = tuple(input.shape[input.ndim - rank :])
        return None if g[0] is None else _scattered(g[0], out[1], sizes)

    return derivative


# ---------------------------------------------------------------- sliding windows


def _pooled(rank: int) -> tuple[Any, Any, Any]:
    name = f"max_pool{rank}d"

    def with_indices(
        input: Tensor,
        kernel_size: Dim,
        stride: Dim = None,
        padding: Dim = 0,
        dilation: Dim = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ):
        check_input(name, input, rank, has_order)
        windows = sliding(name, input, rank, kernel_size, stride, padding, dilation, ceil_mode)
        return _largest(input, windows)

    def values(
        input: Tensor,
        kernel_size: Dim,
        stride: Dim = None,
        padding: Dim = 0,
        dilation: Dim = 1,
        ceil_mode: bool = False,
    ):
        if rank == 1:
            check_input(name, input, rank, is_floating)
        return pair(input, kernel_size, stride, padding, dilation, ceil_mode)[0]

    def either(
        input: Tensor,
        kernel_size: Dim,
        stride: Dim = None,
        padding: Dim = 0,
        dilation: Dim = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ):
        options = (kernel_size, stride, padding, dilation, ceil_mode)
        return pair(input, *options) if return_indices else plain.trace(input, *options)

    text = f"The largest element of each window over the last {rank} dims"
    with_indices.__doc__ = f"{text}, and its number in these dims."
    values.__doc__ = f"{text}."
    either.__doc__ = f"""{text}; with return_indices also its number in these dims.

    Args:
        input: ``[batch, channels, *sizes]``, or without the batch.
        kernel_size: of the windows.
        stride: between windows; None is kernel_size.
        padding: how many elements, less than all others, are added at both ends of each dim.
        dilation: between the elements of a window.
        ceil_mode: whether a last window may reach beyond the end.
    """
    sizes = (5, 6, 4)[:rank]
    samples = calls(
        (Draw((2, 3, *sizes)), 2),
        (Draw((3, *sizes)), 3, 2, 1),
        ((Draw((1, 2, *sizes)), 2, 3), {"ceil_mode": True, "padding": 1}),
        ((Draw((1, 2, *sizes)), 2, 1), {"dilation": 2}),
    )
    pair = composite(
        name=f"{name}_with_indices",
        names=[f"nn.functional.{name}_with_indices", *([f"{name}_with_indices"] * (rank == 1))],
        methods=[],
        derivative=_max_derivative(rank),
        channels_as=["input"],
        samples=samples,
    )(with_indices)
    plain = composite(
        name=name,
        names=[name],
        methods=[],
        channels_as=["input"],
        samples=samples,
        onnx="MaxPool",
    )(values)
    functional = composite(
        name=f"functional_{name}",
        names=[f"nn.functional.{name}"],
        methods=[],
        channels_as=["input"],
        samples=samples,
    )(either)
    return pair, plain, functional


max_pool1d_with_indices, max_pool1d, functional_max_pool1d = _pooled(1)
max_pool2d_with_indices, max_pool2d, functional_max_pool2d = _pooled(2)
max_pool3d_with_indices, max_pool3d, functional_max_pool3d = _pooled(3)


# ---------------------------------------------------------------- a given number of windows


def _adaptive_pooled(rank: int) -> Any:
    name = f"adaptive_max_pool{rank}d"

    def with_indices(input: Tensor, output_size: Selector, return_indices: bool = False):
        windows = adaptive(name, input, rank, output_size)
        if any(each.length == 0 for each in windows):
            shape = (*input.shape[: input.ndim - rank], *(each.length for each in windows))
            return build.full(shape, 0, input.dtype), build.full(shape, 0, dtypes.int64)
        return _largest(input, windows)

    def either(input: Tensor, output_size: Selector, return_indices: bool = False):
        result = pair(input, output_size)
        return result if return_indices else result[0]

    text = f"The largest element of each of output_size windows over the last {rank} dims"
    with_indices.__doc__ = f"{text}, and its number in these dims."
    either.__doc__ = f"{text}; with return_indices also its number in these dims."
    sizes, odd = (4, 6, 2)[:rank], (5, 7, 3)[:rank]
    samples = calls((Draw((2, 3, *sizes)), 2), (Draw((3, *odd)), 2), (Draw((1, 2, *odd)), 3))
    pair = composite(
        name=f"{name}_with_indices",
        names=[f"nn.functional.{name}_with_indices", *([name] * (rank == 1))],
        methods=[],
        derivative=_max_derivative(rank),
        channels_as=["input"] if rank == 2 else [],
        samples=samples,
    )(with_indices)
    return pair, composite(
        name=f"functional_{name}",
        names=[f"nn.functional.{name}"],
        methods=[],
        channels_as=["input"] if rank == 2 else [],
        samples=samples,
    )(either)


_, adaptive_max_pool1d = _adaptive_pooled(1)
_, adaptive_max_pool2d = _adaptive_pooled(2)
_, adaptive_max_pool3d = _adaptive_pooled(3)


# ---------------------------------------------------------------- back


def _unpooled(rank: int) -> Any:
    name = f"max_unpool{rank}d"

    def unpool(
        input: Tensor,
        indices: Tensor,
        kernel_size: Dim,
        stride: Dim = None,
        padding: Dim = 0,
        output_size: Size = None,
    ):
        if indices.dtype is not dtypes.int64:
            raise RuntimeError(f"{name}: indices must be int64, not {indices.dtype}")
        if indices.ndim != input.ndim or tuple(indices.shape) != tuple(input.shape):
            raise RuntimeError(
                f"{name}: indices must have the shape of input, {list(input.shape)}, not "
                f"{list(indices.shape)}"
            )
        if input.ndim not in (rank + 1, rank + 2):
            raise RuntimeError(
                f"Input to {name} should be a {rank + 1}d or {rank + 2}d Tensor, but got shape "
                f"{list(input.shape)}"
            )
        kernel = each_dim(name, "kernel_size", kernel_size, rank)
        steps = each_dim(name, "stride", stride, rank) if stride is not None else kernel
        around = each_dim(name, "padding", padding, rank)
        sizes = _unpooled_sizes(name, input, kernel, steps, around, output_size)
        lead = tuple(input.shape[: input.ndim - rank])
        zeros = build.full((*lead, numel(sizes)), 0, input.dtype)
        flat = scatter_primitive.apply(
            zeros, _flat(indices, rank), _flat(input, rank), dim=len(lead)
        )
        return build.reshape(flat, (*lead, *sizes))

    unpool.__doc__ = f"""The inverse of max_pool{rank}d where it has one: zeros but for the elements
    of input, which go to the places that ``indices`` number.

    output_size tells which of the sizes that max pooling maps to input's is meant.
    """
    return composite(name=name, names=[f"nn.functional.{name}"], methods=[], channels_as=["input"])(
        unpool
    )


def _unpooled_sizes(
    name: str, input: Traced, kernel: Any, steps: Any, around: Any, output_size: Any
) -> tuple[Any, ...]:
    rank = len(kernel)
    usual = tuple(
        (size - 1) * step + taps - 2 * pad
        for size, step, taps, pad in zip(
            input.shape[input.ndim - rank :], steps, kernel, around, strict=True
        )
    )
    if output_size is None:
        return usual
    wanted = tuple(output_size)
    wanted = wanted[len(wanted) - rank :] if len(wanted) == rank + 2 else wanted
    if len(wanted) != rank:
        raise ValueError(
            f"output_size should be a sequence containing {rank} or {rank + 2} elements, but it "
            f"has a length of '{len(wanted)}' (in {name})"
        )
    for d, (size, least, step) in enumerate(zip(wanted, usual, steps, strict=True)):
        if not least - step < size < least + step:
            raise ValueError(
                f'invalid output_size "{wanted}" (dim {d} must be between {least - step} and '
                f"{least + step}, in {name})"
            )
    return wanted


max_unpool1d = _unpooled(1)
max_unpool2d = _unpooled(2)
max_unpool3d = _unpooled(3)
