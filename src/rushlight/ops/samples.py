"""Sample calls for records: what the laws in ``tests/laws`` run.

A sample is ``(args, kwargs)`` in which each tensor is a ``Draw``: the test makes a tensor from it
in the dtype under test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from ..dtypes import dtype as DType

Sample = tuple[tuple[Any, ...], dict[str, Any]]
Samples = Callable[[DType], Iterator[Sample]]


@dataclass(frozen=True)
class Draw:
    """A tensor of random numbers in [low, high); ``special`` values take the first places. dtype:
    None is that under test.
    """

    shape: tuple[int, ...]
    low: float = -4
    high: float = 4
    dtype: DType | None = None
    special: tuple[float, ...] = ()

    def array(self, dtype: DType, random: numpy.random.Generator) -> numpy.ndarray:
        """Numbers that every dtype of this kind can hold, as float64, int64 or complex128."""
        dtype = self.dtype or dtype
        if dtype.is_integral:
            low = int(self.low if dtype.is_signed else max(self.low, 0))
            high = max(int(self.high), low + 1)
            return random.integers(low, high, self.shape) % (
                2 if dtype.kind == "b" else high + abs(low) + 1 if low >= 0 else 2**62
            )
        result = random.uniform(self.low, self.high, self.shape)
        if dtype.is_complex:
            result = result + 1j * random.uniform(self.low, self.high, self.shape)
        places = result.reshape(-1)
        places[: len(self.special)] = self.special[: places.size]
        return result


SHAPES: tuple[tuple[int, ...], ...] = ((), (5,), (1, 3), (3, 4), (0, 3), (2, 3, 4))


def unary(
    low: float = -4, high: float = 4, special: Sequence[float] = (), **keywords: Any
) -> Samples:
    """One tensor, of several shapes."""

    def samples(dtype: DType) -> Iterator[Sample]:
        for shape in SHAPES:
            yield (Draw(shape, low, high, special=tuple(special)),), dict(keywords)

    return samples


def binary(
    low: float = -4,
    high: float = 4,
    other: tuple[float, float] | None = None,
    numbers: Sequence[Any] = (),
) -> Samples:
    """Two tensors that broadcast, and a tensor with each of ``numbers``."""
    other_low, other_high = other or (low, high)
    pairs = [
        ((), ()),
        ((3,), ()),
        ((), (3,)),
        ((2, 3), (2, 3)),
        ((2, 1, 3), (4, 1)),
        ((0, 3), (3,)),
        ((1,), (5,)),
    ]

    def samples(dtype: DType) -> Iterator[Sample]:
        for left, right in pairs:
            yield (Draw(left, low, high), Draw(right, other_low, other_high)), {}
        for number in numbers:
            yield (Draw((2, 3), low, high), number), {}

    return samples


def calls(*samples: Sample | tuple[Any, ...]) -> Samples:
    """These calls: tuples of positional arguments, or ``(args, kwargs)`` pairs."""

    def normalized() -> Iterator[Sample]:
        for sample in samples:
            pair = len(sample) == 2 and isinstance(sample[0], tuple) and isinstance(sample[1], dict)
            yield sample if pair else (sample, {})

    return lambda dtype: normalized()


def only(accepts: Callable[[DType], bool], samples: Samples) -> Samples:
    """The samples for the dtypes that ``accepts`` says, none for others."""
    return lambda dtype: samples(dtype) if accepts(dtype) else iter(())


def is_real(dtype: DType) -> bool:
    """Floating-point numbers: samples of them have no ties."""
    return dtype.is_floating_point


def is_precise(dtype: DType) -> bool:
    """Floating-point numbers of 32 bits or more."""
    return dtype.is_floating_point and dtype.itemsize > 2


def with_dim(
    rank: tuple[int, int] = (1, 3),
    low: float = -4,
    high: float = 4,
    empty: bool = True,
    **keywords: Any,
) -> Samples:
    """A tensor and each of its dims."""

    def samples(dtype: DType) -> Iterator[Sample]:
        for ndim in range(rank[0], rank[1] + 1):
            shape = (3, 4, 2, 5)[:ndim]
            for dim in (*range(ndim), -1):
                yield (Draw(shape, low, high), dim), dict(keywords)
        if empty and dtype.is_floating_point:
            yield (Draw((0, 3), low, high), 1), dict(keywords)

    return samples
