"""Data sets: what can be indexed, or only iterated over."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from ..._core import Tensor
from ...ops.random import randperm
from ...random import Generator, default_generator

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Dataset(Generic[T_co]):
    """Samples by index or key: a subclass overrides ``__getitem__``, and usually ``__len__``.

    With ``__getitems__(indices)``, which returns a list, a loader fetches a batch in one call.
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[T_co]) -> ConcatDataset[T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Samples one after the other: a subclass overrides ``__iter__``.

    With several worker processes each has a copy of the data set: see `get_worker_info`.
    """

    def __add__(self, other: Dataset[T_co]) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Rows of tensors that have equally many.

    Args:
        tensors: of equal size in the first dim.

    Raises:
        AssertionError: if the sizes differ.

    Example:
        >>> data = rushlight.utils.data.TensorDataset(rushlight.arange(3), rushlight.ones(3))
        >>> data[2]
        (tensor(2), tensor(1.))
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        sizes = [tensor.size(0) for tensor in tensors]
        if len(set(sizes)) > 1:
            raise AssertionError(f"Size mismatch between tensors: their first sizes are {sizes}")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class StackDataset(Dataset[Any]):
    """Several data sets side by side: a sample is a tuple or a dict of theirs.

    Args:
        args: data sets of equal length; samples are tuples; or
        kwargs: data sets of equal length by name; samples are dicts.

    Raises:
        ValueError: if the lengths differ, or both kinds or none are given.
    """

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Dataset[Any], **kwargs: Dataset[Any]) -> None:
        if args and kwargs:
            raise ValueError(
                "StackDataset takes datasets by position, for samples that are tuples, or by "
                "name, for dicts, but not both"
            )
        if not (args or kwargs):
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        lengths = {len(each) for each in self._members()}
        if len(lengths) > 1:
            raise ValueError(f"Size mismatch between datasets: {sorted(lengths)}")
        self._length = lengths.pop()

    def _members(self) -> list[Any]:
        datasets = self.datasets
        return list(datasets.values() if isinstance(datasets, dict) else datasets)

    def _joined(self, values: Sequence[Any]) -> Any:
        if isinstance(self.datasets, dict):
            return dict(zip(self.datasets, values))
        return tuple(values)

    def __getitem__(self, index: Any) -> Any:
        return self._joined([each[index] for each in self._members()])

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        columns = []
        for each in self._members():
            items = fetched(each, indices)
            if len(items) != len(indices):
                raise ValueError(
                    "Nested dataset's output size mismatch. Expected "
                    f"{len(indices)}, got {len(items)}"
                )
            columns.append(items)
        return [self._joined(row) for row in zip(*columns)]

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T_co]):
    """Data sets one after the other.

    Args:
        datasets: data sets that can be indexed, at least one.

    Raises:
        AssertionError: for none, or one that can only be iterated over.
    """

    datasets: list[Dataset[T_co]]
    cumulative_sizes: list[int]

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """The number of samples up to each data set's end."""
        return list(itertools.accumulate(len(each) for each in sequence))

    def __init__(self, datasets: Iterable[Dataset[T_co]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(each, IterableDataset) for each in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> T_co:
        number, place = self._locate(index)
        return self.datasets[number][place]

    def _locate(self, index: int) -> tuple[int, int]:
        """Which data set has a sample, and where."""
        if index < 0:
            if -index > len(self):
                raise ValueError(
                    f"index {index} is out of range: the absolute value of a negative index is at "
                    f"most the length, {len(self)}"
                )
            index += len(self)
        number = bisect.bisect_right(self.cumulative_sizes, index)
        return number, index - (self.cumulative_sizes[number - 1] if number else 0)


class ChainDataset(IterableDataset[Any]):
    """Iterable data sets one after the other.

    Args:
        datasets: iterable data sets.
    """

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for each in self.datasets:
            if not isinstance(each, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield from each

    def __len__(self) -> int:
        total = 0
        for each in self.datasets:
            if not isinstance(each, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            total += len(each)  # type: ignore[arg-type]
        return total


class Subset(Dataset[T_co]):
    """A part of a data set.

    Args:
        dataset: the whole.
        indices: which samples, in this order.
    """

    dataset: Dataset[T_co]
    indices: Sequence[int]

    def __init__(self, dataset: Dataset[T_co], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[each] for each in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[T_co]:
        return fetched(self.dataset, [self.indices[each] for each in indices])

    def __len__(self) -> int:
        return len(self.indices)


def fetched(dataset: Any, indices: Sequence[Any]) -> list[Any]:
    """Several samples, in one call if the data set can."""
    together = getattr(dataset, "__getitems__", None)
    if callable(together):
        return together(indices)
    return [dataset[index] for index in indices]


def random_split(
    dataset: Dataset[T],
    lengths: Sequence[int | float],
    generator: Generator | None = default_generator,
) -> list[Subset[T]]:
    """Split a data set at random into parts that share no samples.

    Args:
        dataset: the data set.
        lengths: the parts' lengths, or shares that sum to one; what rounding leaves over goes to
            the first parts, one sample each.
        generator: where the random order comes from.

    Returns:
        The parts.

    Raises:
        ValueError: if the lengths do not sum to the data set's, or a share is not in [0, 1].

    Example:
        >>> [len(part) for part in rushlight.utils.data.random_split(range(10), [0.3, 0.7])]
        [3, 7]
    """
    total = len(dataset)  # type: ignore[arg-type]
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        counts = from_shares(lengths, total)
    else:
        counts = list(lengths)  # type: ignore[arg-type]
    if sum(counts) != total:
        raise ValueError(
            f"random_split: the sum of the lengths, {sum(counts)}, does not equal the number of "
            f"samples, {total}"
        )
    order = randperm.operator(total, generator=generator).tolist()
    ends = itertools.accumulate(counts)
    return [Subset(dataset, order[end - count : end]) for end, count in zip(ends, counts)]


def from_shares(shares: Sequence[float], total: int) -> list[int]:
    """Lengths for shares of a whole."""
    counts = []
    for number, share in enumerate(shares):
        if not 0 <= share <= 1:
            raise ValueError(f"Fraction at index {number} is not between 0 and 1")
        counts.append(math.floor(total * share))
    for number in range(total - sum(counts)):
        counts[number % len(counts)] += 1
    for number, count in enumerate(counts):
        if count == 0:
            warnings.warn(
                f"Length of split {number} of random_split is 0: it is an empty dataset.",
                stacklevel=3,
            )
    return counts
