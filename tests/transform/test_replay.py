"""Replaying a graph elsewhere: other sizes, bound values, regions."""

from __future__ import annotations

from typing import Any

import numpy
from transform_support import Program, run

from rushlight.graph.symbols import SymbolicInt
from rushlight.graph.trace import GraphContext
from rushlight.ops.record import COMPOSITES
from rushlight.transform.replay import replay


def standardized(x: Any) -> Any:
    centered = x - x.mean(-1, keepdim=True)
    return centered / (centered * centered).mean(-1, keepdim=True).sqrt()


def numbers(*shape: int) -> numpy.ndarray:
    return numpy.random.default_rng(0).standard_normal(shape)


def test_graph_traced_at_32_serves_7() -> None:
    program = Program(standardized, numbers(4, 32))
    x = numbers(4, 7)
    (result,) = run(program.graph, [x])
    centered = x - x.mean(1, keepdims=True)
    expected = centered / numpy.sqrt((centered**2).mean(1, keepdims=True))
    numpy.testing.assert_allclose(result, expected)


def test_plain_ints_in_the_place_of_symbols() -> None:
    program = Program(standardized, numbers(4, 32))
    (x,) = program.graph.inputs
    sizes = dict(zip(program.graph.environment.symbols, (5, 7), strict=True))
    context = GraphContext()
    values = replay(program.graph, context, {x: context.input(x.dtype, (5, 7))}, sizes.__getitem__)
    graph = context.finish([values[value] for value in program.graph.outputs])
    assert not any(isinstance(size, SymbolicInt) for v in graph.values() for size in v.shape)
    array = numbers(5, 7)
    numpy.testing.assert_allclose(run(graph, [array])[0], run(program.graph, [array])[0])


def test_bound_values_are_not_computed_again() -> None:
    inner: list[Any] = []

    def function(x: Any) -> Any:
        inner.append(x.exp())
        return inner[0] * 2

    program = Program(function, numbers(3))
    context = GraphContext(program.graph.environment)
    value = inner[0].value
    values = replay(program.graph, context, {value: context.input(value.dtype, value.shape)})
    graph = context.finish([values[program.graph.outputs[0]]])
    assert [node.name for node in graph.nodes if node.inputs] == ["mul"]


def test_only_what_is_wanted() -> None:
    program = Program(lambda x: (x.exp(), x.log()), numbers(3))
    context = GraphContext(program.graph.environment)
    (x,) = program.graph.inputs
    exp, log = program.graph.outputs
    values = replay(program.graph, context, {x: context.input(x.dtype, x.shape)}, wanted=[log])
    assert log in values
    assert exp not in values


def test_sizes_that_a_step_yields_are_new_symbols() -> None:
    program = Program(lambda x: x.masked_select(x > 0) * 2, numbers(9))
    context = GraphContext(program.graph.environment)
    (x,) = program.graph.inputs
    values = replay(program.graph, context, {x: context.input(x.dtype, x.shape)})
    array = numbers(20)
    (result,) = run(context.finish([values[program.graph.outputs[0]]]), [array])
    numpy.testing.assert_allclose(result, array[array > 0] * 2)


def test_regions_are_kept() -> None:
    own = next(each for each in COMPOSITES.values() if each.name == "softmax")
    program = Program(lambda x: own(x, 1), numbers(3, 4))
    context = GraphContext(program.graph.environment)
    (x,) = program.graph.inputs
    values = replay(program.graph, context, {x: context.input(x.dtype, x.shape)})
    assert [region.composite for region in context.graph.regions] == [
        region.composite for region in program.graph.regions
    ]
    for old, new in zip(program.graph.regions, context.graph.regions, strict=True):
        assert new.outputs == tuple(values[value].value for value in old.outputs)
