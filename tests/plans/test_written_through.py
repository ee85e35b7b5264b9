"""Results that replace an input's content are written there early only where nobody is misled."""

from __future__ import annotations

import pytest

import rushlight
from rushlight.operators import record_operator
from rushlight.ops.record import Mutated, composite, op


def operator(body):
    record = composite(name=body.__name__)(body)
    return record_operator(record)


@operator
def doubled_and_scaled(x: Mutated):
    new = x * 2 + 1
    return new / op.sum(new)


@operator
def moved_and_normalized(x: Mutated, y: Mutated):
    new = x * 2 + 1
    return [new, y + new / op.sqrt(op.sum(new * new))]


@pytest.mark.parametrize("size", [3, 40, 3000])
def test_a_second_pass_reads_the_old_content(size):
    x, y = rushlight.arange(size).float(), rushlight.ones(size)
    new = x * 2 + 1
    expected = y + new / (new * new).sum().sqrt()
    moved_and_normalized(x, y)
    assert rushlight.equal(x, new)
    assert rushlight.allclose(y, expected)


def test_the_last_pass_may_write_in_place():
    x = rushlight.arange(40).float()
    new = x * 2 + 1
    doubled_and_scaled(x)
    assert rushlight.allclose(x, new / new.sum())
