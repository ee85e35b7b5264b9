"""How a loader gets the samples that a sampler asks for."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from .dataset import IterableDataset, fetched


class MapFetcher:
    """Batches of a data set that can be indexed."""

    def __init__(self, dataset: Any, in_batches: bool, collate: Callable[[Any], Any]) -> None:
        self.dataset = dataset
        self.in_batches = in_batches
        self.collate = collate

    def fetch(self, indices: Any) -> Any:
        """The batch for a list of indices; the sample for one, if there are no batches."""
        if not self.in_batches:
            return self.collate(self.dataset[indices])
        return self.collate(fetched(self.dataset, indices))


class IterableFetcher:
    """Batches of a data set that can only be iterated over."""

    def __init__(
        self, dataset: Any, in_batches: bool, collate: Callable[[Any], Any], drop_last: bool
    ) -> None:
        self.samples = iter(dataset)
        self.in_batches = in_batches
        self.collate = collate
        self.drop_last = drop_last
        self.ended = False

    def fetch(self, indices: Any) -> Any:
        """As many further samples as there are indices, or one if there are no batches.

        Raises:
            StopIteration: if there are no more.
        """
        if self.ended:
            raise StopIteration
        if not self.in_batches:
            return self.collate(next(self.samples))
        batch = list(itertools.islice(self.samples, len(indices)))
        self.ended = len(batch) < len(indices)
        if not batch or (self.drop_last and self.ended):
            raise StopIteration
        return self.collate(batch)


def make_fetcher(
    dataset: Any, in_batches: bool, collate: Callable[[Any], Any], drop_last: bool
) -> MapFetcher | IterableFetcher:
    if isinstance(dataset, IterableDataset):
        return IterableFetcher(dataset, in_batches, collate, drop_last)
    return MapFetcher(dataset, in_batches, collate)
