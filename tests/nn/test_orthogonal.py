"""Weights that stay orthogonal, beside PyTorch."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import rushlight
from rushlight.nn.utils import parametrizations

torch = pytest.importorskip("torch")

MAPS = ("matrix_exp", "cayley", "householder")


def pair(rows: int, columns: int, name: str | None, trivial: bool) -> tuple[Any, Any]:
    """A layer of ours and one of PyTorch's with the same weight, both orthogonal."""
    ours, theirs = rushlight.nn.Linear(columns, rows), torch.nn.Linear(columns, rows)
    theirs.weight.data = torch.from_numpy(ours.weight.detach().numpy().copy())
    for package, layer in ((rushlight, ours), (torch, theirs)):
        package.manual_seed(3)
        package.nn.utils.parametrizations.orthogonal(
            layer, orthogonal_map=name, use_trivialization=trivial
        )
    return ours, theirs


@pytest.mark.parametrize("shape", ((4, 4), (5, 3), (3, 5)))
@pytest.mark.parametrize("name", (None, *MAPS))
def test_weight_and_gradient(shape: tuple[int, int], name: str | None) -> None:
    ours, theirs = pair(*shape, name, True)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    factor = rushlight.randn(*shape)
    for _ in range(2):
        (ours.weight * factor).sum().backward()
        (theirs.weight * torch.from_numpy(factor.numpy())).sum().backward()
        a = ours.parametrizations.weight.original
        b = theirs.parametrizations.weight.original
        torch.testing.assert_close(
            torch.from_numpy(ours.weight.detach().numpy()),
            theirs.weight.detach(),
            atol=2e-5,
            rtol=0,
        )
        torch.testing.assert_close(torch.from_numpy(a.grad.numpy()), b.grad, atol=1e-4, rtol=1e-4)
        with rushlight.no_grad():
            a -= 0.1 * a.grad
        with torch.no_grad():
            b -= 0.1 * b.grad
    Q = ours.weight if shape[0] >= shape[1] else ours.weight.mT
    assert rushlight.allclose(Q.mT @ Q, rushlight.eye(Q.shape[1]), atol=1e-5)


@pytest.mark.parametrize("shape", ((4, 4), (5, 3), (3, 5)))
@pytest.mark.parametrize("name", MAPS)
def test_assignment(shape: tuple[int, int], name: str) -> None:
    ours, _ = pair(*shape, name, True)
    Q = rushlight.empty(*shape)
    rushlight.nn.init.orthogonal_(Q)
    ours.weight = Q
    assert rushlight.allclose(ours.weight, Q, atol=1e-5)
    assert rushlight.allclose(copy.deepcopy(ours).weight, ours.weight)


def test_without_base() -> None:
    layer = rushlight.nn.Linear(3, 5)
    parametrizations.orthogonal(layer, orthogonal_map="householder", use_trivialization=False)
    Q = rushlight.empty(5, 3)
    rushlight.nn.init.orthogonal_(Q)
    layer.weight = Q
    assert rushlight.allclose(layer.weight, Q, atol=1e-5)
    for name in ("matrix_exp", "cayley"):
        with pytest.raises(NotImplementedError, match="not possible to assign"):
            other = parametrizations.orthogonal(
                rushlight.nn.Linear(3, 3), orthogonal_map=name, use_trivialization=False
            )
            other.weight = rushlight.eye(3)


def test_complex_weights() -> None:
    layer = rushlight.nn.Linear(3, 3, dtype=rushlight.complex64)
    Q = parametrizations.orthogonal(layer).weight
    assert rushlight.allclose(Q.mH @ Q, rushlight.eye(3, dtype=Q.dtype), atol=1e-5)
    with pytest.raises(ValueError, match="complex"):
        parametrizations.orthogonal(
            rushlight.nn.Linear(3, 3, dtype=rushlight.complex64), orthogonal_map="householder"
        )


def test_wrong_arguments() -> None:
    layer = rushlight.nn.Linear(3, 3)
    with pytest.raises(ValueError, match="orthogonal_map has to be one of"):
        parametrizations.orthogonal(layer, orthogonal_map="qr")
    with pytest.raises(ValueError, match="has no parameter"):
        parametrizations.orthogonal(layer, "other")
    with pytest.raises(ValueError, match="Got a tensor of 1 dim"):
        parametrizations.orthogonal(layer, "bias")
