"""The command line that runs many programs collects failures, and survives what they do."""

from __future__ import annotations

import os
from random import Random

import pytest

torch = pytest.importorskip("torch")

import many  # noqa: E402


@pytest.mark.parametrize("kind", ["--gradients", "--autograd", None])
def test_each_kind_runs(kind: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    status = many.main([*([kind] if kind else []), "--programs", "2", "--seed", "3", "--quiet"])
    assert "2 " in capsys.readouterr().out
    assert status == 0


def fails(random: Random) -> None:
    raise AssertionError(f"t1: [{random.random()}]\nt0 = m.ones(3)\nt1 = m.exp(t0)")


def test_failures_that_differ_in_numbers_are_one() -> None:
    told = []
    failures = many.Failures(told.append)
    for number in range(3):
        failures.add(many.Failure(number, many.run_one(fails, 0, number) or ""))
    failures.add(many.Failure(3, "t1: [1]\nt0 = m.ones(3)\nt1 = m.log(t0)"))
    assert sorted(each.count for each in failures.known.values()) == [1, 3]
    assert [each.number for each in told] == [0, 3]
    assert many.run_one(fails, 0, 0) == many.run_one(fails, 0, 0) != many.run_one(fails, 1, 0)


def ends(connection, kind, seed, start, stop) -> None:
    connection.send((start - 1, None))
    for number in range(start, stop):
        if number == 1:
            os._exit(7)
        connection.send((number, None))


def test_a_program_that_ends_the_process_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "work", ends)
    numbers = []
    failures = many.Failures()
    many.run_many("programs", 0, 0, 4, lambda number, _: numbers.append(number), failures)
    assert [each.text for each in failures.known.values()] == ["the process ended with 7"]
    assert numbers[-1] == 3
