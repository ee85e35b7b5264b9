"""Looking inside: what happens in a call, and what is planned so far.

See ``stages.py`` for what ``RUSHLIGHT_DEBUG`` prints and ``check.py`` for ``RUSHLIGHT_CHECK``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from . import _core
from .plan import operators
from .stages import STAGES, collected

__all__ = ["STAGES", "OperatorPlans", "explain", "plans"]

# Mode bits that number the calls of explain. They are part of every key, so each call plans anew.
_EXPLAIN_SHIFT, _EXPLAIN_COUNT = 20, 4095
_explained = itertools.count()


def explain(
    function: Callable[..., Any],
    *args: Any,
    stages: str | Sequence[str] = ("graph", "fusion"),
    **kwargs: Any,
) -> str:
    """What happens inside one call: graphs, loop nests, and on request LLVM IR and assembly.

    The call is made, and everything in it is planned anew: a backward pass too, if it runs one.

    Args:
        function: an operator, or any function that calls operators.
        *args: its arguments.
        stages: which of ``rushlight.debug.STAGES`` to show; one name or several.
        **kwargs: its keyword arguments.

    Returns:
        A text: each stage of each operator that the call planned, in order.

    Raises:
        ValueError: for a stage that does not exist.

    Example:
        >>> print(rushlight.explain(rushlight.softmax, rushlight.ones(2, 3), 1))  # doctest: +SKIP
    """
    bits = _core.get_mode_bits()
    number = next(_explained) % _EXPLAIN_COUNT + 1
    with collected((stages,) if isinstance(stages, str) else tuple(stages)) as texts:
        _core.set_mode_bits(bits & ((1 << _EXPLAIN_SHIFT) - 1) | number << _EXPLAIN_SHIFT)
        try:
            function(*args, **kwargs)
        finally:
            _core.set_mode_bits(bits)
    return "\n\n".join(texts)


class OperatorPlans(NamedTuple):
    """What an operator has planned.

    ``plans``: kept now, one for each structure of a call; ``instances``: kept now, one for each
    combination of layouts; ``hits``: calls that found an instance; ``structural_hits``: calls that
    found a plan; ``misses``: calls that had to be planned.
    """

    name: str
    plans: int
    instances: int
    hits: int
    structural_hits: int
    misses: int


def plans() -> list[OperatorPlans]:
    """The operators that have been planned, backward passes included, by name.

    Example:
        >>> rushlight.debug.plans()[0].misses  # doctest: +SKIP
        1
    """
    counts = []
    for operator in list(operators):
        statistics = operator.statistics()
        if statistics["misses"]:
            counts.append(OperatorPlans(operator.name, **statistics))
    return sorted(counts)
