"""Orthogonal polynomials of integer degrees, by their recurrences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from .host_kinds import HostElementwise
from .kinds import int_to_float, precise
from .record import NONE, primitive
from .samples import Draw, calls

# p[k + 1] from p[k], p[k - 1], x and k.
_Step = Callable[[Any, Any, Any, int], Any]
_LARGE = 1000  # from this degree on a closed form or SciPy's function takes over
_HUGE = 100_000  # from this degree on SciPy's recurrence would take too long


def _doubling(q: Any, p: Any, x: Any, k: int) -> Any:
    return 2 * x * q - p


def _recurrence(x: Any, degree: Any, first: Any, step: _Step) -> Any:
    """The polynomials of degrees below _LARGE; first is that of degree 1."""
    before, current = numpy.ones_like(x), first
    result = numpy.where(degree == 0, 1.0, 0.0)
    for k in range(1, int(degree.max(initial=0, where=degree < _LARGE)) + 1):
        result = numpy.where(degree == k, current, result)
        before, current = current, step(current, before, x, k)
    return result


def _chebyshev(kind: str, x: Any, n: Any) -> Any:
    """T, U, V and W: by trigonometric functions for high degrees between -1 and 1."""
    first = {"t": x, "u": 2 * x, "v": 2 * x - 1, "w": 2 * x + 1}[kind]
    result = _recurrence(x, n, first, _doubling)
    angle = numpy.arccos(numpy.clip(x, -1, 1))
    half = angle / 2
    trigonometric = {
        "t": numpy.cos(n * angle),
        "u": numpy.sin((n + 1) * angle) / numpy.sin(angle),
        "v": numpy.cos((n + 0.5) * angle) / numpy.cos(half),
        "w": numpy.sin((n + 0.5) * angle) / numpy.sin(half),
    }[kind]
    result = numpy.where((n >= 9) & (numpy.abs(x) < 1), trigonometric, result)
    sign = numpy.where(n % 2 == 0, 1, -1)
    above = {"t": 1, "u": n + 1, "v": 1, "w": 2 * n + 1}[kind]
    below = {"t": sign, "u": sign * (n + 1), "v": sign * (2 * n + 1), "w": sign}[kind]
    result = numpy.where(x == 1, above, numpy.where(x == -1, below, result))
    return numpy.where((n >= _LARGE) & (numpy.abs(x) > 1), numpy.inf * numpy.sign(x) ** n, result)


def _hermite(x: Any, n: Any, scale: int) -> Any:
    result = _recurrence(x, n, scale * x, lambda q, p, x, k: scale * (x * q - k * p))
    return numpy.where(n >= _LARGE, numpy.nan, result)


def _of_high_degree(function: Any, n: Any, x: Any) -> Any:
    """SciPy's function: by recurrence for integers, by a hypergeometric series for floats."""
    high = numpy.where(n >= _LARGE, n, 0)
    by_recurrence = function(numpy.where(high < _HUGE, high, 0), x)
    return numpy.where(high < _HUGE, by_recurrence, function(high.astype(numpy.float64), x))


def _laguerre(x: Any, n: Any) -> Any:
    from scipy.special import eval_laguerre

    of_high_degree = _of_high_degree(eval_laguerre, n, x)
    result = _recurrence(x, n, 1 - x, lambda q, p, x, k: ((2 * k + 1 - x) * q - k * p) / (k + 1))
    return numpy.where(n >= _LARGE, of_high_degree, result)


def _legendre(x: Any, n: Any) -> Any:
    from scipy.special import eval_legendre

    of_high_degree = _of_high_degree(eval_legendre, n, x)
    result = _recurrence(x, n, x, lambda q, p, x, k: ((2 * k + 1) * x * q - k * p) / (k + 1))
    return numpy.where(n >= _LARGE, of_high_degree, result)


def _reference(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def evaluate(x: Any, n: Any) -> Any:
        x, n = numpy.broadcast_arrays(x.astype(numpy.float64), n)
        degree = numpy.nan_to_num(n, nan=-1.0).astype(numpy.int64)
        return numpy.where(degree < 0, 0.0, function(x, degree))

    return evaluate


def _polynomial(name: str, doc: str, function: Callable[[Any, Any], Any]) -> None:
    def body(input, n):
        """"""

    body.__doc__ = f"{doc} of degree n (negative degrees give 0)."
    primitive(
        HostElementwise(precise, promote=int_to_float),
        name=name,
        names=[f"special.{name}"],
        methods=[],
        inplace=False,
        derivative=NONE,
        reference=_reference(function),
        samples=calls((Draw((4,), 0, 1), 3), (Draw((3,), 0, 2), Draw((2, 1), 0, 6))),
    )(body)


for _kind, _label in (("t", "first"), ("u", "second"), ("v", "third"), ("w", "fourth")):
    _polynomial(
        f"chebyshev_polynomial_{_kind}",
        f"The Chebyshev polynomial of the {_label} kind",
        lambda x, n, kind=_kind: _chebyshev(kind, x, n),  # type: ignore[misc]
    )
    _polynomial(
        f"shifted_chebyshev_polynomial_{_kind}",
        f"The Chebyshev polynomial of the {_label} kind at 2 * input - 1",
        lambda x, n, kind=_kind: _chebyshev(kind, 2 * x - 1, n),  # type: ignore[misc]
    )
_polynomial(
    "hermite_polynomial_h",
    "The Hermite polynomial for the weight exp(-x**2)",
    lambda x, n: _hermite(x, n, 2),
)
_polynomial(
    "hermite_polynomial_he",
    "The Hermite polynomial for the weight exp(-x**2 / 2)",
    lambda x, n: _hermite(x, n, 1),
)
_polynomial("laguerre_polynomial_l", "The Laguerre polynomial", _laguerre)
_polynomial("legendre_polynomial_p", "The Legendre polynomial", _legendre)
