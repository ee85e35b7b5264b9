"""The tour for newcomers runs, and shows what it says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rushlight

TOUR = Path(__file__).parent.parent / "docs" / "tour.py"


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the tour prints with an empty kernel cache."""
    cache = tmp_path_factory.mktemp("kernels")
    cache.chmod(0o700)
    source = str(Path(rushlight.__file__).parent.parent)
    path = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "RUSHLIGHT_CACHE_DIR": str(cache)}
    command = [sys.executable, str(TOUR)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_it_is_short() -> None:
    assert len(TOUR.read_text(encoding="utf-8").splitlines()) <= 300


@pytest.mark.parametrize(
    "text",
    [
        "def softmax(input, dim: int",
        "v4 = exp_(v3, outputs=[float32])  # float32[s0, s1]  tour.py:",
        "kept for the backward pass: ['output']",
        "# phase 2",
        "define i64 @kernel(",
        "steps:",
        "the planner was asked for the shapes [(3, 4)]",
        "'structural_hits': 2, 'misses': 1",
        "SoftmaxBackward0",
    ],
)
def test_it_shows(output: str, text: str) -> None:
    assert text in output


def test_its_files_exist() -> None:
    root = TOUR.parent.parent
    words = TOUR.read_text(encoding="utf-8").replace("(", " ").replace(")", " ").split()
    for word in {word.strip(".,;`:") for word in words if "/" in word}:
        if word.endswith((".py", ".h", ".cpp", ".md")):
            assert (root / word).exists() or (root / "src" / "rushlight" / word).exists(), word
