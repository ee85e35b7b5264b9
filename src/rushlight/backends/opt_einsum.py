"""opt_einsum: not used."""

from __future__ import annotations

from typing import Any

__all__ = ["enabled", "get_opt_einsum", "is_available", "strategy"]

enabled = False
strategy: str | None = None


def is_available() -> bool:
    """Whether opt_einsum orders contractions."""
    return False


def get_opt_einsum() -> Any:
    """The package: None."""
    return None
