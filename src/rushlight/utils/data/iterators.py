"""One pass over a loader's data, in this process or by workers."""

from __future__ import annotations

import contextlib
import os
import pickle
import time
from collections.abc import Iterator
from multiprocessing import connection
from typing import TYPE_CHECKING, Any

from .fetch import make_fetcher
from .sampler import drawn_seed
from .worker import EndOfData, Failure, Restart, Setup, Task, receive, run

if TYPE_CHECKING:
    from .dataloader import DataLoader


class SingleProcessIterator:
    """Fetches each batch when it is asked for."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self.loader = loader
        self.base_seed = drawn_seed(loader.generator)
        self.indices: Iterator[Any] = iter(loader._index_sampler)
        self.fetcher = make_fetcher(
            loader.dataset, loader._auto_collation, loader.collate_fn, loader.drop_last
        )
        self.yielded = 0

    def __iter__(self) -> SingleProcessIterator:
        return self

    def __len__(self) -> int:
        return len(self.loader._index_sampler)

    def __next__(self) -> Any:
        data = self.fetcher.fetch(next(self.indices))
        self.yielded += 1
        self.loader._check_length(self.yielded)
        return data


class WorkerIterator:
    """Lets worker processes fetch batches ahead.

    Each worker has a pipe for tasks and one for results. Batches are handed out in order of their
    numbers, or as they come. A worker that dies, or takes longer than the timeout, is an error.
    """

    def __init__(self, loader: DataLoader[Any]) -> None:
        self.loader = loader
        self.processes: list[Any] = []
        self.task_pipes: list[Any] = []
        self.result_pipes: list[Any] = []
        self.closed = False
        self.owner = os.getpid()  # a forked child has a copy of this object, and none of its rights
        context = loader.multiprocessing_context
        base_seed = drawn_seed(loader.generator)
        try:
            for number in range(loader.num_workers):
                self._start(context, number, base_seed)
        except BaseException:
            self.close()
            raise
        self._begin()

    def _start(self, context: Any, number: int, base_seed: int) -> None:
        loader = self.loader
        tasks_out, tasks_in = context.Pipe(duplex=False)
        results_out, results_in = context.Pipe(duplex=False)
        setup = Setup(
            loader.dataset,
            loader._auto_collation,
            loader.collate_fn,
            loader.drop_last,
            base_seed,
            loader.worker_init_fn,
            number,
            loader.num_workers,
            os.getpid(),
        )
        process = context.Process(target=run, args=(setup, tasks_out, results_in), daemon=True)
        process.start()
        tasks_out.close()
        results_in.close()
        self.processes.append(process)
        self.task_pipes.append(tasks_in)
        self.result_pipes.append(results_out)

    def restart(self) -> None:
        """Begin another pass with the same workers."""
        drawn_seed(self.loader.generator)
        self._drain()
        for pipe in self.task_pipes:
            pipe.send_bytes(pickle.dumps(Restart()))
        self._begin()

    def _begin(self) -> None:
        self.indices: Iterator[Any] = iter(self.loader._index_sampler)
        self.sent = 0  # tasks given to workers
        self.given = 0  # the number of the batch that comes next
        self.yielded = 0
        self.workers_of: dict[int, int] = {}  # of each task under way
        self.ready: dict[int, Any] = {}  # batches that came before their turn
        self.active = [True] * self.loader.num_workers
        self.next_worker = 0
        self.ended = False
        assert self.loader.prefetch_factor is not None
        for _ in range(self.loader.prefetch_factor * self.loader.num_workers):
            self._send_task()

    def __iter__(self) -> WorkerIterator:
        return self

    def __len__(self) -> int:
        return len(self.loader._index_sampler)

    # ------------------------------------------------------------ tasks and results

    def _send_task(self) -> None:
        """Give the next active worker another task, if there is any."""
        count = self.loader.num_workers
        order = [(self.next_worker + k) % count for k in range(count)]
        worker = next((each for each in order if self.active[each]), None)
        if worker is None:
            return
        indices = next(self.indices, self)
        if indices is self:
            return
        self._give(worker, Task(self.sent, indices))
        self.workers_of[self.sent] = worker
        self.sent += 1
        self.next_worker = (worker + 1) % count

    def _give(self, worker: int, task: Task) -> None:
        try:
            self.task_pipes[worker].send_bytes(pickle.dumps(task))
        except (BrokenPipeError, ConnectionResetError):
            self._report_death(worker)

    def __next__(self) -> Any:
        if self.closed or self.ended:
            raise StopIteration
        try:
            data = self._next_batch()
        except StopIteration:
            self.ended = True
            if not self.loader.persistent_workers:
                self.close()
            raise
        if isinstance(data, Failure):
            if not self.loader.persistent_workers:
                self.close()
            data.reraise()
        self.yielded += 1
        self.loader._check_length(self.yielded)
        return data

    def _next_batch(self) -> Any:
        in_order = self.loader.in_order
        while True:
            while self.given < self.sent:  # skip what ended workers did not deliver
                if self.given in self.ready or self.given in self.workers_of:
                    break
                self.given += 1
            if not self.workers_of and not self.ready:
                raise StopIteration
            number = self.given if in_order else next(iter(self.ready), -1)
            if number in self.ready:
                data = self.ready.pop(number)
                self._send_task()
                return data
            number, data = self._receive()
            worker = self.workers_of.pop(number)
            if isinstance(data, EndOfData):
                if self.active[worker]:
                    self.active[worker] = False
                    self._send_task()
                continue
            self.ready[number] = data

    def _receive(self) -> tuple[int, Any]:
        """The next result of any worker."""
        timeout = self.loader.timeout
        deadline = time.monotonic() + timeout if timeout > 0 else None
        by_pipe = {pipe: k for k, pipe in enumerate(self.result_pipes)}
        sentinels = {process.sentinel: k for k, process in enumerate(self.processes)}
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            found: list[Any] = connection.wait([*by_pipe, *sentinels], left)
            for each in found:
                if each in by_pipe:
                    try:
                        return receive(each)
                    except (EOFError, ConnectionResetError):
                        self._report_death(by_pipe[each])
            for each in found:
                self._report_death(sentinels[each])
            if deadline is not None and time.monotonic() >= deadline:
                self.close()
                raise RuntimeError(f"DataLoader timed out after {timeout} seconds")

    def _report_death(self, worker: int) -> None:
        process = self.processes[worker]
        process.join(1.0)
        pid, code = process.pid, process.exitcode
        self.close()
        reason = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        raise RuntimeError(f"DataLoader worker (pid(s) {pid}) exited unexpectedly with {reason}")

    # ------------------------------------------------------------ the end

    def _drain(self) -> None:
        """Receive what is under way and forget it."""
        while self.workers_of:
            number, _ = self._receive()
            self.workers_of.pop(number, None)

    def close(self) -> None:
        """End the workers."""
        if self.closed:
            return
        self.closed = True
        for pipe in self.task_pipes:
            with contextlib.suppress(OSError):
                pipe.send_bytes(pickle.dumps(None))
        deadline = time.monotonic() + 5.0
        pipes = list(self.result_pipes)
        while any(process.is_alive() for process in self.processes):
            left = deadline - time.monotonic()
            if left <= 0:
                break
            sentinels = [process.sentinel for process in self.processes if process.is_alive()]
            for each in connection.wait([*pipes, *sentinels], left):
                if each in pipes:  # a worker that waits to deliver
                    try:
                        each.recv_bytes()  # type: ignore[union-attr]
                    except (EOFError, OSError):
                        pipes.remove(each)
        for process in self.processes:
            if process.is_alive():
                process.terminate()
            process.join()
        for pipe in (*self.task_pipes, *self.result_pipes):
            pipe.close()

    def __del__(self) -> None:
        if not getattr(self, "closed", True) and self.owner == os.getpid():
            with contextlib.suppress(Exception):
                self.close()
