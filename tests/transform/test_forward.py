"""Forward mode."""

from __future__ import annotations

from typing import Any

import numpy
from transform_support import Program, run

from rushlight.transform.forward import DualContext, jvp_graph


def array(*numbers: Any) -> numpy.ndarray:
    return numpy.array(numbers, dtype=numpy.float64)


def test_tangents_of_outputs() -> None:
    def function(x: Any, y: Any) -> Any:
        return x * y, x.sum(), y > 1, (y * 2).detach()

    x, y, tangent = array(1, 2), array(3, 4), array(10, 20)
    program = Program(function, x, y)
    graph = jvp_graph(program.graph, [True, False])
    *primals, product, total, comparison, detached = run(graph, [x, y, tangent])
    numpy.testing.assert_allclose(primals[0], x * y)
    numpy.testing.assert_allclose(product, tangent * y)
    numpy.testing.assert_allclose(total, 30)
    assert comparison is None
    assert detached is None


def test_product_rule_of_matmul() -> None:
    generator = numpy.random.default_rng(0)
    a, b, da, db = (generator.standard_normal(shape) for shape in [(2, 3), (3, 4)] * 2)
    program = Program(lambda a, b: a @ b, a, b)
    _, tangent = run(jvp_graph(program.graph, [True, True]), [a, b, da, db])
    numpy.testing.assert_allclose(tangent, da @ b + a @ db)


def test_forward_over_forward() -> None:
    x = array(0.5, 2)
    program = Program(lambda x: x * x * x, x)
    once = jvp_graph(program.graph, [True])
    twice = jvp_graph(once, [True, False])
    one = numpy.ones(2)
    results = run(twice, [x, one, one])
    numpy.testing.assert_allclose(results[3], 6 * x)


def test_levels_are_told_apart() -> None:
    """d/dx (x * d/dy (x + y)) is 1: the inner derivative must not see the outer tangent."""
    program = Program(lambda: None)
    x, dx = program.tensor(array(2)), program.tensor(array(1))
    with program.context.active():
        outer = DualContext(program.context)
        dual_x = outer.dual(x, dx)
        inner = DualContext(outer)
        dual_y = inner.dual(dual_x, dual_x * 0 + 1)
        derivative = inner.split(dual_x + dual_y)[1]
        tangent = outer.split(dual_x * derivative)[1]
    (result,) = run(program.context.finish([tangent]), [array(2), array(1)])
    numpy.testing.assert_allclose(result, [1])


def test_tangent_of_a_real_result_is_real() -> None:
    x, tangent = numpy.array([3 + 4j]), numpy.array([1 + 0j])
    program = Program(lambda x: x.abs(), x)
    _, result = run(jvp_graph(program.graph, [True]), [x, tangent])
    assert result.dtype == numpy.float64
    numpy.testing.assert_allclose(result, [0.6])
