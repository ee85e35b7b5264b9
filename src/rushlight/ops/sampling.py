"""Draws from discrete distributions."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from . import build
from .kinds import Host
from .random_numbers import uniform_arrays
from .record import NONE, Generator, composite, primitive, unsupported


def _draw_places(weights: Any, num_samples: int, replacement: bool, generator: Any) -> Any:
    """The indices that PyTorch's CPU generator draws."""
    if not bool((weights >= 0).all() and (weights < numpy.inf).all()):
        raise RuntimeError(
            "multinomial: probabilities must be finite and not negative, but some are inf, nan or "
            "below 0"
        )
    if weights.size and bool((weights.sum(-1) == 0).any()):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    rows = weights.reshape(-1, weights.shape[-1])
    if replacement and num_samples > 1:
        ends = numpy.cumsum(rows, axis=1, dtype=rows.dtype)
        ends /= ends[:, -1:]
        if ends.size:
            ends[:, -1] = 1
        uniform = uniform_arrays(generator, len(rows) * num_samples, True)
        draws = uniform.reshape(len(rows), num_samples)
        found = [numpy.searchsorted(end, row) for end, row in zip(ends, draws)]
    else:  # the largest of weights over exponential variates (Efraimidis and Spirakis 2006)
        uniform = uniform_arrays(generator, rows.size, True).reshape(rows.shape)
        with numpy.errstate(divide="ignore", invalid="ignore"):
            keys = rows / (-numpy.log1p(-uniform)).astype(rows.dtype)
        found = [numpy.argsort(-key, kind="stable")[:num_samples] for key in keys]
    shape = (*weights.shape[:-1], num_samples)
    return numpy.asarray(found, dtype=numpy.int64).reshape(shape)


@primitive(
    Host(
        lambda environment, x, num_samples, replacement, generator: [
            (dtypes.int64, (*x.shape[:-1], num_samples), False)
        ],
        impure=True,
    ),
    name="multinomial_places",
    random=True,
    derivative=NONE,
    reference=_draw_places,
    batch=unsupported("drawing from a batch of distributions: give multinomial a matrix of them"),
)
def multinomial_places(x, num_samples, replacement, generator):
    """Indices drawn with probabilities in proportion to the rows of x."""


@composite(names=["multinomial"], random=True, out="same dtype")
def multinomial(input, num_samples: int, replacement: bool = False, *, generator: Generator = None):
    """Indices drawn with probabilities in proportion to the numbers of a vector, or of each row of
    a matrix.
    """
    if not input.dtype.is_floating_point:
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {input.dtype.name}"
        )
    if len(input.shape) not in (1, 2):
        raise RuntimeError(
            f"multinomial: prob_dist must be 1 or 2 dim, but it has {len(input.shape)} dims"
        )
    if num_samples <= 0:
        raise RuntimeError(f"multinomial: cannot sample n_sample <= 0 samples, got {num_samples}")
    if not replacement and input.shape[-1] < num_samples:
        raise RuntimeError(
            "multinomial: cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    if input.dtype.itemsize == 2:
        input = build.convert(input, dtypes.float32)
    return multinomial_places.apply(
        input, num_samples=num_samples, replacement=replacement, generator=generator
    )
