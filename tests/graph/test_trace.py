"""Tracing: simplification, equal nodes, dead nodes, run-time numbers, printing and checking."""

from __future__ import annotations

import zlib

import numpy
import pytest

import rushlight
from rushlight import dtypes, ops
from rushlight.devices import reference
from rushlight.graph import check
from rushlight.graph import print as graph_print
from rushlight.graph.trace import PRIMITIVES, GraphContext
from rushlight.ops.record import COMPOSITES, op
from rushlight.ops.samples import Draw

ops.load()
SAMPLED = sorted(
    {
        r.name: r
        for r in (*COMPOSITES.values(), *PRIMITIVES.values())
        if r.samples and r.is_operator
    }.items()
)


def traced(function, *shapes, dtype=dtypes.float32):
    context = GraphContext()
    inputs = [
        context.input(dtype, [context.environment.size(n) for n in shape]) for shape in shapes
    ]
    with context.active():
        result = function(*inputs)
    return context.finish(result if isinstance(result, tuple) else (result,))


def names(graph):
    return [node.name for node in graph.nodes]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 1,
        lambda x: x / 1,
        lambda x: x - 0,
        lambda x: x.to(dtypes.float32),
        lambda x: x.permute(0, 1),
        lambda x: x.t().t(),
        lambda x: x.reshape(-1).reshape(x.shape),
        lambda x: x.expand(-1, -1),
        lambda x: x[:, :],
        lambda x: x.to(dtypes.float64).to(dtypes.float32),
        lambda x: x.narrow(0, 0, x.shape[0]),
    ],
)
def test_identities_vanish(function):
    graph = traced(function, (4, 6))
    assert names(graph) == []
    assert graph.outputs == graph.inputs


def test_sign_of_zero_is_kept():
    assert "add" in names(traced(lambda x: x + 0, (4,)))
    assert "sub" in names(traced(lambda x: x - (-0.0), (4,)))


def test_equal_nodes_are_one_and_unused_ones_go():
    graph = traced(lambda x: (x.exp() + x.exp(), x.log())[0], (4,))
    assert names(graph) == ["exp", "add"]


def test_constants_of_different_kinds_differ():
    graph = traced(lambda x: (x * 2, x.to(dtypes.int64) * 2, x * -0.0, x * 0.0), (4,))
    assert names(graph).count("mul") == 4


def test_random_nodes_stay_apart():
    graph = traced(lambda x: op.rand(3) + op.rand(3), (4,))
    assert names(graph).count("random_bits") == 2


def test_comparing_a_number_records_a_guard():
    context = GraphContext()
    x = context.input(dtypes.float32, (4,))
    with context.active():
        half, nan = context.number_input(0.5), context.number_input(float("nan"))
        assert half > 0 and not half == 1 and not nan < 1
        result = x * half + nan
        with pytest.raises(TypeError, match="compare before computing"):
            bool(half + 1 > 0)
        for use in (float, int):
            with pytest.raises(TypeError):
                use(half)
    graph = context.finish([result])
    assert [(name, number) for name, _, number in graph.scalar_guards] == [
        ("gt", 0),
        ("ne", 1),
        ("isnan", 0),
    ]
    (result,) = reference.run(graph, [numpy.ones(4), 0.5, 1.0])
    numpy.testing.assert_array_equal(result.data, numpy.full(4, 1.5))


def test_sizes_become_numbers():
    graph = traced(lambda x: x.sum() / x.shape[0] ** 0.5, (4,))
    for n in (4, 9):
        (result,) = reference.run(graph, [numpy.ones(n)])
        numpy.testing.assert_allclose(result.data, n**0.5)


def test_a_tensor_has_no_value_while_traced():
    for use in (bool, int, float, lambda x: x.item()):
        with pytest.raises(TypeError, match="known only when the program runs"):
            traced(use, ())


def test_the_graph_knows_the_users_line():
    graph = traced(lambda x: x.exp(), (4,))
    assert graph.nodes[0].source[0] == __file__


def test_errors_name_the_operator_and_shapes():
    with pytest.raises(
        RuntimeError,
        match=r"add: shapes .* size of tensor b \(s1\) at non-singleton dimension 0",
    ):
        traced(lambda x, y: x + y, (3,), (4,))
    with pytest.raises(IndexError, match=r"Dimension out of range: 2 is not in \[-2, 1\]"):
        traced(lambda x: x.sum(2), (3, 4))
    with pytest.raises(TypeError, match=r"exp\(\): .*unexpected keyword argument 'bogus'"):
        traced(lambda x: op.exp(x, bogus=1), (3,))
    with pytest.raises(NotImplementedError, match="not implemented for 'Float'"):
        traced(lambda x: x & x, (3,))


def test_errors_show_numbers():
    """A number is known in the call that is refused, though the operator is traced for others."""
    x = rushlight.ones(2)
    with pytest.raises(ValueError, match=r"dropout: .* is 2\.5$"):
        rushlight.dropout(x, 2.5, True)
    with pytest.raises(RuntimeError, match=r"add: alpha .* is 1\.5$"):
        rushlight.add(x.int(), x.int(), alpha=1.5)


def drawn(x, random):
    if isinstance(x, Draw):
        dtype = x.dtype or dtypes.float32
        return reference.stored(x.array(dtype, random), dtype)
    return type(x)(drawn(each, random) for each in x) if isinstance(x, list | tuple) else x


@pytest.mark.parametrize("name, record", SAMPLED, ids=[name for name, _ in SAMPLED])
@pytest.mark.filterwarnings("ignore")
def test_graphs_obey_the_rules_and_print_as_programs(name, record):
    random = numpy.random.default_rng(zlib.crc32(name.encode()))
    for args, kwargs in record.samples(dtypes.float32):
        args = drawn(args, random)
        kwargs = {key: drawn(each, random) for key, each in kwargs.items()}
        try:
            graph, inputs, ints, _ = reference.trace_call(record, args, kwargs)
        except NotImplementedError:
            continue
        check.check(graph)
        expected = reference.run(graph, inputs, ints)
        sizes = {
            repr(a): ints[a.origin[1]]
            for a in graph.environment.symbols
            if a.origin and a.origin[0] == "int"
        }
        text = graph_print.text(graph)
        arrays = [
            each if isinstance(each, reference.Array) else reference.stored(each, value.dtype)
            for each, value in zip(inputs, graph.inputs)
        ]
        header = text.split("\n")[0].partition("*, ")[2]
        wanted = {size: n for size, n in sizes.items() if size in header.strip("):").split(", ")}
        for ours, theirs in zip(reference.run_text(text, arrays, wanted), expected, strict=True):
            numpy.testing.assert_array_equal(ours.data, theirs.data)
            assert ours.dtype is theirs.dtype


def test_check_finds_broken_graphs():
    graph = traced(lambda x: x.exp().sum(), (3, 4))
    check.check(graph)
    graph.nodes.reverse()
    with pytest.raises(check.GraphError, match="not computed before"):
        check.check(graph)
