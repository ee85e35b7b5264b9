"""Dims and elements along them in another order: permute, transpose, flip."""

from __future__ import annotations

from ..layout import flatten_sizes, normalize_dim, normalize_dims
from . import build
from .record import Dim, Selector, Tensor, composite
from .samples import Draw, calls
from .shapes import flip_primitive


@composite(
    names=["permute"],
    views="input",
    onnx="Transpose",
    samples=calls((Draw((2, 3, 4)), (2, 0, 1)), (Draw((2, 3)), (-1, 0)), (Draw(()), ())),
)
def permute(input: Tensor, *dims: Selector):
    """The dims in another order."""
    order = flatten_sizes(dims)
    if len(order) != input.ndim:
        raise RuntimeError(
            f"permute: dims must name each of the {input.ndim} dimensions of input once, but "
            f"there are {len(order)}"
        )
    return build.permute(input, normalize_dims(order, input.ndim))


@composite(
    names=["transpose", "swapdims"],
    views="input",
    samples=calls((Draw((2, 3, 4)), 0, -1), (Draw((2, 3)), 1, 1), (Draw(()), 0, 0)),
)
def transpose(input: Tensor, dim0: int, dim1: int):
    """Two dims exchanged."""
    first, second = normalize_dim(dim0, input.ndim), normalize_dim(dim1, input.ndim)
    dims = list(range(input.ndim))
    if dims:
        dims[first], dims[second] = dims[second], dims[first]
    return build.permute(input, dims)


@composite(names=["swapaxes"], views="input", samples=calls((Draw((2, 3, 4)), 0, -1)))
def swapaxes(input: Tensor, axis0: int, axis1: int):
    """Two dims exchanged; NumPy's name for transpose."""
    return transpose(input, axis0, axis1)


@composite(names=["t"], views="input", samples=calls((Draw((2, 3)),), (Draw((3,)),)))
def t(input: Tensor):
    """The transposed matrix."""
    if input.ndim > 2:
        raise RuntimeError(
            f"t(): input must have at most 2 dimensions, not {input.ndim}; use .mT for batches of "
            "matrices"
        )
    return build.permute(input, tuple(reversed(range(input.ndim))))


@composite(name="adjoint", names=["adjoint"], views="input", samples=calls((Draw((2, 3, 4)),)))
def adjoint(input: Tensor):
    """The last two dims exchanged, conjugated."""
    return build.conjugate(transpose(input, -2, -1))


@composite(
    names=["movedim", "moveaxis"],
    views="input",
    samples=calls((Draw((2, 3, 4)), 0, 2), (Draw((2, 3, 4)), (0, 1), (2, 0))),
)
def movedim(input: Tensor, source: Dim, destination: Dim):
    """Some dims at other places, the others in their order."""
    origins, targets = normalize_dims(source, input.ndim), normalize_dims(destination, input.ndim)
    if len(origins) != len(targets):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({source}) and destination "
            f"({destination}) differ in length"
        )
    rest = iter([dim for dim in range(input.ndim) if dim not in origins])
    placed = dict(zip(targets, origins, strict=True))
    return build.permute(
        input, [placed[dim] if dim in placed else next(rest) for dim in range(input.ndim)]
    )


@composite(
    names=["flip"],
    samples=calls((Draw((2, 3)), (0,)), (Draw((2, 3)), (0, 1)), (Draw((2, 3)), (-1,))),
)
def flip(input: Tensor, *dims: Selector):
    """The elements in reverse order along dims."""
    return flip_primitive.apply(
        input, dims=tuple(sorted(normalize_dims(flatten_sizes(dims), input.ndim)))
    )


@composite(names=["fliplr"], samples=calls((Draw((2, 3)),)))
def fliplr(input: Tensor):
    """Reversed along dim 1."""
    if input.ndim < 2:
        raise RuntimeError("Input must be >= 2-d. (in fliplr)")
    return flip(input, 1)


@composite(names=["flipud"], samples=calls((Draw((2, 3)),)))
def flipud(input: Tensor):
    """Reversed along dim 0."""
    if not input.ndim:
        raise RuntimeError("Input must be >= 1-d. (in flipud)")
    return flip(input, 0)
