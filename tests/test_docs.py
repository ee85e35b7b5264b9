"""The documentation builds without warnings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"


def test_documentation_builds(tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_parser")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-d",
        str(tmp_path / "trees"),
    ]
    result = subprocess.run(
        [*command, str(DOCS), str(tmp_path / "html")], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "html" / "generated" / "operators" / "exponential.html").exists()
