"""The tape: recording, the backward pass, views and writes in place, hooks, modes, deallocation."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

import rushlight as torch
from rushlight import _core, autograd


def leaf(*values: float, shape: tuple[int, ...] | None = None):
    t = torch.tensor(list(values))
    if shape is not None:
        t = t.view(shape)
    return t.detach().requires_grad_()


def weighted_sum(t):
    """A scalar in which every element has another weight: 1, 2, 3, ..."""
    weights = torch.tensor([float(i + 1) for i in range(t.numel())]).view(tuple(t.shape))
    return t.mul(weights).sum()


def chain(x, backward, name="Step"):
    """One node from a Python function, with an output like x."""
    out = x.detach().clone()
    _core.attach_node(backward, name, (x,), (out,))
    return out


# ---------------------------------------------------------------- the graph


def test_nodes_describe_themselves():
    x = leaf(1.0, 2.0)
    y = chain(x, lambda g: g, "TwiceBackward0")
    node = y.grad_fn
    assert node.name() == type(node).__name__ == "TwiceBackward0"
    assert repr(node).startswith("<TwiceBackward0 object at 0x")
    ((accumulate, index),) = node.next_functions
    assert index == 0
    assert accumulate.name() == "torch::autograd::AccumulateGrad"
    assert accumulate.variable is x
    assert y.grad_fn.next_functions[0][0] is accumulate
    assert node.metadata == {}
    node.metadata["note"] = 1
    assert y.grad_fn.metadata == {"note": 1}
    with pytest.raises(AttributeError):
        _ = node.variable


def test_nothing_is_recorded_without_need():
    x = torch.tensor([1.0])
    out = torch.tensor([1.0])
    assert _core.attach_node(lambda g: g, "Step", (x,), (out,)) is None
    assert not out.requires_grad
    with torch.no_grad():
        assert _core.attach_node(lambda g: g, "Step", (leaf(1.0),), (out,)) is None


def test_gradients_accumulate():
    x = leaf(1.0, 2.0)
    x.mul(x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    first = x.grad
    x.mul(x).sum().backward()
    assert x.grad is first
    assert first.tolist() == [4.0, 8.0]


def test_leaves_do_not_share_gradients():
    x, y = leaf(1.0), leaf(2.0)
    given = torch.tensor([5.0])
    x.add(y).backward(given)
    assert not _core.same_storage(x.grad, y.grad)
    assert not _core.same_storage(x.grad, given)
    assert not _core.same_storage(y.grad, given)
    z = leaf(1.0)
    z.add(z).backward(given)
    assert z.grad.tolist() == [10.0]
    assert given.tolist() == [5.0]


def test_leaf_gradient_has_the_leafs_layout():
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).requires_grad_()
    weighted_sum(x.permute((1, 0))).backward()
    assert x.grad.stride() == x.stride()
    assert x.grad.tolist() == [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]


def test_long_chains_are_freed_without_recursion():
    x = leaf(0.0)
    y = x
    for _ in range(200_000):
        y = chain(y, lambda g: g)
    y.backward(torch.tensor([3.0]))
    assert x.grad.tolist() == [3.0]
    middle = weakref.ref(y)
    del y
    assert middle() is None


def test_long_chains_of_double_backward_are_freed():
    x = leaf(0.0)
    y = x
    for _ in range(20_000):
        y = y.exp().mul(x)
    (g,) = torch.autograd.grad(y, x, torch.tensor([1.0]), create_graph=True)
    assert g.requires_grad
    del y, g


def test_cycles_through_hooks_are_collected():
    x = leaf(1.0)
    y = x.mul(x)
    y.register_hook(lambda g, y=y: None)
    y.grad_fn.register_hook(lambda *_, y=y: None)
    gone = weakref.ref(y)
    del y
    gc.collect()
    assert gone() is None
    x.register_hook(lambda g, x=x: None)
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None


def test_outputs_do_not_keep_themselves_alive():
    y = leaf(1.0).exp()
    gone = weakref.ref(y)
    gc.disable()
    try:
        del y
        assert gone() is None
    finally:
        gc.enable()


# ---------------------------------------------------------------- saved values


def test_second_backward_needs_retain_graph():
    x = leaf(3.0)
    y = x.mul(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [12.0]
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_nodes_without_saved_values_run_again():
    x = leaf(3.0)
    y = x.add(x)
    y.backward(torch.tensor([1.0]))
    y.backward(torch.tensor([1.0]))
    assert x.grad.tolist() == [4.0]


def test_modified_output():
    x = leaf(1.0)
    y = x.exp()
    z = y.sum()
    with torch.no_grad():
        y.add_(torch.tensor([1.0]))
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        z.backward()


def test_modified_input():
    x, w = leaf(1.0), torch.tensor([2.0])
    z = x.mul(w).sum()
    w.add_(w.clone())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_higher_derivatives_through_saved_outputs():
    x = leaf(0.5, 1.0)
    y = x.exp().sum()
    for _ in range(4):
        (y,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        assert y.tolist() == pytest.approx(x.exp().tolist())


def test_higher_derivatives_through_saved_inputs():
    x = leaf(2.0, 3.0)
    (g,) = torch.autograd.grad(x.mul(x).mul(x).sum(), x, create_graph=True)
    assert g.tolist() == [12.0, 27.0]
    (h,) = torch.autograd.grad(g.sum(), x, create_graph=True)
    assert h.tolist() == [12.0, 18.0]
    (k,) = torch.autograd.grad(h.sum(), x)
    assert k.tolist() == [6.0, 6.0]


# ---------------------------------------------------------------- views


def expected(view, count=6, shape=(2, 3)):
    """The gradient of weighted_sum(view(x)), by looking where the view's elements come from."""
    result = [0.0] * count
    places = view(torch.tensor([float(i) for i in range(count)]).view(shape))
    for weight, place in enumerate(flat(places.tolist())):
        result[int(place)] += weight + 1.0
    return torch.tensor(result).view(shape).tolist()


def flat(nested):
    return [each for row in nested for each in flat(row)] if isinstance(nested, list) else [nested]


VIEWS = {
    "view": lambda t: t.view((3, 2)),
    "permute": lambda t: t.permute((1, 0)),
    "expand": lambda t: t.unsqueeze(0).expand((2, 2, 3)),
    "unsqueeze": lambda t: t.unsqueeze(1),
    "squeeze": lambda t: t.unsqueeze(0).squeeze(0),
    "slice": lambda t: t[:, 1:],
    "steps": lambda t: t[::2, ::2],
    "int": lambda t: t[1],
    "mixed": lambda t: t[None, 1, :, None],
    "empty": lambda t: t[:, 3:],
    "select": lambda t: t.select(1, 2),
    "narrow": lambda t: t.narrow(1, 1, 2),
    "as_strided": lambda t: t.as_strided((2, 2), (2, 1), 1),
    "overlapping": lambda t: t.as_strided((2, 2), (1, 1), 1),
    "chain": lambda t: t.permute((1, 0))[1:].unsqueeze(0)[:, :, 1],
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("create_graph", [False, True])
def test_view(name, create_graph):
    view = VIEWS[name]
    x = leaf(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, shape=(2, 3))
    y = weighted_sum(view(x))
    (g,) = torch.autograd.grad(y, x, create_graph=create_graph)
    assert g.tolist() == expected(view)


@pytest.mark.parametrize("name", VIEWS)
def test_view_twice(name):
    view = VIEWS[name]
    x = leaf(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, shape=(2, 3))
    (g,) = torch.autograd.grad(weighted_sum(view(x.mul(x).mul(x))), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    weights = torch.tensor(expected(view))
    assert h.tolist() == x.detach().mul(torch.tensor(6.0)).mul(weights).tolist()


def test_many_slices_of_one_tensor():
    x = leaf(*[float(i) for i in range(20)], shape=(10, 2))
    y = x.mul(x)
    total = y[0].sum()
    for i in range(1, 10):
        total = total.add(y[i].mul(torch.tensor([1.0, 2.0])).sum())
    total.backward()
    assert x.grad.tolist() == [[0.0, 2.0]] + [[4.0 * i, 4.0 * (2 * i + 1)] for i in range(1, 10)]


# ---------------------------------------------------------------- writes in place


def test_in_place_changes_history():
    x = leaf(1.0, 2.0)
    y = x.mul(x)
    y.mul_(torch.tensor([3.0, 3.0]))
    assert y.grad_fn.name().startswith("Mul")
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]


def test_leaves_may_not_be_written():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="^a leaf Variable that requires grad"):
        x.add_(torch.tensor(1.0))
    with pytest.raises(RuntimeError, match="^a view of a leaf Variable that requires grad"):
        x[0].add_(torch.tensor(1.0))
    with torch.no_grad():
        x.add_(torch.tensor(1.0))
    assert x.tolist() == [2.0, 3.0]


def test_write_into_a_view_of_plain_memory():
    w = leaf(2.0, 3.0)
    base = torch.tensor([1.0, 1.0, 1.0, 1.0])
    row = base[1:3]
    other = base[2:]
    base.narrow(0, 1, 2).copy_(w.mul(w))
    assert base.requires_grad and row.requires_grad and other.requires_grad
    assert base.grad_fn.name() == "torch::autograd::CopySlices"
    assert row.grad_fn.name() == "AsStridedBackward0"
    weighted_sum(base).add(weighted_sum(other)).backward()
    assert w.grad.tolist() == [8.0, (3 + 1) * 6.0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_write_into_a_view_with_history(create_graph):
    x, w = leaf(1.0, 2.0, 3.0, 4.0, shape=(2, 2)), leaf(5.0, 6.0)
    y = x.mul(x)
    y.permute((1, 0))[0].mul_(w)  # the first column
    gx, gw = torch.autograd.grad(weighted_sum(y), (x, w), create_graph=create_graph)
    assert gx.tolist() == [[2.0 * 5, 2 * 4.0], [3 * 6.0 * 6, 4 * 8.0]]
    assert gw.tolist() == [1.0, 3 * 9.0]
    if create_graph:
        (hw,) = torch.autograd.grad(gx.sum(), w)
        assert hw.tolist() == [2.0, 3 * 6.0]


def test_write_that_saves_its_output_twice_differentiable():
    x = leaf(0.5, 1.0)
    y = x.clone()
    y[:1].exp_()
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert h.tolist() == pytest.approx([x.exp().tolist()[0], 0.0])


def test_overwritten_values_get_no_gradient():
    x = leaf(1.0, 2.0)
    y = x.mul(x)
    y[0].zero_()
    weighted_sum(y).backward()
    assert x.grad.tolist() == [0.0, 8.0]


def test_view_made_in_no_grad_mode_may_not_be_written():
    x = torch.tensor([1.0, 2.0])
    with torch.no_grad():
        view = x[:1]
    with pytest.raises(RuntimeError, match="A view was made in no_grad mode"):
        view.mul_(leaf(2.0))


# ---------------------------------------------------------------- hooks


def test_tensor_hooks():
    x = leaf(1.0, 2.0)
    y = x.mul(x)
    seen = []
    first = y.register_hook(lambda g: seen.append(g.tolist()))
    second = y.register_hook(lambda g: g.add(g))
    third = x.register_hook(lambda g: seen.append(g.tolist()))
    y.sum().backward(retain_graph=True)
    assert seen == [[1.0, 1.0], [4.0, 8.0]]
    assert x.grad.tolist() == [4.0, 8.0]
    for handle in (first, second, third):
        handle.remove()
        handle.remove()
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]
    assert len(seen) == 2
    with x.register_hook(lambda g: g.mul(g)):
        x.sum().backward()
    x.sum().backward()
    assert x.grad.tolist() == [8.0, 14.0]


def test_retained_gradients():
    x = leaf(1.0, 2.0)
    y = x.mul(x)
    y.retain_grad()
    y.retain_grad()
    assert y.retains_grad
    z = y.mul(y)
    z.retain_grad()
    z.mul_(torch.tensor([3.0, 3.0]))  # the wish follows z to its new history
    z.sum().backward()
    assert y.grad.tolist() == [6.0, 24.0]
    assert z.grad.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor"):
        torch.tensor([1.0]).retain_grad()


def test_node_hooks():
    x = leaf(1.0, 2.0)
    y = x.mul(x)
    seen = []
    y.grad_fn.register_prehook(lambda outputs: (outputs[0].add(outputs[0]),))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((len(inputs), outputs[0].tolist())))
    y.sum().backward()
    assert seen == [(2, [2.0, 2.0])]
    assert x.grad.tolist() == [4.0, 8.0]


def test_post_accumulate_hooks():
    x = leaf(1.0, 2.0)
    seen = []

    def step(p):
        seen.append(p.grad.tolist())
        p.grad = None

    handle = x.register_post_accumulate_grad_hook(step)
    x.sum().backward()
    assert seen == [[1.0, 1.0]]
    assert x.grad is None
    handle.remove()
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="cannot be registered on non-leaf tensors"):
        x.exp().register_post_accumulate_grad_hook(step)


def test_failing_hooks_leave_the_graph_usable():
    x = leaf(1.0, 2.0)
    y = x.mul(x)

    def fail(g):
        raise LookupError("from the hook")

    with y.register_hook(fail), pytest.raises(LookupError, match="from the hook"):
        y.sum().backward()
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    assert torch.is_grad_enabled()


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        (3, TypeError, "expected Variable, but hook returned 'int'"),
        (torch.tensor([1.0]), RuntimeError, "has changed the size of value"),
        (torch.tensor([1, 2]), RuntimeError, "has changed the type of value"),
    ],
)
def test_bad_hook_results(result, error, message):
    y = leaf(1.0, 2.0).exp()
    y.register_hook(lambda g: result)
    with pytest.raises(error, match=message):
        y.sum().backward()
    with pytest.raises(TypeError):
        y.register_hook(3)
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that"):
        torch.tensor([1.0]).register_hook(print)


def test_backward_within_backward():
    x, w = leaf(2.0), leaf(3.0)
    y = x.mul(x)
    z = y.mul(y).sum()
    entered = []

    def inner(g):
        if entered:
            return
        entered.append(g)
        with torch.enable_grad():
            w.mul(w).mul(x.detach()).sum().backward()
        z.backward(retain_graph=True)  # the graph that is being run

    y.register_hook(inner)
    z.backward(retain_graph=True)
    assert w.grad.tolist() == [12.0]
    assert x.grad.tolist() == [64.0]


# ---------------------------------------------------------------- Python nodes and their errors


def test_python_node_may_return_undefined_gradients():
    x, y = leaf(1.0), leaf(1.0)
    out = torch.tensor([1.0])
    _core.attach_node(lambda g: (None, g), "Step", (x, y), (out,))
    out.backward()
    assert x.grad is None
    assert y.grad.tolist() == [1.0]


def test_python_node_with_several_outputs():
    x = leaf(1.0)
    first, second = torch.tensor([1.0]), torch.tensor([1.0])
    seen = []
    _core.attach_node(lambda *g: seen.append(g) or (g[1],), "Step", (x,), (first, second))
    assert (first.output_nr, second.output_nr) == (0, 1)
    second.sum().backward()
    assert seen[0][0] is None
    assert x.grad.tolist() == [1.0]


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        ((), RuntimeError, "incorrect number of gradients"),
        (None, None, None),
        ((1,), TypeError, "must be a tensor or None"),
        (
            torch.tensor([1.0, 2.0, 3.0]),
            RuntimeError,
            "StepBackward returned an invalid gradient",
        ),
    ],
)
def test_results_of_python_nodes(returned, error, message):
    x = leaf(1.0, 2.0)
    y = chain(x, lambda g: returned, "StepBackward")
    if error is None:
        y.sum().backward()
        assert x.grad is None
    else:
        with pytest.raises(error, match=message):
            y.sum().backward()


def test_gradients_are_reduced_to_the_expected_shape():
    x = leaf(1.0, 2.0)
    chain(x, lambda g: torch.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert x.grad.tolist() == [4.0, 6.0]


def test_release_after_the_only_backward():
    class Step:
        released = 0

        def __call__(self, g):
            return g

        def release(self):
            self.released += 1

    step = Step()
    y = chain(leaf(1.0), step)
    y.backward(retain_graph=True)
    assert step.released == 0
    y.backward()
    assert step.released == 1


def test_attach_node_checks_its_arguments():
    x = leaf(1.0)
    with pytest.raises(TypeError):
        _core.attach_node(3, "Step", (x,), (x.detach(),))
    with pytest.raises(TypeError):
        _core.attach_node(lambda g: g, "Step", (1,), (x.detach(),))
    with pytest.raises(TypeError):
        _core.Node()


# ---------------------------------------------------------------- backward() and grad()


def test_roots():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar"):
        x.exp().backward()
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
        torch.tensor(1.0).backward()
    with pytest.raises(RuntimeError, match=r"Mismatch in shape: grad_output\[0\] has a shape of"):
        x.exp().backward(torch.tensor([1.0, 2.0, 3.0]))
    with pytest.raises(TypeError, match="gradients of outputs are Tensors or None"):
        x.exp().backward(3)
    autograd.backward((x.sum(), x.mul(x)), (None, torch.tensor([1.0, 1.0])))
    assert x.grad.tolist() == [3.0, 5.0]


def test_leaf_as_root():
    x = leaf(2.0)
    x.backward()
    assert x.grad.tolist() == [1.0]
    assert torch.autograd.grad(x, x)[0].tolist() == [1.0]


def test_root_that_another_root_depends_on():
    x = leaf(2.0)
    y = x.mul(x)
    autograd.backward((y.mul(y).sum(), y.sum()))
    assert x.grad.tolist() == [4 * 8.0 + 4.0]


def test_grad_leaves_leaves_alone():
    x, y = leaf(2.0), leaf(3.0)
    z = x.mul(y)
    gx, gz = torch.autograd.grad(z.mul(z).sum(), (x, z))
    assert gx.tolist() == [36.0]
    assert gz.tolist() == [12.0]
    assert x.grad is None and y.grad is None


def test_unused_inputs():
    x, y = leaf(2.0), leaf(3.0)
    with pytest.raises(RuntimeError, match="input 1 appears to not have been used"):
        torch.autograd.grad(x.exp(), (x, y))
    assert torch.autograd.grad(x.exp(), (x, y), allow_unused=True)[1] is None
    with pytest.raises(RuntimeError, match="an input of grad\\(\\) does not require grad"):
        torch.autograd.grad(x.exp(), torch.tensor([1.0]))
    with pytest.raises(RuntimeError, match="cannot be empty"):
        torch.autograd.grad(x.exp(), ())
    with pytest.raises(RuntimeError, match="cannot be empty"):
        x.exp().backward(inputs=[])


def test_backward_limited_to_inputs():
    x, y = leaf(2.0), leaf(3.0)
    z = x.mul(y)
    z.mul(z).sum().backward(inputs=[x, z])
    assert x.grad.tolist() == [36.0]
    assert z.grad.tolist() == [12.0]
    assert y.grad is None


def test_create_graph_keeps_gradients_differentiable():
    x = leaf(2.0)
    x.mul(x).sum().backward(create_graph=True)
    first = x.grad
    assert first.requires_grad
    x.mul(x).sum().backward(create_graph=True)
    assert x.grad is not first
    assert first.tolist() == [4.0]
    assert x.grad.tolist() == [8.0]


# ---------------------------------------------------------------- modes and threads


def test_modes_nest():
    assert torch.is_grad_enabled()
    with torch.no_grad():
        assert not torch.is_grad_enabled()
        with torch.enable_grad():
            assert torch.is_grad_enabled()
        with torch.set_grad_enabled(True), torch.no_grad():
            assert not torch.is_grad_enabled()
        assert not torch.is_grad_enabled()
    with pytest.raises(KeyError), torch.no_grad():
        raise KeyError
    assert torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)


def test_modes_as_decorators():
    @torch.no_grad
    def bare():
        return torch.is_grad_enabled()

    @torch.no_grad()
    def called(depth=2):
        return called(depth - 1) if depth else torch.is_grad_enabled()

    @torch.set_grad_enabled(False)
    def switched():
        return torch.is_grad_enabled()

    @torch.inference_mode
    def inference():
        return torch.is_grad_enabled()

    assert not (bare() or called() or switched() or inference())
    assert torch.is_grad_enabled()


def test_generators_keep_their_mode_to_themselves():
    log = []

    @torch.no_grad()
    def generate():
        try:
            log.append(torch.is_grad_enabled())
            received = yield 1
            log.append((received, torch.is_grad_enabled()))
            yield 2
        finally:
            log.append(torch.is_grad_enabled())

    generator = generate()
    assert next(generator) == 1
    assert torch.is_grad_enabled()
    assert generator.send("sent") == 2
    generator.close()
    assert log == [False, ("sent", False), False]
    assert torch.is_grad_enabled()


def test_inference_mode():
    with torch.inference_mode():
        assert autograd.is_inference_mode_enabled()
        made = torch.tensor([1.0, 2.0])
        assert not torch.is_grad_enabled()
        with torch.inference_mode(False):
            assert torch.is_grad_enabled()
        made.add_(torch.tensor(1.0))
    assert not autograd.is_inference_mode_enabled()
    assert made.is_inference()
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside"):
        made.add_(torch.tensor(1.0))
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        made.mul(leaf(1.0, 2.0))


def test_modes_belong_to_threads():
    seen = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_threads_share_leaves():
    x = leaf(*[1.0] * 1000)

    def work():
        for _ in range(50):
            x.add(x).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.grad.tolist() == [400.0] * 1000
