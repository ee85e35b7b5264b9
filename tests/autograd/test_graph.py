"""`autograd.graph`, anomaly mode, batches of gradients: one test for each behaviour."""

from __future__ import annotations

import threading
import warnings

import pytest


def leaf(torch, *values):
    return torch.tensor(list(values), requires_grad=True)


# ---------------------------------------------------------------- saved tensors


def test_saved_tensors_go_through_hooks(torch):
    packed, unpacked = [], []

    def pack(tensor):
        packed.append(tensor.tolist())
        return tensor.tolist()

    def unpack(values):
        unpacked.append(values)
        return torch.tensor(values)

    x, y = leaf(torch, 2.0, 3.0), leaf(torch, 5.0, 7.0)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        z = x * y
    assert sorted(packed) == [[2.0, 3.0], [5.0, 7.0]]
    assert unpacked == []
    z.sum().backward()
    assert sorted(unpacked) == [[2.0, 3.0], [5.0, 7.0]]
    assert x.grad.tolist() == [5.0, 7.0] and y.grad.tolist() == [2.0, 3.0]


def test_hooks_for_saved_outputs(torch):
    x = leaf(torch, 1.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t * 2):
        y = x.exp()
    y.backward()
    assert torch.allclose(x.grad, 2 * x.detach().exp())


def test_double_backward_through_hooks(torch):
    x = leaf(torch, 2.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
        y = (x * x).exp()
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    power = (x * x).exp().item()
    assert first.item() == pytest.approx(4 * power)
    assert second.item() == pytest.approx((2 + 16) * power)


def test_the_innermost_hooks_count(torch):
    calls = []
    hooks = torch.autograd.graph.saved_tensors_hooks
    x = leaf(torch, 1.0)
    with hooks(lambda t: calls.append("outer") or t, lambda t: t):
        with hooks(lambda t: calls.append("inner") or t, lambda t: t):
            x.exp()
        x.exp()
    x.exp()
    assert calls == ["inner", "outer"]


def test_pack_hooks_run_without_grad(torch):
    modes = []
    x = leaf(torch, 1.0)
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: modes.append(torch.is_grad_enabled()) or t, lambda t: t
    ):
        x.exp()
    assert modes == [False]


def test_pack_hooks_must_not_write(torch):
    x = leaf(torch, 1.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
        with pytest.raises(RuntimeError, match="pack hook is modifying its input"):
            (x * 1).exp()


def test_unpack_hooks_must_return_tensors(torch):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: 1, lambda t: t):
        y = leaf(torch, 1.0).exp()
    with pytest.raises(TypeError, match="unpack_hook (expected|returns has) to be a Tensor"):
        y.backward()


def test_errors_of_hooks_come_out(torch):
    class OwnError(Exception):
        pass

    def fail(_):
        raise OwnError

    x = leaf(torch, 1.0)
    hooks = torch.autograd.graph.saved_tensors_hooks
    with pytest.raises(OwnError):
        with hooks(fail, lambda t: t):
            x.exp()
    with hooks(lambda t: t, fail):
        y = x.exp()
    with pytest.raises(OwnError):
        y.backward()
    x.exp().backward()
    assert torch.allclose(x.grad, x.detach().exp())


def test_hooks_replace_the_version_check(torch):
    x, y = leaf(torch, 1.0), torch.ones(1)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        z = x * y
    y.add_(1)
    z.backward()
    assert x.grad.tolist() == [1.0]


def test_hooks_for_what_functions_save(torch):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.detach() ** 2

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return gradient * 2 * x

    x = leaf(torch, 3.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (t.item(),), lambda t: torch.tensor(t)):
        y = Square.apply(x)
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    assert (first.item(), second.item()) == (6.0, 2.0)


def test_hooks_belong_to_a_thread(torch):
    calls = []
    x = leaf(torch, 1.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: calls.append(1) or t, lambda t: t):
        thread = threading.Thread(target=x.exp)
        thread.start()
        thread.join()
    assert calls == []


def test_save_on_cpu(torch):
    x = leaf(torch, 2.0)
    with torch.autograd.graph.save_on_cpu():
        y = x * x * x
    y.backward()
    assert x.grad.tolist() == [12.0]


def test_disable_saved_tensors_hooks(torch):
    graph = torch.autograd.graph
    with graph.disable_saved_tensors_hooks("not here"):
        with pytest.raises(RuntimeError, match="not here"):
            with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                pass
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        with pytest.raises(RuntimeError, match="not here"):
            with graph.disable_saved_tensors_hooks("not here"):
                pass


# ---------------------------------------------------------------- nodes and edges


def test_nodes(torch):
    x = leaf(torch, 2.0)
    y = (x * x).exp()
    assert isinstance(y.grad_fn, torch.autograd.graph.Node)
    assert not isinstance(y, torch.autograd.graph.Node)


def test_nodes_can_be_called(torch):
    y = leaf(torch, 2.0) * 3.0
    assert y.neg().grad_fn(torch.ones(1)).tolist() == [-1.0]
    x = leaf(torch, 2.0)
    first, second = (x * y).grad_fn(torch.ones(1))
    assert (first.item(), second.item()) == (6.0, 2.0)


def test_gradient_edges(torch):
    get = torch.autograd.graph.get_gradient_edge
    x = leaf(torch, 2.0)
    y = x * x
    z = y.exp()
    edge = get(y)
    assert edge.node is y.grad_fn and edge.output_nr == 0
    assert get(x).node is y.grad_fn.next_functions[0][0]
    (gradient,) = torch.autograd.grad(z, edge, retain_graph=True)
    assert torch.allclose(gradient, z)
    (gradient,) = torch.autograd.grad(get(z), x, grad_outputs=torch.ones(1))
    assert torch.allclose(gradient, 2 * x * z)
    with pytest.raises(RuntimeError, match="gradient edge"):
        get(torch.ones(1))


def test_increment_version(torch):
    x, other = leaf(torch, 1.0), torch.ones(1)
    y = x * other
    torch.autograd.graph.increment_version(other)
    assert other._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_multi_grad_hooks(torch):
    calls = []
    x, y, z = (leaf(torch, float(i)) for i in range(3))
    register = torch.autograd.graph.register_multi_grad_hook
    handle = register((x, y, z), lambda gradients: calls.append(gradients))
    (x * 2 + y * 3).backward()
    (x * 2 + y * 3 + z).backward()
    handle.remove()
    x.exp().backward()
    assert [[None if g is None else g.item() for g in each] for each in calls] == [
        [2.0, 3.0, None],
        [2.0, 3.0, 1.0],
    ]


def test_multi_grad_hooks_for_the_first(torch):
    calls = []
    x, y = leaf(torch, 1.0), leaf(torch, 2.0)
    torch.autograd.graph.register_multi_grad_hook(
        (x, y), lambda gradient: calls.append(gradient.item()), mode="any"
    )
    (x * 2 + y * 2).backward()
    (x * 3).backward()
    assert calls == [2.0, 3.0]


# ---------------------------------------------------------------- anomaly mode


def bad_gradient(torch):
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            return gradient * float("nan")

    return Bad


def test_anomaly_mode_finds_the_first_nan(torch):
    x = leaf(torch, 1.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with torch.autograd.detect_anomaly():
            y = bad_gradient(torch).apply(x * 2).exp()
            message = "Function 'BadBackward' returned nan values in its 0th output."
            with pytest.raises(RuntimeError, match=message):
                y.backward()
    texts = [str(each.message) for each in caught]
    assert "Anomaly Detection has been enabled" in texts[0]
    report = next(text for text in texts if "Error detected in BadBackward" in text)
    assert "y = bad_gradient(torch).apply(x * 2).exp()" in report


def test_anomaly_mode_names_the_forward_line_of_errors(torch):
    def fail(gradient):
        raise ValueError("in a hook")

    x = leaf(torch, 1.0)
    with torch.autograd.set_detect_anomaly(True):
        y = x.exp()  # the line
        y.register_hook(fail)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with pytest.raises(ValueError, match="in a hook"):
                y.backward()
    assert torch.is_anomaly_enabled() is False
    assert any("y = x.exp()  # the line" in str(each.message) for each in caught)


def test_anomaly_mode_without_forward_information(torch):
    y = bad_gradient(torch).apply(leaf(torch, 1.0))
    with torch.autograd.set_detect_anomaly(True):
        with pytest.warns(UserWarning, match="No forward pass information available"):
            with pytest.raises(RuntimeError, match="nan values"):
                y.backward()


def test_anomaly_mode_without_nan_check(torch):
    x = leaf(torch, 1.0)
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        bad_gradient(torch).apply(x).backward()
    assert x.grad.isnan().all()


def test_anomaly_mode_names_what_induced_the_node(torch):
    x = leaf(torch, 0.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with torch.autograd.detect_anomaly():
            y = x.exp()
            (first,) = torch.autograd.grad(y, x, create_graph=True)
            first.register_hook(lambda gradient: gradient * float("nan"))
            with pytest.raises(RuntimeError, match="nan values"):
                first.backward()
    assert any("Previous calculation was induced by ExpBackward0" in str(c.message) for c in caught)


# ---------------------------------------------------------------- batches of gradients


def test_batches_of_gradients(torch):
    x, unused = leaf(torch, 1.0, 2.0), leaf(torch, 1.0)
    y = x * x
    rows, none = torch.autograd.grad(
        y, (x, unused), torch.eye(2), is_grads_batched=True, allow_unused=True
    )
    assert rows.tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert none is None
