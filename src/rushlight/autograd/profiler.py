"""Which operators ran, when, and for how long: what ``rushlight.profiler`` is made of.

The core notes a range of time for each call of an operator, each node of a backward pass and each
`record_function`, of the thread that started the profiler. While none runs it looks at one flag.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterable
from contextlib import ContextDecorator
from dataclasses import dataclass, field
from typing import Any

from .. import _core
from .profiler_table import table

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "profile", "record_function"]

_OPERATOR, _BACKWARD, _USER = range(3)
_CATEGORIES = ("cpu_op", "cpu_op", "user_annotation")


# ---------------------------------------------------------------- events


@dataclass(eq=False)
class FunctionEvent:
    """One range of time. Times are in microseconds; those of the clock from an arbitrary origin.

    name: ``aten::add`` for an operator, ``AddBackward0`` for a node of a backward pass, or what the
    user called it; input_shapes: of an operator's arguments, if they were recorded; cpu_children:
    the ranges directly inside.
    """

    id: int
    name: str
    kind: int
    start: float
    end: float
    thread: int
    input_shapes: Any = None
    cpu_parent: FunctionEvent | None = field(default=None, repr=False)
    cpu_children: list[FunctionEvent] = field(default_factory=list, repr=False)
    count: int = 1

    @property
    def key(self) -> str:
        """What averages are taken by."""
        return self.name

    @property
    def is_user_annotation(self) -> bool:
        """Whether it is a `record_function`."""
        return self.kind == _USER

    @property
    def cpu_time_total(self) -> float:
        """From start to end."""
        return self.end - self.start

    cpu_time = cpu_time_total

    @property
    def self_cpu_time_total(self) -> float:
        """Without the time of the ranges inside."""
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)


@dataclass
class FunctionEventAvg:
    """What ranges of one name have in common: their number and the sums of their times."""

    key: str
    input_shapes: Any = None
    count: int = 0
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0
    is_user_annotation: bool = False

    @property
    def cpu_time(self) -> float:
        """The mean time of one."""
        return self.cpu_time_total / self.count if self.count else 0.0

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Count others in."""
        self.count += other.count
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.is_user_annotation = other.is_user_annotation
        return self


class EventList(list[Any]):
    """Events in the order of their starts, or averages of them."""

    @property
    def self_cpu_time_total(self) -> float:
        """The time that passed in the outermost ranges, in microseconds."""
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(self, group_by_input_shape: bool = False) -> EventList:
        """Sums over the events of one name, and of one list of input shapes if asked for."""
        groups: dict[Any, FunctionEventAvg] = {}
        for event in self:
            shapes = event.input_shapes if group_by_input_shape else None
            key = (event.key, repr(shapes), event.is_user_annotation)
            groups.setdefault(key, FunctionEventAvg(event.key, shapes)).add(event)
        return EventList(groups.values())

    def total_average(self) -> FunctionEventAvg:
        """The sum over all events."""
        total = FunctionEventAvg("Total")
        for event in self:
            total.add(event)
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:
        """The events as a table.

        Args:
            sort_by: ``cpu_time``, ``cpu_time_total``, ``self_cpu_time_total``, ``count`` or
                ``key``: largest first; None: as they are.
            row_limit: the most rows; -1: all.
            max_name_column_width, max_shapes_column_width: longer names and shapes are cut off.
            header: a line above.
            top_level_events_only: whether to leave out events inside others.
        """
        rows = [
            event
            for event in self
            if not (top_level_events_only and getattr(event, "cpu_parent", None) is not None)
        ]
        widths = (max_name_column_width, max_shapes_column_width)
        return table(rows, self.self_cpu_time_total, sort_by, row_limit, widths, header)

    def __str__(self) -> str:
        return self.table()

    def export_chrome_trace(self, path: str) -> None:
        """Write the events to a file for ``chrome://tracing`` or Perfetto; packed if it is called
        ``*.gz``.
        """
        write_trace(path, self, {})


def write_trace(path: str, events: Iterable[FunctionEvent], metadata: dict[str, Any]) -> None:
    """Write events in the trace event format of Chrome."""
    import gzip
    import json

    process = os.getpid()
    items = [
        {
            "ph": "X",
            "cat": _CATEGORIES[event.kind],
            "name": event.name,
            "pid": process,
            "tid": event.thread,
            "ts": event.start,
            "dur": event.cpu_time_total,
            "args": {"External id": event.id}
            | ({} if event.input_shapes is None else {"Input Dims": event.input_shapes}),
        }
        for event in events
    ]
    document = {"schemaVersion": 1, "displayTimeUnit": "ms", "traceEvents": items, **metadata}
    if os.fspath(path).endswith(".gz"):
        with gzip.open(path, "wt", encoding="utf-8") as packed:
            json.dump(document, packed)
    else:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)


def as_lists(shapes: Any) -> Any:
    """Nested sequences as lists."""
    if isinstance(shapes, list | tuple):
        return [as_lists(each) for each in shapes]
    return shapes


def collected_events() -> EventList:
    """Stop collecting: what was collected, each event with its parent and children."""
    thread = threading.get_native_id()
    events = EventList()
    open_events: list[FunctionEvent] = []
    for i, (name, kind, start, end, shapes) in enumerate(_core.profile_stop()):
        shown = f"aten::{name}" if kind == _OPERATOR else name
        sizes = None if shapes is None else as_lists(shapes)
        event = FunctionEvent(i, shown, kind, start / 1000, end / 1000, thread, sizes)
        while open_events and open_events[-1].end <= event.start:
            open_events.pop()
        if open_events:
            event.cpu_parent = open_events[-1]
            event.cpu_parent.cpu_children.append(event)
        open_events.append(event)
        events.append(event)
    return events


def warn_about(**unsupported: bool) -> None:
    """Warn about options that have no effect."""
    for name, wanted in unsupported.items():
        if wanted:
            warnings.warn(f"profile(): {name}=True has no effect: it is not recorded", stacklevel=3)


# ---------------------------------------------------------------- users' interface


class record_function(ContextDecorator):
    """Gives a block of code, or a function if used as a decorator, a name in the profile.

    Args:
        name: what to call the range.
        args: a string that is accepted and not recorded.

    Example:
        >>> with rushlight.profiler.profile() as prof:
        ...     with rushlight.profiler.record_function("data"):
        ...         x = rushlight.ones(3) + 1
        >>> [event.name for event in prof.events()]
        ['data', 'aten::ones', 'aten::add']
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._token = 0

    def _recreate_cm(self) -> record_function:
        return record_function(self.name)  # a range of its own for each call that is decorated

    def __enter__(self) -> record_function:
        self._token = _core.profile_begin(self.name)
        return self

    def __exit__(self, *exception: object) -> None:
        _core.profile_end(self._token)


class profile:
    """A context manager that notes what operators ran inside; `rushlight.profiler.profile` is the
    newer interface to the same.

    Args:
        enabled: False makes it do nothing.
        record_shapes: whether to note the shapes of the operators' arguments.
        use_device, use_cuda, use_cpu, use_kineto, experimental_config: accepted for old programs.
        with_flops, profile_memory, with_stack, with_modules: not recorded: a warning.

    Raises:
        RuntimeError: if a profiler is running already, or if it is used twice.

    Example:
        >>> with rushlight.autograd.profiler.profile() as prof:
        ...     y = rushlight.ones(3) * 2
        >>> [event.name for event in prof.function_events]
        ['aten::ones', 'aten::mul']
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
    ) -> None:
        self.enabled = enabled
        self.record_shapes = record_shapes
        self.entered = False
        self.function_events: EventList | None = None
        warn_about(
            with_flops=with_flops,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_modules=with_modules,
            use_cuda=use_cuda,
        )

    def __enter__(self) -> profile:
        if self.enabled:
            if self.entered:
                raise RuntimeError("Profiler context manager is not reentrant")
            self.entered = True
            _core.profile_start(self.record_shapes)
        return self

    def __exit__(self, *exception: object) -> None:
        if self.enabled:
            self.function_events = collected_events()

    def _events(self) -> EventList:
        if self.function_events is None:
            raise RuntimeError("Profiler didn't finish running")
        return self.function_events

    def key_averages(self, group_by_input_shape: bool = False) -> EventList:
        """Sums over the events of one name; see `EventList`."""
        return self._events().key_averages(group_by_input_shape)

    def total_average(self) -> FunctionEventAvg:
        """The sum over all events."""
        return self._events().total_average()

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: Any) -> str:
        """The events as a table; see `EventList.table`."""
        return self._events().table(sort_by, row_limit, **options)

    def export_chrome_trace(self, path: str) -> None:
        """Write the events to a file for ``chrome://tracing`` or Perfetto."""
        self._events().export_chrome_trace(path)

    @property
    def self_cpu_time_total(self) -> float:
        """The time that passed in the outermost ranges, in microseconds."""
        return self._events().self_cpu_time_total

    def __str__(self) -> str:
        return "<unfinished profile>" if self.function_events is None else str(self.function_events)
