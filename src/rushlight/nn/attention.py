"""Which implementation of attention is used: there is one, so choices have no effect."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(IntEnum):
    """Implementations that PyTorch has."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(
    backends: list[SDPBackend] | SDPBackend, set_priority: bool = False
) -> Iterator[None]:
    """A context in which `scaled_dot_product_attention` shall use one of these implementations.

    Args:
        backends: the implementations; they give the same results, and there is one here.
        set_priority: whether their order matters.

    Raises:
        AssertionError: for what is no implementation.
    """
    given = [backends] if isinstance(backends, SDPBackend) else backends
    if not isinstance(given, list) or not all(isinstance(each, SDPBackend) for each in given):
        raise AssertionError(f"sdpa_kernel: expected SDPBackends, but got {backends!r}")
    yield
