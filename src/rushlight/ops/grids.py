"""Images sampled at given places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..graph.trace import Traced, warn_user
from ..layout import broadcast_shapes
from ..promotion import scalar_type_name
from . import build
from .conversion import overwritten
from .indexing import index_primitive
from .pooling_windows import along
from .record import Selector, Size, Tensor, composite, op
from .samples import Draw, calls


def _pixels(place: Traced, size: Any, align_corners: bool) -> Traced:
    """From -1 ... 1 to pixels."""
    if align_corners:
        return (place + 1) * ((size - 1) / 2)
    return ((place + 1) * size - 1) / 2


def _reflected(place: Traced, low: float, span: Any) -> Traced:
    """Mirrored at low and low + span as often as need be."""
    if span == 0:
        return place * 0
    distance = op.abs(place - low)
    rest = op.fmod(distance, span)
    flips = op.detach(op.floor(distance / span))
    return op.where(op.remainder(flips, 2) == 0, rest + low, span - rest + low)


def _inside(place: Traced, size: Any, padding_mode: str, align_corners: bool) -> Traced:
    """The place that padding stands for."""
    if padding_mode == "reflection":
        if align_corners:
            place = _reflected(place, 0.0, size - 1)
        else:
            place = _reflected(place, -0.5, size)
    if padding_mode == "zeros":
        return place
    strictly = (place > 0) & (place < size - 1)  # at the edges the gradient is zero
    return op.where(strictly, place, op.detach(op.clamp(place, 0, size - 1)))


def _read(input: Traced, places: list[Traced]) -> Traced:
    """input [n, c, *sizes] at whole-number places [n, *out]: [n, *out, c]; zero outside."""
    shape = broadcast_shapes([place.shape for place in places])
    inside: Any = None
    indices = []
    for d, place in enumerate(places):
        size = input.shape[2 + d]
        there = (place >= 0) & (place < size)
        inside = there if inside is None else inside & there
        index = build.select_where(there, place, 0, build.INT64)
        indices.append(build.expand(index, shape))
    batch = build.reshape(build.iota(shape[0]), (shape[0], *[1] * (len(shape) - 1)))
    batch = build.expand(batch, shape)
    channels_last = build.move_dim(input, 1, input.ndim - 1)
    dims = tuple(range(len(places) + 1))
    found = index_primitive.apply(channels_last, batch, *indices, dims=dims)
    return build.select_where(build.insert_dim(inside, inside.ndim), found, 0, input.dtype)


def _whole(place: Traced) -> Traced:
    """As ints; what is no number or far outside becomes -1, which is outside too."""
    near = (place > -1e6) & (place < 1e9)
    return build.convert(op.where(near, place, -1.0), build.INT64)


def _weighted(
    input: Traced, places: list[Traced], taps: int, inside: Callable[[Traced, int], Traced]
) -> Traced:
    """The sum over so many neighbours along each dim, weighted by their distance."""
    rank = len(places)
    corners: list[Traced] = []
    weight: Any = None
    for d, place in enumerate(places):
        place = build.reshape(place, (*place.shape, *[1] * rank))
        low = op.detach(op.floor(place))
        tap = build.iota(taps) - (taps // 2 - 1)
        tap = build.convert(along(tap, place.ndim, place.ndim - rank + d), place.dtype)
        distance = place - low - tap
        own = _linear_weight(place - low, tap) if taps == 2 else _cubic_weight(op.abs(distance))
        weight = own if weight is None else weight * own
        corners.append(_whole(inside(low + tap, d)))
    found = _read(input, corners)
    dims = tuple(range(found.ndim - 1 - rank, found.ndim - 1))
    total = build.reduce_sum(found * build.insert_dim(weight, found.ndim - 1), dims)
    return build.drop_dims(total, dims)


def _linear_weight(rest: Traced, tap: Traced) -> Traced:
    """How much the pixel below and that above (tap 0 and 1) count at a distance above the first;
    at whole numbers the derivative is that above.
    """
    return (1 - tap) + (2 * tap - 1) * rest


def _cubic_weight(distance: Traced) -> Traced:
    """Keys 1981, with a = -0.75."""
    near = (1.25 * distance - 2.25) * distance * distance + 1
    far = ((-0.75 * distance + 3.75) * distance - 6.0) * distance + 3.0
    return op.where(distance < 1, near, far)


def _check(input: Traced, grid: Traced, mode: str, padding_mode: str) -> None:
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(
            f"grid_sample: mode must be 'bilinear', 'nearest' or 'bicubic', not '{mode}'"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            "grid_sample: padding_mode must be 'zeros', 'border' or 'reflection', not "
            f"'{padding_mode}'"
        )
    if input.ndim not in (4, 5) or grid.ndim != input.ndim:
        raise RuntimeError(
            "grid_sample: input and grid must both be 4D or both 5D, but their shapes are "
            f"{list(input.shape)} and {list(grid.shape)}"
        )
    if input.shape[0] != grid.shape[0] or grid.shape[-1] != input.ndim - 2:
        raise RuntimeError(
            f"grid_sample: grid must have the batch size of input, {list(input.shape)}, and "
            f"{input.ndim - 2} coordinates in its last dimension, but its shape is "
            f"{list(grid.shape)}"
        )
    if any(size == 0 for size in input.shape[2:]):
        raise RuntimeError(
            f"grid_sample: a spatial dimension of input is empty: its shape is {list(input.shape)}"
        )
    if mode == "bicubic" and input.ndim == 5:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if input.dtype is not grid.dtype:
        raise RuntimeError(
            f"grid_sampler(): expected input and grid to have one dtype, but got {input.dtype} "
            f"and {grid.dtype}"
        )
    if not input.dtype.is_floating_point:
        raise NotImplementedError(
            f"\"grid_sampler\" not implemented for '{scalar_type_name(input.dtype)}'"
        )


@composite(
    names=["nn.functional.grid_sample"],
    methods=[],
    onnx="GridSample",
    samples=lambda dtype: (
        calls(
            (Draw((2, 3, 5, 4)), Draw((2, 3, 2, 2), -1.3, 1.3)),
            (Draw((2, 3, 5, 4)), Draw((2, 3, 2, 2), -1.3, 1.3), "bilinear", "border", True),
            (Draw((1, 2, 3, 5, 4)), Draw((1, 3, 2, 2, 3), -1.3, 1.3)),
            (Draw((1, 2, 5, 4)), Draw((1, 3, 2, 2), -1.3, 1.3), "bicubic", "zeros", False),
        )(dtype)
        if dtype.is_floating_point and dtype.itemsize > 2
        else iter(())
    ),
)
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: Selector = None,
):
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
    _check(input, grid, mode, padding_mode)
    if align_corners is None:
        warn_user(
            "grid_sample and affine_grid take align_corners as False when it is not given; "
            "pass True or False to silence this warning"
        )
    corners = bool(align_corners)
    x, grid = build.widened(input), build.widened(grid)
    rank = input.ndim - 2
    places = []
    for d in range(rank):
        size = input.shape[2 + d]
        coordinate = build.drop_dims(
            build.slice_(grid, grid.ndim - 1, rank - 1 - d, 1, 1), (grid.ndim - 1,)
        )
        place = _pixels(coordinate, size, corners)
        if mode != "bicubic":
            place = _inside(place, size, padding_mode, corners)
        places.append(place)
    if mode == "nearest":
        found = _read(x, [_whole(op.round(place)) for place in places])
        start = build.expand(build.slice_(grid, grid.ndim - 1, 0, 1, 1), found.shape)
        result = overwritten.apply(start, found)  # the gradient of the grid is zero
    elif mode == "bilinear":
        result = _weighted(x, places, 2, lambda place, d: place)
    else:
        result = _weighted(
            x, places, 4, lambda place, d: _inside(place, x.shape[2 + d], padding_mode, corners)
        )
    result = build.move_dim(result, result.ndim - 1, 1)
    return build.row_major(build.convert(result, input.dtype))


_MODES = ("bilinear", "nearest", "bicubic")
_PADDING_MODES = ("zeros", "border", "reflection")


def _numbered(ranks: tuple[int, ...], name: str) -> None:
    """``grid_sample`` with numbers for the modes."""

    def sampler(
        input: Tensor,
        grid: Tensor,
        interpolation_mode: int,
        padding_mode: int,
        align_corners: bool,
    ):
        if input.ndim - 2 not in ranks:
            raise RuntimeError(
                f"{name}(): expected input and grid with {' or '.join(str(2 + r) for r in ranks)} "
                f"dimensions, but got input with sizes {list(input.shape)}"
            )
        if interpolation_mode not in range(3) or padding_mode not in range(3):
            raise RuntimeError(
                f"{name}(): the modes are numbers from 0 to 2, not {interpolation_mode} and "
                f"{padding_mode}"
            )
        modes = _MODES[interpolation_mode], _PADDING_MODES[padding_mode]
        return grid_sample(input, grid, *modes, align_corners)

    sampler.__doc__ = """``nn.functional.grid_sample`` with numbers for the modes.

    interpolation_mode: 0 bilinear, 1 nearest, 2 bicubic; padding_mode: 0 zeros, 1 border, 2
    reflection.
    """
    composite(name=name, names=[name], methods=[])(sampler)


_numbered((2, 3), "grid_sampler")
_numbered((2,), "grid_sampler_2d")
_numbered((3,), "grid_sampler_3d")


@composite(
    names=["nn.functional.affine_grid", "affine_grid_generator"],
    methods=[],
    onnx="AffineGrid",
    samples=lambda dtype: (
        calls(
            (Draw((2, 2, 3)), (2, 1, 3, 4), False),
            (Draw((1, 3, 4)), (1, 1, 2, 3, 2), True),
        )(dtype)
        if dtype.is_floating_point and dtype.itemsize > 2
        else iter(())
    ),
)
def affine_grid(theta: Tensor, size: Size, align_corners: Selector = None):
    """A grid for grid_sample: the places of an image of ``size`` under affine maps theta
    ``[batch, 2, 3]`` (or ``[batch, 3, 4]`` for volumes).
    """
    sizes = tuple(size)
    rank = len(sizes) - 2
    if rank not in (2, 3):
        raise NotImplementedError(
            "affine_grid: size must have 4 entries for transforms in 2D, or 5 in 3D, but is "
            f"{sizes}"
        )
    if not theta.dtype.is_floating_point:
        raise ValueError(f"affine_grid: theta must be of floating point, not {theta.dtype}")
    if theta.ndim != 3 or tuple(theta.shape[1:]) != (rank, rank + 1):
        raise ValueError(
            f"Expected a batch of {rank}D affine matrices of shape Nx{rank}x{rank + 1} for size "
            f"{sizes}. Got {list(theta.shape)}."
        )
    if any(each <= 0 for each in sizes):
        raise ValueError(f"Expected non-zero, positive output size. Got {sizes}")
    out = sizes[2:]
    base = []
    for d in reversed(range(rank)):
        position = build.convert(build.iota(out[d]), theta.dtype)
        if out[d] == 1:
            line = position * 0
        elif align_corners:
            line = position * (2 / (out[d] - 1)) - 1
        else:
            line = (position * 2 + 1) / out[d] - 1
        shape = [out[d] if each == d else 1 for each in range(rank)]
        base.append(build.expand(build.reshape(line, shape), out))
    base.append(build.full(out, 1, theta.dtype))
    total: Any = None
    for column, values in enumerate(base):
        factor = build.slice_(theta, 2, column, 1, 1)
        factor = build.reshape(factor, (theta.shape[0], *[1] * rank, rank))
        term = build.insert_dim(values, rank) * factor
        total = term if total is None else total + term
    return total
