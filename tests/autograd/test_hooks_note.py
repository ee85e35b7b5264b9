"""When hooks run, in which order and with what: PyTorch's rules for hooks on tensors and nodes."""

from __future__ import annotations

import pytest


def leaf(torch, *values):
    return torch.tensor(list(values), requires_grad=True)


# ---------------------------------------------------------------- tensors


def test_hooks_run_in_the_order_of_registration(torch):
    x = leaf(torch, 1.0)
    x.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: g * 10)
    x.sum().backward()
    assert x.grad.item() == 20.0


def test_a_hook_that_returns_nothing_changes_nothing(torch):
    x = leaf(torch, 1.0)
    x.register_hook(lambda g: None)
    x.sum().backward()
    assert x.grad.item() == 1.0


def test_replaced_gradients_go_on(torch):
    x = leaf(torch, 1.0)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    (y * 3).backward()
    assert x.grad.item() == 60.0


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        (lambda torch, g: 3, TypeError, "expected Variable, but hook returned 'int'"),
        (lambda torch, g: torch.ones(5), RuntimeError, "changed the size"),
        (lambda torch, g: g.double(), RuntimeError, "changed the type"),
    ],
)
def test_replacements_must_fit(torch, result, error, message):
    x = leaf(torch, 1.0, 2.0)
    x.register_hook(lambda g: result(torch, g))
    with pytest.raises(error, match=message):
        x.sum().backward()


def test_hooks_remove_themselves_and_others_while_running(torch):
    x, seen = leaf(torch, 1.0), []

    def first(gradient):
        seen.append("first")
        handle.remove()
        other.remove()

    handle = x.register_hook(first)
    other = x.register_hook(lambda g: seen.append("other"))
    x.sum().backward()
    assert seen[0] == "first"
    del seen[:]
    x.sum().backward()
    assert seen == []


def test_hooks_added_while_running_run_next_time(torch):
    x, seen = leaf(torch, 1.0), []
    x.register_hook(lambda g: x.register_hook(lambda g: seen.append(1)) and None)
    x.sum().backward()
    assert seen == []
    x.sum().backward()
    assert seen == [1]


def test_handles_are_context_managers(torch):
    x, seen = leaf(torch, 1.0), []
    with x.register_hook(lambda g: seen.append(1)):
        x.sum().backward()
    x.sum().backward()
    assert seen == [1]


def test_hooks_see_the_value_at_which_they_were_registered(torch):
    x, seen = leaf(torch, 1.0), []
    y = x * 1
    y.register_hook(lambda g: seen.append(("before", g.item())))
    y.mul_(3)
    y.register_hook(lambda g: seen.append(("after", g.item())))
    y.backward()
    assert seen == [("after", 1.0), ("before", 3.0)]


def test_retained_gradients_follow_the_tensor(torch):
    x = leaf(torch, 1.0)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y.backward()
    assert y.grad.item() == 1.0 and x.grad.item() == 6.0


def test_retained_gradients_come_last(torch):
    x = leaf(torch, 1.0)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    y.backward()
    assert y.grad.item() == 100.0


def test_retaining_gradients_of_leaves_changes_nothing(torch):
    x = leaf(torch, 1.0)
    x.retain_grad()
    assert not x.retains_grad
    with pytest.raises(RuntimeError, match="requires_grad=False"):
        torch.ones(1).retain_grad()


def test_hooks_on_what_needs_no_gradient(torch):
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        torch.ones(1).register_hook(lambda g: g)


@pytest.mark.parametrize("through", ["grad", "inputs"])
def test_hooks_run_for_tensors_whose_gradients_are_asked_for(torch, through):
    x, seen = leaf(torch, 1.0), []
    x.register_hook(lambda g: seen.append(g.item()))
    y = x * 2
    if through == "grad":
        torch.autograd.grad(y, x)
    else:
        y.backward(inputs=[x])
    assert seen == [2.0]


def test_hooks_change_what_grad_returns(torch):
    x = leaf(torch, 1.0)
    x.register_hook(lambda g: g * 10)
    (gradient,) = torch.autograd.grad(x * 2, x)
    assert gradient.item() == 20.0


def test_hooks_off_the_way_do_not_run(torch):
    x, w, seen = leaf(torch, 1.0), leaf(torch, 2.0), []
    w.register_hook(lambda g: seen.append("w"))
    x.register_hook(lambda g: seen.append("x"))
    torch.autograd.grad(x * w, x)
    assert seen == ["x"]


def test_grad_mode_in_hooks(torch):
    x, seen = leaf(torch, 1.0), []
    x.register_hook(lambda g: seen.append(torch.is_grad_enabled()))
    (x * x).backward()
    torch.autograd.grad(x * x, x, create_graph=True)
    assert seen == [False, True]


# ---------------------------------------------------------------- nodes


def test_the_order_at_one_node(torch):
    x, seen = leaf(torch, 1.0), []
    y = x * 1
    y.grad_fn.register_prehook(lambda gradients: seen.append("before the node"))
    y.register_hook(lambda g: seen.append("tensor"))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append("after the node"))
    y.backward()
    assert seen == ["tensor", "before the node", "after the node"]


def test_the_order_at_a_leaf(torch):
    x, seen = leaf(torch, 1.0), []
    node = x.view_as(x).grad_fn.next_functions[0][0]
    node.register_hook(lambda inputs, outputs: seen.append("after the node"))
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad is not None))
    x.register_hook(lambda g: seen.append("tensor"))
    node.register_prehook(lambda gradients: seen.append("before the node"))
    (x * 1).backward()
    assert seen[:2] == ["tensor", "before the node"]
    assert sorted(map(str, seen[2:])) == ["True", "after the node"]


def test_node_hooks_replace_gradients(torch):
    x = leaf(torch, 1.0)
    y = x.exp()
    y.grad_fn.register_prehook(lambda gradients: (gradients[0] * 10,))
    y.grad_fn.register_hook(lambda inputs, outputs: (outputs[0] + 5,))
    y.backward()
    assert x.grad.item() == 15.0


@pytest.mark.parametrize("kind", ["register_hook", "register_prehook"])
def test_node_hooks_return_tuples(torch, kind):
    x = leaf(torch, 1.0)
    y = x.exp()
    getattr(y.grad_fn, kind)(lambda *gradients: gradients[0][0])
    with pytest.raises(TypeError, match="expected tuple"):
        y.backward()


def test_node_hooks_return_one_gradient_for_each(torch):
    x = leaf(torch, 1.0)
    y = x.exp()
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0], inputs[0]))
    with pytest.raises(RuntimeError, match="incorrect number of values .got 2, but expected 1"):
        y.backward()


def test_node_hooks_may_drop_gradients(torch):
    x = leaf(torch, 1.0)
    y = x.exp()
    y.grad_fn.register_hook(lambda inputs, outputs: (None,))
    y.backward()
    assert x.grad is None


def test_hooks_of_nodes_that_do_not_run(torch):
    x, seen = leaf(torch, 1.0), []
    y = x.exp()
    y.grad_fn.register_prehook(lambda gradients: seen.append("before"))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append("after"))
    y.register_hook(lambda g: seen.append("tensor"))
    torch.autograd.grad(y.sin(), y)
    assert seen == ["tensor"]


# ---------------------------------------------------------------- after accumulation


def test_hooks_after_accumulation(torch):
    x, seen = leaf(torch, 1.0), []
    handle = x.register_post_accumulate_grad_hook(lambda t: seen.append((t is x, t.grad.item())))
    (x * 2).backward()
    (x * 2).backward()
    handle.remove()
    (x * 2).backward()
    assert seen == [(True, 2.0), (True, 4.0)]


def test_hooks_after_accumulation_may_step(torch):
    x = leaf(torch, 1.0)

    def step(parameter):
        with torch.no_grad():
            parameter.sub_(parameter.grad)
        parameter.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * 3).backward()
    assert x.item() == -2.0 and x.grad is None


def test_hooks_after_accumulation_are_for_leaves(torch):
    with pytest.raises(RuntimeError, match="non-leaf"):
        (leaf(torch, 1.0) * 2).register_post_accumulate_grad_hook(lambda t: None)
    x = leaf(torch, 1.0)
    x.register_post_accumulate_grad_hook(lambda t: 3)
    with pytest.raises(TypeError, match="hook returned 'int'"):
        x.sum().backward()


# ---------------------------------------------------------------- several tensors, the end, errors


def test_hooks_of_several_tensors(torch):
    x, y, seen = leaf(torch, 2.0), leaf(torch, 3.0), []
    register = torch.autograd.graph.register_multi_grad_hook
    handle = register([x, y], lambda gs: seen.append([None if g is None else g.item() for g in gs]))
    (x * y).backward()
    (x * 5).backward()
    handle.remove()
    (x * y).backward()
    assert seen == [[3.0, 2.0], [5.0, None]]


def test_hooks_for_the_first_of_several_gradients(torch):
    x, y, seen = leaf(torch, 2.0), leaf(torch, 3.0), []
    register = torch.autograd.graph.register_multi_grad_hook
    register([x, y], lambda g: seen.append(g.item()), mode="any")
    (x * y).backward()
    assert len(seen) == 1
    with pytest.raises(ValueError, match="Expects mode to be one of"):
        register([x, y], lambda g: None, mode="some")


def test_several_tensors_must_need_gradients(torch):
    with pytest.raises(AssertionError, match="Expected gradient function to be set"):
        torch.autograd.graph.register_multi_grad_hook([torch.ones(1)], lambda gs: None)


def test_callbacks_at_the_end_of_the_pass(torch):
    queue = torch.autograd.Variable._execution_engine.queue_callback
    x, seen = leaf(torch, 1.0), []
    y = x * 2
    y.register_hook(lambda g: queue(lambda: seen.append(x.grad.item())))
    y.backward()
    assert seen == [2.0]
    with pytest.raises(RuntimeError, match="during backward pass"):
        queue(lambda: None)


def test_errors_in_hooks_come_out_as_themselves(torch):
    class Own(Exception):
        pass

    def fail(*arguments):
        raise Own("here")

    x = leaf(torch, 1.0)
    y = x.exp()
    for register in (
        x.register_hook,
        y.register_hook,
        y.grad_fn.register_hook,
        y.grad_fn.register_prehook,
        x.register_post_accumulate_grad_hook,
    ):
        handle = register(fail)
        with pytest.raises(Own, match="here"):
            y.backward(retain_graph=True)
        handle.remove()
    x.grad = None
    y.backward()
    assert x.grad.item() == pytest.approx(2.7182817)


def test_backward_passes_within_hooks(torch):
    x, seen = leaf(torch, 1.0), []

    def inner(gradient):
        with torch.enable_grad():
            z = leaf(torch, 3.0)
            (z * z).backward()
        seen.append(z.grad.item())

    x.register_hook(inner)
    (x * 2).backward()
    assert seen == [6.0] and x.grad.item() == 2.0


# ---------------------------------------------------------------- saved tensors


def test_hooks_of_saved_tensors_hold_for_what_is_recorded_inside(torch):
    hooks, seen = torch.autograd.graph.saved_tensors_hooks, []
    x = leaf(torch, 2.0)
    with hooks(lambda t: seen.append("pack") or t, lambda t: seen.append("unpack") or t):
        y = x * x
    z = y * y
    assert seen == ["pack"] * 2
    z.backward()
    assert seen == ["pack"] * 2 + ["unpack"] * 2 and x.grad.item() == 32.0


def test_unpacked_values_are_what_counts(torch):
    x = leaf(torch, 2.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t * 10):
        y = x * x
    y.backward()
    assert x.grad.item() == 40.0


def test_saved_tensors_are_not_written_by_pack(torch):
    hooks = torch.autograd.graph.saved_tensors_hooks
    x = leaf(torch, 2.0).clone()
    with (
        hooks(lambda t: t.mul_(2), lambda t: t),
        pytest.raises(RuntimeError, match="pack hook is modifying its input in place"),
    ):
        x * x


def test_saved_tensors_hooks_may_be_forbidden(torch):
    graph = torch.autograd.graph
    with (
        graph.disable_saved_tensors_hooks("not here"),
        pytest.raises(RuntimeError, match="not here"),
        graph.saved_tensors_hooks(lambda t: t, lambda t: t),
    ):
        pass
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        pass


def test_saving_on_the_cpu(torch):
    x = leaf(torch, 2.0)
    with torch.autograd.graph.save_on_cpu():
        y = x * x
    y.backward()
    assert x.grad.item() == 4.0


# ---------------------------------------------------------------- what nodes show


def test_operands_without_gradients_have_a_place(torch):
    x, constant = leaf(torch, 2.0), torch.tensor([3.0])
    for y in (x * constant, x * 3, x + 1, x / constant, x - 1):
        (first, nothing) = y.grad_fn.next_functions
        assert first[0].variable is x and nothing == (None, 0)
    nothing, second = (constant * x).grad_fn.next_functions
    assert nothing == (None, 0) and second[0].variable is x
    assert len(x.exp().grad_fn.next_functions) == len((x**2).grad_fn.next_functions) == 1


def test_node_hooks_see_all_operands(torch):
    x, seen = leaf(torch, 2.0), []
    y = x * torch.tensor([3.0])
    y.grad_fn.register_hook(
        lambda inputs, outputs: seen.append([None if g is None else g.item() for g in inputs])
    )
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 10, None))
    y.backward()
    assert seen == [[3.0, None]] and x.grad.item() == 30.0
    y = x * torch.tensor([3.0])
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0],))
    with pytest.raises(RuntimeError, match="got 1, but expected 2"):
        y.backward()


def test_calling_a_node(torch):
    x = leaf(torch, 2.0)
    gradient, nothing = (x * torch.tensor([3.0])).grad_fn(torch.ones(1))
    assert gradient.item() == 3.0 and nothing is None
    assert x.sin().grad_fn(torch.ones(1)).item() == pytest.approx(-0.41614684)
