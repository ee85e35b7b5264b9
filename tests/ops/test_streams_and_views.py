"""Random streams of counts beside PyTorch's, and views that the core makes."""

from __future__ import annotations

import numpy
import pytest

import rushlight

torch = pytest.importorskip("torch")
P = numpy.random.default_rng(0).random((5, 9)).tolist()
TRIALS = [[n] * 9 for n in (3.0, 10.0, 100.0, 1000.0, 0.0)]


@pytest.mark.parametrize(
    "draw",
    [
        lambda m: m.empty(37).log_normal_(),
        lambda m: m.empty(1).log_normal_() + m.randn(3),
        lambda m: m.multinomial(m.tensor(P), 4),
        lambda m: m.multinomial(m.tensor(P), 20, replacement=True),
        lambda m: m.poisson(m.tensor(P) * 40),
        lambda m: m.poisson(m.tensor(P, dtype=m.float64) * 4),
        lambda m: m.binomial(m.tensor(TRIALS), m.tensor(P)),
        lambda m: m.nn.functional.rrelu(m.tensor(P) - 0.5, training=True),
    ],
)
def test_streams(draw) -> None:
    """The draws are PyTorch's, and so is what the generator gives next."""
    results = []
    for module in (rushlight, torch):
        module.manual_seed(3)
        results.append([numpy.asarray(x.tolist()) for x in (draw(module), module.rand(2))])
    for ours, theirs in zip(*results, strict=True):
        numpy.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_diagonal_is_a_view() -> None:
    x = rushlight.zeros(3, 4)
    x.t().diagonal(1).fill_(2)
    assert x.diagonal(-1).tolist() == [2, 2] and x.sum() == 4
    assert x.diagonal(7).shape == (0,) and x.diagonal(-(2**63)).shape == (0,)


def test_unfold_is_a_view_whose_gradient_adds_up() -> None:
    x = rushlight.arange(5.0).requires_grad_()
    windows = x.unfold(0, 3, 1)
    assert windows.stride() == (1, 1)
    windows.sum().backward()
    assert x.grad.tolist() == [1, 2, 3, 2, 1]


def test_out_of_another_shape_keeps_field_names() -> None:
    out = rushlight.empty(0), rushlight.empty(0, dtype=rushlight.int64)
    result = rushlight.sort(rushlight.tensor([2.0, 1.0]), out=out)
    assert result.values is out[0] and result.indices.tolist() == [1, 0]


def test_saved_values_of_derived_sizes_in_second_derivatives() -> None:
    """A saved difference of neighbours has one element less than what it is multiplied with."""
    y, x = (rushlight.rand(*s, dtype=rushlight.float64).requires_grad_() for s in ((2, 5), (5,)))
    area = rushlight.cumulative_trapezoid(y, x)
    first = rushlight.autograd.grad((area**3).sum(), (y, x), create_graph=True)
    second = rushlight.autograd.grad(sum((g * g).sum() for g in first), (y, x))
    a, b = (torch.tensor(v.tolist(), dtype=torch.float64, requires_grad=True) for v in (y, x))
    area = torch.cumulative_trapezoid(a, b)
    first = torch.autograd.grad((area**3).sum(), (a, b), create_graph=True)
    for ours, theirs in zip(second, torch.autograd.grad(sum((g * g).sum() for g in first), (a, b))):
        numpy.testing.assert_allclose(ours.tolist(), theirs.tolist(), rtol=1e-9)
