"""OpenMP: not in this build, where threads are our own."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether OpenMP is used."""
    return False
