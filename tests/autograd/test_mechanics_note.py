"""How gradients are recorded, what rules choose them where functions have none, the modes, and what
writing in place may do: one test for each statement of PyTorch's note on autograd mechanics."""

from __future__ import annotations

import pytest


def leaf(torch, *values):
    return torch.tensor(list(values), requires_grad=True)


# ---------------------------------------------------------------- the graph


def test_the_graph_is_what_ran(torch):
    x = leaf(torch, 2.0)
    for times in (1, 3):
        y = x
        for _ in range(times):
            y = y * x
        (gradient,) = torch.autograd.grad(y, x)
        assert gradient.item() == (times + 1) * 2.0**times


def test_grad_fn_is_where_the_graph_begins(torch):
    x = leaf(torch, 1.0)
    y = x.exp().sin()
    assert y.grad_fn.name() == "SinBackward0"
    ((before, index),) = y.grad_fn.next_functions
    assert before.name() == "ExpBackward0" and index == 0
    assert before.next_functions[0][0].variable is x
    assert x.grad_fn is None and x.is_leaf and not y.is_leaf


def test_nothing_is_recorded_for_what_needs_no_gradient(torch):
    x, y = torch.ones(2), torch.ones(2)
    assert not (x + y).requires_grad and (x + y).grad_fn is None and (x + y).is_leaf


def test_one_input_that_needs_a_gradient_is_enough(torch):
    x, y = leaf(torch, 1.0), torch.ones(1)
    assert (x + y).requires_grad and (y * x).requires_grad


def test_backward_adds_to_leaves_only(torch):
    x = leaf(torch, 1.0, 2.0)
    y = x * 2
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    with pytest.warns(UserWarning, match="not a leaf"):
        assert y.grad is None


def test_saved_values_are_freed_by_a_backward_pass(torch):
    x = leaf(torch, 1.0)
    y = x.exp()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_graphs_that_save_no_tensor_can_run_again(torch):
    x = leaf(torch, 1.0, 2.0)
    y = (x + x).view(2, 1).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_retained_graphs_run_again(torch):
    x = leaf(torch, 3.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 12.0


# ---------------------------------------------------------------- functions without a derivative


@pytest.mark.parametrize("name", ["abs", "relu", "sign"])
def test_the_smallest_subgradient_counts(torch, name):
    x = leaf(torch, 0.0)
    getattr(torch, name)(x).backward()
    assert x.grad.item() == 0.0


def test_where_the_derivative_is_infinite(torch):
    x = leaf(torch, 0.0)
    x.sqrt().backward()
    assert x.grad.item() == float("inf")


@pytest.mark.parametrize("name", ["sqrt", "log", "acos"])
def test_outside_of_the_domain(torch, name):
    x = leaf(torch, -2.0)
    y = getattr(x, name)()
    assert y.isnan().item()
    y.backward()  # some value, but no error
    assert x.grad is not None


def test_equal_maxima_share_the_gradient(torch):
    x = leaf(torch, 3.0, 1.0, 3.0)
    x.amax().backward()
    assert x.grad.tolist() == [0.5, 0.0, 0.5]
    x.grad = None
    torch.maximum(x, torch.tensor([3.0, 3.0, 1.0])).sum().backward()
    assert x.grad.tolist() == [0.5, 0.0, 1.0]


def test_masking_a_division_by_zero_afterwards_is_too_late(torch):
    x, divisor = leaf(torch, 1.0, 1.0), torch.tensor([0.0, 1.0])
    mask = divisor != 0
    quotient = x / divisor
    torch.where(mask, quotient, torch.zeros(())).sum().backward()
    assert x.grad.isnan().tolist() == [True, False]


def test_masking_before_a_division_by_zero(torch):
    x, divisor = leaf(torch, 1.0, 1.0), torch.tensor([0.0, 1.0])
    mask = divisor != 0
    (x[mask] / divisor[mask]).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0]


# ---------------------------------------------------------------- requires_grad


def test_requires_grad_of_leaves(torch):
    x = torch.ones(2)
    assert not x.requires_grad
    assert x.requires_grad_() is x and x.requires_grad
    x.requires_grad = False
    assert not x.requires_grad


def test_requires_grad_of_results(torch):
    x = leaf(torch, 1.0)
    y = x * 2
    with pytest.raises(RuntimeError, match="only change requires_grad flags of leaf"):
        y.requires_grad_(False)
    with pytest.raises(RuntimeError, match="only change requires_grad flags of leaf"):
        y.requires_grad = False
    with pytest.raises(RuntimeError, match="only change requires_grad flags of leaf"):
        y.requires_grad = True
    assert y.requires_grad_() is y and not y.is_leaf


def test_only_floating_point_and_complex_tensors_have_gradients(torch):
    for dtype in (torch.int64, torch.bool):
        with pytest.raises(RuntimeError, match="floating point"):
            torch.ones(2, dtype=dtype).requires_grad_()
        with pytest.raises(RuntimeError, match="floating point"):
            torch.ones(2, dtype=dtype, requires_grad=True)
    torch.ones(2, dtype=torch.complex64).requires_grad_()
    x = leaf(torch, 1.0, 2.0)
    assert not x.long().requires_grad and not (x > 1).requires_grad
    assert not x.argmax().requires_grad


def test_frozen_parameters(torch):
    w, b = leaf(torch, 2.0), leaf(torch, 3.0)
    w.requires_grad_(False)
    (w * 5 + b).backward()
    assert w.grad is None and b.grad.item() == 1.0


# ---------------------------------------------------------------- modes


def test_no_grad_records_nothing(torch):
    x = leaf(torch, 1.0)
    with torch.no_grad():
        y = x * 2
    assert not y.requires_grad and y.is_leaf and x.requires_grad


def test_no_grad_lets_leaves_be_written(torch):
    x = leaf(torch, 1.0)
    with torch.no_grad():
        x -= 0.5
        x.mul_(2)
    assert x.item() == 1.0 and x.requires_grad and x.is_leaf
    assert x._version == 2


def test_no_grad_does_not_change_what_is_created(torch):
    with torch.no_grad():
        x = torch.ones(2, requires_grad=True)
        assert x.requires_grad and not (x * 2).requires_grad


def test_enable_grad_within_no_grad(torch):
    x = leaf(torch, 1.0)
    with torch.no_grad(), torch.enable_grad():
        y = x * 2
    assert y.requires_grad


def test_set_grad_enabled(torch):
    x = leaf(torch, 1.0)
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    assert not (x * 2).requires_grad
    torch.set_grad_enabled(True)
    assert (x * 2).requires_grad
    with pytest.raises(TypeError, match="must be bool"):
        torch.set_grad_enabled(1)


def test_modes_are_of_their_thread(torch):
    import threading

    seen = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_modes_as_decorators(torch):
    x = leaf(torch, 1.0)

    @torch.no_grad()
    def frozen():
        return x * 2

    @torch.no_grad()
    def generator():
        yield torch.is_grad_enabled()
        yield torch.is_grad_enabled()

    assert not frozen().requires_grad and torch.is_grad_enabled()
    modes = []
    for mode in generator():
        modes += [mode, torch.is_grad_enabled()]
    assert modes == [False, True, False, True]


# ---------------------------------------------------------------- inference mode


def test_inference_tensors(torch):
    with torch.inference_mode():
        x = torch.ones(3)
        assert torch.is_inference_mode_enabled() and not torch.is_grad_enabled()
        assert x.is_inference() and (x + 1).is_inference()
    assert not torch.is_inference_mode_enabled()
    assert not torch.ones(3).is_inference()


def test_inference_tensors_have_no_version(torch):
    with torch.inference_mode():
        x = torch.ones(3)
    with pytest.raises(RuntimeError, match="do not track version counter"):
        x._version  # noqa: B018


def test_nothing_is_recorded_in_inference_mode(torch):
    x = leaf(torch, 1.0)
    with torch.inference_mode():
        assert not (x * 2).requires_grad
        with torch.enable_grad():
            y = x * 2
    assert not y.requires_grad and y.is_inference()
    with torch.inference_mode(), torch.inference_mode(False):
        y = x * 2
    assert y.requires_grad and not y.is_inference()


def test_inference_tensors_outside(torch):
    x = leaf(torch, 1.0, 2.0)
    with torch.inference_mode():
        constant = torch.full((2,), 3.0)
    with pytest.raises(RuntimeError, match="cannot be saved for backward"):
        x * constant
    (x + constant).sum().backward()  # nothing is saved
    assert x.grad.tolist() == [1.0, 1.0]
    assert (x * constant.clone()).requires_grad
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        constant.add_(1)
    with pytest.raises(RuntimeError, match="[Ii]nplace update to inference tensor"):
        torch.add(x.detach(), 1, out=constant)
    with pytest.raises(RuntimeError, match="requires_grad=True on inference tensor"):
        constant.requires_grad_()


def test_normal_tensors_in_inference_mode(torch):
    x = torch.ones(3)
    with torch.inference_mode():
        x.add_(1)
        view = x[:2]
        view.mul_(2)
    assert x.tolist() == [4.0, 4.0, 2.0] and not x.is_inference() and x._version == 2
    assert not view.is_inference() and view._is_view()
    view.add_(1)
    with pytest.raises(RuntimeError, match="(created|made) in inference mode"):
        view.mul_(leaf(torch, 1.0, 2.0))


# ---------------------------------------------------------------- writes in place


def test_versions_count_writes(torch):
    x = torch.ones(4)
    assert x._version == 0
    x.add_(1)
    x[0] = 5
    x[1:].zero_()
    torch.add(x, 1, out=x)
    assert x._version == 4
    view = x.view(2, 2)
    view.mul_(2)
    assert view._version == x._version == 5
    x.detach().zero_()
    assert x._version == 6


def test_changed_saved_values_are_noticed(torch):
    x = leaf(torch, 1.0, 2.0)
    y = x.exp()
    z = y.sin()
    y.add_(1)
    with pytest.raises(RuntimeError) as caught:
        z.sum().backward()
    message = str(caught.value)
    assert "modified by an inplace operation" in message
    assert "[torch.FloatTensor [2]]" in message
    assert "version 1" in message and "expected version 0" in message
    assert "output 0 of Add" in message


@pytest.mark.parametrize("write", ["base", "view", "detached"])
def test_changes_through_other_names_are_noticed(torch, write):
    x = leaf(torch, 1.0, 2.0, 3.0).clone()
    view = x[:2]
    y = {"base": view * view, "view": x * x, "detached": x * x}[write]
    {"base": x, "view": view, "detached": x.detach()}[write].add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_changes_of_what_was_not_saved_do_no_harm(torch):
    a = leaf(torch, 1.0, 2.0)
    x = a.clone()
    y = x + x
    x.mul_(10)
    y.sum().backward()
    assert a.grad.tolist() == [2.0, 2.0]


def test_leaves_that_require_gradients_cannot_be_written(torch):
    x = leaf(torch, 1.0, 2.0)
    writes = [
        lambda: x.add_(1),
        lambda: x.zero_(),
        lambda: x.copy_(torch.ones(2)),
        lambda: x.__setitem__(0, 1.0),
        lambda: x.masked_fill_(x > 1, 0.0),
    ]
    for write in writes:
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
            write()
    with pytest.raises(RuntimeError, match="view of a leaf Variable that requires grad"):
        x[:1].mul_(2)
    assert x.tolist() == [1.0, 2.0] and x._version == 0


def test_writes_have_gradients(torch):
    a, b = leaf(torch, 1.0, 2.0, 3.0), leaf(torch, 5.0, 7.0)
    x = a * 1
    x[:2].mul_(b)
    x[2] = 0
    x.sum().backward()
    assert a.grad.tolist() == [5.0, 7.0, 0.0] and b.grad.tolist() == [1.0, 2.0]


def test_out_takes_no_part(torch):
    x, result = leaf(torch, 1.0, 2.0), torch.empty(2)
    with pytest.raises(RuntimeError, match="out=... arguments don't support automatic diff"):
        torch.add(x, 1, out=result)
    with pytest.raises(RuntimeError, match="out=... arguments don't support automatic diff"):
        torch.add(torch.ones(2), 1, out=x)
    with torch.no_grad():
        torch.add(x, 1, out=result)
    assert result.tolist() == [2.0, 3.0] and not result.requires_grad


def test_what_is_written_over_gets_zeros(torch):
    a, b = leaf(torch, 1.0, 2.0), leaf(torch, 5.0, 7.0)
    x = a * 1
    x.copy_(b)
    x.sum().backward()
    assert a.grad.tolist() == [0.0, 0.0] and b.grad.tolist() == [1.0, 1.0]


def test_what_comes_in_as_nan_goes_out_as_nan(torch):
    x = torch.ones(2, requires_grad=True)
    (x * 2 + x.exp()).backward(torch.tensor([float("nan"), 1.0]))
    assert x.grad[0].isnan() and x.grad[1].isfinite()


def test_random_numbers_depend_on_nothing(torch):
    x = torch.full((3,), 0.5, requires_grad=True)
    for result in (torch.rand_like(x), torch.randn_like(x), x.multinomial(2)):
        assert not result.requires_grad
    drawn = torch.bernoulli(x)
    if drawn.requires_grad:
        drawn.sum().backward()
        assert x.grad.tolist() == [0.0] * 3


def test_evaluation_mode_records_and_keeps_statistics(torch):
    norm = torch.nn.BatchNorm1d(2)
    x = torch.tensor([[1.0, 2.0], [3.0, 6.0]], requires_grad=True)
    norm.eval()
    y = norm(x)
    assert y.requires_grad and norm.running_mean.tolist() == [0.0, 0.0]
    norm.train()
    assert norm(x).requires_grad and norm.running_mean.tolist() != [0.0, 0.0]
    assert not norm.running_mean.requires_grad


def test_initialization_is_not_recorded(torch):
    layer = torch.nn.Linear(2, 3)
    version = layer.weight._version
    torch.nn.init.ones_(layer.weight)
    assert layer.weight.is_leaf and layer.weight.requires_grad
    assert layer.weight._version > version


def test_modules_can_be_frozen(torch):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    model[0].requires_grad_(False)
    model(torch.ones(3, 2)).sum().backward()
    grads = [parameter.grad is not None for parameter in model.parameters()]
    assert grads == [False, False, True, True]
    hidden = model[0](torch.ones(3, 2))
    assert hidden.grad_fn is None
