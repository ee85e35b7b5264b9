"""Recurrences along a dim: cumprod, cummax, cummin, logcumsumexp."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.trace import Traced
from ..layout import normalize_dim
from . import build
from .host_kinds import HostAlong
from .kinds import Scan
from .orders import sort_keys
from .record import NONE, Tensor, composite, op, primitive
from .reductions import scan_dtype
from .samples import Draw, calls, with_dim
from .shapes import flip_primitive
from .sorting import at_places, refuse, values_indices

# ---------------------------------------------------------------- linear recurrences


def _before(x: Traced, dim: int) -> Traced:
    """Each element's predecessor along dim; zero for the first."""
    length = x.shape[dim]
    if length == 0:
        return x
    return build.pad(build.slice_(x, dim, 0, 1, length - 1), dim, 1, length)


def _after(x: Traced, dim: int) -> Traced:
    """Each element's successor along dim; zero for the last."""
    length = x.shape[dim]
    if length == 0:
        return x
    return build.pad(build.slice_(x, dim, 1, 1, length - 1), dim, 0, length)


def _flipped(x: Traced, dim: int) -> Traced:
    return flip_primitive.apply(x, dims=(dim,))


def _recurrence_arrays(factor: Any, term: Any, dim: int) -> Any:
    wide = {"f": numpy.float64, "c": numpy.complex128}[term.dtype.kind]
    factor = numpy.moveaxis(factor, dim, 0).astype(wide)
    result = numpy.moveaxis(term, dim, 0).astype(wide)
    for position in range(1, result.shape[0]):
        result[position] += factor[position] * result[position - 1]
    return numpy.moveaxis(result, 0, dim)


def _recurrence_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    (factor, _), (out,), (g,) = inputs, outputs, gradients
    dim = attributes["dim"]
    of_term = backward_recurrence(build.conjugate(factor), g, dim)
    return [of_term * build.conjugate(_before(out, dim)), of_term]


def _recurrence_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    (factor, term), (out,), dim = inputs, outputs, attributes["dim"]
    of_factor, of_term = (
        build.zeros_like(x) if t is None else t for x, t in zip((factor, term), tangents)
    )
    total = of_factor * _before(out, dim) + of_term
    return [recurrence_primitive.apply(factor, total, dim=dim)]


@primitive(
    HostAlong(lambda environment, factor, term, dim: [(term.dtype, tuple(term.shape), False)]),
    name="recurrence",
    vjp=_recurrence_vjp,
    jvp=_recurrence_jvp,
    reference=_recurrence_arrays,
)
def recurrence_primitive(factor, term, dim):
    """s[i] = factor[i] * s[i - 1] + term[i] along dim, from s[0] = term[0]."""


def backward_recurrence(factor: Traced, term: Traced, dim: int) -> Traced:
    """s[i] = term[i] + factor[i + 1] * s[i + 1] along dim, from the last element on."""
    reverse = _flipped(_after(factor, dim), dim)
    return _flipped(recurrence_primitive.apply(reverse, _flipped(term, dim), dim=dim), dim)


# ---------------------------------------------------------------- products


def _products_before(x: Traced, out: Traced, dim: int) -> Traced:
    """The product of the elements before each; 1 for the first."""
    length = x.shape[dim]
    along = [length if each == dim else 1 for each in range(x.ndim)]
    first = build.reshape(build.iota(length), along) == 0
    return build.select_where(first, 1, _before(out, dim), x.dtype)


def _cumprod_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    """Without divisions, so that zeros do no harm: an element's gradient is the product before it
    times the sum over the later outputs of their gradient times the product between.
    """
    (x,), (out,), (g,), dim = inputs, outputs, gradients, attributes["dim"]
    before = build.conjugate(_products_before(x, out, dim))
    return [before * backward_recurrence(build.conjugate(x), g, dim)]


def _cumprod_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    (x,), (out,), (tangent,), dim = inputs, outputs, tangents, attributes["dim"]
    term = tangent * _products_before(x, out, dim)
    return [recurrence_primitive.apply(x, term, dim=dim)]


_WIDE = {"f": numpy.float64, "c": numpy.complex128}


@primitive(
    Scan(),
    name="cumprod",
    vjp=_cumprod_vjp,
    jvp=_cumprod_jvp,
    reference=lambda x, dim: numpy.cumprod(x, axis=dim, dtype=_WIDE.get(x.dtype.kind, x.dtype)),
)
def cumprod_primitive(x, dim):
    """The running product along dim, in the input's dtype."""


def _samples(dtype: DType) -> Any:
    yield from with_dim()(dtype)
    yield (Draw(()), 0), {}


@composite(names=["cumprod"], inplace=True, out=True, samples=_samples)
def cumprod(input: Tensor, dim: int, *, dtype: DType | None = None):
    """The running product along dim."""
    input = build.convert(input, scan_dtype(input, dtype, "cumprod"))
    dim = normalize_dim(dim, input.ndim)
    if not input.ndim or input.dtype is dtypes.bool:  # the latter has no elements
        return input
    return cumprod_primitive.apply(input, dim=dim)


# ---------------------------------------------------------------- running extremes


def _running_places(x: Any, dim: int, largest: bool) -> Any:
    keys = sort_keys(x)
    if not largest:
        keys = ~keys
        if x.dtype.kind == "f":
            keys = numpy.where(numpy.isnan(x), numpy.iinfo(keys.dtype).max, keys)
    along = [-1 if each == dim else 1 for each in range(x.ndim)]
    position = numpy.arange(x.shape[dim]).reshape(along)
    reached = keys == numpy.maximum.accumulate(keys, axis=dim)
    return numpy.maximum.accumulate(numpy.where(reached, position, 0), axis=dim)


@primitive(
    HostAlong(lambda environment, x, dim, largest: [(dtypes.int64, tuple(x.shape), False)]),
    name="running_places",
    derivative=NONE,
    reference=_running_places,
)
def running_places(x, dim, largest):
    """The index of the last of the greatest (or least) elements so far along dim; NaN is both."""


def _running(name: str, largest: bool, doc: str) -> None:
    result = values_indices(name)

    def body(input: Tensor, dim: int):
        dim = normalize_dim(dim, input.ndim)
        if not input.ndim:
            return result(input, build.full_like(input, 0, dtypes.int64))
        refuse(f"{name}_cpu", input)
        places = running_places.apply(input, dim=dim, largest=largest)
        return result(at_places(input, places, dim), places)

    body.__doc__ = doc
    composite(names=[name], out="same dtype", samples=_samples)(body)


_running("cummax", True, "The greatest element so far along dim, and its index.")
_running("cummin", False, "The least element so far along dim, and its index.")


# ---------------------------------------------------------------- logarithms of running sums


def _logcumsumexp_arrays(x: Any, dim: int) -> Any:
    x = numpy.moveaxis(x.astype(_WIDE[x.dtype.kind]), dim, 0)
    if x.dtype.kind == "f":
        result = numpy.logaddexp.accumulate(x, axis=0)
        return numpy.moveaxis(result, 0, dim)
    result = x.copy()
    for position in range(1, len(x)):
        a, b = result[position - 1], x[position]
        greater = numpy.where(a.real >= b.real, a, b)
        lesser = numpy.where(a.real >= b.real, b, a)
        infinite = (lesser.real == greater.real) & numpy.isinf(greater.real)
        difference = numpy.where(infinite, 0, lesser - greater)
        result[position] = greater + numpy.log1p(numpy.exp(difference))
    return numpy.moveaxis(result, 0, dim)


def _logcumsumexp_weights(x: Traced, out: Traced, dim: int) -> tuple[Traced, Traced]:
    """How much of each output comes from its own element, and from the output before."""
    previous = _before(out, dim)
    own = op.where(x == out, 1, op.exp(x - out))
    return own, op.where(previous == out, 1, op.exp(previous - out))


def _logcumsumexp_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    (x,), (out,), (g,), dim = inputs, outputs, gradients, attributes["dim"]
    own, earlier = (build.conjugate(each) for each in _logcumsumexp_weights(x, out, dim))
    return [own * backward_recurrence(earlier, g, dim)]


def _logcumsumexp_jvp(inputs: Any, outputs: Any, tangents: Any, attributes: Any) -> list:
    (x,), (out,), (tangent,), dim = inputs, outputs, tangents, attributes["dim"]
    own, earlier = _logcumsumexp_weights(x, out, dim)
    return [recurrence_primitive.apply(earlier, own * tangent, dim=dim)]


@primitive(
    HostAlong(lambda environment, x, dim: [(x.dtype, tuple(x.shape), False)]),
    name="logcumsumexp",
    vjp=_logcumsumexp_vjp,
    jvp=_logcumsumexp_jvp,
    reference=_logcumsumexp_arrays,
)
def logcumsumexp_primitive(x, dim):
    """log(cumsum(exp(x))) along dim, without overflow."""


@composite(
    names=["logcumsumexp"],
    out="same dtype",
    samples=calls((Draw((3, 4)), 1), (Draw((5,), special=(-float("inf"),)), 0), (Draw(()), 0)),
)
def logcumsumexp(input: Tensor, dim: int):
    """log(cumsum(exp(input))) along dim, without overflow."""
    refuse_integers("logcumsumexp_out_cpu", input)
    dim = normalize_dim(dim, input.ndim)
    if not input.ndim:
        return input
    # The gradient takes the difference of inputs and results: in single precision too little of
    # it is left where both are large.
    wide = build.convert(input, dtypes.complex128 if input.dtype.is_complex else dtypes.float64)
    return build.convert(logcumsumexp_primitive.apply(wide, dim=dim), input.dtype)


def refuse_integers(name: str, input: Traced) -> None:
    """NotImplementedError for integers and bools."""
    if not input.dtype.is_differentiable:
        refuse(name, input, input.dtype)
