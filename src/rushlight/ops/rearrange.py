"""Other arrangements of elements: rolls, rotations, sliding windows, repetitions; grids."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations as index_choices
from itertools import combinations_with_replacement
from typing import Any

import numpy

from .. import dtypes
from ..graph.trace import Traced
from ..layout import broadcast_shapes, normalize_dim, numel
from . import build
from .indexing import index_primitive
from .join import cat, check_list
from .kinds import Host
from .parts import concrete_size
from .record import (
    NONE,
    Dim,
    Size,
    Tensor,
    Tensors,
    composite,
    op,
    primitive,
    unsupported,
)
from .samples import Draw, calls
from .shapes import flip_primitive

# ---------------------------------------------------------------- rolls and rotations


def _rolled(x: Traced, shift: Any, dim: int) -> Traced:
    size = x.shape[dim]
    if size == 0:
        return x
    first = (size - shift) % size
    if first == 0:
        return x
    return cat(
        [build.slice_(x, dim, first, 1, size - first), build.slice_(x, dim, 0, 1, first)], dim
    )


@composite(
    names=["roll"],
    samples=calls(
        (Draw((5,)), 2),
        (Draw((3, 4)), -1, 1),
        (Draw((3, 4)), (1, 2), (0, 1)),
        (Draw((3, 4)), 5),
        (Draw((0, 4)), 1, 0),
    ),
)
def roll(input: Tensor, shifts: Size, dims: Dim = ()):
    """The elements moved along dims, those beyond the end to the start; without dims, along the
    flattened tensor.
    """
    steps = (shifts,) if not isinstance(shifts, list | tuple) else tuple(shifts)
    places = (dims,) if isinstance(dims, int) else tuple(dims)
    if not steps:
        raise RuntimeError("`shifts` required (in roll)")
    if not places and len(steps) == 1:
        flat = build.reshape(input, (numel(input.shape),))
        return build.contiguous(build.reshape(_rolled(flat, steps[0], 0), input.shape))
    if len(steps) != len(places):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(steps)}, dims:{len(places)} (in roll)"
        )
    if not input.ndim:
        raise IndexError(f"Dimension specified as {places[0]} but tensor has no dimensions")
    result = input
    for step, dim in zip(steps, places, strict=True):
        result = _rolled(result, step, normalize_dim(dim, input.ndim))
    return build.channels_as(build.contiguous(result), [input])


@composite(
    names=["rot90"],
    samples=calls((Draw((2, 3)),), (Draw((2, 3)), 2), (Draw((2, 3, 4)), -1, (1, 2))),
)
def rot90(input: Tensor, k: int = 1, dims: Dim = (0, 1)):
    """The tensor turned k times by 90 degrees in the plane of two dims."""
    places = [dims] if isinstance(dims, int) else list(dims)
    if len(places) != 2:
        raise RuntimeError(f"rot90: dims must name 2 dimensions, not {len(places)}")
    if input.ndim < 2:
        raise RuntimeError(f"rot90: input must have at least 2 dimensions, not {input.ndim}")
    if places[0] == places[1] or abs(places[0] - places[1]) == input.ndim:
        raise RuntimeError(
            f"rot90: dims must differ, but {places[0]} and {places[1]} are one dimension"
        )
    for dim in places:
        if not -input.ndim <= dim < input.ndim:
            raise RuntimeError(f"Rotation dim out of range, dim = {dim} (in rot90)")
    first, second = (normalize_dim(dim, input.ndim) for dim in places)
    turns = k % 4
    if turns == 0:
        return build.contiguous(input)
    if turns == 2:
        return flip_primitive.apply(input, dims=tuple(sorted((first, second))))
    flipped = flip_primitive.apply(input, dims=(second if turns == 1 else first,))
    return build.contiguous(op.transpose(flipped, first, second))


# ---------------------------------------------------------------- windows and repetitions


@composite(
    name="unfold_method",
    methods=["unfold"],
    views="input",
    samples=calls((Draw((7,)), 0, 3, 2), (Draw((2, 5)), 1, 2, 1), (Draw(()), 0, 1, 1)),
)
def unfold(input: Tensor, dimension: int, size: Size, step: Size):
    """Windows of a size along a dim, ``step`` apart; each window's elements come last."""
    dim = normalize_dim(dimension, input.ndim)
    length = input.shape[dim] if input.ndim else 1
    if size < 0 or size > length:
        raise RuntimeError(
            f"maximum size for tensor at dimension {dim} is {length} but size is {size} (in unfold)"
        )
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0 (in unfold)")
    if not input.ndim:
        return build.slice_(build.reshape(input, (1,)), 0, 0, 1, size)
    count = (length - size) // step + 1
    starts = build.reshape(build.iota(count), (count, 1)) * step
    places = build.expand(starts, (count, size)) + build.iota(size)
    windows = index_primitive.apply(input, places, dims=(dim,))
    return build.move_dim(windows, dim + 1, windows.ndim - 1)


def _repeat_arrays(counts: Any) -> Any:
    if counts.size and counts.min() < 0:
        raise RuntimeError("repeats can not be negative (in repeat_interleave)")
    return numpy.repeat(numpy.arange(counts.size), counts)


@primitive(
    Host(lambda environment, counts: [(dtypes.int64, (environment.unbacked(),), False)]),
    names=["_repeated_places"],
    methods=[],
    derivative=NONE,
    batch=unsupported("repeat_interleave gives each example another size, which vmap cannot stack"),
    reference=_repeat_arrays,
)
def repeated_places(counts):
    """Each index as often as its count says."""


def _repeat_by_tensor(
    input: Any, repeats: Any = None, dim: Any = None, *, output_size: Any = None
) -> Any:
    """``repeat_interleave`` with the counts in a tensor."""
    counts = input if repeats is None else repeats
    if not all(hasattr(each, "dtype") for each in (input, counts)):
        raise TypeError(
            "repeat_interleave(): input and repeats must be tensors, but got "
            f"{type(input).__name__} and {type(counts).__name__}"
        )
    if counts.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError("repeats has to be Long or Int tensor (in repeat_interleave)")
    if counts.ndim > 1 or (repeats is None and counts.ndim != 1):
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor (in repeat_interleave)")
    if repeats is None:
        return repeated_places(counts)
    if dim is None:
        input, dim = input.flatten(), 0
    dim = normalize_dim(dim, input.ndim)
    size = input.shape[dim] if input.ndim else 1
    counts = counts.reshape(-1)
    if counts.shape[0] == 1:
        counts = counts.expand(size)
    if counts.shape[0] != size:
        raise RuntimeError(
            f"repeat_interleave: repeats must have a count for each of the {size} elements "
            f"along dim {dim} of input, not {counts.shape[0]}"
        )
    places = repeated_places(counts)
    if output_size is not None and output_size != places.shape[0]:
        raise RuntimeError(
            f"allocated size does not match required size: {output_size} and {places.shape[0]} "
            "(in repeat_interleave)"
        )
    return op.index_select(input, dim, places)


@composite(
    names=["repeat_interleave"],
    overload=_repeat_by_tensor,
    samples=calls((Draw((3,)), 2), (Draw((2, 3)), 2, 1), (Draw((2, 3)), 0, 0), (Draw(()), 3)),
)
def repeat_interleave(
    input: Tensor, repeats: Size = None, dim: int | None = None, *, output_size: Size = None
):
    """Each element (or slice along dim) ``repeats`` times in a row; repeats: a number, or a tensor
    with a count for each. With the counts alone: their indices, each as often as its count.
    """
    if repeats is None:
        return _repeat_by_tensor(input)
    if not isinstance(repeats, int) and isinstance(repeats, list | tuple):
        raise TypeError("repeat_interleave(): repeats must be an int or a tensor, not a sequence")
    if repeats < 0:
        raise RuntimeError(f"Repeats must be non-negative, got {repeats} (in repeat_interleave)")
    if dim is None or not input.ndim:
        input, dim = build.reshape(input, (numel(input.shape),)), 0
    dim = normalize_dim(dim, input.ndim)
    total = input.shape[dim] * repeats
    if output_size is not None and output_size != total:
        raise RuntimeError(
            f"repeat_interleave: Invalid output_size, expected {total} but got {output_size}"
        )
    wide = build.insert_dim(input, dim + 1)
    shape = (*input.shape[: dim + 1], repeats, *input.shape[dim + 1 :])
    result = build.reshape(
        build.expand(wide, shape), (*input.shape[:dim], total, *input.shape[dim + 1 :])
    )
    return build.contiguous(result)


# ---------------------------------------------------------------- several tensors at once


def _listed(tensors: Sequence[Any], name: str) -> list[Traced]:
    """Tensors given one by one or as one list."""
    if len(tensors) == 1 and isinstance(tensors[0], list | tuple):
        tensors = tensors[0]
    return list(check_list(tensors, name)) if tensors else []


@composite(
    names=["broadcast_tensors"],
    methods=[],
    samples=calls((Draw((3,)), Draw((2, 1))), (Draw(()), Draw((2, 3)))),
)
def broadcast_tensors(*tensors: Tensors):
    """The tensors expanded to their common shape."""
    listed = _listed(tensors, "broadcast_tensors")
    shape = broadcast_shapes([x.shape for x in listed], "broadcast_tensors")
    return tuple(build.expand(x, shape) for x in listed)


@composite(
    names=["meshgrid"],
    methods=[],
    samples=calls(
        ((Draw((2,)), Draw((3,))), {"indexing": "ij"}),
        ((Draw((2,)), Draw((3,)), Draw(())), {"indexing": "xy"}),
    ),
)
def meshgrid(*tensors: Tensors, indexing: str | None = None):
    """The coordinates of a grid: each vector along a dim of its own, expanded along the others.
    indexing "xy" exchanges the first two dims.
    """
    listed = _listed(tensors, "meshgrid")
    if not listed:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for x in listed:
        if x.ndim > 1:
            raise RuntimeError(
                f"meshgrid: tensors must be 0D or 1D, but one has shape {list(x.shape)}"
            )
        if x.dtype is not listed[0].dtype:
            raise RuntimeError("torch.meshgrid expects all tensors to have the same dtype")
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f"meshgrid: indexing must be 'ij' or 'xy', not {indexing}")
    swap = indexing == "xy" and len(listed) > 1
    vectors = [build.reshape(x, (numel(x.shape),)) for x in listed]
    if swap:
        vectors[:2] = vectors[1], vectors[0]
    shape = [x.shape[0] for x in vectors]
    grids = [
        build.expand(
            build.reshape(x, [size if each == dim else 1 for each, size in enumerate(shape)]),
            shape,
        )
        for dim, x in enumerate(vectors)
    ]
    if swap:
        grids[:2] = grids[1], grids[0]
    return tuple(grids)


@composite(
    names=["cartesian_prod"],
    methods=[],
    samples=calls((Draw((2,)), Draw((3,))), (Draw((3,)),)),
)
def cartesian_prod(*tensors: Tensors):
    """All choices of one element of each vector, one a row."""
    listed = _listed(tensors, "cartesian_prod")
    for x in listed:
        if x.ndim != 1:
            raise RuntimeError(
                f"Expect a 1D vector, but got shape {list(x.shape)} (in cartesian_prod)"
            )
    if len(listed) == 1:
        return listed[0]
    grids = meshgrid(*listed, indexing="ij")
    return op.stack([build.reshape(x, (numel(x.shape),)) for x in grids], 1)


@composite(
    names=["combinations"],
    samples=calls(
        (Draw((4,)),), (Draw((4,)), 3), (Draw((3,)), 2, True), (Draw((3,)), 0), (Draw((2,)), 3)
    ),
)
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False):
    """All choices of r elements of a vector, in order, one a row."""
    if input.ndim != 1:
        raise RuntimeError(
            f"Expect a 1D vector, but got shape {list(input.shape)} (in combinations)"
        )
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r} (in combinations)")
    if r == 0:
        return build.full((0,), 0, input.dtype)
    count = concrete_size(input.shape[0], "combinations")
    choose = combinations_with_replacement if with_replacement else index_choices
    rows = list(choose(range(count), r))
    return op.reshape(op.index_select(input, 0, _numbers(rows)), (len(rows), r))


def _numbers_arrays(numbers: tuple[int, ...]) -> Any:
    return numpy.array(numbers, numpy.int64)


@primitive(
    Host(lambda environment, numbers: [(dtypes.int64, (len(numbers),), False)]),
    name="known_numbers",
    derivative=NONE,
    batch=unsupported("known numbers have no inputs to batch over"),
    reference=_numbers_arrays,
)
def known_numbers(numbers):
    """A vector of ints that are known when the plan is made."""


def _numbers(rows: Sequence[Sequence[int]]) -> Traced:
    return known_numbers.apply(numbers=tuple(each for row in rows for each in row))


@composite(
    names=["block_diag"],
    methods=[],
    samples=calls(
        (Draw((2, 3)), Draw((2,)), Draw(())), (Draw((1, 2)), Draw((0, 2), dtype=dtypes.float64))
    ),
)
def block_diag(*tensors: Tensors):
    """The matrix with the tensors (matrices, vectors as rows, numbers) along its diagonal."""
    from ..promotion import result_type

    if tensors:
        check_list(tensors, "block_diag")
    for position, x in enumerate(tensors):
        if x.ndim > 2:
            raise RuntimeError(
                f"block_diag: tensors must have at most 2 dimensions, but tensor {position} "
                f"has {x.ndim}"
            )
    if not tensors:
        return build.full((1, 0), 0, dtypes.get_default_dtype())
    dtype = result_type((x.dtype, build.category(x)) for x in tensors)
    blocks = [build.convert(x, dtype) for x in tensors]
    blocks = [
        build.reshape(x, (1,) * (2 - x.ndim) + tuple(x.shape)) if x.ndim < 2 else x for x in blocks
    ]
    width, rows, start = sum(x.shape[1] for x in blocks), [], 0
    for x in blocks:
        rows.append(build.pad(x, 1, start, width))
        start = start + x.shape[1]
    return cat(rows, 0)


# ---------------------------------------------------------------- places of elements


@composite(
    names=["unravel_index"],
    methods=[],
    samples=calls((Draw((3,), 0, 12, dtype=dtypes.int64), (3, 4))),
)
def unravel_index(indices: Tensor, shape: Size):
    """The index in each dim of places in a flattened tensor of the given shape."""
    if indices.dtype.is_differentiable or indices.dtype is dtypes.bool:
        raise ValueError(
            f"expected 'indices' to be integer dtype, but got {indices.dtype} (in unravel_index)"
        )
    sizes = (shape,) if not isinstance(shape, list | tuple) else tuple(shape)
    for size in sizes:
        if size < 0:
            raise ValueError(
                f"'shape' cannot have negative values, but got {tuple(sizes)} (in unravel_index)"
            )
    result: list[Traced] = []
    rest = indices
    for size in reversed(sizes):
        result.insert(0, rest % size)
        rest = op.div(rest, size, rounding_mode="floor")
    return tuple(result)
