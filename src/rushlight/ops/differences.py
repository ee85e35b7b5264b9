"""Differences and integrals of sampled functions: diff, gradient, trapezoid."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..graph.trace import Traced
from ..layout import normalize_dim
from . import build
from .record import Operand, Operands, Selector, Tensor, composite, op
from .samples import Draw, calls


def _pairs(x: Traced, dim: int) -> tuple[Traced, Traced]:
    """All elements along dim but the last, and all but the first."""
    length = x.shape[dim] - 1
    return build.slice_(x, dim, 0, 1, length), build.slice_(x, dim, 1, 1, length)


@composite(
    names=["diff"],
    out=True,
    samples=calls(
        (Draw((5,)),),
        (Draw((3, 4)), 2, 0),
        ((Draw((3, 4)),), {"prepend": Draw((3, 1)), "append": Draw((3, 2))}),
        (Draw((2,)), 3),
    ),
)
def diff(input: Tensor, n: int = 1, dim: int = -1, prepend=None, append=None):
    """The differences of neighbours along dim, n times; prepend and append are joined first."""
    if not input.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n} (in diff)")
    for each in (prepend, append):
        if each is not None and each.ndim != input.ndim:
            raise RuntimeError(
                f"diff: prepend and append need as many dimensions as input, {input.ndim}, but "
                f"one has {each.ndim}"
            )
    dim = normalize_dim(dim, input.ndim)
    if n == 0:
        return build.contiguous(input)
    parts = [x for x in (prepend, input, append) if x is not None]
    if len(parts) > 1:
        input = op.cat(parts, dim)
    for _ in range(n):
        if input.shape[dim] == 0:
            return input
        before, after = _pairs(input, dim)
        input = before != after if input.dtype is dtypes.bool else after - before
    return input


# ---------------------------------------------------------------- integrals


def _intervals(y: Traced, x: Any, dx: Any, dim: int, name: str) -> Any:
    """The lengths between samples, to be multiplied with values along dim."""
    if y.dtype is dtypes.bool:
        raise RuntimeError(f"{name}: y must not be bool; convert it to a numeric dtype")
    if x is None:
        return dx
    if x.dtype is dtypes.bool:
        raise RuntimeError(f"{name}: received a bool input for `x`, but bool is not supported")
    if x.ndim == 1:
        if x.shape[0] != y.shape[dim]:
            raise RuntimeError(
                f"{name}: each sample of y needs its x, but x has {x.shape[0]} values, and y "
                f"of shape {list(y.shape)} has {y.shape[dim]} along dim {dim}"
            )
        x = build.reshape(x, [x.shape[0] if each == dim else 1 for each in range(y.ndim)])
    elif x.ndim < y.ndim:
        x = build.reshape(x, (*[1] * (y.ndim - x.ndim), *x.shape))
    before, after = _pairs(x, dim)
    return build.kept(after - before)


def _no_dims(y: Traced, dim: int) -> None:
    if not y.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")


_TRAPEZOID_SAMPLES = calls(
    (Draw((5,)),),
    (Draw((3, 5)), Draw((5,))),
    ((Draw((3, 4)),), {"dx": 2.0, "dim": 0}),
    ((Draw((3, 4)), Draw((3, 4))), {"dim": 0}),
)


@composite(names=["trapezoid", "trapz"], methods=[], samples=_TRAPEZOID_SAMPLES)
def trapezoid(y: Tensor, x=None, *, dx: Operand = None, dim: int = -1):
    """The integral along dim by the trapezoidal rule, at places x or dx apart."""
    _no_dims(y, dim)
    dim = normalize_dim(dim, y.ndim)
    length = y.shape[dim]
    if length == 0:
        return build.full((*y.shape[:dim], *y.shape[dim + 1 :]), 0, y.dtype)
    width = _intervals(y, x, 1 if dx is None else dx, dim, "trapezoid")
    if x is None:
        ends = [build.drop_dims(build.slice_(y, dim, at, 1, 1), (dim,)) for at in (0, length - 1)]
        return (op.sum(y, dim) - (ends[0] + ends[1]) * 0.5) * width
    before, after = _pairs(y, dim)
    return op.sum(build.kept(before + after) * width, dim) / 2.0


@composite(names=["cumulative_trapezoid"], methods=[], samples=_TRAPEZOID_SAMPLES)
def cumulative_trapezoid(y: Tensor, x=None, *, dx: Operand = None, dim: int = -1):
    """The running integral along dim by the trapezoidal rule."""
    _no_dims(y, dim)
    dim = normalize_dim(dim, y.ndim)
    width = _intervals(y, x, 1 if dx is None else dx, dim, "cumulative_trapezoid")
    before, after = _pairs(y, dim)
    if x is None:
        return op.cumsum((before + after) * (width / 2.0), dim)
    return op.cumsum(build.kept(before + after) * width, dim) / 2.0


# ---------------------------------------------------------------- gradient


def _one_gradient(x: Traced, spacing: Any, dim: int, edge_order: int) -> Traced:
    """The derivative along dim of samples ``spacing`` apart (a number or coordinates)."""
    length = x.shape[dim]

    def part(start: Any, count: Any) -> Traced:
        return build.slice_(x, dim, start, 1, count)

    if isinstance(spacing, Traced) and spacing.ndim == 1:
        along = [-1 if each == dim else 1 for each in range(x.ndim)]
        step = build.slice_(spacing, 0, 1, 1, length - 1) - build.slice_(
            spacing, 0, 0, 1, length - 1
        )

        def steps(start: Any, count: Any) -> Any:
            return op.reshape(build.slice_(step, 0, start, 1, count), along)

    else:

        def steps(start: Any, count: Any) -> Any:
            return spacing

    middle = length - 2
    left, right = steps(0, middle), steps(1, middle)
    before, here, after = part(0, middle), part(1, middle), part(2, middle)
    if isinstance(spacing, Traced) and spacing.ndim == 1:
        inner = (
            -right / (left * (left + right)) * before
            + (right - left) / (left * right) * here
            + left / (right * (left + right)) * after
        )
    else:
        inner = (after - before) / (spacing * 2)
    return op.cat([*_edge(part, steps, length, edge_order, inner)], dim)


def _edge(part: Any, steps: Any, length: Any, edge_order: int, inner: Traced) -> Any:
    """The derivatives at the first sample, between, and at the last."""
    if edge_order == 1:
        first = (part(1, 1) - part(0, 1)) / steps(0, 1)
        last = (part(length - 1, 1) - part(length - 2, 1)) / steps(length - 2, 1)
        return first, inner, last
    a, b = steps(0, 1), steps(1, 1)
    first = (
        -(a * 2 + b) / (a * (a + b)) * part(0, 1)
        + (a + b) / (a * b) * part(1, 1)
        - a / (b * (a + b)) * part(2, 1)
    )
    a, b = steps(length - 3, 1), steps(length - 2, 1)
    last = (
        b / (a * (a + b)) * part(length - 3, 1)
        - (b + a) / (a * b) * part(length - 2, 1)
        + (b * 2 + a) / (b * (a + b)) * part(length - 1, 1)
    )
    return first, inner, last


@composite(
    names=["gradient"],
    methods=[],
    samples=calls(
        (Draw((5,)),),
        ((Draw((4, 5)),), {"spacing": 2.0, "dim": 1}),
        ((Draw((4, 5)),), {"edge_order": 2}),
    ),
)
def gradient(input: Tensor, *, spacing: Operands = None, dim: Selector = None, edge_order: int = 1):
    """The derivatives of a sampled function along dims: by central differences inside, one-sided
    at the edges. spacing: a number, one for each dim, or coordinates for each dim.
    """
    if input.dtype is dtypes.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    dims = list(range(input.ndim)) if dim is None else dim
    dims = [normalize_dim(each, input.ndim) for each in ([dims] if isinstance(dims, int) else dims)]
    for position, each in enumerate(dims):
        if each in dims[:position]:
            raise RuntimeError(f"dim {each} appears multiple times in the list of dims")
    spacing = 1 if spacing is None else spacing
    spacings = list(spacing) if isinstance(spacing, list | tuple) else [spacing] * len(dims)
    if len(spacings) != len(dims):
        raise RuntimeError(
            f"gradient: spacing must be a number or have an entry for each of the {len(dims)} "
            f"dims, not {len(spacings)}"
        )
    for each, step in zip(dims, spacings, strict=True):
        if input.shape[each] < edge_order + 1:
            raise RuntimeError(
                f"gradient: edge_order={edge_order} needs sizes of at least {edge_order + 1}, "
                f"but dim {each} of input has {input.shape[each]}"
            )
        if isinstance(step, Traced) and step.ndim == 1 and step.shape[0] != input.shape[each]:
            raise RuntimeError(
                "torch.gradient expected each coordinates tensor to have as many elements as the "
                f"dim: {step.shape[0]} are given for dim {each} of size {input.shape[each]}"
            )
    return tuple(
        _one_gradient(input, step, each, edge_order)
        for each, step in zip(dims, spacings, strict=True)
    )
