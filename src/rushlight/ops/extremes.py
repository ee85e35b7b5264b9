"""The greater and lesser of two, and the greatest and least of many."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.trace import Traced
from ..layout import normalize_dim, numel, reduced_dims
from ..promotion import scalar_type_name
from . import build
from .arithmetic import computed_dtype, elementwise
from .checks import require_elements
from .kinds import Elementwise, Reduction, Where, floating, integers, real
from .record import NONE, Dim, Selector, Tensor, composite, op, primitive
from .reductions import finish_dims, keep_dims
from .results import named
from .samples import Draw, binary, calls

# ---------------------------------------------------------------- of two


def _maximum_partials(out: Any, x: Any, y: Any) -> tuple[Where, Where]:
    share = op.where(x == y, 0.5, 1.0)
    return Where(~(x < y), share), Where(~(x > y), share)


def _minimum_partials(out: Any, x: Any, y: Any) -> tuple[Where, Where]:
    of_x, of_y = _maximum_partials(out, x, y)
    return of_y, of_x


@primitive(
    Elementwise(real),
    names=["maximum"],
    derivative=_maximum_partials,
    reference=numpy.maximum,
    samples=binary(),
    onnx="Max",
)
def maximum(input: Tensor, other: Tensor):
    """The greater of two; NaN if either is."""


@primitive(
    Elementwise(real),
    names=["minimum"],
    derivative=_minimum_partials,
    reference=numpy.minimum,
    samples=binary(),
    onnx="Min",
)
def minimum(input: Tensor, other: Tensor):
    """The lesser of two; NaN if either is."""


@composite(names=["fmax"], out=True, samples=binary())
def fmax(input: Tensor, other: Tensor):
    """The greater of two; NaN only if both are."""
    return op.where((input >= other) | op.isnan(other), input, other)


@composite(names=["fmin"], out=True, samples=binary())
def fmin(input: Tensor, other: Tensor):
    """The lesser of two; NaN only if both are."""
    return op.where((input <= other) | op.isnan(other), input, other)


@primitive(
    Elementwise(integers | floating),
    name="clamp",
    scalar=lambda s, x, low, high: s.minimum(s.maximum(x, low), high),
    derivative=lambda out, x, low, high: (
        (x >= low) & (x <= high),
        (low < high) & (x < low),
        (x > high) | (high < low),
    ),
    reference=lambda x, low, high: numpy.minimum(numpy.maximum(x, low), high),
)
def clamped(x, low, high):
    """x, but at least low, then at most high."""


@primitive(
    Elementwise(real),
    scalar="maximum",
    derivative=lambda out, x, low: (x >= low, x < low),
    reference=numpy.maximum,
)
def clamp_low(x, low):
    """x, but at least low. The gradient at equality is x's."""


@primitive(
    Elementwise(real),
    scalar="minimum",
    derivative=lambda out, x, high: (x <= high, x > high),
    reference=numpy.minimum,
)
def clamp_high(x, high):
    """x, but at most high. The gradient at equality is x's."""


def _out_of_clamp(input: Any, min: Any = None, max: Any = None) -> bool | str:
    """If no bound is a number, traced or not, it converts as arithmetic does."""
    number = any(isinstance(e, int | float) or getattr(e, "weak", False) for e in (min, max))
    return "same dtype" if number else True


@composite(
    names=["clamp", "clip"],
    inplace=True,
    out=_out_of_clamp,
    onnx="Clip",
    samples=calls(
        (Draw((3, 4)), -1, 2),
        ((Draw((3, 4)),), {"min": 0.5}),
        ((Draw((3, 4)),), {"max": 1}),
        (Draw((2, 3)), Draw((3,)), Draw((2, 1))),
        (Draw((3,)), 2, -1),
    ),
)
def clamp(input, min=None, max=None):
    """input, but at least min, then at most max; each bound may be a tensor, a number or None."""
    if min is None and max is None:
        raise RuntimeError("clamp: at least one of min and max must be given, but both are None")
    bounds = [each for each in (min, max) if each is not None]
    input, *bounds = _bounded(input, *bounds)
    if max is None:
        return elementwise("clamp_low", input, *bounds)
    if min is None:
        return elementwise("clamp_high", input, *bounds)
    return elementwise("clamp", input, *bounds)


_LIKE = {"b": True, "f": 1.0, "c": 1j}  # numbers that say as much in type promotion as a dtype


def _bounded(input: Any, *bounds: Any) -> list[Any]:
    """The operands of a clamp; RuntimeError for a number beyond the common type's range."""
    told: Any = bounds
    if any(map(build.is_number, bounds)):  # beside a number a 0-d tensor counts as another one
        told = [e if build.is_number(e) or e.ndim else _LIKE.get(e.dtype.kind, 1) for e in bounds]
    compute = computed_dtype(input, *told)
    if compute.is_complex:
        raise NotImplementedError("clamp is not supported for complex types")
    context = build.context_of((input, *bounds))
    if told is not bounds:
        bounds = tuple(
            build.fitting(each, compute, context)
            if build.is_number(each)
            else build.convert(each, compute)
            for each in bounds
        )
    return [build.convert(input, compute), *bounds]


@composite(names=["clamp_min"], inplace=True, out=True, samples=binary(numbers=[0.5]))
def clamp_min(input: Tensor, min):
    """input, but at least min."""
    return elementwise("clamp_low", *_bounded(input, min))


@composite(names=["clamp_max"], inplace=True, out=True, samples=binary(numbers=[0.5]))
def clamp_max(input: Tensor, max):
    """input, but at most max."""
    return elementwise("clamp_high", *_bounded(input, max))


# ---------------------------------------------------------------- primitives: of many


def _arg_arrays(function: Any) -> Any:
    return lambda x, dim: numpy.expand_dims(function(x, axis=dim), dim)


def _share_among_extremes(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    """All elements that equal the extreme get an equal share."""
    (x,), (out,), (g,) = inputs, outputs, gradients
    mask = (x == out) | (x != x)
    count = build.reduce_sum(build.convert(mask, g.dtype), attributes["dims"])
    return [build.select_where(mask, g / count, 0, g.dtype)]


def _tangent_of_extremes(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    (x,), (out,), (tangent,) = inputs, outputs, tangents
    mask = (x == out) | (x != x)
    count = build.reduce_sum(build.convert(mask, tangent.dtype), attributes["dims"])
    chosen = build.select_where(mask, tangent, 0, tangent.dtype)
    return [build.reduce_sum(chosen, attributes["dims"]) / count]


@primitive(
    Reduction(),
    name="amax",
    reference=keep_dims(numpy.amax),
    vjp=_share_among_extremes,
    jvp=_tangent_of_extremes,
)
def amax_primitive(x, dims):
    """The greatest over dims; NaN if there is one."""


@primitive(
    Reduction(),
    name="amin",
    reference=keep_dims(numpy.amin),
    vjp=_share_among_extremes,
    jvp=_tangent_of_extremes,
)
def amin_primitive(x, dims):
    """The least over dims; NaN if there is one."""


@primitive(
    Reduction(dtypes.int64), name="argmax", derivative=NONE, reference=_arg_arrays(numpy.argmax)
)
def argmax_primitive(x, dim):
    """The index of the first greatest along dim; NaN counts as greatest."""


@primitive(
    Reduction(dtypes.int64), name="argmin", derivative=NONE, reference=_arg_arrays(numpy.argmin)
)
def argmin_primitive(x, dim):
    """The index of the first least along dim; NaN counts as least."""


# ---------------------------------------------------------------- of many

_EXTREME_CALLS = calls(
    (Draw((3, 4)), 1),
    ((Draw((2, 3, 4)), 0), {"keepdim": True}),
    ((Draw((3, 4)),), {}),
    (Draw(()),),
    (Draw((5,), special=(1.0, float("nan"))), 0),
)


def _extreme_samples(dtype: DType) -> Any:
    yield from _EXTREME_CALLS(dtype)
    if not dtype.is_complex:
        yield (Draw((0, 3)), 1), {}


ValuesIndices: dict[str, Any] = {name: named(name, "values", "indices") for name in ("max", "min")}
MinMax: Any = named("aminmax", "min", "max")


def _check_not_empty(input: Traced, dims: tuple[int, ...], name: str) -> None:
    for dim in dims:
        if input.shape[dim] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")


def _check_real(input: Traced, name: str) -> None:
    if input.dtype.is_complex:
        raise NotImplementedError(
            f"\"{name}\" not implemented for '{scalar_type_name(input.dtype)}'"
        )


def _amax(input: Traced, dim: Any, keepdim: bool, name: str) -> Traced:
    _check_real(input, name)
    dims = reduced_dims(dim, input.ndim)
    if dim is None or dim == ():
        require_elements(name, input)
    _check_not_empty(input, dims, name)
    reduction = amax_primitive if name in ("amax", "max") else amin_primitive
    return finish_dims(reduction.apply(input, dims=dims), dims, keepdim)


@composite(names=["amax"], out="same dtype", samples=_extreme_samples, onnx="ReduceMax")
def amax(input, dim: Dim = (), keepdim: bool = False):
    """The greatest element over the given dims; equal ones share the gradient."""
    return _amax(input, dim, keepdim, "amax")


@composite(names=["amin"], out="same dtype", samples=_extreme_samples, onnx="ReduceMin")
def amin(input, dim: Dim = (), keepdim: bool = False):
    """The least element over the given dims; equal ones share the gradient."""
    return _amax(input, dim, keepdim, "amin")


@composite(
    names=["aminmax"],
    out="exact",
    samples=calls((Draw((3, 4)),), ((Draw((3, 4)),), {"dim": 1, "keepdim": True})),
)
def aminmax(input, *, dim: int | None = None, keepdim: bool = False):
    """The least and the greatest element."""
    if dim is None and numel(input.shape) == 0:
        raise RuntimeError(
            f"aminmax(): input of shape {list(input.shape)} has no elements, so neither a "
            "minimum nor a maximum"
        )
    if not input.ndim and not input.dtype.is_complex:
        normalize_dim(0 if dim is None else dim, 0)
        return MinMax(input, op.maximum(input, input))  # one value would have one gradient
    return MinMax(_amax(input, dim, keepdim, "amin"), _amax(input, dim, keepdim, "amax"))


def _extreme_with_index(input: Traced, dim: Any, keepdim: bool, name: str) -> Any:
    _check_real(input, name)
    dim = normalize_dim(dim, input.ndim)
    if not input.ndim:
        return ValuesIndices[name](input, build.full_like(input, 0, dtypes.int64))
    _check_not_empty(input, (dim,), name)
    index = (argmax_primitive if name == "max" else argmin_primitive).apply(
        _orderable(input), dim=dim
    )
    values = op.gather(input, dim, index)
    return ValuesIndices[name](
        finish_dims(values, (dim,), keepdim), finish_dims(index, (dim,), keepdim)
    )


def _orderable(input: Traced) -> Traced:
    return build.convert(input, dtypes.uint8) if input.dtype is dtypes.bool else input


def _max_or_min(input: Traced, dim: Any, keepdim: bool, name: str) -> Any:
    if dim is None:
        return _amax(input, None, False, name)
    return _extreme_with_index(input, dim, keepdim, name)


@composite(
    names=["max"],
    out=True,
    samples=_extreme_samples,
    overload=lambda *args, **kwargs: op.maximum(*args, **kwargs),
)
def max(input: Tensor, dim: int | None = None, keepdim: bool = False, *, other: Selector = None):
    """The greatest element; with a dim: (values, indices); with a tensor: the greater of two."""
    return _max_or_min(input, dim, keepdim, "max")


@composite(
    names=["min"],
    out=True,
    samples=_extreme_samples,
    overload=lambda *args, **kwargs: op.minimum(*args, **kwargs),
)
def min(input: Tensor, dim: int | None = None, keepdim: bool = False, *, other: Selector = None):
    """The least element; with a dim: (values, indices); with a tensor: the lesser of two."""
    return _max_or_min(input, dim, keepdim, "min")


def _arg(input: Traced, dim: int | None, keepdim: bool, name: str) -> Traced:
    _check_real(input, name)
    if input.dtype is dtypes.bool:
        raise RuntimeError(f"{name}(): does not support bool input; convert it to an integer type")
    record = argmax_primitive if name == "argmax" else argmin_primitive
    rank = input.ndim
    if dim is None:
        require_elements(name, input, IndexError)
        flat = build.reshape(input, (numel(input.shape),))
        return build.reshape(record.apply(_orderable(flat), dim=0), (1,) * rank if keepdim else ())
    dim = normalize_dim(dim, rank)
    if not rank:
        return build.full_like(input, 0, dtypes.int64)
    _check_not_empty(input, (dim,), name)
    return finish_dims(record.apply(_orderable(input), dim=dim), (dim,), keepdim)


@composite(names=["argmax"], out="same dtype", samples=_extreme_samples, onnx="ArgMax")
def argmax(input, dim: int | None = None, keepdim: bool = False):
    """The index of the greatest element, of the first if several are equal."""
    return _arg(input, dim, keepdim, "argmax")


@composite(names=["argmin"], out="same dtype", samples=_extreme_samples, onnx="ArgMin")
def argmin(input, dim: int | None = None, keepdim: bool = False):
    """The index of the least element, of the first if several are equal."""
    return _arg(input, dim, keepdim, "argmin")
