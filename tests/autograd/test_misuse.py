"""What nobody should do with nodes and hooks is an error, not a crash."""

from __future__ import annotations

import pytest

import rushlight as torch
from rushlight import _core
from rushlight.autograd.graph import GradientEdge, saved_tensors_hooks


def leaf(*values: float):
    return torch.tensor(list(values), requires_grad=True)


class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x + 0

    @staticmethod
    def backward(ctx, gradient):
        return gradient


def test_nodes_check_what_they_are_called_with():
    x = leaf(1.0, 2.0, 3.0)
    for view in (x.view(3, 1), x.expand(2, 3), x[1:], x.as_strided((2,), (1,))):
        with pytest.raises(RuntimeError, match="but the output it belongs to has shape"):
            view.grad_fn(torch.ones(7))
        with pytest.raises(TypeError, match="expected 1 gradients"):
            view.grad_fn()
        assert view.grad_fn(None) is None
    with pytest.raises(TypeError, match="expected Variable argument 0, but got int"):
        x.exp().grad_fn(3)


def test_nodes_that_no_function_made():
    node = Same._backward_cls()
    assert node.saved_tensors == () and node.next_functions == ()
    with pytest.raises(IndexError):
        node._attach(leaf(1.0), 0, False, -1)
    with pytest.raises(TypeError):
        node._connect(3)
    with pytest.raises(TypeError):
        node._save(3)
    assert node._zeros(9) is None
    _core.FunctionNode()


def test_edges_must_exist():
    x = leaf(1.0)
    with pytest.raises(TypeError):
        torch.autograd.grad(x.exp(), GradientEdge(3, 0))
    with pytest.raises(TypeError):
        torch.autograd.grad(GradientEdge(x.exp().grad_fn, 9), x)


def test_unpack_hooks_may_free_the_graph():
    runs = []

    def unpack(tensor):
        if not runs:
            runs.append(1)
            with torch.enable_grad():
                y.backward()
        return tensor

    x = leaf(1.0)
    with saved_tensors_hooks(lambda t: t, unpack):
        y = x.exp().sin().sum()
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()


def test_pack_hooks_may_run_the_graph():
    def pack(tensor):
        if tensor.grad_fn is not None:
            with pytest.raises((RuntimeError, TypeError)):
                tensor.backward()
        return tensor

    x = leaf(1.0)
    with saved_tensors_hooks(pack, lambda t: t):
        y = x.exp()
    y.backward()
    assert torch.allclose(x.grad, x.detach().exp())


@pytest.mark.parametrize("size", [1, 100_000])
def test_pack_hooks_may_not_change_the_layout_that_a_write_was_planned_for(size):
    def pack(tensor):
        y.data = torch.zeros(size)
        return tensor

    y = torch.ones(50, requires_grad=True) * 1
    with (
        saved_tensors_hooks(pack, lambda t: t),
        pytest.raises(RuntimeError, match="mul_: tensor 0 was given another layout"),
    ):
        y.mul_(y)


def test_pack_hooks_may_give_what_is_written_other_memory():
    def pack(tensor):
        if tensor is y:
            y.data = torch.full((50,), 3.0)
        return tensor

    y = torch.ones(50, requires_grad=True) * 1
    with saved_tensors_hooks(pack, lambda t: t):
        y.mul_(y)
    assert (y == 9).all()


def test_hooks_are_popped_once():
    with pytest.raises(RuntimeError, match="no hooks for saved tensors"):
        _core.pop_saved_hooks()
