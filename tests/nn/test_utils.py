"""`nn.utils`: clipping, vectors, parametrizations, normalisations, fusion."""

from __future__ import annotations

import copy
import importlib
import pickle
import warnings

import numpy
import pytest

import rushlight

INFINITY = float("inf")


def utils(framework, name=None):
    path = f"{framework.__name__}.nn.utils" + (f".{name}" if name else "")
    return importlib.import_module(path)


def parameters_with_gradients(framework):
    made = [
        framework.nn.Parameter(framework.zeros(2, 2)),
        framework.nn.Parameter(framework.ones(3)),
    ]
    for i, each in enumerate(made, 1):
        each.grad = framework.full(each.shape, float(i))
    return [*made, framework.nn.Parameter(framework.ones(1))]  # the last has none


@pytest.mark.parametrize("norm_type", [2.0, 1, 3, 0.5, INFINITY])
@pytest.mark.parametrize("max_norm", [0.5, 100.0])
def test_clipping_by_norm(torch, norm_type, max_norm):
    results = []
    for library in (rushlight, torch):
        given = parameters_with_gradients(library)
        norm = utils(library).clip_grad_norm_(given, max_norm, norm_type)
        results.append([norm.numpy(), *(p.grad.numpy() for p in given[:2])])
    for ours, theirs in zip(*results):
        numpy.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_clipping(framework):
    tools = utils(framework)
    given = parameters_with_gradients(framework)
    tools.clip_grad_value_(given, 1.5)
    assert given[1].grad.tolist() == [1.5] * 3 and given[0].grad[0, 0] == 1
    tools.clip_grad_norm_(given[0], 1.0)
    assert abs(tools.get_total_norm([given[0].grad]).item() - 1) < 1e-5
    assert tools.get_total_norm([]).item() == 0
    bad = framework.tensor([float("nan")])
    assert tools.get_total_norm(bad).isnan()
    with pytest.raises(RuntimeError, match="non-finite"):
        tools.get_total_norm(bad, error_if_nonfinite=True)
    assert tools.clip_grad_norm_([], 1.0).item() == 0


def test_vectors(framework):
    tools, given = utils(framework), parameters_with_gradients(framework)
    vector = tools.parameters_to_vector(given)
    assert vector.shape == (8,) and vector.requires_grad
    tools.vector_to_parameters(framework.arange(8.0), given)
    assert given[0].tolist() == [[0, 1], [2, 3]] and given[2].item() == 7
    assert isinstance(given[0], framework.nn.Parameter)
    with pytest.raises(TypeError):
        tools.vector_to_parameters(3, given)


def test_skip_init(framework):
    tools, nn = utils(framework), framework.nn
    linear = tools.skip_init(nn.Linear, 2, 3, dtype=framework.float64)
    assert linear.weight.dtype == framework.float64 and linear.weight.device.type == "cpu"
    with pytest.raises(RuntimeError, match="device"):
        tools.skip_init(nn.ReLU)


class Symmetric:
    """The body of a parametrization, for the modules of both frameworks."""

    def forward(self, x):
        return x.triu() + x.triu(1).mT

    def right_inverse(self, x):
        return x.triu()


def symmetric(framework):
    body = {name: value for name, value in vars(Symmetric).items() if not name.startswith("__")}
    return type("Symmetric", (framework.nn.Module,), body)()


def test_parametrization(framework):
    parametrize, nn = utils(framework, "parametrize"), framework.nn
    linear = nn.Linear(2, 2)
    assert parametrize.register_parametrization(linear, "weight", symmetric(framework)) is linear
    assert framework.equal(linear.weight, linear.weight.mT)
    assert list(linear.state_dict()) == ["bias", "parametrizations.weight.original"]
    assert type(linear).__name__ == "ParametrizedLinear" and isinstance(linear, nn.Linear)
    assert parametrize.is_parametrized(linear) and not parametrize.is_parametrized(linear, "bias")
    assert parametrize.type_before_parametrizations(linear) is nn.Linear
    linear.weight = framework.tensor([[1.0, 2.0], [2.0, 3.0]])
    assert linear.parametrizations.weight.original.tolist() == [[1, 2], [0, 3]]
    linear(framework.ones(1, 2)).sum().backward()
    assert linear.parametrizations.weight.original.grad is not None
    with parametrize.cached():
        assert linear.weight is linear.weight
    twin = copy.deepcopy(linear)
    assert framework.equal(twin.weight, linear.weight)
    twin.weight = framework.zeros(2, 2)
    assert linear.weight.any()
    with pytest.raises(RuntimeError, match="state_dict"):
        pickle.dumps(linear)
    other = nn.Linear(2, 2)
    parametrize.transfer_parametrizations_and_params(linear, other)
    assert framework.equal(other.weight, linear.weight)
    originals = [m.parametrizations.weight.original for m in (linear, other)]
    assert originals[0] is originals[1]
    other.parametrizations.weight.original = nn.Parameter(originals[0].detach().clone())
    parametrize.remove_parametrizations(linear, "weight")
    assert type(linear) is nn.Linear and isinstance(linear.weight, nn.Parameter)
    assert linear.weight.tolist() == [[1, 2], [2, 3]]
    parametrize.remove_parametrizations(other, "weight", leave_parametrized=False)
    assert other.weight.tolist() == [[1, 2], [0, 3]]
    with pytest.raises(ValueError):
        parametrize.remove_parametrizations(other, "weight")


def test_bad_parametrizations(framework):
    parametrize, nn = utils(framework, "parametrize"), framework.nn

    class First(nn.Module):
        def forward(self, x):
            return x[0]

    class Wider(nn.Module):
        def forward(self, x):
            return x.double()

    linear = nn.Linear(2, 2)
    for bad in (First(), Wider()):
        with pytest.raises(ValueError):
            parametrize.register_parametrization(linear, "bias", bad)
    with pytest.raises(ValueError):
        parametrize.register_parametrization(linear, "unknown", First())
    parametrize.register_parametrization(linear, "bias", Wider(), unsafe=True)
    assert linear.bias.dtype == framework.float64
    with pytest.raises(RuntimeError, match="right_inverse"):
        linear.bias = framework.zeros(2)


def make_normalised(library, kind):
    tools, nn = utils(library), library.nn
    library.manual_seed(0)
    newer = utils(library, "parametrizations")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "weight": lambda: newer.weight_norm(nn.Linear(3, 2)),
            "weight, one length": lambda: newer.weight_norm(nn.Linear(3, 2), dim=None),
            "spectral": lambda: newer.spectral_norm(nn.Linear(3, 2)),
            "spectral of a bias": lambda: newer.spectral_norm(nn.Linear(3, 2), "bias"),
            "spectral, dim 1": lambda: newer.spectral_norm(nn.Linear(3, 2), "weight", 3, dim=1),
            "old weight": lambda: tools.weight_norm(nn.Linear(3, 2), dim=1),
            "old spectral": lambda: tools.spectral_norm(nn.Linear(3, 2)),
        }[kind]()


@pytest.mark.parametrize(
    "kind",
    ["weight", "weight, one length", "spectral", "spectral of a bias", "spectral, dim 1",
     "old weight", "old spectral"],
)  # fmt: skip
def test_normalised_weights(torch, kind):
    records = []
    for library in (rushlight, torch):
        module = make_normalised(library, kind)
        twin = copy.deepcopy(module) if not kind.startswith("old") else None
        record = dict(module.state_dict())
        output = module(library.arange(6.0).reshape(2, 3))
        output.sum().backward()
        record["output"] = output.detach()
        record |= {f"gradient {n}": p.grad for n, p in module.named_parameters()}
        record |= {f"after {n}": value for n, value in module.state_dict().items()}
        module.eval()
        record["eval"] = module(library.ones(1, 3)).detach()
        if twin is not None:
            twin.load_state_dict(module.state_dict())
            record["loaded"] = twin.eval()(library.ones(1, 3)).detach()
        tools, parametrize = utils(library), utils(library, "parametrize")
        if kind == "old weight":
            tools.remove_weight_norm(module)
        elif kind == "old spectral":
            tools.remove_spectral_norm(module)
        else:
            parametrize.remove_parametrizations(module, "bias" if "bias" in kind else "weight")
        record |= {f"removed {n}": p.detach() for n, p in module.named_parameters()}
        records.append((repr(module), record))
    (text, ours), (expected_text, theirs) = records
    assert text == expected_text and list(ours) == list(theirs)
    for name, value in ours.items():
        numpy.testing.assert_allclose(
            value.numpy(), theirs[name].numpy(), rtol=1e-5, atol=1e-6, err_msg=name
        )


def test_weight_norm_takes_states_of_the_old_one(framework):
    old = make_normalised(framework, "weight, one length").state_dict()
    state = {
        "bias": old["bias"],
        "weight_g": old["parametrizations.weight.original0"],
        "weight_v": old["parametrizations.weight.original1"],
    }
    module = make_normalised(framework, "weight, one length")
    module.load_state_dict(state)


def test_fusion(framework):
    tools, nn = utils(framework), framework.nn
    framework.manual_seed(1)
    norm = nn.BatchNorm1d(3).eval()
    norm.running_mean.uniform_(-1, 1)
    norm.running_var.uniform_(0.5, 2)
    norm.weight.data.uniform_(0.5, 2)
    linear = nn.Linear(2, 3).eval()
    x = framework.randn(4, 2)
    fused = tools.fuse_linear_bn_eval(linear, norm)
    assert framework.allclose(fused(x), norm(linear(x)), atol=1e-5)
    assert isinstance(fused.weight, nn.Parameter) and fused.weight is not linear.weight
    weight, bias = tools.fuse_conv_bn_weights(
        framework.ones(3, 2, 1), None, norm.running_mean, norm.running_var, norm.eps, None, None
    )
    assert weight.shape == (3, 2, 1) and bias.shape == (3,)
    with pytest.raises(AssertionError):
        tools.fuse_linear_bn_eval(linear.train(), norm)
