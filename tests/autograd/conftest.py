"""Each test runs in Rushlight and, where installed, in PyTorch: expectations are PyTorch's."""

from __future__ import annotations

import importlib
from typing import Any

import pytest


@pytest.fixture(params=["rushlight", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The framework under test."""
    if request.param == "torch":
        pytest.importorskip("torch")
    module = importlib.import_module(request.param)
    importlib.import_module(f"{request.param}.utils.checkpoint")
    return module
