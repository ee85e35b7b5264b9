"""Hooks of modules: their order, what they get, and what they may change."""

from __future__ import annotations

import copy
import importlib
import warnings

import pytest


def global_hooks(framework):
    return importlib.import_module(f"{framework.__name__}.nn.modules.module")


def test_order_of_forward_hooks(framework):
    nn, seen = framework.nn, []
    module = nn.Identity()
    shared = global_hooks(framework)
    handles = [
        shared.register_module_forward_pre_hook(lambda m, args: seen.append("global pre")),
        shared.register_module_forward_hook(lambda m, args, out: seen.append("global post")),
        module.register_forward_pre_hook(lambda m, args: seen.append("pre 1")),
        module.register_forward_pre_hook(lambda m, args: seen.append("pre 0"), prepend=True),
        module.register_forward_hook(lambda m, args, out: seen.append("post 1")),
        module.register_forward_hook(lambda m, args, out: seen.append("post 0"), prepend=True),
    ]
    module(framework.ones(1))
    assert seen == ["global pre", "pre 0", "pre 1", "global post", "post 0", "post 1"]
    for handle in handles:
        handle.remove()
    seen.clear()
    module(framework.ones(1))
    assert seen == []


def test_hooks_change_arguments_and_results(framework):
    class Scale(framework.nn.Module):
        def forward(self, x, factor=1):
            return x * factor

    module = Scale()
    module.register_forward_pre_hook(lambda m, args: args[0] + 1)
    module.register_forward_pre_hook(
        lambda m, args, kwargs: (args, {"factor": kwargs["factor"] * 10}), with_kwargs=True
    )
    module.register_forward_hook(lambda m, args, kwargs, out: out + kwargs["factor"],
                                 with_kwargs=True)  # fmt: skip
    module.register_forward_hook(lambda m, args, out: (out, args[0].item()))
    result, argument = module(framework.ones(1), factor=2)
    assert result.item() == 2 * 20 + 20 and argument == 2
    module.register_forward_pre_hook(lambda m, args, kwargs: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match="pre-hook"):
        module(framework.ones(1), factor=2)


def test_always_called_hooks(framework):
    class Failing(framework.nn.Module):
        def forward(self, x):
            raise ValueError("no")

    module, seen = Failing(), []
    module.register_forward_hook(lambda m, args, out: seen.append("never"))
    module.register_forward_hook(lambda m, args, out: seen.append(out), always_call=True)

    def broken(m, args, out):
        raise KeyError("broken")

    module.register_forward_hook(broken, always_call=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(ValueError, match="no"):
            module(1)
    assert seen == [None] and any("silenced" in str(w.message) for w in caught)


def test_a_handle_is_a_context(framework):
    module, seen = framework.nn.Identity(), []
    with module.register_forward_hook(lambda m, args, out: seen.append(1)):
        module(1)
    module(1)
    assert seen == [1]


def test_a_hook_may_remove_itself(framework):
    module, seen = framework.nn.Identity(), []
    handle = module.register_forward_pre_hook(lambda m, args: (seen.append(1), handle.remove())[1])
    module(1)
    module(1)
    assert seen == [1]


def test_full_backward_hooks(framework):
    linear = framework.nn.Linear(2, 3)
    seen = []
    linear.register_full_backward_pre_hook(lambda m, out: seen.append(("pre", out)))
    linear.register_full_backward_hook(lambda m, into, out: seen.append(("post", into, out)))
    x = framework.ones(4, 2, requires_grad=True)
    linear(x).sum().backward()
    (_, early), (_, into, out) = seen
    assert len(early) == len(into) == len(out) == 1
    assert framework.equal(early[0], framework.ones(4, 3))
    assert framework.equal(into[0], x.grad)
    assert framework.equal(linear.weight.grad, framework.full((3, 2), 4.0))


def test_backward_hooks_change_gradients(framework):
    module = framework.nn.Identity()
    module.register_full_backward_pre_hook(lambda m, out: (out[0] * 10,))
    module.register_full_backward_hook(lambda m, into, out: (into[0] + 1,))
    module.register_full_backward_hook(lambda m, into, out: (into[0] * 2,), prepend=True)
    x = framework.ones(2, requires_grad=True)
    module(x).sum().backward()
    assert x.grad.tolist() == [21.0, 21.0]


def test_backward_hooks_with_several_arguments(framework):
    class Both(framework.nn.Module):
        def forward(self, x, number, y):
            return x * number, y * 2, "text"

    module, seen = Both(), []
    module.register_full_backward_hook(lambda m, into, out: seen.append((into, out)))
    x = framework.ones(1, requires_grad=True)
    y = framework.ones(1, requires_grad=True)
    a, b, _ = module(x, 3, y)
    (a + b).sum().backward()
    ((into, out),) = seen
    assert into[0].item() == 3 and into[1] is None and into[2].item() == 2
    assert out[0].item() == 1 and out[1].item() == 1 and out[2] is None


def test_backward_hooks_without_differentiable_inputs(framework):
    linear, seen = framework.nn.Linear(2, 1), []
    linear.register_full_backward_hook(lambda m, into, out: seen.append((into, out)))
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        linear(framework.ones(1, 2)).sum().backward()
    ((into, out),) = seen
    assert into == (None,) and out[0].item() == 1
    linear.register_full_backward_hook(lambda m, into, out: (framework.ones(1),))
    with warnings.catch_warnings(record=True), pytest.raises(RuntimeError, match="None"):
        warnings.simplefilter("always")
        linear(framework.ones(1, 2)).sum().backward()


def test_backward_hooks_see_every_backward_pass(framework):
    linear, seen = framework.nn.Linear(2, 1), []
    linear.register_full_backward_hook(lambda m, into, out: seen.append(out[0].item()))
    x = framework.ones(1, 2, requires_grad=True)
    y = linear(x).sum()
    y.backward(retain_graph=True)
    (y * 3).backward()
    with framework.no_grad():
        linear(x)
    assert seen == [1.0, 3.0]


def test_old_backward_hooks(framework):
    linear, seen = framework.nn.Linear(2, 1), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        linear.register_backward_hook(lambda m, into, out: seen.append(out[0].item()))
        linear(framework.ones(1, 2, requires_grad=True)).sum().backward()
    assert seen == [1.0]
    with pytest.raises(RuntimeError, match="both"):
        linear.register_full_backward_hook(lambda m, into, out: None)


def test_global_backward_hooks(framework):
    shared, seen = global_hooks(framework), []
    model = framework.nn.Sequential(framework.nn.Linear(1, 1), framework.nn.Tanh())
    with shared.register_module_full_backward_hook(
        lambda m, into, out: seen.append(type(m).__name__)
    ):
        model(framework.ones(1, 1, requires_grad=True)).sum().backward()
    assert seen == ["Tanh", "Linear", "Sequential"]


def test_registration_hooks(framework):
    nn, shared = framework.nn, global_hooks(framework)
    seen = []
    handles = [
        shared.register_module_parameter_registration_hook(
            lambda m, name, value: seen.append(("parameter", name))
        ),
        shared.register_module_buffer_registration_hook(
            lambda m, name, value: None if value is None else value * 5
        ),
        shared.register_module_module_registration_hook(
            lambda m, name, value: nn.Tanh() if isinstance(value, nn.ReLU) else None
        ),
    ]
    try:
        module = nn.Module()
        module.weight = nn.Parameter(framework.ones(1))
        module.register_parameter("bias", None)
        module.register_buffer("count", framework.ones(1))
        module.part = nn.ReLU()
    finally:
        for handle in handles:
            handle.remove()
    assert seen == [("parameter", "weight")]
    assert module.count.item() == 5 and isinstance(module.part, nn.Tanh)


def test_copies_have_hooks_of_their_own(framework):
    module, seen = framework.nn.Identity(), []
    module.register_forward_hook(lambda m, args, out: seen.append(m))
    twin = copy.deepcopy(module)
    twin(1)
    assert seen == [twin]
    twin.register_forward_hook(lambda m, args, out: seen.append(None))
    seen.clear()
    module(1)
    assert seen == [module]


def test_state_dict_hooks(framework):
    module, seen = framework.nn.Sequential(framework.nn.Linear(1, 1)), []

    def before(m, prefix, keep_vars):
        seen.append(("before", prefix, keep_vars))

    def after(m, state, prefix, metadata):
        seen.append(("after", prefix, metadata["version"]))
        state[prefix + "extra"] = 1

    module[0].register_state_dict_pre_hook(before)
    module[0].register_state_dict_post_hook(after)
    assert list(module.state_dict()) == ["0.weight", "0.bias", "0.extra"]
    assert seen == [("before", "0.", False), ("after", "0.", 1)]
    module.register_state_dict_post_hook(lambda *args: 3)
    with pytest.raises(RuntimeError, match="None"):
        module.state_dict()
    other = framework.nn.Linear(1, 1)
    other._register_state_dict_hook(lambda m, state, prefix, metadata: {"all": 1})
    assert other.state_dict() == {"all": 1}


def test_load_state_dict_hooks(framework):
    module, seen = framework.nn.Linear(1, 1), []

    def rename(m, state, prefix, metadata, strict, missing, unexpected, errors):
        seen.append(m)
        state[prefix + "weight"] = state.pop(prefix + "w")

    def forgive(m, keys):
        keys.missing_keys.clear()

    module.register_load_state_dict_pre_hook(rename)
    module.register_load_state_dict_post_hook(forgive)
    given = {"w": framework.full((1, 1), 7.0)}
    twin = copy.deepcopy(module)
    assert not twin.load_state_dict(given).missing_keys and seen == [twin]
    assert twin.weight.item() == 7 and list(given) == ["w"]
    twin.register_load_state_dict_post_hook(lambda m, keys: 1)
    with pytest.raises(AssertionError):
        twin.load_state_dict(given)
