"""Every optimizer beside PyTorch's, and what all of them have in common."""

from __future__ import annotations

import copy
import pickle

import numpy
import pytest
from optim_support import CASES, OPTIONS, arrays, assert_same, give_gradients, leaves, trained

import rushlight

torch = pytest.importorskip("torch")

SHAPES = [(5, 4), (3,), (), (2, 3, 4), (0, 3)]


def shapes_for(name):
    return [(5, 4), (2, 3, 4), (3,)] if name == "Adafactor" else SHAPES


@pytest.mark.parametrize(("name", "options"), CASES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_steps(name, options, dtype):
    _, ours = trained(rushlight, name, options, shapes_for(name), dtype)
    _, theirs = trained(torch, name, options, shapes_for(name), dtype)
    rtol, atol = (2e-6, 1e-6) if dtype == "float32" else (1e-9, 1e-10)
    assert_same(ours, theirs, rtol, atol)


@pytest.mark.parametrize(("name", "options"), CASES)
def test_complex_parameters(name, options):
    if name == "Adafactor":
        with pytest.raises(RuntimeError, match="complex"):
            trained(rushlight, name, options, [(2, 2)], "complex64")
        return
    _, ours = trained(rushlight, name, options, [(3, 2)], "complex128")
    _, theirs = trained(
        torch, name, {**options, "foreach": False} | drop(options), [(3, 2)], "complex128"
    )
    assert_same(ours, theirs, 1e-9, 1e-10)


def drop(options):
    return {"fused": None, "foreach": None} if "fused" in options else {}


@pytest.mark.parametrize("name", OPTIONS)
def test_states_load_in_both_directions(name):
    shapes = shapes_for(name)[:2]
    for options in OPTIONS[name]:
        ours, our_parameters = trained(rushlight, name, options, shapes)
        theirs, their_parameters = trained(torch, name, options, shapes)
        mine, other = ours.state_dict(), theirs.state_dict()
        assert list(mine) == list(other)
        assert [list(g) for g in mine["param_groups"]] == [list(g) for g in other["param_groups"]]
        for a, b in zip(mine["param_groups"], other["param_groups"]):
            assert a == b
        assert mine["state"].keys() == other["state"].keys()
        for number, state in other["state"].items():
            assert set(mine["state"][number]) == set(state)
            for key, value in state.items():
                assert str(mine["state"][number][key].dtype) == str(value.dtype), key
        fresh = getattr(rushlight.optim, name)(our_parameters)
        fresh.load_state_dict(converted(other, lambda x: rushlight.tensor(x.numpy())))
        there = getattr(torch.optim, name)(their_parameters)
        there.load_state_dict(converted(mine, lambda x: torch.tensor(x.numpy())))
        for module, optimizer, parameters in (
            (rushlight, fresh, our_parameters),
            (torch, there, their_parameters),
        ):
            give_gradients(module, parameters, 9)
            optimizer.step()
        assert_same(our_parameters, their_parameters, 3e-6, 1e-6)


def converted(value, change):
    if isinstance(value, dict):
        return {key: converted(each, change) for key, each in value.items()}
    if isinstance(value, list):
        return [converted(each, change) for each in value]
    return change(value.detach()) if hasattr(value, "detach") else value


@pytest.mark.parametrize("name", OPTIONS)
def test_groups_have_options_of_their_own(name):
    results = []
    for module in (rushlight, torch):
        parameters = leaves(module, [(4, 3), (3, 2), (2, 2)])
        groups = [{"params": parameters[0]}, {"params": [parameters[1]], "lr": 0.003}]
        optimizer = getattr(module.optim, name)(groups, lr=0.05)
        for step in range(3):
            give_gradients(module, parameters, step)
            if step == 1:
                parameters[1].grad = None  # updated less often than the others
            optimizer.step()
        if name != "Adagrad":  # PyTorch's cannot
            optimizer.add_param_group({"params": parameters[2], "lr": 0.5})
        give_gradients(module, parameters, 7)
        optimizer.step()
        results.append(parameters)
    assert_same(*results, 3e-6, 1e-6)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad", "NAdam", "RMSprop", "Rprop"])
def test_learning_rates_may_be_tensors(name):
    results = []
    for module in (rushlight, torch):
        parameters = leaves(module, [(4, 3), (3,)])
        options = {} if name in ("Adagrad", "SGD") else {"foreach": False}
        optimizer = getattr(module.optim, name)(parameters, lr=module.tensor(0.03), **options)
        for step in range(3):
            give_gradients(module, parameters, step)
            optimizer.step()
            optimizer.param_groups[0]["lr"].mul_(0.5)
        results.append(parameters)
    assert_same(*results, 1e-5, 1e-6)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "NAdam", "RAdam", "Adagrad"])
def test_gradients_flow_through_differentiable_steps(name):
    results = []
    for module in (rushlight, torch):
        start = module.tensor([1.0, 2.0, 3.0], requires_grad=True)
        gradient = module.tensor([0.1, -0.2, 0.3], requires_grad=True)
        parameter = start.clone()
        optimizer = getattr(module.optim, name)([parameter], lr=0.1, differentiable=True)
        for factor in (1.0, 2.0, -1.0):
            parameter.grad = gradient * factor
            optimizer.step()
        (parameter**2).sum().backward()
        results.append([start.grad, gradient.grad])
    assert_same(*results, 2e-5, 2e-5)


@pytest.mark.parametrize("name", OPTIONS)
def test_views_and_strides(name):
    """Parameters that are not contiguous, gradients of another layout."""
    results = []
    for module in (rushlight, torch):
        base = module.tensor(arrays([(6, 8)], "float32")[0])
        parameter = base[::2, 1:].t().requires_grad_()
        optimizer = getattr(module.optim, name)([parameter], lr=0.05)
        for seed in range(3):
            gradient = module.tensor(arrays([(3, 7)], "float32", seed)[0])
            parameter.grad = gradient.t()
            optimizer.step()
        results.append([base, parameter])
    assert_same(*results, 3e-6, 1e-6)


def test_low_precision_parameters_keep_their_dtype():
    for name in OPTIONS:
        parameter = rushlight.ones(4, dtype=rushlight.bfloat16).requires_grad_()
        optimizer = getattr(rushlight.optim, name)([parameter])
        for _ in range(3):
            parameter.grad = rushlight.ones(4, dtype=rushlight.bfloat16)
            optimizer.step()
        assert parameter.dtype is rushlight.bfloat16
        assert rushlight.isfinite(parameter).all(), name


@pytest.mark.parametrize("line_search_fn", [None, "strong_wolfe"])
def test_lbfgs(line_search_fn):
    results = []
    for module in (rushlight, torch):
        x, y = leaves(module, [(5,), (2, 2)], "float64")
        optimizer = module.optim.LBFGS(
            [x, y], lr=0.3, max_iter=5, history_size=3, line_search_fn=line_search_fn
        )

        def closure(x=x, y=y, optimizer=optimizer):
            optimizer.zero_grad()
            loss = ((x[1:] - x[:-1] ** 2) ** 2).sum() + ((1 - x) ** 2).sum() + (y**4).sum()
            loss.backward()
            return loss

        losses = [optimizer.step(closure).detach() for _ in range(4)]
        results.append([x, y, *losses])
        assert optimizer.state_dict()["state"][0]["n_iter"] == 20
    assert_same(*results, 1e-7, 1e-9)


def test_lbfgs_takes_one_group():
    x, y = leaves(rushlight, [(2,), (2,)])
    with pytest.raises(ValueError, match="parameter groups"):
        rushlight.optim.LBFGS([{"params": [x]}, {"params": [y]}])


def test_muon():
    results = []
    for module in (rushlight, torch):
        parameters = leaves(module, [(6, 4), (3, 7)])
        optimizer = module.optim.Muon(parameters, lr=0.02, adjust_lr_fn="match_rms_adamw")
        for step in range(3):
            give_gradients(module, parameters, step)
            optimizer.step()
        results.append(parameters)
    assert_same(*results, 1e-3, 1e-3)  # the iterations are in bfloat16
    with pytest.raises(ValueError, match="2D"):
        rushlight.optim.Muon(leaves(rushlight, [(3,)]))


# ---------------------------------------------------------------- what all have in common


def test_invalid_groups():
    x, y = leaves(rushlight, [(2,), (2,)])
    optim = rushlight.optim
    for error, match, params in (
        (TypeError, "iterable of Tensors", x),
        (ValueError, "empty parameter list", []),
        (TypeError, "can only optimize Tensors", [1.0]),
        (ValueError, "non-leaf", [x * 2]),
        (ValueError, "more than one parameter group", [{"params": [x]}, {"params": [x]}]),
        (ValueError, "some param names are missing", [("x", x), y]),
        (ValueError, "with/without names", [{"params": [("x", x)]}, {"params": [y]}]),
        (TypeError, "set", [{"params": {x, y}}]),
    ):
        with pytest.raises(error, match=match):
            optim.SGD(params, lr=0.1)
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optim.SGD([x, x], lr=0.1)
    with pytest.raises(TypeError, match="must be a dict"):
        optim.SGD([x], lr=0.1).add_param_group([y])


@pytest.mark.parametrize(
    ("name", "options", "match"),
    [
        ("SGD", {"lr": -1.0}, "learning rate: -1"),
        ("SGD", {"lr": rushlight.ones(2)}, "1-element"),
        ("SGD", {"nesterov": True}, "Nesterov"),
        ("Adam", {"betas": (1.0, 0.5)}, "beta parameter at index 0: 1"),
        ("Adam", {"betas": (0.9, rushlight.tensor(0.5))}, "both floats or both Tensors"),
        ("Adam", {"lr": rushlight.tensor(0.1), "foreach": True}, "lr as a Tensor"),
        ("AdamW", {"eps": -1.0}, "Invalid epsilon value: -1"),
        ("Adadelta", {"rho": 1.5}, "Invalid rho value: 1.5"),
        ("Adagrad", {"lr_decay": -0.5}, "Invalid lr_decay value: -0.5"),
        ("NAdam", {"momentum_decay": -0.2}, "Invalid momentum_decay value"),
        ("RMSprop", {"momentum": -1.0}, "Invalid momentum value"),
        ("Rprop", {"etas": (1.0, 0.5)}, "Invalid eta values: 1.0, 0.5"),
        ("Adafactor", {"d": 0.0}, "Clipping threshold d"),
    ],
)
def test_invalid_options(name, options, match):
    with pytest.raises(ValueError, match=match):
        getattr(rushlight.optim, name)(leaves(rushlight, [(2,)]), **options)


def test_flags_that_exclude_each_other():
    with pytest.raises(RuntimeError, match="cannot be `True` together"):
        rushlight.optim.Adam(leaves(rushlight, [(2,)]), fused=True, foreach=True)
    with pytest.raises(RuntimeError, match="differentiable"):
        rushlight.optim.Adam(leaves(rushlight, [(2,)]), fused=True, differentiable=True)


def test_hooks_run_around_a_step_once():
    parameters = leaves(rushlight, [(2,)])
    optimizer = rushlight.optim.AdamW(parameters)
    calls = []
    handles = [
        optimizer.register_step_pre_hook(lambda o, args, kwargs: calls.append("pre")),
        optimizer.register_step_post_hook(lambda o, args, kwargs: calls.append("post")),
        rushlight.optim.optimizer.register_optimizer_step_pre_hook(
            lambda o, args, kwargs: calls.append("all pre")
        ),
        rushlight.optim.optimizer.register_optimizer_step_post_hook(
            lambda o, args, kwargs: calls.append("all post")
        ),
    ]
    optimizer.step()
    assert calls == ["all pre", "pre", "post", "all post"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(calls) == 4


def test_a_pre_hook_may_change_the_arguments():
    optimizer = rushlight.optim.SGD(leaves(rushlight, [(2,)]), lr=0.1)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: ((lambda: 5,), {}))
    assert optimizer.step() == 5
    optimizer.register_step_pre_hook(lambda o, args, kwargs: 3)
    with pytest.raises(RuntimeError, match="tuple"):
        optimizer.step()


def test_hooks_of_state_dicts():
    parameters = leaves(rushlight, [(2,)])
    optimizer = rushlight.optim.Adam(parameters)
    calls = []
    optimizer.register_state_dict_pre_hook(lambda o: calls.append("second"))
    optimizer.register_state_dict_pre_hook(lambda o: calls.append("first"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "extra": 1})
    state = optimizer.state_dict()
    assert calls == ["first", "second"] and state["extra"] == 1
    optimizer.register_load_state_dict_pre_hook(lambda o, s: calls.append("pre"))
    optimizer.register_load_state_dict_post_hook(lambda o: calls.append("post"))
    optimizer.load_state_dict(state)
    assert calls[2:] == ["pre", "post"]


def test_loading_what_does_not_fit():
    x, y = leaves(rushlight, [(2,), (2,)])
    state = rushlight.optim.Adam([x]).state_dict()
    with pytest.raises(ValueError, match="different number of parameter groups"):
        rushlight.optim.Adam([{"params": x}, {"params": y}]).load_state_dict(state)
    with pytest.raises(ValueError, match="doesn't match the size"):
        rushlight.optim.Adam([x, y]).load_state_dict(state)


def test_named_parameters_keep_their_names():
    x, y = leaves(rushlight, [(2,), (2,)])
    optimizer = rushlight.optim.SGD([("x", x), ("y", y)], lr=0.1)
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["x", "y"]
    other = rushlight.optim.SGD([x, y], lr=0.5)
    other.load_state_dict(optimizer.state_dict())
    assert "param_names" not in other.param_groups[0] and other.param_groups[0]["lr"] == 0.1


def test_states_of_old_files_are_completed():
    parameters = leaves(rushlight, [(2,)])
    optimizer = rushlight.optim.Adam(parameters)
    give_gradients(rushlight, parameters, 1)
    optimizer.step()
    state = copy.deepcopy(optimizer.state_dict())
    state["state"][0]["step"] = 1
    del state["param_groups"][0]["amsgrad"]
    optimizer.load_state_dict(state)
    assert optimizer.param_groups[0]["amsgrad"] is False
    optimizer.step()
    assert optimizer.state[parameters[0]]["step"].item() == 2


def test_zero_grad():
    (x,) = leaves(rushlight, [(3,)])
    optimizer = rushlight.optim.SGD([x], lr=0.1)
    (x * x).sum().backward()
    gradient = x.grad
    optimizer.zero_grad(set_to_none=False)
    assert x.grad is gradient and not gradient.any()
    rushlight.autograd.backward((x**3).sum(), create_graph=True)
    optimizer.zero_grad(set_to_none=False)
    assert x.grad.grad_fn is None and not x.grad.any()
    optimizer.zero_grad()
    assert x.grad is None


def test_closures_record_gradients():
    (x,) = leaves(rushlight, [(3,)])
    optimizer = rushlight.optim.SGD([x], lr=0.1)
    before = x.detach().clone()

    def closure():
        loss = (x * x).sum()
        loss.backward()
        return loss

    with rushlight.no_grad():
        loss = optimizer.step(closure)
    assert loss.item() == pytest.approx((before * before).sum().item())
    assert rushlight.allclose(x, before * 0.8)


def test_copies_and_pickles():
    optimizer, parameters = trained(rushlight, "Adam", {}, [(3, 2)])
    for duplicate in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        (copied,) = duplicate.param_groups[0]["params"]
        assert copied is not parameters[0] and copied in duplicate.state
        copied.grad = rushlight.ones(3, 2)
        duplicate.step()
        assert duplicate.state[copied]["step"].item() == 6
    assert optimizer.state[parameters[0]]["step"].item() == 5


def test_repr():
    ours = rushlight.optim.SGD(leaves(rushlight, [(2,)]), lr=0.1, momentum=0.9)
    theirs = torch.optim.SGD(leaves(torch, [(2,)]), lr=0.1, momentum=0.9)
    assert repr(ours) == repr(theirs)


def test_optimizers_of_users():
    class Sign(rushlight.optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        @rushlight.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p.add_(p.grad.sign(), alpha=-group["lr"])

    (x,) = leaves(rushlight, [(3,)])
    before = x.detach().numpy().copy()
    x.grad = rushlight.tensor([1.0, -2.0, 0.0])
    optimizer = Sign([x], 0.5)
    calls = []
    optimizer.register_step_post_hook(lambda *args: calls.append(args))
    optimizer.step()
    numpy.testing.assert_allclose(x.detach().numpy(), before - [0.5, -0.5, 0.0])
    assert len(calls) == 1
    with pytest.raises(NotImplementedError):
        rushlight.optim.Optimizer([x], {}).step()


def test_muon_rounds_as_pytorch() -> None:
    """Bit for bit in bfloat16, so the steps of double-precision parameters agree closely."""
    torch = pytest.importorskip("torch")
    random = numpy.random.default_rng(0)
    for shape in [(4, 5), (5, 4), (3, 5)] * 5:
        start, gradient = random.standard_normal(shape), random.standard_normal(shape)
        results = []
        for library in (rushlight, torch):
            parameter = library.tensor(start, requires_grad=True)
            coefficients = (3.4, -4.7, 2.0)
            optimizer = library.optim.Muon([parameter], ns_coefficients=coefficients)
            parameter.grad = library.tensor(gradient)
            optimizer.step()
            results.append(parameter.detach().numpy())
        numpy.testing.assert_allclose(*results, rtol=1e-12)
