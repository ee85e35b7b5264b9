"""Reductions, scans and normalisations of the elements that a mask lets through.

Where the mask is false, an element is replaced by the identity of the operation; where it is false
for all elements, the result is that identity (or NaN).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.trace import Traced
from ..layout import normalize_dim, reduced_dims
from ..limits import iinfo
from . import build
from .record import Dim, Selector, composite, op
from .reductions import finish_dims
from .samples import Draw, Samples, calls
from .shapes import expanded_shape
from .statistics import require_range

_INF, _NAN = float("inf"), float("nan")

# ---------------------------------------------------------------- masks


def _broadcast(mask: Traced, input: Traced, name: str) -> Traced:
    """The mask as bools in the input's shape."""
    if mask.ndim > input.ndim:
        raise IndexError(
            f"masked.{name}: mask must be broadcastable to input, but has shape "
            f"{list(mask.shape)}, more dimensions than {list(input.shape)}"
        )
    mask = build.convert(mask, dtypes.bool)
    return build.expand(mask, expanded_shape(mask, input.shape, f"masked.{name}"))


def _filled(input: Traced, mask: Any, fill: Any, name: str) -> Traced:
    """The input with a number where the mask is false."""
    if mask is None:
        return input
    return build.kept(build.select_where(_broadcast(mask, input, name), input, fill, input.dtype))


def _least(name: str, dtype: DType) -> Any:
    """The identity of a maximum."""
    if dtype.is_floating_point or (dtype.is_complex and name == "logsumexp"):
        return -_INF
    if dtype is dtypes.bool or dtype.is_complex:
        raise NotImplementedError(f"identity of {name} on {dtype} input")
    return iinfo(dtype).min


def _greatest(name: str, dtype: DType) -> Any:
    """The identity of a minimum."""
    return _INF if dtype.is_floating_point else -1 - _least(name, dtype) if dtype.is_signed else (
        iinfo(dtype).max
    )  # fmt: skip


def _summed_dtype(input: Traced, dtype: DType | None) -> DType:
    if dtype is not None:
        return dtype
    return dtypes.int64 if input.dtype.is_integral else input.dtype


_Fill = Callable[[str, DType], Any]
_MASK = Draw((3, 4), 0, 2, dtype=dtypes.bool)


def _samples(*arguments: Any, differentiable: bool = False) -> Samples:
    samples = calls(
        ((Draw((3, 4)), *arguments), {"mask": _MASK}),
        ((Draw((2, 3, 4)), *arguments), {"mask": Draw((4,), 0, 2, dtype=dtypes.bool)}),
        (Draw((3, 4)), *arguments),
    )
    return lambda dtype: (
        samples(dtype) if not differentiable or dtype.is_differentiable else iter(())
    )


# ---------------------------------------------------------------- reductions


def _sum(x: Traced, dims: tuple[int, ...], dtype: DType) -> Traced:
    return op.sum(x, dims, True, dtype=dtype) if x.ndim else op.sum(x, dtype=dtype)


def _prod(x: Traced, dims: tuple[int, ...], dtype: DType) -> Traced:
    x = build.convert(x, dtype)
    for dim in dims:
        x = op.prod(x, dim, True)
    return x


def _extreme(name: str) -> Callable[..., Traced]:
    def reduce(x: Traced, dims: tuple[int, ...], dtype: DType) -> Traced:
        return build.convert(getattr(op, name)(x, dims, True) if x.ndim else x, dtype)

    return reduce


def _logsumexp(x: Traced, dims: tuple[int, ...], dtype: DType) -> Traced:
    return build.convert(op.logsumexp(x, dims, True) if x.ndim else op.logsumexp(x, 0), dtype)


def _reduction(
    name: str, text: str, fill: _Fill, reduce: Callable[..., Traced], result: Any = None
) -> Any:
    """``masked.<name>``: result is the dtype where none is given, by default the input's."""

    def body(
        input,
        dim: Dim = None,
        *,
        keepdim: bool | None = False,
        dtype: DType | None = None,
        mask=None,
    ):
        dims = reduced_dims(dim, input.ndim)
        target = result(input, dtype) if result else dtype or input.dtype
        filled = _filled(input, mask, 0 if mask is None else fill(name, input.dtype), name)
        return finish_dims(reduce(filled, dims, target), dims, bool(keepdim))

    body.__doc__ = f"{text} of the elements over dims where the mask is true."
    return composite(
        name=f"masked_{name}",
        names=[f"masked.{name}"],
        methods=[],
        samples=_samples(1, differentiable=name == "logsumexp"),
    )(body)


masked_sum = _reduction("sum", "The sum", lambda name, dtype: 0, _sum, _summed_dtype)
masked_prod = _reduction("prod", "The product", lambda name, dtype: 1, _prod, _summed_dtype)
masked_amax = _reduction("amax", "The greatest", _least, _extreme("amax"))
masked_amin = _reduction("amin", "The least", _greatest, _extreme("amin"))
masked_logsumexp = _reduction(
    "logsumexp", "The logarithm of the sum of the exponentials", _least, _logsumexp
)


def _place(name: str, text: str, fill: _Fill) -> None:
    def body(
        input,
        dim: int | None = None,
        *,
        keepdim: bool | None = False,
        dtype: DType | None = None,
        mask=None,
    ):
        filled = _filled(input, mask, 0 if mask is None else fill(name, input.dtype), name)
        found = getattr(op, name)(filled, dim, bool(keepdim))
        return build.convert(found, dtype or input.dtype)

    body.__doc__ = f"The index of the {text} along dim, in the input's dtype."
    composite(name=f"masked_{name}", names=[f"masked.{name}"], methods=[], samples=_samples(1))(
        body
    )


_place("argmax", "greatest element that the mask lets through", _least)
_place("argmin", "least element that the mask lets through", _greatest)


def _counts(input: Traced, dims: tuple[int, ...], mask: Any, name: str) -> Traced:
    """How many elements count, over dims, which stay."""
    if mask is None:
        ones = build.full(input.shape, 1, dtypes.int64)
    else:
        ones = build.convert(_broadcast(mask, input, name), dtypes.int64)
    return _sum(ones, dims, dtypes.int64)


@composite(
    name="masked_mean",
    names=["masked.mean"],
    methods=[],
    samples=_samples(1, differentiable=True),
)
def masked_mean(
    input, dim: Dim = None, *, keepdim: bool | None = False, dtype: DType | None = None, mask=None
):
    """The mean of the elements over dims where the mask is true."""
    target = dtype or input.dtype
    if not target.is_differentiable:
        raise ValueError(f"masked.mean(): dtype must be floating point or complex, not {target}")
    dims = reduced_dims(dim, input.ndim)
    total = _sum(_filled(input, mask, 0, "mean"), dims, target)
    return finish_dims(total / _counts(input, dims, mask, "mean"), dims, bool(keepdim))


@composite(
    name="masked_median",
    names=["masked.median"],
    methods=[],
    samples=_samples(1, differentiable=True),
)
def masked_median(
    input, dim: int = -1, *, keepdim: bool = False, dtype: DType | None = None, mask=None
):
    """The lower median along dim of the elements that the mask lets through and that are not NaN.

    ValueError if there are none of integers.
    """
    place = normalize_dim(dim, input.ndim)
    is_float = input.dtype.is_floating_point
    x = input if is_float else build.convert(input, dtypes.float32)
    found = op.nanmedian(_filled(x, mask, _NAN, "median"), place, keepdim)[0]
    if is_float:
        return found
    message = (
        "masked.median: a row of integers that is masked out whole has no median; use a "
        "floating point input"
    )
    found = require_range(found, -_INF, _INF, message, ValueError)
    return build.convert(found, dtype or input.dtype)


@composite(
    name="masked_norm",
    names=["masked.norm"],
    methods=[],
    samples=_samples(2, 1, differentiable=True),
)
def masked_norm(
    input,
    ord: Selector = 2.0,
    dim: Dim = None,
    *,
    keepdim: bool | None = False,
    dtype: DType | None = None,
    mask=None,
):
    """The norm of order ord of the elements over dims where the mask is true."""
    ord = 2.0 if ord is None else ord
    filled = _filled(input, mask, _INF if ord == -_INF else 0, "norm")
    dims = reduced_dims(dim, input.ndim)
    norm = getattr(op, "linalg.vector_norm")
    return norm(filled, ord, dims or None, bool(keepdim), dtype=dtype or input.dtype)


def _variance(
    name: str, input: Any, dim: Any, options: tuple[Any, Any], keepdim: Any, dtype: Any, mask: Any
) -> Traced:
    unbiased, correction = options
    if unbiased is not None and correction is not None:
        raise AssertionError(f"masked.{name}: give unbiased or correction, but not both")
    if correction is None:
        correction = 0.0 if unbiased is False else 1.0
    if dtype is None:
        dtype = input.dtype if input.dtype.is_differentiable else dtypes.float32
    compute = dtype if dtype.is_differentiable else dtypes.float32
    dims = reduced_dims(dim, input.ndim)
    count = _counts(input, dims, mask, name)
    mean = _sum(_filled(input, mask, 0, name), dims, dtype) / count
    distance = build.kept(input - mean)
    squares = distance * build.conjugate(distance)
    total = _sum(_filled(squares, mask, 0, name), dims, compute)
    real = compute.to_real() if compute.is_complex else compute
    count = build.convert(count, real)
    if correction != 0:
        count = op.clamp_min(count - correction, 0)
    return finish_dims(build.convert(total / count, dtype), dims, bool(keepdim))


def _spread(name: str, text: str, finish: Callable[[Traced], Traced]) -> None:
    def body(
        input,
        dim: Dim = None,
        unbiased: bool | None = None,
        *,
        correction: Selector = None,
        keepdim: bool | None = False,
        dtype: DType | None = None,
        mask=None,
    ):
        options = (unbiased, correction)
        return finish(_variance(name, input, dim, options, keepdim, dtype, mask))

    body.__doc__ = f"""The {text} of the elements over dims where the mask is true.

    The sum of squares is divided by their number less ``correction``, which is 1, or 0 without
    ``unbiased``.
    """
    composite(
        name=f"masked_{name}",
        names=[f"masked.{name}"],
        methods=[],
        samples=_samples(1, differentiable=True),
    )(body)


_spread("var", "variance", lambda x: x)
_spread("std", "standard deviation", lambda x: op.sqrt(x))

# ---------------------------------------------------------------- along a dim


def _along(
    name: str, text: str, fill: _Fill, apply: Callable[[Traced, int, DType], Traced]
) -> None:
    def body(input, dim: int, *, dtype: DType | None = None, mask=None):
        place = normalize_dim(dim, input.ndim)
        filled = _filled(input, mask, 0 if mask is None else fill(name, input.dtype), name)
        return apply(filled, place, dtype or input.dtype)

    body.__doc__ = f"``{text}`` of the elements along dim where the mask is true."
    composite(
        name=f"masked_{name}",
        names=[f"masked.{name}"],
        methods=[],
        samples=_samples(1, differentiable=not name.startswith("cum")),
    )(body)


_along("cumsum", "cumsum", lambda name, dtype: 0, lambda x, dim, to: op.cumsum(x, dim, dtype=to))
_along("cumprod", "cumprod", lambda name, dtype: 1, lambda x, dim, to: op.cumprod(x, dim, dtype=to))
_along("softmax", "softmax", _least, lambda x, dim, to: op.softmax(x, dim, dtype=to))
_along("log_softmax", "log_softmax", _least, lambda x, dim, to: op.log_softmax(x, dim, dtype=to))
_along("softmin", "softmin", _greatest, lambda x, dim, to: op.softmax(-x, dim, dtype=to))


@composite(
    name="masked_normalize",
    names=["masked.normalize"],
    methods=[],
    samples=_samples(2, 1, differentiable=True),
)
def masked_normalize(
    input, ord: Selector, dim: int, *, eps: Selector = 1e-12, dtype: DType | None = None, mask=None
):
    """The elements divided by their norm along dim, or by eps if that is greater, and zero where
    the mask is false.
    """
    length = masked_norm(input, ord, dim, keepdim=True, dtype=dtype or input.dtype, mask=mask)
    shortest = build.full((), eps, length.dtype)
    return _filled(input, mask, 0, "normalize") / op.maximum(length, shortest)


@composite(
    name="masked_logaddexp",
    names=["masked.logaddexp"],
    methods=[],
    samples=lambda dtype: (
        calls(((Draw((3, 4)), Draw((3, 4))), {"input_mask": _MASK}))(dtype)
        if dtype.is_differentiable
        else iter(())
    ),
)
def masked_logaddexp(input, other, *, dtype: DType | None = None, input_mask=None, other_mask=None):
    """log(exp(input) + exp(other)), where what a mask does not let through does not count."""
    parts = [
        _filled(x, mask, 0 if mask is None else _least("logaddexp", x.dtype), "logaddexp")
        for x, mask in ((input, input_mask), (other, other_mask))
    ]
    return build.convert(op.logaddexp(*parts), dtype or input.dtype)
