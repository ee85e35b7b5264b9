"""Looking inside: what ``RUSHLIGHT_DEBUG`` prints and ``explain`` collects.

``RUSHLIGHT_DEBUG=graph,fusion`` prints these stages of every plan as it is made. Stages: ``plans`` (what is planned),
``graph`` (traced and backward graphs), ``fusion`` (loop nests), ``llvm`` and ``asm`` (kernels), ``cache`` (kernel cache).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

STAGES = ("plans", "graph", "fusion", "llvm", "asm", "cache")

_printed = {stage for stage in os.environ.get("RUSHLIGHT_DEBUG", "").replace(",", "|").split("|") if stage}
_collected: list[tuple[str, str]] | None = None


def active(stage: str) -> bool:
    """Whether anybody wants to see this stage."""
    return stage in _printed or _collected is not None


def show(stage: str, title: str, text: Callable[[], str]) -> None:
    """Print or collect a stage; ``text`` is only called if it is wanted."""
    if not active(stage):
        return
    content = f"# {stage}: {title}\n{text()}".rstrip()
    if stage in _printed:
        print(content, file=sys.stderr)
    if _collected is not None:
        _collected.append((stage, content))


def explain(function: Callable[..., Any], *args: Any, stages: tuple[str, ...] = ("graph", "fusion"), **kwargs: Any) -> str:
    """What happens inside one call: graphs, loop nests, and on request LLVM IR and assembly.

    Args:
        function: an operator or any function that calls operators.
        *args: its arguments.
        stages: which of ``STAGES`` to show.

    Returns:
        A text: each stage of each operator that the call planned, in order.

    Example:
        >>> print(rushlight.explain(rushlight.softmax, rushlight.ones(2, 3), 1))  # doctest: +SKIP
    """
    global _collected
    from . import _core

    previous, _collected = _collected, []
    bits = _core.get_mode_bits()
    _core.set_mode_bits(bits | EXPLAIN_BIT)  # other keys: everything is planned anew
    try:
        function(*args, **kwargs)
        return "\n\n".join(content for stage, content in _collected if stage in stages)
    finally:
        _core.set_mode_bits(bits)
        _collected = previous


EXPLAIN_BIT = 1 << 30
