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


def _text(self: Any) -> str:
    parts = ",\n".join(f"{field}={value!r}" for field, value in zip(self._fields, self))
    return f"torch.return_types.{type(self).__name__}(\n{parts})"


_MEMBERS = {"__slots__": (), "__repr__": _text, "__module__": "rushlight.return_types"}


def named(name: str, *fields: str) -> Any:
    """The type of an operator's result: a tuple whose elements have names."""
    if name not in RESULT_TYPES:
        plain: Any = namedtuple(name, fields)  # type: ignore[misc]
        RESULT_TYPES[name] = type(name, (plain,), _MEMBERS)
    return RESULT_TYPES[name]
