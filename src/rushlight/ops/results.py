"""Results of several tensors, and the errors of numerical algorithms."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

# The types of results by name: what ``rushlight.return_types`` holds.
RESULT_TYPES: dict[str, Any] = {}


class LinAlgError(RuntimeError):
    """A matrix is not what an algorithm of linear algebra needs: it is singular, not positive
    definite, or the iteration did not converge.
    """


def named(name: str, *fields: str) -> Any:
    """The type of an operator's result: a tuple whose elements have names."""
    if name not in RESULT_TYPES:
        kind: Any = namedtuple(name, fields)

        def text(self: Any) -> str:
            parts = ",\n".join(f"{field}={value!r}" for field, value in zip(fields, self))
            return f"torch.return_types.{name}(\n{parts})"

        kind.__repr__ = text
        RESULT_TYPES[name] = kind
    return RESULT_TYPES[name]
