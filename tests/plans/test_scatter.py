"""Operators that write at computed places: what they leave alone, and that they write in place."""

from __future__ import annotations

import pytest

import rushlight

rushlight.manual_seed(0)

WRITES = [
    lambda x, index, rows: x.index_add_(0, index, rows),
    lambda x, index, rows: x.index_copy_(0, index, rows),
    lambda x, index, rows: x.index_put_((index,), rows, accumulate=True),
    lambda x, index, rows: x.scatter_(0, index[:, None].expand(3, 4), rows),
    lambda x, index, rows: x.scatter_add_(0, index[:, None].expand(3, 4), rows),
]


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("wrong", [5, -6])
def test_a_wrong_index_leaves_the_tensor_as_it_was(write, wrong):
    x = rushlight.randn(5, 4)
    before, version = x.clone(), x._version
    with pytest.raises(IndexError, match="out of bounds"):
        write(x, rushlight.tensor([0, 1, wrong]), rushlight.ones(3, 4))
    assert rushlight.equal(x, before)
    assert x._version == version


@pytest.mark.parametrize("write", WRITES)
def test_writes_through_views(write):
    """A turned view is written where it lies, and nothing beside it."""
    base = rushlight.zeros(4, 10)
    view = base.t()[::2]
    write(view, rushlight.tensor([0, 1, 4]), rushlight.ones(3, 4))
    assert base.sum() == 12
    assert rushlight.equal(base[:, [0, 2, 8]], rushlight.ones(4, 3))


def test_a_large_tensor_is_not_copied():
    """Few rows of a large tensor: what is allocated does not grow with it."""
    x, index, rows = rushlight.zeros(100_000, 4), rushlight.tensor([3, 5, 9]), rushlight.ones(3, 4)
    for write in WRITES:
        text = str(rushlight.explain(write, x, index, rows, stages="plans"))
        assert "'scatter'" in text and "buffers:" not in text, text


def test_what_is_read_too_is_not_overwritten_early():
    x = rushlight.arange(5.0)
    x.index_put_((rushlight.tensor([0, 1]),), x[3:] * 2, accumulate=True)
    assert x.tolist() == [6, 9, 2, 3, 4]
    x = rushlight.arange(5.0)
    x[rushlight.tensor([4, 3, 2, 1, 0])] = x + 0
    assert x.tolist() == [4, 3, 2, 1, 0]


def test_sums_in_half_precision_are_rounded_once():
    ones = rushlight.ones(1000, dtype=rushlight.bfloat16)
    index = rushlight.zeros(1000, dtype=rushlight.int64)
    total = rushlight.zeros(1, dtype=rushlight.bfloat16).index_add(0, index, ones)
    assert total.item() == 1000
