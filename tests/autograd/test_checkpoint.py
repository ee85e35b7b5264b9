"""Checkpointing: one test for each behaviour."""

from __future__ import annotations

import warnings

import pytest


@pytest.fixture
def checkpoint(torch):
    return torch.utils.checkpoint.checkpoint


def leaf(torch, *values):
    return torch.tensor(list(values), requires_grad=True)


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_gradients_are_those_without(torch, checkpoint, use_reentrant):
    calls = []

    def function(x, y):
        calls.append(torch.is_grad_enabled())
        return (x * y).exp().sin()

    x, y = leaf(torch, 0.1, 0.2), leaf(torch, 0.3, 0.4)
    function(x, y).sum().backward()
    expected = x.grad, y.grad
    x.grad = y.grad = None
    calls.clear()
    checkpoint(function, x, y, use_reentrant=use_reentrant).sum().backward()
    assert torch.equal(x.grad, expected[0]) and torch.equal(y.grad, expected[1])
    assert calls == [not use_reentrant, True]


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_random_numbers_are_the_same(torch, checkpoint, use_reentrant):
    masks = []

    def function(x):
        mask = torch.rand(4)
        masks.append(mask.tolist())
        return x * mask

    x = leaf(torch, 1.0, 2.0, 3.0, 4.0)
    torch.manual_seed(3)
    y = checkpoint(function, x, use_reentrant=use_reentrant)
    state = torch.get_rng_state()
    y.sum().backward()
    assert masks[0] == masks[1] == x.grad.tolist()
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_random_numbers_may_go_on(torch, checkpoint, use_reentrant):
    masks = []

    def function(x):
        masks.append(torch.rand(4).tolist())
        return x.exp()

    x = leaf(torch, 1.0)
    checkpoint(function, x, use_reentrant=use_reentrant, preserve_rng_state=False).backward()
    assert masks[0] != masks[1]


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_other_arguments_and_outputs(torch, checkpoint, use_reentrant):
    def function(x, n, text):
        return x * n, text, x.exp()

    x = leaf(torch, 0.0)
    first, text, second = checkpoint(function, x, 3, "a", use_reentrant=use_reentrant)
    assert text == "a"
    (first + second).backward()
    assert x.grad.tolist() == [4.0]


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_nested(torch, checkpoint, use_reentrant):
    def inner(x):
        return x.exp().sin()

    def outer(x):
        return checkpoint(inner, x.cos(), use_reentrant=use_reentrant).exp()

    x = leaf(torch, 0.5, 0.7)
    outer(x).sum().backward()
    expected = x.grad
    x.grad = None
    checkpoint(outer, x, use_reentrant=use_reentrant).sum().backward()
    assert torch.allclose(x.grad, expected)


def test_closures_get_gradients(torch, checkpoint):
    weight, x = leaf(torch, 2.0), leaf(torch, 3.0)
    checkpoint(lambda x: (x * weight).exp(), x, use_reentrant=False).backward()
    assert torch.allclose(weight.grad, 3 * (x * weight).exp())


def test_no_input_needs_a_gradient(torch, checkpoint):
    weight = leaf(torch, 2.0)
    checkpoint(lambda x: x * weight, torch.ones(1), use_reentrant=False).backward()
    assert weight.grad.tolist() == [1.0]
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        y = checkpoint(lambda x: x * weight, torch.ones(1), use_reentrant=True)
    assert not y.requires_grad


def test_keyword_arguments(torch, checkpoint):
    x = leaf(torch, 1.0)
    checkpoint(lambda x, *, k: (x * k).exp(), x, use_reentrant=False, k=2.0).backward()
    assert x.grad.item() == pytest.approx(2 * 7.389056, rel=1e-5)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: k"):
        checkpoint(lambda x, *, k: x, x, use_reentrant=True, k=1)


def test_grad_works_with_hooks_only(torch, checkpoint):
    x = leaf(torch, 1.0)
    (gradient,) = torch.autograd.grad(checkpoint(torch.exp, x, use_reentrant=False), x)
    assert torch.allclose(gradient, x.exp())
    y = checkpoint(torch.exp, x, use_reentrant=True)
    with pytest.raises(RuntimeError, match="is incompatible with .grad()"):
        torch.autograd.grad(y, x)


def test_double_backward(torch, checkpoint):
    x = leaf(torch, 1.0)
    y = checkpoint(lambda x: x.exp() * x.sin(), x, use_reentrant=False)
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    assert torch.allclose(second, 2 * x.exp() * x.cos())


def test_backward_twice_computes_twice(torch, checkpoint):
    calls = []

    def function(x):
        calls.append(1)
        return x.exp()

    x = leaf(torch, 0.0)
    y = checkpoint(function, x, use_reentrant=False)
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [2.0]
    assert len(calls) == 3


def test_early_stop(torch, checkpoint):
    calls = []

    def function(x):
        y = x.exp()
        calls.append("computed")
        return y + 1

    x = leaf(torch, 0.0)
    checkpoint(function, x, use_reentrant=False).backward()
    assert calls == ["computed"]
    checkpoint(function, x, use_reentrant=False, early_stop=False).backward()
    with torch.utils.checkpoint.set_checkpoint_early_stop(False):
        y = checkpoint(function, x, use_reentrant=False)
    y.backward()
    assert calls == ["computed"] * 5


def test_nothing_is_kept(torch, checkpoint):
    kept = []

    def function(x):
        y = x.exp()
        kept.append(y.data_ptr())
        return y.sin().sum()

    x = torch.ones(1000, requires_grad=True)
    y = checkpoint(function, x, use_reentrant=False)
    y.backward()
    assert torch.allclose(x.grad, x.detach().exp() * x.detach().exp().cos())


def test_different_number_of_tensors(torch, checkpoint):
    calls = []

    def function(x):
        calls.append(1)
        return x.exp().sin() if len(calls) == 1 else x.exp()

    y = checkpoint(function, leaf(torch, 1.0), use_reentrant=False)
    with pytest.raises(
        torch.utils.checkpoint.CheckpointError, match="A different number of tensors was saved"
    ):
        y.backward()


def test_different_shapes(torch, checkpoint):
    calls = []

    def function(x):
        calls.append(1)
        return (x[:1] if len(calls) > 1 else x).exp()

    def run(**kwargs):
        calls.clear()
        y = checkpoint(function, leaf(torch, 1.0, 1.0), use_reentrant=False, **kwargs)
        y.sum().backward()

    with pytest.raises(torch.utils.checkpoint.CheckpointError, match="different metadata"):
        run()
    with pytest.raises(ValueError, match="determinism_check"):
        run(determinism_check="other")


def test_contexts(torch, checkpoint):
    events = []

    class Note:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            events.append(self.name)

        def __exit__(self, *exception):
            events.append(f"end of {self.name}")

    x = leaf(torch, 0.0)
    y = checkpoint(
        torch.exp, x, use_reentrant=False, context_fn=lambda: (Note("first"), Note("second"))
    )
    y.backward()
    assert events == ["first", "end of first", "second", "end of second"]
    with pytest.raises(ValueError, match="only supported when use_reentrant=False"):
        checkpoint(torch.exp, x, use_reentrant=True, debug=True)


def test_errors_come_out(torch, checkpoint):
    class OwnError(Exception):
        pass

    calls = []

    def function(x):
        calls.append(1)
        if len(calls) > 1:
            raise OwnError
        return x.exp()

    for use_reentrant in (True, False):
        calls.clear()
        y = checkpoint(function, leaf(torch, 1.0), use_reentrant=use_reentrant)
        with pytest.raises(OwnError):
            y.backward()


def test_changed_arguments_are_noticed(torch, checkpoint):
    other = torch.ones(1)
    for use_reentrant in (True, False):
        y = checkpoint(torch.mul, leaf(torch, 1.0), other, use_reentrant=use_reentrant)
        other.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()


def test_without_grad_mode(torch, checkpoint):
    with torch.no_grad():
        y = checkpoint(torch.exp, leaf(torch, 1.0), use_reentrant=False)
    assert not y.requires_grad


def test_the_variant_should_be_stated(torch, checkpoint):
    with pytest.warns(UserWarning, match="the use_reentrant parameter should be passed"):
        y = checkpoint(torch.exp, leaf(torch, 1.0))
    assert "CheckpointFunction" in y.grad_fn.name()


@pytest.mark.parametrize("use_reentrant", [True, False])
@pytest.mark.parametrize("segments", [1, 2, 3])
def test_sequences(torch, use_reentrant, segments):
    calls = []

    def step(x):
        calls.append(1)
        return x.sin()

    x = leaf(torch, 0.5)
    y = x
    for _ in range(5):
        y = y.sin()
    (expected,) = torch.autograd.grad(y, x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = torch.utils.checkpoint.checkpoint_sequential(
            [step] * 5, segments, x, use_reentrant=use_reentrant
        )
    y.backward()
    assert torch.allclose(x.grad, expected)
    assert len(calls) > 5 or segments == 1


def test_arguments_are_kept_by_hooks_for_saved_tensors(torch, checkpoint):
    packed = []
    x = torch.ones(3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        y = checkpoint(lambda x: x.sin() * x, x, use_reentrant=False)
    assert any(each.data_ptr() == x.data_ptr() for each in packed)
    x.detach_()  # the argument is made again as it was
    (y * 1).sum().backward()
    assert y.requires_grad


def test_argument_that_was_written_is_an_error(torch, checkpoint):
    x = torch.ones(3, requires_grad=True) * 1
    y = checkpoint(lambda x: x.sin(), x, use_reentrant=False)
    x.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
