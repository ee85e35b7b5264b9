"""A progress bar for long work in a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Progress(Generic[Item]):
    """Iterates over a sequence and shows how far it is, at what speed, and a note of the caller's.

    Args:
        items: what to iterate over.
        label: shown in front.
        total: number of items, if ``items`` has no length.
        width: characters of the bar.

    Example:
        >>> progress = Progress(range(3), "count")
        >>> for i in progress:
        ...     progress.note(f"at {i}")
    """

    def __init__(
        self, items: Iterable[Item], label: str = "", total: int | None = None, width: int = 24
    ) -> None:
        self.items = items
        self.label = label
        self.total = (
            total if total is not None else len(items) if isinstance(items, Sequence) else None
        )
        self.width = width
        self.text = ""
        self.shown = 0.0
        self.terminal = sys.stderr.isatty()

    def note(self, text: str) -> None:
        """Show ``text`` behind the bar from now on."""
        self.text = text

    def __iter__(self) -> Iterator[Item]:
        start = time.perf_counter()
        count = 0
        for item in self.items:
            yield item
            count += 1
            now = time.perf_counter()
            if self.terminal and now - self.shown > 0.1:
                self.shown = now
                self.show(count, now - start)
        elapsed = time.perf_counter() - start
        self.show(count, elapsed)
        sys.stderr.write("\n")
        sys.stderr.flush()

    def show(self, count: int, elapsed: float) -> None:
        """Write the bar over the previous one."""
        speed = count / elapsed if elapsed > 0 else 0.0
        total = self.total or count or 1
        filled = round(self.width * min(1.0, count / total))
        bar = "#" * filled + "." * (self.width - filled)
        start = "\r" if self.terminal else ""
        sys.stderr.write(f"{start}{self.label} [{bar}] {count}/{total}  {speed:.0f}/s  {self.text}")
        sys.stderr.flush()
