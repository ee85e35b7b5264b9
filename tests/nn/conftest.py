"""Shared by the tests of `rushlight.nn`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def torch() -> Any:
    """PyTorch, beside which modules are compared."""
    return pytest.importorskip("torch")


@pytest.fixture(params=["rushlight", "torch"])
def framework(request: pytest.FixtureRequest) -> Any:
    """Rushlight, and PyTorch where it is installed: expectations are PyTorch's."""
    if request.param == "torch":
        pytest.importorskip("torch")
    return importlib.import_module(request.param)
