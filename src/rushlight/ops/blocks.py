"""Blocks of images as columns and back, and channels exchanged for pixels."""

from __future__ import annotations

from typing import Any

from ..graph.trace import Traced
from ..layout import numel
from ..promotion import scalar_type_name
from . import build
from .record import Dim, Tensor, composite
from .samples import Draw, calls
from .windows import overlap_add_primitive, window_count


def _pair(name: str, label: str, argument: Any, least: int) -> tuple[int, int]:
    values = tuple(argument) if isinstance(argument, list | tuple) else (argument,)
    values = values * 2 if len(values) == 1 else values
    if len(values) != 2:
        raise RuntimeError(
            f"It is expected {label} equals to 2, but got size {len(values)} ({name})"
        )
    if min(values) < least:
        kind = "greater than zero" if least else "non-negative"
        raise RuntimeError(f"{name}: {label} should be {kind}, but got {list(values)}")
    return values


def _options(
    name: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> tuple[tuple[int, int], ...]:
    return (
        _pair(name, "kernel_size", kernel_size, 1),
        _pair(name, "dilation", dilation, 1),
        _pair(name, "padding", padding, 0),
        _pair(name, "stride", stride, 1),
    )


def _lengths(sizes: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> tuple[Any, ...]:
    return tuple(
        window_count(size + 2 * around, taps, step, spacing)
        for size, taps, spacing, around, step in zip(
            sizes, kernel, dilation, padding, stride, strict=True
        )
    )


def _numbers(samples: Any) -> Any:
    return lambda dtype: samples(dtype) if not dtype.is_integral else iter(())


@composite(
    name="functional_unfold",
    names=["nn.functional.unfold"],
    methods=[],
    samples=_numbers(
        calls(
            (Draw((2, 3, 5, 4)), 2),
            (Draw((3, 5, 4)), (3, 2), 1, 1, 2),
            (Draw((1, 2, 5, 6)), 2, 2, (1, 0), (1, 3)),
        )
    ),
)
def functional_unfold(
    input: Tensor, kernel_size: Dim, dilation: Dim = 1, padding: Dim = 0, stride: Dim = 1
):
    """Each block of an image as a column: ``[batch, channels, h, w]`` gives ``[batch, channels *
    kernel elements, blocks]``.
    """
    options = _options("unfold", kernel_size, dilation, padding, stride)
    if input.ndim not in (3, 4):
        raise IndexError(
            "Dimension out of range: unfold expects 3D or 4D (batch mode) input with possibly 0 "
            f"batch size, but got: {list(input.shape)}"
        )
    if input.dtype.is_integral and input.dtype.name != "bool":
        raise NotImplementedError(
            f"\"im2col_out_cpu\" not implemented for '{scalar_type_name(input.dtype)}'"
        )
    x = input if input.ndim == 4 else build.insert_dim(input, 0)
    kernel, dilation, padding, stride = options
    lengths = _lengths(x.shape[2:], *options)
    if any(size == 0 for size in x.shape[1:]) or any(length < 1 for length in lengths):
        raise RuntimeError(
            f"unfold: no block fits into input of shape {list(input.shape)}: "
            f"kernel_size={kernel}, dilation={dilation} and padding={padding} leave {lengths} "
            "blocks; pad more or take a smaller kernel"
        )
    x = _columns(x, options, lengths)
    return x if input.ndim == 4 else build.drop_dims(x, (0,))


def _columns(input: Traced, options: Any, lengths: Any) -> Traced:
    kernel, dilation, padding, stride = options
    x = input
    for d in range(2):
        if padding[d]:
            x = build.pad(x, 2 + d, padding[d], x.shape[2 + d] + 2 * padding[d])
    x = build.window(x, 2, lengths[0], stride[0], kernel[0], dilation[0])
    x = build.window(x, 4, lengths[1], stride[1], kernel[1], dilation[1])
    x = build.permute(x, (0, 1, 3, 5, 2, 4))
    return build.reshape(
        x, (x.shape[0], x.shape[1] * kernel[0] * kernel[1], lengths[0] * lengths[1])
    )


@composite(
    names=["nn.functional.fold"],
    methods=[],
    samples=_numbers(
        calls(
            (Draw((2, 12, 12)), (5, 4), 2),
            (Draw((18, 9)), (5, 4), (3, 2), 1, 1, 2),
        )
    ),
)
def fold(
    input: Tensor,
    output_size: Dim,
    kernel_size: Dim,
    dilation: Dim = 1,
    padding: Dim = 0,
    stride: Dim = 1,
):
    """Columns added up where unfold takes them from: its transpose."""
    options = _options("fold", kernel_size, dilation, padding, stride)
    kernel, dilation, padding, stride = options
    sizes = _pair("fold", "output_size", output_size, 1)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            "fold: input must be 2D, or 3D with a batch, and only the batch may be empty, but "
            f"its shape is {list(input.shape)}"
        )
    if input.dtype.is_integral and input.dtype.name != "bool":
        raise NotImplementedError(
            f"\"col2im_out_cpu\" not implemented for '{scalar_type_name(input.dtype)}'"
        )
    x = input if input.ndim == 3 else build.insert_dim(input, 0)
    if x.shape[1] % (kernel[0] * kernel[1]) != 0:
        raise RuntimeError(
            f"fold: kernel_size={kernel} makes blocks of {kernel[0] * kernel[1]} elements, by "
            f"which dim 1 of input must be divisible, but its size is {x.shape[1]}"
        )
    lengths = _lengths(sizes, *options)
    if lengths[0] < 1 or lengths[1] < 1 or x.shape[2] != lengths[0] * lengths[1]:
        raise RuntimeError(
            f"fold: output_size={sizes} is covered by {lengths[0]} * {lengths[1]} blocks with "
            f"kernel_size={kernel}, dilation={dilation}, padding={padding} and "
            f"stride={stride}, but dim 2 of input has size {x.shape[2]}"
        )
    channels = x.shape[1] // (kernel[0] * kernel[1])
    x = build.reshape(x, (x.shape[0], channels, *kernel, *lengths))
    x = build.permute(x, (0, 1, 4, 2, 5, 3))
    for d in (1, 0):
        x = overlap_add_primitive.apply(
            x, dim=2 + 2 * d, size=sizes[d] + 2 * padding[d], step=stride[d], spacing=dilation[d]
        )
    for d in range(2):
        if padding[d]:
            x = build.slice_(x, 2 + d, padding[d], 1, sizes[d])
    return x if input.ndim == 3 else build.drop_dims(x, (0,))


# ---------------------------------------------------------------- channels and pixels


def _check_rank(name: str, input: Traced) -> None:
    if input.ndim < 3:
        raise RuntimeError(
            f"{name}: input must have at least 3 dimensions, (channels, height, width), not "
            f"{input.ndim}"
        )


@composite(
    names=["pixel_shuffle", "nn.functional.pixel_shuffle"],
    methods=[],
    channels_as=["input"],
    samples=calls((Draw((2, 8, 2, 3)), 2), (Draw((9, 1, 2)), 3), (Draw((0, 4, 2, 2)), 2)),
)
def pixel_shuffle(input: Tensor, upscale_factor: int):
    """Groups of r * r channels as blocks of r by r pixels (Shi et al. 2016)."""
    _check_rank("pixel_shuffle", input)
    r = upscale_factor
    if r < 1:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    *lead, channels, height, width = input.shape
    if channels % (r * r) != 0:
        raise RuntimeError(
            f"pixel_shuffle: upscale_factor squared is {r * r}, by which the number of "
            f"channels must be divisible, but it is {channels}"
        )
    x = build.reshape(input, (*lead, channels // (r * r), r, r, height, width))
    n = len(lead)
    x = build.permute(x, (*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return build.reshape(x, (*lead, channels // (r * r), height * r, width * r))


@composite(
    names=["pixel_unshuffle", "nn.functional.pixel_unshuffle"],
    methods=[],
    channels_as=["input"],
    samples=calls((Draw((2, 2, 4, 6)), 2), (Draw((1, 3, 6)), 3)),
)
def pixel_unshuffle(input: Tensor, downscale_factor: int):
    """Blocks of r by r pixels as groups of r * r channels: the inverse of pixel_shuffle."""
    _check_rank("pixel_unshuffle", input)
    r = downscale_factor
    if r < 1:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    *lead, channels, height, width = input.shape
    for label, size, dim in (("height", height, -2), ("width", width, -1)):
        if size % r != 0:
            raise RuntimeError(
                f"pixel_unshuffle expects {label} to be divisible by downscale_factor, but "
                f"input.size({dim})={size} is not divisible by {r}"
            )
    x = build.reshape(input, (*lead, channels, height // r, r, width // r, r))
    n = len(lead)
    x = build.permute(x, (*range(n), n, n + 2, n + 4, n + 1, n + 3))
    return build.reshape(x, (*lead, channels * r * r, height // r, width // r))


@composite(
    names=[
        "channel_shuffle",
        "nn.functional.channel_shuffle",
        "native_channel_shuffle",
        "nn.functional.native_channel_shuffle",
    ],
    methods=[],
    channels_as=["input"],
    samples=calls((Draw((2, 6, 2, 3)), 2), (Draw((1, 6, 2)), 3)),
)
def channel_shuffle(input: Tensor, groups: int):
    """Channels dealt out over the groups in turn (Zhang et al. 2018)."""
    if input.ndim <= 2:
        raise RuntimeError(
            "channel_shuffle: input must have more than 2 dimensions, (batch, channels, ...), "
            f"but its shape is {list(input.shape)}"
        )
    if groups < 1:
        raise RuntimeError(f"channel_shuffle: groups must be positive, not {groups}")
    batch, channels, *rest = input.shape
    if channels % groups != 0:
        raise RuntimeError(
            f"channel_shuffle: {channels} channels must be divisible by groups={groups}"
        )
    x = build.reshape(input, (batch, groups, channels // groups, numel(tuple(rest))))
    return build.reshape(build.permute(x, (0, 2, 1, 3)), input.shape)
