"""Backward passes in several threads: PyTorch's note on multithreaded autograd."""

from __future__ import annotations

import threading

import pytest


def in_threads(count, function):
    """Run function(i) in threads; raises what one of them raised."""
    errors = []

    def call(i):
        try:
            function(i)
        except BaseException as error:  # handed to the test
            errors.append(error)

    threads = [threading.Thread(target=call, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_each_thread_trains_with_its_own_graph(torch):
    x = torch.ones(5, 5, requires_grad=True)

    def step(i):
        y = (x + 3) * (x + 4) * 0.5
        y.sum().backward()

    in_threads(8, step)
    assert torch.allclose(x.grad, torch.full((5, 5), 8 * 4.5))


def test_grad_does_not_accumulate(torch):
    x = torch.ones(5, requires_grad=True)
    results = [None] * 8

    def step(i):
        (results[i],) = torch.autograd.grad((x * (i + 1)).sum(), x)

    in_threads(8, step)
    assert [result[0].item() for result in results] == [i + 1.0 for i in range(8)]
    assert x.grad is None


def test_a_shared_part_must_be_retained(torch):
    x = torch.ones(5, requires_grad=True)
    shared = x.exp().exp()
    done, refused = [], []

    def step(i):
        try:
            (shared * i).sum().backward()
            done.append(i)
        except RuntimeError as error:
            refused.append(str(error))

    step(0)
    in_threads(4, step)
    assert done == [0] and all("second time" in message for message in refused)


def test_a_retained_part_may_be_shared(torch):
    x = torch.ones(5, requires_grad=True)
    shared = x.exp()

    def step(i):
        (shared * (i + 1)).sum().backward(retain_graph=True)

    in_threads(6, step)
    assert torch.allclose(x.grad, 21 * x.detach().exp())


def test_hooks_run_in_the_thread_of_the_pass(torch):
    x = torch.ones(2, requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append(threading.get_ident()))
    idents = []

    def step(i):
        idents.append(threading.get_ident())
        (x * 2).sum().backward()

    in_threads(3, step)
    assert sorted(seen) == sorted(idents)


def test_threads_have_their_own_saved_tensor_hooks(torch):
    seen = []

    def step(i):
        (torch.ones(1, requires_grad=True).exp()).backward()

    with torch.autograd.graph.saved_tensors_hooks(lambda t: seen.append(1) or t, lambda t: t):
        in_threads(2, step)
    assert seen == []


def test_errors_of_a_pass_are_of_its_thread(torch):
    x = torch.ones(2, requires_grad=True)

    def fail(gradient):
        raise KeyError("in a hook")

    y = x * 2
    y.register_hook(fail)
    with pytest.raises(KeyError, match="in a hook"):
        in_threads(1, lambda i: y.sum().backward())
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_passes_of_several_threads_run_at_the_same_time(torch):
    """Each waits in the middle of its pass until the other has come as far."""
    meeting = threading.Barrier(2, timeout=60)

    def train(i):
        x = torch.ones(3, requires_grad=True)
        y = x * 2
        y.register_hook(lambda gradient: (meeting.wait(), None)[1])
        (y * y).sum().backward()
        assert x.grad.tolist() == [8.0] * 3

    in_threads(2, train)


def test_functions_of_one_graph_in_several_threads(torch):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return 2 * x * gradient

    x = torch.ones(100, requires_grad=True)
    shared = Square.apply(x)

    def differentiate(i):
        (gradient,) = torch.autograd.grad((shared * i).sum(), x, retain_graph=True)
        assert gradient.tolist() == [2.0 * i] * 100

    in_threads(8, differentiate)
    assert x.grad is None
