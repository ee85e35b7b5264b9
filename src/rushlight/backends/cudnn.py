"""cuDNN: not in this build."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = [
    "allow_tf32", "benchmark", "benchmark_limit", "deterministic", "enabled", "flags",
    "is_available", "version",
]  # fmt: skip

enabled = True
benchmark = False
benchmark_limit: int | None = 10
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Whether cuDNN is there."""
    return False


def version() -> int | None:
    """cuDNN's version: None."""
    return None


@contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
    depthwise_kernel: str = "auto",
) -> Iterator[None]:
    """Set the switches in a ``with`` block."""
    values = {
        "enabled": enabled,
        "benchmark": benchmark,
        "benchmark_limit": benchmark_limit,
        "deterministic": deterministic,
        "allow_tf32": allow_tf32,
    }
    names = globals()
    before = {name: names[name] for name in values}
    names.update(values)
    try:
        yield
    finally:
        names.update(before)
