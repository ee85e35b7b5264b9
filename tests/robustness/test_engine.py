"""The backward pass under load: a million nodes, nested passes, threads, what frees a graph."""

from __future__ import annotations

import gc
import os
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from robustness_support import run_program
from test_threads import run_threads

import rushlight as rl
from rushlight import _core


def in_use() -> int:
    return _core.allocator_statistics()["in_use"]


@pytest.fixture
def without_gc() -> Iterator[None]:
    """Only reference counts free anything."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


# ---------------------------------------------------------------- long graphs

CHAINS = {
    "operators": "y = y * 1.0",
    "views": "y = y.view(2, 2) if y.ndim == 1 else y.view(4)",
    "writes": "y = y.mul_(1.0) if y is not x else y * 1.0",
    "functions": "y = Same.apply(y)",
    "both ways": "y = y + y * 0.0",
}


@pytest.mark.parametrize(
    ("name", "length"), [(n, 200_000) for n in CHAINS] + [("operators", 10**6)]
)
def test_long_chains(name: str, length: int) -> None:
    """Built, run and freed, and built and freed without being run."""
    program = f"""
        import gc
        import rushlight as rl
        from rushlight import _core

        class Same(rl.autograd.Function):
            forward = staticmethod(lambda ctx, x: x.view_as(x))
            backward = staticmethod(lambda ctx, g: g)

        gc.disable()
        x = rl.ones(4, requires_grad=True)
        before = _core.allocator_statistics()["in_use"]
        for run in (True, False):
            y = x
            for _ in range({length}):
                {CHAINS[name]}
            if run:
                y.sum().backward()
                assert x.grad.tolist() == [1, 1, 1, 1]
                x.grad = None
            del y
            assert _core.allocator_statistics()["in_use"] == before
    """
    run_program(program, timeout=600)


def test_a_long_graph_of_second_order(without_gc: None) -> None:
    before = in_use()
    x = rl.ones(4, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y * 1.0 + x * 0
    (gradient,) = rl.autograd.grad((y * y).sum(), x, create_graph=True)
    (second,) = rl.autograd.grad(gradient.sum(), x)
    assert second.tolist() == [2, 2, 2, 2]
    del x, y, gradient, second
    gc.collect()  # with create_graph a node's gradient and its saved values know each other
    assert in_use() == before


# ---------------------------------------------------------------- passes inside passes


def nested(depth: int, leaf: Any) -> Any:
    """A tensor whose backward pass starts ``depth`` more, one inside the other."""
    y = leaf * 2

    @rl.enable_grad()
    def hook(gradient: Any) -> None:
        if depth:
            nested(depth - 1, leaf).sum().backward()

    y.register_hook(hook)
    return y


def test_backward_passes_nest() -> None:
    leaf = rl.ones(3, requires_grad=True)
    nested(50, leaf).sum().backward()
    assert leaf.grad.tolist() == [102.0] * 3


def test_endless_nesting_is_an_error() -> None:
    leaf = rl.ones(3, requires_grad=True)
    with pytest.raises(RecursionError):
        nested(10**9, leaf).sum().backward()
    leaf.grad = None
    (leaf * 2).sum().backward()
    assert leaf.grad.tolist() == [2.0] * 3


def test_a_pass_may_run_the_graph_it_is_part_of() -> None:
    leaf = rl.ones(3, requires_grad=True)
    y = leaf * 2
    z = y * y
    inner: list[Any] = []
    total = y.sum()
    z.register_hook(lambda g: inner.append(rl.autograd.grad(total, leaf, retain_graph=True)[0]))
    z.sum().backward()
    assert inner[0].tolist() == [2.0] * 3 and leaf.grad.tolist() == [8.0] * 3


def test_a_pass_that_frees_what_an_outer_one_needs_is_an_error() -> None:
    leaf = rl.ones(3, requires_grad=True)
    y = leaf.exp()
    total, z = y.sum(), y * y
    z.register_hook(lambda g: total.backward())
    with pytest.raises(RuntimeError, match="second time"):
        z.sum().backward()


def test_passes_nest_in_threads() -> None:
    leaf = rl.ones(100, requires_grad=True)
    run_threads(lambda number: [nested(5, leaf).sum().backward() for _ in range(20)] and None)
    assert (leaf.grad == 4 * 20 * 6 * 2).all()


def test_threads_with_graphs_of_their_own_and_shared_leaves() -> None:
    weights = [rl.ones(8, 8, requires_grad=True) for _ in range(3)]
    expected = rl.ones(8, 8)

    def step(scale: float) -> None:
        x = rl.ones(4, 8) * scale
        for weight in weights:
            x = (x @ weight) / 8
        x.sum().backward()

    step(1.0)
    single = [weight.grad.clone() for weight in weights]
    for weight in weights:
        weight.grad = None
    run_threads(lambda number: [step(number + 1.0) for _ in range(25)] and None)
    for weight, gradient in zip(weights, single, strict=True):
        assert rl.allclose(weight.grad, gradient * 25 * 10)
    assert expected.tolist() == rl.ones(8, 8).tolist()


# ---------------------------------------------------------------- what frees a graph


class Held(rl.autograd.Function):
    """Its context holds whatever ``keep`` gives it."""

    keep: Callable[[Any, Any], Any]

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        result = x * 2
        ctx.held = Held.keep(ctx, result)
        return result

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2


class Mark:
    """Something that may be referred to weakly."""


def graph_of(make: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Weak references to a tensor that nothing refers to any more, and to what its node holds."""
    x = rl.ones(1000, requires_grad=True)
    y, mark = make(x), Mark()
    y.grad_fn.metadata["mark"] = mark
    return weakref.ref(y), weakref.ref(mark)


ACYCLIC: dict[str, Callable[[Any], Any]] = {
    "operators": lambda x: (x.exp() * x).tanh(),
    "run": lambda x: (lambda y: (y.sum().backward(), y)[1])(x.exp()),
    "hook": lambda x: (lambda y: (y.register_hook(lambda g: g * 2), y)[1])(x * 2),
    "in place": lambda x: (x * 2).exp_().mul_(3),
    "view written": lambda x: (lambda y: (y[1:].mul_(2), y)[1])(x * 2),
}


@pytest.mark.parametrize("name", ACYCLIC)
def test_graphs_go_without_the_garbage_collector(name: str, without_gc: None) -> None:
    before = in_use()
    tensor, node = graph_of(ACYCLIC[name])
    assert tensor() is None and node() is None and in_use() == before


def with_context(keep: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    def make(x: Any) -> Any:
        Held.keep = staticmethod(keep)  # type: ignore[assignment]
        return Held.apply(x)

    return make


CYCLES: dict[str, Callable[[Any], Any]] = {
    "hook that knows its tensor": lambda x: (
        lambda y: (y.register_hook(lambda g: g * y.detach()), y)[1]
    )(x * 2),
    "hook of a node": lambda x: (
        lambda y: (y.grad_fn.register_hook(lambda gi, go: y.sum() and None), y)[1]
    )(x * 2),
    "prehook of a node": lambda x: (
        lambda y: (y.grad_fn.register_prehook(lambda go: y.sum() and None), y)[1]
    )(x * 2),
    "attribute of a tensor": lambda x: (lambda y: (setattr(y, "itself", y), y)[1])(x * 2),
    "context that knows itself": with_context(lambda ctx, result: ctx),
    "context that knows its output": with_context(lambda ctx, result: result),
    "metadata": lambda x: (lambda y: (y.grad_fn.metadata.update(y=y), y)[1])(x * 2),
    "leaf hook": lambda x: (x.register_hook(lambda g: x), x * 2)[1],
    "gradient of second order": lambda x: (lambda y: (y.sum().backward(create_graph=True), y)[1])(
        x * x
    ),
}


@pytest.mark.filterwarnings("ignore:Using backward:UserWarning")
@pytest.mark.parametrize("name", CYCLES)
def test_cycles_are_collected(name: str) -> None:
    gc.collect()
    before = in_use()
    tensor, node = graph_of(CYCLES[name])
    gc.collect()
    assert tensor() is None and node() is None and in_use() == before


def test_10000_training_steps_do_not_grow() -> None:
    """An MLP with Adam, without the garbage collector, in a process of its own."""
    program = """
        import gc
        from test_memory import resident
        import rushlight as rl
        from rushlight import _core

        rl.manual_seed(0)
        sizes = [(32, 16), (32,), (10, 32), (10,)]
        parameters = [(rl.randn(size) * 0.1).requires_grad_() for size in sizes]
        optimizer = rl.optim.Adam(parameters, lr=1e-3, weight_decay=1e-4)
        data, labels = rl.randn(64, 16), rl.randint(0, 10, (64,))
        F = rl.nn.functional

        def step(number):
            rows = slice(number % 48, number % 48 + 16)
            hidden = F.relu(F.linear(data[rows], *parameters[:2]))
            loss = F.cross_entropy(F.linear(hidden, *parameters[2:]), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return float(loss)

        gc.disable()
        first = step(0)
        for number in range(1000):
            step(number)
        memory = _core.allocator_statistics()["in_use"]
        objects, pages = len(gc.get_objects()), resident()
        for number in range(10_000):
            last = step(number)
        assert last < first / 2, (first, last)
        assert _core.allocator_statistics()["in_use"] == memory
        assert len(gc.get_objects()) <= objects + 20
        print(resident() - pages)
    """
    grown = int(run_program(program))
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):
        assert grown < 2 << 20
