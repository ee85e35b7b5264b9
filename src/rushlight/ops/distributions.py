"""Draws from distributions of counts: poisson, binomial, in PyTorch's streams."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from ..layout import broadcast_shapes
from ..promotion import scalar_type_name
from . import build
from .conversion import overwritten
from .kinds import Host
from .random_numbers import draw_bits
from .record import NONE, Generator, Tensor, composite, op, primitive, unsupported

_NO_BATCH = unsupported("draws of counts have no batching rule; use randomness outside of vmap")


def _doubles(generator: Any, count: int) -> Any:
    """The next numbers in [0, 1), in double precision."""
    bits = draw_bits(generator, (count,), 64) & numpy.uint64(2**53 - 1)
    return bits.astype(numpy.float64) * 2.0**-53


def _uniform(generator: Any) -> Callable[[], float]:
    return lambda: float(_doubles(generator, 1)[0])


# ---------------------------------------------------------------- poisson


def _few_events(rate: float, uniform: Callable[[], float]) -> int:
    """Knuth's product of uniform numbers."""
    limit, product, count = math.exp(-rate), 1.0, 0
    while True:
        product *= uniform()
        if product <= limit:
            return count
        count += 1


def _many_events(rate: float, uniform: Callable[[], float]) -> int:
    """Transformed rejection: W. Hörmann, The transformed rejection method for generating Poisson
    random variables, 1993, algorithm PTRS.
    """
    log_rate = math.log(rate)
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_r = 0.9277 - 3.6224 / (b - 2)
    while True:
        u = uniform() - 0.5
        v = uniform()
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= v_r:
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        height = math.log(v) + math.log(inverse_alpha) - math.log(a / (us * us) + b)
        if height <= -rate + k * log_rate - math.lgamma(k + 1):
            return k


def _poisson_arrays(rates: Any, generator: Any) -> Any:
    if rates.size and not (rates >= 0).all():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    uniform = _uniform(generator)
    flat = numpy.empty(rates.size, numpy.float64)
    for position, rate in enumerate(rates.reshape(-1).tolist()):
        few = _many_events if rate >= 10 else _few_events
        flat[position] = 0 if rate == 0 else few(rate, uniform)
    return flat.reshape(rates.shape)


@primitive(
    Host(lambda environment, rates, generator: [(rates.dtype, tuple(rates.shape), False)], True),
    name="poisson",
    random=True,
    derivative=NONE,
    batch=_NO_BATCH,
    reference=_poisson_arrays,
)
def poisson_primitive(rates, generator):
    """Numbers of events of given mean numbers."""


@composite(names=["poisson"], methods=[], random=True)
def poisson(input, generator: Generator = None):
    """Numbers of events whose mean numbers are the elements."""
    if not input.dtype.is_floating_point:
        raise NotImplementedError(
            f"\"poisson_cpu\" not implemented for '{scalar_type_name(input.dtype)}'"
        )
    draws = poisson_primitive.apply(op.detach(input), generator=generator)
    return overwritten.apply(input, draws)


# ---------------------------------------------------------------- binomial


def _few_successes(count: float, p: float, uniform: Callable[[], float]) -> int:
    """By the numbers of trials up to each success."""
    successes, trials = 0, 0.0
    log_failure = math.log1p(-p)
    while True:
        u = uniform()
        trials += math.ceil(math.log(u) / log_failure) if u > 0 else math.inf
        if trials > count:
            return successes
        successes += 1


_STIRLING = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
    0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
    0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


def _stirling_rest(k: float) -> float:
    """log(k!) less Stirling's approximation of it."""
    if k <= 9:
        return _STIRLING[int(k)]
    square = (k + 1) ** 2
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)


def _many_successes(count: float, p: float, uniform: Callable[[], float]) -> float:
    """Transformed rejection: W. Hörmann, The generation of binomial random variates, 1993,
    algorithm BTRS.
    """
    deviation = math.sqrt(count * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = count * p + 0.5
    v_r = 0.92 - 4.2 / b
    r = p / (1 - p)
    alpha = (2.83 + 5.1 / b) * deviation
    m = math.floor((count + 1) * p)
    while True:
        u = uniform() - 0.5
        v = uniform()
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + c)
        if k < 0 or k > count:
            continue
        if us >= 0.07 and v <= v_r:
            return k
        v = math.log(v * alpha / (a / (us * us) + b))
        bound = (
            (m + 0.5) * math.log((m + 1) / (r * (count - m + 1)))
            + (count + 1) * math.log((count - m + 1) / (count - k + 1))
            + (k + 0.5) * math.log(r * (count - k + 1) / (k + 1))
            + _stirling_rest(m)
            + _stirling_rest(count - m)
            - _stirling_rest(k)
            - _stirling_rest(count - k)
        )
        if v <= bound:
            return k


def _successes(count: float, p: float, uniform: Callable[[], float]) -> float:
    if count <= 0 or p <= 0:
        return 0
    if p >= 1:
        return count
    if p > 0.5:
        return count - _successes(count, 1 - p, uniform)
    function = _many_successes if count * p >= 10 else _few_successes
    return function(count, p, uniform)


def _binomial_arrays(counts: Any, p: Any, generator: Any) -> Any:
    if counts.size and not ((p >= 0) & (p <= 1)).all():
        raise RuntimeError("binomial: expected probabilities to be from 0 to 1")
    uniform = _uniform(generator)
    pairs = zip(counts.reshape(-1).tolist(), p.reshape(-1).tolist(), strict=True)
    draws = [_successes(count, each, uniform) for count, each in pairs]
    return numpy.array(draws, numpy.float64).reshape(counts.shape)


@primitive(
    Host(lambda environment, counts, p, generator: [(p.dtype, tuple(p.shape), False)], True),
    name="binomial",
    random=True,
    derivative=NONE,
    batch=_NO_BATCH,
    reference=_binomial_arrays,
)
def binomial_primitive(counts, p, generator):
    """Numbers of successes in so many trials."""


@composite(names=["binomial"], methods=[], random=True)
def binomial(count: Tensor, prob: Tensor, generator: Generator = None):
    """Numbers of successes in ``count`` trials, each of probability ``prob``."""
    for x in (count, prob):
        if not x.dtype.is_floating_point:
            raise NotImplementedError(
                f"\"binomial_cpu\" not implemented for '{scalar_type_name(x.dtype)}'"
            )
    if count.dtype is not prob.dtype:
        raise RuntimeError(
            f"Found dtype {scalar_type_name(count.dtype)} but expected "
            f"{scalar_type_name(prob.dtype)} (in binomial)"
        )
    shape = broadcast_shapes([count.shape, prob.shape], "binomial")
    counts, chances = (build.expand(op.detach(x), shape) for x in (count, prob))
    draws = binomial_primitive.apply(counts, chances, generator=generator)
    return overwritten.apply(build.expand(prob, shape), draws)
