"""Subscripts with every kind of index beside PyTorch."""

from __future__ import annotations

import numpy
import pytest

import rushlight
from rushlight import dtypes, ops
from rushlight.devices import reference
from rushlight.graph.symbols import DataDependentError
from rushlight.graph.trace import GraphContext, Traced

torch = pytest.importorskip("torch")
ops.load()

ROWS = numpy.array([2, 0])
GRID = numpy.array([[0, 1], [2, -1]])
MASK = numpy.array([True, False, True])
MATRIX_MASK = numpy.arange(12).reshape(3, 4) % 3 == 0
INDICES = [
    1,
    -1,
    slice(0, 2),
    slice(None, None, 2),
    slice(-2, None),
    slice(5, 1),
    None,
    ...,
    (),
    True,
    False,
    (slice(None), -1),
    (..., slice(1, None, 2)),
    (None, ..., None),
    (0, ..., 0),
    (0, 1, 2),
    ROWS,
    GRID,
    (slice(None), ROWS),
    (ROWS, slice(None), ROWS),
    (0, slice(None), ROWS),
    (ROWS, 1),
    (ROWS, ROWS, ROWS),
    (None, ROWS),
    (slice(None), GRID, ROWS),
    (..., ROWS),
    MASK,
    (MASK, ROWS),
    (slice(None), slice(None), [0, 1]),
    [0, 2],
    ([True, False, True],),
    MATRIX_MASK,
    (MATRIX_MASK, 0),
    numpy.array(1),
    (numpy.array(1), slice(1, 3)),
    [],
    (None, True, ROWS),
    numpy.array(True),
    (numpy.array(True), ROWS),
]
BAD = [
    3,
    (0, 0, 0, 0),
    (slice(None, None, -1),),
    numpy.array([0.5]),
    numpy.array([True, False]),
    "name",
    (ROWS, numpy.arange(3)),
    1.5,
]


def to_index(index, make):
    if isinstance(index, tuple):
        return tuple(to_index(each, make) for each in index)
    return make(index) if isinstance(index, numpy.ndarray) else index


def run(x, function):
    """What ``function`` makes of x, with sizes as symbols; index arrays become graph inputs."""
    context = GraphContext()
    inputs = []

    def make(array) -> Traced:
        array = numpy.asarray(array)
        shape = [
            context.environment.size(n, ("size", len(inputs), dim))
            for dim, n in enumerate(array.shape)
        ]
        inputs.append(array)
        return context.input(dtypes.from_numpy(array.dtype), shape)

    try:
        with context.active():
            result = function(make(x), make)
    except DataDependentError:
        pytest.skip("the number of places in a mask is unknown while tracing; eager calls know it")
    return reference.run(context.finish([result]), inputs)[0].data


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_read(index):
    x = numpy.arange(60.0).reshape(3, 4, 5)
    expected = torch.from_numpy(x)[to_index(index, torch.from_numpy)]
    ours = run(x, lambda x, make: x[to_index(index, make)])
    numpy.testing.assert_array_equal(ours, expected.numpy())
    assert ours.shape == tuple(expected.shape)


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_read_eagerly(index):
    x = numpy.arange(60.0).reshape(3, 4, 5)
    expected = torch.from_numpy(x)[to_index(index, torch.from_numpy)]
    ours = rushlight.from_numpy(x)[to_index(index, rushlight.from_numpy)]
    numpy.testing.assert_array_equal(ours.numpy(), expected.numpy())
    assert ours.shape == tuple(expected.shape)


@pytest.mark.parametrize("index", INDICES, ids=repr)
@pytest.mark.parametrize("as_number", [True, False])
def test_write(index, as_number):
    x = numpy.arange(60.0).reshape(3, 4, 5)
    expected = torch.from_numpy(x.copy())
    part = expected[to_index(index, torch.from_numpy)]
    value = numpy.array(7.0) if as_number else numpy.full(part.shape, -1.0)
    expected[to_index(index, torch.from_numpy)] = torch.from_numpy(value)
    ours = rushlight.from_numpy(x.copy())
    written = 7.0 if as_number else rushlight.from_numpy(value)
    ours[to_index(index, rushlight.from_numpy)] = written
    numpy.testing.assert_array_equal(ours.numpy(), expected.numpy())


@pytest.mark.parametrize("index", BAD, ids=repr)
def test_errors(index):
    x = numpy.arange(60.0).reshape(3, 4, 5)
    with pytest.raises((IndexError, ValueError, TypeError)) as theirs:
        torch.from_numpy(x)[to_index(index, torch.from_numpy)]
    with pytest.raises(theirs.type):
        rushlight.from_numpy(x)[to_index(index, rushlight.from_numpy)]
    with pytest.raises(theirs.type):
        run(x, lambda x, make: x[to_index(index, make)])


def test_indices_do_not_matter_where_nothing_is_written():
    for m in (rushlight, torch):
        wrong = m.tensor([9])
        assert m.zeros(5, 0).index_put((wrong,), m.zeros(1, 0)).shape == (5, 0)
        assert m.zeros(5, 0).index_put((wrong,), m.zeros(1, 0), accumulate=True).shape == (5, 0)
        x = m.zeros(0, 5)
        x[:, wrong] = 1
        x = m.zeros(2, 3, 1, 2)
        x[3:, ..., m.tensor([2, 2]), -1] = 1
        with pytest.raises(IndexError):
            x[..., m.tensor([2, 2]), -1] = 1


@pytest.mark.parametrize("index", [2**63, numpy.uint64(2**63)], ids=repr)
def test_numbers_beyond_64_bits(index):
    for m in (rushlight, torch):
        with pytest.raises(ValueError):
            m.arange(3)[index]
        with pytest.raises(ValueError):
            m.zeros(3)[index] = 1


def test_index_put_refuses_indices_without_elements_to_stand_for():
    for m in (rushlight, torch):
        zero, three = m.tensor([0]), m.ones(3)
        for target, indices, values in (
            (m.zeros(()), (zero,), three[0]),
            (m.zeros(3), (zero, zero), three[0]),
            (m.zeros(0, 2), (zero,), three),
            (m.zeros(2, 0), (zero, zero), three[:1]),
        ):
            with pytest.raises(IndexError):
                target.index_put(indices, values)
        assert m.zeros(0, 2).index_put((zero[:0],), three[:1]).shape == (0, 2)


def test_a_dim_without_elements_refuses_any_index_in_a_tensor():
    for m in (rushlight, torch):
        last, nothing = m.tensor([-1]), m.tensor([], dtype=m.int64)
        for shape, index in (
            ((0, 3), last),
            ((0, 3), (last, slice(1, 1))),
            ((0, 0), last),
            ((2, 0), (slice(None), last)),
        ):
            with pytest.raises(IndexError, match="size 0"):
                m.zeros(shape)[index]
        assert m.zeros(3, 0)[m.tensor([7])].shape == (1, 0)  # nothing is read
        assert m.zeros(0, 3)[nothing].shape == (0, 3)


def test_a_write_of_nothing_looks_at_no_index():
    for m in (rushlight, torch):
        x, high = m.zeros(2, 3), m.tensor([7])
        x[3:, high] = 1.0
        m.zeros(2, 0).index_put_((high,), m.zeros(1, 0))
        assert x.tolist() == [[0.0] * 3] * 2
