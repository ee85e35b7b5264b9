"""How convolutions are computed: as contractions that the core runs through BLAS, or as loops.

A contraction is ``out[g, m, columns...] = sum over inner... of a[g, m, inner...] * b[g, inner...,
columns...]``. Its operands are views: windows of the image, the weights, and the result. In a
transposed convolution the result is added up on windows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..dtypes import float32
from ..graph.node import Node, Value
from ..graph.trace import PRIMITIVES, Traced
from ..ops import build
from ..ops.windows import window_count
from .steps import GEMM_TYPES, is_one

Chain = tuple[tuple[Any, ...], ...]

# ---------------------------------------------------------------- contractions


def _window_chain(shape: Sequence[Any], groups: Any, lengths: Any, taps: Any, node: Node) -> Chain:
    """x as [batch, groups, in, length, taps, length, taps, ...]."""
    batch, channels, *sizes = shape
    chain: list[tuple[Any, ...]] = [("reshape", (batch, groups, channels // groups, *sizes))]
    attributes = node.attributes
    for d, (length, count) in enumerate(zip(lengths, taps, strict=True)):
        step, spacing = attributes["stride"][d], attributes["dilation"][d]
        chain.append(("window", 3 + 2 * d, length, step, count, spacing))
    return tuple(chain)


def _split(shape: Sequence[Any], dim: int, groups: Any) -> tuple[Any, ...]:
    return ("reshape", (*shape[:dim], groups, shape[dim] // groups, *shape[dim + 1 :]))


def contraction(node: Node) -> tuple[tuple[Value, Chain], tuple[Value, Chain], Chain, int]:
    """The two factors and the result of a convolution as views, and the number of inner dims."""
    first, second = node.inputs
    result, groups = node.outputs[0], node.attributes["groups"]
    rank = len(result.shape) - 2
    positions, taps = range(3, 3 + 2 * rank, 2), range(4, 4 + 2 * rank, 2)
    outward = (1, 2, 0, *range(3, 3 + rank))  # groups, channels, batch, positions
    if node.name == "convolution":
        windows = _window_chain(first.shape, groups, result.shape[2:], second.shape[2:], node)
        return (
            (second, (_split(second.shape, 0, groups),)),
            (first, (*windows, ("permute", (1, 2, *taps, 0, *positions)))),
            (_split(result.shape, 1, groups), ("permute", outward)),
            1 + rank,
        )
    assert node.name == "convolution_weight"
    windows = _window_chain(first.shape, groups, second.shape[2:], result.shape[2:], node)
    return (
        (second, (_split(second.shape, 1, groups), ("permute", outward))),
        (first, (*windows, ("permute", (1, 0, *positions, 2, *taps)))),
        (_split(result.shape, 0, groups),),
        1 + rank,
    )


def spread(node: Node) -> tuple[tuple[Value, Chain], tuple[Value, Chain], Chain, Chain]:
    """The two factors of a transposed convolution, its result, and the windows of that on which
    their products fall.
    """
    y, w = node.inputs
    result, groups = node.outputs[0], node.attributes["groups"]
    rank = len(result.shape) - 2
    positions, taps = range(3, 3 + 2 * rank, 2), range(4, 4 + 2 * rank, 2)
    outward = (1, 2, 0, *range(3, 3 + rank))  # groups, channels, batch, sizes
    windows = _window_chain(result.shape, groups, y.shape[2:], w.shape[2:], node)
    return (
        (w, (_split(w.shape, 0, groups), ("permute", (0, 2, *range(3, 3 + rank), 1)))),
        (y, (_split(y.shape, 1, groups), ("permute", outward))),
        (_split(result.shape, 1, groups), ("permute", outward)),
        (*windows, ("permute", (1, 2, *taps, 0, *positions))),
    )


# ---------------------------------------------------------------- legal forms


def replacement(node: Node) -> Callable[..., Traced] | None:
    """A function of the node's inputs that stands for it; None if it is a contraction."""
    dtype, options = node.outputs[0].dtype, node.attributes
    primitive = PRIMITIVES[node.name]
    if dtype.is_floating_point and dtype.name not in GEMM_TYPES:  # half precision
        return lambda *inputs: build.convert(
            primitive.apply(*(build.convert(x, float32) for x in inputs), **options), dtype
        )
    if dtype.name in GEMM_TYPES and has_channels(node):
        return None
    if node.name == "convolution_input":
        return partial(_spread, **options)
    return partial(_looped if node.name == "convolution" else _looped_weight, **options)


def has_channels(node: Node) -> bool:
    """Whether a group has several channels to sum over or to compute: worth a matrix product."""
    groups = node.attributes["groups"]
    if is_one(groups):
        return True
    first, second = node.inputs
    sizes = (
        first.shape[1] // groups,
        {
            "convolution": second.shape[0] // groups,
            "convolution_weight": second.shape[1] // groups,
            "convolution_input": second.shape[1],
        }[node.name],
    )
    return not any(map(is_one, sizes))


def _spread(
    y: Traced, w: Traced, stride: tuple, dilation: tuple, groups: Any, sizes: tuple
) -> Traced:
    """Transposed convolution: a convolution of y, spread out by stride, with w mirrored."""
    rank = len(stride)
    for d in range(rank):
        around = (w.shape[2 + d] - 1) * dilation[d]
        y = build.pad(y, 2 + d, around, sizes[d] + around, stride[d])
    mirrored = PRIMITIVES["flip"].apply(w, dims=tuple(range(2, 2 + rank)))
    channels, inputs = w.shape[0] // groups, w.shape[1]
    apart = build.reshape(mirrored, (groups, channels, *w.shape[1:]))
    turned = build.permute(apart, (0, 2, 1, *range(3, 3 + rank)))
    w = build.reshape(build.contiguous(turned), (groups * inputs, channels, *w.shape[2:]))
    return PRIMITIVES["convolution"].apply(
        y, w, stride=(1,) * rank, dilation=dilation, groups=groups
    )


def _windows(
    x: Traced, groups: Any, lengths: Any, taps: Any, stride: tuple, dilation: tuple
) -> Traced:
    """x as [batch, groups, 1, in, *lengths, *taps]."""
    batch, channels, *sizes = x.shape
    x = build.reshape(x, (batch, groups, 1, channels // groups, *sizes))
    rank = len(stride)
    for d in range(rank):
        x = build.window(x, 4 + 2 * d, lengths[d], stride[d], taps[d], dilation[d])
    return build.permute(x, (*range(4), *range(4, 4 + 2 * rank, 2), *range(5, 5 + 2 * rank, 2)))


def _product_sum(a: Traced, b: Traced, shape: tuple[Any, ...], dims: Sequence[int]) -> Traced:
    """The products of a and b, both expanded to a shape, summed over dims."""
    return build.reduce_sum(build.expand(a, shape) * build.expand(b, shape), dims)


def _looped(x: Traced, w: Traced, stride: tuple, dilation: tuple, groups: Any) -> Traced:
    taps, rank = tuple(w.shape[2:]), len(stride)
    lengths = tuple(map(window_count, x.shape[2:], taps, stride, dilation))
    windows = _windows(x, groups, lengths, taps, stride, dilation)
    batch, inputs, channels = x.shape[0], w.shape[1], w.shape[0] // groups
    w = build.reshape(w, (1, groups, channels, inputs, *(1,) * rank, *taps))
    full = (batch, groups, channels, inputs, *lengths, *taps)
    total = _product_sum(windows, w, full, (3, *range(4 + rank, 4 + 2 * rank)))
    return build.reshape(total, (batch, groups * channels, *lengths))


def _looped_weight(
    x: Traced, y: Traced, stride: tuple, dilation: tuple, groups: Any, taps: tuple
) -> Traced:
    batch, outputs, *lengths = y.shape
    rank, inputs, channels = len(taps), x.shape[1] // groups, outputs // groups
    windows = _windows(x, groups, lengths, taps, stride, dilation)
    y = build.reshape(y, (batch, groups, channels, 1, *lengths, *(1,) * rank))
    full = (batch, groups, channels, inputs, *lengths, *taps)
    total = _product_sum(windows, y, full, (0, *range(4, 4 + rank)))
    return build.reshape(total, (outputs, inputs, *taps))
