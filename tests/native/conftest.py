"""Settings of the core that tests change are put back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rushlight import _core


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Kernels written in Python must not run on pool threads while the caller holds the GIL."""
    threads = _core.get_num_threads()
    _core.set_num_threads(1)
    yield
    _core.set_num_threads(threads)
