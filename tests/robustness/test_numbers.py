"""A number in the place of any tensor argument works or raises an ordinary error."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import pytest

import rushlight
from rushlight.ops.record import FUNCTIONS, Record

ALLOWED = (TypeError, ValueError, RuntimeError, IndexError, OverflowError)


def calls(record: Record) -> list[list[Any]]:
    """The positional arguments without defaults: tensors and numbers in all combinations."""
    required = [
        parameter
        for parameter in record.parameters
        if (given := record.signature.parameters.get(parameter.name)) is not None
        and given.kind.name == "POSITIONAL_OR_KEYWORD"
        and (given.default is given.empty or parameter.mode.startswith("T"))
    ][:4]
    choices = [("tensor", 0.5) if p.mode.startswith("T") else (1,) for p in required]
    return [list(each) for each in itertools.product(*choices)]


@pytest.mark.parametrize("path", sorted(FUNCTIONS))
def test_numbers_for_tensors(path):
    record = FUNCTIONS[path]
    for arguments in calls(record):
        made = [rushlight.ones(2, 3) if each == "tensor" else each for each in arguments]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                repr(record.operator(*made))
        except ALLOWED as error:
            assert "Plan:" not in str(error)
