"""Reductions into computed places: scatter_reduce, index_reduce; put, take, masked_scatter."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.trace import Traced
from ..layout import broadcast_shapes, normalize_dim, numel
from ..limits import iinfo
from ..promotion import scalar_type_name
from . import build
from .checks import require_mask, require_rest, require_same_dtype, require_slice
from .gathering import check_index, expand_index, one_dim, vector_index
from .host_kinds import HostAlong
from .indexing import (
    gather_at,
    index_primitive,
    index_put_primitive,
    places_along,
    scatter_add_primitive,
    scatter_primitive,
)
from .record import Size, Tensor, composite, op, primitive
from .samples import Draw, calls
from .statistics import require_range

# ---------------------------------------------------------------- products and extremes


def _reduce_arrays(x: Any, index: Any, source: Any, dim: int, how: str) -> Any:
    function = {"prod": numpy.multiply, "amax": numpy.maximum, "amin": numpy.minimum}[how]
    result = x.copy()
    function.at(result, places_along(index, dim, x.shape[dim]), source)
    return result


def _added_at(like: Traced, index: Traced, source: Traced, dim: int) -> Traced:
    """The sums of source at the places of index, in the shape of another tensor."""
    zeros = build.full_like(like, 0, source.dtype)
    return scatter_add_primitive.apply(zeros, index, source, dim=dim)


def _extreme_shares(
    x: Traced, index: Traced, source: Traced, out: Traced, dim: int
) -> tuple[Traced, Traced]:
    """How much of each result comes from x and from each element of source: equal parts."""
    own = build.convert(x == out, x.dtype)
    given = build.convert(source == gather_at(out, index, dim), x.dtype)
    count = own + _added_at(x, index, given, dim)
    return own / count, given / gather_at(count, index, dim)


def _product_shares(
    x: Traced, index: Traced, source: Traced, out: Traced, dim: int
) -> tuple[Traced, Traced]:
    """The product of the other factors of each result, for x and for each element of source."""

    def nonzero(value: Traced) -> Traced:
        return build.select_where(value == 0, 1, value, value.dtype)

    def is_zero(value: Traced) -> Traced:
        return build.convert(value == 0, dtypes.int64)

    product = scatter_reduce_primitive.apply(
        nonzero(x), index, nonzero(source), dim=dim, how="prod"
    )
    zeros = is_zero(x) + _added_at(x, index, is_zero(source), dim)

    def others(value: Traced, product: Traced, zeros: Traced) -> Traced:
        other_zeros = zeros - is_zero(value)
        return build.select_where(other_zeros == 0, product / nonzero(value), 0, value.dtype)

    at_source = (gather_at(each, index, dim) for each in (product, zeros))
    return others(x, product, zeros), others(source, *at_source)


def _shares(inputs: Any, outputs: Any, attributes: Any) -> tuple[Traced, Traced]:
    (x, index, source), (out,) = inputs, outputs
    function = _product_shares if attributes["how"] == "prod" else _extreme_shares
    return function(x, index, source, out, attributes["dim"])


def _reduce_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    (_, index, _), (g,) = inputs, gradients
    own, given = (build.conjugate(each) for each in _shares(inputs, outputs, attributes))
    return [g * own, None, gather_at(g, index, attributes["dim"]) * given]


def _reduce_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    x, index, source = inputs
    own, given = _shares(inputs, outputs, attributes)
    of_x = build.zeros_like(x) if tangents[0] is None else tangents[0]
    of_source = build.zeros_like(source) if tangents[2] is None else tangents[2]
    return [of_x * own + _added_at(x, index, of_source * given, attributes["dim"])]


@primitive(
    HostAlong(lambda environment, x, index, source, dim, how: [(x.dtype, tuple(x.shape), False)]),
    name="scatter_reduce",
    vjp=_reduce_vjp,
    jvp=_reduce_jvp,
    reference=_reduce_arrays,
)
def scatter_reduce_primitive(x, index, source, dim, how):
    """x with the elements of source (shaped like index) multiplied in ("prod"), or the greatest or
    least ("amax", "amin") taken, at ``index`` along dim.
    """


def _identity(how: str, dtype: DType) -> Any:
    """What leaves other elements as they are."""
    if how in ("sum", "mean"):
        return 0
    if how == "prod":
        return 1
    if dtype.is_floating_point:
        return -float("inf") if how == "amax" else float("inf")
    if dtype is dtypes.bool:
        return how == "amin"
    return iinfo(dtype).min if how == "amax" else iinfo(dtype).max


def _reduced_into(
    input: Traced, dim: int, index: Traced, source: Traced, how: str, include_self: bool
) -> Traced:
    """input with the elements of source reduced into it at ``index`` along dim."""
    base = input
    if not include_self:
        identity = build.full(index.shape, _identity(how, input.dtype), input.dtype)
        base = scatter_primitive.apply(input, index, identity, dim=dim)
    if how not in ("sum", "mean"):
        return scatter_reduce_primitive.apply(base, index, source, dim=dim, how=how)
    total = scatter_add_primitive.apply(base, index, source, dim=dim)
    if how == "sum":
        return total
    ones = build.full(index.shape, 1, dtypes.int64)
    count = _added_at(input, index, ones, dim)
    count = count + 1 if include_self else op.clamp_min(count, 1)
    if input.dtype.is_integral:
        return build.convert(op.div(total, count, rounding_mode="floor"), input.dtype)
    return total / build.convert(count, input.dtype)


def _refuse(name: str, input: Traced, how: str) -> None:
    """NotImplementedError for means of bools and extremes of complex numbers."""
    is_mean_of_bools = how == "mean" and input.dtype is dtypes.bool
    if is_mean_of_bools or (how in ("amax", "amin") and input.dtype.is_complex):
        raise NotImplementedError(
            f"\"{name}\" not implemented for '{scalar_type_name(input.dtype)}'"
        )


_INDEX = Draw((2, 3), 0, 2, dtype=dtypes.int64)


def _reduce_samples(hows: tuple[str, ...], *args: Any) -> Any:
    return calls(
        *((args[:3] + (args[3], how), {}) for how in hows),
        *((args[:3] + (args[3], how), {"include_self": False}) for how in hows),
    )


@composite(
    names=["scatter_reduce"],
    inplace=True,
    out="same dtype",
    samples=_reduce_samples(
        ("sum", "prod", "mean", "amax", "amin"), Draw((3, 3)), 0, _INDEX, Draw((2, 3))
    ),
)
def scatter_reduce(
    input, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
):
    """input with the elements of src summed, multiplied, averaged or compared with it at ``index``
    along dim; without include_self those of input that are hit do not count.
    """
    dim = normalize_dim(dim, input.ndim)
    check_index("scatter", input, dim, index, src)
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(
            "scatter_reduce: reduce must be 'sum', 'prod', 'mean', 'amax' or 'amin', not "
            f"'{reduce}'"
        )
    if src.dtype is not input.dtype:
        raise RuntimeError(
            "scatter(): Expected self.dtype to be equal to src.dtype, got "
            f"{input.dtype} and {src.dtype}"
        )
    _refuse(f"scatter_gather_tensor_cpu_reduce_{reduce}", input, reduce)
    if numel(index.shape) == 0:
        return build.contiguous(input)
    whole, places, source = (one_dim(x) for x in (input, index, src))
    for each in range(source.ndim):
        source = build.slice_(source, each, 0, 1, places.shape[each])
    result = _reduced_into(
        whole, dim, build.convert(places, dtypes.int64), source, reduce, include_self
    )
    return build.reshape(result, input.shape)


@composite(
    names=["index_reduce"],
    inplace=True,
    out="same dtype",
    samples=_reduce_samples(
        ("prod", "mean", "amax", "amin"),
        Draw((3, 4)),
        0,
        Draw((2,), 0, 3, dtype=dtypes.int64),
        Draw((2, 4)),
    ),
)
def index_reduce(
    input, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
):
    """input with the slices of source multiplied, averaged or compared with those at the positions
    of a 1-d index along dim.
    """
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            f"index_reduce(): reduce must be 'prod', 'mean', 'amax' or 'amin', not '{reduce}'"
        )
    _refuse(f"index_reduce_{reduce}", input, reduce)
    if not include_self and (input.dtype.is_complex or input.dtype is dtypes.bool):
        raise NotImplementedError(
            '"index_reduce_func_exclude_input_init" not implemented for '
            f"'{scalar_type_name(input.dtype)}'"
        )
    dim = normalize_dim(dim, input.ndim)
    positions = vector_index("index_reduce", index)
    require_same_dtype("index_reduce()", input=input, source=source)
    whole, part = one_dim(input), one_dim(source)
    if positions.shape[0] != part.shape[dim]:
        raise RuntimeError(
            f"index_reduce_(): Number of indices ({positions.shape[0]}) should be equal to "
            f"source.size(dim): ({part.shape[dim]}), for dim: {dim}"
        )
    require_rest("index_reduce()", whole, part, dim)
    places = expand_index(positions, whole.shape, dim)
    if numel(places.shape) == 0:
        return build.contiguous(input)
    result = _reduced_into(whole, dim, places, part, reduce, include_self)
    return build.reshape(result, input.shape)


# ---------------------------------------------------------------- flattened tensors


def _check_long(name: str, index: Traced) -> None:
    if index.dtype is not dtypes.int64:
        raise RuntimeError(
            f"{name}(): Expected a long tensor for index, but got {scalar_type_name(index.dtype)}"
        )


@composite(
    names=["take"],
    out="exact",
    samples=calls(
        (Draw((3, 4)), Draw((2, 3), 0, 12, dtype=dtypes.int64)),
        (Draw((5,)), Draw((), 0, 5, dtype=dtypes.int64)),
    ),
)
def take(input, index: Tensor):
    """The elements at places in the flattened tensor, in the shape of the index; negative places
    count from the end.
    """
    _check_long("take", index)
    if numel(input.shape) == 0 and numel(index.shape) != 0:
        raise IndexError("take(): tried to take from an empty tensor")
    flat = build.reshape(input, (numel(input.shape),))
    return index_primitive.apply(flat, index, dims=(0,))


@composite(
    names=["put"],
    inplace=True,
    samples=calls(
        (Draw((3, 4)), Draw((1,), 0, 12, dtype=dtypes.int64), Draw((1,))),
        (Draw((3, 4)), Draw((2, 2), 0, 12, dtype=dtypes.int64), Draw((4,)), True),
    ),
)
def put(input, index: Tensor, source: Tensor, accumulate: bool = False):
    """The tensor with the elements of source at places in the flattened tensor, or added there."""
    _check_long("put_", index)
    require_same_dtype("put_()", input=input, source=source)
    count = numel(index.shape)
    if numel(source.shape) != count:
        raise IndexError(
            f"put_(): source must have as many elements as index, {count}, not "
            f"{numel(source.shape)}"
        )
    if numel(input.shape) == 0 and count != 0:
        raise IndexError("put_(): input is empty, so it has no place for an element")
    flat = build.reshape(input, (numel(input.shape),))
    values, places = (build.reshape(x, (count,)) for x in (source, index))
    result = index_put_primitive.apply(flat, values, places, dims=(0,), accumulate=accumulate)
    return build.reshape(result, input.shape)


@composite(
    names=["masked_scatter"],
    inplace=True,
    samples=calls((Draw((2, 3)), Draw((2, 3), 0, 2, dtype=dtypes.bool), Draw((2, 3)))),
)
def masked_scatter(input, mask: Tensor, source: Tensor):
    """input with the elements of source, one after another, where the mask is true."""
    require_mask("masked_scatter_", mask)
    require_same_dtype("masked_scatter", input=input, source=source)
    shape = broadcast_shapes([input.shape, mask.shape], "masked_scatter")
    input, mask = (build.contiguous(build.expand(x, shape)) for x in (input, mask))
    count = numel(shape)
    hits = build.convert(build.reshape(mask, (count,)), dtypes.int64)
    available = numel(source.shape)
    if available == 0:
        message = "masked_scatter: source is empty, but the mask is True somewhere"
        total = require_range(op.sum(hits), 0, 0, message)
        return input + build.convert(total, input.dtype) if numel(shape) else input
    places = op.clamp_min(op.cumsum(hits, 0) - 1, 0)
    places = build.select_where(hits == 0, 0, places, places.dtype)
    values = index_primitive.apply(build.reshape(source, (available,)), places, dims=(0,))
    return build.row_major(
        build.select_where(mask, build.reshape(values, shape), input, input.dtype)
    )


@composite(
    names=["as_strided_scatter"],
    samples=calls(
        (Draw((6,)), Draw((2, 2)), (2, 2), (2, 1)), (Draw((3, 4)), Draw((2,)), (2,), (3,), 1)
    ),
)
def as_strided_scatter(input, src, size: Size, stride: Size, storage_offset: Size = 0):
    """input with the elements of src at those that as_strided gives, input's memory being taken as
    contiguous.
    """
    shape = tuple(size)
    require_slice("as_strided_scatter", src, shape)
    flat = build.reshape(input, (numel(input.shape),))
    last = 0 if storage_offset is None else storage_offset
    for length, step in zip(shape, stride, strict=True):
        last = last + (length - 1) * step
    if last >= flat.shape[0] and numel(shape) != 0:
        raise RuntimeError(
            f"as_strided_scatter: sizes {list(shape)}, strides {list(stride)} and storage offset "
            f"{storage_offset} are out of bounds for an input of {flat.shape[0]} elements"
        )
    places = build.full(shape, 0, dtypes.int64) + (0 if storage_offset is None else storage_offset)
    for dim, (length, step) in enumerate(zip(shape, stride, strict=True)):
        along = [length if each == dim else 1 for each in range(len(shape))]
        places = places + build.reshape(build.iota(length), along) * step
    count = numel(shape)
    values = build.reshape(build.convert(src, input.dtype), (count,))
    places = build.reshape(build.expand(places, shape), (count,))
    result = index_put_primitive.apply(flat, values, places, dims=(0,), accumulate=False)
    return build.reshape(result, input.shape)
