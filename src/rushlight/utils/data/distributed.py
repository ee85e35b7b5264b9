"""A sampler that gives each process of a group its own part."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ...ops.random import randperm
from ...random import Generator
from .sampler import Sampler


class DistributedSampler(Sampler[int]):
    """The part of a data set that one of several processes reads: every n-th index.

    Call `set_epoch` before each epoch, else the order stays the same.

    Args:
        dataset: the data set, of known length.
        num_replicas: number of processes.
        rank: number of this process.
        shuffle: whether the order is random.
        seed: of the random order; equal in all processes.
        drop_last: whether to leave out what does not divide evenly, instead of repeating samples.

    Raises:
        ValueError: for an invalid rank.
        RuntimeError: if the number of processes and the rank are not given, and not known.
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            raise RuntimeError(
                "Requires distributed package to be available: there is none yet, so give "
                "num_replicas and rank"
            )
        if not 0 <= rank < num_replicas:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]"
            )
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        self.shuffle = shuffle
        self.seed = seed
        count = len(dataset)
        if drop_last and count % num_replicas:
            self.num_samples = math.ceil((count - num_replicas) / num_replicas)
        else:
            self.num_samples = math.ceil(count / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        if self.shuffle:
            generator = Generator().manual_seed(self.seed + self.epoch)
            indices = randperm.operator(count, generator=generator).tolist()
        else:
            indices = list(range(count))
        if indices and len(indices) < self.total_size:
            indices = indices * math.ceil(self.total_size / len(indices))
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Choose another random order: the same one in all processes."""
        self.epoch = epoch
