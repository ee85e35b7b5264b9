"""A forked child can compile, compute on the thread pool, allocate and differentiate, whatever the
parent's threads are doing at the fork.
"""

from __future__ import annotations

import os

import pytest
from robustness_support import run_program

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

# The parent's threads: one compiles new kernels, one keeps the pool and the allocator busy.
_BUSY_PARENT = """
import os, sys, threading
import rushlight as rl
from fresh_kernels import KINDS, fresh_operator
from robustness_support import wait_for_child

rl.set_num_threads(2)
stop = threading.Event()
failures = []

def compiles():
    x = rl.rand(5, 7)
    try:
        for number in range(KINDS // 2):
            if stop.is_set():
                return
            fresh_operator(number)(x)
    except BaseException as error:
        failures.append(error)
        raise

def computes():
    x = rl.rand(1 << 20, requires_grad=True)
    try:
        while not stop.is_set():
            (x * 2 + 1).sum().backward()
            x.grad = None
    except BaseException as error:
        failures.append(error)
        raise

def work(number):
    x = rl.full((64, 1024), 0.5, requires_grad=True)
    y = fresh_operator(KINDS // 2 + number)(x)   # a new kernel, in the child
    y.sum().backward()
    assert x.grad.isfinite().all()
    big = rl.ones(1 << 20, requires_grad=True)   # the thread pool, large blocks
    (big * 3).sum().backward()
    assert (big.grad == 3).all()
    a = rl.ones(256, 256)
    assert (a @ a == 256).all()
    blocks = [rl.empty(n) for n in range(1, 4000, 7)]
    del blocks

threads = [threading.Thread(target=compiles), threading.Thread(target=computes)]
for thread in threads:
    thread.start()
"""

_FINISH = """
stop.set()
for thread in threads:
    thread.join()
assert not failures, failures
print("done")
"""

_FORKS = (
    _BUSY_PARENT
    + """
for number in range(50):
    child = os.fork()
    if child == 0:
        try:
            work(number)
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    status = wait_for_child(child)
    if status:
        stop.set()
        sys.exit(f"child {number} ended with status {status}")
"""
    + _FINISH
)

_MULTIPROCESSING = (
    _BUSY_PARENT
    + """
import multiprocessing

def worker(tasks, results):
    for number in iter(tasks.get, None):
        work(number)
        x = rl.arange(12.0).reshape(3, 4) + number
        results.put((number, (x * x).numpy()))

context = multiprocessing.get_context("fork")
tasks, results = context.SimpleQueue(), context.SimpleQueue()
workers = [context.Process(target=worker, args=(tasks, results)) for _ in range(2)]
for process in workers:
    process.start()
for number in range(20):
    tasks.put(number)
for _ in range(20):
    number, array = results.get()
    x = rl.arange(12.0).reshape(3, 4) + number
    assert (rl.from_numpy(array) == x * x).all()
for process in workers:
    tasks.put(None)
for process in workers:
    process.join(100)
    assert process.exitcode == 0
"""
    + _FINISH
)


def test_children_compile_while_the_parent_compiles(cache_folder):
    assert run_program(_FORKS, timeout=400, cache=cache_folder).split() == ["done"]


def test_workers_of_a_loader(cache_folder):
    assert run_program(_MULTIPROCESSING, timeout=300, cache=cache_folder).split() == ["done"]


def test_a_child_of_a_child(cache_folder):
    program = """
    import os
    import rushlight as rl
    from fresh_kernels import fresh_operator
    from robustness_support import wait_for_child

    rl.set_num_threads(2)

    def descend(depth):
        x = rl.ones(1 << 19)
        fresh_operator(depth)(x)
        assert (x + depth == 1 + depth).all()
        if depth == 3:
            return
        child = os.fork()
        if child == 0:
            descend(depth + 1)
            os._exit(0)
        assert wait_for_child(child) == 0

    descend(0)
    """
    run_program(program, cache=cache_folder)


def test_the_memory_limit_and_counts_hold_in_a_child(cache_folder):
    program = """
    import os
    import rushlight as rl
    from rushlight import _core
    from robustness_support import wait_for_child

    kept = rl.ones(1000, 1000)
    before = _core.allocator_statistics()["in_use"]
    child = os.fork()
    if child == 0:
        assert _core.allocator_statistics()["in_use"] == before
        more = rl.ones(1000, 1000)
        assert _core.allocator_statistics()["in_use"] > before
        del more
        assert _core.allocator_statistics()["in_use"] == before
        os._exit(0)
    assert wait_for_child(child) == 0
    assert (kept == 1).all()
    """
    run_program(program, cache=cache_folder)


def test_a_child_adds_to_a_leaf_that_a_thread_of_its_parent_was_adding_to():
    program = """
    import os, sys, threading
    import rushlight as rl
    from robustness_support import wait_for_child

    parent = os.getpid()
    adding, leave = threading.Event(), threading.Event()

    class Slow(rl.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            if function.__name__ == "add_" and os.getpid() == parent:
                adding.set()
                leave.wait(100)
            return super().__torch_function__(function, types, args, kwargs or {})

    leaf = rl.ones(3, requires_grad=True)
    leaf.grad = rl.zeros(3).as_subclass(Slow)
    thread = threading.Thread(target=lambda: (leaf * 2).sum().backward())
    thread.start()
    assert adding.wait(100)
    child = os.fork()
    if child == 0:
        (leaf * 3).sum().backward()
        os._exit(0 if leaf.grad.tolist() == [3, 3, 3] else 3)
    status = wait_for_child(child, 20)
    leave.set()
    thread.join()
    assert leaf.grad.tolist() == [2, 2, 2]
    sys.exit(status)
    """
    run_program(program)
