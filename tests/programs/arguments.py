"""Argument strategies: functions of the drawing and of the arguments drawn before."""

from __future__ import annotations

from typing import Any

import numpy
from calls import Dtype, Ref
from drawing import Drawing, broadcasts, dtype

Arguments = list[Any]


def tensor(d: Drawing, args: Arguments) -> Ref:
    return d.tensor()


def floating(d: Drawing, args: Arguments) -> Ref:
    return d.tensor(lambda each: each.is_floating_point())


def real(d: Drawing, args: Arguments) -> Ref:
    return d.tensor(lambda each: not each.is_complex())


def integral(d: Drawing, args: Arguments) -> Ref:
    return d.tensor(lambda each: not each.is_floating_point() and not each.is_complex())


def small(d: Drawing, args: Arguments) -> Ref:
    """A tensor that is worth listing."""
    return d.tensor(lambda each: each.numel() < 30)


def ranked(low: int, high: int, accept: Any = None) -> Any:
    def strategy(d: Drawing, args: Arguments) -> Ref:
        return d.tensor(lambda each: low <= each.ndim <= high and (accept is None or accept(each)))

    return strategy


def like(d: Drawing, args: Arguments) -> Ref:
    """A tensor of the first one's shape and dtype."""
    x = d.value(args[0])
    if d.percent(30):
        return d.leaf(x.shape, repr(x.dtype).rpartition(".")[2])
    return d.tensor(lambda each: each.shape == x.shape and each.dtype == x.dtype)


def broadcastable(d: Drawing, args: Arguments) -> Ref:
    x = d.value(args[0])
    if d.percent(20):
        shape = [size if d.percent(60) else 1 for size in x.shape]
        return d.leaf(shape[d.integer(0, len(shape)) :])
    return d.tensor(lambda each: broadcasts(each.shape, x.shape))


def same_dtype(d: Drawing, args: Arguments) -> Ref:
    x = d.value(args[0])
    return d.tensor(lambda each: broadcasts(each.shape, x.shape) and each.dtype == x.dtype)


def operand(d: Drawing, args: Arguments) -> Any:
    return d.number() if d.percent(35) else broadcastable(d, args)


def number(d: Drawing, args: Arguments) -> Any:
    return d.number()


def maybe_operand(d: Drawing, args: Arguments) -> Any:
    return None if d.percent(20) else operand(d, args)


def mask(d: Drawing, args: Arguments) -> Ref:
    x = d.value(args[0])
    if d.percent(50):
        return d.leaf(x.shape, "bool")
    return d.tensor(lambda each: broadcasts(each.shape, x.shape) and "bool" in repr(each.dtype))


def dim(d: Drawing, args: Arguments) -> int:
    rank = d.value(args[0]).ndim
    if d.mistake():
        return d.choice((rank, -rank - 1, 7))
    return d.integer(-max(rank, 1), max(rank, 1) - 1)


def new_dim(d: Drawing, args: Arguments) -> int:
    rank = d.value(args[0]).ndim
    return rank + 1 if d.mistake() else d.integer(-rank - 1, rank)


def dims(d: Drawing, args: Arguments) -> Any:
    if d.percent(70):
        return dim(d, args)
    return tuple(dim(d, args) for _ in range(d.integer(0, 2)))


def dim_tuple(d: Drawing, args: Arguments) -> tuple[int, ...]:
    return tuple(dim(d, args) for _ in range(d.integer(1, 2)))


def order(d: Drawing, args: Arguments) -> tuple[int, ...]:
    rank = d.value(args[0]).ndim
    result = list(range(rank))
    for position in range(rank):
        other = d.integer(position, rank - 1)
        result[position], result[other] = result[other], result[position]
    if rank and d.percent(20):
        result[0] -= rank
    if d.mistake():
        result.append(0)
    return tuple(result)


def flag(d: Drawing, args: Arguments) -> bool:
    return d.percent(50)


def one_of(*options: Any) -> Any:
    return lambda d, args: d.choice(options)


def some_dtype(d: Drawing, args: Arguments) -> Any:
    return dtype(d)


def floating_dtype(d: Drawing, args: Arguments) -> Any:
    return Dtype(d.choice(("float64", "float32", "bfloat16", "float16")))


def shape(d: Drawing, args: Arguments) -> tuple[int, ...]:
    return tuple(d.choice((3, 1, 2, 0, 5)) for _ in range(d.integer(0, 3)))


def new_shape(d: Drawing, args: Arguments) -> tuple[int, ...]:
    """A shape for all the first tensor's elements."""
    sizes = list(d.value(args[0]).shape)
    if d.percent(20):
        return (-1,)
    for _ in range(d.integer(1, 3)):
        kind = d.integer(0, 3)
        position = d.integer(0, max(len(sizes) - 1, 0))
        if kind == 0:
            sizes.insert(position, 1)
        elif kind == 1 and len(sizes) > 1:
            position = min(position, len(sizes) - 2)
            sizes[position : position + 2] = [sizes[position] * sizes[position + 1]]
        elif kind == 2 and sizes and sizes[position] % 2 == 0:
            sizes[position : position + 1] = [2, sizes[position] // 2]
        elif kind == 3:
            sizes.reverse()
    if sizes and d.percent(20):
        sizes[d.integer(0, len(sizes) - 1)] = -1
    if d.mistake():
        sizes.append(2)
    return tuple(sizes)


def expanded(d: Drawing, args: Arguments) -> tuple[int, ...]:
    sizes = [
        -1 if d.percent(20) else d.choice((3, 2)) if size == 1 else size
        for size in d.value(args[0]).shape
    ]
    if d.percent(30):
        sizes.insert(0, d.choice((2, 1, 0)))
    if d.mistake():
        sizes = [4, *sizes[1:]]
    return tuple(sizes)


def repeats(d: Drawing, args: Arguments) -> tuple[int, ...]:
    return tuple(
        d.choice((1, 2, 0)) for _ in range(d.value(args[0]).ndim + (0 if d.percent(60) else 1))
    )


def size_of_dim(d: Drawing, args: Arguments) -> int:
    x, along = d.value(args[0]), args[1]
    return x.shape[along] if x.ndim and -x.ndim <= along < x.ndim else 1


def position(d: Drawing, args: Arguments) -> int:
    """An index into the dim that is the second argument."""
    size = size_of_dim(d, args)
    return size if d.mistake() or size == 0 else d.integer(-size, size - 1)


def index_like(d: Drawing, args: Arguments) -> Ref:
    """For gather: an index tensor of the input's rank."""
    x = d.value(args[0])
    sizes = [size if d.percent(60) else min(size, 1) for size in x.shape]
    return d.indices(sizes, size_of_dim(d, args), negative=False)


def index_vector(d: Drawing, args: Arguments) -> Ref:
    if not d.value(args[0]).ndim:
        return Ref(d.program.leaf(numpy.zeros(1), "int64", "contiguous"))
    length = d.choice((3, 1, 2))
    return d.indices((length,), size_of_dim(d, args), negative=False)


def source_like(d: Drawing, args: Arguments) -> Ref:
    """For scatter: a source at least as large as the index (third argument)."""
    x, index = d.value(args[0]), d.value(args[2])
    return d.leaf(
        [size + (1 if d.percent(10) else 0) for size in index.shape],
        repr(x.dtype).rpartition(".")[2],
    )


def source_rows(d: Drawing, args: Arguments) -> Ref:
    """For index_add: as many rows along dim as the index has."""
    x, along, index = d.value(args[0]), args[1], d.value(args[2])
    sizes = list(x.shape)
    if sizes and -x.ndim <= along < x.ndim:
        sizes[along] = index.numel()
    return d.leaf(sizes, repr(x.dtype).rpartition(".")[2])


def tensors(same_shape: bool) -> Any:
    def strategy(d: Drawing, args: Arguments) -> list[Ref]:
        found = [d.tensor()]
        x = d.value(found[0])
        for _ in range(d.integer(0, 2)):
            found.append(
                d.tensor(lambda each: each.shape == x.shape)
                if same_shape or d.percent(70)
                else d.tensor(lambda each: each.ndim == x.ndim)
            )
        return found

    return strategy


def joined_dim(d: Drawing, args: Arguments) -> int:
    return dim(d, args[0])


def stacked_dim(d: Drawing, args: Arguments) -> int:
    return new_dim(d, args[0])


def matrix_partner(d: Drawing, args: Arguments) -> Ref:
    """The right operand of a matrix product."""
    x = d.value(args[0])
    rows = x.shape[-1] if x.ndim else 3
    name = repr(x.dtype).rpartition(".")[2]
    if d.percent(50):
        return d.tensor(
            lambda e: e.ndim > 0 and e.dtype == x.dtype and e.shape[-min(e.ndim, 2)] == rows
        )
    if d.percent(20):
        return d.leaf((rows,), name)
    return d.leaf((*x.shape[:-2][: d.integer(0, 2)], rows, d.choice((3, 2, 1, 37, 0))), name)


def matrix(d: Drawing, args: Arguments) -> Ref:
    x = d.value(args[0])
    return d.leaf(
        (x.shape[-1] if x.ndim else 3, d.choice((3, 2, 1, 0))), repr(x.dtype).rpartition(".")[2]
    )


def weight(d: Drawing, args: Arguments) -> Ref:
    x = d.value(args[0])
    return d.leaf(
        (d.choice((3, 2, 1)), x.shape[-1] if x.ndim else 3), repr(x.dtype).rpartition(".")[2]
    )


def bias(d: Drawing, args: Arguments) -> Ref | None:
    w = d.value(args[1])
    return None if d.percent(40) else d.leaf(w.shape[:1], repr(w.dtype).rpartition(".")[2])


def scores(d: Drawing, args: Arguments) -> Ref:
    """For cross_entropy: PyTorch's mean over no class at all is NaN or 0, as the rank may be."""
    fitting = [
        number
        for number, each in enumerate(d.program.theirs)
        if 1 <= each.ndim <= 3 and each.is_floating_point() and each.numel() > 0
    ]
    return Ref(d.choice(fitting)) if fitting else d.leaf((2, 3), "float32")


def trailing_shape(d: Drawing, args: Arguments) -> tuple[int, ...]:
    x = d.value(args[0])
    sizes = tuple(x.shape[d.integer(0, max(x.ndim - 1, 0)) :])
    return (*sizes, 2) if d.mistake() else sizes


def affine(d: Drawing, args: Arguments) -> Ref | None:
    return (
        None if d.percent(50) else d.leaf(args[1], repr(d.value(args[0]).dtype).rpartition(".")[2])
    )


def classes(d: Drawing, args: Arguments) -> Ref:
    """A target for cross_entropy."""
    x = d.value(args[0])
    if d.percent(20):
        return d.leaf(x.shape, repr(x.dtype).rpartition(".")[2])
    rank = x.ndim
    sizes = [x.shape[0], *x.shape[2:]] if rank > 1 else []
    return d.indices(sizes, x.shape[1] if rank > 1 else x.shape[0] if rank else 1, negative=False)


# ---------------------------------------------------------------- subscripts


def subscript(d: Drawing, args: Arguments) -> Any:
    """Anything between the brackets."""
    x = d.value(args[0])
    kind = d.integer(0, 9)
    if kind == 0 and x.ndim:
        return d.leaf(x.shape[: d.integer(1, x.ndim)], "bool")
    if kind == 1:
        return d.choice((..., None, True, False, [], (), slice(None)))
    parts: list[Any] = []
    for size in x.shape[: d.integer(0, x.ndim)]:
        parts.append(subscript_part(d, size))
        if d.percent(8):
            parts.append(None)
    if d.percent(15):
        parts.insert(d.integer(0, len(parts)), ...)
    if d.mistake():
        parts.append(d.choice((0, 5, 1.5, slice(None, None, -1), slice(0, 1, 0))))
    return parts[0] if len(parts) == 1 else tuple(parts)


def subscript_part(d: Drawing, size: int) -> Any:
    kind = d.integer(0, 9)
    if kind < 4:
        bounds = [None, *range(-size - 1, size + 2)]
        return slice(d.choice(bounds), d.choice(bounds), d.choice((None, 2, 1, 3)))
    if kind < 7 and size:
        return size if d.mistake() else d.integer(-size, size - 1)
    if kind == 7:
        return d.indices(
            d.choice(((), (2,), (3, 1), (1,), (3,))),
            size,
            d.choice(("int64", "int64", "int32", "uint8")),
            True,
        )
    if kind == 8 and size:
        return [d.integer(-size, size - 1) for _ in range(d.integer(1, 3))]
    if kind == 9:
        return d.leaf((size,), "bool")
    return slice(None)


def assigned(d: Drawing, args: Arguments) -> Any:
    """The right side of an assignment to a subscript."""
    if d.percent(40):
        return d.number()
    x = d.value(args[0])
    try:
        target = x[_plain(d, args[1])]
    except Exception:  # the assignment will raise too
        return d.tensor()
    if d.percent(50):
        kept = [size if d.percent(80) else 1 for size in target.shape]
        return d.leaf(kept, repr(x.dtype).rpartition(".")[2] if d.percent(70) else None)
    return d.tensor(lambda each: broadcasts(each.shape, target.shape))


def _plain(d: Drawing, index: Any) -> Any:
    if isinstance(index, Ref):
        return d.value(index)
    if isinstance(index, tuple):
        return tuple(_plain(d, part) for part in index)
    return index


def index_tensors(d: Drawing, args: Arguments) -> tuple[Ref, ...]:
    """For index_put."""
    x = d.value(args[0])
    sizes = x.shape[: d.integer(1, max(x.ndim, 1))] or (1,)
    return tuple(d.indices((3,), size) for size in sizes)


def put_values(d: Drawing, args: Arguments) -> Ref:
    name = repr(d.value(args[0]).dtype).rpartition(".")[2]
    return d.leaf(d.choice(((), (3,), (1,))), name)
