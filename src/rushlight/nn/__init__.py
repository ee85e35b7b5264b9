"""Neural networks. ``functional`` holds the operators as functions."""

from . import functional

__all__ = ["functional"]
