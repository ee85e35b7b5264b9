"""The types of results of several tensors: tuples whose elements have names."""

from __future__ import annotations

from typing import Any

from .ops.results import RESULT_TYPES


def __getattr__(name: str) -> Any:
    try:
        return RESULT_TYPES[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted(RESULT_TYPES)
