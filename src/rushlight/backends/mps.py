"""Apple's GPUs: not in this build."""

from __future__ import annotations

__all__ = ["is_available", "is_built"]


def is_built() -> bool:
    """Whether this build can use Apple's GPUs."""
    return False


def is_available() -> bool:
    """Whether there is a GPU of Apple's that this build can use."""
    return False
