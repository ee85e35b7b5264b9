"""Resizing images: interpolation between their pixels, and sampling at given places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..graph.symbols import SymbolicInt
from ..graph.trace import Traced, warn_user
from ..promotion import scalar_type_name
from . import build
from .average_pooling import adaptive_averaged
from .indexing import index_primitive
from .pooling_windows import along
from .record import Selector, Size, Tensor, composite, op
from .samples import Draw, calls

_LINEAR = {"linear": 1, "bilinear": 2, "trilinear": 3}
_ALIGNABLE = {**_LINEAR, "bicubic": 2}
_MODES = ("nearest", "nearest-exact", "area", *_ALIGNABLE)

# ---------------------------------------------------------------- one dim


def _source(length: Any, size: Any, scale: Any, align_corners: bool, cubic: bool) -> Traced:
    """Where in the input each output pixel lies, in pixels (the centre of the first is 0)."""
    place = build.convert(build.iota(length), build.FLOAT64)
    if align_corners:
        return place * ((size - 1) / (length - 1) if length != 1 else 0.0)
    ratio = size / length if scale is None else 1.0 / scale
    place = (place + 0.5) * ratio - 0.5
    return place if cubic else op.clamp_min(place, 0)


def _picked(x: Traced, dim: int, index: Traced) -> Traced:
    return index_primitive.apply(x, index, dims=(dim,))


def _nearest(x: Traced, dim: int, length: Any, scale: Any, exact: bool) -> Traced:
    size = x.shape[dim]
    ratio = size / length if scale is None else 1.0 / scale
    place = build.convert(build.iota(length), build.FLOAT32)
    ratio = build.convert(build.lift(ratio, x.context), build.FLOAT32)
    place = (place + 0.5) * ratio if exact else place * ratio
    index = build.convert(op.floor(place), build.INT64)
    return _picked(x, dim, op.clamp_max(index, size - 1))


def _weighted(x: Traced, dim: int, taps: Sequence[tuple[Traced, Traced]]) -> Traced:
    """The sum of elements along dim, each (index, weight)."""
    total: Any = None
    for index, weight in taps:
        factor = along(build.convert(weight, x.dtype), x.ndim, dim)
        term = _picked(x, dim, index) * factor
        total = term if total is None else total + term
    return total


def _linear(x: Traced, dim: int, length: Any, scale: Any, align_corners: bool) -> Traced:
    size = x.shape[dim]
    place = _source(length, size, scale, align_corners, False)
    low = op.clamp_max(build.convert(op.floor(place), build.INT64), size - 1)
    fraction = op.clamp(place - low, 0, 1)
    high = op.clamp_max(low + 1, size - 1)
    return _weighted(x, dim, [(low, 1 - fraction), (high, fraction)])


def _cubic_weights(t: Traced, a: float = -0.75) -> list[Traced]:
    """Of the four neighbours of a place t behind the second (Keys 1981, with a = -0.75)."""

    def near(d: Any) -> Any:
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d: Any) -> Any:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def _cubic(x: Traced, dim: int, length: Any, scale: Any, align_corners: bool) -> Traced:
    size = x.shape[dim]
    place = _source(length, size, scale, align_corners, True)
    low = op.floor(place)
    weights = _cubic_weights(place - low)
    first = build.convert(low, build.INT64) - 1
    taps = [(op.clamp(first + k, 0, size - 1), weight) for k, weight in enumerate(weights)]
    return _weighted(x, dim, taps)


def _filtered(
    x: Traced, dim: int, length: Any, scale: Any, align_corners: bool, cubic: bool
) -> Traced:
    """Interpolation whose filter widens as the image shrinks, as Pillow does it."""
    size = x.shape[dim]
    if align_corners:
        ratio = (size - 1) / (length - 1) if length != 1 else 0.0
    else:
        ratio = size / length if scale is None else 1.0 / scale
    ratio = build.convert(build.lift(ratio, x.context), build.FLOAT64)
    wide = op.clamp_min(ratio, 1.0)
    center = ratio * (build.convert(build.iota(length), build.FLOAT64) + 0.5)
    place = build.convert(build.iota(size), build.FLOAT64) + 0.5
    distance = op.abs((build.insert_dim(place, 0) - build.insert_dim(center, 1)) / wide)
    if cubic:
        weights = _cubic_weights(op.remainder(distance, 1.0), -0.5)
        near, far = weights[1], weights[0]
        weight = op.where(distance < 1, near, op.where(distance < 2, far, 0.0))
    else:
        weight = op.clamp_min(1 - distance, 0)
    weight = weight / op.sum(weight, 1, True)
    moved = build.move_dim(x, dim, x.ndim - 1)
    result = op.matmul(moved, op.transpose(build.convert(weight, x.dtype), 0, 1))
    return build.move_dim(result, x.ndim - 1, dim)


# ---------------------------------------------------------------- interpolate


def _check_mode(input: Traced, mode: str, align_corners: Any, antialias: bool) -> None:
    if mode not in _ALIGNABLE:
        if align_corners is not None and mode in _MODES:
            raise ValueError(
                "interpolate: align_corners is for the modes linear, bilinear, bicubic and "
                f"trilinear, not {mode}"
            )
    if antialias and not (mode in ("bilinear", "bicubic") and input.ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D "
            "tensor as input"
        )
    if input.ndim not in (3, 4, 5) or mode not in _MODES:
        raise NotImplementedError(
            f"interpolate: input must be 3D, 4D or 5D and mode one of {', '.join(_MODES)}, but "
            f"they are {input.ndim}D and {mode}"
        )
    rank = _ALIGNABLE.get(mode, input.ndim - 2)
    if rank != input.ndim - 2:
        raise NotImplementedError(
            f"Got {input.ndim}D input, but {mode} mode needs {rank + 2}D input"
        )


def _per_dim(input: Traced, label: str, argument: Any) -> tuple[Any, ...]:
    rank = input.ndim - 2
    if not isinstance(argument, list | tuple):
        return (argument,) * rank
    if len(argument) != rank:
        raise ValueError(
            f"interpolate: {label} must have an entry for each of the spatial dimensions of "
            f"input, {list(input.shape[2:])}, but is {tuple(argument)}"
        )
    return tuple(argument)


def _target(
    input: Traced, size: Any, scale_factor: Any, recompute: Any
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The output's sizes, and the scales that were given (None: of the sizes)."""
    if (size is None) == (scale_factor is None):
        state = "either" if size is None else "only one of"
        joint = "or" if size is None else "or"
        raise ValueError(f"{state} size {joint} scale_factor should be defined (in interpolate)")
    if size is not None:
        sizes = _per_dim(input, "output size", size)
        for each in sizes:
            if not isinstance(each, int | SymbolicInt):
                raise TypeError(f"interpolate(): size must be ints, not {size!r}")
        return sizes, (None,) * len(sizes)
    scales = _per_dim(input, "scale_factor", scale_factor)
    sizes = tuple(
        _scaled_size(own, float(scale)) for own, scale in zip(input.shape[2:], scales, strict=True)
    )
    return sizes, (None,) * len(scales) if recompute else scales


def _scaled_size(size: Any, scale: float) -> Any:
    """floor(size * scale)"""
    if scale.is_integer():
        return size * int(scale)
    numerator, denominator = scale.as_integer_ratio()
    return size * numerator // denominator


def _check_sizes(input: Traced, sizes: Sequence[Any]) -> None:
    if any(size <= 0 for size in (*input.shape[2:], *sizes)):
        raise RuntimeError(
            f"interpolate: spatial sizes must be positive, but are {list(input.shape[2:])} in "
            f"input and {list(sizes)} in the result"
        )
    if input.shape[1] == 0:
        raise RuntimeError(f"interpolate: input of shape {list(input.shape)} has no channels")


_BYTES = (dtypes.uint8,)


@composite(
    names=["nn.functional.interpolate"],
    methods=[],
    channels_as=["input"],
    onnx="Resize",
    samples=lambda dtype: (
        calls(
            ((Draw((2, 3, 5)), 7), {}),
            ((Draw((2, 3, 5, 4)), None, 2.0), {}),
            ((Draw((1, 2, 5, 4)), (3, 6)), {"mode": "nearest-exact"}),
            ((Draw((1, 2, 5)), 8), {"mode": "linear"}),
            ((Draw((1, 2, 5, 4)), (3, 6)), {"mode": "bilinear", "align_corners": True}),
            ((Draw((1, 2, 5, 4)), None, 1.7), {"mode": "bilinear"}),
            ((Draw((1, 2, 3, 4, 2)), (4, 3, 3)), {"mode": "trilinear"}),
            ((Draw((1, 2, 5, 4)), (7, 3)), {"mode": "bicubic"}),
            ((Draw((1, 2, 5, 4)), (3, 2)), {"mode": "area"}),
            ((Draw((1, 2, 7, 8)), (3, 4)), {"mode": "bilinear", "antialias": True}),
        )(dtype)
        if dtype.is_floating_point and dtype.itemsize > 2
        else iter(())
    ),
)
def interpolate(
    input: Tensor,
    size: Size = None,
    scale_factor: Selector = None,
    mode: str = "nearest",
    align_corners: Selector = None,
    recompute_scale_factor: Selector = None,
    antialias: bool = False,
):
    """Resize ``[batch, channels, *sizes]`` to ``size``, or by ``scale_factor``.

    Args:
        mode: "nearest", "nearest-exact", "linear" (one dim), "bilinear" (two), "trilinear" (three),
            "bicubic" (two) or "area" (means of parts).
        align_corners: whether the centres of the corner pixels stay in place, rather than the
            corners of these pixels.
        recompute_scale_factor: whether places are computed from the sizes, not from scale_factor.
        antialias: whether the filter widens when the image shrinks.
    """
    _check_mode(input, mode, align_corners, antialias)
    sizes, scales = _target(input, size, scale_factor, recompute_scale_factor)
    if mode == "area":
        return adaptive_averaged(input.ndim - 2, input, sizes)
    _check_sizes(input, sizes)
    if not (input.dtype.is_floating_point or input.dtype in _BYTES):
        raise NotImplementedError(
            f"\"upsample_{mode}\" not implemented for '{scalar_type_name(input.dtype)}'"
        )
    corners = bool(align_corners)
    is_nearest = mode.startswith("nearest")
    x = input if is_nearest else build.widened(input)
    if x.dtype.is_integral and not is_nearest:
        x = build.convert(x, dtypes.float32)
    for d, (length, scale) in enumerate(zip(sizes, scales, strict=True)):
        if is_nearest:
            x = _nearest(x, 2 + d, length, scale, mode == "nearest-exact")
        elif antialias:
            x = _filtered(x, 2 + d, length, scale, corners, mode == "bicubic")
        elif mode == "bicubic":
            x = _cubic(x, 2 + d, length, scale, corners)
        else:
            x = _linear(x, 2 + d, length, scale, corners)
    if input.dtype.is_integral and not is_nearest:
        x = op.clamp(op.round(x), 0, 255)
    return build.convert(x, input.dtype)


@composite(names=["nn.functional.upsample"], methods=[], channels_as=["input"])
def upsample(
    input: Tensor,
    size: Size = None,
    scale_factor: Selector = None,
    mode: str = "nearest",
    align_corners: Selector = None,
):
    """interpolate, under its older name."""
    warn_user("`nn.functional.upsample` is deprecated. Use `interpolate`.")
    return interpolate(input, size, scale_factor, mode, align_corners)


@composite(names=["nn.functional.upsample_nearest"], methods=[], channels_as=["input"])
def upsample_nearest(input: Tensor, size: Size = None, scale_factor: Selector = None):
    """interpolate with mode "nearest"."""
    return interpolate(input, size, scale_factor, "nearest")


@composite(names=["nn.functional.upsample_bilinear"], methods=[], channels_as=["input"])
def upsample_bilinear(input: Tensor, size: Size = None, scale_factor: Selector = None):
    """interpolate with mode "bilinear" and aligned corners."""
    return interpolate(input, size, scale_factor, "bilinear", True)
