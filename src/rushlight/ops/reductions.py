"""Reductions: sums, products, and what is made of them."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.symbols import maximum as size_maximum
from ..graph.symbols import same
from ..graph.trace import Traced
from ..layout import broadcast_shapes, flatten_sizes, numel, reduced_dims
from . import build
from .checks import require_differentiable
from .complex import real_part
from .conversion import require_dtype
from .kinds import Reduction
from .record import NONE, Dim, Selector, Size, Tensor, composite, op, primitive
from .samples import Draw, calls

# ---------------------------------------------------------------- primitives


def keep_dims(function: Any) -> Any:
    """A NumPy reduction as a primitive's reference."""
    return lambda x, dims: function(x, axis=dims, keepdims=True)


def _sum_arrays(x: Any, dims: tuple) -> Any:
    kind = {"f": numpy.float64, "c": numpy.complex128}.get(x.dtype.kind, x.dtype)
    return x.sum(axis=dims, keepdims=True, dtype=kind)


def _product_arrays(x: Any, dims: tuple) -> Any:
    kind = {"f": numpy.float64, "c": numpy.complex128}.get(x.dtype.kind, x.dtype)
    return x.prod(axis=dims, keepdims=True, dtype=kind)


def _product_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    return [gradients[0] * build.conjugate(_products_of_others(inputs[0], attributes["dims"]))]


def _product_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    others = _products_of_others(inputs[0], attributes["dims"])
    return [build.reduce_sum(others * tangents[0], attributes["dims"])]


def _products_of_others(x: Traced, dims: tuple) -> Traced:
    """For each element the product of the others: exact where elements are zero, in derivatives
    too.

    The product of the zeros among the others is written as what it is in terms of their sum and sum
    of squares if there are one or two, so that derivatives see them; products of more have no first
    and second derivatives.
    """
    zero = x == 0
    zeros = build.reduce_sum(build.convert(zero, dtypes.int64), dims)
    nonzero = build.select_where(zero, 1, x, x.dtype)
    product = build.expand(prod_primitive.apply(nonzero, dims=dims), x.shape) / nonzero
    small = build.select_where(zero, x, 0, x.dtype)
    total = build.reduce_sum(small, dims) - small
    squares = build.reduce_sum(small * small, dims) - small * small
    others = build.expand(zeros, x.shape) - build.convert(zero, dtypes.int64)
    of_two = build.select_where(others == 2, (total * total - squares) / 2, 0, x.dtype)
    of_one = build.select_where(others == 1, total, of_two, x.dtype)
    return product * build.select_where(others == 0, 1, of_one, x.dtype)


@primitive(
    Reduction(),
    name="sum",
    reference=_sum_arrays,
    transpose=lambda g, x, dims: build.expand(g, x.shape),
)
def sum_primitive(x, dims):
    """The sum over dims, in the input's dtype."""


@primitive(Reduction(), name="prod", reference=_product_arrays, vjp=_product_vjp, jvp=_product_jvp)
def prod_primitive(x, dims):
    """The product over dims, in the input's dtype."""


@primitive(Reduction(dtypes.bool), name="any", derivative=NONE, reference=keep_dims(numpy.any))
def any_primitive(x, dims):
    """Whether any of a bool tensor's elements over dims holds."""


@primitive(Reduction(dtypes.bool), name="all", derivative=NONE, reference=keep_dims(numpy.all))
def all_primitive(x, dims):
    """Whether all of a bool tensor's elements over dims hold."""


# ---------------------------------------------------------------- helpers


def finish_dims(result: Traced, dims: tuple[int, ...], keepdim: bool) -> Traced:
    """Drop the reduced dims unless they are to stay."""
    return result if keepdim else build.drop_dims(result, dims)


def accumulation_dtype(input: Traced, dtype: DType | None, name: str) -> DType:
    """Sums and products of integers are int64."""
    if dtype is not None:
        return require_dtype(dtype, name)
    return dtypes.int64 if input.dtype.is_integral else input.dtype


def scan_dtype(input: Traced, dtype: DType | None, name: str) -> DType:
    """As ``accumulation_dtype``; running results are no bools, if there is anything to run over."""
    dtype = accumulation_dtype(input, dtype, name)
    if dtype is dtypes.bool and input.ndim and not same(numel(input.shape), 0):
        raise NotImplementedError(f"\"{name}\" not implemented for 'Bool'")
    return dtype


_REDUCE_SAMPLES = calls(
    (Draw((3, 4)),),
    (Draw(()),),
    (Draw((3, 4)), 1),
    ((Draw((2, 3, 4)), (0, 2)), {"keepdim": True}),
    ((Draw((2, 3, 4)), -2), {}),
    ((Draw((0, 3)), 1), {}),
    ((Draw((0, 3)), 0), {}),
)


# ---------------------------------------------------------------- sums, products, means


@composite(names=["sum"], out=True, samples=_REDUCE_SAMPLES, onnx="ReduceSum")
def sum(input: Tensor, dim: Dim = None, keepdim: bool = False, *, dtype: DType | None = None):
    """The sum of all elements, or over the given dims."""
    dims = reduced_dims(dim, input.ndim)
    result = sum_primitive.apply(
        build.convert(input, accumulation_dtype(input, dtype, "sum")), dims=dims
    )
    return finish_dims(result, dims, keepdim)


@composite(
    names=["nansum"],
    out=True,
    samples=calls((Draw((5,), special=(float("nan"),)),), (Draw((3, 4)), 1)),
)
def nansum(input: Tensor, dim: Dim = None, keepdim: bool = False, *, dtype: DType | None = None):
    """The sum, NaN counting as zero."""
    if input.dtype.is_complex:
        raise RuntimeError("nansum on CPU does not support complex inputs")
    if input.dtype.is_floating_point:
        input = build.select_where(input != input, 0, input, input.dtype)
    return sum(input, dim, keepdim, dtype=dtype)


@composite(
    names=["prod"],
    out=True,
    onnx="ReduceProd",
    samples=calls(
        (Draw((3, 4)),),
        (Draw(()),),
        (Draw((3, 4)), 1),
        ((Draw((3, 4)), 0), {"keepdim": True}),
        (Draw((0, 2)), 0),
    ),
)
def prod(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: DType | None = None
):
    """The product of all elements, or along a dim."""
    dims = reduced_dims(dim, input.ndim)
    result = prod_primitive.apply(
        build.convert(input, accumulation_dtype(input, dtype, "prod")), dims=dims
    )
    return finish_dims(result, dims, keepdim)


def _mean_dtype(input: Traced, dtype: DType | None, name: str) -> DType:
    result = require_dtype(dtype, name) if dtype is not None else input.dtype
    require_differentiable(f"{name}()", result, "input" if dtype is None else "dtype")
    return result


@composite(
    names=["mean"],
    out=True,
    onnx="ReduceMean",
    samples=_REDUCE_SAMPLES,
)
def mean(input: Tensor, dim: Dim = None, keepdim: bool = False, *, dtype: DType | None = None):
    """The mean of all elements, or over the given dims."""
    dims = reduced_dims(dim, input.ndim)
    total = sum_primitive.apply(build.convert(input, _mean_dtype(input, dtype, "mean")), dims=dims)
    count = numel(tuple(input.shape[each] for each in dims))
    return finish_dims(total / count, dims, keepdim)


# ---------------------------------------------------------------- variance


def _moments(
    input: Traced, dims: tuple[int, ...], correction: Any, name: str
) -> tuple[Traced, Traced]:
    """Variance and mean, dims kept."""
    if not input.dtype.is_differentiable:
        raise RuntimeError(f"{name} only support floating point and complex dtypes")
    count = numel(tuple(input.shape[each] for each in dims))
    average = sum_primitive.apply(input, dims=dims) / count
    distance = input - average
    squares = op.abs(distance) ** 2 if input.dtype.is_complex else distance * distance
    return sum_primitive.apply(squares, dims=dims) / _degrees_of_freedom(count, correction), average


def _degrees_of_freedom(count: Any, correction: Any) -> Any:
    if isinstance(correction, int):
        return size_maximum(count - correction, 0)
    return op.clamp_min(build.context_of(()).number(count) - correction, 0)


def _variance_arguments(dim: Any, unbiased: Any, correction: Any) -> tuple[Any, Any]:
    """var(x, True) gives ``unbiased`` in the place of dim."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is not None and unbiased is not None:
        raise TypeError("var(): give either unbiased or correction")
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    return dim, correction


_VARIANCE_SAMPLES = calls(
    (Draw((3, 4)),),
    (Draw((3, 4)), 1),
    ((Draw((2, 3, 4)), (0, 2)), {"keepdim": True, "correction": 0}),
    (Draw((3, 4)), False),
    ((Draw((3, 4)), 0), {"unbiased": False}),
    (Draw((1, 3)), 0),
)


@composite(names=["var"], out=True, samples=_VARIANCE_SAMPLES)
def var(
    input: Tensor,
    dim: Dim = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: Selector = None,
):
    """The variance, divided by the count minus correction."""
    dim, correction = _variance_arguments(dim, unbiased, correction)
    dims = reduced_dims(dim, input.ndim)
    return finish_dims(_moments(input, dims, correction, "var")[0], dims, keepdim)


@composite(names=["std"], out=True, samples=_VARIANCE_SAMPLES)
def std(
    input: Tensor,
    dim: Dim = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: Selector = None,
):
    """The standard deviation: the square root of var."""
    return op.sqrt(var(input, dim, unbiased, keepdim, correction=correction))


@composite(names=["var_mean"], samples=_VARIANCE_SAMPLES)
def var_mean(
    input: Tensor,
    dim: Dim = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: Selector = None,
):
    """The variance and the mean."""
    dim, correction = _variance_arguments(dim, unbiased, correction)
    dims = reduced_dims(dim, input.ndim)
    variance, average = _moments(input, dims, correction, "var_mean")
    average = build.contiguous(average)  # the backward pass reads its own, this may be written
    return finish_dims(variance, dims, keepdim), finish_dims(average, dims, keepdim)


@composite(names=["std_mean"], samples=_VARIANCE_SAMPLES)
def std_mean(
    input: Tensor,
    dim: Dim = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: Selector = None,
):
    """The standard deviation and the mean."""
    variance, average = var_mean(input, dim, unbiased, keepdim, correction=correction)
    return op.sqrt(variance), average


# ---------------------------------------------------------------- logic


def _logical(input: Traced, dim: Any, keepdim: bool, reduction: Any) -> Traced:
    truth = input if input.dtype is dtypes.bool else input != 0
    if dim == ():  # as in PyTorch: over no dim at all
        result = build.contiguous(truth)
    else:
        dims = reduced_dims(dim, input.ndim)
        result = finish_dims(reduction.apply(truth, dims=dims), dims, keepdim)
    return build.convert(result, dtypes.uint8) if input.dtype is dtypes.uint8 else result


@composite(names=["any"], out="any dtype", samples=_REDUCE_SAMPLES)
def any(input: Tensor, dim: Dim = None, keepdim: bool = False):
    """Whether any element is not zero."""
    return _logical(input, dim, keepdim, any_primitive)


@composite(names=["all"], out="any dtype", samples=_REDUCE_SAMPLES)
def all(input: Tensor, dim: Dim = None, keepdim: bool = False):
    """Whether all elements are not zero."""
    return _logical(input, dim, keepdim, all_primitive)


@composite(names=["count_nonzero"], samples=calls((Draw((3, 4)),), (Draw((3, 4)), 1)))
def count_nonzero(input: Tensor, dim: Dim = None):
    """How many elements are not zero."""
    return sum(input if input.dtype is dtypes.bool else input != 0, dim)


# ---------------------------------------------------------------- others


@composite(
    names=["logsumexp", "special.logsumexp"],
    methods=["logsumexp"],
    out=True,
    onnx="ReduceLogSumExp",
    samples=calls(
        (Draw((3, 4)), 1),
        ((Draw((2, 3, 4)), (0, 2)), {"keepdim": True}),
        (Draw((3,), special=(-float("inf"),) * 3), 0),
    ),
)
def logsumexp(input: Tensor, dim: Dim, keepdim: bool = False):
    """log(sum(exp(input))); shifting by the maximum prevents overflow."""
    if input.dtype.is_integral:
        input = build.convert(input, dtypes.get_default_dtype())
    dims = reduced_dims(dim, input.ndim)
    if numel(tuple(input.shape[each] for each in dims)) == 0:
        return finish_dims(op.log(sum_primitive.apply(op.exp(input), dims=dims)), dims, keepdim)
    greatest = op.detach(op.amax(real_part(input), dims, True))
    shift = op.where(op.isfinite(greatest), greatest, 0)
    total = sum_primitive.apply(op.exp(input - shift), dims=dims)
    return finish_dims(op.log(total) + shift, dims, keepdim)


@composite(
    name="sum_to_size",
    methods=["sum_to_size"],
    views="input",
    itself=True,
    samples=calls((Draw((2, 3, 4)), (3, 1)), (Draw((2, 3)), 1, 3)),
)
def sum_to_size(input: Tensor, *size: Size):
    """The sum over the dims that broadcasting from ``size`` would add or stretch."""
    shape = flatten_sizes(size)
    if len(shape) > input.ndim or broadcast_shapes([input.shape, shape], "sum_to_size") != tuple(
        input.shape
    ):
        raise RuntimeError(
            f"size {list(shape)} is not expandable to size {list(input.shape)} (in sum_to_size)"
        )
    if not shape:
        return sum(input)
    if tuple(shape) == tuple(input.shape):
        return input
    return build.sum_to(build.convert(input, accumulation_dtype(input, None, "sum_to_size")), shape)
