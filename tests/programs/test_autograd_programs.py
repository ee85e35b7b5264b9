"""Random programs over autograd do in Rushlight what they do in PyTorch, line by line: views,
writes in place, modes, hooks, custom functions, backward passes and their backward passes.

``RUSHLIGHT_PROGRAMS=100000`` runs that many, other ones each time.
"""

from __future__ import annotations

import os
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from autograd_drawing import AutogradDrawing, backward, leaf  # noqa: E402
from autograd_program import AutogradProgram  # noqa: E402
from program import EndOfProgram  # noqa: E402

COUNT = int(os.environ.get("RUSHLIGHT_PROGRAMS", "0"))
PROFILE = settings(
    max_examples=COUNT or 2000,
    derandomize=not COUNT,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def run_program(random: Random) -> None:
    program = AutogradProgram(quiet=random.randrange(10) >= 7)
    drawing = AutogradDrawing(random, program)
    try:
        for _ in range(1 + random.randrange(3)):
            leaf(drawing)
        for _ in range(1 + random.randrange(random.choice((6, 12, 25)))):
            drawing.step()
        program.compare()
        line = backward(drawing)
        if line is not None:
            program.run(line)
            program.compare()
    except EndOfProgram:
        pass


@PROFILE
@given(st.randoms(use_true_random=False))
def test_autograd_programs(random: Random) -> None:
    run_program(random)
