"""The types of results of several tensors: tuples whose elements have names.

PyTorch has a class of its own for calls with ``out=``, such as ``max_out``; here it is the same.
"""

from __future__ import annotations

from typing import Any

from .ops.results import RESULT_TYPES


def __getattr__(name: str) -> Any:
    if name == "all_return_types":
        return list(RESULT_TYPES.values())
    try:
        return RESULT_TYPES[name.removesuffix("_out")]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    outs = (f"{name}_out" for name in RESULT_TYPES)
    return ["all_return_types", *sorted((*RESULT_TYPES, *outs))]
