"""Laws that hold between the transforms, and networks as they are used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from func_support import arrays, compare

import rushlight
from rushlight import func

FUNCTIONS: list[Callable[[Any], Any]] = [
    lambda x: x.sin() * x,
    lambda x: x.cumsum(0) / (1 + x * x),
    lambda x: rushlight.nn.functional.softmax(x, 0),
    lambda x: (x.unsqueeze(0) * x.unsqueeze(1)).reshape(-1)[::3],
    lambda x: rushlight.stack([x.max(), x.logsumexp(0), x.prod()]),
    lambda x: rushlight.where(x > 0, x, x.exp()),
]


def tensor(*shape: int, seed: int = 0) -> Any:
    return rushlight.from_numpy(arrays(shape, seed=seed)[0])


def close(a: Any, b: Any) -> None:
    numpy.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_vmap_is_a_stack_of_calls(function: Callable[[Any], Any]) -> None:
    xs = tensor(3, 4)
    close(func.vmap(function)(xs), rushlight.stack([function(x) for x in xs]))
    close(func.vmap(function, 1, 1)(xs), rushlight.stack([function(x) for x in xs.t()], 1))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_jvp_is_vjp_transposed(function: Callable[[Any], Any]) -> None:
    x, v = tensor(4), tensor(4, seed=1)
    output, tangent = func.jvp(function, (x,), (v,))
    other, vjp_fn = func.vjp(function, x)
    u = tensor(*output.shape, seed=2)
    close(output, other)
    close((tangent * u).sum(), (v * vjp_fn(u)[0]).sum())
    close(func.linearize(function, x)[1](v), tangent)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_jacobians(function: Callable[[Any], Any]) -> None:
    x = tensor(4)
    forward, reverse = func.jacfwd(function)(x), func.jacrev(function)(x)
    close(forward, reverse)
    close(func.jacfwd(function, chunk_size=3)(x), reverse)
    close(func.jacrev(function, chunk_size=3)(x), reverse)
    close(reverse @ tensor(4, seed=1), func.jvp(function, (x,), (tensor(4, seed=1),))[1])


@pytest.mark.parametrize("function", FUNCTIONS)
def test_hessian_is_symmetric(function: Callable[[Any], Any]) -> None:
    def scalar(x: Any) -> Any:
        return (function(x) ** 2).sum()

    hessian = func.hessian(scalar)(tensor(4))
    close(hessian, hessian.t())
    close(hessian, func.jacrev(func.jacfwd(scalar))(tensor(4)))
    close(hessian, func.jacfwd(func.jacfwd(scalar))(tensor(4)))


# ---------------------------------------------------------------- networks


def network(t: Any, parameters: dict[str, Any], x: Any, y: Any) -> Any:
    hidden = t.relu(x @ parameters["w1"] + parameters["b1"])
    return ((hidden @ parameters["w2"] - y) ** 2).mean()


NETWORK = arrays((8, 16), (16,), (16, 4), (32, 8), (32, 4))


def test_gradients_for_each_sample() -> None:
    def program(t: Any, F: Any, w1: Any, b1: Any, w2: Any, x: Any, y: Any) -> Any:
        gradient = F.grad(lambda *args: network(t, *args))
        parameters = {"w1": w1, "b1": b1, "w2": w2}
        return F.vmap(gradient, in_dims=(None, 0, 0))(parameters, x, y)

    found = compare(program, *NETWORK)
    w1, b1, w2, x, y = map(rushlight.from_numpy, NETWORK)
    parameters = {"w1": w1, "b1": b1, "w2": w2}
    for i in range(3):
        one = func.grad(lambda p, i=i: network(rushlight, p, x[i], y[i]))(parameters)
        for name, gradient in one.items():
            close(found[name][i], gradient)


def test_ensemble() -> None:
    def program(t: Any, F: Any, w1: Any, w2: Any, x: Any, y: Any) -> Any:
        def loss(w1: Any, w2: Any, x: Any, y: Any) -> Any:
            return ((t.tanh(x @ w1) @ w2 - y) ** 2).mean()

        return (
            F.vmap(loss, (0, 0, None, None))(w1, w2, x, y),
            F.vmap(F.grad(loss, argnums=(0, 1)), (0, 0, None, None))(w1, w2, x, y),
        )

    compare(program, *arrays((3, 8, 5), (3, 5, 2), (7, 8), (7, 2)))


# ---------------------------------------------------------------- random numbers


def test_randomness() -> None:
    x = tensor(4, 3)
    noise = func.vmap(lambda row: rushlight.rand_like(row) + row * 0, randomness="different")(x)
    assert not bool((noise[0] == noise[1]).any())
    same = func.vmap(lambda row: rushlight.rand(3) + row * 0, randomness="same")(x)
    assert bool((same == same[0]).all())
    rushlight.manual_seed(1)
    first = func.vmap(lambda row: rushlight.rand(3), randomness="different")(x)
    again = func.vmap(lambda row: rushlight.rand(3), randomness="different")(x)
    assert not bool((first == again).any())
    chunks = func.vmap(lambda row: rushlight.rand(3), randomness="same", chunk_size=3)(x)
    assert bool((chunks == chunks[0]).all())


def test_random_numbers_are_drawn_once() -> None:
    """A value that is asked for while tracing does not draw again what was drawn."""
    seen = []

    def function(x: Any) -> Any:
        noise = rushlight.rand(())
        seen.append(noise.item())
        return x.sum() * noise

    gradient = func.grad(function)(tensor(3))
    close(gradient, rushlight.full((3,), seen[0], dtype=rushlight.float64))
