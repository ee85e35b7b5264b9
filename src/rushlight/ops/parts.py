"""Views of parts: select, narrow, slices, split."""

from __future__ import annotations

from typing import Any

from ..graph.symbols import SymbolicInt
from ..graph.trace import Traced
from ..layout import normalize_dim
from . import build
from .record import Selector, Size, Tensor, composite
from .samples import Draw, calls


def select_dim(input: Traced, dim: int, index: Any, name: str = "select") -> Traced:
    """One position along a dim, which goes."""
    if not input.ndim:
        raise IndexError(f"{name}() cannot be applied to a 0-dim tensor.")
    size = input.shape[dim]
    if index < -size or index >= size:
        raise IndexError(
            f"{name}(): index {index} out of range for tensor of size {list(input.shape)} at "
            f"dimension {dim}"
        )
    start = index + size if index < 0 else index
    return build.drop_dims(build.slice_(input, dim, start, 1, 1), (dim,))


@composite(
    names=["select"], views="input", samples=calls((Draw((2, 3)), 0, 1), (Draw((2, 3)), -1, -1))
)
def select(input: Tensor, dim: int, index: Size):
    """One position along a dim, which goes."""
    return select_dim(input, normalize_dim(dim, input.ndim), index)


def _narrow_at_tensor(input: Any, dim: int, start: Any, length: int) -> Any:
    """``narrow`` with its start in a tensor."""
    if getattr(start, "ndim", None) != 0 or not start.dtype.is_integral or start.dtype.kind == "b":
        raise RuntimeError("start must be an 0-dim integral Tensor. (in narrow)")
    return narrow(input, dim, start.item(), length)


@composite(
    names=["narrow"],
    views="input",
    overload=_narrow_at_tensor,
    samples=calls((Draw((5, 3)), 0, 1, 3), (Draw((5, 3)), 0, -2, 2), (Draw((5,)), 0, 5, 0)),
)
def narrow(input: Tensor, dim: int, start: Size, length: Size):
    """The ``length`` positions from start along a dim."""
    if not input.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    dim = normalize_dim(dim, input.ndim)
    size = input.shape[dim]
    if length < 0:
        raise RuntimeError(f"narrow(): length must be non-negative, but got {length}.")
    if start < -size or start > size:
        raise IndexError(f"narrow: start out of range: {start} is not from {-size} to {size}")
    start = start + size if start < 0 else start
    if start + length > size:
        raise RuntimeError(
            f"narrow(): start ({start}) + length ({length}) exceeds dimension size ({size})."
        )
    return build.slice_(input, dim, start, 1, length)


def slice_dim(input: Traced, dim: int, start: Any, stop: Any, step: Any) -> Traced:
    """``start:stop:step`` along a dim, as Python clips it."""
    size = input.shape[dim]
    step = 1 if step is None else step
    if step <= 0:
        raise ValueError("step must be greater than zero; use flip to reverse a tensor")
    start = _clipped(0 if start is None else start, size)
    stop = size if stop is None else _clipped(stop, size)
    length = 0 if stop <= start else (stop - start + step - 1) // step
    return build.slice_(input, dim, start, step, length)


def _clipped(position: Any, size: Any) -> Any:
    if position < 0:
        position = position + size
        return 0 if position < 0 else position
    return size if position > size else position


@composite(names=["unbind"], views="input", samples=calls((Draw((3, 2)),), (Draw((3, 2)), 1)))
def unbind(input: Tensor, dim: int = 0):
    """Each position along a dim."""
    dim = normalize_dim(dim, input.ndim)
    if not input.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return tuple(
        select_dim(input, dim, index) for index in range(concrete_size(input.shape[dim], "unbind"))
    )


def concrete_size(size: Any, name: str) -> int:
    """A size that decides how many results there are: fixed for the plan by a guard."""
    if isinstance(size, SymbolicInt):
        hint = size.hint
        if hint is None or size != hint:
            raise RuntimeError(
                f"{name}: the number of results depends on a size that is unknown here"
            )
        return hint
    return size


@composite(
    names=["split"],
    views="tensor",
    samples=calls((Draw((5, 2)), 2), (Draw((5, 2)), (1, 4)), ((Draw((2, 6)), 3), {"dim": 1})),
)
def split(tensor: Tensor, split_size_or_sections: Selector, dim: int = 0):
    """Pieces of a size, the last perhaps smaller, or of the given sizes."""
    if not tensor.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    dim = normalize_dim(dim, tensor.ndim)
    size = concrete_size(tensor.shape[dim], "split")
    sections = split_size_or_sections
    if isinstance(sections, int):
        if sections < 0 or (sections == 0 and size):
            raise RuntimeError(
                f"split expects split_size be non-negative, but got split_size={sections}"
            )
        step = sections or 1
        sections = [min(step, size - start) for start in range(0, max(size, 1), step)]
    if sum(sections) != size:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size "
            f"at dimension {dim}), but got "
            f"split_sizes={list(sections)}"
        )
    starts = [sum(sections[:position]) for position in range(len(sections))]
    return tuple(
        build.slice_(tensor, dim, start, 1, length)
        for start, length in zip(starts, sections, strict=True)
    )


@composite(names=["split_with_sizes"], views="input", samples=calls((Draw((5, 2)), (1, 4))))
def split_with_sizes(input: Tensor, split_sizes: Selector, dim: int = 0):
    """Pieces of the given sizes."""
    return split(input, split_sizes, dim)


@composite(
    names=["chunk"],
    views="input",
    samples=calls((Draw((5, 2)), 2), (Draw((5, 2)), 3), ((Draw((2, 6)), 3), {"dim": 1})),
)
def chunk(input: Tensor, chunks: int, dim: int = 0):
    """At most so many pieces of equal size, the last perhaps smaller."""
    if not input.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk: chunks must be positive, not {chunks}")
    dim = normalize_dim(dim, input.ndim)
    size = concrete_size(input.shape[dim], "chunk")
    step = -(-size // chunks)
    if step == 0:
        return split(input, [0] * chunks, dim)
    return split(input, step, dim)


@composite(names=["slice_backward"], methods=[])
def slice_backward(gradient, sizes: Size, dim: int, start: Size, step: Size, length: Size):
    """The gradient of a tensor of which start, start + step, ... along dim were taken."""
    return build.pad(gradient, normalize_dim(dim, len(sizes)), start, sizes[dim], step)
