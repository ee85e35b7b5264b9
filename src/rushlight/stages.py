"""What the stages of planning print: ``RUSHLIGHT_DEBUG``, and what ``rushlight.explain`` collects.

``RUSHLIGHT_DEBUG=graph,fusion`` (or ``graph|fusion``) prints these stages of every plan to standard
error as it is made: ``plans`` (what the core is given), ``graph`` (traced, legalized and backward
graphs), ``fusion`` (loop nests), ``llvm`` and ``asm`` (kernels), ``cache`` (the kernel cache).
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

STAGES = ("plans", "graph", "fusion", "llvm", "asm", "cache")


def _from_environment() -> frozenset[str]:
    text = os.environ.get("RUSHLIGHT_DEBUG", "")
    wanted = frozenset(filter(None, text.replace(",", "|").replace(" ", "").split("|")))
    unknown = wanted - set(STAGES)
    if unknown:
        print(
            f"RUSHLIGHT_DEBUG: no stage {', '.join(sorted(unknown))}; "
            f"choose from {'|'.join(STAGES)}",
            file=sys.stderr,
        )
    return wanted & set(STAGES)


_printed = _from_environment()


class _Collecting(threading.local):
    """This thread's collection: the stages wanted and what came."""

    wanted: frozenset[str] = frozenset()
    texts: list[str] | None = None


_collecting = _Collecting()


def active(stage: str) -> bool:
    """Whether anybody wants to see this stage."""
    return stage in _printed or stage in _collecting.wanted


def collecting() -> bool:
    """Whether this thread collects: then nothing that is known already may be left out."""
    return _collecting.texts is not None


def show(stage: str, title: str, text: Callable[[], str] = str) -> None:
    """Print or collect a stage; ``text`` is called only if somebody wants it."""
    if not active(stage):
        return
    content = f"# {stage}: {title}\n{text()}".rstrip()
    if stage in _printed:
        print(content, end="\n\n", file=sys.stderr)
    if _collecting.texts is not None and stage in _collecting.wanted:
        _collecting.texts.append(content)


@contextmanager
def collected(stages: tuple[str, ...]) -> Iterator[list[str]]:
    """The texts of these stages while the body runs, in order."""
    unknown = set(stages) - set(STAGES)
    if unknown:
        raise ValueError(f"explain: no stage {sorted(unknown)}; choose from {', '.join(STAGES)}")
    previous = _collecting.wanted, _collecting.texts
    texts: list[str] = []
    _collecting.wanted, _collecting.texts = frozenset(stages), texts
    try:
        yield texts
    finally:
        _collecting.wanted, _collecting.texts = previous
