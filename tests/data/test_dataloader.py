"""`DataLoader`, in one process and with workers."""

from __future__ import annotations

import os
import random
import signal
import time

import numpy
import pytest

import rushlight
from rushlight.utils import data

torch = pytest.importorskip("torch")


def orders(module, **options):
    """The batches of two passes, and the next number of the default generator."""
    module.manual_seed(11)
    dataset = module.utils.data.TensorDataset(module.arange(10))
    if "seed" in options:
        options["generator"] = module.Generator().manual_seed(options.pop("seed"))
    loader = module.utils.data.DataLoader(dataset, **options)
    batches = [[x.tolist() for (x,) in loader] for _ in range(2)]
    return batches, len(loader), module.rand(1).item()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"batch_size": 3},
        {"batch_size": 3, "drop_last": True},
        {"batch_size": 3, "shuffle": True},
        {"batch_size": 4, "shuffle": True, "seed": 5},
        {"batch_size": None},
        {"batch_size": None, "shuffle": True},
        {"batch_sampler": [[1, 2], [3], [9, 0, 4]]},
        {"sampler": [3, 1, 2], "batch_size": 2},
        {"batch_size": 3, "shuffle": True, "num_workers": 2},
        {"batch_size": 3, "shuffle": True, "num_workers": 2, "persistent_workers": True},
        {"batch_size": None, "shuffle": True, "num_workers": 1, "prefetch_factor": 4},
    ],
)
def test_batches_are_pytorchs(options):
    expected = {**options, "num_workers": 0, "persistent_workers": False, "prefetch_factor": None}
    assert orders(rushlight, **options) == orders(torch, **expected)


class Squares(data.Dataset):
    def __len__(self):
        return 20

    def __getitem__(self, index):
        info = data.get_worker_info()
        return {
            "square": rushlight.full((3,), index * index, dtype=rushlight.int32),
            "array": numpy.full((2, 2), index, "float64"),
            "name": str(index),
            "worker": -1 if info is None else info.id,
        }


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_workers_give_the_batches_in_order(workers, context):
    loader = data.DataLoader(
        Squares(), batch_size=4, num_workers=workers, multiprocessing_context=context
    )
    batches = list(loader)
    assert [b["array"][:, 0, 0].tolist() for b in batches] == [
        list(range(i, i + 4)) for i in range(0, 20, 4)
    ]
    assert batches[2]["square"].dtype is rushlight.int32
    assert batches[2]["square"][:, 1].tolist() == [64, 81, 100, 121]
    assert batches[1]["name"] == ["4", "5", "6", "7"]
    assert [b["worker"][0].item() for b in batches] == [i % workers for i in range(5)]
    batches[0]["square"].add_(1)  # the memory is ours


class Stream(data.IterableDataset):
    def __init__(self, count, split=True):
        self.count = count
        self.split = split

    def __iter__(self):
        info = data.get_worker_info()
        if info is None or not self.split:
            return iter(range(self.count))
        return iter(range(info.id, self.count, info.num_workers))


@pytest.mark.parametrize("drop_last", [False, True])
def test_iterable_datasets(drop_last):
    loader = data.DataLoader(Stream(7), batch_size=3, drop_last=drop_last)
    assert [b.tolist() for b in loader] == [[0, 1, 2], [3, 4, 5]] + ([] if drop_last else [[6]])
    loader = data.DataLoader(Stream(11), batch_size=2, num_workers=2, drop_last=drop_last)
    found = [b.tolist() for b in loader]
    expected = [[0, 2], [1, 3], [4, 6], [5, 7], [8, 10]] + ([] if drop_last else [[9]])
    assert found == expected
    assert list(data.DataLoader(Stream(3), batch_size=None)) == [0, 1, 2]


def test_iterable_datasets_that_give_more_than_they_said():
    class Short(Stream):
        def __len__(self):
            return 2

    loader = data.DataLoader(Short(5), batch_size=1)
    iterator = iter(loader)
    assert len(loader) == 2
    next(iterator), next(iterator)
    with pytest.warns(UserWarning, match="reported to be 2"):
        next(iterator)


class Seeds(data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return random.random(), numpy.random.rand(), rushlight.rand(1).item()


class TorchSeeds(Seeds):
    def __getitem__(self, index):
        return random.random(), numpy.random.rand(), torch.rand(1).item()


def test_workers_are_seeded_as_pytorchs():
    found = []
    for module, dataset in ((rushlight, Seeds()), (torch, TorchSeeds())):
        module.manual_seed(3)
        loader = module.utils.data.DataLoader(dataset, batch_size=1, num_workers=2)
        found.append([[float(x) for x in batch] for batch in loader])
    assert found[0] == found[1]


def identity(batch):
    return batch


class Broken(data.Dataset):
    def __init__(self, action):
        self.action = action

    def __len__(self):
        return 6

    def __getitem__(self, index):
        if index == 3:
            if self.action == "raise":
                raise IndexError("number three")
            if self.action == "key":
                raise KeyError("three")
            if self.action == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.action == "exit":
                os._exit(3)
            if self.action == "sleep":
                time.sleep(60)
            if self.action == "lambda":
                return lambda: 3
            if self.action == "stop":
                raise StopIteration
        return index


@pytest.mark.parametrize(
    ("action", "error", "match"),
    [
        (
            "raise",
            IndexError,
            "Caught IndexError in DataLoader worker process 1(.|\n)*number three",
        ),
        ("key", KeyError, "Caught KeyError in DataLoader worker process 1.\nOriginal Traceback"),
        ("die", RuntimeError, r"worker \(pid\(s\) \d+\) exited unexpectedly with signal 9"),
        ("exit", RuntimeError, "exited unexpectedly with exit code 3"),
        ("lambda", Exception, "pickle"),
        ("stop", RuntimeError, "StopIteration"),
    ],
)
def test_failures_of_workers(action, error, match):
    loader = data.DataLoader(Broken(action), num_workers=2, collate_fn=identity)
    iterator = iter(loader)
    assert [next(iterator) for _ in range(3)] == [[0], [1], [2]]
    with pytest.raises(error, match=match):
        next(iterator)
    if action in ("die", "exit"):
        with pytest.raises(StopIteration):
            next(iterator)


def test_timeouts():
    loader = data.DataLoader(Broken("sleep"), num_workers=2, timeout=0.5)
    with pytest.raises(RuntimeError, match="timed out after 0.5 seconds"):
        list(loader)


def test_iteration_may_stop_early():
    loader = data.DataLoader(Squares(), num_workers=2)
    iterator = iter(loader)
    next(iterator)
    processes = iterator.processes
    del iterator
    assert not any(process.is_alive() for process in processes)


class Large(data.Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        return rushlight.full((1 << 18,), float(index))


def test_large_batches_do_not_block():
    indices = [[i % 12] * 2 for i in range(24)]
    loader = data.DataLoader(Large(), batch_sampler=indices, num_workers=2, prefetch_factor=4)
    assert [b[0, 0].item() for b in loader] == [i % 12 for i in range(24)]


def test_persistent_workers_stay():
    loader = data.DataLoader(Squares(), num_workers=2, persistent_workers=True)
    first = iter(loader)
    pids = [process.pid for process in first.processes]
    next(first)
    assert len(list(loader)) == 20  # another pass, while the first is under way
    assert [process.pid for process in loader._iterator.processes] == pids
    loader._iterator.close()
    assert len(list(loader)) == 20
    loader._iterator.close()


def test_batches_as_they_come():
    loader = data.DataLoader(Squares(), num_workers=3, in_order=False)
    assert sorted(b["name"][0] for b in loader) == sorted(map(str, range(20)))


def failing_init(worker):
    raise ValueError(f"no worker {worker}")


def seeding_init(worker):
    random.seed(worker)


class Numbers(data.Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return random.random()


def test_worker_init_fn():
    loader = data.DataLoader(Numbers(), num_workers=2, worker_init_fn=seeding_init)
    assert [b.item() for b in loader] == [random.Random(0).random(), random.Random(1).random()]
    loader = data.DataLoader(Numbers(), num_workers=2, worker_init_fn=failing_init)
    with pytest.raises(ValueError, match="no worker 0"):
        list(loader)


class Together(data.Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        raise AssertionError("samples are fetched together")

    def __getitems__(self, indices):
        return [-index for index in indices]


def test_samples_are_fetched_together_if_possible():
    assert [b.tolist() for b in data.DataLoader(Together(), 4)] == [[0, -1, -2, -3], [-4, -5]]
    part = data.Subset(Together(), [5, 3])
    assert [b.tolist() for b in data.DataLoader(part, 2)] == [[-5, -3]]


def test_pin_memory_is_accepted():
    with pytest.warns(UserWarning, match="pin_memory"):
        assert len(list(data.DataLoader(range(3), pin_memory=True))) == 3


@pytest.mark.parametrize(
    "options",
    [
        {"num_workers": -1},
        {"timeout": -1},
        {"prefetch_factor": 2},
        {"num_workers": 1, "prefetch_factor": -1},
        {"persistent_workers": True},
        {"shuffle": True, "sampler": [1]},
        {"batch_sampler": [[1]], "batch_size": 2},
        {"batch_sampler": [[1]], "shuffle": True},
        {"batch_size": None, "drop_last": True},
        {"batch_size": 0},
        {"multiprocessing_context": "fork"},
        {"num_workers": 1, "multiprocessing_context": "threads"},
    ],
)
def test_invalid_options(options):
    for module in (data, torch.utils.data):
        with pytest.raises(ValueError):
            module.DataLoader(range(3), **options)


def test_options_of_iterable_datasets():
    for options in ({"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [[1]]}):
        with pytest.raises(ValueError, match="IterableDataset"):
            data.DataLoader(Stream(3), **options)


def test_attributes_that_are_fixed():
    loader = data.DataLoader(range(3))
    with pytest.raises(ValueError, match="batch_size attribute should not be set"):
        loader.batch_size = 3
    loader.timeout = 5
