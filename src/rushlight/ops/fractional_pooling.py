"""Max pooling over windows at pseudo-random places (Graham, arXiv:1412.6071)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..graph.trace import Traced
from ..layout import numel
from ..promotion import scalar_type_name
from . import build
from .indexing import gather_primitive
from .parts import concrete_size
from .pooling_windows import each_dim
from .record import Dim, Selector, Tensor, composite, op
from .samples import Draw, only


def _lengths(
    name: str, input: Traced, rank: int, taps: Sequence[int], output_size: Any, output_ratio: Any
) -> tuple[Any, ...]:
    """The number of windows along each of the last dims."""
    sizes = input.shape[input.ndim - rank :]
    if output_size is not None:
        lengths = each_dim(name, "output_size", output_size, rank)
    elif output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    else:
        ratios = output_ratio if isinstance(output_ratio, list | tuple) else (output_ratio,) * rank
        if len(ratios) != rank:
            raise ValueError(
                f"{name} requires output_ratio to either be a single number or {rank} of them, not "
                f"{list(ratios)}"
            )
        lengths = tuple(
            int(concrete_size(size, name) * ratio)
            for size, ratio in zip(sizes, ratios, strict=True)
        )
    for size, count, length in zip(sizes, taps, lengths, strict=True):
        if length < 1 or count < 1:
            raise RuntimeError(
                f"{name}(): sizes of windows and results are positive, but got {list(taps)} and "
                f"{list(lengths)}"
            )
        if count + length - 1 > (size if rank == 2 else size - 1):  # as PyTorch asks
            raise RuntimeError(
                f"{name}(): pool size {count} too large relative to input size {size} for "
                f"{length} windows"
            )
    return lengths


def _check_input(name: str, input: Traced, rank: int) -> None:
    if input.ndim not in (rank + 1, rank + 2):
        raise IndexError(
            f"{name}(): Expected {rank + 1}D or {rank + 2}D tensor, but got shape "
            f"{list(input.shape)}; dimension out of range"
        )
    if any(size == 0 for size in input.shape[input.ndim - rank - 1 :]):
        raise RuntimeError(
            f"{name}(): only the batch of input may be empty, but its shape is {list(input.shape)}"
        )
    if not input.dtype.is_floating_point:
        raise NotImplementedError(
            f"\"{name}\" not implemented for '{scalar_type_name(input.dtype)}'"
        )


def _check_samples(name: str, samples: Traced, input: Traced, rank: int) -> None:
    if samples.dtype is not input.dtype:
        raise RuntimeError(
            f"{name}: Expect _random_samples to have the same dtype as input, {input.dtype}, not "
            f"{samples.dtype}"
        )
    if samples.ndim != 3:
        raise RuntimeError(
            f"{name}: Expect _random_samples to have 3 dimensions, got {samples.ndim}"
        )
    batch = 1 if input.ndim == rank + 1 else input.shape[0]
    channels = input.shape[input.ndim - rank - 1]
    if samples.shape[0] < batch or samples.shape[1] != channels or samples.shape[2] != rank:
        raise RuntimeError(
            f"{name}: Expect _random_samples of shape [{batch}, {channels}, {rank}] (input batch "
            f"size and channel size), but it is {list(samples.shape)}"
        )


def _starts(sample: Traced, size: Any, length: Any, taps: int) -> Traced:
    """Where windows begin, in a new last dim: steps of whole numbers whose mean is ``alpha``."""
    last = size - taps
    wide = build.widened(sample)
    if length == 1:
        return build.convert(wide * 0, build.INT64) + last
    alpha = last / (length - 1)
    place = build.convert(build.iota(length), wide.dtype)
    start = build.convert((place + wide) * alpha, build.INT64)
    start = start - build.convert(wide * alpha, build.INT64)
    return build.select_where(build.iota(length) == length - 1, last, start, build.INT64)


def _fractional(rank: int) -> tuple[Any, Any]:
    name = f"fractional_max_pool{rank}d"

    def with_indices(
        input: Tensor,
        kernel_size: Dim,
        output_size: Dim = None,
        output_ratio: Selector = None,
        return_indices: bool = False,
        _random_samples=None,
    ):
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        _check_input(name, input, rank)
        taps = each_dim(name, "kernel_size", kernel_size, rank)
        lengths = _lengths(name, input, rank, taps, output_size, output_ratio)
        lead = tuple(input.shape[: input.ndim - rank])
        sizes = tuple(input.shape[input.ndim - rank :])
        batch = 1 if len(lead) == 1 else lead[0]
        samples = _random_samples
        if samples is None:
            samples = op.rand((batch, lead[-1], rank), dtype=input.dtype)
        _check_samples(name, samples, input, rank)
        samples = build.slice_(samples, 0, 0, 1, batch)
        number: Any = 0
        for d in range(rank):
            which = d if rank == 3 else rank - 1 - d
            sample = build.slice_(samples, 2, which, 1, 1)
            start = _starts(sample, sizes[d], lengths[d], taps[d])
            shape = [lengths[d] if each == d else 1 for each in range(rank)]
            start = build.reshape(start, (*lead, *shape, *[1] * rank))
            tap = [taps[d] if each == d else 1 for each in range(rank)]
            number = number * sizes[d] + (start + build.reshape(build.iota(taps[d]), tap))
        number = build.reshape(number, (*lead, numel(lengths), numel(taps)))
        flat = build.reshape(input, (*lead, numel(sizes)))
        everywhere = build.reshape(number, (*lead, numel(lengths) * numel(taps)))
        shown = gather_primitive.apply(op.detach(flat), everywhere, dim=len(lead))
        best = op.argmax(build.reshape(shown, number.shape), -1, True)
        index = build.drop_dims(op.gather(number, len(lead) + 1, best), (len(lead) + 1,))
        values = gather_primitive.apply(flat, index, dim=len(lead))
        return build.reshape(values, (*lead, *lengths)), build.reshape(index, (*lead, *lengths))

    def either(
        input: Tensor,
        kernel_size: Dim,
        output_size: Dim = None,
        output_ratio: Selector = None,
        return_indices: bool = False,
        _random_samples=None,
    ):
        result = pair.trace(
            input, kernel_size, output_size, output_ratio, return_indices, _random_samples
        )
        return result if return_indices else result[0]

    text = f"The largest element of each of output_size windows over the last {rank} dims"
    with_indices.__doc__ = f"{text}, and its number in these dims."
    either.__doc__ = f"""{text}, which lie at pseudo-random places.

    Args:
        input: ``[batch, channels, *sizes]``, or without the batch.
        kernel_size: of the windows.
        output_size: how many windows lie along each dim.
        output_ratio: if that is None, how many as a share of the input's size.
        return_indices: whether the elements' numbers in these dims are returned too.
        _random_samples: numbers in [0, 1) that decide the places: ``[batch, channels, {rank}]``.
    """
    sizes, uniform = (5, 7, 6)[:rank], Draw((2, 3, rank), 0, 1)
    ratio = (0.6,) * rank
    samples = only(
        lambda dtype: dtype.is_floating_point and dtype.itemsize > 2,
        lambda dtype: iter(
            [
                ((Draw((2, 3, *sizes)), 2, 3), {"_random_samples": uniform}),
                ((Draw((2, 3, *sizes)), 2), {"output_ratio": ratio, "_random_samples": uniform}),
            ]
        ),
    )
    pair = composite(
        name=f"{name}_with_indices",
        names=[f"nn.functional.{name}_with_indices"],
        methods=[],
        random=True,
        samples=samples,
    )(with_indices)
    return pair, composite(
        name=name, names=[f"nn.functional.{name}"], methods=[], random=True, samples=samples
    )(either)


fractional_max_pool2d_with_indices, fractional_max_pool2d = _fractional(2)
fractional_max_pool3d_with_indices, fractional_max_pool3d = _fractional(3)
