"""`allow_mutation_on_saved_tensors`: what was saved is seen as it was."""

from __future__ import annotations

import pytest


def leaf(torch, *values):
    return torch.tensor(list(values), requires_grad=True)


def allowed(torch):
    return torch.autograd.graph.allow_mutation_on_saved_tensors()


def test_a_saved_input(torch):
    a = leaf(torch, 1.0, 2.0)
    with allowed(torch):
        x = a.clone()
        y = x * x
        x.zero_()
        y.sum().backward()
    assert a.grad.tolist() == [2.0, 4.0]


def test_a_saved_output(torch):
    a = leaf(torch, 0.0)
    with allowed(torch):
        y = a.exp()
        z = y * 1
        y.zero_()
        z.sum().backward()
    assert a.grad.tolist() == [1.0]


@pytest.mark.parametrize("written", ["base", "view", "item", "detached"])
def test_writes_through_other_names(torch, written):
    a = leaf(torch, 1.0, 2.0, 3.0)
    with allowed(torch):
        x = a.clone()
        view = x[:2]
        y = view * view if written == "base" else x * x
        if written == "item":
            x[0] = 0
        else:
            {"base": x, "view": view, "detached": x.detach()}[written].mul_(0)
        y.sum().backward()
    assert a.grad.tolist() == ([2.0, 4.0, 0.0] if written == "base" else [2.0, 4.0, 6.0])


def test_each_save_has_its_own_time(torch):
    a = leaf(torch, 1.0, 2.0)
    with allowed(torch):
        x = a.clone()
        first = (x * x).sum()
        x.mul_(2)
        second = (x * x).sum()
        x.mul_(3)
        (first + second).backward()
    assert a.grad.tolist() == [2.0 + 8.0, 4.0 + 16.0]


def test_out_of_a_saved_constant(torch):
    a, b = leaf(torch, 1.0, 2.0), torch.full((2,), 3.0)
    with allowed(torch):
        y = a * b
        torch.add(b, 1, out=b)
        y.sum().backward()
    assert a.grad.tolist() == [3.0, 3.0]


def test_second_derivatives(torch):
    a = leaf(torch, 1.0, 2.0)
    with allowed(torch):
        x = a.clone()
        y = x**3
        x.zero_()
        (first,) = torch.autograd.grad(y.sum(), a, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), a)
    assert first.tolist() == [3.0, 12.0] and second.tolist() == [6.0, 12.0]


def test_clones_are_freed_with_the_graph(torch):
    with allowed(torch) as context:
        x = leaf(torch, 1.0).clone()
        y = x.sin()
        x.zero_()
        assert len(context.cloned) == 1
        del y
        assert len(context.cloned) == 0


def test_what_is_not_written_is_not_cloned(torch):
    with allowed(torch) as context:
        x = leaf(torch, 1.0).clone()
        y = x.sin()
        torch.ones(3).add_(1)
        y.backward()
        assert len(context.cloned) == 0


def test_the_backward_pass_belongs_inside(torch):
    with allowed(torch):
        y = leaf(torch, 1.0).clone().sin()
    with pytest.raises(AssertionError, match="outside of the 'allow_mutation_on_saved_tensors'"):
        y.sum().backward()


def test_contexts_do_not_nest(torch):
    with allowed(torch):
        with pytest.raises(RuntimeError, match="cannot be nested"), allowed(torch):
            pass


def test_afterwards_writes_are_noticed_again(torch):
    with allowed(torch):
        pass
    x = leaf(torch, 1.0).clone()
    y = x.sin()
    x.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
