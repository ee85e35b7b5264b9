"""`nn.init`: PyTorch's numbers from the same seed."""

from __future__ import annotations

import warnings

import numpy
import pytest

import rushlight

CALLS = {
    "uniform_": lambda i, t: i.uniform_(t, -2, 3),
    "normal_": lambda i, t: i.normal_(t, 1, 0.5),
    "trunc_normal_": lambda i, t: i.trunc_normal_(t),
    "trunc_normal_ narrow": lambda i, t: i.trunc_normal_(t, std=0.02, a=-0.03, b=0.01),
    "trunc_normal_ far": lambda i, t: i.trunc_normal_(t, 0, 1, 2.0, 4.0),
    "trunc_normal_ further": lambda i, t: i.trunc_normal_(t, 0, 1, 5.0, 6.0),
    "constant_": lambda i, t: i.constant_(t, 3.5),
    "ones_": lambda i, t: i.ones_(t),
    "zeros_": lambda i, t: i.zeros_(t),
    "eye_": lambda i, t: i.eye_(t),
    "xavier_uniform_": lambda i, t: i.xavier_uniform_(t, 2.0),
    "xavier_normal_": lambda i, t: i.xavier_normal_(t),
    "kaiming_uniform_": lambda i, t: i.kaiming_uniform_(t, mode="fan_out", nonlinearity="relu"),
    "kaiming_normal_": lambda i, t: i.kaiming_normal_(t, a=0.2),
    "orthogonal_": lambda i, t: i.orthogonal_(t, 1.5),
    "sparse_": lambda i, t: i.sparse_(t, 0.4),
    "dirac_": lambda i, t: i.dirac_(t, 2),
}
SHAPES = {
    "eye_": [(3, 5)],
    "sparse_": [(7, 3)],
    "dirac_": [(4, 3, 3), (4, 1, 2, 3), (6, 5, 1, 2, 2)],
    "orthogonal_": [(3, 5), (6, 4), (3, 2, 4)],
}


@pytest.mark.parametrize("name", CALLS)
def test_numbers(torch, name):
    for shape in SHAPES.get(name.split()[0], [(4, 5), (3, 2, 5), (20, 30)]):
        results = []
        for library in (rushlight, torch):
            library.manual_seed(11)
            tensor = library.full(shape, 9.0).requires_grad_()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert CALLS[name](library.nn.init, tensor) is tensor
            assert tensor.requires_grad and tensor.is_leaf
            results.append((tensor.detach().numpy(), library.rand(1).item()))
        (ours, next_ours), (theirs, next_theirs) = results
        numpy.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=2e-6)
        assert next_ours == next_theirs  # as many random numbers were drawn


def test_errors(framework):
    init, vector = framework.nn.init, framework.zeros(3)
    for call in (
        lambda: init.xavier_uniform_(vector),
        lambda: init.kaiming_normal_(vector),
        lambda: init.kaiming_uniform_(framework.zeros(2, 2), mode="fan"),
        lambda: init.eye_(vector),
        lambda: init.dirac_(framework.zeros(2, 2)),
        lambda: init.dirac_(framework.zeros(3, 2, 2), groups=2),
        lambda: init.sparse_(vector, 0.1),
        lambda: init.orthogonal_(vector),
        lambda: init.calculate_gain("unknown"),
        lambda: init.calculate_gain("leaky_relu", True),
    ):
        with pytest.raises(ValueError):
            call()


def test_gains(torch):
    for name in ("linear", "conv2d", "sigmoid", "tanh", "relu", "selu", "leaky_relu"):
        assert rushlight.nn.init.calculate_gain(name) == torch.nn.init.calculate_gain(name)
    assert rushlight.nn.init.calculate_gain("leaky_relu", 0.3) == torch.nn.init.calculate_gain(
        "leaky_relu", 0.3
    )


def test_generators_and_old_names(framework):
    generator = framework.Generator().manual_seed(3)
    a = framework.nn.init.normal_(framework.zeros(4), generator=generator)
    framework.manual_seed(3)
    assert framework.equal(a, framework.nn.init.normal_(framework.zeros(4)))
    with pytest.warns(FutureWarning, match="uniform_"):
        framework.nn.init.uniform(framework.zeros(2))
    with pytest.warns(UserWarning, match="zero-element"):
        framework.nn.init.kaiming_uniform_(framework.zeros(0, 2))
    framework.nn.init.trunc_normal_(framework.zeros(2, device="meta"))
