"""Random straight-line programs give in Rushlight what they give in PyTorch, step by step.

``RUSHLIGHT_PROGRAMS=100000`` runs that many, other ones each time.
"""

from __future__ import annotations

import os
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from drawing import Drawing  # noqa: E402
from operators import OPERATORS, run  # noqa: E402
from program import EndOfProgram, Program  # noqa: E402

COUNT = int(os.environ.get("RUSHLIGHT_PROGRAMS", "0"))
PROFILE = settings(
    max_examples=COUNT or 2000,
    derandomize=not COUNT,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def run_program(random: Random) -> None:
    program = Program()
    drawing = Drawing(random, program)
    for _ in range(drawing.integer(2, 4)):
        drawing.leaf()
    try:
        for _ in range(drawing.integer(1, 8)):
            run(program, drawing, drawing.choice(OPERATORS))
    except EndOfProgram:
        pass


@PROFILE
@given(st.randoms(use_true_random=False))
def test_programs(random: Random) -> None:
    run_program(random)
