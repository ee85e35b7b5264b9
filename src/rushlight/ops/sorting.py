"""Order: sort, topk, kthvalue; searches in sorted sequences."""

from __future__ import annotations

import math
from typing import Any

import numpy

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.trace import Traced
from ..layout import normalize_dim, numel
from ..promotion import scalar_type_name
from . import build
from .host_kinds import HostAlong
from .kinds import Host, with_batch
from .orders import largest_arrays, order_arrays
from .record import NONE, Operand, Size, Tensor, composite, op, primitive
from .reductions import finish_dims
from .results import named
from .samples import Draw, calls, is_real, only

# ---------------------------------------------------------------- the order of elements


@primitive(
    HostAlong(lambda environment, x, dim, descending: [(dtypes.int64, tuple(x.shape), False)]),
    name="order",
    derivative=NONE,
    reference=order_arrays,
)
def order_primitive(x, dim, descending):
    """The indices that sort x along dim; equal elements stay in their order, NaN is greatest."""


def _largest_outputs(environment: Any, x: Any, k: Any, dim: int, largest: bool) -> list:
    shape = list(x.shape)
    shape[dim] = k
    return [(dtypes.int64, tuple(shape), False)]


@primitive(
    HostAlong(_largest_outputs), name="largest_places", derivative=NONE, reference=largest_arrays
)
def largest_places(x, k, dim, largest):
    """The indices of the k greatest (or least) elements along dim, in order."""


# ---------------------------------------------------------------- sort


def values_indices(name: str) -> Any:
    """The type of a result (values, indices)."""
    return named(name, "values", "indices")


_Sort, _TopK = values_indices("sort"), values_indices("topk")
_KthValue = values_indices("kthvalue")


def _refuse_complex(input: Traced, message: str) -> None:
    if input.dtype.is_complex:
        raise RuntimeError(f"{message} does not support complex dtypes on CPU")


def at_places(input: Traced, places: Traced, dim: int) -> Traced:
    """The elements at places along dim, through which gradients flow."""
    return op.gather(input, dim, places) if input.ndim else input


_SORT_SAMPLES = calls(
    (Draw((3, 4)),),
    ((Draw((2, 3, 4)), 1), {"descending": True}),
    (Draw((5,), special=(float("nan"), float("inf"), 0.0, -0.0)), 0),
    (Draw(()), 0),
    (Draw((0, 3)), 0),
)


def order_of(input: Traced, dim: int, descending: bool) -> Traced:
    """The indices that sort the elements along dim."""
    if not input.ndim:
        return build.full_like(input, 0, dtypes.int64)
    return build.laid_out_by(order_primitive.apply(input, dim=dim, descending=descending), [input])


def sorted_with_order(input: Traced, dim: int, descending: bool) -> tuple[Traced, Traced]:
    """The elements in order along dim, and their indices."""
    order = order_of(input, dim, descending)
    return build.laid_out_by(at_places(input, order, dim), [input]), order


@composite(names=["sort"], out="same dtype", samples=_SORT_SAMPLES)
def sort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool | None = None):
    """The elements in order along dim, and their indices; equal ones stay in their order."""
    _refuse_complex(input, "Sort")
    dim = normalize_dim(dim, input.ndim)
    return _Sort(*sorted_with_order(input, dim, descending))


@composite(names=["argsort"], samples=_SORT_SAMPLES)
def argsort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False):
    """The indices that sort the elements along dim."""
    _refuse_complex(input, "Sort")
    dim = normalize_dim(dim, input.ndim)
    return order_of(input, dim, descending)


@composite(
    names=["msort"], out="same dtype", samples=calls((Draw((3, 4)),), (Draw((5,)),), (Draw(()),))
)
def msort(input: Tensor):
    """The elements in order along the first dim."""
    return sort(input, 0)[0]


@composite(
    names=["topk"],
    out="same dtype",
    onnx="TopK",
    samples=only(
        is_real,
        calls(
            (Draw((3, 4)), 2),
            ((Draw((2, 3, 40)), 2), {"largest": False}),
            (Draw((3, 4)), 3, 0),
            (Draw(()), 1),
            (Draw((20,), special=(float("nan"),)), 2),
        ),
    ),
)
def topk(input: Tensor, k: Size, dim: int = -1, largest: bool = True, sorted: bool = True):
    """The k greatest (or least) elements along dim, in order, and their indices."""
    _refuse_complex(input, "topk")
    if input.dtype is dtypes.bool:
        raise RuntimeError("topk does not support bool dtypes on CPU")
    dim = normalize_dim(dim, input.ndim)
    length = input.shape[dim] if input.ndim else 1
    if k < 0 or k > length:
        raise RuntimeError(
            f"selected index k out of range: topk of shape {list(input.shape)} along dim {dim} "
            f"takes k from 0 to {length}, not {k}"
        )
    if not input.ndim:
        return _TopK(input, build.full_like(input, 0, dtypes.int64))
    places = largest_places.apply(input, k=k, dim=dim, largest=largest)
    return _TopK(at_places(input, places, dim), places)


@composite(
    names=["kthvalue"],
    out="exact",
    samples=only(
        is_real,
        calls((Draw((3, 4)), 2), ((Draw((2, 3, 4)), 1, 1), {"keepdim": True}), (Draw(()), 1)),
    ),
)
def kthvalue(input: Tensor, k: Size, dim: int = -1, keepdim: bool = False):
    """The k-th least element along dim, and its index."""
    if input.ndim:
        refuse("kthvalue_cpu", input, dtypes.bool)
    dim = normalize_dim(dim, input.ndim)
    length = input.shape[dim] if input.ndim else 1
    if length == 0:
        raise IndexError(f"kthvalue(): Expected reduction dim {dim} to have non-zero size.")
    if k < 1 or k > length:
        raise RuntimeError(
            f"kthvalue(): k={k} is out of range for dim {dim}: it must be from 1 to {length}"
        )
    order = order_of(input, dim, False)
    return _KthValue(*element_at(input, order, dim, k - 1, keepdim))


def refuse(name: str, input: Traced, *others: DType) -> None:
    """NotImplementedError for complex numbers and other dtypes, as from a missing kernel."""
    if input.dtype.is_complex or input.dtype in others:
        raise NotImplementedError(
            f"\"{name}\" not implemented for '{scalar_type_name(input.dtype)}'"
        )


def element_at(
    input: Traced, order: Traced, dim: int, position: Any, keepdim: bool
) -> tuple[Traced, Traced]:
    """The element at a position in an order along dim, and its index in the input."""
    if not input.ndim:
        return input, order
    place = build.slice_(order, dim, position, 1, 1)
    values = at_places(input, place, dim)
    return finish_dims(values, (dim,), keepdim), finish_dims(place, (dim,), keepdim)


# ---------------------------------------------------------------- searches in sorted sequences


def _search_arrays(sequence: Any, values: Any, right: bool) -> Any:
    side: Any = "right" if right else "left"
    if sequence.ndim == 1:
        return numpy.searchsorted(sequence, values, side).astype(numpy.int64)
    count = math.prod(sequence.shape[:-1])
    rows = sequence.reshape(count, sequence.shape[-1])
    wanted = values.reshape(count, values.shape[-1])
    found = [numpy.searchsorted(row, each, side) for row, each in zip(rows, wanted, strict=True)]
    result = numpy.stack(found) if found else numpy.zeros(wanted.shape)
    return result.astype(numpy.int64).reshape(values.shape)


def _search_batch(inputs: Any, batched: Any, size: Any, attributes: Any) -> list:
    sequence, values = inputs
    if not batched[0] and sequence.ndim == 1:
        return [search_primitive.apply(sequence, values, **attributes)]
    sequence, values = (with_batch(x, b, size) for x, b in zip(inputs, batched, strict=True))
    if sequence.ndim != 2:
        return [search_primitive.apply(sequence, values, **attributes)]
    flat = build.reshape(values, (size, numel(values.shape[1:])))
    found = search_primitive.apply(sequence, flat, **attributes)
    return [build.reshape(found, values.shape)]


@primitive(
    Host(lambda environment, sequence, values, right: [(dtypes.int64, tuple(values.shape), False)]),
    name="search_sorted",
    derivative=NONE,
    batch=_search_batch,
    reference=_search_arrays,
)
def search_primitive(sequence, values, right):
    """Where values belong in a sorted sequence, or in that of their row."""


_ORDERED = Draw((4,), special=(-2.0, 0.0, 1.0, 2.5))


def _search(
    sequence: Traced, values: Any, out_int32: bool, right: bool, name: str, sorter: Any = None
) -> Traced:
    if build.is_number(values):
        values = build.lift(values, sequence.context)
        dtype = sequence.dtype
        if values.dtype.is_floating_point and sequence.dtype.is_integral:
            dtype = dtypes.float64
        values = build.convert(values, dtype)
        if dtype is not sequence.dtype:
            sequence = build.convert(sequence, dtype)
    refuse(name, sequence, dtypes.bool)
    if sorter is not None:
        sequence = op.gather(sequence, -1, sorter)
    found = search_primitive.apply(sequence, values, right=right)
    return build.convert(found, dtypes.int32) if out_int32 else found


def _right(right: bool, side: str | None, name: str) -> bool:
    if side is None:
        return right
    if side not in ("left", "right"):
        raise RuntimeError(f"{name}(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(f"{name}(): side='left' contradicts right=True; give one of them")
    return side == "right"


@composite(
    names=["searchsorted"],
    methods=[],
    out="exact",
    samples=only(
        is_real, calls((_ORDERED, Draw((2, 3))), ((_ORDERED, Draw((3,))), {"right": True}))
    ),
)
def searchsorted(
    sorted_sequence: Tensor,
    input: Operand,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter=None,
):
    """Where values belong in a sorted sequence (right: behind equal elements); with several dims,
    each row of values in its row of sequences.
    """
    right = _right(right, side, "searchsorted")
    if not build.is_number(input):
        if input.dtype is not sorted_sequence.dtype:
            raise RuntimeError(
                "torch.searchsorted(): boundary tensor and input value tensor should have same "
                f"dtype, but got boundary tensor type {sorted_sequence.dtype} and input value "
                f"tensor type {input.dtype}"
            )
        if not sorted_sequence.ndim:
            raise RuntimeError(
                "torch.searchsorted(): boundary tensor should have positive dimension, but got 0 "
                "dimension"
            )
        if sorted_sequence.ndim > 1 and (
            input.ndim != sorted_sequence.ndim
            or tuple(input.shape[:-1]) != tuple(sorted_sequence.shape[:-1])
        ):
            raise RuntimeError(
                "searchsorted(): sorted_sequence must be 1-dimensional, or match input in all "
                f"dimensions but the last, but their shapes are {list(sorted_sequence.shape)} "
                f"and {list(input.shape)}"
            )
    elif sorted_sequence.ndim != 1:
        raise RuntimeError(
            "searchsorted(): a number is searched in a 1-dimensional sorted_sequence, not one "
            f"of {sorted_sequence.ndim} dimensions"
        )
    if sorter is not None:
        if tuple(sorter.shape) != tuple(sorted_sequence.shape):
            raise RuntimeError(
                "searchsorted(): sorter must have the shape of sorted_sequence, "
                f"{list(sorted_sequence.shape)}, not {list(sorter.shape)}"
            )
        if sorter.dtype is not dtypes.int64:
            raise RuntimeError(
                "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype "
                f"{sorter.dtype}"
            )
    return _search(sorted_sequence, input, out_int32, right, "searchsorted_out_cpu", sorter)


@composite(
    names=["bucketize"],
    methods=[],
    out="exact",
    samples=only(
        is_real, calls((Draw((2, 3)), _ORDERED), ((Draw((3,)), _ORDERED), {"right": True}))
    ),
)
def bucketize(input: Operand, boundaries: Tensor, *, out_int32: bool = False, right: bool = False):
    """Between which boundaries (1-d, sorted) values lie."""
    if boundaries.ndim != 1:
        raise RuntimeError(
            f"bucketize: boundaries must be 1-dimensional, not {boundaries.ndim}-dimensional"
        )
    if not build.is_number(input) and input.dtype is not boundaries.dtype:
        raise RuntimeError(
            "torch.searchsorted(): boundary tensor and input value tensor should have same dtype, "
            f"but got boundary tensor type {boundaries.dtype} and input value tensor type "
            f"{input.dtype} (in bucketize)"
        )
    return _search(boundaries, input, out_int32, right, "bucketize")
