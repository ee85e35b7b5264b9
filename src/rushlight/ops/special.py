"""Special functions: gamma, Bessel and their like, computed by SciPy where no kernel has them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.trace import Traced
from ..promotion import scalar_type_name
from . import build
from .exponential import special as scipy_function
from .host_kinds import HostElementwise
from .kinds import Elementwise, Where, floating, int_to_float, precise
from .record import NONE, Tensor, composite, op, primitive, unsupported
from .samples import Draw, binary, calls, only, unary

_INF, _NAN = float("inf"), float("nan")
_SPECIAL = (_INF, -_INF, _NAN, 0.0, -0.0, 1.0, -1.0)


def _function(
    names: list[str],
    doc: str,
    derivative: Any,
    reference: Callable[..., Any] | str,
    methods: list[str] | None = None,
    low: float = -4,
    high: float = 4,
    special: tuple[float, ...] = _SPECIAL,
    accepts: frozenset[DType] = floating,
) -> Any:
    """A function of one number that runs on the host."""

    def body(input):
        """"""

    body.__doc__ = doc
    return primitive(
        HostElementwise(accepts, promote=int_to_float),
        name=names[0].rpartition(".")[2],
        names=names,
        methods=[name for name in names if "." not in name] if methods is None else methods,
        inplace=bool(methods) or any("." not in name for name in names),
        derivative=derivative,
        reference=scipy_function(reference) if isinstance(reference, str) else reference,
        samples=unary(low, high, special=special),
    )(body)


# ---------------------------------------------------------------- gamma functions


@primitive(
    Elementwise(floating, promote=int_to_float),
    names=["lgamma", "special.gammaln"],
    methods=["lgamma"],
    derivative=lambda out, x: op.digamma(x),
    reference=scipy_function("gammaln"),
    samples=unary(0.1, 9, special=(_INF, 0.0, 1.0, 2.0, -1.0, _NAN)),
)
def lgamma(input):
    """The logarithm of the absolute value of the gamma function."""


def _digamma_arrays(x: Any) -> Any:
    from scipy.special import psi

    result = psi(x)
    pole = (x == 0) | ((x < 0) & (x == numpy.floor(x)))
    return numpy.where(x == 0, numpy.copysign(numpy.inf, -x), numpy.where(pole, numpy.nan, result))


_function(
    ["digamma", "special.digamma", "special.psi"],
    "The derivative of lgamma.",
    lambda out, x: op.polygamma(1, x),
    _digamma_arrays,
)


def _polygamma_arrays(x: Any, n: int) -> Any:
    from scipy.special import polygamma, psi

    return psi(x) if n == 0 else polygamma(n, x)


@primitive(
    HostElementwise(floating, promote=int_to_float),
    name="polygamma",
    vjp=lambda inputs, outputs, gradients, attributes: [
        gradients[0] * op.polygamma(attributes["n"] + 1, inputs[0])
    ],
    jvp=lambda inputs, outputs, tangents, attributes: [
        tangents[0] * op.polygamma(attributes["n"] + 1, inputs[0])
    ],
    reference=_polygamma_arrays,
)
def polygamma_primitive(x, n):
    """The n-th derivative of digamma."""


def _polygamma(n: Any, input: Traced) -> Traced:
    if n < 0:
        raise RuntimeError(f"polygamma(n, x) does not support negative n, but n is {n}")
    if n == 0:
        return op.digamma(input)
    input = _floating(input)
    return polygamma_primitive.apply(input, n=n)


@composite(
    names=["polygamma", "special.polygamma"],
    methods=[],
    out=True,
    samples=calls((1, Draw((3,), 0.5, 5)), (2, Draw((2, 3), 0.5, 5)), (0, Draw((3,), 0.5, 5))),
)
def polygamma(n: int, input: Tensor):
    """The n-th derivative of digamma."""
    return _polygamma(n, input)


@composite(name="polygamma_method", methods=["polygamma"], inplace=True)
def polygamma_method(input: Tensor, n: int):
    """The n-th derivative of digamma."""
    return _polygamma(n, input)


_MOST_DIMS = 1 << 20  # of matrices whose multivariate gamma function one asks for


@composite(
    names=["mvlgamma", "special.multigammaln"],
    methods=["mvlgamma"],
    inplace=True,
    out=True,
    samples=calls((Draw((3,), 2, 5), 2), (Draw((3,), 2, 5), 1)),
)
def mvlgamma(input: Tensor, p: int):
    """The logarithm of the gamma function of p dimensions."""
    if p < 1:
        raise RuntimeError(f"mvlgamma: p must be at least 1, but is {p}")
    if input.dtype.is_complex or input.dtype is dtypes.bool:
        raise NotImplementedError(
            f"\"mvlgamma_cpu\" not implemented for '{scalar_type_name(input.dtype)}'"
        )
    if input.dtype.is_integral:
        input = build.convert(input, dtypes.get_default_dtype())
    if p > _MOST_DIMS:
        raise RuntimeError(f"mvlgamma(): p must be at most {_MOST_DIMS}, but is {p}")
    halves = build.convert(build.iota(p), input.dtype) / 2
    terms = op.lgamma(build.insert_dim(input, input.ndim) - halves)
    return op.sum(terms, -1) + p * (p - 1) / 4 * math.log(math.pi)


def _no_partial(x: Any, message: str) -> Any:
    raise NotImplementedError(message)


@primitive(
    HostElementwise(floating),
    name="no_partial",
    derivative=unsupported("a partial derivative is not implemented"),
    reference=_no_partial,
)
def no_partial(x, message):
    """Stands for a partial derivative that has no formula: an error if it is needed."""


def _without(name: str, x: Traced) -> Traced:
    message = f"the derivative for '{name}' with respect to this argument is not implemented"
    return no_partial.apply(x, message=message)


def _binary(
    names: list[str],
    doc: str,
    derivative: Any,
    reference: Callable[..., Any] | str,
    methods: list[str],
    samples: Any = None,
) -> Any:
    def numbers(input, other):
        """"""

    def tensors(input: Tensor, other: Tensor):
        """"""

    zeta = not methods  # takes numbers, and integers as what they are in floating point
    body = numbers if zeta else tensors
    body.__doc__ = doc
    return primitive(
        HostElementwise(precise, promote=int_to_float) if zeta else HostElementwise(floating),
        name=names[0].rpartition(".")[2],
        names=names,
        methods=methods,
        inplace=bool(methods),
        derivative=derivative,
        reference=scipy_function(reference) if isinstance(reference, str) else reference,
        # Not in double precision, where the laws want derivatives by all arguments.
        samples=only(lambda dtype: dtype is dtypes.float32, samples or binary(0.5, 4)),
    )(body)


def _gamma_density(a: Any, x: Any) -> Any:
    return op.exp((a - 1) * op.log(x) - x - op.lgamma(a))


def _incomplete_gamma(name: str, at_zero: float) -> Callable[..., Any]:
    """SciPy's function, with the limits that hold whatever the other argument is, NaN or not."""

    def reference(a: Any, x: Any) -> Any:
        result = scipy_function(name)(a, x)
        least = numpy.isnan(a) & (x == 0) | numpy.isnan(x) & (a == _INF)
        most = numpy.isnan(a) & (x == _INF)
        return numpy.where(least, at_zero, numpy.where(most, 1 - at_zero, result))

    return reference


_binary(
    ["igamma", "special.gammainc"],
    "The regularized lower incomplete gamma function of order input at other.",
    lambda out, a, x: (_without("igamma", a), _gamma_density(a, x)),
    _incomplete_gamma("gammainc", 0.0),
    ["igamma"],
)
_binary(
    ["igammac", "special.gammaincc"],
    "The regularized upper incomplete gamma function of order input at other.",
    lambda out, a, x: (_without("igammac", a), -_gamma_density(a, x)),
    _incomplete_gamma("gammaincc", 1.0),
    ["igammac"],
)


def _zeta_arrays(x: Any, q: Any) -> Any:
    from scipy.special import zeta

    result = zeta(x, q)
    # SciPy and PyTorch differ where the sum has a pole.
    return numpy.where((q <= 0) & (q == numpy.floor(q)) & (x > 1), numpy.inf, result)


_zeta = _binary(
    ["special.zeta"],
    "The Hurwitz zeta function: the sum of (other + k) ** -input over all k from 0.",
    lambda out, x, q: (_without("zeta", x), -x * _zeta(x + 1, q)),
    _zeta_arrays,
    [],
    samples=binary(1.5, 4, other=(0.5, 4)),
)


# ---------------------------------------------------------------- error functions

_erfinv = _function(
    ["erfinv", "special.erfinv"],
    "The inverse of erf.",
    lambda out, x: op.exp(_erfinv(x) ** 2) * (math.sqrt(math.pi) / 2),  # out may be overwritten
    "erfinv",
    low=-0.99,
    high=0.99,
)
_erfcx = _function(
    ["special.erfcx"],
    "exp(input ** 2) * erfc(input), without overflow.",
    lambda out, x: 2 * x * out - 2 / math.sqrt(math.pi),
    "erfcx",
    methods=[],
    accepts=precise,
)
_ndtri = _function(
    ["special.ndtri"],
    "The normal distribution's quantile: the inverse of ndtr.",
    lambda out, x: op.exp(out * out / 2) * math.sqrt(2 * math.pi),
    "ndtri",
    methods=[],
    low=0.01,
    high=0.99,
    accepts=precise,
)


_function(
    ["special.log_ndtr"],
    "The logarithm of ndtr.",
    lambda out, x: math.sqrt(2 / math.pi) / _erfcx(-x * math.sqrt(0.5)),
    "log_ndtr",
    methods=[],
    accepts=precise,
)


def _floating(input: Traced) -> Traced:
    if input.dtype.is_integral:
        return build.convert(input, dtypes.get_default_dtype())
    if input.dtype.is_complex:
        raise NotImplementedError(
            f"\"special\" not implemented for '{scalar_type_name(input.dtype)}'"
        )
    return input


@composite(names=["special.ndtr"], methods=[], out=True, samples=unary(special=_SPECIAL))
def ndtr(input: Tensor):
    """The normal distribution's cumulative probability."""
    x = build.kept(_floating(input) * math.sqrt(0.5))
    return op.where(x < -1, op.erfc(-x) * 0.5, 0.5 + op.erf(x) * 0.5)


@composite(names=["special.entr"], methods=[], out=True, samples=unary(special=(0.0, -1.0, _NAN)))
def entr(input: Tensor):
    """-input * log(input); 0 at 0, and minus infinity for negative numbers."""
    x = _floating(input)
    safe = op.where(x > 0, x, 1)
    elsewhere = op.where(x == 0, x * 0, -_INF)  # NaN, too, is neither positive nor negative
    elsewhere = op.where(op.isnan(x), x, elsewhere)
    return op.where(x > 0, -x * op.log(safe), elsewhere)


def _xlog1py_partials(out: Any, x: Any, y: Any) -> tuple[Where, Any]:
    return Where((x != 0) | ~(y <= -1), op.log1p(y)), x / (y + 1)


@primitive(
    Elementwise(floating, promote=int_to_float),
    names=["special.xlog1py"],
    methods=[],
    inplace=False,
    scalar=lambda s, x, y: s.where(
        s.isnan(y), y, s.where(s.eq(x, 0), s.mul(s.abs(x), 0), s.mul(x, s.log1p(y)))
    ),
    derivative=_xlog1py_partials,
    reference=scipy_function("xlog1py"),
    samples=binary(0, 4, other=(0.1, 4), numbers=[2]),
)
def xlog1py(input, other):
    """input * log1p(other), and 0 where the input is 0 and other is a number."""


# ---------------------------------------------------------------- Bessel functions

_i1 = _function(
    ["special.i1"],
    "The modified Bessel function I1 of the first kind.",
    lambda out, x: op.i0(x) - op.where(x == 0, 0.5, out / op.where(x == 0, 1, x)),
    "i1",
    methods=[],
)
_i1e = _function(
    ["special.i1e"],
    "exp(-|input|) * i1(input)",
    lambda out, x: op.where(x == 0, 0.5, _i0e(x) - out * (op.sgn(x) + 1 / op.where(x == 0, 1, x))),
    "i1e",
    methods=[],
)
_function(
    ["i0", "special.i0"],
    "The modified Bessel function I0 of the first kind.",
    lambda out, x: _i1(x),
    "i0",
)
_i0e = _function(
    ["special.i0e"],
    "exp(-|input|) * i0(input)",
    lambda out, x: _i1e(x) - op.sgn(x) * out,
    "i0e",
    methods=[],
)

for _path, _reference, _doc in (
    ("bessel_j0", "j0", "The Bessel function J0 of the first kind."),
    ("bessel_j1", "j1", "The Bessel function J1 of the first kind."),
    ("bessel_y0", "y0", "The Bessel function Y0 of the second kind."),
    ("bessel_y1", "y1", "The Bessel function Y1 of the second kind."),
    ("modified_bessel_i0", "i0", "The modified Bessel function I0 of the first kind."),
    ("modified_bessel_i1", "i1", "The modified Bessel function I1 of the first kind."),
    ("modified_bessel_k0", "k0", "The modified Bessel function K0 of the second kind."),
    ("modified_bessel_k1", "k1", "The modified Bessel function K1 of the second kind."),
    ("scaled_modified_bessel_k0", "k0e", "exp(input) * modified_bessel_k0(input)"),
    ("scaled_modified_bessel_k1", "k1e", "exp(input) * modified_bessel_k1(input)"),
    (
        "spherical_bessel_j0",
        lambda x: numpy.where(
            numpy.abs(x) == numpy.inf, 0, numpy.sinc(x.astype(numpy.float64) / numpy.pi)
        ),
        "The spherical Bessel function j0 of the first kind: sin(input) / input.",
    ),
):
    _function([f"special.{_path}"], _doc, NONE, _reference, methods=[], low=0.1, accepts=precise)


def _airy_arrays(x: Any) -> Any:
    from scipy.special import airy

    return numpy.where(x > 103.892, 0, airy(x)[0])  # SciPy gives NaN for large numbers


_function(
    ["special.airy_ai"],
    "The Airy function Ai.",
    NONE,
    _airy_arrays,
    methods=[],
    low=0.1,
    special=(_NAN, 0.0),
    accepts=precise,
)
