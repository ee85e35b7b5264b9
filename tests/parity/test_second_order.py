"""Second derivatives of fused operators beside PyTorch's and beside finite differences."""

from __future__ import annotations

import numpy
import pytest

import rushlight

torch = pytest.importorskip("torch")

RANDOM = numpy.random.default_rng(5)


def normal(*shape):
    return RANDOM.standard_normal(shape)


def layer_norm(module, x, weight, bias):
    return module.nn.functional.layer_norm(x, (x.shape[-1],), weight, bias)


def softmax(module, x):
    return module.softmax(x, -1)


def cross_entropy(module, x):
    targets = module.arange(x.shape[0]) % x.shape[1]
    return module.nn.functional.cross_entropy(x, targets)


def network(module, x, w1, b1, w2, b2):
    functional = module.nn.functional
    hidden = module.tanh(functional.linear(x, w1, b1))
    return functional.linear(hidden, w2, b2)


CASES = {
    "layer_norm": (layer_norm, [normal(4, 6), normal(6), normal(6)]),
    "softmax": (softmax, [normal(3, 5)]),
    "cross_entropy": (cross_entropy, [normal(6, 4)]),
    "network": (network, [normal(5, 3), normal(8, 3), normal(8), normal(2, 8), normal(2)]),
}


def tensors(module, arrays):
    return [module.from_numpy(array.copy()).requires_grad_() for array in arrays]


def first(module, function, inputs):
    result = function(module, *inputs)
    weights = module.arange(result.numel()).to(result.dtype).reshape(result.shape) + 1
    return module.autograd.grad((result * result * weights).sum(), inputs, create_graph=True)


def second(module, function, arrays):
    """Gradients of a weighted sum of all first derivatives."""
    inputs = tensors(module, arrays)
    total = sum((g * (k + 1)).pow(2).sum() for k, g in enumerate(first(module, function, inputs)))
    return [g.numpy() for g in module.autograd.grad(total, inputs)]


@pytest.mark.parametrize("name", CASES)
def test_second_derivatives_match_pytorch(name):
    function, arrays = CASES[name]
    for ours, theirs in zip(second(rushlight, function, arrays), second(torch, function, arrays)):
        numpy.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", CASES)
def test_second_derivatives_match_differences(name):
    function, arrays = CASES[name]
    step = 1e-6

    def directional(arrays):
        gradients = first(rushlight, function, tensors(rushlight, arrays))
        return [g.detach().numpy() for g in gradients]

    direction = [normal(*array.shape) for array in arrays]
    inputs = tensors(rushlight, arrays)
    gradients = first(rushlight, function, inputs)
    product = sum((g * rushlight.from_numpy(d)).sum() for g, d in zip(gradients, direction))
    hessian_vector = [g.numpy() for g in rushlight.autograd.grad(product, inputs)]
    ahead = directional([a + step * d for a, d in zip(arrays, direction)])
    behind = directional([a - step * d for a, d in zip(arrays, direction)])
    for exact, plus, minus in zip(hessian_vector, ahead, behind):
        numpy.testing.assert_allclose(exact, (plus - minus) / (2 * step), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["mean", "var", "layer_norm", "softmax", "cross_entropy"])
def test_results_follow_the_sizes(name):
    """One structure, several sizes: nothing of the first size is left in the plan."""
    functions = {
        "mean": lambda module, x: x.mean(1),
        "var": lambda module, x: x.var(1),
        "layer_norm": lambda module, x: module.nn.functional.layer_norm(x, (x.shape[1],)),
        "softmax": softmax,
        "cross_entropy": cross_entropy,
    }
    for rows, columns in [(4, 32), (4, 7), (9, 32), (7, 4), (300, 5), (2, 1000)]:
        array = normal(rows, columns)
        results = []
        for module in (rushlight, torch):
            x = module.from_numpy(array.copy()).requires_grad_()
            y = functions[name](module, x)
            y.pow(2).sum().backward()
            results.append((y.detach().numpy(), x.grad.numpy()))
        for ours, theirs in zip(*results):
            numpy.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


MASKED = {
    "pow": lambda m, x, y: m.pow(x, m.relu(y)),
    "xlogy": lambda m, x, y: m.xlogy(m.relu(x), y),
    "xlog1py": lambda m, x, y: m.special.xlog1py(m.relu(x), y),
    "maximum": lambda m, x, y: m.maximum(m.log(x), y),
    "minimum": lambda m, x, y: m.minimum(x.pow(m.relu(y)), y),
}


@pytest.mark.parametrize("name", MASKED)
def test_what_does_not_pass_a_mask_need_not_be_finite(name):
    """A gradient is 0 where the operator's rule says so, not NaN times 0."""
    values = [-1.5, -0.3, 0.0, 0.7, 2.0]
    results = []
    for module in (rushlight, torch):
        x, y = module.meshgrid(*[module.tensor(values, dtype=module.float64)] * 2, indexing="ij")
        inputs = [each.clone().requires_grad_() for each in (x, y)]
        weights = module.arange(25.0, dtype=module.float64).cos().reshape(5, 5)
        result = (MASKED[name](module, *inputs) * weights).sum()
        found = list(module.autograd.grad(result, inputs, create_graph=True))
        total = sum((each * weights).sum() for each in found)
        found += module.autograd.grad(total, inputs, materialize_grads=True, allow_unused=True)
        results.append([each.detach().numpy() for each in found])
    for ours, theirs in zip(*results):
        known = numpy.isfinite(theirs)
        assert known.sum() > 9
        numpy.testing.assert_allclose(ours[known], theirs[known], rtol=1e-12)


def test_all_second_derivatives_of_a_power_of_zero_are_finite():
    x = rushlight.zeros(3, dtype=rushlight.float64, requires_grad=True)
    y = rushlight.tensor([2.0, 3.0, 0.0], dtype=rushlight.float64, requires_grad=True)
    total = sum(
        each.sum() for each in rushlight.autograd.grad((x**y).sum(), (x, y), create_graph=True)
    )
    by_x, by_y = rushlight.autograd.grad(total, (x, y))
    assert by_x.tolist() == [2.0, 0.0, 0.0]
    assert by_y.tolist() == [0.0, 0.0, 0.0]
