"""Several Python threads at once: forward, backward, shared leaves, hooks, the pool, planning."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator

import pytest
from fresh_kernels import KINDS, fresh_operator

import rushlight as rl
from rushlight import _core

THREADS = 4


@pytest.fixture(autouse=True)
def pool_of_three() -> Iterator[None]:
    before = _core.get_num_threads()
    _core.set_num_threads(3)
    yield
    _core.set_num_threads(before)


def run_threads(work: Callable[[int], None], count: int = THREADS) -> None:
    """Run work(0) ... at once; the first exception of any is raised here."""
    errors: list[BaseException] = []
    start = threading.Barrier(count)

    def guarded(number: int) -> None:
        try:
            start.wait()
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]


@pytest.mark.parametrize("size", (3, 200_000))
def test_gradients_of_a_shared_leaf_add_up(size):
    leaf = rl.ones(size, requires_grad=True)

    def work(number: int) -> None:
        for _ in range(25):
            (leaf * (number + 1)).sum().backward()

    run_threads(work)
    assert (leaf.grad == 25 * (1 + 2 + 3 + 4)).all()


def test_one_graph_run_from_several_threads():
    leaf = rl.ones(1000, requires_grad=True)
    shared = (leaf * 2).exp().log()

    def work(number: int) -> None:
        for _ in range(20):
            shared.sum().backward(retain_graph=True)

    run_threads(work)
    assert (leaf.grad - 160).abs().max().item() < 1e-2


def test_large_operators_share_the_pool():
    x = rl.arange(400_000, dtype=rl.float64)
    total = x.sum().item()

    def work(number: int) -> None:
        for _ in range(15):
            assert (x * 2 + number).sum().item() == 2 * total + number * 400_000
            y = rl.ones(64, 300) @ rl.ones(300, 200)
            assert (y == 300).all()
            assert x.flip(0).contiguous()[0].item() == 399_999

    run_threads(work)


def test_threads_plan_and_compile_the_same_operators():
    operators = [fresh_operator(KINDS // 4 + number) for number in range(6)]
    x = rl.rand(6, 7)
    expected = [operator(x).tolist() for operator in operators]
    for operator in operators:
        operator.clear()

    def work(number: int) -> None:
        for rows in range(1, 7):
            for operator, values in zip(operators, expected):
                leaf = x[:rows].clone().requires_grad_()
                result = operator(leaf)
                assert result.tolist() == values[:rows]
                result.sum().backward()
                assert leaf.grad.shape == leaf.shape

    run_threads(work)


def test_hooks_in_threads():
    leaf = rl.ones(10, requires_grad=True)
    calls: list[int] = []
    leaf.register_hook(lambda gradient: calls.append(1))

    def work(number: int) -> None:
        for _ in range(30):
            y = leaf * 2
            y.register_hook(lambda gradient: gradient * 2)
            y.sum().backward()

    run_threads(work)
    assert len(calls) == 30 * THREADS
    assert (leaf.grad == 30 * THREADS * 4).all()


def test_a_hook_may_wait_for_another_thread():
    leaf = rl.ones(3, requires_grad=True)
    turn = threading.Barrier(2)

    def meet(gradient: object) -> None:
        turn.wait(60)

    def work(number: int) -> None:
        y = leaf * 3
        y.register_hook(meet)
        y.sum().backward()

    run_threads(work, 2)
    assert (leaf.grad == 6).all()


def test_a_graph_dies_while_a_finalizer_of_another_thread_waits():
    entered, leave = threading.Event(), threading.Event()

    class Waits:
        def __del__(self) -> None:
            entered.set()
            leave.wait(60)

    class Noted:
        pass

    def graph(note: object) -> object:
        result = rl.ones(2, requires_grad=True) * 2
        result.grad_fn.metadata["note"] = note
        return result

    graphs = [graph(Waits())]
    thread = threading.Thread(target=graphs.clear)
    thread.start()
    assert entered.wait(60)
    note = Noted()
    watched = weakref.ref(note)
    other = graph(note)
    del note, other
    freed = watched() is None
    leave.set()
    thread.join(60)
    assert freed


def test_modes_belong_to_threads():
    def work(number: int) -> None:
        for _ in range(200):
            with rl.set_grad_enabled(number % 2 == 0):
                x = rl.ones(2, requires_grad=True)
                assert (x * 2).requires_grad == (number % 2 == 0)

    run_threads(work)


def test_writes_and_reads_of_one_tensor_do_not_crash():
    """The values are anybody's, a call may not find the layout it planned for; memory is sound."""
    x = rl.zeros(300_000)
    steps = (
        lambda number: x.add_(1),
        lambda number: x.resize_(100_000 if number % 2 else 300_000),
        lambda number: (x[:50_000] * 2).sum().item(),
        lambda number: setattr(x, "data", rl.zeros(300_000)),
    )

    def work(thread: int) -> None:
        for number in range(20):
            with contextlib.suppress(RuntimeError):
                steps[thread](number)

    run_threads(work, len(steps))
    x.resize_(5).zero_()
    assert x.tolist() == [0, 0, 0, 0, 0]


def test_threads_come_and_go():
    before = _core.allocator_statistics()["in_use"]
    for _ in range(30):
        run_threads(lambda number: rl.ones(1000, requires_grad=True).exp().sum().backward(), 3)
    assert _core.allocator_statistics()["in_use"] == before


def test_random_numbers_in_threads():
    """Every number is drawn once, whoever draws it."""
    rl.manual_seed(5)
    expected = sorted(rl.rand(THREADS * 50 * 100).tolist())
    rl.manual_seed(5)
    drawn: list[list[float]] = [[] for _ in range(THREADS)]

    def work(number: int) -> None:
        for _ in range(50):
            drawn[number] += rl.rand(100).tolist()

    run_threads(work)
    assert sorted(value for part in drawn for value in part) == expected
