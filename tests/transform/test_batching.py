"""Batching: vmap over traced programs."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from transform_support import Program, run

from rushlight.graph.trace import PRIMITIVES
from rushlight.transform.batching import BatchedContext, batch_graph
from rushlight.transform.forward import jvp_graph


def numbers(*shape: int) -> numpy.ndarray:
    return numpy.random.default_rng(0).standard_normal(shape)


def test_batch_dims_and_shared_values() -> None:
    def function(x: Any, y: Any) -> Any:
        return x @ y, y * 2

    x, y = numbers(2, 3), numbers(3, 4)
    program = Program(function, x, y)
    xs = numbers(2, 5, 3)
    product, shared = run(batch_graph(program.graph, [1, None], 5), [xs, y])
    numpy.testing.assert_allclose(product, numpy.moveaxis(xs, 1, 0) @ y)
    numpy.testing.assert_allclose(shared, numpy.broadcast_to(y * 2, (5, 3, 4)))


def test_symbolic_batch_size() -> None:
    x = numbers(4)
    program = Program(lambda x: (x - x.mean()).exp(), x)
    size = program.graph.environment.size(9, ("size", 0, 0))
    graph = batch_graph(program.graph, [0], size)
    xs = numbers(6, 4)
    (result,) = run(graph, [xs])
    numpy.testing.assert_allclose(result, numpy.exp(xs - xs.mean(1, keepdims=True)))


def test_scalars_beside_vectors() -> None:
    """A 0-d operand that gets a batch dim must line up with the batch dim of the other."""
    x, y = numbers(3), numbers()
    program = Program(lambda x, y: x * y + y, x, y)
    xs, ys = numbers(3, 3), numbers(3)
    (result,) = run(batch_graph(program.graph, [0, 0], 3), [xs, ys])
    numpy.testing.assert_allclose(result, xs * ys[:, None] + ys[:, None])


def test_vmap_of_vmap_and_of_jvp() -> None:
    x = numbers(4)
    program = Program(lambda x: x.cumsum(0) * x, x)
    twice = batch_graph(batch_graph(program.graph, [0], 3), [1], 2)
    xs = numbers(3, 2, 4)
    numpy.testing.assert_allclose(
        run(twice, [xs])[0], numpy.moveaxis(numpy.cumsum(xs, -1) * xs, 1, 0)
    )
    pushed = batch_graph(jvp_graph(program.graph, [True]), [None, 0], 4)
    jacobian = run(pushed, [x, numpy.eye(4)])[1]
    expected = numpy.diag(numpy.cumsum(x)) + numpy.triu(numpy.ones((4, 4))) * x
    numpy.testing.assert_allclose(jacobian, expected)


def test_0d_tensor_has_no_dim_to_batch() -> None:
    program = Program(lambda: None)
    x = program.tensor(numbers())
    with program.context.active(), pytest.raises(ValueError, match="0-d"):
        BatchedContext(program.context, 3).batched(x, 0)


def random_program() -> Program:
    def function(x: Any) -> Any:
        attributes = {"shape": (4,), "bits": 32, "generator": None}
        return PRIMITIVES["random_bits"].apply(**attributes).to(x.dtype) + x

    return Program(function, numpy.zeros(4))


def test_randomness() -> None:
    program = random_program()
    zeros = numpy.zeros((3, 4))
    (same,) = run(batch_graph(program.graph, [0], 3, "same"), [zeros])
    assert (same == same[0]).all()
    (different,) = run(batch_graph(program.graph, [0], 3, "different"), [zeros])
    assert len(numpy.unique(different)) == 12
    with pytest.raises(RuntimeError, match="randomness error mode"):
        batch_graph(program.graph, [0], 3)
    with pytest.raises(RuntimeError, match="randomness is one of"):
        batch_graph(program.graph, [0], 3, "sometimes")
