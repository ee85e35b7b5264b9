"""The CPU."""

from __future__ import annotations

from ..codegen import target

__all__ = ["get_cpu_capability"]


def get_cpu_capability() -> str:
    """The widest vectors that kernels use: ``"AVX512"``, ``"AVX2"`` or ``"DEFAULT"``."""
    names = {target.AVX512: "AVX512", target.AVX2: "AVX2"}
    return names.get(target.host_target(), "DEFAULT")
