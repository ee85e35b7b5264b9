"""Checks of arguments that several families of operators make while tracing."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.trace import Traced
from ..layout import numel


def _listed(words: Any) -> str:
    """The words as English lists them: ``a, b and c``."""
    *first, last = map(str, words)
    return f"{', '.join(first)} and {last}" if first else last


def require_differentiable(name: str, dtype: DType, label: str = "input") -> None:
    """RuntimeError unless elements of this dtype have derivatives.

    label: what has the dtype.
    """
    if not dtype.is_differentiable:
        raise RuntimeError(f"{name}: {label} must be floating point or complex, not {dtype}")


def require_same_dtype(name: str, **tensors: Traced) -> None:
    """RuntimeError unless the tensors, which the keywords name, are of one dtype."""
    found = [x.dtype for x in tensors.values()]
    if any(dtype is not found[0] for dtype in found):
        raise RuntimeError(
            f"{name}: {_listed(tensors)} must have the same dtype, not {_listed(found)}; convert "
            "with .to()"
        )


def require_same_rank(name: str, **tensors: Any) -> None:
    """RuntimeError unless the tensors, which the keywords name, have equally many dimensions."""
    ranks = [x.ndim for x in tensors.values()]
    if any(rank != ranks[0] for rank in ranks):
        raise RuntimeError(
            f"{name}: {_listed(tensors)} must have the same number of dimensions, not "
            f"{_listed(ranks)}"
        )


def require_matrices(name: str, x: Traced) -> None:
    """RuntimeError unless the tensor holds matrices."""
    if x.ndim < 2:
        raise RuntimeError(
            f"{name}: matrices have at least 2 dimensions, but input has shape {list(x.shape)}"
        )


def require_square(name: str, x: Traced) -> None:
    """RuntimeError unless the tensor holds square matrices."""
    require_matrices(name, x)
    if x.shape[-1] != x.shape[-2]:
        raise RuntimeError(
            f"{name}: input must hold square matrices, but they are {x.shape[-2]} by {x.shape[-1]}"
        )


def require_elements(name: str, input: Traced, error: type[Exception] = RuntimeError) -> None:
    """The error unless the tensor has elements, of which a reduction over all dims has need."""
    if numel(input.shape) == 0:
        raise error(
            f"{name}(): Expected reduction dim for input without elements; give dim=, a dimension "
            "that is not empty"
        )


def require_mask(name: str, mask: Traced) -> None:
    """RuntimeError unless the mask is of bools."""
    if mask.dtype is not dtypes.bool:
        raise RuntimeError(
            f"{name} only supports boolean masks, not {mask.dtype}; compare the mask with 0"
        )


def require_single_value(name: str, value: Any) -> None:
    """RuntimeError unless the value is a number or a tensor without dimensions."""
    if isinstance(value, Traced) and value.shape:
        raise RuntimeError(
            f"{name}: value must be a number or a 0-dimensional tensor, not one of shape "
            f"{list(value.shape)}"
        )


def require_slice(name: str, src: Traced, shape: Any) -> None:
    """RuntimeError unless src has the shape of the part of input that it replaces."""
    if tuple(src.shape) != tuple(shape):
        raise RuntimeError(
            f"{name}: src must have the shape of what it replaces in input, {list(shape)}, not "
            f"{list(src.shape)}"
        )


def require_rest(name: str, input: Traced, source: Traced, dim: int) -> None:
    """RuntimeError unless the shapes agree everywhere but at dim, a scalar being a vector of 1."""
    rest = [tuple(x.shape[:dim]) + tuple(x.shape[dim + 1 :]) for x in (input, source)]
    if max(source.ndim, 1) != max(input.ndim, 1) or rest[0] != rest[1]:
        raise RuntimeError(
            f"{name}: source must have the shape of input, {list(input.shape)}, except in dim "
            f"{dim}, not {list(source.shape)}"
        )
