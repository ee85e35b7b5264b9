"""Programs that run in a process of their own, so that a crash or a hang is a failed test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

FOLDER = Path(__file__).parent
# A program that crashes, or hangs and is sent SIGABRT, says where its threads are.
_PRELUDE = "import faulthandler; faulthandler.enable()\n"


def start_program(
    text: str, *arguments: object, cache: Path | None = None, **environment: str
) -> subprocess.Popen:
    """Start Python on a program's text; its tests' support modules are importable."""
    path = os.pathsep.join([str(FOLDER), *filter(None, sys.path)])
    settings = {**os.environ, "PYTHONPATH": path, **environment}
    if cache is not None:
        settings["RUSHLIGHT_CACHE_DIR"] = str(cache)
    return subprocess.Popen(
        [sys.executable, "-c", _PRELUDE + textwrap.dedent(text), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=settings,
    )


def finish_program(process: subprocess.Popen, timeout: float = 120) -> str:
    """What a program printed; an AssertionError with its errors if it failed, crashed or hung."""
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        output, errors = process.communicate()
        raise AssertionError(f"the program hung\n{output}\n{errors}") from None
    assert process.returncode == 0, f"exit status {process.returncode}\n{output}\n{errors}"
    return output


def run_program(
    text: str,
    *arguments: object,
    timeout: float = 120,
    cache: Path | None = None,
    **environment: str,
) -> str:
    """Run a program to its end and return what it printed."""
    process = start_program(text, *arguments, cache=cache, **environment)
    return finish_program(process, timeout)


def wait_for_child(child: int, seconds: float = 60) -> int:
    """The exit status of a forked child; one that hangs prints its stacks and counts as aborted."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGABRT)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
