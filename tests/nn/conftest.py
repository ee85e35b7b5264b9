"""Shared by the tests of `rushlight.nn`: PyTorch, beside which modules are compared."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def torch():
    return pytest.importorskip("torch")
