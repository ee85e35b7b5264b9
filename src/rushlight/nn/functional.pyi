"""Operators under nn.functional.

Written by ``python -m rushlight.tools.stubs``; do not edit.
"""

# ruff: noqa

from builtins import bool as _bool, float as _float, int as _int
from collections.abc import Sequence
from typing import Any

from .._core import Generator as _Generator, Tensor as Tensor, _Number
from ..device import device as _device
from ..dtypes import dtype as _dtype
from ..formats import layout as _layout, memory_format as _memory_format

def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """The mean of each of output_size windows over the last 1 dims."""

def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """The mean of each of output_size windows over the last 2 dims."""

def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """The mean of each of output_size windows over the last 3 dims."""

def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: _bool = False) -> Tensor:
    """The largest element of each of output_size windows over the last 1 dims; with return_indices also its number in these dims."""

def adaptive_max_pool1d_with_indices(
    input: Tensor,
    output_size: Any,
    return_indices: _bool = False,
) -> tuple[Tensor, ...]:
    """The largest element of each of output_size windows over the last 1 dims, and its number in these dims."""

def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: _bool = False) -> Tensor:
    """The largest element of each of output_size windows over the last 2 dims; with return_indices also its number in these dims."""

def adaptive_max_pool2d_with_indices(
    input: Tensor,
    output_size: Any,
    return_indices: _bool = False,
) -> tuple[Tensor, ...]:
    """The largest element of each of output_size windows over the last 2 dims, and its number in these dims."""

def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: _bool = False) -> Tensor:
    """The largest element of each of output_size windows over the last 3 dims; with return_indices also its number in these dims."""

def adaptive_max_pool3d_with_indices(
    input: Tensor,
    output_size: Any,
    return_indices: _bool = False,
) -> tuple[Tensor, ...]:
    """The largest element of each of output_size windows over the last 3 dims, and its number in these dims."""

def affine_grid(theta: Tensor, size: _int | Sequence[_int], align_corners: Any = None) -> Tensor:
    """A grid for grid_sample: the places of an image of ``size`` under affine maps theta
    ``[batch, 2, 3]`` (or ``[batch, 3, 4]`` for volumes).
    """

def alpha_dropout(
    input: Tensor | _Number,
    p: Tensor | _Number = 0.5,
    training: _bool = False,
    inplace: _bool = False,
) -> Tensor:
    """Dropout that keeps mean and variance of selu's results."""

def avg_pool1d(
    input: Tensor,
    kernel_size: _int | Sequence[_int] | None,
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] | None = 0,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
) -> Tensor:
    """The mean of each window over the last 1 dims.

    Args:
        input: ``[batch, channels, *sizes]``, or without the batch.
        kernel_size: of the windows.
        stride: between windows; None is kernel_size.
        padding: how many zeros are added at both ends of each dim.
        ceil_mode: whether a last window may reach beyond the end.
        count_include_pad: whether the mean counts these zeros.
        divisor_override: what the sum is divided by instead of the number of elements.
    """

def avg_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int] | None,
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] | None = 0,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
    divisor_override: _int | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The mean of each window over the last 2 dims.

    Args:
        input: ``[batch, channels, *sizes]``, or without the batch.
        kernel_size: of the windows.
        stride: between windows; None is kernel_size.
        padding: how many zeros are added at both ends of each dim.
        ceil_mode: whether a last window may reach beyond the end.
        count_include_pad: whether the mean counts these zeros.
        divisor_override: what the sum is divided by instead of the number of elements.
    """

def avg_pool3d(
    input: Tensor,
    kernel_size: _int | Sequence[_int] | None,
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] | None = 0,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
    divisor_override: _int | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The mean of each window over the last 3 dims.

    Args:
        input: ``[batch, channels, *sizes]``, or without the batch.
        kernel_size: of the windows.
        stride: between windows; None is kernel_size.
        padding: how many zeros are added at both ends of each dim.
        ceil_mode: whether a last window may reach beyond the end.
        count_include_pad: whether the mean counts these zeros.
        divisor_override: what the sum is divided by instead of the number of elements.
    """

def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: _bool = False,
    momentum: Tensor | _Number = 0.1,
    eps: Tensor | _Number = 1e-05,
) -> Tensor:
    """Shift and scale each channel to mean 0 and variance 1, then apply weight and bias.

    Training takes mean and variance of the batch and moves the running ones towards them by
    momentum; evaluation takes the running ones (Ioffe and Szegedy 2015, algorithms 1 and 2).
    """

def bilinear(
    input1: Tensor,
    input2: Tensor,
    weight: Tensor,
    bias: Tensor | _Number | None = None,
) -> Tensor:
    """input1 @ weight @ input2 + bias for each matrix in weight.

    Args:
        input1: ``[*, in1]``.
        input2: ``[*, in2]``, with the same leading sizes.
        weight: ``[out, in1, in2]``.
        bias: ``[out]`` or None.

    Returns:
        ``[*, out]``.
    """

def binary_cross_entropy(
    input: Tensor | _Number,
    target: Tensor | _Number,
    weight: Tensor | _Number | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """The negative log-likelihood of targets from 0 to 1 under probabilities."""

def binary_cross_entropy_with_logits(
    input: Tensor | _Number,
    target: Tensor | _Number,
    weight: Tensor | _Number | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
    pos_weight: Tensor | _Number | None = None,
) -> Tensor:
    """The negative log-likelihood of targets from 0 to 1 under sigmoid(input); pos_weight weighs
    the positive part.
    """

def celu(input: Tensor, alpha: Tensor | _Number = 1.0, inplace: _bool = False) -> Tensor:
    """The input where it is positive, else alpha * (exp(input / alpha) - 1)."""

def celu_(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """`celu` in place."""

def channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """Channels dealt out over the groups in turn (Zhang et al. 2018)."""

def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] | None = 1,
    padding: Any = 0,
    dilation: _int | Sequence[_int] | None = 1,
    groups: _int = 1,
) -> Tensor:
    """Slide weight over the last 1 dims of input, adding up products.

    Args:
        input: ``[batch, in, *sizes]``, or without the batch.
        weight: ``[out, in / groups, *kernel]``.
        bias: ``[out]``.
        stride, dilation: how far apart windows, and the elements in one, are.
        padding: zeros at both ends of each dim; "same" keeps the sizes, "valid" adds none.
        groups: the channels are split into so many parts, each with its part of the weight.

    Returns:
        ``[batch, out, *lengths]`` with lengths ``(size + 2 * padding - dilation * (kernel - 1) - 1)
        // stride + 1``.

    Raises:
        RuntimeError: sizes or dtypes do not fit.
    """

def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] | None = 1,
    padding: Any = 0,
    dilation: _int | Sequence[_int] | None = 1,
    groups: _int = 1,
) -> Tensor:
    """Slide weight over the last 2 dims of input, adding up products.

    Args:
        input: ``[batch, in, *sizes]``, or without the batch.
        weight: ``[out, in / groups, *kernel]``.
        bias: ``[out]``.
        stride, dilation: how far apart windows, and the elements in one, are.
        padding: zeros at both ends of each dim; "same" keeps the sizes, "valid" adds none.
        groups: the channels are split into so many parts, each with its part of the weight.

    Returns:
        ``[batch, out, *lengths]`` with lengths ``(size + 2 * padding - dilation * (kernel - 1) - 1)
        // stride + 1``.

    Raises:
        RuntimeError: sizes or dtypes do not fit.
    """

def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] | None = 1,
    padding: Any = 0,
    dilation: _int | Sequence[_int] | None = 1,
    groups: _int = 1,
) -> Tensor:
    """Slide weight over the last 3 dims of input, adding up products.

    Args:
        input: ``[batch, in, *sizes]``, or without the batch.
        weight: ``[out, in / groups, *kernel]``.
        bias: ``[out]``.
        stride, dilation: how far apart windows, and the elements in one, are.
        padding: zeros at both ends of each dim; "same" keeps the sizes, "valid" adds none.
        groups: the channels are split into so many parts, each with its part of the weight.

    Returns:
        ``[batch, out, *lengths]`` with lengths ``(size + 2 * padding - dilation * (kernel - 1) - 1)
        // stride + 1``.

    Raises:
        RuntimeError: sizes or dtypes do not fit.
    """

def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: _int = 0) -> Tensor:
    """``conv1d`` of ``[time, batch, channels]`` with ``weight [taps, in, out]``."""

def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] | None = 1,
    padding: _int | Sequence[_int] | None = 0,
    output_padding: _int | Sequence[_int] | None = 0,
    groups: _int = 1,
    dilation: _int | Sequence[_int] | None = 1,
) -> Tensor:
    """The gradient of conv1d with respect to its input.

    Args:
        input: ``[batch, in, *sizes]``, or without the batch.
        weight: ``[in, out / groups, *kernel]``.
        bias: ``[out]``.
        stride, dilation, groups: of the convolution of which this is the gradient.
        padding: how much is cut off at both ends of each dim.
        output_padding: zeros at the end of each dim.

    Returns:
        ``[batch, out, *lengths]`` with lengths ``(size - 1) * stride - 2 * padding + dilation *
        (kernel - 1) + output_padding + 1``.

    Raises:
        RuntimeError: sizes or dtypes do not fit.
    """

def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] | None = 1,
    padding: _int | Sequence[_int] | None = 0,
    output_padding: _int | Sequence[_int] | None = 0,
    groups: _int = 1,
    dilation: _int | Sequence[_int] | None = 1,
) -> Tensor:
    """The gradient of conv2d with respect to its input.

    Args:
        input: ``[batch, in, *sizes]``, or without the batch.
        weight: ``[in, out / groups, *kernel]``.
        bias: ``[out]``.
        stride, dilation, groups: of the convolution of which this is the gradient.
        padding: how much is cut off at both ends of each dim.
        output_padding: zeros at the end of each dim.

    Returns:
        ``[batch, out, *lengths]`` with lengths ``(size - 1) * stride - 2 * padding + dilation *
        (kernel - 1) + output_padding + 1``.

    Raises:
        RuntimeError: sizes or dtypes do not fit.
    """

def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] | None = 1,
    padding: _int | Sequence[_int] | None = 0,
    output_padding: _int | Sequence[_int] | None = 0,
    groups: _int = 1,
    dilation: _int | Sequence[_int] | None = 1,
) -> Tensor:
    """The gradient of conv3d with respect to its input.

    Args:
        input: ``[batch, in, *sizes]``, or without the batch.
        weight: ``[in, out / groups, *kernel]``.
        bias: ``[out]``.
        stride, dilation, groups: of the convolution of which this is the gradient.
        padding: how much is cut off at both ends of each dim.
        output_padding: zeros at the end of each dim.

    Returns:
        ``[batch, out, *lengths]`` with lengths ``(size - 1) * stride - 2 * padding + dilation *
        (kernel - 1) + output_padding + 1``.

    Raises:
        RuntimeError: sizes or dtypes do not fit.
    """

def cosine_embedding_loss(
    input1: Tensor | _Number,
    input2: Tensor | _Number,
    target: Tensor | _Number,
    margin: Tensor | _Number = 0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """1 - cos(input1, input2) where the target is 1; max(cos - margin, 0) where it is -1."""

def cosine_similarity(
    x1: Tensor | _Number,
    x2: Tensor | _Number,
    dim: _int = 1,
    eps: Tensor | _Number = 1e-08,
) -> Tensor:
    """The cosine of the angle between vectors along dim; eps is the least length."""

def cross_entropy(
    input: Tensor | _Number,
    target: Tensor | _Number,
    weight: Tensor | _Number | None = None,
    size_average: _bool | None = None,
    ignore_index: _int = -100,
    reduce: _bool | None = None,
    reduction: str = 'mean',
    label_smoothing: Tensor | _Number = 0.0,
) -> Tensor:
    """The negative log-likelihood of targets (classes or probabilities) under softmax(input)."""

def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | _Number | Sequence[_Number] | Sequence[Tensor],
    target_lengths: Tensor | _Number | Sequence[_Number] | Sequence[Tensor],
    blank: _int = 0,
    reduction: str = 'mean',
    zero_infinity: _bool = False,
) -> Tensor:
    """Minus the log-probability of targets under all ways to align them to a longer sequence.

    As in PyTorch, the gradient is that by the logits from which log_softmax made log_probs, so it
    is right for log-probabilities that are normalised.

    Args:
        log_probs: ``[time, batch, classes]`` or ``[time, classes]``.
        targets: classes: ``[batch, most]``, or all targets one after the other.
        input_lengths: how many times count, for each element of the batch.
        target_lengths: the lengths of the targets.
        blank: the class that stands for no label.
        reduction: "none", "sum", or "mean" of the losses, each divided by its target's length.
        zero_infinity: whether infinite losses, where a target is too long, and their gradients
            count as zero.

    Returns:
        ``[batch]`` or a scalar.
    """

def dropout(
    input: Tensor | _Number,
    p: Tensor | _Number = 0.5,
    training: _bool = True,
    inplace: _bool = False,
) -> Tensor:
    """Set elements to zero with probability p and scale the others by 1 / (1 - p)."""

def dropout1d(
    input: Tensor | _Number,
    p: Tensor | _Number = 0.5,
    training: _bool = True,
    inplace: _bool = False,
) -> Tensor:
    """Drop whole channels of 1 dims with probability p and scale the others."""

def dropout2d(
    input: Tensor | _Number,
    p: Tensor | _Number = 0.5,
    training: _bool = True,
    inplace: _bool = False,
) -> Tensor:
    """Drop whole channels of 2 dims with probability p and scale the others."""

def dropout3d(
    input: Tensor | _Number,
    p: Tensor | _Number = 0.5,
    training: _bool = True,
    inplace: _bool = False,
) -> Tensor:
    """Drop whole channels of 3 dims with probability p and scale the others."""

def elu(input: Tensor, alpha: Tensor | _Number = 1.0, inplace: _bool = False) -> Tensor:
    """The input where it is positive, else alpha * (exp(input) - 1)."""

def elu_(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """`elu` in place."""

def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: _int | None = None,
    max_norm: Any = None,
    norm_type: Any = 2.0,
    scale_grad_by_freq: _bool = False,
    sparse: _bool = False,
) -> Tensor:
    """The rows of weight that the integers in input number.

    padding_idx: a row that gets no gradient; max_norm: longer rows among these are first scaled
    down to it, in place; scale_grad_by_freq: gradients are divided by how often a row occurs.
    """

def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | _Number | None = None,
    max_norm: Any = None,
    norm_type: Any = 2,
    scale_grad_by_freq: _bool = False,
    mode: str = 'mean',
    sparse: _bool = False,
    per_sample_weights: Tensor | _Number | None = None,
    include_last_offset: _bool = False,
    padding_idx: _int | None = None,
) -> Tensor:
    """The sum, mean or maximum of the rows of weight that the indices of each bag number.

    Args:
        input: indices; the rows of a matrix are bags, or the parts of a vector that offsets tell.
        weight: ``[rows, size]``.
        offsets: where bags begin in a vector of indices.
        max_norm: longer rows among these are first scaled down to it, in place.
        norm_type: the p of that norm.
        scale_grad_by_freq: whether gradients are divided by how often a row occurs.
        mode: "sum", "mean" or "max"; an empty bag gives zeros.
        sparse: not supported in backward passes.
        per_sample_weights: a factor for each index, where rows are summed.
        include_last_offset: whether the last offset is the end of the last bag.
        padding_idx: a row that does not count and gets no gradient.

    Returns:
        ``[bags, size]``.
    """

def feature_alpha_dropout(
    input: Tensor | _Number,
    p: Tensor | _Number = 0.5,
    training: _bool = False,
    inplace: _bool = False,
) -> Tensor:
    """alpha_dropout of whole channels."""

def fold(
    input: Tensor,
    output_size: _int | Sequence[_int] | None,
    kernel_size: _int | Sequence[_int] | None,
    dilation: _int | Sequence[_int] | None = 1,
    padding: _int | Sequence[_int] | None = 0,
    stride: _int | Sequence[_int] | None = 1,
) -> Tensor:
    """Columns added up where unfold takes them from: its transpose."""

def fractional_max_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int] | None,
    output_size: _int | Sequence[_int] | None = None,
    output_ratio: Any = None,
    return_indices: _bool = False,
    _random_samples: Tensor | _Number | None = None,
) -> Tensor:
    """The largest element of each of output_size windows over the last 2 dims, which lie at pseudo-random places.

    Args:
        input: ``[batch, channels, *sizes]``, or without the batch.
        kernel_size: of the windows.
        output_size: how many windows lie along each dim.
        output_ratio: if that is None, how many as a share of the input's size.
        return_indices: whether the elements' numbers in these dims are returned too.
        _random_samples: numbers in [0, 1) that decide the places: ``[batch, channels, 2]``.
    """

def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int] | None,
    output_size: _int | Sequence[_int] | None = None,
    output_ratio: Any = None,
    return_indices: _bool = False,
    _random_samples: Tensor | _Number | None = None,
) -> tuple[Tensor, ...]:
    """The largest element of each of output_size windows over the last 2 dims, and its number in these dims."""

def fractional_max_pool3d(
    input: Tensor,
    kernel_size: _int | Sequence[_int] | None,
    output_size: _int | Sequence[_int] | None = None,
    output_ratio: Any = None,
    return_indices: _bool = False,
    _random_samples: Tensor | _Number | None = None,
) -> Tensor:
    """The largest element of each of output_size windows over the last 3 dims, which lie at pseudo-random places.

    Args:
        input: ``[batch, channels, *sizes]``, or without the batch.
        kernel_size: of the windows.
        output_size: how many windows lie along each dim.
        output_ratio: if that is None, how many as a share of the input's size.
        return_indices: whether the elements' numbers in these dims are returned too.
        _random_samples: numbers in [0, 1) that decide the places: ``[batch, channels, 3]``.
    """

def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int] | None,
    output_size: _int | Sequence[_int] | None = None,
    output_ratio: Any = None,
    return_indices: _bool = False,
    _random_samples: Tensor | _Number | None = None,
) -> tuple[Tensor, ...]:
    """The largest element of each of output_size windows over the last 3 dims, and its number in these dims."""

def gaussian_nll_loss(
    input: Tensor | _Number,
    target: Tensor | _Number,
    var: Tensor | _Number,
    full: _bool = False,
    eps: Tensor | _Number = 1e-06,
    reduction: str = 'mean',
) -> Tensor:
    """The negative log-likelihood of targets under normal distributions of means ``input`` and
    variances var (at least eps); ``full`` adds the constant term.
    """

def gelu(input: Tensor, approximate: str = 'none', *, out: Any = None) -> Tensor:
    """input times the normal distribution's cumulative probability of it."""

def glu(input: Tensor, dim: _int = -1, *, out: Any = None) -> Tensor:
    """The first half along dim times sigmoid of the second (Dauphin et al. 2017)."""

def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = 'bilinear',
    padding_mode: str = 'zeros',
    align_corners: Any = None,
) -> Tensor:
    """The image at places given as (x, y) or (x, y, z) from -1 to 1 (Jaderberg et al. 2015).

    Args:
        input: ``[batch, channels, (depth,) height, width]``.
        grid: ``[batch, *out, 2 or 3]``.
        mode: "bilinear", "nearest" or "bicubic".
        padding_mode: what lies outside: "zeros", the "border"'s pixels, or a "reflection".
        align_corners: whether -1 and 1 are the centres of the corner pixels, not their edges.

    Returns:
        ``[batch, channels, *out]``.
    """

def group_norm(
    input: Tensor,
    num_groups: _int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: Tensor | _Number = 1e-05,
) -> Tensor:
    """Shift and scale each group of channels of each example to mean 0 and variance 1, then apply
    weight and bias.
    """

def gumbel_softmax(
    logits: Tensor,
    tau: Tensor | _Number = 1,
    hard: _bool = False,
    eps: Tensor | _Number = 1e-10,
    dim: _int = -1,
) -> Tensor:
    """A sample of the Gumbel-softmax distribution (Jang et al. 2017); hard: one-hot, with the
    gradient of the soft sample.
    """

def hardshrink(input: Tensor, lambd: Tensor | _Number = 0.5, *, out: Any = None) -> Tensor:
    """The input where it is beyond lambd from zero, else 0."""

def hardsigmoid(input: Tensor, inplace: _bool = False) -> Tensor:
    """input / 6 + 1/2, but at least 0 and at most 1."""

def hardswish(input: Tensor, inplace: _bool = False) -> Tensor:
    """0 up to -3, the input from 3 on, input * (input + 3) / 6 between them."""

def hardtanh(
    input: Tensor,
    min_val: Any = -1.0,
    max_val: Any = 1.0,
    inplace: _bool = False,
) -> Tensor:
    """The input, but at least min_val and at most max_val; at these the gradient is zero."""

def hardtanh_(input: Tensor, min_val: _float = -1.0, max_val: _float = 1.0) -> Tensor:
    """`hardtanh` in place."""

def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: Tensor | _Number = 1.0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """The input where the target is 1; max(margin - input, 0) where it is -1."""

def huber_loss(
    input: Tensor | _Number,
    target: Tensor | _Number,
    reduction: str = 'mean',
    delta: Tensor | _Number = 1.0,
    weight: Tensor | _Number | None = None,
) -> Tensor:
    """Half the square of the difference; beyond delta delta times the distance, less delta / 2."""

def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: _bool = True,
    momentum: Tensor | _Number = 0.1,
    eps: Tensor | _Number = 1e-05,
) -> Tensor:
    """Shift and scale each channel of each example to mean 0 and variance 1, then apply weight and
    bias (Ulyanov et al. 2016). Without use_input_stats the running statistics are taken.
    """

def interpolate(
    input: Tensor,
    size: _int | Sequence[_int] | None = None,
    scale_factor: Any = None,
    mode: str = 'nearest',
    align_corners: Any = None,
    recompute_scale_factor: Any = None,
    antialias: _bool = False,
) -> Tensor:
    """Resize ``[batch, channels, *sizes]`` to ``size``, or by ``scale_factor``.

    Args:
        mode: "nearest", "nearest-exact", "linear" (one dim), "bilinear" (two), "trilinear" (three),
            "bicubic" (two) or "area" (means of parts).
        align_corners: whether the centres of the corner pixels stay in place, rather than the
            corners of these pixels.
        recompute_scale_factor: whether places are computed from the sizes, not from scale_factor.
        antialias: whether the filter widens when the image shrinks.
    """

def kl_div(
    input: Tensor | _Number,
    target: Tensor | _Number,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str | _int = 'mean',
    log_target: _bool = False,
) -> Tensor:
    """The Kullback-Leibler divergence of targets (probabilities, or their logarithms) from
    log-probabilities; "batchmean" divides the sum by the batch's size.
    """

def l1_loss(
    input: Tensor | _Number,
    target: Tensor | _Number,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
    weight: Tensor | _Number | None = None,
) -> Tensor:
    """The absolute difference."""

def layer_norm(
    input: Tensor | _Number,
    normalized_shape: _int | Sequence[_int],
    weight: Tensor | _Number | None = None,
    bias: Tensor | _Number | None = None,
    eps: Tensor | _Number = 1e-05,
    cudnn_enable: _bool = True,
) -> Tensor:
    """Shift and scale to mean 0 and variance 1 over the last dims, then apply weight and bias."""

def leaky_relu(
    input: Tensor,
    negative_slope: Tensor | _Number = 0.01,
    inplace: _bool = False,
) -> Tensor:
    """The input where it is positive, else negative_slope times it."""

def leaky_relu_(input: Tensor, negative_slope: _float = 0.01) -> Tensor:
    """`leaky_relu` in place."""

def linear(
    input: Tensor | _Number,
    weight: Tensor | _Number,
    bias: Tensor | _Number | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """input @ weight.T + bias"""

def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | _Number | None = None,
    weight: Tensor | _Number | None = None,
    reduction: str = 'mean',
    ignore_index: _int | None = None,
    label_smoothing: Tensor | _Number = 0.0,
    options: Any = None,
) -> Tensor:
    """``cross_entropy(linear(input, linear_weight, linear_bias), target)``.

    Args:
        input: ``[batch, in]`` or ``[in]``.
        linear_weight: ``[classes, *out, in]``.
        target: classes ``[batch, *out]`` or probabilities ``[batch, classes, *out]``.
        linear_bias: ``[classes, *out]`` or None.
        weight: a weight for each class.
        reduction: "none", "mean" or "sum".
        ignore_index: a class that does not count; None: -100.
        label_smoothing: the share of the target that all classes have in common.
        options: how PyTorch divides the work; no effect here.
    """

def local_response_norm(
    input: Tensor,
    size: _int,
    alpha: Tensor | _Number = 0.0001,
    beta: Tensor | _Number = 0.75,
    k: Tensor | _Number = 1.0,
) -> Tensor:
    """input / (k + alpha * mean of the squares of ``size`` neighbouring channels) ** beta
    (Krizhevsky et al. 2012, section 3.3).
    """

def log_softmax(
    input: Tensor,
    dim: _int | None = None,
    _stacklevel: _int = 3,
    dtype: _dtype | None = None,
) -> Tensor:
    """The logarithm of softmax."""

def logsigmoid(input: Tensor, *, out: Any = None) -> Tensor:
    """log(sigmoid(input)), without overflow."""

def lp_pool1d(
    input: Tensor,
    norm_type: Any,
    kernel_size: _int | Sequence[_int] | None,
    stride: _int | Sequence[_int] | None = None,
    ceil_mode: _bool = False,
) -> Tensor:
    """(sum of x ** norm_type) ** (1 / norm_type) of each window over the last 1 dims."""

def lp_pool2d(
    input: Tensor,
    norm_type: Any,
    kernel_size: _int | Sequence[_int] | None,
    stride: _int | Sequence[_int] | None = None,
    ceil_mode: _bool = False,
) -> Tensor:
    """(sum of x ** norm_type) ** (1 / norm_type) of each window over the last 2 dims."""

def lp_pool3d(
    input: Tensor,
    norm_type: Any,
    kernel_size: _int | Sequence[_int] | None,
    stride: _int | Sequence[_int] | None = None,
    ceil_mode: _bool = False,
) -> Tensor:
    """(sum of x ** norm_type) ** (1 / norm_type) of each window over the last 3 dims."""

def margin_ranking_loss(
    input1: Tensor | _Number,
    input2: Tensor | _Number,
    target: Tensor | _Number,
    margin: Tensor | _Number = 0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """margin - target * (input1 - input2), but at least 0: the target 1 wants input1 greater."""

def max_pool1d(
    input: Tensor,
    kernel_size: _int | Sequence[_int] | None,
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] | None = 0,
    dilation: _int | Sequence[_int] | None = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> Tensor:
    """The largest element of each window over the last 1 dims; with return_indices also its number in these dims.

    Args:
        input: ``[batch, channels, *sizes]``, or without the batch.
        kernel_size: of the windows.
        stride: between windows; None is kernel_size.
        padding: how many elements, less than all others, are added at both ends of each dim.
        dilation: between the elements of a window.
        ceil_mode: whether a last window may reach beyond the end.
    """

def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int] | None,
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] | None = 0,
    dilation: _int | Sequence[_int] | None = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> tuple[Tensor, ...]:
    """The largest element of each window over the last 1 dims, and its number in these dims."""

def max_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int] | None,
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] | None = 0,
    dilation: _int | Sequence[_int] | None = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> Tensor:
    """The largest element of each window over the last 2 dims; with return_indices also its number in these dims.

    Args:
        input: ``[batch, channels, *sizes]``, or without the batch.
        kernel_size: of the windows.
        stride: between windows; None is kernel_size.
        padding: how many elements, less than all others, are added at both ends of each dim.
        dilation: between the elements of a window.
        ceil_mode: whether a last window may reach beyond the end.
    """

def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int] | None,
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] | None = 0,
    dilation: _int | Sequence[_int] | None = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> tuple[Tensor, ...]:
    """The largest element of each window over the last 2 dims, and its number in these dims."""

def max_pool3d(
    input: Tensor,
    kernel_size: _int | Sequence[_int] | None,
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] | None = 0,
    dilation: _int | Sequence[_int] | None = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> Tensor:
    """The largest element of each window over the last 3 dims; with return_indices also its number in these dims.

    Args:
        input: ``[batch, channels, *sizes]``, or without the batch.
        kernel_size: of the windows.
        stride: between windows; None is kernel_size.
        padding: how many elements, less than all others, are added at both ends of each dim.
        dilation: between the elements of a window.
        ceil_mode: whether a last window may reach beyond the end.
    """

def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int] | None,
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] | None = 0,
    dilation: _int | Sequence[_int] | None = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> tuple[Tensor, ...]:
    """The largest element of each window over the last 3 dims, and its number in these dims."""

def max_unpool1d(
    input: Tensor,
    indices: Any,
    kernel_size: _int | Sequence[_int] | None,
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] | None = 0,
    output_size: _int | None = None,
) -> Tensor:
    """The inverse of max_pool1d where it has one: zeros but for the elements
    of input, which go to the places that ``indices`` number.

    output_size tells which of the sizes that max pooling maps to input's is meant.
    """

def max_unpool2d(
    input: Tensor,
    indices: Any,
    kernel_size: _int | Sequence[_int] | None,
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] | None = 0,
    output_size: _int | None = None,
) -> Tensor:
    """The inverse of max_pool2d where it has one: zeros but for the elements
    of input, which go to the places that ``indices`` number.

    output_size tells which of the sizes that max pooling maps to input's is meant.
    """

def max_unpool3d(
    input: Tensor,
    indices: Any,
    kernel_size: _int | Sequence[_int] | None,
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] | None = 0,
    output_size: _int | None = None,
) -> Tensor:
    """The inverse of max_pool3d where it has one: zeros but for the elements
    of input, which go to the places that ``indices`` number.

    output_size tells which of the sizes that max pooling maps to input's is meant.
    """

def mish(input: Tensor, inplace: _bool = False) -> Tensor:
    """input * tanh(log(1 + exp(input)))"""

def mse_loss(
    input: Tensor | _Number,
    target: Tensor | _Number,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
    weight: Tensor | _Number | None = None,
) -> Tensor:
    """The squared difference."""

def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: _int,
    num_heads: _int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: _bool,
    dropout_p: Tensor | _Number,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: _bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: _bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: _bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: _bool = True,
    is_causal: _bool = False,
) -> Tensor:
    """Project query, key and value, attend with ``num_heads`` heads, project the result (Vaswani et
    al. 2017, section 3.2.2).

    Sequences are ``[length, batch, features]`` or ``[length, features]``. Bool masks are true where
    a key is left out. Returns the result and the weights (None unless need_weights).
    """

def multi_margin_loss(
    input: Tensor | _Number,
    target: Tensor | _Number,
    p: _int = 1,
    margin: Tensor | _Number = 1.0,
    weight: Tensor | _Number | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """The sum over the other classes of max(margin - input[target] + input, 0) ** p, over the
    number of classes.
    """

def multilabel_margin_loss(
    input: Tensor | _Number,
    target: Tensor | _Number,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """The sum over targets (classes, up to the first -1) and over other classes of
    max(1 - input[target] + input, 0), over the number of classes.
    """

def multilabel_soft_margin_loss(
    input: Tensor | _Number,
    target: Tensor | _Number,
    weight: Tensor | _Number | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """The mean over classes of the negative log-likelihood of each being a target or not."""

def native_channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """Channels dealt out over the groups in turn (Zhang et al. 2018)."""

def nll_loss(
    input: Tensor | _Number,
    target: Tensor | _Number,
    weight: Tensor | _Number | None = None,
    size_average: _bool | None = None,
    ignore_index: _int = -100,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """Minus the log-probability of the target class."""

def normalize(
    input: Tensor,
    p: Any = 2.0,
    dim: _int | Sequence[_int] | None = 1,
    eps: Tensor | _Number = 1e-12,
    *,
    out: Any = None,
) -> Tensor:
    """The input divided by its norm of order p over dim, or by eps if the norm is less."""

def one_hot(input: Tensor, num_classes: _int = -1) -> Tensor:
    """Each class as a vector with a 1 in its place; num_classes -1: one more than the greatest."""

def pad(
    input: Tensor,
    pad: Any,
    mode: str = 'constant',
    value: Tensor | _Number | None = None,
) -> Tensor:
    """Add elements at both ends of dims.

    Args:
        pad: (before, after) of the last dim, then of the one before it, and so on; negative numbers
            cut elements off.
        mode: "constant" adds value (0 if it is None), "reflect" mirrors without repeating the edge,
            "replicate" repeats the edge, "circular" continues at the other end.
    """

def pairwise_distance(
    x1: Tensor | _Number,
    x2: Tensor | _Number,
    p: Any = 2.0,
    eps: Tensor | _Number = 1e-06,
    keepdim: _bool = False,
) -> Tensor:
    """The norm of order p of the differences along the last dim; eps is added to them."""

def pdist(input: Tensor, p: Any = 2.0) -> Tensor:
    """The distances between all pairs of rows, one after another."""

def pixel_shuffle(input: Tensor, upscale_factor: _int) -> Tensor:
    """Groups of r * r channels as blocks of r by r pixels (Shi et al. 2016)."""

def pixel_unshuffle(input: Tensor, downscale_factor: _int) -> Tensor:
    """Blocks of r by r pixels as groups of r * r channels: the inverse of pixel_shuffle."""

def poisson_nll_loss(
    input: Tensor | _Number,
    target: Tensor | _Number,
    log_input: _bool = True,
    full: _bool = False,
    size_average: _bool | None = None,
    eps: Tensor | _Number = 1e-08,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """The negative log-likelihood of counts under Poisson rates (or their logarithms); ``full``
    adds Stirling's approximation of the targets' factorials.
    """

def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """The input where it is positive, else weight (one for all, or for each channel) times it."""

def relu(input: Tensor, inplace: _bool = False) -> Tensor:
    """The input where it is positive, else 0."""

def relu6(input: Tensor, inplace: _bool = False) -> Tensor:
    """The input, but at least 0 and at most 6."""

def relu_(input: Tensor) -> Tensor:
    """`relu` in place."""

def rms_norm(
    input: Tensor | _Number,
    normalized_shape: _int | Sequence[_int],
    weight: Tensor | _Number | None = None,
    eps: Tensor | _Number | None = None,
) -> Tensor:
    """Scale by the root of the mean square over the last dims."""

def rrelu(
    input: Tensor,
    lower: Any = 0.125,
    upper: Any = 0.3333333333333333,
    training: _bool = False,
    inplace: _bool = False,
) -> Tensor:
    """The input where it is positive, else a slope times it: one drawn for each element between
    lower and upper while training, and their mean otherwise (Xu et al. 2015).
    """

def rrelu_(
    input: Tensor,
    lower: _float = 0.125,
    upper: _float = 0.3333333333333333,
    training: _bool = False,
) -> Tensor:
    """`rrelu` in place."""

def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: Tensor | _Number = 0.0,
    is_causal: _bool = False,
    scale: Tensor | _Number | None = None,
    enable_gqa: _bool = False,
) -> Tensor:
    """softmax(query @ key^T * scale + attn_mask) @ value (Vaswani et al. 2017, section 3.2.1).

    A bool mask is true where a key takes part; is_causal lets row i attend to keys up to i.
    enable_gqa: groups of query heads share one head of key and value. scale: None is one over the
    square root of the last size.
    """

def selu(input: Tensor, inplace: _bool = False) -> Tensor:
    """elu, scaled so that layers keep mean 0 and variance 1."""

def selu_(input: Tensor) -> Tensor:
    """`selu` in place."""

def sigmoid(input: Tensor, *, out: Any = None) -> Tensor:
    """1 / (1 + exp(-input))"""

def silu(input: Tensor, inplace: _bool = False) -> Tensor:
    """input * sigmoid(input)"""

def smooth_l1_loss(
    input: Tensor | _Number,
    target: Tensor | _Number,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
    beta: Tensor | _Number = 1.0,
) -> Tensor:
    """The absolute difference, less beta / 2; below beta half the square over beta."""

def soft_margin_loss(
    input: Tensor | _Number,
    target: Tensor | _Number,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """log(1 + exp(-target * input))"""

def softmax(
    input: Tensor,
    dim: _int | None = None,
    _stacklevel: _int = 3,
    dtype: _dtype | None = None,
) -> Tensor:
    """Scale exp(input) to sum to one along dim."""

def softmin(
    input: Tensor,
    dim: _int | None = None,
    _stacklevel: _int = 3,
    dtype: _dtype | None = None,
) -> Tensor:
    """softmax of -input."""

def softplus(
    input: Tensor,
    beta: Tensor | _Number = 1,
    threshold: Tensor | _Number = 20,
    *,
    out: Any = None,
) -> Tensor:
    """log(1 + exp(beta * input)) / beta; the input itself where beta * input > threshold."""

def softshrink(input: Tensor, lambd: Tensor | _Number = 0.5, *, out: Any = None) -> Tensor:
    """The input moved towards zero by lambd, and 0 where it would pass it."""

def softsign(input: Tensor) -> Tensor:
    """input / (1 + |input|)"""

def tanh(input: Tensor, *, out: Any = None) -> Tensor:
    """The hyperbolic tangent."""

def tanhshrink(input: Tensor) -> Tensor:
    """input - tanh(input)"""

def threshold(
    input: Tensor,
    threshold: Tensor | _Number,
    value: Tensor | _Number,
    inplace: _bool = False,
) -> Tensor:
    """The input where it is greater than the threshold, else value."""

def threshold_(input: Tensor, threshold: _float, value: _float) -> Tensor:
    """`threshold` in place."""

def triplet_margin_loss(
    anchor: Tensor | _Number,
    positive: Tensor | _Number,
    negative: Tensor | _Number,
    margin: Tensor | _Number = 1.0,
    p: Any = 2,
    eps: Tensor | _Number = 1e-06,
    swap: _bool = False,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """margin + distance(anchor, positive) - distance(anchor, negative), but at least 0. swap: the
    distance of positive and negative counts if it is less than that of anchor and negative.
    """

def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Any[[Tensor, Tensor], Tensor] | None = None,
    margin: _float = 1.0,
    swap: _bool = False,
    reduction: str = 'mean',
) -> Tensor:
    """`triplet_margin_loss` with any distance: at least 0, and else
    ``distance(anchor, positive) - distance(anchor, negative) + margin``.

    Args:
        anchor, positive, negative: batches of vectors, or single ones.
        distance_function: gives the distances of two batches; None: `pairwise_distance`.
        margin: see there.
        swap: whether the negative's distance to the positive counts if it is smaller.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Raises:
        ValueError: for an unknown reduction, or a margin that is not positive.
        RuntimeError: for tensors of different ranks.

    Example:
        >>> a, p, n = rushlight.zeros(1, 2), rushlight.zeros(1, 2), rushlight.ones(1, 2)
        >>> loss = triplet_margin_with_distance_loss
        >>> loss(a, p, n, distance_function=lambda x, y: (x - y).abs().sum(-1), margin=3.0)
        tensor(1.)
    """

def unfold(
    input: Tensor,
    kernel_size: _int | Sequence[_int] | None,
    dilation: _int | Sequence[_int] | None = 1,
    padding: _int | Sequence[_int] | None = 0,
    stride: _int | Sequence[_int] | None = 1,
) -> Tensor:
    """Each block of an image as a column: ``[batch, channels, h, w]`` gives ``[batch, channels *
    kernel elements, blocks]``.
    """

def upsample(
    input: Tensor,
    size: _int | Sequence[_int] | None = None,
    scale_factor: Any = None,
    mode: str = 'nearest',
    align_corners: Any = None,
) -> Tensor:
    """interpolate, under its older name."""

def upsample_bilinear(
    input: Tensor,
    size: _int | Sequence[_int] | None = None,
    scale_factor: Any = None,
) -> Tensor:
    """interpolate with mode "bilinear" and aligned corners."""

def upsample_nearest(
    input: Tensor,
    size: _int | Sequence[_int] | None = None,
    scale_factor: Any = None,
) -> Tensor:
    """interpolate with mode "nearest"."""
