"""Training does not grow, graphs go with their last use, running out of memory is an exception."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest
from robustness_support import run_program

import rushlight as rl
from rushlight import _core
from rushlight.tensor import OutOfMemoryError


def in_use() -> int:
    return _core.allocator_statistics()["in_use"]


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
def without_gc() -> Iterator[None]:
    """Only reference counts free anything."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def limited_memory() -> Iterator[None]:
    """A bound of 64 MB on the tensors' memory."""
    _core.empty_cache()
    held = _core.allocator_statistics()
    _core.set_memory_limit(held["in_use"] + held["cached"] + (64 << 20))
    yield
    _core.set_memory_limit(None)


class Training:
    """A perceptron with dropout on made-up images."""

    def __init__(self) -> None:
        nn = rl.nn
        rl.manual_seed(0)
        self.network = nn.Sequential(
            nn.Linear(64, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 10)
        )
        self.optimizer = rl.optim.Adam(self.network.parameters(), lr=1e-3)
        self.images, self.labels = rl.rand(64, 64), rl.randint(0, 10, (64,))

    def step(self, number: int) -> float:
        rows = slice(number % 32, number % 32 + 16)
        logits = self.network(self.images[rows])
        loss = rl.nn.functional.cross_entropy(logits, self.labels[rows])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return float(loss.item())


def test_2000_training_steps_do_not_grow(without_gc):
    training = Training()
    for number in range(200):
        training.step(number)
    memory, objects = in_use(), len(gc.get_objects())
    for number in range(2000):
        training.step(number)
    assert in_use() == memory
    assert len(gc.get_objects()) <= objects + 20


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
@pytest.mark.skipif(
    "libasan" in os.environ.get("LD_PRELOAD", ""), reason="ASan keeps freed memory for a while"
)
def test_2000_training_steps_take_no_pages():
    """In a process of its own: what other tests left of the heap is not ours to measure."""
    program = """
        import gc
        from test_memory import Training, resident
        gc.disable()
        training = Training()
        for number in range(200):
            training.step(number)
        pages = resident()
        for number in range(2000):
            training.step(number)
        assert resident() - pages < 4 << 20, resident() - pages
    """
    run_program(program)


def test_changing_sizes_do_not_grow(without_gc):
    def step(n: int) -> None:
        x = rl.ones(n, 8, requires_grad=True)
        (rl.softmax(x, 1) * x[:, :1]).sum().backward()

    for n in range(2, 200):
        step(n)
    memory, plans = in_use(), _core.plan_count()
    for n in range(200, 1200):
        step(n)
    assert in_use() == memory
    assert _core.plan_count() == plans


def test_a_graph_goes_with_its_last_tensor(without_gc):
    before = in_use()
    x = rl.rand(1000, 1000, requires_grad=True)
    y = (x.exp() * x).sigmoid().sum()
    held = in_use()
    assert held >= before + 3 * 4_000_000
    del y
    assert in_use() <= before + 4_300_000
    y = x.exp().sum()
    y.backward()
    x.grad = None
    assert in_use() <= before + 4_300_000  # backward freed what exp saved, though y lives
    del x, y
    assert in_use() == before


def test_an_output_that_saves_itself_is_no_cycle(without_gc):
    before = in_use()
    for _ in range(10):
        x = rl.rand(1000, 100, requires_grad=True)
        y = x.exp().tanh().softmax(1)
        y.sum().backward()
        del x, y
    assert in_use() == before


def test_an_exception_in_backward_frees_the_graph(without_gc):
    before = in_use()
    x = rl.rand(1000, 100, requires_grad=True)
    y = x * 2

    def fails(gradient: object) -> None:
        raise KeyError("hook")

    y.register_hook(fails)
    with pytest.raises(KeyError):
        (y * y).sum().backward()
    del x, y
    gc.collect()
    assert in_use() == before


def test_200000_chained_nodes():
    x = rl.ones(4, requires_grad=True)
    y = x
    for _ in range(200_000):
        y = y + 1
    y.sum().backward()
    assert x.grad.tolist() == [1, 1, 1, 1]
    y = x
    for _ in range(200_000):
        y = y * 1.0
    del y  # never run


def test_200000_chained_views():
    x = rl.ones(4, requires_grad=True)
    y = x
    for _ in range(200_000):
        y = y.view(2, 2).view(4)
    y.sum().backward()
    assert x.grad.tolist() == [1, 1, 1, 1]


def test_200000_writes():
    x = rl.ones(4, requires_grad=True)
    y = x * 1
    for _ in range(200_000):
        y.mul_(1.0)
    y.sum().backward()
    assert x.grad.tolist() == [1, 1, 1, 1]


HUGE = (
    lambda: rl.empty(2**62),
    lambda: rl.empty(2**40, 2**40),
    lambda: rl.empty(2**63 - 1),
    lambda: rl.zeros(2**50),
    lambda: rl.ones(2**31, 2**31),
    lambda: rl.full((2**45,), 1.0),
    lambda: rl.arange(2**50),
    lambda: rl.rand(2**48),
    lambda: rl.randn(2**48),
    lambda: rl.randperm(2**50),
    lambda: rl.eye(2**30),
    lambda: rl.linspace(0, 1, 2**50),
    lambda: rl.ones(1).expand(2**50).clone(),
    lambda: rl.ones(1).expand(2**50) + 1,
    lambda: rl.ones(1).expand(2**50).contiguous(),
    lambda: rl.ones(3).repeat(2**60),
    lambda: rl.ones(2**20, 1) @ rl.ones(1, 2**20).expand(2**20, 2**20),
    lambda: rl.empty(3).resize_(2**50),
)


@pytest.mark.parametrize("number", range(len(HUGE)))
def test_huge_tensors_are_refused(number):
    with pytest.raises((RuntimeError, MemoryError, ValueError, OverflowError, TypeError)):
        HUGE[number]()
    assert (rl.ones(3) + 1).tolist() == [2, 2, 2]


def test_the_memory_limit_raises_and_the_process_goes_on(limited_memory):
    x = rl.ones(1 << 20, requires_grad=True)
    kept = []
    with pytest.raises(OutOfMemoryError):
        for _ in range(100):
            kept.append(x * 2)
    assert 10 <= len(kept) <= 16
    with pytest.raises(RuntimeError):
        rl.ones(1 << 24)
    with pytest.raises(RuntimeError):
        (kept[0] * kept[1]).sum().backward()
    kept.clear()
    x.grad = None
    (x * 2).sum().backward()
    assert x.grad[0].item() == 2


def test_a_write_that_runs_out_of_memory_leaves_its_target(limited_memory):
    x = rl.arange(9 << 20, dtype=rl.float32)
    before = x[:5].tolist()
    with pytest.raises(RuntimeError):
        x.add_(x.flip(0).to(rl.float64).to(rl.float32))
    assert x[:5].tolist() == before
    x += 1
    assert x[:2].tolist() == [1, 2]


READ_ONLY_WRITES = {
    "add_": lambda x: x.add_(1),
    "zero_": lambda x: x.zero_(),
    "fill_": lambda x: x.fill_(2),
    "copy_": lambda x: x.copy_(rl.ones(4)),
    "item": lambda x: x.__setitem__(0, 1.0),
    "slice": lambda x: x[1:].mul_(2),
    "out": lambda x: rl.add(rl.ones(4), 1, out=x),
    "uniform_": lambda x: x.uniform_(),
    "iadd": lambda x: x.__iadd__(1),
    "index_put": lambda x: x.__setitem__(rl.tensor([0, 1]), 3.0),
    "mask": lambda x: x.__setitem__(rl.tensor([True, False, True, False]), 3.0),
}


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
@pytest.mark.parametrize("name", READ_ONLY_WRITES)
def test_read_only_arrays_are_not_written(name):
    array = numpy.arange(4, dtype=numpy.float32)
    array.flags.writeable = False
    with pytest.raises((RuntimeError, ValueError)):
        READ_ONLY_WRITES[name](rl.from_numpy(array))
    assert array.tolist() == [0, 1, 2, 3]


def test_finalizers_may_change_what_is_being_read():
    """The garbage collector runs when a tensor or a list is made, in the middle of a call."""
    program = """
    import gc
    import rushlight as rl

    class Cycle:
        def __init__(self, change):
            self.own, self.change = self, change
        def __del__(self):
            self.change()

    def shrink():
        x.data = rl.zeros(1)

    gc.set_threshold(1)
    for read in (
        lambda: x * 2,
        lambda: x.add_(1),
        lambda: rl.split(x, 40),
        lambda: x.reshape(100, 100).tolist(),
        lambda: x.sum(),
        lambda: rl.linalg.inv(x[:4].view(2, 2)),
    ):
        for _ in range(20):
            x = rl.arange(10_000.0)
            Cycle(shrink)
            try:
                result = read()
            except RuntimeError:
                pass
    """
    run_program(program)
