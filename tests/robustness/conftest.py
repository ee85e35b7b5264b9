"""Makes the support modules of this folder importable; every test gets an empty kernel cache."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, os.path.dirname(__file__))


@pytest.fixture
def cache_folder(tmp_path: Path) -> Path:
    """A kernel cache of this test's own; programs get it by ``run_program(..., cache=...)``."""
    folder = tmp_path / "kernels"
    folder.mkdir(mode=0o700)
    return folder
