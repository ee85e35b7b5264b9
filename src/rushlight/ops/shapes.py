"""Views: other arrangements of the same elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ..graph.symbols import SymbolicInt, hint_of, same
from ..graph.trace import Traced
from ..layout import flatten_sizes, normalize_dim, normalize_dims, numel
from . import build
from .kind import shifted
from .kinds import View
from .record import Dim, Size, Tensor, composite, primitive
from .samples import Draw, calls

# ---------------------------------------------------------------- primitives


def _inverse(dims: Sequence[int]) -> tuple[int, ...]:
    result = [0] * len(dims)
    for position, dim in enumerate(dims):
        result[dim] = position
    return tuple(result)


def _expand_shift(x: Traced, size: Any, shape: tuple) -> dict[str, Any]:
    return {"shape": (size, *shape)}


def _with_size(shape: Sequence[Any], dim: int, size: Any) -> tuple:
    return (*shape[:dim], size, *shape[dim + 1 :])


class _Expand(View):
    """New dims come in front of the batch dim's place, so the input gets them first."""

    def batch(self, primitive: Any, inputs: Any, batched: Any, size: Any, attributes: Any) -> list:
        (x,), shape = inputs, attributes["shape"]
        missing = len(shape) - (x.ndim - 1)
        x = build.reshape(x, (x.shape[0], *[1] * missing, *x.shape[1:]))
        return [primitive.apply(x, shape=(size, *shape))]


def _expanded(x: Any, shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """The shape; RuntimeError if x does not expand to it."""
    lead = len(shape) - len(x.shape)
    if lead < 0 or not all(map(_expands, x.shape, shape[lead:])):
        raise RuntimeError(
            f"a tensor of shape {list(x.shape)} does not expand to shape {list(shape)}: sizes must "
            "be equal or 1, and none may be missing"
        )
    return shape


def _expands(size: Any, wanted: Any) -> bool:
    known = hint_of(size) is not None and hint_of(wanted) is not None
    return same(size, 1) or same(size, wanted) or not known or size == wanted


@primitive(
    _Expand(_expanded, _expand_shift),
    name="expand",
    transpose=lambda g, x, shape: build.sum_to(g, x.shape),
    reference=lambda x, shape: numpy.broadcast_to(x, shape),
)
def expand_primitive(x, shape):
    """Repeat along dims of size 1 and along new leading dims."""


@primitive(
    View(lambda x, shape: shape, _expand_shift),
    name="reshape",
    transpose=lambda g, x, shape: build.reshape(g, x.shape),
    reference=lambda x, shape: numpy.reshape(x, shape),
)
def reshape_primitive(x, shape):
    """The elements in row-major order, in another shape."""


@primitive(
    View(
        lambda x, dims: tuple(x.shape[dim] for dim in dims),
        lambda x, size, dims: {"dims": (0, *shifted(dims))},
    ),
    name="permute",
    transpose=lambda g, x, dims: build.permute(g, _inverse(dims)),
    reference=lambda x, dims: numpy.transpose(x, dims),
)
def permute_primitive(x, dims):
    """The dims in another order."""


def _slice_arrays(x: Any, dim: int, start: int, step: int, length: int) -> Any:
    index = [slice(None)] * x.ndim
    index[dim] = slice(start, start + (length - 1) * step + 1 if length else start, step)
    return x[tuple(index)]


def _pad_arrays(x: Any, dim: int, before: int, size: int, step: int) -> Any:
    result = numpy.zeros(_with_size(x.shape, dim, size), x.dtype)
    _slice_arrays(result, dim, before, step, x.shape[dim])[...] = x
    return result


def _shift_dim(x: Traced, size: Any, /, dim: int, **others: Any) -> dict[str, Any]:
    return {"dim": dim + 1, **others}


@primitive(
    View(lambda x, dim, start, step, length: _with_size(x.shape, dim, length), _shift_dim),
    name="slice",
    transpose=lambda g, x, dim, start, step, length: build.pad(g, dim, start, x.shape[dim], step),
    reference=_slice_arrays,
)
def slice_primitive(x, dim, start, step, length):
    """The elements start, start + step, ... along dim; step > 0."""


@primitive(
    View(lambda x, dim, before, size, step: _with_size(x.shape, dim, size), _shift_dim),
    name="pad",
    transpose=lambda g, x, dim, before, size, step: build.slice_(
        g, dim, before, step, x.shape[dim]
    ),
    reference=_pad_arrays,
)
def pad_primitive(x, dim, before, size, step):
    """Zeros of ``size`` along dim, with the elements at before, before + step, ...: the transpose
    of slice.
    """


@primitive(
    View(lambda x, dims: tuple(x.shape), lambda x, size, dims: {"dims": shifted(dims)}),
    name="flip",
    transpose=lambda g, x, dims: flip_primitive.apply(g, dims=dims),
    reference=lambda x, dims: numpy.flip(x, dims),
)
def flip_primitive(x, dims):
    """The elements in reverse order along dims."""


# ---------------------------------------------------------------- reshape


def infer_size(sizes: Sequence[Any], input: Traced, name: str) -> tuple[Any, ...]:
    """Sizes of which one may be -1, for all the elements of the input."""
    total = numel(input.shape)
    unknown = [
        position for position, size in enumerate(sizes) if isinstance(size, int) and size == -1
    ]
    for size in sizes:
        if (
            isinstance(size, bool)
            or not isinstance(size, int | SymbolicInt)
            and not hasattr(size, "__index__")
        ):
            raise TypeError(f"{name}(): sizes must be ints, not {type(size).__name__}")
        if isinstance(size, int) and size < -1:
            raise RuntimeError(f"invalid shape dimension {size} (in {name})")
    if len(unknown) > 1:
        raise RuntimeError(f"only one dimension can be inferred (in {name})")
    known = numel(tuple(size for size in sizes if not (isinstance(size, int) and size == -1)))
    message = (
        f"shape '{list(sizes)}' is invalid for input of size {total} "
        f"(in {name}: the input's shape is {list(input.shape)})"
    )
    if not unknown:
        if not same(known, total) and known != total:
            raise RuntimeError(message)
        return tuple(sizes)
    if isinstance(known, int) and known == 0:
        if total != 0:
            raise RuntimeError(message)
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(sizes)}: -1 is ambiguous, "
            "as any size fits"
        )
    if total % known != 0:
        raise RuntimeError(message)
    return _with_size(tuple(sizes), unknown[0], total // known)


@composite(
    names=["reshape"],
    views="input",
    onnx="Reshape",
    samples=calls(
        (Draw((2, 6)), (3, 4)),
        (Draw((2, 6)), (-1,)),
        (Draw(()), (1, 1)),
        (Draw((0, 3)), (3, 0)),
        (Draw((2, 6)), (2, -1, 3)),
    ),
)
def reshape(input: Tensor, *shape: Size):
    """The elements in row-major order, in another shape; one size may be -1."""
    return build.reshape(input, infer_size(flatten_sizes(shape), input, "reshape"))


@composite(
    name="view",
    methods=["view"],
    views="input",
    samples=calls((Draw((2, 6)), (3, 4)), (Draw((2, 6)), -1, 4)),
)
def view(input: Tensor, *shape: Size):
    """The elements in another shape."""
    return build.reshape(input, infer_size(flatten_sizes(shape), input, "view"))


@composite(
    name="view_as", methods=["view_as"], views="input", samples=calls((Draw((2, 6)), Draw((4, 3))))
)
def view_as(input: Tensor, other: Tensor):
    """The elements in the shape of another tensor."""
    return view(input, *other.shape)


@composite(
    name="reshape_as",
    methods=["reshape_as"],
    views="input",
    samples=calls((Draw((2, 6)), Draw((4, 3)))),
)
def reshape_as(input: Tensor, other: Tensor):
    """The elements in the shape of another tensor."""
    return reshape(input, *other.shape)


@composite(
    names=["flatten"],
    views="input",
    onnx="Flatten",
    samples=calls((Draw((2, 3, 4)),), (Draw((2, 3, 4)), 1), (Draw((2, 3, 4)), 0, 1), (Draw(()),)),
)
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1):
    """The dims from start_dim to end_dim as one."""
    start, end = normalize_dim(start_dim, input.ndim), normalize_dim(end_dim, input.ndim)
    if not input.ndim:
        return build.reshape(input, (1,))
    if start > end:
        raise RuntimeError(f"flatten(): start_dim={start_dim} comes after end_dim={end_dim}")
    merged = numel(input.shape[start : end + 1])
    return build.reshape(input, (*input.shape[:start], merged, *input.shape[end + 1 :]))


@composite(
    names=["unflatten"],
    views="input",
    samples=calls((Draw((2, 6)), 1, (2, 3)), (Draw((2, 6)), -1, (-1, 3))),
)
def unflatten(input: Tensor, dim: int, sizes: Size):
    """One dim as several."""
    dim = normalize_dim(dim, input.ndim)
    sizes = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    if any(isinstance(size, int) and size == -1 for size in sizes):
        known = numel(tuple(size for size in sizes if not (isinstance(size, int) and size == -1)))
        sizes = tuple(
            input.shape[dim] // known if isinstance(size, int) and size == -1 else size
            for size in sizes
        )
    if numel(sizes) != input.shape[dim]:
        raise RuntimeError(
            f"unflatten: sizes {list(sizes)} don't multiply up to {input.shape[dim]}, the size "
            f"of dim {dim}"
        )
    return build.reshape(input, (*input.shape[:dim], *sizes, *input.shape[dim + 1 :]))


@composite(
    names=["squeeze"],
    views="input",
    onnx="Squeeze",
    samples=calls(
        (Draw((1, 3, 1)),),
        (Draw((1, 3, 1)), 0),
        (Draw((1, 3, 1)), 1),
        (Draw((1, 3, 1)), (0, -1)),
        (Draw(()), 0),
    ),
)
def squeeze(input: Tensor, dim: Dim = None):
    """Without the dims of size 1, or without those of the given dims that have size 1."""
    dims = normalize_dims(dim, input.ndim)
    return build.drop_dims(input, [each for each in dims if input.shape[each] == 1])


@composite(
    names=["unsqueeze"],
    views="input",
    onnx="Unsqueeze",
    samples=calls((Draw((2, 3)), 0), (Draw((2, 3)), -1), (Draw(()), 0)),
)
def unsqueeze(input: Tensor, dim: int):
    """With a dim of size 1 at ``dim``."""
    return build.insert_dim(input, normalize_dim(dim, input.ndim + 1))


@composite(names=["ravel"], views="input", samples=calls((Draw((2, 3)),)))
def ravel(input: Tensor):
    """The elements in one dim."""
    return build.reshape(input, (numel(input.shape),))


# ---------------------------------------------------------------- expand


@composite(
    name="expand",
    methods=["expand"],
    views="input",
    onnx="Expand",
    samples=calls(
        (Draw((1, 3)), 2, 3), (Draw((3, 1)), (2, -1, 4)), (Draw(()), (2,)), (Draw((1,)), (0,))
    ),
)
def expand(input: Tensor, *size: Size, implicit: bool = False):
    """Repeat along dims of size 1; -1 keeps a size."""
    return build.expand(input, expanded_shape(input, flatten_sizes(size), "expand"))


def expanded_shape(input: Traced, sizes: Sequence[Any], name: str) -> tuple[Any, ...]:
    """The sizes with -1 filled in, checked."""
    lead = len(sizes) - input.ndim
    if lead < 0:
        raise RuntimeError(
            f"{name}: {list(sizes)} has fewer sizes than the tensor, of shape "
            f"{list(input.shape)}, has dimensions; add leading ones"
        )
    shape = []
    for dim, size in enumerate(sizes):
        keep = isinstance(size, int) and size == -1
        if dim < lead:
            if keep or size < 0:
                raise RuntimeError(
                    f"{name}: size {size} isn't allowed in the leading dimension {dim}, which "
                    "the tensor lacks; give its size"
                )
            shape.append(size)
            continue
        existing = input.shape[dim - lead]
        if not keep and existing != 1 and size != existing:
            raise RuntimeError(
                f"The expanded size of the tensor ({size}) must match the existing size "
                f"({existing}) at non-singleton dimension "
                f"{dim}.  Target sizes: {list(sizes)}.  Tensor sizes: {list(input.shape)} (in "
                f"{name})"
            )
        shape.append(existing if keep or existing != 1 else size)
    return tuple(shape)


@composite(
    name="expand_as",
    methods=["expand_as"],
    views="input",
    samples=calls((Draw((1, 3)), Draw((2, 3)))),
)
def expand_as(input: Tensor, other: Tensor):
    """Repeat to the shape of another tensor."""
    return build.expand(input, expanded_shape(input, other.shape, "expand_as"))


@composite(names=["broadcast_to"], views="input", samples=calls((Draw((1, 3)), (2, 3))))
def broadcast_to(input: Tensor, size: Size):
    """Repeat to a shape."""
    return build.expand(input, expanded_shape(input, tuple(size), "broadcast_to"))


@composite(
    name="repeat",
    methods=["repeat"],
    samples=calls((Draw((2, 3)), 2, 1), (Draw((3,)), (2, 2)), (Draw((2,)), 0)),
)
def repeat(input: Tensor, *repeats: Size):
    """The tensor so many times along each dim."""
    counts = flatten_sizes(repeats)
    lead = len(counts) - input.ndim
    if lead < 0:
        raise RuntimeError(
            f"repeat: {len(counts)} repeats are fewer than the {input.ndim} dimensions of the "
            f"tensor, of shape {list(input.shape)}"
        )
    sizes = (*[1] * lead, *input.shape)
    if all(isinstance(count, int) and count == 1 for count in counts):
        return build.contiguous(build.reshape(input, sizes))
    apart = build.reshape(input, [each for size in sizes for each in (1, size)])
    repeated = build.expand(
        apart, [each for count, size in zip(counts, sizes, strict=True) for each in (count, size)]
    )
    return build.reshape(
        repeated, [count * size for count, size in zip(counts, sizes, strict=True)]
    )


@composite(names=["tile"], samples=calls((Draw((2, 3)), (2,)), (Draw((3,)), (2, 2))))
def tile(input: Tensor, *dims: Size):
    """Like repeat; missing counts are 1."""
    counts = flatten_sizes(dims)
    return repeat(input, (*[1] * (input.ndim - len(counts)), *counts))
