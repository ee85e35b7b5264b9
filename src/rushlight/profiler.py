"""What a program spends its time on, operator by operator::

    with rushlight.profiler.profile(record_shapes=True) as prof:
        model(batch).sum().backward()
    print(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=10))
    prof.export_chrome_trace("trace.json")  # for Perfetto

Each call of an operator is one event, each node of a backward pass another around it. An operator
that is made of others runs as one, so it is one event. The first call of an operator with new
shapes or dtypes includes its planning.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from . import _core
from .autograd.profiler import (
    EventList,
    collected_events,
    record_function,
    warn_about,
    write_trace,
)

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


class ProfilerActivity(Enum):
    """What can be profiled."""

    CPU = 0
    XPU = 1
    CUDA = 2
    MTIA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(Enum):
    """What a profiler does in one step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def supported_activities() -> set[ProfilerActivity]:
    """What this build can profile."""
    return {ProfilerActivity.CPU}


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """Which steps to record: cycles of ``wait``, ``warmup`` and ``active`` steps.

    Args:
        wait: steps of each cycle that are left alone.
        warmup: steps after them whose events are not kept.
        active: steps after them that are recorded.
        repeat: the number of cycles; 0: without end.
        skip_first: steps before the first cycle.
        skip_first_wait: not 0: the first cycle has no ``wait``.

    Returns:
        A function from the number of a step to what is to be done in it.
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError(
            "Invalid profiler schedule arguments: active must be positive, the others not negative"
        )
    if warmup == 0:
        warnings.warn(
            "schedule: with warmup=0 the first recorded step also pays for what happens only "
            "once; give it a step or more",
            stacklevel=2,
        )

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"a step's number must not be negative, but is {step}")
        step -= skip_first
        if skip_first_wait:
            step += wait
            if step < wait:
                return ProfilerAction.NONE
        if step < 0:
            return ProfilerAction.NONE
        cycle, place = divmod(step, wait + warmup + active)
        if (repeat > 0 and cycle >= repeat) or place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        last = place == wait + warmup + active - 1
        return ProfilerAction.RECORD_AND_SAVE if last else ProfilerAction.RECORD

    return action


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """An ``on_trace_ready`` that writes each trace to a file of its own in a folder."""
    import socket

    os.makedirs(dir_name, exist_ok=True)

    def handler(prof: profile) -> None:
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return handler


def _always(step: int) -> ProfilerAction:
    return ProfilerAction.RECORD


class profile:
    """A context manager that notes which operators run inside, in this thread.

    Args:
        activities: what to profile; only ``ProfilerActivity.CPU`` can be.
        schedule: what to do in each step: `schedule(...)`. The program calls `step` after each.
        on_trace_ready: called with the profiler when a cycle of the schedule, or all, is recorded.
        record_shapes: whether to note the shapes of the operators' arguments.
        profile_memory, with_stack, with_flops, with_modules: not recorded: a warning.
        experimental_config, execution_trace_observer, acc_events, use_cuda: accepted for programs
            that give them.

    Raises:
        RuntimeError: if a profiler is running already.

    Example:
        >>> with rushlight.profiler.profile() as prof:
        ...     y = rushlight.ones(3).exp()
        >>> sorted(average.key for average in prof.key_averages())
        ['aten::exp', 'aten::ones']
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
    ) -> None:
        self.activities = set(activities) if activities is not None else supported_activities()
        for activity in self.activities - supported_activities():
            warnings.warn(
                f"{activity.name} is not available, disabling {activity.name} profiling",
                stacklevel=2,
            )
        warn_about(
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_flops=with_flops,
            with_modules=with_modules,
        )
        self.schedule = schedule or _always
        self.has_schedule = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.record_shapes = record_shapes
        self.step_num = 0
        self.current_action = ProfilerAction.NONE
        self.metadata: dict[str, Any] = {}
        self._events: EventList | None = None
        self._collecting = False
        self._step_range: record_function | None = None

    # ---- running

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin with step 0."""
        self._go_to(self.schedule(self.step_num))

    def step(self) -> None:
        """Say that a step of the program has ended and the next begins."""
        self._end_step()
        if self.current_action is ProfilerAction.RECORD_AND_SAVE:
            self._save()
        self.step_num += 1
        self._go_to(self.schedule(self.step_num))

    def stop(self) -> None:
        """End; what was recorded since the last cycle is kept."""
        self._end_step()
        if self._collecting:
            self._save()
        self.current_action = ProfilerAction.NONE

    def _go_to(self, action: ProfilerAction) -> None:
        self.current_action = action
        if action not in _RECORDING:
            if self._collecting:
                self._collect()
            return
        if not self._collecting:
            _core.profile_start(self.record_shapes)
            self._collecting = True
        if self.has_schedule:
            self._step_range = record_function(f"ProfilerStep#{self.step_num}")
            self._step_range.__enter__()

    def _end_step(self) -> None:
        if self._step_range is not None:
            self._step_range.__exit__()
            self._step_range = None

    def _collect(self) -> None:
        self._events = collected_events()
        self._collecting = False

    def _save(self) -> None:
        self._collect()
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    # ---- results

    def events(self) -> EventList:
        """All events of the last cycle recorded, in the order of their starts."""
        if self._events is None:
            raise AssertionError(
                "Profiler must be initialized before accessing events: it has recorded nothing yet"
            )
        return self._events

    def key_averages(self, group_by_input_shape: bool = False, **grouping: Any) -> EventList:
        """Sums over the events of one name, and of one list of input shapes if asked for."""
        return self.events().key_averages(group_by_input_shape)

    def export_chrome_trace(self, path: str) -> None:
        """Write the events to a file for ``chrome://tracing`` or Perfetto; packed if it is called
        ``*.gz``.
        """
        write_trace(path, self.events(), self.metadata)

    def add_metadata(self, key: str, value: str) -> None:
        """Put a string into the trace files."""
        self.metadata[key] = str(value)

    def add_metadata_json(self, key: str, value: str) -> None:
        """Put JSON text into the trace files."""
        import json

        self.metadata[key] = json.loads(value)
