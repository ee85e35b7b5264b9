"""What the transforms see of the functions that they call, and when they call them."""

from __future__ import annotations

import contextlib
import gc
import threading
import weakref
from typing import Any

import pytest

import rushlight
from rushlight import func
from rushlight.func import replay
from rushlight.graph.trace import captures

calls = 0
scale = 2.0
weight = rushlight.ones(3)


def ones(n: int = 3) -> Any:
    return rushlight.ones(n)


def test_functions_with_effects_are_called_each_time() -> None:
    log = []

    def function(x: Any) -> Any:
        log.append(x.shape)
        return x.sum()

    def counting(x: Any) -> Any:
        global calls
        calls += 1
        return x.sum()

    for _ in range(3):
        func.grad(function)(ones())
        func.grad(counting)(ones())
    assert log == [(3,)] * 3
    assert calls == 3


def test_pure_functions_are_traced_once() -> None:
    before = len(replay._traces)
    results = [
        func.vmap(func.grad(lambda x: (x * weight).sum()))(rushlight.ones(2, 3)) for _ in range(3)
    ]
    assert len(replay._traces) == before + 1
    assert all(result.tolist() == [[1.0] * 3] * 2 for result in results)


def test_helpers_and_loops_are_traced_once() -> None:
    def layer(x: Any, gain: float = 2.0) -> Any:
        return rushlight.tanh(x * weight) * gain

    def network(x: Any, depth: int) -> Any:
        for _ in range(depth):
            x = layer(x)
        return sum(part.sum() for part in (x, x * x))

    before = len(replay._traces)
    for _ in range(3):
        func.grad(network)(ones(), 2)
    assert len(replay._traces) == before + 1
    func.grad(network)(ones(), 3)
    assert len(replay._traces) == before + 2


def test_what_a_function_reads_may_change() -> None:
    global scale, weight
    local = 1.0

    def function(x: Any) -> Any:
        return (x * scale * weight).sum() * local

    gradient = func.grad(function)
    assert gradient(ones()).tolist() == [2.0] * 3
    scale = 3.0
    assert gradient(ones()).tolist() == [3.0] * 3
    local = 2.0
    assert gradient(ones()).tolist() == [6.0] * 3
    weight.mul_(2)
    assert gradient(ones()).tolist() == [12.0] * 3
    weight, scale = rushlight.ones(3), 2.0
    assert gradient(ones()).tolist() == [4.0] * 3


def test_elements_read_by_python() -> None:
    factor = rushlight.tensor(2.0)

    def function(x: Any) -> Any:
        return x.sum() * factor.item() + (1.0 if factor > 2 else 0.0)

    gradient = func.grad_and_value(function)
    assert gradient(ones())[0].tolist() == [2.0] * 3
    factor.fill_(3.0)
    assert gradient(ones())[0].tolist() == [3.0] * 3
    assert gradient(ones())[1].item() == 10.0


def test_tensors_given_twice() -> None:
    gradient = func.grad(lambda x, y: (x * y).sum())
    x, y = ones(), rushlight.arange(3.0)
    assert gradient(x, x).tolist() == [1.0] * 3
    assert gradient(x, y).tolist() == [0.0, 1.0, 2.0]


def test_tensors_are_freed_at_once() -> None:
    def call(function: Any) -> None:
        local = rushlight.ones(3)
        references.append(weakref.ref(local))
        with contextlib.suppress(KeyError):
            function(local)

    def fails(local: Any) -> None:
        def function(x: Any) -> Any:
            raise KeyError((x * local).shape)

        func.grad(function)(ones())

    references: list[Any] = []
    gc.disable()
    try:
        call(lambda local: func.grad(lambda x: (x * local).sum())(ones()))  # is kept
        call(lambda local: func.grad(lambda x: (x * local).sum() * x[0].item())(ones()))
        call(lambda local: func.vjp(lambda x: x * local, ones())[1](ones()))
        call(lambda local: func.hessian(lambda x: (x * local).prod())(local))
        call(fails)
        assert [reference() for reference in references] == [None] * 5
    finally:
        gc.enable()


def test_traces_are_freed_at_once() -> None:
    contexts = []

    def function(x: Any) -> Any:
        contexts.append(weakref.ref(x.context))
        contexts.append(weakref.ref(captures()))
        return (x.sin() * x).sum()

    gc.disable()
    try:
        func.grad(function)(ones())
        func.vmap(func.grad(function))(rushlight.ones(2, 3))
        assert [context() for context in contexts] == [None] * 4
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.add_(1),
        lambda x: x.__setitem__(0, 1.0),
        lambda x: weight.add_(x),
        lambda x: weight.add_(1),
        lambda x: rushlight.add(x, x, out=weight),
        lambda x: x.zero_(),
    ],
)
def test_writing_is_refused(write: Any) -> None:
    def function(x: Any) -> Any:
        write(x)
        return x.sum()

    with pytest.raises(RuntimeError, match="in place"):
        func.grad(function)(ones())
    assert bool((weight == weight[0]).all())


def test_values_do_not_leave_their_transform() -> None:
    kept = []

    def function(x: Any) -> Any:
        kept.append(x)
        return x.sum()

    func.grad(function)(ones())
    with pytest.raises(RuntimeError):
        func.grad(lambda x: (x * kept[0]).sum())(ones())
    with pytest.raises(RuntimeError):
        rushlight.sin(kept[0])


def test_an_exception_leaves_no_trace() -> None:
    def function(x: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        func.vmap(func.grad(function))(rushlight.ones(2, 3))
    assert rushlight.is_grad_enabled()
    x = ones()
    assert (x + x).tolist() == [2.0] * 3
    x.add_(1)
    assert x.tolist() == [2.0] * 3


def test_threads() -> None:
    results: list[Any] = []

    def work(factor: float) -> None:
        for _ in range(20):
            results.append(func.grad(lambda x: (x * x).sum() * factor)(ones())[0].item() / factor)

    threads = [threading.Thread(target=work, args=(float(n),)) for n in range(1, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [2.0] * 60


def test_attributes_of_traced_values() -> None:
    def function(x: Any) -> Any:
        assert x.requires_grad
        assert x.device.type == "cpu"
        assert x.shape == (3,) and len(x) == 3 and x.ndim == 1
        assert x.layout is rushlight.ones(1).layout
        return (x.T if x.numel() else x).sum()

    func.grad(function)(ones())


def test_python_sizes() -> None:
    """Sizes are plain ints."""

    def function(x: Any) -> Any:
        return sum(x[i] * i for i in range(x.shape[0])) / x.shape[0] ** 0.5

    assert func.grad(function)(rushlight.ones(4)).tolist() == [0.0, 0.5, 1.0, 1.5]
    assert func.grad(function)(rushlight.ones(1)).tolist() == [0.0]


def test_empty() -> None:
    assert func.vmap(lambda x: x * 2)(rushlight.ones(0, 3)).shape == (0, 3)
    assert func.grad(lambda x: x.sum())(rushlight.ones(0)).shape == (0,)
    assert func.jacrev(lambda x: x * 2)(rushlight.ones(0)).shape == (0, 0)
    assert func.jacfwd(lambda x: x * 2)(rushlight.ones(0)).shape == (0, 0)
