"""Windows by which signals are multiplied before they are transformed (Harris 1978)."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import dtypes
from ..dtypes import dtype as DType
from ..formats import strided
from ..graph.trace import Traced
from . import build
from .record import Composite, Operand, Selector, Size, constructor, op
from .samples import Samples, calls

_HAMMING = 0.54
_BLACKMAN = (0.42, 0.5, 0.08)
_NUTTALL = (0.3635819, 0.4891775, 0.1365995, 0.0106411)
_SAMPLES = calls((5,), (1,), (0,), ((4,), {"sym": False}), ((6,), {"dtype": dtypes.float64}))


def _checked(name: str, M: Any, dtype: DType | None, layout: Any) -> DType:
    """The dtype of a window of M points."""
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not None and layout is not strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    dtype = dtypes.get_default_dtype() if dtype is None else dtype
    if dtype not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    return dtype


def _window(samples: Samples) -> Callable[[Callable[..., Traced]], Composite]:
    """Define a window by a function that gives its points in double precision.

    The operator checks M, and takes a dtype and a layout besides.
    """

    def define(points: Callable[..., Traced]) -> Composite:
        name = points.__name__

        def body(M: Size, *, dtype: DType | None = None, layout: Selector = None, **options: Any):
            dtype = _checked(name, M, dtype, layout)
            return build.convert(points(M, **options), dtype)

        own, common = inspect.signature(points), inspect.signature(body).parameters
        parameters = [*own.parameters.values(), common["dtype"], common["layout"]]
        body.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        body.__doc__ = points.__doc__
        return constructor(names=[f"signal.windows.{name}"], samples=samples)(body)

    return define


def _steps(M: Any) -> Traced:
    """0, 1, ... M - 1 in double precision."""
    return build.convert(build.iota(M), dtypes.float64)


def _period(M: Any, sym: bool) -> Any:
    """The number of steps of a whole period."""
    return M - 1 if sym else M


def _middle(M: Any, sym: bool) -> Any:
    """The place of the greatest point."""
    return (M if not sym and M > 1 else M - 1) / 2


def _one_or(M: Any, points: Callable[[], Traced]) -> Traced:
    """The points; a window of a single one is 1."""
    return _steps(M) + 1 if M <= 1 else points()


def _cosines(M: Any, a: Sequence[Any], sym: bool) -> Traced:
    """The sum of ``(-1)**i * a[i] * cos(i * angle)`` for angles around the circle."""

    def points() -> Traced:
        angle = _steps(M) * (2 * math.pi / _period(M, sym))
        total: Any = angle * 0
        for order, weight in enumerate(a):
            term = op.cos(angle * order) * weight
            total = total - term if order % 2 else total + term
        return total

    return _one_or(M, points)


def _triangle(M: Any, sym: bool) -> Traced:
    return _one_or(M, lambda: 1 - op.abs(_steps(M) * (2 / _period(M, sym)) - 1))


def _kaiser(M: Any, beta: Any, sym: bool) -> Traced:
    def points() -> Traced:
        place = (_steps(M) * (2 / _period(M, sym)) - 1) * beta
        root = op.sqrt(op.clamp_min(beta * beta - place * place, 0))
        whole = op.i0(build.convert(build.lift(beta, root.context), dtypes.float64))
        return op.i0(root) / whole

    return _one_or(M, points)


@_window(_SAMPLES)
def bartlett(M: Size, *, sym: bool = True):
    """A triangle that is zero at both ends."""
    return _triangle(M, sym)


@_window(calls(((5,), {"a": [0.5, 0.3, 0.2]})))
def general_cosine(M: Size, *, a: Selector, sym: bool = True):
    """A sum of cosines: (-1)**i * a[i] * cos(i * angle).

    Args:
        M: the number of points.
        a: the weights, a sequence of numbers.
        sym: whether the window is symmetric; else it is one period, without the last point.
    """
    if not isinstance(a, list | tuple):
        raise TypeError(
            f"general_cosine: Coefficients must be a list/tuple, not {type(a).__name__}"
        )
    if not a:
        raise ValueError("general_cosine: Coefficients cannot be empty")
    return _cosines(M, a, sym)


@_window(calls((5,), ((4,), {"alpha": 0.6})))
def general_hamming(M: Size, *, alpha: Operand = _HAMMING, sym: bool = True):
    """alpha - (1 - alpha) * cos(angle)"""
    return _cosines(M, (alpha, 1 - alpha), sym)


@_window(_SAMPLES)
def hamming(M: Size, *, sym: bool = True):
    """Hamming's window: 0.54 - 0.46 * cos(angle)"""
    return _cosines(M, (_HAMMING, 1 - _HAMMING), sym)


@_window(_SAMPLES)
def hann(M: Size, *, sym: bool = True):
    """Hann's window: 0.5 - 0.5 * cos(angle)"""
    return _cosines(M, (0.5, 0.5), sym)


@_window(_SAMPLES)
def blackman(M: Size, *, sym: bool = True):
    """Blackman's window, a sum of three cosines."""
    return _cosines(M, _BLACKMAN, sym)


@_window(_SAMPLES)
def nuttall(M: Size, *, sym: bool = True):
    """The minimum four-term window of Nuttall (1981)."""
    return _cosines(M, _NUTTALL, sym)


@_window(_SAMPLES)
def cosine(M: Size, *, sym: bool = True):
    """Half a period of the sine."""
    period = M + 1 if not sym and M > 1 else M
    if period == 0:
        return _steps(M)
    return op.sin((_steps(M) + 0.5) * (math.pi / period))


@_window(calls((5,), ((4,), {"center": 1.0, "tau": 2.0, "sym": False})))
def exponential(M: Size, *, center: Selector = None, tau: Operand = 1.0, sym: bool = True):
    """exp(-|n - center| / tau); center is by default in the middle."""
    if build.is_number(tau) and tau <= 0:
        raise ValueError(f"exponential: tau must be positive, not {tau}")
    if sym and center is not None:
        raise ValueError("exponential: Center must be None for symmetric windows")
    middle = _middle(M, sym) if center is None else center
    return op.exp(-op.abs(_steps(M) - middle) / tau)


@_window(calls((5,), ((4,), {"std": 2.0, "sym": False})))
def gaussian(M: Size, *, std: Operand = 1.0, sym: bool = True):
    """exp(-(n - middle)**2 / (2 * std**2))"""
    if build.is_number(std) and std <= 0:
        raise ValueError(f"gaussian: the standard deviation must be positive, not {std}")
    place = (_steps(M) - _middle(M, sym)) / std
    return op.exp(-0.5 * place * place)


@_window(calls((5,), ((4,), {"beta": 3.0, "sym": False})))
def kaiser(M: Size, *, beta: Operand = 12.0, sym: bool = True):
    """Kaiser's window: i0(beta * sqrt(1 - x**2)) / i0(beta) for x from -1 to 1."""
    if build.is_number(beta) and beta < 0:
        raise ValueError("kaiser: beta must be non-negative")
    return _kaiser(M, beta, sym)


# ---------------------------------------------------------------- under PyTorch's older names


def _floating(name: str, window_length: Any, dtype: DType | None) -> DType:
    dtype = dtypes.get_default_dtype() if dtype is None else dtype
    if not dtype.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    if window_length < 0:
        raise RuntimeError(
            f"{name} requires non-negative window_length, got window_length={window_length}"
        )
    return dtype


_OLD_SAMPLES = calls((5,), (1,), (0,), (4, False))


@constructor(names=["hann_window"], samples=_OLD_SAMPLES)
def hann_window(window_length: Size, periodic: bool = True, *, dtype: DType | None = None):
    """Hann's window. periodic: without the last point of the symmetric window."""
    dtype = _floating("hann_window", window_length, dtype)
    return build.convert(_cosines(window_length, (0.5, 0.5), not periodic), dtype)


@constructor(names=["hamming_window"], samples=_OLD_SAMPLES)
def hamming_window(
    window_length: Size,
    periodic: bool = True,
    alpha: Operand = _HAMMING,
    beta: Operand = 1 - _HAMMING,
    *,
    dtype: DType | None = None,
):
    """alpha - beta * cos(angle). periodic: without the last point of the symmetric window."""
    dtype = _floating("hamming_window", window_length, dtype)
    return build.convert(_cosines(window_length, (alpha, beta), not periodic), dtype)


@constructor(names=["bartlett_window"], samples=_OLD_SAMPLES)
def bartlett_window(window_length: Size, periodic: bool = True, *, dtype: DType | None = None):
    """A triangle that is zero at both ends. periodic: without the last point of the symmetric
    window.
    """
    dtype = _floating("bartlett_window", window_length, dtype)
    return build.convert(_triangle(window_length, not periodic), dtype)


@constructor(names=["blackman_window"], samples=_OLD_SAMPLES)
def blackman_window(window_length: Size, periodic: bool = True, *, dtype: DType | None = None):
    """Blackman's window. periodic: without the last point of the symmetric window."""
    dtype = _floating("blackman_window", window_length, dtype)
    return build.convert(_cosines(window_length, _BLACKMAN, not periodic), dtype)


@constructor(names=["kaiser_window"], samples=_OLD_SAMPLES)
def kaiser_window(
    window_length: Size,
    periodic: bool = True,
    beta: Operand = 12.0,
    *,
    dtype: DType | None = None,
):
    """Kaiser's window. periodic: without the last point of the symmetric window."""
    dtype = _floating("kaiser_window", window_length, dtype)
    return build.convert(_kaiser(window_length, beta, not periodic), dtype)
