"""Padding: constants, mirrored, repeated and wrapped-around edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..graph.trace import PRIMITIVES, Traced
from ..promotion import scalar_type_name
from . import build
from .record import Operand, Selector, Tensor, composite
from .regions import slice_scatter_primitive
from .samples import Draw, calls


def _pairs(name: str, input: Traced, pad: Any) -> list[tuple[int, int, int]]:
    """(dim, before, after) for each dim that ``pad`` tells of, from the last one."""
    values = tuple(pad) if isinstance(pad, list | tuple) else (pad,)
    if any(not hasattr(value, "__index__") for value in values):
        raise TypeError(f"{name}(): argument 'pad' must be tuple of ints, not {pad!r}")
    if len(values) % 2:
        raise RuntimeError(f"Padding length must be divisible by 2 (in {name}: {list(values)})")
    if len(values) > 2 * input.ndim:
        raise RuntimeError(
            f"{name}: pad has {len(values)} values, but input's {input.ndim} dimensions take "
            "two each at most"
        )
    return [(input.ndim - 1 - i, values[2 * i], values[2 * i + 1]) for i in range(len(values) // 2)]


def _cropped(name: str, x: Traced, dim: int, before: int, after: int) -> Traced:
    """Without as many elements as negative padding tells."""
    if before >= 0 and after >= 0:
        return x
    length = x.shape[dim] + min(before, 0) + min(after, 0)
    if length < 0:
        raise RuntimeError(
            f"{name}: narrow(): length must be non-negative, but padding ({before}, {after}) takes "
            f"more than the {x.shape[dim]} elements of dim {dim}"
        )
    return build.slice_(x, dim, max(-before, 0), 1, length)


def _constant(name: str, input: Traced, pad: Any, value: Any) -> Traced:
    x = input
    changed = False
    for dim, before, after in _pairs(name, input, pad):
        x = _cropped(name, x, dim, before, after)
        before, after = max(before, 0), max(after, 0)
        changed = changed or before + after > 0
        if before + after:
            x = _extended(x, dim, before, after, value)
    return x if changed else build.contiguous(x)


def _extended(x: Traced, dim: int, before: int, after: int, value: Any) -> Traced:
    size = x.shape[dim] + before + after
    if value is None or not isinstance(value, Traced) and value == 0:
        return build.pad(x, dim, before, size)
    shape = (*x.shape[:dim], size, *x.shape[dim + 1 :])
    whole = build.full(shape, build.fitting(value, x.dtype, x.context), x.dtype)
    return slice_scatter_primitive.apply(whole, x, dim=dim, start=before, step=1)


@composite(
    names=["constant_pad_nd"],
    channels_as=["input"],
    samples=calls((Draw((2, 3)), (1, 2), 3), (Draw((3,)), (1, -1))),
)
def constant_pad_nd(input: Tensor, pad: Selector, value: Operand = 0):
    """Add ``value`` at both ends of dims: pad is (before, after) of the last dim, then of the one
    before it, and so on; negative numbers cut off.
    """
    return _constant("constant_pad_nd", input, pad, value)


# ---------------------------------------------------------------- edges


def _join(*parts: Traced | None, dim: int) -> Traced:
    given = [part for part in parts if part is not None]
    return given[0] if len(given) == 1 else PRIMITIVES["cat"].apply(*given, dim=dim)


def _part(x: Traced, dim: int, start: Any, length: int) -> Traced | None:
    return build.slice_(x, dim, start, 1, length) if length > 0 else None


def _flipped(x: Traced | None, dim: int) -> Traced | None:
    return None if x is None else PRIMITIVES["flip"].apply(x, dims=(dim,))


def _reflect(x: Traced, dim: int, before: int, after: int) -> Traced:
    size = x.shape[dim]
    if before >= size or after >= size:
        raise RuntimeError(
            f"pad: this mode needs a padding smaller than the dimension, but ({before}, "
            f"{after}) is given for dim {dim} of shape {list(x.shape)}"
        )
    front = _flipped(_part(x, dim, 1, before), dim)
    return _join(front, x, _flipped(_part(x, dim, size - 1 - max(after, 0), after), dim), dim=dim)


def _replicate(x: Traced, dim: int, before: int, after: int) -> Traced:
    def edge(start: Any, length: Any) -> Traced | None:
        if length <= 0:
            return None
        one = build.slice_(x, dim, start, 1, 1)
        return build.expand(one, (*x.shape[:dim], length, *x.shape[dim + 1 :]))

    size = x.shape[dim]
    length = size + min(before, 0) + min(after, 0)
    if length > 0:
        middle = _cropped("pad", x, dim, before, after)
        return _join(edge(0, before), middle, edge(size - 1, after), dim=dim)
    # All elements are cut off, and of what is added at the other end as many as are missing.
    one = edge(0, before + length) if before > 0 else edge(size - 1, after + length)
    if one is None:
        raise RuntimeError(
            f"pad: padding ({before}, {after}) leaves nothing of the {size} elements of dim {dim}; "
            "Calculated output size: 0"
        )
    return one


def _circular(x: Traced, dim: int, before: int, after: int) -> Traced:
    size = x.shape[dim]
    if before > size or after > size:
        raise RuntimeError("Padding value causes wrapping around more than once. (in pad)")
    front = _part(x, dim, size - max(before, 0), before)
    return _join(front, x, _part(x, dim, 0, after), dim=dim)


_EDGES = {"reflect": _reflect, "replicate": _replicate, "circular": _circular}


def _check_edges(input: Traced, pairs: Sequence[Any], mode: str) -> None:
    count = len(pairs)
    if not 1 <= count <= 3 or input.ndim not in (count + 1, count + 2):
        raise NotImplementedError(
            f"Padding size {2 * count} is not supported for {input.ndim}D input tensor. Supported "
            "combinations for non-constant padding: as many dims as are padded, and one or two "
            f"before them (in pad with mode={mode!r})"
        )
    sizes = input.shape[input.ndim - count - (input.ndim == count + 1) :]
    if any(size == 0 for size in (*sizes, *input.shape[1:])):
        raise RuntimeError(
            f"pad with mode={mode!r}: input must be {count + 1}D, or {count + 2}D with a "
            f"batch, and only the batch may be empty, but its shape is {list(input.shape)}"
        )
    if input.dtype is dtypes.bool and mode != "circular":
        raise NotImplementedError(
            f"\"{mode}_pad{count}d\" not implemented for '{scalar_type_name(input.dtype)}'"
        )


@composite(
    names=["nn.functional.pad"],
    methods=[],
    channels_as=["input"],
    onnx="Pad",
    samples=calls(
        (Draw((2, 3)), (1, 2)),
        (Draw((2, 3, 4)), [0, -1, 1, 0], "constant", 2),
        (Draw((2, 3, 4)), (3, 2), "replicate"),
        (Draw((2, 3, 4)), (1, 1, 2, 0), "circular"),
        (Draw((2, 3, 4)), (3, -1), "replicate"),
    ),
)
def pad(input: Tensor, pad: Selector, mode: str = "constant", value: Operand = None):
    """Add elements at both ends of dims.

    Args:
        pad: (before, after) of the last dim, then of the one before it, and so on; negative numbers
            cut elements off.
        mode: "constant" adds value (0 if it is None), "reflect" mirrors without repeating the edge,
            "replicate" repeats the edge, "circular" continues at the other end.
    """
    if mode == "constant":
        return _constant("pad", input, pad, value)
    if mode not in _EDGES:
        raise NotImplementedError(f"Unrecognised padding mode {mode} (in pad)")
    if value is not None and not isinstance(value, Traced) and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument (in pad)')
    pairs = _pairs("pad", input, pad)
    _check_edges(input, pairs, mode)
    x = input
    for dim, before, after in pairs:
        if mode != "replicate":
            x = _cropped("pad", x, dim, before, after)
        x = _EDGES[mode](x, dim, before, after)
    if x is input:
        return build.contiguous(x)
    return build.row_major(x) if mode == "circular" else x
