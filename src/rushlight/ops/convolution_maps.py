"""Convolution primitives: three bilinear maps, each of which is the derivative of the others.

For ``y = convolution(x, w)`` the gradient of w is ``convolution_weight(x, g)`` and that of x is
``convolution_input(g, w)``. In all of them x is ``[batch, groups * in, *sizes]`` (padded already),
w is ``[groups * out, in, *taps]`` and y is ``[batch, groups * out, *lengths]``:

    y[n, o, p] = sum over i, k of x[n, i, p * stride + k * dilation] * w[o, i, k]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ..graph.trace import Traced
from . import build
from .kind import Kind, Output
from .kinds import with_batch
from .record import primitive
from .windows import window_count, window_positions

# ---------------------------------------------------------------- reference


def _grouped(x: Any, groups: int, dim: int) -> Any:
    """A dim split into groups and what is in each."""
    return x.reshape(*x.shape[:dim], groups, x.shape[dim] // groups, *x.shape[dim + 1 :])


def _letters(rank: int) -> tuple[str, str]:
    """Indices of positions and of taps in einsum."""
    return "pqrst"[:rank], "klmxy"[:rank]


def _window_arrays(
    x: Any, lengths: Sequence[int], taps: Sequence[int], stride: tuple, dilation: tuple, groups: int
) -> Any:
    """[batch, groups, in, *lengths, *taps]"""
    rank = len(lengths)
    x = _grouped(x, groups, 1)
    for d in range(rank):
        positions = window_positions(lengths[d], stride[d], taps[d], dilation[d])
        x = numpy.moveaxis(numpy.take(x, positions, axis=3 + d), 4 + d, -1)
    return x


def _convolution_arrays(x: Any, w: Any, stride: tuple, dilation: tuple, groups: int) -> Any:
    rank, taps = w.ndim - 2, w.shape[2:]
    lengths = [window_count(x.shape[2 + d], taps[d], stride[d], dilation[d]) for d in range(rank)]
    windows = _window_arrays(x, lengths, taps, stride, dilation, groups)
    p, k = _letters(rank)
    y = numpy.einsum(f"ngi{p}{k},goi{k}->ngo{p}", windows, _grouped(w, groups, 0))
    return y.reshape(x.shape[0], w.shape[0], *lengths)


def _weight_arrays(
    x: Any, y: Any, stride: tuple, dilation: tuple, groups: int, taps: Sequence[int]
) -> Any:
    p, k = _letters(len(taps))
    windows = _window_arrays(x, y.shape[2:], taps, stride, dilation, groups)
    w = numpy.einsum(f"ngi{p}{k},ngo{p}->goi{k}", windows, _grouped(y, groups, 1))
    return w.reshape(y.shape[1], x.shape[1] // groups, *taps)


def _input_arrays(
    y: Any, w: Any, stride: tuple, dilation: tuple, groups: int, sizes: Sequence[int]
) -> Any:
    rank = len(sizes)
    p, k = _letters(rank)
    parts = numpy.einsum(
        f"ngo{p},goi{k}->ngi{p}{k}", _grouped(y, groups, 1), _grouped(w, groups, 0)
    )
    x = numpy.zeros((y.shape[0], groups, w.shape[1], *sizes), parts.dtype)
    for tap in numpy.ndindex(*w.shape[2:]):
        place: list[Any] = [...]
        for t, d, s, n in zip(tap, dilation, stride, y.shape[2:], strict=True):
            place.append(slice(t * d, t * d + (n - 1) * s + 1 if n else t * d, s))
        source: tuple[Any, ...] = (..., *tap)
        x[tuple(place)] += parts[source]
    return x.reshape(y.shape[0], groups * w.shape[1], *sizes)


# ---------------------------------------------------------------- rules


class _Bilinear(Kind):
    """Linear in each of two inputs. outputs: ``f(a, b, **attributes)`` gives the result's shape;
    batch_dims: where a, b and the result have their batch of examples, None for the weights.
    """

    def __init__(self, shape: Any, batch_dims: tuple[int | None, int | None, int | None]) -> None:
        self.shape = shape
        self.batch_dims = batch_dims

    def infer(
        self, primitive: Any, inputs: Any, attributes: dict[str, Any], environment: Any
    ) -> list[Output]:
        return [(inputs[0].dtype, tuple(self.shape(*inputs, **attributes)), False)]

    def jvp(
        self, primitive: Any, inputs: Any, outputs: Any, tangents: Any, attributes: dict[str, Any]
    ) -> list:
        total = None
        for position, tangent in enumerate(tangents):
            if tangent is not None:
                pair = [tangent if i == position else x for i, x in enumerate(inputs)]
                term = primitive.apply(*pair, **attributes)
                total = term if total is None else total + term
        return [total]

    def batch(
        self, primitive: Any, inputs: Any, batched: Any, size: Any, attributes: dict[str, Any]
    ) -> list:
        """Examples join the batch where only that has them; else they become groups."""
        places = self.batch_dims
        if places[2] is not None and all(
            (place is not None) == each for place, each in zip(places, batched, strict=False)
        ):
            merged = [_merged(x, 0) if each else x for x, each in zip(inputs, batched, strict=True)]
            result = primitive.apply(*merged, **attributes)
            return [build.reshape(result, (size, result.shape[0] // size, *result.shape[1:]))]
        whole = [with_batch(x, each, size) for x, each in zip(inputs, batched, strict=True)]
        joined = [
            _merged(x if place is None else build.move_dim(x, 0, 1), 0 if place is None else 1)
            for x, place in zip(whole, places, strict=False)
        ]
        attributes = {**attributes, "groups": attributes["groups"] * size}
        result = primitive.apply(*joined, **attributes)
        dim = 0 if places[2] is None else 1
        shape = result.shape
        apart = (*shape[:dim], size, shape[dim] // size, *shape[dim + 1 :])
        return [build.move_dim(build.reshape(result, apart), dim, 0)]


def _merged(x: Traced, dim: int) -> Traced:
    """With dim and the next one as one."""
    return build.reshape(x, (*x.shape[:dim], x.shape[dim] * x.shape[dim + 1], *x.shape[dim + 2 :]))


def _convolution_shape(x: Any, w: Any, stride: tuple, dilation: tuple, groups: Any) -> tuple:
    lengths = (
        window_count(size, taps, step, spacing)
        for size, taps, step, spacing in zip(
            x.shape[2:], w.shape[2:], stride, dilation, strict=True
        )
    )
    return (x.shape[0], w.shape[0], *lengths)


@primitive(
    _Bilinear(_convolution_shape, (0, None, 0)),
    name="convolution",
    transpose=(
        lambda g, x, w, **options: convolution_input_primitive.apply(
            g, build.conjugate(w), **options, sizes=tuple(x.shape[2:])
        ),
        lambda g, x, w, **options: convolution_weight_primitive.apply(
            build.conjugate(x), g, **options, taps=tuple(w.shape[2:])
        ),
    ),
    reference=_convolution_arrays,
)
def convolution_primitive(x, w, stride, dilation, groups):
    """y of x and w; see above."""


@primitive(
    _Bilinear(
        lambda x, y, stride, dilation, groups, taps: (y.shape[1], x.shape[1] // groups, *taps),
        (0, 0, None),
    ),
    name="convolution_weight",
    transpose=(
        lambda g, x, y, taps, **options: convolution_input_primitive.apply(
            build.conjugate(y), g, **options, sizes=tuple(x.shape[2:])
        ),
        lambda g, x, y, taps, **options: convolution_primitive.apply(
            build.conjugate(x), g, **options
        ),
    ),
    reference=_weight_arrays,
)
def convolution_weight_primitive(x, y, stride, dilation, groups, taps):
    """The gradient of w, of x and the gradient of y."""


@primitive(
    _Bilinear(
        lambda y, w, stride, dilation, groups, sizes: (y.shape[0], w.shape[1] * groups, *sizes),
        (0, None, 0),
    ),
    name="convolution_input",
    transpose=(
        lambda g, y, w, sizes, **options: convolution_primitive.apply(
            g, build.conjugate(w), **options
        ),
        lambda g, y, w, sizes, **options: convolution_weight_primitive.apply(
            g, build.conjugate(y), **options, taps=tuple(w.shape[2:])
        ),
    ),
    reference=_input_arrays,
)
def convolution_input_primitive(y, w, stride, dilation, groups, sizes):
    """The gradient of x, of the gradient of y and w; a transposed convolution."""
