"""Shapes: broadcasting, dims and sizes. Sizes may be symbolic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Shape = tuple[Any, ...]


def broadcast_shapes(shapes: Sequence[Shape], operator: str = "") -> Shape:
    """The shape to which all shapes expand; RuntimeError as PyTorch's if there is none."""
    result: Shape = shapes[0] if shapes else ()
    for shape in shapes[1:]:
        result = _broadcast_pair(result, shape, operator)
    return result


def _broadcast_pair(a: Shape, b: Shape, operator: str) -> Shape:
    if a is b or not b:
        return a
    rank = max(len(a), len(b))
    result = []
    for dim in range(rank):
        left = a[dim - rank + len(a)] if dim - rank + len(a) >= 0 else 1
        right = b[dim - rank + len(b)] if dim - rank + len(b) >= 0 else 1
        if left is right or right == 1:
            result.append(left)
        elif left == 1 or left == right:
            result.append(right)
        else:
            where = f"{operator}: " if operator else ""
            raise RuntimeError(
                f"{where}shapes {list(a)} and {list(b)} do not broadcast: size {left} of the first "
                f"must match the size of tensor b ({right}) at non-singleton dimension {dim}"
            )
    return tuple(result)


def normalize_dim(dim: Any, rank: int) -> int:
    """The dim as a number from 0; a 0-d tensor has the dims 0 and -1."""
    if isinstance(dim, bool) or not isinstance(dim, int):
        dim = _index(dim)
    limit = max(rank, 1)
    if not -limit <= dim < limit:
        raise IndexError(f"Dimension out of range: {dim} is not in [{-limit}, {limit - 1}]")
    return dim % limit


def _index(dim: Any) -> int:
    try:
        return dim.__index__()
    except AttributeError:
        raise TypeError(f"dim must be an int, not {type(dim).__name__}") from None


def normalize_dims(dims: Any, rank: int) -> tuple[int, ...]:
    """Dims given as None (all), an int or a sequence, as distinct numbers from 0."""
    if dims is None:
        return tuple(range(rank))
    if not isinstance(dims, Iterable):
        dims = (dims,)
    result = tuple(normalize_dim(dim, rank) for dim in dims)
    for position, dim in enumerate(result):
        if dim in result[:position]:
            raise RuntimeError(f"dim {dim} appears multiple times in the list of dims")
    return result if rank else ()


def reduced_dims(dims: Any, rank: int) -> tuple[int, ...]:
    """The dims over which a reduction runs, sorted: None and an empty list mean all."""
    if dims is None or (isinstance(dims, Sequence) and not dims):
        return tuple(range(rank))
    return tuple(sorted(normalize_dims(dims, rank)))


def numel(shape: Shape) -> Any:
    """The number of elements."""
    result: Any = 1
    for size in shape:
        result = result * size
    return result


def flatten_sizes(sizes: Sequence[Any]) -> Shape:
    """Sizes given as ``(2, 3)`` or as one sequence ``((2, 3),)``."""
    if len(sizes) == 1 and isinstance(sizes[0], list | tuple):
        return tuple(sizes[0])
    return tuple(sizes)


def contiguous_strides(shape: Shape) -> Shape:
    """Row-major strides in elements."""
    strides: list[Any] = []
    stride: Any = 1
    for size in reversed(shape):
        strides.append(stride)
        stride = stride * (size if not isinstance(size, int) else max(size, 1))
    return tuple(reversed(strides))
