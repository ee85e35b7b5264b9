"""oneDNN: not in this build, where kernels are our own."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether oneDNN is used."""
    return False
