"""The laws of transforms over the records' sample calls: a new record needs no test of its own."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from transform_support import (
    Backward,
    RecordProgram,
    all_records,
    dot,
    merged_seeds,
    random_like,
    run,
    sample_calls,
    vjp,
    with_direction,
)  # fmt: skip

from rushlight import dtypes
from rushlight.graph.expressions import evaluate
from rushlight.graph.symbols import SymbolicInt
from rushlight.graph.trace import GraphContext
from rushlight.transform import reverse
from rushlight.transform.batching import batch_graph
from rushlight.transform.forward import jvp_graph
from rushlight.transform.replay import replay

RECORDS = all_records()
DERIVATIVE_CASES = [
    (record, dtype) for record in RECORDS for dtype in (dtypes.float64, dtypes.complex128)
]
BATCH = 3


def case_name(part: Any) -> str:
    return part.name


def programs(record: Any, dtype: Any) -> list[RecordProgram]:
    """The sample calls that can be traced in this dtype; every record takes float64 or int64."""
    result = []
    for args, kwargs in sample_calls(record, dtype):
        try:
            result.append(RecordProgram(record, args, kwargs))
        except (NotImplementedError, RuntimeError, TypeError, ValueError, IndexError):
            if dtype is dtypes.int64:
                raise
    return result if result or dtype is not dtypes.float64 else programs(record, dtypes.int64)


def is_precise(program: RecordProgram) -> bool:
    """Whether everything is in double precision and finite, so that differences mean something."""
    double = all(
        v.dtype.to_real() is dtypes.float64
        for v in program.graph.values()
        if v.dtype.is_differentiable
    )
    return double and all(
        numpy.isfinite(array).all() for array in run(program.graph, program.arrays)
    )


def differentiable(record: Any, dtype: Any) -> list[tuple[RecordProgram, list[int]]]:
    """The deterministic programs in which an output has a gradient; the places of such inputs."""
    if record.random:
        pytest.skip("draws random numbers")
    found = []
    for program in programs(record, dtype):
        wrt = program.differentiable
        if any(node.primitive.impure for node in program.graph.nodes) or not is_precise(program):
            continue
        active = reverse.dependents(program.graph, wrt)
        if any(value in active for value in program.graph.outputs):
            found.append((program, [program.graph.inputs.index(value) for value in wrt]))
    if not found:
        pytest.skip("no derivative")
    return found


def seeded_outputs(program: RecordProgram) -> list[int]:
    active = reverse.dependents(program.graph, program.differentiable)
    return [
        program.graph.outputs.index(v) for v in dict.fromkeys(program.graph.outputs) if v in active
    ]


def assert_close(actual: float, expected: float, tolerance: float, what: str) -> None:
    if numpy.isfinite(expected):
        assert abs(actual - expected) <= tolerance * (1 + abs(expected)), (
            f"{what}: {actual} instead of {expected}"
        )


@pytest.mark.parametrize(("record", "dtype"), DERIVATIVE_CASES, ids=case_name)
def test_gradient_is_numeric_gradient(record: Any, dtype: Any) -> None:
    generator, step = numpy.random.default_rng(1), 1e-6
    for program, places in differentiable(record, dtype):
        values = run(program.graph, program.arrays)
        seeded = seeded_outputs(program)
        cotangents = [random_like(values[i], generator) for i in seeded]
        direction = [random_like(program.arrays[i], generator) for i in places]
        gradients = vjp(program.graph, program.differentiable, program.arrays, cotangents)
        ends = []
        for sign in (1, -1):
            moved = run(
                program.graph, with_direction(program.arrays, places, direction, sign * step)
            )
            ends.append(dot(cotangents, [moved[i] for i in seeded]))
        assert_close(
            dot(gradients, direction), (ends[0] - ends[1]) / (2 * step), 2e-4, repr(record)
        )


@pytest.mark.parametrize(("record", "dtype"), DERIVATIVE_CASES, ids=case_name)
def test_jvp_is_transposed_vjp(record: Any, dtype: Any) -> None:
    generator = numpy.random.default_rng(2)
    for program, places in differentiable(record, dtype):
        count = len(program.graph.outputs)
        seeded = seeded_outputs(program)
        direction = [random_like(program.arrays[i], generator) for i in places]
        pushed = jvp_graph(program.graph, [i in places for i in range(len(program.arrays))])
        results = run(pushed, [*program.arrays, *direction])
        cotangents = [random_like(results[i], generator) for i in seeded]
        gradients = vjp(program.graph, program.differentiable, program.arrays, cotangents)
        tangents = [results[count + i] for i in seeded]
        assert_close(dot(tangents, cotangents), dot(direction, gradients), 1e-9, repr(record))


@pytest.mark.parametrize(("record", "dtype"), DERIVATIVE_CASES, ids=case_name)
def test_second_order(record: Any, dtype: Any) -> None:
    """The gradient of the gradient against differences of the gradient."""
    generator, step = numpy.random.default_rng(3), 1e-6
    for program, places in differentiable(record, dtype):
        values = run(program.graph, program.arrays)
        cotangents = [random_like(values[i], generator) for i in seeded_outputs(program)]
        first = append_gradients(program, cotangents)
        arrays = [*program.arrays, *cotangents]
        gradients = run(first.graph, arrays)
        seeds = [None if each is None else random_like(each, generator) for each in gradients]
        direction = [random_like(program.arrays[i], generator) for i in places]
        ends = [
            dot(seeds, run(first.graph, with_direction(arrays, places, direction, sign * step)))
            for sign in (1, -1)
        ]
        wrt = [first.graph.inputs[i] for i in places]
        active = reverse.dependents(first.graph, wrt)
        kept = merged_seeds(first.graph, seeds, active)
        expected = (ends[0] - ends[1]) / (2 * step)
        second = vjp(first.graph, wrt, arrays, kept) if kept else [None] * len(wrt)
        assert_close(dot(second, direction), expected, 2e-3, repr(record))
        taped = Backward(program.graph, program.differentiable, program.arrays).twice(
            cotangents, seeds
        )
        assert_close(dot(taped, direction), expected, 2e-3, f"{record!r} on a tape")


def append_gradients(program: RecordProgram, cotangents: list[Any]) -> RecordProgram:
    """The graph of the gradients, a continuation of the program's own."""
    copy = RecordProgram.__new__(RecordProgram)
    copy.context = GraphContext(program.graph.environment)
    inputs = [copy.context.input(v.dtype, v.shape, weak=v.weak) for v in program.graph.inputs]
    values = replay(
        program.graph, copy.context, dict(zip(program.graph.inputs, inputs, strict=True))
    )
    outputs = [program.graph.outputs[i] for i in seeded_outputs(program)]
    seeds = {
        values[value].value: copy.context.input(value.dtype, values[value].shape)
        for value in outputs
    }
    wrt = [values[value].value for value in program.differentiable]
    copy.graph = copy.context.finish(
        reverse.gradients(copy.context, copy.context.graph, seeds, wrt)
    )
    return copy


@pytest.mark.parametrize("record", RECORDS, ids=case_name)
def test_batched_is_stack_of_single_calls(record: Any) -> None:
    if record.random:
        pytest.skip("draws random numbers")
    generator = numpy.random.default_rng(4)
    for program in programs(record, dtypes.float64):
        tensors = [i for i, value in enumerate(program.graph.inputs) if not value.weak]
        if any(node.primitive.impure for node in program.graph.nodes) or not tensors:
            continue
        for batched in (list(tensors), tensors[:1], tensors[1:]):
            if not batched:
                continue
            examples = [list(program.arrays) for _ in range(BATCH)]
            for i in batched:
                for example in examples:
                    example[i] = shuffled(program.arrays[i], generator)
            in_dims = [
                (-1 if i % 2 else 0) if i in batched else None for i in range(len(program.arrays))
            ]
            try:
                graph = batch_graph(program.graph, in_dims, BATCH)
            except NotImplementedError as error:
                pytest.skip(str(error))
            arrays = [
                array
                if dim is None
                else numpy.stack([example[i] for example in examples], axis=dim)
                for i, (array, dim) in enumerate(zip(program.arrays, in_dims, strict=True))
            ]
            results = run(graph, arrays)
            singles = [run(program.graph, example) for example in examples]
            for position, result in enumerate(results):
                expected = numpy.stack([single[position] for single in singles])
                numpy.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-9)


def shuffled(array: Any, generator: numpy.random.Generator) -> Any:
    flat = generator.permutation(array.reshape(-1))
    return flat.reshape(array.shape)


@pytest.mark.parametrize("record", RECORDS, ids=case_name)
def test_other_sizes(record: Any) -> None:
    """A graph and its backward pass serve every size for which the guards hold."""
    if record.random:
        pytest.skip("draws random numbers")
    generator = numpy.random.default_rng(5)
    for program in programs(record, dtypes.float64):
        symbols = program.graph.environment.symbols
        if (
            any(node.primitive.impure for node in program.graph.nodes)
            or not symbols
            or program.sizes
        ):
            continue
        other = {atom: atom.hint + 5 for atom in symbols if atom.hint is not None}
        arrays = [
            resized(x, v, other, generator)
            for x, v in zip(program.arrays, program.graph.inputs, strict=True)
        ]
        graph = numeric_graph(program, other)
        if graph is None:
            continue
        for result, again in zip(run(program.graph, arrays), run(graph, arrays), strict=True):
            numpy.testing.assert_allclose(result, again, rtol=1e-12)
        check_backward_at(program, arrays, generator)


def numeric_graph(program: RecordProgram, sizes: dict[Any, int]) -> Any:
    """The program's graph with plain ints as sizes; None if a guard does not hold of them."""
    if None in [atom.hint for atom in program.graph.environment.symbols]:
        return None
    compare = {
        "eq": "__eq__",
        "ne": "__ne__",
        "lt": "__lt__",
        "le": "__le__",
        "gt": "__gt__",
        "ge": "__ge__",
    }
    for operation, a, b in program.graph.environment.guards:
        left, right = (evaluate(each, sizes.__getitem__) for each in (a, b))
        if not getattr(left, compare[operation])(right):
            return None
    context = GraphContext()
    shapes = [
        tuple(evaluate(n, sizes.__getitem__) for n in value.shape) for value in program.graph.inputs
    ]
    inputs = [
        context.input(v.dtype, shape, weak=v.weak)
        for v, shape in zip(program.graph.inputs, shapes, strict=True)
    ]
    values = replay(
        program.graph,
        context,
        dict(zip(program.graph.inputs, inputs, strict=True)),
        sizes.__getitem__,
    )
    assert not any(
        isinstance(size, SymbolicInt) for value in context.graph.values() for size in value.shape
    )
    return context.finish([values[value] for value in program.graph.outputs])


def resized(
    array: Any, value: Any, sizes: dict[Any, int], generator: numpy.random.Generator
) -> Any:
    """Elements of the array in the shape that the value has with other sizes."""
    if value.weak:
        return array
    shape = tuple(evaluate(size, sizes.__getitem__) for size in value.shape)
    return (
        generator.choice(array.reshape(-1), shape)
        if array.size
        else numpy.zeros(shape, array.dtype)
    )


def check_backward_at(
    program: RecordProgram, arrays: list[Any], generator: numpy.random.Generator
) -> None:
    """The backward pass, planned for other sizes than the forward pass was traced with."""
    wrt = program.differentiable
    seeded = seeded_outputs(program)
    if not seeded:
        return
    values = run(program.graph, arrays)
    cotangents = [random_like(values[i], generator) for i in seeded]
    gradients = Backward(program.graph, wrt, arrays).gradients(cotangents)
    for value, gradient in zip(wrt, gradients, strict=True):
        if gradient is not None:
            assert gradient.shape == arrays[program.graph.inputs.index(value)].shape
