"""MKL: not in this build, where products come from OpenBLAS."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether MKL is used."""
    return False
