"""What random programs over autograd found: cases that differed from PyTorch's behaviour."""

from __future__ import annotations

import pytest


def test_equal_empty_pieces_each_have_a_gradient(torch):
    x = torch.zeros(3, 2, requires_grad=True)
    pieces = (x * 1).split((0, 3, 0))
    assert all(piece.requires_grad for piece in pieces)
    pieces[2].sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0]] * 3


def test_leaf_that_needs_no_gradient_any_more_gets_none(torch):
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).sum()
    x.requires_grad_(False)
    y.backward()
    assert x.grad is None


def test_node_that_saved_only_numbers_runs_again(torch):
    x = torch.ones(2, requires_grad=True)
    y = torch.stack([x, x]).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [4.0, 4.0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_materialized_gradients_of_a_graph_need_gradients(torch, create_graph):
    x, y = (torch.ones(2, requires_grad=True) for _ in range(2))
    _, zeros = torch.autograd.grad(
        (x * x).sum(), [x, y], create_graph=create_graph, materialize_grads=True
    )
    assert zeros.tolist() == [0.0, 0.0]
    assert zeros.requires_grad == create_graph


def test_places_of_elements_of_a_tensor_that_needs_gradients(torch):
    x = torch.tensor([0.0, 2.0, 3.0], requires_grad=True)
    assert x.nonzero().tolist() == [[1], [2]]
    assert not torch.argwhere(x).requires_grad


def test_gradient_by_a_factor_that_was_overwritten_is_constant(torch):
    x = torch.ones(2, requires_grad=True)
    factor = torch.tensor([2.0, 3.0])
    factor.mul_(x)
    (gradient,) = torch.autograd.grad(factor.sum(), x, create_graph=True)
    assert gradient.tolist() == [2.0, 3.0]
    assert not gradient.requires_grad


def test_node_hooks_see_the_gradients_of_outputs_only(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.mul_(x)
    seen = []
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(len(outputs)))
    y.grad_fn.register_prehook(lambda outputs: seen.append(len(outputs)))
    y.sum().backward()
    assert seen == [1, 1]


def test_gradient_is_retained_by_the_only_root_of_a_limited_pass(torch):
    x, y = (torch.ones(2, requires_grad=True) for _ in range(2))
    z = x * 2
    z.retain_grad()
    z.backward(torch.ones(2), inputs=[y])
    assert z.grad.tolist() == [1.0, 1.0]
    assert x.grad is None


def test_hook_after_accumulation_runs_without_a_gradient(torch):
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return None

    x = torch.ones(2, requires_grad=True)
    seen = []
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad))
    Nothing.apply(x).sum().backward()
    assert seen == [None]


@pytest.mark.parametrize("required", [False, True])
def test_flag_of_a_view_whose_base_was_written_since(torch, required):
    base = torch.ones(3, requires_grad=True).sum()
    with torch.no_grad():
        view, other = base.reshape(-1), base.reshape(-1)
        base.sub_(base)
    view.requires_grad_(required)
    other.requires_grad = required
    assert view.requires_grad and other.requires_grad
