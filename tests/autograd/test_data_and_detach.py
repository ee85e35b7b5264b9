"""`detach`, `detach_` and `data`: the same elements with another history and other versions."""

from __future__ import annotations

import pytest


def leaf(torch, *values):
    return torch.tensor(list(values), requires_grad=True)


def test_detached_tensors_share_elements_and_versions(torch):
    x = leaf(torch, 1.0, 2.0)
    alias = x.detach()
    alias.add_(1)
    assert x.tolist() == [2.0, 3.0] and x._version == alias._version == 1
    assert not alias.requires_grad and alias.is_leaf and alias.data_ptr() == x.data_ptr()


def test_detach_in_place(torch):
    x = leaf(torch, 1.0).clone()
    view = x.view(1)
    assert x.detach_() is x and x.is_leaf and not x.requires_grad and x.grad_fn is None
    assert view.requires_grad  # its own history holds
    y = leaf(torch, 1.0)
    torch.detach_(y)
    assert not y.requires_grad


def test_views_cannot_be_detached_in_place(torch):
    x = leaf(torch, 1.0, 2.0).clone()
    for view in (x[:1], torch.ones(2)[:1], x.unbind()[0]):
        with pytest.raises(RuntimeError, match="Can't detach views in-place"):
            view.detach_()


def test_data_counts_its_own_versions(torch):
    x = torch.ones(3)
    x.add_(1)
    alias = x.data
    assert alias._version == 0
    alias.add_(1)
    alias[0] = 7
    assert alias._version == 2 and x._version == 1
    assert x.tolist() == [7.0, 3.0, 3.0] and alias.data_ptr() == x.data_ptr()
    assert not alias._is_view() and alias.is_leaf


def test_writes_through_data_are_not_noticed(torch):
    x = leaf(torch, 1.0, 2.0)
    y = x * x
    x.data.mul_(10)
    y.sum().backward()
    assert x.grad.tolist() == [20.0, 40.0]


def test_data_overlaps_its_tensor(torch):
    x = torch.arange(4.0)
    x.add_(x.data)
    assert x.tolist() == [0.0, 2.0, 4.0, 6.0]
    with pytest.raises(RuntimeError, match="single memory location"):
        x[1:].add_(x.data[:-1])


def test_data_keeps_the_memory(torch):
    alias = torch.ones(1000).data
    torch.zeros(1000)
    assert alias.sum().item() == 1000.0


def test_assigned_data(torch):
    x = leaf(torch, 1.0, 2.0)
    other = torch.tensor([5.0, 7.0])
    other.add_(0)
    x.data = other
    assert x.requires_grad and x.tolist() == [5.0, 7.0] and x.data_ptr() == other.data_ptr()
    assert x._version == 0 and other._version == 1
    other.add_(1)
    assert x.tolist() == [6.0, 8.0] and x._version == 0
    (x * x).sum().backward()
    assert x.grad.tolist() == [12.0, 16.0]


def test_assigned_data_is_no_write(torch):
    x = leaf(torch, 1.0, 2.0)
    y = x * x
    x.data = torch.tensor([10.0, 20.0])
    y.sum().backward()
    assert x.grad.tolist() == [20.0, 40.0]


def test_assigned_data_may_have_another_form(torch):
    x = leaf(torch, 1.0, 2.0)
    x.data = torch.zeros(3, dtype=torch.float64)
    assert x.shape == (3,) and x.dtype == torch.float64 and x.requires_grad
    (x * 2).sum().backward()
    assert x.grad.dtype == torch.float64 and x.grad.tolist() == [2.0] * 3


def test_what_data_cannot_be(torch):
    x = leaf(torch, 1.0, 2.0)
    with pytest.raises(RuntimeError, match="floating point or complex|same|incompatible"):
        x.data = torch.zeros(2, dtype=torch.int64)
    with pytest.raises(TypeError, match="Variable data has to be a tensor"):
        x.data = [1.0, 2.0]
    with pytest.raises(RuntimeError, match="Deleting tensor data"):
        del x.data


def test_old_style_updates(torch):
    w = leaf(torch, 1.0, 2.0)
    for _ in range(3):
        (w * w).sum().backward()
        w.data = w.data - 0.25 * w.grad
        w.grad.zero_()
        w.data.mul_(2)
    assert w.tolist() == [1.0, 2.0] and w._version == 0


# ---------------------------------------------------------------- gradients of another dtype


def test_grad_dtype(torch):
    x = leaf(torch, 1.0, 2.0)
    assert x.grad_dtype == torch.float32
    x.grad_dtype = torch.float64
    (x * 2).sum().backward()
    (x * 2).sum().backward()
    assert x.grad.dtype == torch.float64 and x.grad.tolist() == [4.0, 4.0]
    with pytest.raises(RuntimeError, match="already a gradient with dtype"):
        x.grad_dtype = torch.float32
    x.grad = None
    x.grad_dtype = None
    x.grad = torch.ones(2, dtype=torch.float16)
    with pytest.raises(RuntimeError, match="leaf"):
        (x * 2).grad_dtype  # noqa: B018


def test_assigned_gradients(torch):
    x = leaf(torch, 1.0, 2.0)
    for bad, error, message in (
        (torch.ones(3), RuntimeError, "size"),
        (torch.ones(2, dtype=torch.float64), RuntimeError, "dtype"),
        (x, RuntimeError, "own grad"),
        (3.0, TypeError, "Tensor or None"),
    ):
        with pytest.raises(error, match=message):
            x.grad = bad
    x.grad = torch.ones(2)
    x.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    del x.grad
    assert x.grad is None


def test_other_memory_counts_as_a_write(torch):
    x, other = torch.ones(3), torch.zeros(2)
    x.set_(other)
    assert x.shape == (2,) and x._version == 1 and other._version == 0
    assert x.data_ptr() == other.data_ptr()
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        leaf(torch, 1.0).set_(other)
