"""Convolutions with other orders of dims or arguments."""

from __future__ import annotations

from . import build
from .convolution import conv1d
from .record import Dim, Tensor, composite, op
from .samples import Draw, calls, is_precise, only


@composite(
    names=["conv_tbc", "nn.functional.conv_tbc"],
    methods=[],
    samples=only(
        is_precise,
        calls(
            (Draw((5, 2, 3)), Draw((3, 3, 4)), Draw((4,)), 1),
            (Draw((5, 2, 3)), Draw((2, 3, 4)), Draw((4,))),
        ),
    ),
)
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0):
    """``conv1d`` of ``[time, batch, channels]`` with ``weight [taps, in, out]``."""
    if input.ndim != 3:
        raise RuntimeError(
            f"conv_tbc: Input must have 3 dims: time, batch, in_channel, not {input.ndim}"
        )
    if weight.ndim != 3:
        raise RuntimeError(
            "conv_tbc: Weight tensor must have 3 dims: kernel_width, in_channels, out_channels, "
            f"not {weight.ndim}"
        )
    if bias.ndim != 1:
        raise RuntimeError(f"conv_tbc: Bias must be 1-D, not {bias.ndim}-D")
    if input.shape[2] != weight.shape[1]:
        raise RuntimeError(
            f"conv_tbc: Input dim 2 (input channels), {input.shape[2]}, is not == dim 1 in the "
            f"weight tensor, {weight.shape[1]}"
        )
    if bias.shape[0] != weight.shape[2]:
        raise RuntimeError(
            f"conv_tbc: bias must have {weight.shape[2]} elements, one per output channel of "
            f"weight, not {bias.shape[0]}"
        )
    lines, taps = build.permute(input, (1, 2, 0)), build.permute(weight, (2, 1, 0))
    return build.permute(conv1d(lines, taps, bias, padding=pad), (2, 0, 1))


@composite(
    name="general_convolution",
    names=["convolution"],
    methods=[],
    channels_as=["input", "weight"],
    samples=only(
        is_precise,
        calls(
            (Draw((1, 2, 5)), Draw((3, 2, 2)), None, (1,), (0,), (1,), False, (0,), 1),
            (Draw((1, 2, 5)), Draw((2, 3, 2)), Draw((3,)), (2,), (0,), (1,), True, (1,), 1),
        ),
    ),
)
def general_convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Dim,
    padding: Dim,
    dilation: Dim,
    transposed: bool,
    output_padding: Dim,
    groups: int,
):
    """``conv1d``, ``conv2d`` or ``conv3d``, or ``conv_transpose`` of that many dims."""
    rank = weight.ndim - 2
    if rank not in (1, 2, 3):
        raise RuntimeError(
            f"convolution: expected weight with 3 to 5 dims, but got {weight.ndim} dims"
        )
    if transposed:
        function = getattr(op, f"nn.functional.conv_transpose{rank}d")
        options: tuple = (stride, padding, output_padding, groups, dilation)
    else:
        function = getattr(op, f"nn.functional.conv{rank}d")
        options = (stride, padding, dilation, groups)
    return function(input, weight, bias, *options)
