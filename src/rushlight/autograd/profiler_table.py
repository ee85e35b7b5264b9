"""Tables of profiled events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_SORT_KEYS = ("cpu_time", "cpu_time_total", "self_cpu_time_total", "count", "key")
_NUMBERS = ("Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls")


def time_text(microseconds: float) -> str:
    """A time in the unit that suits it."""
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:.3f}s"
    if microseconds >= 1e3:
        return f"{microseconds / 1e3:.3f}ms"
    return f"{microseconds:.3f}us"


def share_text(part: float, whole: float) -> str:
    """A part as a percentage."""
    return f"{100 * part / whole:.2f}%" if whole else "NaN"


def shortened(text: str, width: int) -> str:
    """The text, cut off if it is too long."""
    return text if len(text) <= width else text[: width - 3] + "..."


def table(
    events: Sequence[Any],
    total: float,
    sort_by: str | None,
    row_limit: int,
    widths: tuple[int, int],
    header: str | None,
) -> str:
    """Events, or averages of them, one a line.

    Raises:
        ValueError: for another ``sort_by``.
    """
    if not events:
        return ""
    if sort_by is not None:
        if sort_by not in _SORT_KEYS:
            raise ValueError(
                f"table(): sort_by must be one of {', '.join(_SORT_KEYS)}, not {sort_by!r}"
            )
        events = sorted(events, key=lambda event: getattr(event, sort_by), reverse=True)
    if row_limit >= 0:
        events = events[:row_limit]
    with_shapes = any(event.input_shapes is not None for event in events)
    rows = [["Name", *_NUMBERS, *(["Input Shapes"] if with_shapes else [])]]
    for event in events:
        row = [
            shortened(event.key, widths[0]),
            share_text(event.self_cpu_time_total, total),
            time_text(event.self_cpu_time_total),
            share_text(event.cpu_time_total, total),
            time_text(event.cpu_time_total),
            time_text(event.cpu_time),
            str(event.count),
        ]
        if with_shapes:
            row.append(shortened(str(event.input_shapes), widths[1]))
        rows.append(row)
    return laid_out(rows, total, header)


def laid_out(rows: list[list[str]], total: float, header: str | None) -> str:
    """Rows, the first of which are the titles, in columns that are as wide as they must be."""
    columns = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    rule = "  ".join("-" * width for width in columns)
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(row, columns, strict=True))
        for row in rows
    ]
    above = [] if header is None else ["=" * len(rule), header]
    below = [rule, f"Self CPU time total: {time_text(total)}", ""]
    return "\n".join([*above, rule, lines[0], rule, *lines[1:], *below])
