"""Samplers: in which order a loader asks for samples, and which make a batch."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

from ... import dtypes
from ...creation import as_tensor
from ...ops.creation import empty
from ...ops.random import randint, randperm
from ...ops.sampling import multinomial
from ...random import Generator

T_co = TypeVar("T_co", covariant=True)


class Sampler(Generic[T_co]):
    """Gives indices: a subclass overrides ``__iter__``, and ``__len__`` if that is known."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError


def own_generator() -> Generator:
    """A generator that the default one seeds."""
    return Generator().manual_seed(drawn_seed(None))


def drawn_seed(generator: Generator | None) -> int:
    """The next 63-bit number of a generator."""
    return empty.operator((), dtype=dtypes.int64).random_(generator=generator).item()


class SequentialSampler(Sampler[int]):
    """All indices in order.

    Args:
        data_source: what has a length.
    """

    data_source: Sized

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Indices in random order, or drawn with replacement.

    Args:
        data_source: what has a length.
        replacement: whether an index may come several times.
        num_samples: how many to draw; None: as many as there are.
        generator: where the numbers come from; None: one that the default generator seeds.

    Raises:
        TypeError: if replacement is no bool.
        ValueError: if num_samples is no positive int.
    """

    data_source: Sized
    replacement: bool

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Any = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        if not (isinstance(self.num_samples, int) and self.num_samples >= 0) or num_samples == 0:
            raise ValueError(
                f"RandomSampler: num_samples must be a positive integer, got {self.num_samples!r}"
            )

    @property
    def num_samples(self) -> int:
        """How many are drawn: the data source's length, unless another number was given."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        count = len(self.data_source)
        generator = own_generator() if self.generator is None else self.generator
        if self.replacement:
            for start in range(0, self.num_samples, 32):
                size = (min(32, self.num_samples - start),)
                yield from randint.operator(0, count, size, generator=generator).tolist()
        elif count:
            # One more order than needed is drawn, as in PyTorch: the next pass depends on it.
            for start in range(0, self.num_samples + 1, count):
                order = randperm.operator(count, generator=generator).tolist()
                yield from order[: self.num_samples - start]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """These indices in random order.

    Args:
        indices: the indices.
        generator: where the random order comes from; None: the default generator.
    """

    indices: Sequence[int]

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        order = randperm.operator(len(self.indices), generator=self.generator)
        for index in order.tolist():
            yield self.indices[index]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Indices drawn with probabilities in proportion to weights.

    Args:
        weights: one for each index; they need not sum to one.
        num_samples: how many to draw.
        replacement: whether an index may come several times.
        generator: where the numbers come from; None: the default generator.

    Raises:
        ValueError: for arguments of other kinds.
    """

    num_samples: int
    replacement: bool

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Any = None,
    ) -> None:
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(
                "WeightedRandomSampler: num_samples must be a positive integer, got "
                f"{num_samples!r}"
            )
        if not isinstance(replacement, bool):
            raise ValueError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        self.weights = as_tensor(weights, dtype=dtypes.float64)
        if self.weights.ndim != 1:
            raise ValueError(
                "WeightedRandomSampler: weights must have one dim, got shape "
                f"{tuple(self.weights.shape)}"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = multinomial.operator(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        yield from drawn.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of consecutive indices of another sampler.

    Args:
        sampler: gives the indices.
        batch_size: how many make a list.
        drop_last: whether to leave out a last list that is shorter.

    Raises:
        ValueError: for arguments of other kinds.

    Example:
        >>> list(rushlight.utils.data.BatchSampler(range(5), batch_size=2, drop_last=False))
        [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self, sampler: Sampler[int] | Iterable[int], batch_size: int, drop_last: bool
    ) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(
                f"BatchSampler: batch_size must be a positive integer, got {batch_size!r}"
            )
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
