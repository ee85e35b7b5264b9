"""Pooling by means and by other norms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..graph.trace import Traced
from ..layout import numel
from . import build
from .pooling_windows import Windows, adaptive, along, check_input, sliding
from .record import Dim, Selector, Tensor, composite, op
from .samples import Draw, calls


def _sums(x: Traced, windows: Sequence[Any]) -> Traced:
    """The sum of each window over the last dims."""
    rank = len(windows)
    lead = x.ndim - rank
    for d, each in enumerate(windows):
        x = each.of(x, lead + 2 * d, 0)
    taps = tuple(range(lead + 1, x.ndim, 2))
    return build.drop_dims(build.reduce_sum(x, taps), taps)


def _counts(windows: Sequence[Any], with_padding: bool, dtype: Any) -> Traced:
    """How many elements count in each window, of shape [*lengths]."""
    rank = len(windows)
    total: Any = 1
    for d, each in enumerate(windows):
        total = total * along(each.counts(with_padding), rank, d)
    return build.convert(total, dtype)


def _overhangs(each: Windows, with_padding: bool) -> bool:
    """Whether some window has fewer elements that count than others."""
    if each.before and not with_padding:
        return True
    return (each.length - 1) * each.step + each.taps > each.size + 2 * each.before


def _average(input: Traced, windows: Sequence[Any], with_padding: bool, divisor: Any) -> Traced:
    x = build.widened(input)
    total = _sums(x, windows)
    uneven = divisor is None and any(
        not isinstance(each, Windows) or _overhangs(each, with_padding) for each in windows
    )
    if uneven:
        divisor = _counts(windows, with_padding, x.dtype)
    elif divisor is None:
        divisor = numel(tuple(each.taps for each in windows))
    if input.dtype.is_integral:
        return build.convert(op.div(total, divisor, rounding_mode="trunc"), input.dtype)
    return build.convert(total / divisor, input.dtype)


def _accepted(dtype: Any) -> bool:
    return dtype.is_floating_point or dtype is dtypes.int64


def _averaged(rank: int) -> Any:
    name = f"avg_pool{rank}d"

    def pool(
        input: Tensor,
        kernel_size: Dim,
        stride: Dim = None,
        padding: Dim = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ):
        check_input(name, input, rank, _accepted)
        if divisor_override == 0:
            raise RuntimeError(f"divisor must be not zero (in {name})")
        windows = sliding(name, input, rank, kernel_size, stride, padding, 1, ceil_mode)
        return _average(input, windows, count_include_pad, divisor_override)

    def pool_line(
        input: Tensor,
        kernel_size: Dim,
        stride: Dim = None,
        padding: Dim = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ):
        return pool(input, kernel_size, stride, padding, ceil_mode, count_include_pad)

    function = pool_line if rank == 1 else pool
    function.__doc__ = f"""The mean of each window over the last {rank} dims.

    Args:
        input: ``[batch, channels, *sizes]``, or without the batch.
        kernel_size: of the windows.
        stride: between windows; None is kernel_size.
        padding: how many zeros are added at both ends of each dim.
        ceil_mode: whether a last window may reach beyond the end.
        count_include_pad: whether the mean counts these zeros.
        divisor_override: what the sum is divided by instead of the number of elements.
    """
    sizes = (5, 6, 4)[:rank]
    samples = calls(
        (Draw((2, 3, *sizes)), 2),
        (Draw((3, *sizes)), 3, 2, 1),
        ((Draw((1, 2, *sizes)), 3, 2, 1), {"count_include_pad": False, "ceil_mode": True}),
        ((Draw((1, 2, *sizes)), 2, 3), {"ceil_mode": True}),
    )
    names = [f"nn.functional.{name}", *([name] * (rank == 1))]
    return composite(
        name=name,
        names=names,
        methods=[],
        samples=lambda dtype: samples(dtype) if dtype is not dtypes.float16 else iter(()),
        onnx="AveragePool",
        channels_as=["input"] if rank == 2 else [],
        out="same dtype" if rank > 1 else False,
    )(function)


avg_pool1d = _averaged(1)
avg_pool2d = _averaged(2)
avg_pool3d = _averaged(3)


def adaptive_averaged(rank: int, input: Traced, output_size: Any) -> Traced:
    """The mean of each of output_size windows over the last dims."""
    windows = adaptive(f"adaptive_avg_pool{rank}d", input, rank, output_size)
    if any(each.length == 0 for each in windows):
        shape = (*input.shape[: input.ndim - rank], *(each.length for each in windows))
        return build.full(shape, 0, input.dtype)
    return _average(input, windows, True, None)


def _adaptive_averaged(rank: int) -> Any:
    name = f"adaptive_avg_pool{rank}d"

    def pool(input: Tensor, output_size: Selector):
        return adaptive_averaged(rank, input, output_size)

    pool.__doc__ = f"The mean of each of output_size windows over the last {rank} dims."
    sizes, odd = (4, 6, 2)[:rank], (5, 7, 3)[:rank]
    return composite(
        name=name,
        names=[f"nn.functional.{name}", *([name] * (rank == 1))],
        methods=[],
        channels_as=["input"] if rank == 2 else [],
        samples=calls((Draw((2, 3, *sizes)), 2), (Draw((3, *odd)), 2), (Draw((1, 2, *odd)), 3)),
    )(pool)


adaptive_avg_pool1d = _adaptive_averaged(1)
adaptive_avg_pool2d = _adaptive_averaged(2)
adaptive_avg_pool3d = _adaptive_averaged(3)


def _norm_pooled(rank: int) -> Any:
    name = f"lp_pool{rank}d"

    def pool(
        input: Tensor,
        norm_type: Selector,
        kernel_size: Dim,
        stride: Dim = None,
        ceil_mode: bool = False,
    ):
        check_input(name, input, rank, lambda dtype: not dtype.is_complex)
        windows = sliding(name, input, rank, kernel_size, stride, 0, 1, ceil_mode)
        taps = numel(tuple(each.taps for each in windows))
        mean = _average(input**norm_type, windows, True, None)
        total = op.sign(mean) * op.relu(op.abs(mean)) * taps
        return total ** (1.0 / norm_type)

    pool.__doc__ = (
        f"""(sum of x ** norm_type) ** (1 / norm_type) of each window over the last {rank} dims."""
    )
    sizes = (5, 6, 4)[:rank]
    return composite(
        name=name,
        names=[f"nn.functional.{name}"],
        methods=[],
        channels_as=["input"] if rank == 2 else [],
        samples=lambda dtype: (
            iter(
                [
                    ((Draw((2, 3, *sizes)), 2, 2), {}),
                    ((Draw((3, *sizes), 0.1, 4), 3.0, 2, 1), {"ceil_mode": True}),
                ]
            )
            if dtype.itemsize > 2 and dtype.is_floating_point
            else iter(())
        ),
    )(pool)


lp_pool1d = _norm_pooled(1)
lp_pool2d = _norm_pooled(2)
lp_pool3d = _norm_pooled(3)
