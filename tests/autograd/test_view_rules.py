"""Views: which tensor they share a history with, and which of them may be written."""

from __future__ import annotations

import pytest


def leaf(torch, *values):
    return torch.tensor(list(values), requires_grad=True)


def test_views_know_their_base(torch):
    x = torch.ones(4)
    row = x.view(2, 2)[0]
    assert row._is_view() and row._base is x
    assert not x._is_view() and x._base is None
    assert not x.detach()._is_view() and not row.detach()._is_view()
    assert not x.data._is_view() and not x.clone()._is_view()
    counts = torch.ones(4, dtype=torch.int64)
    assert counts[:2]._base is counts


def test_a_view_of_what_requires_a_gradient_does(torch):
    x = torch.ones(3)
    view = x[:2]
    x.requires_grad_()
    assert view.requires_grad and view.is_leaf and view.grad_fn is None
    (view * 2).sum().backward()  # the view was made before: its gradient goes nowhere
    assert x.grad is None


def test_history_of_views_of_a_written_base(torch):
    a = leaf(torch, 1.0, 2.0, 3.0, 4.0)
    x = a * 1
    view = x.view(2, 2)
    row = view[0]
    row.mul_(3)
    assert x.grad_fn.name().endswith("CopySlices")
    assert view.grad_fn.name() == row.grad_fn.name() == "AsStridedBackward0"
    (view * view).sum().backward()
    assert a.grad.tolist() == [18.0, 36.0, 6.0, 8.0]


def test_writes_into_a_base_reach_its_views(torch):
    a = leaf(torch, 1.0, 2.0, 3.0)
    x = a * 1
    view = x[1:]
    x.mul_(a)
    (view * 10).sum().backward()
    assert a.grad.tolist() == [0.0, 40.0, 60.0]


def test_writes_into_a_view_make_base_and_other_views_depend(torch):
    b = leaf(torch, 5.0, 6.0)
    x = torch.zeros(3)
    view, other = x[:2], x[1:]
    view.add_(b)
    assert x.requires_grad and other.requires_grad and not x.is_leaf
    other.sum().backward()
    assert b.grad.tolist() == [0.0, 1.0]


def test_second_derivatives_through_written_views(torch):
    a = leaf(torch, 1.0, 2.0, 3.0)
    x = a * a
    x[:2].mul_(a[1:])
    (first,) = torch.autograd.grad((x * x).sum(), a, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), a)
    # (a0**2 a1)**2 + (a1**2 a2)**2 + a2**4
    assert first.tolist() == [16.0, 292.0, 204.0]
    assert second.tolist() == [64.0, 642.0, 332.0]


# ---------------------------------------------------------------- several views at once


def several(torch, x):
    return {
        "unbind": x.unbind(),
        "split": x.split(2),
        "chunk": x.chunk(2),
        "iteration": tuple(x),
    }


@pytest.mark.parametrize("name", ["unbind", "split", "chunk", "iteration"])
def test_views_that_came_together_cannot_be_written(torch, name):
    first = several(torch, leaf(torch, 1.0, 2.0, 3.0).clone())[name][0]
    with pytest.raises(RuntimeError, match="returns multiple views"):
        first.mul_(2)
    with pytest.raises(RuntimeError, match="returns multiple views"):
        first.view(-1).mul_(2)
    with torch.no_grad():
        first.mul_(2)


@pytest.mark.parametrize("name", ["unbind", "split", "chunk", "iteration"])
def test_views_that_came_together_end_with_a_write_to_their_base(torch, name):
    x = leaf(torch, 1.0, 2.0, 3.0).clone()
    first = several(torch, x)[name][0]
    x.mul_(2)
    with pytest.raises(
        RuntimeError, match="(base or another view of its base|that base itself) has been modified"
    ):
        first.sum()


def test_views_that_came_together_may_be_written_without_gradients(torch):
    x = torch.tensor([1.0, 2.0, 3.0])
    for row in x:
        row.mul_(2)
    x.split(2)[0].add_(1)
    assert x.tolist() == [3.0, 5.0, 6.0]
    with pytest.raises(RuntimeError, match="returns multiple views"):
        x.split(2)[0].mul_(leaf(torch, 1.0, 2.0))


def test_gradients_of_some_of_the_views(torch):
    x = leaf(torch, 1.0, 2.0, 3.0)
    first, _, last = x.unbind()
    assert first.grad_fn.name() == "UnbindBackward0" and last.output_nr == 2
    (first * 2 + last * 5).backward()
    assert x.grad.tolist() == [2.0, 0.0, 5.0]


def test_second_derivatives_of_unbound_views(torch):
    x = leaf(torch, 1.0, 2.0, 3.0)
    first, _, last = x.unbind()
    (gradient,) = torch.autograd.grad(first**3 * last, x, create_graph=True)
    (second,) = torch.autograd.grad(gradient.sum(), x)
    assert gradient.tolist() == [9.0, 0.0, 1.0] and second.tolist() == [21.0, 0.0, 3.0]


def test_gradients_of_unbound_columns(torch):
    x = torch.arange(6.0).view(2, 3).requires_grad_()
    columns = x.unbind(1)
    (columns[0] * 2 + columns[2] * 3).sum().backward()
    assert x.grad.tolist() == [[2.0, 0.0, 3.0]] * 2


# ---------------------------------------------------------------- views made without recording


def test_views_made_in_no_grad_cannot_be_written_outside(torch):
    x = leaf(torch, 1.0, 2.0, 3.0).clone()
    with torch.no_grad():
        view = x[:2]
    with pytest.raises(RuntimeError, match="no_grad mode and is being modified inplace"):
        view.mul_(2)
    with pytest.raises(RuntimeError, match="no_grad mode and is being modified inplace"):
        view.view(2, 1).mul_(2)
    with torch.no_grad():
        view.mul_(2)
    assert x.tolist() == [2.0, 4.0, 3.0]


def test_views_made_in_no_grad_end_with_a_write_to_their_base(torch):
    x = leaf(torch, 1.0, 2.0, 3.0).clone()
    with torch.no_grad():
        view = x[:2]
    x.mul_(2)
    assert view.requires_grad
    with pytest.raises(
        RuntimeError, match="(base or another view of its base|that base itself) has been modified"
    ):
        view.grad_fn  # noqa: B018


def test_a_refused_write_changes_nothing(torch):
    x = torch.ones(3)
    with torch.no_grad():
        view = x[:2]
    with pytest.raises(RuntimeError, match="no_grad mode"):
        view.mul_(leaf(torch, 5.0, 7.0))
    assert x.tolist() == [1.0, 1.0, 1.0] and x._version == 0 and not x.requires_grad


# ---------------------------------------------------------------- layouts changed in place


def test_transposing_in_place(torch):
    a = torch.ones(2, 3, requires_grad=True)
    x = a * torch.arange(6.0).view(2, 3)
    assert x.transpose_(0, 1) is x
    assert x.shape == (3, 2) and x._version == 1 and x.grad_fn.name() == "TransposeBackward1"
    (x * torch.arange(6.0).view(3, 2)).sum().backward()
    assert a.grad.tolist() == [[0.0, 2.0, 8.0], [3.0, 12.0, 25.0]]


def test_views_change_their_layout_in_place(torch):
    a = torch.ones(2, 3, requires_grad=True)
    x = a * 2
    view = x[:, :2]
    view.t_()
    assert view._base is x and view.grad_fn.name() == "TBackward1"
    view.mul_(torch.arange(4.0).view(2, 2))
    assert x.tolist() == [[0.0, 4.0, 2.0], [2.0, 6.0, 2.0]]
    (x * torch.arange(6.0).view(2, 3)).sum().backward()
    assert a.grad.tolist() == [[0.0, 4.0, 4.0], [6.0, 24.0, 10.0]]


def test_leaves_keep_their_layout(torch):
    x = torch.ones(1, 2, requires_grad=True)
    for change in (x.t_, x.squeeze_, lambda: x.unsqueeze_(0), lambda: x.transpose_(0, 1)):
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
            change()
    with torch.no_grad():
        x.squeeze_()
    assert x.shape == (2,) and x.requires_grad and x.is_leaf


def test_a_changed_layout_is_a_change_of_what_was_saved(torch):
    x = torch.ones(1, 3, requires_grad=True)
    y = x * x
    with torch.no_grad():
        x.squeeze_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_names_of_views(torch):
    x = torch.ones(2, 3, requires_grad=True)
    names = {
        "TBackward0": x.t(),
        "TransposeBackward0": x.transpose(0, 1),
        "PermuteBackward0": x.permute(1, 0),
        "SelectBackward0": x[0],
        "SliceBackward0": x[:1],
        "ViewBackward0": x.view(6),
        "UnsqueezeBackward0": x.unsqueeze(0),
        "ExpandBackward0": x.expand(2, 2, 3),
    }
    assert {name: view.grad_fn.name() for name, view in names.items()} == {n: n for n in names}


def test_arrays_of_what_requires_a_gradient(torch):
    x = leaf(torch, 1.0, 2.0)
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        x.numpy()
    with torch.no_grad():
        assert x.numpy().tolist() == [1.0, 2.0]
        assert x.view(2, 1).numpy().tolist() == [[1.0], [2.0]]
