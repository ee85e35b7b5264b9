"""Quantized kernels: none in this build."""

from __future__ import annotations

__all__ = ["engine", "supported_engines"]

engine = "none"
supported_engines: list[str] = ["none"]
