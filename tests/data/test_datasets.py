"""Data sets, samplers and batches beside PyTorch's."""

from __future__ import annotations

import collections

import numpy
import pytest

import rushlight
from rushlight.utils import data

torch = pytest.importorskip("torch")

Point = collections.namedtuple("Point", "x y")


def test_tensor_dataset():
    x, y = rushlight.arange(12).reshape(4, 3), rushlight.arange(4)
    dataset = data.TensorDataset(x, y)
    assert len(dataset) == 4
    assert dataset[1][0].tolist() == [3, 4, 5] and dataset[-1][1].item() == 3
    assert dataset[1:3][1].tolist() == [1, 2]
    with pytest.raises(AssertionError, match="Size mismatch"):
        data.TensorDataset(x, y[:2])


def test_concatenated():
    whole = data.ConcatDataset([range(3), [10, 11], range(20, 21)])
    assert [whole[i] for i in range(6)] == [0, 1, 2, 10, 11, 20]
    assert whole[-1] == 20 and len(whole) == 6 and whole.cumulative_sizes == [3, 5, 6]
    with pytest.raises(ValueError, match="absolute value"):
        whole[-7]
    with pytest.raises(AssertionError):
        data.ConcatDataset([])
    part = data.TensorDataset(rushlight.arange(2))
    assert len(part + part) == 4


def test_stacked():
    pairs = data.StackDataset([1, 2, 3], "abc")
    assert pairs[1] == (2, "b") and len(pairs) == 3
    assert pairs.__getitems__([0, 2]) == [(1, "a"), (3, "c")]
    named = data.StackDataset(x=[1, 2], y=[3, 4])
    assert named[1] == {"x": 2, "y": 4}
    for args, kwargs in ((([1],), {"x": [1]}), ((), {}), (([1], [1, 2]), {})):
        with pytest.raises(ValueError):
            data.StackDataset(*args, **kwargs)


def test_chained():
    class Stream(data.IterableDataset):
        def __init__(self, *values):
            self.values = values

        def __iter__(self):
            return iter(self.values)

        def __len__(self):
            return len(self.values)

    chain = Stream(1, 2) + Stream(3)
    assert list(chain) == [1, 2, 3] and len(chain) == 3
    with pytest.raises(AssertionError):
        list(data.ChainDataset([[1]]))
    with pytest.raises(AssertionError):
        data.ConcatDataset([Stream(1)])


def test_random_split():
    for lengths in ([3, 7], [0.3, 0.7], [0.25, 0.25, 0.25, 0.25]):
        ours = data.random_split(range(10), lengths, rushlight.Generator().manual_seed(5))
        theirs = torch.utils.data.random_split(range(10), lengths, torch.Generator().manual_seed(5))
        assert [list(part.indices) for part in ours] == [list(part.indices) for part in theirs]
    assert ours[0][0] == ours[0].indices[0]
    with pytest.raises(ValueError, match="does not equal"):
        data.random_split(range(10), [3, 3])
    with pytest.warns(UserWarning, match="Length of split"):
        data.random_split(range(3), [0.9, 0.1])


def drawn(module, make):
    module.manual_seed(7)
    sampler = make(module.utils.data, module)
    return [list(sampler), list(sampler), len(sampler), module.rand(1).item()]


@pytest.mark.parametrize(
    "make",
    [
        lambda d, m: d.SequentialSampler(range(5)),
        lambda d, m: d.RandomSampler(range(10)),
        lambda d, m: d.RandomSampler(range(10), num_samples=25),
        lambda d, m: d.RandomSampler(range(10), replacement=True, num_samples=70),
        lambda d, m: d.RandomSampler(range(7), generator=m.Generator().manual_seed(3)),
        lambda d, m: d.SubsetRandomSampler([4, 7, 1, 0, 3]),
        lambda d, m: d.WeightedRandomSampler([0.1, 0.5, 0.2, 0.9], 50),
        lambda d, m: d.WeightedRandomSampler([3, 0, 2, 9], 3, replacement=False),
        lambda d, m: d.BatchSampler(d.RandomSampler(range(11)), 4, True),
        lambda d, m: d.BatchSampler(d.SequentialSampler(range(11)), 4, False),
        lambda d, m: d.DistributedSampler(range(11), 3, 1),
        lambda d, m: d.DistributedSampler(range(11), 3, 2, shuffle=False),
        lambda d, m: d.DistributedSampler(range(11), 3, 0, seed=4, drop_last=True),
        lambda d, m: d.DistributedSampler(range(2), 5, 4),
    ],
)
def test_samplers_draw_what_pytorch_draws(make):
    assert drawn(rushlight, make) == drawn(torch, make)


def test_epochs_of_distributed_samplers():
    orders = []
    for module in (data, torch.utils.data):
        sampler = module.DistributedSampler(range(20), 4, 1)
        sampler.set_epoch(3)
        orders.append(list(sampler))
    assert orders[0] == orders[1]


def test_invalid_samplers():
    for error, make in (
        (ValueError, lambda: data.RandomSampler(range(3), num_samples=0)),
        (ValueError, lambda: data.RandomSampler(range(3), num_samples=1.5)),
        (TypeError, lambda: data.RandomSampler(range(3), replacement=1)),
        (ValueError, lambda: data.WeightedRandomSampler([1.0], 0)),
        (ValueError, lambda: data.WeightedRandomSampler([1.0], True)),
        (ValueError, lambda: data.WeightedRandomSampler([1.0], 1, replacement=1)),
        (ValueError, lambda: data.WeightedRandomSampler([[1.0]], 1)),
        (ValueError, lambda: data.BatchSampler(range(3), 0, False)),
        (ValueError, lambda: data.BatchSampler(range(3), True, False)),
        (ValueError, lambda: data.BatchSampler(range(3), 2, 1)),
        (ValueError, lambda: data.DistributedSampler(range(3), 2, 2)),
        (RuntimeError, lambda: data.DistributedSampler(range(3))),
        (RuntimeError, lambda: list(data.WeightedRandomSampler([1.0, 0.0], 3, False))),
        (RuntimeError, lambda: list(data.WeightedRandomSampler([0.0, 0.0], 2))),
        (RuntimeError, lambda: list(data.WeightedRandomSampler([1.0, -1.0], 2))),
        (RuntimeError, lambda: list(data.WeightedRandomSampler([1.0, float("nan")], 2))),
    ):
        with pytest.raises(error):
            make()


def plain(value):
    """A batch with tensors as lists, beside their dtypes."""
    if hasattr(value, "tolist") and hasattr(value, "dtype"):
        return (str(value.dtype), value.tolist())
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(plain, value))
    if isinstance(value, list | tuple):
        return type(value)(plain(each) for each in value)
    return value


BATCHES = [
    [1, 2, 3],
    [1.5, 2.5],
    [True, False],
    ["a", "b"],
    [b"a", b"b"],
    [(1, 2.0), (3, 4.0)],
    [[1, "x"], [2, "y"]],
    [{"a": 1, "b": [1, 2]}, {"a": 2, "b": [3, 4]}],
    [Point(1, 2.0), Point(3, 4.0)],
    [numpy.float32(1), numpy.float32(2)],
    [numpy.int8(1), numpy.int8(2)],
    [numpy.arange(3), numpy.arange(3)],
    [numpy.ones((2, 2), "float32")],
    [collections.OrderedDict(a=1)],
    [range(3), range(3)],
]


@pytest.mark.parametrize("batch", BATCHES, ids=range(len(BATCHES)))
def test_collate(batch):
    ours, theirs = data.default_collate(batch), torch.utils.data.default_collate(batch)
    assert plain(ours) == plain(theirs) and type(ours).__name__ == type(theirs).__name__
    ours, theirs = data.default_convert(batch), torch.utils.data.default_convert(batch)
    assert plain(ours) == plain(theirs)


def test_collated_tensors_are_stacked():
    batch = data.default_collate([rushlight.ones(2), rushlight.zeros(2)])
    assert batch.tolist() == [[1, 1], [0, 0]]


def test_what_cannot_be_collated():
    for batch in ([None], [object()], [numpy.array(["a"])], [(None,)]):
        with pytest.raises(TypeError, match="default_collate: batch must contain"):
            data.default_collate(batch)
    with pytest.raises(RuntimeError, match="equal size"):
        data.default_collate([[1], [1, 2]])
    with pytest.raises(RuntimeError):
        data.default_collate([rushlight.ones(2), rushlight.ones(3)])
