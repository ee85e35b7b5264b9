"""Wrong calls raise what a Python programmer expects, and never crash or hang."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from robustness_support import FOLDER, finish_program, start_program

PARTS = 6
SEED = int(os.environ.get("RUSHLIGHT_FUZZ_SEED", "0"))
CALLS = int(os.environ.get("RUSHLIGHT_FUZZ_CALLS", "12"))


@pytest.mark.parametrize("part", range(PARTS))
def test_wrong_calls(part, cache_folder, tmp_path):
    log = tmp_path / "calls"
    program = (  # in a folder of its own: some functions write files
        f"import os, runpy; os.chdir({str(tmp_path)!r}); "
        f"runpy.run_path({str(FOLDER / 'fuzz_calls.py')!r}, run_name='__main__')"
    )
    process = start_program(
        program, SEED, CALLS, part, PARTS, cache=cache_folder, FUZZ_LOG=str(log)
    )
    try:
        wrong = finish_program(process, timeout=300)
    except AssertionError as error:
        raise AssertionError(f"the last call: {last_line(log)}\n{error}") from None
    assert not wrong, wrong


def last_line(path: Path) -> str:
    return path.read_text(errors="replace").splitlines()[-1]
