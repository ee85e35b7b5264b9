"""Reverse mode: PyTorch's conventions, seeds of any values, composites' own derivatives, saving."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest
from transform_support import Backward, Program, run, vjp

from rushlight.graph.node import Graph
from rushlight.graph.rewrite import remove_dead
from rushlight.graph.trace import GraphContext, Traced
from rushlight.ops.record import COMPOSITES, Composite, op
from rushlight.transform import reverse

INF, NAN = float("inf"), float("nan")


def array(*numbers: Any) -> numpy.ndarray:
    return numpy.array(numbers, dtype=numpy.float64)


GRID = array([1, 2, 3], [4, 5, 6])
INTEGERS = numpy.array([[2, 0, 1], [1, 1, 2]])
CASES: dict[str, tuple[Callable[..., Any], tuple[numpy.ndarray, ...]]] = {
    "pow at zero": (lambda x, y: x.pow(y), (array(0, 0, 0, 2, 2, -2), array(0, 1, 2, 0, -1, 2))),
    "pow number": (lambda x: x.pow(0) + x.pow(2.5) + x.pow(2), (array(0, 1, 2.5),)),
    "number to the power": (lambda y: 2.0**y + y.exp(), (array(0, -1, 2),)),
    "sqrt at zero": (lambda x: x.sqrt(), (array(0, 4),)),
    "abs at zero": (lambda x: x.abs(), (array(0, -1, 2),)),
    "sign": (lambda x: x.sign() * x, (array(0, -1, 2),)),
    "clamp at bounds": (lambda x: x.clamp(-1, 2), (array(-2, -1, 0, 2, 3),)),
    "clamp by tensors": (
        lambda x, y: x.clamp(y, y + 1),
        (array(-2, -1, 0, 2, 3), array(-1, -1, 3, 1, -4)),
    ),
    "maximum ties": (lambda x, y: x.maximum(y) * x, (array(1, 2, 3), array(1, 3, 2))),
    "amax ties": (lambda x: x.amax(1), (array([1, 2, 2], [3, 3, 3]),)),
    "max with index": (lambda x: x.max(1)[0] * 2, (array([1, 2, 2], [3, 3, 3]),)),
    "prod without zeros": (lambda x: x.prod(1), (GRID,)),
    "prod with one zero": (lambda x: x.prod(1), (array([0, 2, 3], [4, 0, 6]),)),
    "prod with two zeros": (lambda x: x.prod(), (array(0, 2, 0),)),
    "where hides infinity": (lambda x: x.where(x > 0, 1.0).log(), (array(-1, 2, 3),)),
    "division": (lambda x, y: x / y, (array(1, 2, 0), array(3, -4, 5))),
    "broadcast": (lambda x, y: x * y + x, (array([1], [2]), array(3, 4, 5))),
    "scalar beside": (lambda x, y: (x * y).sum() / x.sum(), (array(1, 2, 3), array(3).reshape(()))),
    "logsumexp": (lambda x: x.logsumexp(1), (array([1, 2, 2], [-INF, 3, 3]),)),
    "cumsum": (lambda x: x.cumsum(1) * x, (GRID,)),
    "matmul": (lambda x, y: (x @ y).tanh(), (GRID / 9, array([1, 2], [0, 1], [-1, 3]))),
    "views": (lambda x: x.T.reshape(-1).flip(0)[1::2] * 2, (GRID,)),
    "mean of square": (lambda x: (x * x).mean() * x.exp(), (array(1, 2, 3),)),
    "var": (lambda x: x.var(1), (array([1, 2, 4], [4, 5, 9]),)),
    "remainder": (lambda x, y: x.remainder(y), (array(5, -5, 7.5), array(3, 3, -2))),
    "gather": (lambda x: x.gather(1, like(x, INTEGERS)) * x, (GRID,)),
    "scatter": (
        lambda x, y: x.scatter(1, like(x, INTEGERS[:, :2]), y) ** 2,
        (GRID, array([7, 8], [9, 1])),
    ),
    "scatter_add": (
        lambda x, y: x.scatter_add(0, like(x, INTEGERS % 2), y) ** 2,
        (GRID, array([7, 8, 1], [9, 1, 2])),
    ),
    "index": (lambda x: x[like(x, INTEGERS[0])] ** 2, (array([1, 2], [4, 5], [3, 8]),)),
    "index_put": (
        lambda x, y: x.index_put((like(x, INTEGERS[0]),), y) ** 2,
        (array([1, 2], [4, 5], [3, 8]), array([1, 2], [3, 4], [5, 6])),
    ),
    "index_put accumulating": (
        lambda x, y: x.index_put((like(x, INTEGERS[1]),), y, accumulate=True) ** 2,
        (array([1, 2], [4, 5], [3, 8]), array([1, 2], [3, 4], [5, 6])),
    ),
}  # fmt: skip
COMPLEX_CASES: dict[str, Callable[..., Any]] = {
    "abs": lambda x: x.abs(),
    "product": lambda x: x * x.conj() + x**2,
    "exp": lambda x: x.exp() / (x + 3),
    "sum of sqrt": lambda x: x.sqrt().sum(),
    "sgn": lambda x: x.sgn(),
    "matmul": lambda x: x.reshape(2, 2) @ x.reshape(2, 2).conj(),
    "real times complex": lambda x: x.abs() * x,
}


def like(x: Any, numbers: numpy.ndarray) -> Any:
    """Integers as a tensor of the kind that x is."""
    if isinstance(x, Traced):
        rows = [x.context.number(int(each)).long().reshape(1) for each in numbers.reshape(-1)]
        return COMPOSITES["cat"](rows).reshape(numbers.shape)
    import torch

    return torch.tensor(numbers)


def compare_with_torch(
    function: Callable[..., Any], arrays: tuple[numpy.ndarray, ...], second_order: bool = True
) -> None:
    torch = pytest.importorskip("torch")
    program = Program(function, *arrays)
    generator = numpy.random.default_rng(0)
    tensors = [torch.tensor(each, requires_grad=True) for each in arrays]
    result = function(*tensors)
    (value,) = run(program.graph, arrays)
    numpy.testing.assert_allclose(value, result.detach().numpy(), rtol=1e-12)
    cotangent = numpy.asarray(generator.integers(1, 5, result.shape)).astype(value.dtype)
    expected = torch.autograd.grad(result, tensors, torch.tensor(cotangent), create_graph=True)
    backward = Backward(program.graph, program.differentiable, arrays)
    actual = backward.gradients([cotangent])
    for mine, theirs in zip(actual, expected, strict=True):
        numpy.testing.assert_allclose(mine, theirs.detach().numpy(), rtol=1e-12, atol=1e-14)
    if second_order:
        compare_second_order(backward, cotangent, actual, tensors, expected)


def compare_second_order(
    backward: Backward, cotangent: Any, gradients: list[Any], tensors: Any, expected: Any
) -> None:
    torch = pytest.importorskip("torch")
    generator = numpy.random.default_rng(1)
    seeds = [
        numpy.asarray(generator.integers(1, 5, each.shape)).astype(each.dtype) for each in gradients
    ]
    pairs = [
        (each, torch.tensor(seed))
        for each, seed in zip(expected, seeds, strict=True)
        if each.requires_grad
    ]
    if not pairs:
        return
    outputs, weights = zip(*pairs, strict=True)
    second = torch.autograd.grad(outputs, tensors, weights, allow_unused=True)
    for mine, theirs in zip(backward.twice([cotangent], seeds), second, strict=True):
        mine = numpy.zeros(1) if mine is None else mine
        theirs = numpy.zeros(1) if theirs is None else theirs.numpy(force=True)
        numpy.testing.assert_allclose(
            mine, numpy.broadcast_to(theirs, mine.shape), rtol=1e-10, atol=1e-13
        )


@pytest.mark.parametrize("name", CASES)
def test_torch_agrees(name: str) -> None:
    compare_with_torch(
        *CASES[name], second_order=name != "pow at zero"
    )  # there ours has numbers for PyTorch's NaNs


@pytest.mark.parametrize("name", COMPLEX_CASES)
def test_torch_agrees_on_complex(name: str) -> None:
    compare_with_torch(COMPLEX_CASES[name], (numpy.array([1 + 2j, -1 + 0.5j, 0.3 - 2j, 2 + 0j]),))


# ---------------------------------------------------------------- seeds


def gradients_of(program: Program, seeds: dict[Any, Any], wanted: list[Any]) -> list[Any]:
    """Gradients in the program's own graph, for seeds that are arrays by value."""
    context = program.context
    inputs = {value: context.input(value.dtype, value.shape) for value in seeds}
    results = reverse.gradients(context, context.graph, inputs, wanted)
    outputs = [None if each is None else each.value for each in results]
    graph = Graph(context.environment, program.graph.inputs, list(context.graph.nodes), outputs)
    remove_dead(graph)
    values = run(graph, [*program.arrays, *seeds.values()])
    del program.graph.inputs[len(program.arrays) :]
    return values


def test_seeds_of_intermediate_values_accumulate() -> None:
    inner: list[Any] = []

    def function(x: Any) -> Any:
        inner.append(x.exp())
        return inner[0] * 2

    x = array(0.5, 1)
    program = Program(function, x)
    (gradient,) = gradients_of(
        program,
        {program.graph.outputs[0]: array(1, 1), inner[0].value: array(3, 5)},
        [program.graph.inputs[0]],
    )
    numpy.testing.assert_allclose(gradient, (2 + array(3, 5)) * numpy.exp(x))


def test_gradients_of_intermediate_values() -> None:
    inner: list[Any] = []

    def function(x: Any) -> Any:
        inner.append(x.exp())
        return inner[0] * inner[0]

    x = array(0.5, 1)
    program = Program(function, x)
    first, last = gradients_of(
        program, {program.graph.outputs[0]: array(1, 1)}, [inner[0].value, program.graph.inputs[0]]
    )
    numpy.testing.assert_allclose(first, 2 * numpy.exp(x))
    numpy.testing.assert_allclose(last, 2 * numpy.exp(2 * x))


def test_absent_gradients_are_none() -> None:
    def function(x: Any, y: Any, n: Any) -> Any:
        return x * 2, y * n, x > y, x.detach() + 1

    program = Program(function, array(1, 2), array(3, 4), numpy.array([1, 2]))
    x, y, n = program.graph.inputs
    first, second, comparison, detached = program.graph.outputs
    ones = array(1, 1)
    assert gradients_of(program, {first: ones}, [y]) == [None]
    assert gradients_of(program, {second: ones}, [n]) == [None]
    assert gradients_of(program, {detached: ones}, [x]) == [None]
    assert gradients_of(program, {}, [x, y]) == [None, None]
    assert reverse.saved_values(program.graph, [x, y]).outputs == [first, second]


def test_undefined_gradients_of_outputs() -> None:
    program = Program(lambda x, y: (x * y, y.exp()), array(1, 2), array(3, 4))
    backward = Backward(
        program.graph, program.differentiable, program.arrays, defined=[False, True]
    )
    backward.saved.outputs = backward.saved.outputs[1:]
    x_gradient, y_gradient = backward.gradients([array(1, 1)])
    assert x_gradient is None
    numpy.testing.assert_allclose(y_gradient, numpy.exp(array(3, 4)))


def test_gradient_has_dtype_of_the_input() -> None:
    x, y = numpy.float32([1, 2]), numpy.array([1 + 1j, 2 - 1j])
    program = Program(lambda x, y: x * y, x, y)
    x_gradient, y_gradient = vjp(
        program.graph, program.differentiable, [x, y], [numpy.array([1j, 1.0])]
    )
    assert x_gradient.dtype == numpy.float32
    numpy.testing.assert_allclose(x_gradient, [1, 2])
    numpy.testing.assert_allclose(y_gradient, [1j, 2])


def test_result_that_is_the_argument() -> None:
    program = Program(lambda x: (x, x * 2), array(1, 2))
    (gradient,) = vjp(
        program.graph, program.differentiable, program.arrays, [array(1, 1), array(10, 10)]
    )
    numpy.testing.assert_allclose(gradient, [21, 21])


# ---------------------------------------------------------------- composites' own derivatives


@pytest.fixture
def make_composite() -> Iterator[Callable[..., Composite]]:
    made = []

    def make(function: Callable[..., Any], derivative: Any) -> Composite:
        made.append(Composite(function, derivative=derivative, name=f"test_composite_{len(made)}"))
        return made[-1]

    yield make
    for record in made:
        del COMPOSITES[record.name]


def test_own_derivative_is_used(make_composite: Any) -> None:
    triple = make_composite(lambda x, n=2: x.exp() * n, lambda g, out, x, n=2: g * 1000)
    program = Program(lambda x: triple(x * 2) + x, array(0, 1))
    (gradient,) = vjp(program.graph, program.differentiable, program.arrays, [array(1, 1)])
    numpy.testing.assert_allclose(gradient, [2001, 2001])


def test_outer_own_derivative_wins(make_composite: Any) -> None:
    inner = make_composite(lambda x: x.exp(), lambda g, out, x: g * 10)
    outer = make_composite(lambda x: inner(x * 2), lambda g, out, x: g * 1000)
    program = Program(lambda x: outer(x), array(0, 1))
    (gradient,) = vjp(program.graph, program.differentiable, program.arrays, [array(1, 1)])
    numpy.testing.assert_allclose(gradient, [1000, 1000])


def test_several_arguments_and_results(make_composite: Any) -> None:
    def derivative(g: Any, out: Any, xs: Any, y: Any, z: Any) -> Any:
        first = None if g[0] is None else g[0] * 10
        return [first, None], g[1] * 100, None

    both = make_composite(lambda xs, y, z: (xs[0] + xs[1], y.exp()), derivative)
    program = Program(lambda a, b, y: both([a, b], y, None), array(1, 2), array(3, 4), array(5, 6))
    gradients = vjp(
        program.graph, program.differentiable, program.arrays, [array(1, 1), array(1, 1)]
    )
    numpy.testing.assert_allclose(gradients[0], [10, 10])
    assert gradients[1] is None
    numpy.testing.assert_allclose(gradients[2], [100, 100])


def test_gradient_that_reaches_an_inner_value_takes_the_derived_rule(make_composite: Any) -> None:
    inner: list[Any] = []

    def body(x: Any) -> Any:
        inner.append(x.exp())
        return inner[0] * 3

    triple = make_composite(body, lambda g, out, x: g * 1000)
    x = array(0, 1)
    program = Program(lambda x: triple(x), x)
    value, argument = inner[0].value, program.graph.inputs[0]
    seeds = {program.graph.outputs[0]: array(1, 1), value: array(1, 1)}
    numpy.testing.assert_allclose(gradients_of(program, seeds, [argument])[0], 1000 + numpy.exp(x))
    numpy.testing.assert_allclose(
        gradients_of(program, {program.graph.outputs[0]: array(1, 1)}, [value])[0], [3, 3]
    )


def test_own_derivative_of_identity(make_composite: Any) -> None:
    same = make_composite(lambda x: x, lambda g, out, x: g * 1000)
    program = Program(lambda x: same(x * 2), array(0, 1))
    (gradient,) = vjp(program.graph, program.differentiable, program.arrays, [array(1, 1)])
    numpy.testing.assert_allclose(gradient, [2, 2])


def test_own_derivative_in_a_recomputation(make_composite: Any) -> None:
    """A composite that the backward pass computes again keeps its own derivative."""
    double = make_composite(lambda x: x + x, lambda g, out, x: g * 1000)
    program = Program(lambda x: double(x).exp().sum() * double(x).sum(), array(0, 1))
    backward = Backward(program.graph, program.differentiable, program.arrays)
    assert backward.context.graph.regions


# ---------------------------------------------------------------- what is saved


def saved(function: Callable[..., Any], *arrays: numpy.ndarray) -> list[tuple[str, Any]]:
    program = Program(function, *arrays)
    return reverse.saved_values(program.graph, program.differentiable).entries


def described(entries: list[tuple[str, Any]]) -> list[str]:
    return [kind if value.node is None else f"{kind} {value.node.name}" for kind, value in entries]


X = numpy.linspace(0.5, 2, 12).reshape(3, 4)


def test_saves_outputs_rather_than_inputs() -> None:
    assert described(saved(lambda x: x.exp(), X)) == ["output exp"]
    assert described(saved(lambda x: x.relu(), X)) == ["output relu"]
    assert described(saved(lambda x: x * x, X)) == ["input"]


def test_saves_nothing_that_is_not_needed() -> None:
    assert saved(lambda x, y: x + y, X, X) == []
    assert saved(lambda x: x.sum(1) * 2, X) == []
    assert described(saved(lambda x, n: x * n, X, numpy.arange(4))) == ["input"]


def test_computes_elementwise_values_again() -> None:
    assert described(saved(lambda x: (x * x + 1).log().tanh() * 2, X)) == ["input"]


def test_keeps_results_of_reductions() -> None:
    entries = saved(lambda x: (x - x.mean(1, keepdim=True)).exp() * 2, X)
    assert described(entries) == ["input", "hidden div"]


def test_keeps_the_narrowest_value_on_the_way() -> None:
    def dropout(x: Any) -> Any:
        kept = x.cumsum(0).detach() > 2  # stands for random bits: costly to compute again
        return x * kept.to(x.dtype) * 2

    assert [value.dtype.name for _, value in saved(dropout, X)] == ["bool"]


def test_dropout_keeps_its_mask_as_bools() -> None:
    entries = saved(lambda x: op.dropout(x, 0.25), X)
    assert [(kind, value.dtype.name) for kind, value in entries] == [("constant", "bool")]


def test_keeps_run_time_numbers() -> None:
    program = Program(lambda: None)
    x, factor = program.tensor(X), program.number(3.0)
    with program.context.active():
        graph = program.context.finish([(x * factor).exp() * 2])
    entries = reverse.saved_values(graph, [x.value]).entries
    assert [kind for kind, _ in entries] == ["input", "scalar"]


def test_copies_an_overwritten_input_that_is_needed() -> None:
    program = Program(lambda x, y: (x * y, y * 2), X, X)
    program.graph.mutations = {0: 0}
    entries = reverse.saved_values(program.graph, program.differentiable).entries
    assert described(entries) == ["input", "copy convert"]
    gradients = vjp(program.graph, program.differentiable, program.arrays, [X, 0 * X])
    numpy.testing.assert_allclose(gradients, [X * X, X * X])


def test_order_is_deterministic() -> None:
    def function(x: Any, y: Any, z: Any) -> Any:
        return (x * y).exp(), z.exp() * x.sum(), (y * z).cumsum(0).tanh() * x

    first, second = (described(saved(function, X, X, X)) for _ in range(2))
    assert first == second
    assert first == sorted(
        first, key=lambda entry: ["input", "output", "hidden"].index(entry.split()[0])
    )


def test_backward_needs_what_was_saved() -> None:
    program = Program(lambda x, y: x * y, X, X)
    x, y = program.graph.inputs
    (result,) = program.graph.outputs
    context = GraphContext()
    bindings = {x: context.input(x.dtype, X.shape)}
    seed = context.input(x.dtype, X.shape)
    with pytest.raises(AssertionError, match="not saved"):
        reverse.backward(
            program.graph, context, bindings, lambda atom: atom.hint, {result: seed}, [x, y]
        )
