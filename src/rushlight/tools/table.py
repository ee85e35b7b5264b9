"""Questions about the operator table that its users (stubs, documentation) have in common.

What a record does not say, such as the dtypes it accepts and what it returns, is found by tracing
its sample calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import _core, dtypes
from ..dtypes import dtype as DType
from ..graph.trace import Traced
from ..ops.record import FUNCTIONS, METHODS, Record
from ..ops.samples import Draw
from ..plan import CallTracer


def records() -> list[Record]:
    """All operators that users can call, each once."""
    found = {
        id(each): each
        for each in (*FUNCTIONS.values(), *METHODS.values())
        if isinstance(each, Record) and not each.name.startswith("_")
    }
    return list(found.values())


def calls(record: Record, dtype: DType) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The record's sample calls with uninitialised tensors of this dtype."""
    if record.samples is None:
        return

    def draw(argument: Any) -> Any:
        if isinstance(argument, Draw):
            return _core.empty(argument.shape, (argument.dtype or dtype).code, 0)
        if isinstance(argument, tuple | list):
            return type(argument)(map(draw, argument))
        return argument

    for args, kwargs in record.samples(dtype):
        yield draw(args), {name: draw(each) for name, each in kwargs.items()}


def trace(record: Record, args: Any, kwargs: dict[str, Any]) -> Any:
    """What a call gives, traced."""
    tracer = CallTracer()
    mapped, named = record.map_arguments(args, kwargs, tracer.tensor, tracer.number, tracer.size)
    with tracer.context.active():
        return record.trace(*mapped, **named)


def results(record: Record) -> Iterator[Any]:
    """What the sample calls give for a few dtypes; calls that raise are left out."""
    for dtype in (dtypes.float32, dtypes.int64, dtypes.bool):
        for args, kwargs in calls(record, dtype):
            try:
                yield trace(record, args, kwargs)
            except Exception:  # what cannot be traced tells nothing
                continue


def result_kind(record: Record) -> str:
    """What the operator returns: ``"tensor"``, ``"tuple"``, ``"list"`` or ``"any"`` (either)."""
    kinds = set()
    for result in results(record):
        kinds.add("tensor" if isinstance(result, Traced) else type(result).__name__)
    if not kinds:
        return "tensor"
    return kinds.pop() if len(kinds) == 1 and kinds <= {"tensor", "tuple", "list"} else "any"


def accepted_dtypes(record: Record) -> list[DType]:
    """The dtypes for which the first sample call can be traced."""
    return [dtype for dtype in dtypes.ALL if accepts(record, dtype)]


def accepts(record: Record, dtype: DType) -> bool:
    """Whether the first sample call can be traced with tensors of this dtype."""
    try:
        args, kwargs = next(calls(record, dtype))
        trace(record, args, kwargs)
    except (NotImplementedError, RuntimeError, TypeError, ValueError, StopIteration):
        return False
    return True
