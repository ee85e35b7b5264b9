"""The loader that makes batches of a data set."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from .collate import default_collate, default_convert
from .dataset import Dataset, IterableDataset
from .iterators import SingleProcessIterator, WorkerIterator
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ["DataLoader", "default_collate", "default_convert"]

T_co = TypeVar("T_co", covariant=True)
_FIXED = (
    "batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers",
)  # fmt: skip


class _Endless(Sampler[Any]):
    """Asks an iterable data set for one sample after the other."""

    def __iter__(self) -> Iterator[Any]:
        return itertools.repeat(None)


class DataLoader(Generic[T_co]):
    """Batches of a data set, in this process or fetched ahead by others.

    Args:
        dataset: what can be indexed, or an `IterableDataset`.
        batch_size: samples in a batch; None: no batches, samples as they are.
        shuffle: whether the order is random.
        sampler: gives the indices; excludes shuffle.
        batch_sampler: gives lists of indices; excludes batch_size, shuffle, sampler, drop_last.
        num_workers: processes that fetch; 0: this one does.
        collate_fn: makes a batch of a list of samples.
        pin_memory: for accelerators; without one there is a warning.
        drop_last: whether to leave out a last batch that is smaller.
        timeout: the most seconds to wait for a batch of the workers; 0: no limit.
        worker_init_fn: called with the worker's number in each worker process.
        multiprocessing_context: how processes start: a name or a context of `multiprocessing`.
        generator: where random orders and the workers' seeds come from.
        prefetch_factor: batches that each worker fetches ahead (2).
        persistent_workers: whether workers live on after a pass over the data.
        pin_memory_device: for accelerators.
        in_order: whether batches come in the sampler's order, or as workers have them.

    Raises:
        ValueError: for options that are out of range or exclude each other.
        RuntimeError: while iterating, if a worker dies or the timeout passes.

    Example:
        >>> data = rushlight.utils.data.TensorDataset(rushlight.arange(5))
        >>> [x for x, in rushlight.utils.data.DataLoader(data, batch_size=2)]
        [tensor([0, 1]), tensor([2, 3]), tensor([4])]
    """

    dataset: Dataset[T_co]
    batch_size: int | None
    num_workers: int
    drop_last: bool
    timeout: float
    sampler: Any
    batch_sampler: Any
    prefetch_factor: int | None
    _iterator: WorkerIterator | None = None
    _initialized = False
    _announced: int | None = None  # the length of an iterable data set, once it was asked for

    def __init__(
        self,
        dataset: Dataset[T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.in_order = in_order
        self.multiprocessing_context = multiprocessing_context
        is_iterable = isinstance(dataset, IterableDataset)
        if is_iterable:
            check_iterable(shuffle, sampler, batch_sampler)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "DataLoader: batch_sampler forms whole batches, so batch_size, shuffle, "
                    "sampler and drop_last cannot be given with it"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError(
                "DataLoader: batch_size=None passes samples on one by one, so drop_last has "
                "nothing to drop; leave it False"
            )
        if sampler is None:
            if is_iterable:
                sampler = _Endless()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)  # type: ignore[arg-type]
            else:
                sampler = SequentialSampler(dataset)  # type: ignore[arg-type]
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        self.collate_fn: Callable[[Any], Any] = collate_fn or (
            default_collate if self._auto_collation else default_convert
        )
        self.persistent_workers = persistent_workers
        self._initialized = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._initialized and name in _FIXED:
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self) -> Any:
        """How worker processes start."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        if context is not None and not self.num_workers:
            raise ValueError(
                "DataLoader: multiprocessing_context needs worker processes, num_workers > 0, but "
                f"got num_workers={self.num_workers}"
            )
        if isinstance(context, str) and context not in multiprocessing.get_all_start_methods():
            raise ValueError(
                f"DataLoader: multiprocessing_context={context!r} is no start method here; use one "
                f"of {multiprocessing.get_all_start_methods()}"
            )
        if context is not None and not (isinstance(context, str) or hasattr(context, "Process")):
            raise TypeError(
                "DataLoader: multiprocessing_context takes the name of a start method or a "
                f"context of multiprocessing, not {context!r}"
            )
        is_name = context is None or isinstance(context, str)
        self._context = multiprocessing.get_context(context) if is_name else context

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def __iter__(self) -> Iterator[Any]:
        self._announced = None
        if self.pin_memory:
            warnings.warn(
                "DataLoader: pin_memory=True has no effect without an accelerator: memory is not "
                "pinned.",
                stacklevel=2,
            )
        if self.num_workers == 0:
            return SingleProcessIterator(self)
        check_worker_count(self.num_workers)
        if not self.persistent_workers:
            return WorkerIterator(self)
        if self._iterator is None or self._iterator.closed:
            self._iterator = WorkerIterator(self)
        else:
            self._iterator.restart()
        return self._iterator

    def __len__(self) -> int:
        if not isinstance(self.dataset, IterableDataset):
            return len(self._index_sampler)
        length = self._announced = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)

    def _check_length(self, yielded: int) -> None:
        """Warn if an iterable data set gives more batches than its length says."""
        if self._announced is not None and yielded > len(self):
            warnings.warn(
                f"Length of IterableDataset {self.dataset} was reported to be {self._announced}, "
                f"but {yielded} batches have been fetched. If there are several workers, each "
                "gives all samples, unless the data set asks get_worker_info().",
                stacklevel=3,
            )


def check_workers(
    num_workers: int, timeout: float, prefetch_factor: int | None, persistent_workers: bool
) -> None:
    if num_workers < 0:
        raise ValueError(
            f"DataLoader: num_workers counts processes and cannot be negative, got {num_workers}; "
            "0 loads in this process"
        )
    if timeout < 0:
        raise ValueError(f"timeout option should be non-negative, not {timeout}")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "DataLoader: prefetch_factor is for worker processes: set num_workers > 0, or leave "
            "prefetch_factor None"
        )
    if prefetch_factor is not None and prefetch_factor < 1:
        raise ValueError(f"prefetch_factor option should be positive, not {prefetch_factor}")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def check_iterable(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    if shuffle not in (False, None):
        raise ValueError(
            "DataLoader: an IterableDataset determines its own order; expected no shuffle, got "
            f"shuffle={shuffle}"
        )
    for name, value in (("sampler", sampler), ("batch_sampler", batch_sampler)):
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                f"{name}={value}"
            )


def check_worker_count(num_workers: int) -> None:
    """Warn about more workers than processors."""
    processors = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    )
    if processors and num_workers > processors:
        warnings.warn(
            f"This DataLoader will create {num_workers} worker processes, but there are "
            f"{processors} processors: more workers than those may be slower, or even freeze.",
            stacklevel=3,
        )
