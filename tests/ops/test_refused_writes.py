"""Writes in place that PyTorch refuses for their numbers or dtypes."""

from __future__ import annotations

import pytest

import rushlight


def test_uniform_takes_a_range():
    x = rushlight.zeros(1000)
    for low, high in ((0, 1), (-1, 1), (-3.5, -2.5), (2, 5), (1, 1)):
        x.uniform_(low, high)
        assert low <= x.min().item() and x.max().item() <= high
    for low, high in ((1, 0), (-2, -5), (2, -1), (float("nan"), 1)):
        with pytest.raises(RuntimeError, match="uniform_: .*from=.* > to="):
            x.uniform_(low, high)


def test_float_power_is_double():
    for target in (rushlight.ones(2), rushlight.ones(2, dtype=rushlight.int64)):
        with pytest.raises(RuntimeError, match="dtype .*float64"):
            target.float_power_(2)
        with pytest.raises(RuntimeError, match="dtype .*float64"):
            rushlight.float_power(rushlight.ones(2), 2, out=target)
    x = rushlight.full((2,), 3.0, dtype=rushlight.float64)
    assert x.float_power_(2).tolist() == [9.0, 9.0]
    assert rushlight.float_power(x, 0.5, out=x).tolist() == [3.0, 3.0]
