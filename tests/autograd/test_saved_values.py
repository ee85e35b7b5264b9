"""What nodes show of the values that they saved, and hooks for single ones."""

from __future__ import annotations

import gc
import weakref

import pytest


def leaf(torch):
    return torch.tensor([1.0, 2.0, 3.0], requires_grad=True)


def times(factor):
    return lambda tensor: tensor.detach() * factor


def itself(tensor):
    return tensor


def test_a_saved_input_is_the_tensor_itself(torch):
    x, w = leaf(torch), leaf(torch)
    assert x.pow(2).grad_fn._saved_self is x
    product = x * w
    assert product.grad_fn._saved_self is x and product.grad_fn._saved_other is w


def test_a_saved_result_is_another_tensor_with_the_same_content_and_history(torch):
    y = leaf(torch).exp()
    saved = y.grad_fn._saved_result
    assert saved is not y and saved.equal(y) and saved.data_ptr() == y.data_ptr()
    assert saved.grad_fn is y.grad_fn


def test_names_of_what_was_not_saved_are_no_attributes(torch):
    node = (leaf(torch) + 1).grad_fn
    for name in ("_saved_self", "_raw_saved_self", "_saved_", "_saved"):
        assert not hasattr(node, name)


def test_saved_values_are_checked_and_freed(torch):
    x = leaf(torch)
    middle = x * 1
    node = middle.sin().grad_fn
    middle.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        _ = node._saved_self
    y = x.exp()
    y.sum().backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        _ = y.grad_fn._saved_result


def test_hooks_for_one_saved_value(torch):
    x, w = leaf(torch), torch.ones(3, requires_grad=True)
    y = x * w
    y.grad_fn._raw_saved_other.register_hooks(times(5), itself)
    y.sum().backward()
    assert x.grad.tolist() == [5.0] * 3
    assert w.grad.tolist() == [1.0, 2.0, 3.0]


def test_hooks_for_a_saved_result_may_keep_it_as_anything(torch):
    x = leaf(torch)
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t.tolist(), torch.tensor)
    y.sum().backward()
    assert torch.allclose(x.grad, y.detach())


def test_hooks_keep_second_derivatives(torch):
    x = leaf(torch)
    y = x.sin()
    y.grad_fn._raw_saved_self.register_hooks(itself, itself)
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert torch.allclose(second, -y.detach())


def test_only_one_pair_of_hooks(torch):
    product = leaf(torch) * leaf(torch)
    raw = product.grad_fn._raw_saved_self
    raw.register_hooks(itself, itself)
    with pytest.raises(RuntimeError, match="only one pair of hooks"):
        raw.register_hooks(itself, itself)
    with torch.autograd.graph.saved_tensors_hooks(itself, itself):
        product = leaf(torch) * leaf(torch)
    with pytest.raises(RuntimeError, match="hooks have already been set"):
        product.grad_fn._raw_saved_self.register_hooks(itself, itself)


def test_hooks_must_come_in_time_and_leave_the_tensor_alone(torch):
    y = leaf(torch).exp()
    with pytest.raises(TypeError):
        y.grad_fn._raw_saved_result.register_hooks(1, 2)
    with pytest.raises(RuntimeError, match="modifying its input in place"):
        y.grad_fn._raw_saved_result.register_hooks(lambda t: t.mul_(2), itself)
    y = leaf(torch).exp()
    raw = y.grad_fn._raw_saved_result
    y.sum().backward()
    with pytest.raises(RuntimeError, match="after it has been freed"):
        raw.register_hooks(itself, itself)


def test_handles_outlive_the_graph_and_hooks_may_run_it():
    import rushlight as torch  # PyTorch crashes here

    raw = leaf(torch).exp().grad_fn._raw_saved_result
    raw.register_hooks(itself, itself)
    x = leaf(torch)
    y = x.exp()

    def pack(tensor):
        try:
            y.sum().backward()
        except RuntimeError:
            return "failed"
        return "passed"

    y.grad_fn._raw_saved_result.register_hooks(pack, lambda packed: torch.ones(3))
    with pytest.raises((RuntimeError, TypeError)):
        y.sum().backward()
        y.sum().backward()


def test_saved_tensors_of_a_function(torch):
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(x, factor, None)
            return x * factor

        @staticmethod
        def backward(ctx, gradient):
            _, factor, _ = ctx.saved_tensors
            return gradient * factor, None

    x = leaf(torch)
    y = Scale.apply(x, torch.tensor(2.0))
    raw = y.grad_fn._raw_saved_tensors
    assert len(raw) == 3
    raw[1].register_hooks(times(4), itself)
    with pytest.raises(RuntimeError, match="value None"):
        raw[2].register_hooks(itself, itself)
    y.sum().backward()
    assert x.grad.tolist() == [8.0] * 3
    with pytest.raises(RuntimeError, match="freed"):
        _ = y.grad_fn._raw_saved_tensors


def edges(node):
    return [next_node and type(next_node).__name__ for next_node, _ in node.next_functions]


def test_next_functions_of_a_write_into_a_view(torch):
    w = leaf(torch)
    base = torch.ones(4, requires_grad=True) * 1
    base[:3].mul_(w)
    assert edges(base.grad_fn) == ["MulBackward0", "AccumulateGrad"]
    base = torch.ones(4, requires_grad=True) * 1
    base[:3].mul_(torch.ones(3))
    assert edges(base.grad_fn) == ["MulBackward0", None]
    base = torch.ones(4)
    base[:3].mul_(w)
    assert edges(base.grad_fn) == [None, "AccumulateGrad"]
    base = torch.ones(4, requires_grad=True) * 1
    base[:3].zero_()
    assert edges(base.grad_fn) == ["MulBackward0"]


def test_without_hooks_the_tensor_is_kept_and_with_them_its_memory(torch):
    x = leaf(torch)
    y = x * x
    assert y.grad_fn._saved_self is x and y.grad_fn._saved_other is x
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), itself):
        y = x * x
    for saved in (y.grad_fn._saved_self, y.grad_fn._saved_other):
        assert saved is not x and saved.data_ptr() == x.data_ptr()


def test_packed_at_once_and_unpacked_whenever_it_is_read(torch):
    x, calls = leaf(torch), []
    y = x.sin()

    def pack(tensor):
        calls.append("pack")
        return tensor.detach()

    def unpack(tensor):
        calls.append("unpack")
        return tensor

    y.grad_fn._raw_saved_self.register_hooks(pack, unpack)
    assert calls == ["pack"]
    _ = y.grad_fn._saved_self
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert calls == ["pack", "unpack", "unpack", "unpack"]


def test_what_packing_returned_lives_as_long_as_the_graph_needs_it(torch):
    class Box:
        def __init__(self, tensor):
            self.numbers = tensor.tolist()

    boxes = []

    def pack(tensor):
        box = Box(tensor)
        boxes.append(weakref.ref(box))
        return box

    x = leaf(torch)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda box: torch.tensor(box.numbers)):
        y = x.sin()
    y.sum().backward(retain_graph=True)
    assert boxes[0]() is not None
    y.sum().backward()
    gc.collect()
    assert boxes[0]() is None
    assert torch.allclose(x.grad, 2 * x.detach().cos())


def test_hooks_in_force_are_given_the_tensor_with_its_history(torch):
    seen = []

    def pack(tensor):
        seen.append(tensor.requires_grad)
        return tensor.detach()

    x = leaf(torch)
    with torch.autograd.graph.saved_tensors_hooks(pack, itself):
        middle = x * 1.5
        seen.clear()
        middle.sin()
    assert seen == [True]
