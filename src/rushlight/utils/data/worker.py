"""What runs in a loader's worker process, and the messages between it and the loader."""

from __future__ import annotations

import os
import pickle
import queue
import random
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy

from ..._core import set_num_threads
from ...random import manual_seed
from .dataset import IterableDataset
from .fetch import make_fetcher

POLL_SECONDS = 5.0  # how often a worker looks whether its loader still exists


@dataclass(frozen=True)
class WorkerInfo:
    """A worker process: its number, how many there are, its seed and its copy of the data set."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker process of a loader: which one this is; elsewhere None.

    An iterable data set uses it so that each worker gives other samples.
    """
    return _worker_info


@dataclass(frozen=True)
class Failure:
    """An exception in a worker, to be raised again in the loader."""

    type: type[BaseException]
    text: str
    worker: int

    @classmethod
    def of(cls, error: BaseException, worker: int) -> Failure:
        text = "".join(traceback.format_exception(error))
        kind = RuntimeError if isinstance(error, StopIteration) else type(error)
        try:
            pickle.dumps(kind)
        except Exception:  # a local class
            kind = RuntimeError
        return cls(kind, text, worker)

    def reraise(self) -> None:
        message = (
            f"Caught {self.type.__name__} in DataLoader worker process {self.worker}.\n"
            f"Original {self.text}"
        )
        if self.type is KeyError:
            raise KeyErrorText(message)
        try:
            error = self.type(message)
        except Exception:  # its constructor takes other arguments
            raise RuntimeError(message) from None
        raise error


class KeyErrorText(KeyError):
    """A KeyError whose text keeps its lines."""

    def __str__(self) -> str:
        return str(self.args[0])


class EndOfData:
    """A worker's data set has no more samples."""


@dataclass(frozen=True)
class Task:
    """A batch to fetch: its number, and the indices."""

    number: int
    indices: Any


class Restart:
    """Begin a new pass over the data set."""


@dataclass(frozen=True)
class Setup:
    """What a worker needs to know."""

    dataset: Any
    in_batches: bool
    collate: Callable[[Any], Any]
    drop_last: bool
    base_seed: int
    worker_init_fn: Callable[[int], Any] | None
    id: int
    num_workers: int
    parent: int


# ---------------------------------------------------------------- messages


def send(connection: Connection, message: Any) -> None:
    """Send an object; the memory of tensors and arrays in it follows uncopied."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(message, protocol=5, buffer_callback=buffers.append)
    views = [buffer.raw() for buffer in buffers]
    connection.send_bytes(pickle.dumps((head, [view.nbytes for view in views])))
    for view in views:
        if view.nbytes:
            connection.send_bytes(view)


def receive(connection: Connection) -> Any:
    """Receive what `send` sent."""
    head, sizes = pickle.loads(connection.recv_bytes())
    buffers = []
    for size in sizes:
        buffer = bytearray(size)
        if size:
            connection.recv_bytes_into(buffer)
        buffers.append(buffer)
    return pickle.loads(head, buffers=buffers)


# ---------------------------------------------------------------- the process


def run(setup: Setup, tasks: Connection, results: Connection) -> None:
    """Fetch what is asked for until None comes."""
    try:
        _run(setup, tasks, results)
    except (KeyboardInterrupt, BrokenPipeError, ConnectionResetError, EOFError):
        pass  # the loader ends, or has ended


def _run(setup: Setup, tasks: Connection, results: Connection) -> None:
    global _worker_info
    seed = setup.base_seed + setup.id
    set_num_threads(1)
    random.seed(seed)
    manual_seed(seed)
    seed_numpy(setup.base_seed, setup.id)
    _worker_info = WorkerInfo(setup.id, setup.num_workers, seed, setup.dataset)
    failure = None
    try:
        if setup.worker_init_fn is not None:
            setup.worker_init_fn(setup.id)
    except Exception as error:
        failure = Failure.of(error, setup.id)
    fetcher: Any = None
    for task in incoming(tasks, setup.parent):
        if isinstance(task, Restart):
            fetcher = None
            continue
        answer: Any = failure
        if failure is None:
            try:
                if fetcher is None:
                    fetcher = make_fetcher(
                        setup.dataset, setup.in_batches, setup.collate, setup.drop_last
                    )
                answer = fetcher.fetch(task.indices)
            except Exception as error:
                is_end = isinstance(error, StopIteration) and isinstance(
                    setup.dataset, IterableDataset
                )
                answer = EndOfData() if is_end else Failure.of(error, setup.id)
        answer_with(results, task.number, answer, setup.id)


def answer_with(results: Connection, number: int, answer: Any, worker: int) -> None:
    """Send an answer, or why it cannot be sent."""
    try:
        send(results, (number, answer))
    except OSError:
        raise
    except Exception as error:  # it cannot be pickled
        send(results, (number, Failure.of(error, worker)))


def incoming(tasks: Connection, parent: int) -> Any:
    """The tasks up to None. A thread takes them from the pipe, so that the loader never waits."""
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def read() -> None:
        while True:
            try:
                if tasks.poll(POLL_SECONDS):
                    task = pickle.loads(tasks.recv_bytes())
                    waiting.put(task)
                    if task is None:
                        return
                elif os.getppid() != parent:
                    os._exit(1)
            except (EOFError, OSError):
                os._exit(1)

    threading.Thread(target=read, daemon=True).start()
    yield from iter(waiting.get, None)


def seed_numpy(base_seed: int, worker: int) -> None:
    """Seed NumPy's legacy generator differently in each worker."""
    low, high = base_seed & 0xFFFFFFFF, base_seed >> 32
    words = numpy.random.SeedSequence([worker, low, high, 0]).generate_state(4)
    numpy.random.seed(words)
