"""Joining tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .. import dtypes
from ..graph.trace import Traced
from ..layout import normalize_dim
from ..promotion import result_type
from . import build
from .kinds import Join
from .record import Tensors, composite, op, primitive
from .samples import Draw, calls


@primitive(Join(), name="cat", reference=lambda *xs, dim: numpy.concatenate(xs, dim))
def cat_primitive(*xs, dim):
    """Tensors of one dtype one after another along dim."""


def check_list(tensors: Any, name: str) -> Sequence[Traced]:
    if isinstance(tensors, Traced):
        return tuple(tensors)
    if not isinstance(tensors, list | tuple):
        raise TypeError(
            f"{name}(): argument 'tensors' must be tuple of Tensors, not {type(tensors).__name__}"
        )
    if not tensors:
        error = ValueError if name in ("cat", "stack") else RuntimeError
        raise error(f"torch.{name}(): expected a non-empty list of Tensors")
    for position, x in enumerate(tensors):
        if not isinstance(x, Traced):
            raise TypeError(
                f"expected Tensor as element {position} in argument 0, but got {type(x).__name__} "
                f"(in {name})"
            )
    return tensors


def promoted(tensors: Sequence[Traced]) -> list[Traced]:
    dtype = result_type((x.dtype, build.category(x)) for x in tensors)
    return [build.convert(x, dtype) for x in tensors]


def _is_nothing(x: Traced) -> bool:
    return x.ndim == 1 and x.shape[0] == 0


@composite(
    names=["cat", "concat", "concatenate"],
    methods=[],
    out="apart",
    onnx="Concat",
    samples=calls(
        ([Draw((2, 3)), Draw((1, 3))],),
        ([Draw((2, 3)), Draw((2, 1))], 1),
        ([Draw((0,)), Draw((2, 3))], 0),
        ([Draw((3,))],),
        ([Draw((2,)), Draw((3,), dtype=dtypes.float64)],),
    ),
)
def cat(tensors: Tensors, dim: int = 0):
    """Tensors one after another along dim; empty 1-d tensors go with any others."""
    tensors = check_list(tensors, "cat")
    for position, x in enumerate(tensors):
        if not x.ndim:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {position}) cannot be concatenated (in cat)"
            )
    tensors = promoted(tensors)
    first = next((x for x in tensors if not _is_nothing(x)), tensors[0])
    dim = 0 if _is_nothing(first) else normalize_dim(dim, first.ndim)
    nothing = [0 if each == dim else size for each, size in enumerate(first.shape)]
    tensors = [op.reshape(x, nothing) if _is_nothing(x) else x for x in tensors]
    for position, x in enumerate(tensors):
        if x.ndim != first.ndim:
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {first.ndim} and {x.ndim} (in "
                "cat)"
            )
        for each in range(first.ndim):
            if each != dim and x.shape[each] != first.shape[each]:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size "
                    f"{first.shape[each]} but got size "
                    f"{x.shape[each]} for tensor number {position} in the list. (in cat)"
                )
    if len(tensors) == 1:
        return build.channels_as(build.contiguous(first), tensors)
    return build.channels_as(cat_primitive.apply(*tensors, dim=dim), tensors)


@composite(
    names=["stack"],
    methods=[],
    out=True,
    samples=calls(
        ([Draw((2, 3)), Draw((2, 3))],), ([Draw((2, 3)), Draw((2, 3))], -1), ([Draw(()), Draw(())],)
    ),
)
def stack(tensors: Tensors, dim: int = 0):
    """Tensors of one shape along a new dim."""
    tensors = check_list(tensors, "stack")
    first = tensors[0]
    dim = normalize_dim(dim, first.ndim + 1)
    for position, x in enumerate(tensors):
        if tuple(x.shape) != tuple(first.shape):
            raise RuntimeError(
                "stack expects each tensor to be equal size: entry 0 has shape "
                f"{list(first.shape)}, entry {position} {list(x.shape)}"
            )
    return cat_primitive.apply(*(build.insert_dim(x, dim) for x in promoted(tensors)), dim=dim)


def at_least(tensors: Sequence[Any], rank: int) -> list[Any]:
    return [
        x if x.ndim >= rank else build.reshape(x, (1,) * (rank - x.ndim) + tuple(x.shape))
        for x in tensors
    ]


@composite(
    names=["hstack"],
    methods=[],
    out="apart",
    samples=calls(([Draw((2, 3)), Draw((2, 1))],), ([Draw((2,)), Draw((3,))],)),
)
def hstack(tensors: Tensors):
    """Tensors side by side: along dim 1, or dim 0 if they have one dim."""
    tensors = at_least(check_list(tensors, "hstack"), 1)
    return cat(tensors, 0 if tensors[0].ndim == 1 else 1)


@composite(
    names=["vstack", "row_stack"],
    methods=[],
    out="apart",
    samples=calls(([Draw((2, 3)), Draw((1, 3))],), ([Draw((2,)), Draw((2,))],)),
)
def vstack(tensors: Tensors):
    """Tensors below each other: along dim 0, those with one dim as rows."""
    return cat(at_least(check_list(tensors, "vstack"), 2), 0)
