"""Order statistics and moments: median, mode, quantile, cov, corrcoef; counts and histograms."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.symbols import maximum as size_maximum
from ..graph.trace import Traced
from ..layout import normalize_dim, numel
from ..limits import finfo, iinfo
from ..promotion import scalar_type_name
from . import build
from .checks import require_differentiable, require_same_dtype
from .complex import real_part
from .extremes import amax_primitive
from .host_kinds import HostAlong, HostElementwise
from .kinds import Host, real
from .orders import sort_keys
from .record import (
    NONE,
    Dim,
    Operand,
    Tensor,
    composite,
    op,
    primitive,
    unsupported,
)
from .reductions import finish_dims
from .samples import Draw, calls
from .sorting import (
    at_places,
    order_primitive,
    refuse,
    sorted_with_order,
    values_indices,
)

_NAN = float("nan")

# ---------------------------------------------------------------- checks of values


_ERRORS = {kind.__name__: kind for kind in (RuntimeError, ValueError)}


def _check_range(x: Any, low: Any, high: Any, message: str, error: str) -> Any:
    if x.size and not ((x >= low) & (x <= high)).all():
        raise _ERRORS[error](message)
    return x


@primitive(
    HostElementwise(real),
    name="within",
    derivative=lambda out, x: 1,
    reference=_check_range,
)
def within_primitive(x, low, high, message, error):
    """x itself; an error if an element is not from low to high."""


def require_range(
    x: Traced, low: Any, high: Any, message: str, error: type[Exception] = RuntimeError
) -> Traced:
    """x itself; an error if an element is not from low to high when the plan runs."""
    return within_primitive.apply(x, low=low, high=high, message=message, error=error.__name__)


# ---------------------------------------------------------------- mean and median


@composite(
    names=["nanmean"],
    out=True,
    samples=calls(
        (Draw((5,), special=(_NAN,)),), ((Draw((3, 4), special=(_NAN,)), 1), {"keepdim": True})
    ),
)
def nanmean(input: Tensor, dim: Dim = None, keepdim: bool = False, *, dtype: DType | None = None):
    """The mean of the elements that are not NaN."""
    require_differentiable("nanmean()", input.dtype)
    count = op.sum(~op.isnan(op.detach(input)), dim, keepdim)
    return op.nansum(input, dim, keepdim, dtype=dtype) / count


def _median_place(input: Traced, dim: int, ignore_nan: bool) -> Traced:
    """The index along dim (kept) of the lower median, or of the first NaN unless they are
    ignored.
    """
    order = order_primitive.apply(input, dim=dim, descending=False)
    length = input.shape[dim]
    middle = (length - 1) // 2
    if not input.dtype.is_floating_point:
        return build.slice_(order, dim, middle, 1, 1)
    nans = build.reduce_sum(build.convert(op.isnan(input), dtypes.int64), (dim,))
    if ignore_nan:
        position = op.clamp_min(length - 1 - nans, 0) // 2
    else:
        position = op.where(nans > 0, length - nans, middle)
    return op.gather(order, dim, position)


def _median_of_all(input: Traced, ignore_nan: bool) -> Traced:
    """The median, whose gradient all elements equal to it share."""
    count = numel(input.shape)
    if count == 0:
        if not input.dtype.is_floating_point:
            low = iinfo(input.dtype).min
            return build.full((), low, input.dtype)
        return build.full((), _NAN, input.dtype)
    flat = build.reshape(input, (count,))
    value = op.gather(op.detach(flat), 0, _median_place(op.detach(flat), 0, ignore_nan))
    if not input.dtype.is_floating_point:
        return build.reshape(value, ())
    equal = (flat == value) | (op.isnan(flat) & op.isnan(value))
    candidates = build.select_where(equal, flat, finfo(input.dtype).min, input.dtype)
    return build.reshape(amax_primitive.apply(candidates, dims=(0,)), ())


def _median(name: str, ignore_nan: bool, doc: str) -> None:
    result = values_indices(name)

    def body(input: Tensor, dim: int | None = None, keepdim: bool = False):
        refuse("median_cpu", input, dtypes.bool)
        if dim is None:
            return _median_of_all(input, ignore_nan)
        dim = normalize_dim(dim, input.ndim)
        if not input.ndim:
            return result(input, build.full_like(input, 0, dtypes.int64))
        if input.shape[dim] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")
        place = _median_place(op.detach(input), dim, ignore_nan)
        values = finish_dims(at_places(input, place, dim), (dim,), keepdim)
        return result(values, finish_dims(place, (dim,), keepdim))

    body.__doc__ = doc
    composite(
        names=[name],
        out=True,
        samples=calls(
            (Draw((5,)),),
            (Draw((3, 4), special=(_NAN,)), 1),
            ((Draw((2, 3, 4)), 0), {"keepdim": True}),
            (Draw(()), 0),
        ),
    )(body)


_median("median", False, "The lower median; along a dim: the medians and their indices.")
_median(
    "nanmedian",
    True,
    "The lower median of the elements that are not NaN; along a dim: the medians and their "
    "indices.",
)


# ---------------------------------------------------------------- mode


def _mode_arrays(x: Any, dim: int) -> Any:
    keys = numpy.moveaxis(sort_keys(x), dim, -1)
    order = numpy.argsort(keys, axis=-1, kind="stable")
    arranged = numpy.take_along_axis(keys, order, -1)
    position = numpy.arange(keys.shape[-1])
    starts = numpy.ones(keys.shape, bool)
    starts[..., 1:] = arranged[..., 1:] != arranged[..., :-1]
    first = numpy.maximum.accumulate(numpy.where(starts, position, 0), axis=-1)
    longest = numpy.argmax(position - first, axis=-1)[..., None]
    return numpy.moveaxis(numpy.take_along_axis(order, longest, -1), -1, dim)


def _kept(environment: Any, x: Any, dim: int) -> list:
    shape = tuple(1 if each == dim else size for each, size in enumerate(x.shape))
    return [(dtypes.int64, shape, False)]


@primitive(HostAlong(_kept), name="mode_place", derivative=NONE, reference=_mode_arrays)
def mode_place(x, dim):
    """The last index along dim (kept) of the most frequent element, of the least if several are
    equally frequent.
    """


_Mode = values_indices("mode")


@composite(
    names=["mode"],
    out="same dtype",
    samples=calls((Draw((3, 6), 0, 3),), ((Draw((4, 3), 0, 3), 0), {"keepdim": True}), (Draw(()),)),
)
def mode(input: Tensor, dim: int = -1, keepdim: bool = False):
    """The most frequent element along dim, the least of several, and its index."""
    if input.ndim:
        refuse("mode_cpu", input)
    dim = normalize_dim(dim, input.ndim)
    if not input.ndim:
        return _Mode(input, build.full_like(input, 0, dtypes.int64))
    if input.shape[dim] == 0:
        raise IndexError(f"mode(): Expected reduction dim {dim} to have non-zero size.")
    place = mode_place.apply(input, dim=dim)
    values = finish_dims(at_places(input, place, dim), (dim,), keepdim)
    return _Mode(values, finish_dims(place, (dim,), keepdim))


# ---------------------------------------------------------------- quantiles

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _check_quantile(input: Traced, q: Any, interpolation: str, name: str) -> None:
    if numel(input.shape) == 0:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(f"{name}(): input must be float32 or float64, not {input.dtype}")
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            f"{name}(): interpolation must be one of {', '.join(_INTERPOLATIONS)}, not "
            f"{interpolation}"
        )
    if build.is_number(q):
        if q < 0 or q > 1:
            raise RuntimeError(f"{name}(): q must be from 0 to 1, but is {q}")
        return
    if q.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    require_same_dtype(f"{name}()", input=input, q=q)


def _quantile(
    input: Traced, q: Any, dim: int | None, keepdim: bool, interpolation: str, name: str
) -> Traced:
    _check_quantile(input, q, interpolation, name)
    rank = input.ndim
    if dim is None:
        flat, place = build.reshape(input, (numel(input.shape),)), 0
    else:
        place = normalize_dim(dim, rank)
        flat = build.move_dim(input, place, rank - 1) if rank else build.reshape(input, (1,))
    if build.is_number(q):
        fractions = build.full((1,), q, input.dtype)
    else:
        message = f"{name}(): all elements of q must be from 0 to 1"
        fractions = build.reshape(require_range(q, 0.0, 1.0, message), (numel(q.shape),))
    values = _interpolated(flat, fractions, interpolation, name == "nanquantile")
    if keepdim:
        shape = [1] * rank if dim is None else list(input.shape)
        if dim is not None and rank:
            shape[place] = 1
    else:
        shape = list(flat.shape[:-1])
    values = build.move_dim(values, values.ndim - 1, 0)
    lead = [] if build.is_number(q) or not q.ndim else [q.shape[0]]
    return build.reshape(values, (*lead, *shape))


def _interpolated(x: Traced, fractions: Traced, interpolation: str, ignore_nan: bool) -> Traced:
    """The quantiles of the last dim, one for each fraction."""
    last = x.ndim - 1
    ordered, _ = sorted_with_order(x, last, False)
    length = x.shape[last]
    nans = build.reduce_sum(build.convert(op.isnan(op.detach(x)), x.dtype), (last,))
    if ignore_nan:
        ranks = fractions * op.clamp_min(length - 1 - nans, 0)
    else:
        ranks = op.where(nans > 0, length - 1, fractions * (length - 1))
    if interpolation == "lower":
        ranks = op.floor(ranks)
    elif interpolation == "higher":
        ranks = op.ceil(ranks)
    elif interpolation == "nearest":
        ranks = op.round(ranks)
    below = op.floor(ranks)
    lower = op.gather(ordered, last, build.convert(below, dtypes.int64))
    if interpolation not in ("linear", "midpoint"):
        return lower
    upper = op.gather(ordered, last, build.convert(op.ceil(ranks), dtypes.int64))
    weight = build.full_like(ranks, 0.5) if interpolation == "midpoint" else ranks - below
    return op.lerp(lower, upper, weight)


_QUANTILE_SAMPLES = calls(
    (Draw((5,)), 0.3),
    (Draw((3, 4)), Draw((2,), 0, 1), 1),
    ((Draw((3, 4), special=(_NAN,)), Draw((), 0, 1)), {"keepdim": True}),
    (Draw((3, 5)), 0.7, 0, False),
    *(
        ((Draw((3, 5)), 0.6, 1), {"interpolation": each})
        for each in ("lower", "higher", "midpoint", "nearest")
    ),
)


@composite(names=["quantile"], out="same dtype", samples=_QUANTILE_SAMPLES)
def quantile(
    input: Tensor,
    q: Operand,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
):
    """The q-quantiles along dim (q from 0 to 1, a number or 1-d); NaN where there is a NaN."""
    return _quantile(input, q, dim, keepdim, interpolation, "quantile")


@composite(names=["nanquantile"], out="same dtype", samples=_QUANTILE_SAMPLES)
def nanquantile(
    input: Tensor,
    q: Operand,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
):
    """The q-quantiles along dim of the elements that are not NaN."""
    return _quantile(input, q, dim, keepdim, interpolation, "nanquantile")


# ---------------------------------------------------------------- covariance


def _check_weights(weights: Traced, label: str, count: Any, integral: bool) -> Traced:
    if weights.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {label} to have one or fewer dimensions but got {label} with "
            f"{weights.ndim} dimensions"
        )
    fits = weights.dtype.is_integral if integral else weights.dtype.is_floating_point
    if not fits or weights.dtype is dtypes.bool:
        kind = "integral" if integral else "floating point"
        raise RuntimeError(
            f"cov(): expected {label} to have {kind} dtype but got {label} with "
            f"{scalar_type_name(weights.dtype)} dtype"
        )
    if numel(weights.shape) != count:
        raise RuntimeError(
            f"cov(): {label} must have an entry for each of the {count} observations, not "
            f"{numel(weights.shape)}"
        )
    infinite = iinfo(weights.dtype).max if integral else float("inf")
    weights = require_range(weights, 0, infinite, f"cov(): {label} cannot be negative")
    return build.reshape(weights, (count,))


def _two_dims(input: Traced, name: str) -> Traced:
    """Variables as rows, observations as columns."""
    if input.ndim > 2:
        raise RuntimeError(f"{name}(): input must have at most 2 dimensions, not {input.ndim}")
    if input.dtype is dtypes.bool:
        raise RuntimeError(f"{name}(): bool dtype is not supported for input")
    return input if input.ndim == 2 else build.reshape(input, (1, numel(input.shape)))


@composite(
    names=["cov"],
    samples=calls(
        (Draw((3, 5), 0, 9),),
        (Draw((5,), 0, 9),),
        (
            (Draw((3, 5), 0, 9),),
            {"correction": 0, "aweights": Draw((5,), 0.5, 2, dtype=dtypes.float64)},
        ),
        ((Draw((2, 4), 0, 9),), {"fweights": Draw((4,), 1, 5, dtype=dtypes.int64)}),
    ),
)
def cov(input: Tensor, *, correction: int = 1, fweights=None, aweights=None):
    """The covariances of variables (rows) over observations (columns), which weights may count
    several times (fweights) or weigh (aweights).
    """
    x = _two_dims(input, "cov")
    count = x.shape[1]
    weights = None
    if fweights is not None:
        weights = _check_weights(fweights, "fweights", count, True)
    if aweights is not None:
        checked = _check_weights(aweights, "aweights", count, False)
        weights = checked if weights is None else weights * checked
    if x.dtype.is_integral:
        x = build.convert(x, dtypes.get_default_dtype())
    if weights is None:
        total: Any = count
        average = op.sum(x, 1, True) / count
    else:
        total = op.sum(weights)
        average = op.sum(x * weights, 1, True) / total
    norm: Any = total - correction
    if weights is not None and correction and aweights is not None:
        share = aweights if fweights is None else weights * build.reshape(aweights, (count,))
        wsum = op.sum(weights * aweights) if fweights is not None else op.sum(share * share)
        norm = total - correction * wsum / total
    centred = build.kept(x - average)
    weighted = centred if weights is None else centred * weights
    other = build.conjugate(build.permute(weighted, (1, 0)))
    product = op.matmul(centred, build.convert(other, centred.dtype))
    norm = op.clamp_min(norm, 0) if isinstance(norm, Traced) else size_maximum(norm, 0)
    result = product / norm
    return build.reshape(result, ()) if x.shape[0] == 1 else result


@composite(names=["corrcoef"], samples=calls((Draw((3, 5), 0, 9),), (Draw((5,), 0, 9),)))
def corrcoef(input: Tensor):
    """The correlations of variables (rows) over observations (columns)."""
    _two_dims(input, "corrcoef")
    c = cov(input)
    if not c.ndim:
        return c / c
    deviation = op.sqrt(op.diagonal(c))
    c = c / build.insert_dim(deviation, 1) / build.insert_dim(deviation, 0)
    if c.dtype.is_complex:
        return op.complex(*(op.clamp(part, -1, 1) for part in (real_part(c), op.imag(c))))
    return op.clamp(c, -1, 1)


# ---------------------------------------------------------------- counts


def _bincount_arrays(x: Any, *weights: Any, minlength: int) -> Any:
    if x.size and x.min() < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    return numpy.bincount(x.astype(numpy.int64), weights[0] if weights else None, minlength)


@primitive(
    Host(
        lambda environment, x, *weights, minlength: [
            (weights[0].dtype if weights else dtypes.int64, (environment.unbacked(),), False)
        ]
    ),
    names=["_bin_counts"],
    methods=[],
    derivative=NONE,
    batch=unsupported("bincount gives each example another size, which vmap cannot stack"),
    reference=_bincount_arrays,
)
def bin_counts(x, *weights, minlength: int):
    """How often each number occurs, or the sum of the weights there."""


@composite(
    names=["bincount"],
    samples=calls(
        (Draw((6,), 0, 5, dtype=dtypes.int64),),
        (Draw((6,), 0, 5, dtype=dtypes.int64), Draw((6,), dtype=dtypes.float32), 8),
    ),
)
def bincount(input: Tensor, weights=None, minlength: int = 0):
    """How often each of the numbers 0, 1, ... occurs in a vector, or the sum of the weights there;
    the result has at least minlength elements.
    """
    if input.dtype.is_differentiable or input.dtype is dtypes.bool:
        refuse("bincount_cpu", input, input.dtype)
    if minlength < 0:
        raise RuntimeError(f"minlength should be >= 0, but got {minlength} (in bincount)")
    if input.ndim != 1:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return bin_counts(input, minlength=minlength)
    if weights.ndim != 1 or weights.shape[0] != input.shape[0]:
        raise RuntimeError(
            f"bincount: weights must have the shape of input, {list(input.shape)}, not "
            f"{list(weights.shape)}"
        )
    if weights.dtype is not dtypes.float32:
        weights = weights.to(dtypes.float64)
    return bin_counts(input, op.detach(weights), minlength=minlength)
