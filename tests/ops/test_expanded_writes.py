"""Writes in place into tensors that have several elements at one place pass where PyTorch's do."""

from __future__ import annotations

import warnings

import numpy
import pytest

import rushlight

torch = pytest.importorskip("torch")


def _numbers(m, *values):
    return m.tensor(values)


def _mask(m):
    return m.tensor([[True, False, False], [False, False, True]])


PASSING = {
    "masked_fill_": lambda m, x: x.masked_fill_(_mask(m), 7),
    "masked_fill_ by a row": lambda m, x: x.masked_fill_(_mask(m)[0], m.tensor(7.0)),
    "index_fill_ of the repeated dim": lambda m, x: x.index_fill_(0, _numbers(m, -1), 7),
    "index_fill_ with no index": lambda m, x: x.index_fill_(0, _numbers(m).long(), 7),
    "index_fill_ of the other dim": lambda m, x: x.index_fill_(1, _numbers(m, 1, 2), m.tensor(7.0)),
    "index_put_ one number": lambda m, x: x.index_put_((_numbers(m, 1),), m.tensor(7.0)),
    "index_put_ rows": lambda m, x: x.index_put_(
        (_numbers(m, 0, 1),), m.tensor([[1.0, 2, 3], [4, 5, 6]])
    ),
    "index_put_ added up": lambda m, x: x.index_put_(
        (_numbers(m, 0, 1, 1),), m.tensor(7.0), accumulate=True
    ),
    "index_put_ pairs": lambda m, x: x.index_put_(
        (_numbers(m, 0, -1), _numbers(m, 0, 2)), m.tensor([7.0, 8.0])
    ),
    "index_put_ with a mask": lambda m, x: x.index_put_((_mask(m),), m.tensor(7)),
    "subscript: mask": lambda m, x: x.__setitem__(_mask(m), 7),
    "subscript: numbers": lambda m, x: x.__setitem__((slice(None), _numbers(m, 1, 2)), 7),
    "tril_": lambda m, x: x.tril_(),
    "triu_": lambda m, x: x.triu_(1),
    "conj_physical_": lambda m, x: x.conj_physical_(),
    "threshold_": lambda m, x: m.nn.functional.threshold(x, 1.5, -1.0, True),
    "zeros(out=)": lambda m, x: m.zeros(2, 3, out=x),
    "ones(out=)": lambda m, x: m.ones(2, 3, out=x),
    "full(out=)": lambda m, x: m.full((2, 3), 4.0, out=x),
}
REFUSED = {
    "add_": lambda m, x: x.add_(1),
    "masked_scatter_": lambda m, x: x.masked_scatter_(_mask(m), m.ones(6)),
    "index_add_": lambda m, x: x.index_add_(1, _numbers(m, 0, 1), m.ones(2, 2)),
    "relu(inplace=True)": lambda m, x: m.nn.functional.relu(x, inplace=True),
    "hardsigmoid(inplace=True)": lambda m, x: m.nn.functional.hardsigmoid(x, inplace=True),
    "dropout(inplace=True)": lambda m, x: m.nn.functional.dropout(x, 0.5, True, True),
    "nan_to_num_": lambda m, x: x.nan_to_num_(),
    "masked_fill_ with numbers": lambda m, x: x.masked_fill_(m.ones(2, 3), 7),
    "masked_fill_ of another shape": lambda m, x: x.masked_fill_(m.ones(4, 3) > 0, 7),
    "index_fill_ beyond the dim": lambda m, x: x.index_fill_(0, _numbers(m, 2), 7),
    "index_put_ beyond the dim": lambda m, x: x.index_put_((_numbers(m, 2),), m.tensor(7.0)),
    "index_put_ of too many values": lambda m, x: x.index_put_((_numbers(m, 0),), m.ones(4)),
}


def _written(m, call):
    """What a call on three numbers seen twice leaves behind, its warnings and its error."""
    base = m.tensor([3.0, 1.0, 2.0])
    view = base.expand(2, 3)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            result = call(m, view)
            error = None
        except Exception as caught:
            result, error = None, type(caught)
    categories = {each.category for each in found}
    return base.tolist(), view._version, result is view, categories, error


@pytest.mark.parametrize("name", PASSING)
def test_passes_as_in_pytorch(name):
    found, expected = (_written(m, PASSING[name]) for m in (rushlight, torch))
    assert expected[-1] is None
    assert found == expected


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused_as_in_pytorch(name):
    found, expected = (_written(m, REFUSED[name]) for m in (rushlight, torch))
    assert expected[-1] is not None
    assert issubclass(found[-1], expected[-1])
    assert found[:2] == expected[:2]


def test_functions_that_change_nothing_pass():
    x = rushlight.ones(3).expand(2, 3)
    assert rushlight.nn.functional.dropout(x, 0.5, False, True) is x
    numbers = rushlight.arange(3).expand(2, 3)
    assert numbers.nan_to_num_() is numbers
    assert numbers.tolist() == [[0, 1, 2]] * 2


def test_error_names_the_operator_and_the_remedy():
    with pytest.raises(RuntimeError, match=r"functional_relu_: unsupported.*expand\(\).*clone\(\)"):
        rushlight.nn.functional.relu(rushlight.ones(3).expand(2, 3), inplace=True)
    with pytest.warns(UserWarning, match=r"masked_fill_: .*expand\(\).*clone\(\)"):
        rushlight.ones(3).expand(2, 3).masked_fill_(rushlight.ones(3) > 0, 1)


@pytest.mark.parametrize("seed", range(40))
def test_index_put_accumulates_every_value(seed):
    """Repeated dims are among the indexed ones, among the others, and in front of both."""
    draw = numpy.random.default_rng(seed)
    sizes, order = (2, 3, 4), draw.permutation(3)
    shape = [size if draw.integers(2) else 1 for size in sizes]
    expected = numpy.arange(float(numpy.prod(shape))).reshape(shape)
    base = rushlight.tensor(expected)
    array = numpy.lib.stride_tricks.as_strided(  # broadcast_to() may not be written
        expected, sizes, numpy.broadcast_to(expected, sizes).strides
    ).transpose(order)
    x = base.expand(sizes).permute(*order.tolist())
    chosen = [
        draw.integers(-size, size, 3) if i == seed % 3 or draw.integers(3) else None
        for i, size in enumerate(x.shape)
    ]
    places = tuple(slice(None) if each is None else each for each in chosen)
    values = draw.integers(0, 9, array[places].shape).astype(float)
    numpy.add.at(array, places, values)
    indices = tuple(None if each is None else rushlight.tensor(each) for each in chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x.index_put_(indices, rushlight.tensor(values), accumulate=True)
    assert base.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "write",
    (
        lambda m, x, value: x.masked_fill_(_mask(m), value),
        lambda m, x, value: x.index_fill_(1, _numbers(m, 1), value),
        lambda m, x, value: x.__setitem__(_mask(m), value),
    ),
)
def test_gradients_reach_the_base_and_the_value(write):
    base = rushlight.tensor([3.0, 1.0, 2.0], requires_grad=True)
    value = rushlight.tensor(5.0, requires_grad=True)
    copy = base * 1
    view = copy.expand(2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write(rushlight, view, value)
    (copy * rushlight.tensor([1.0, 10.0, 100.0])).sum().backward()
    written = copy.detach() == 5
    weights = rushlight.tensor([1.0, 10.0, 100.0])
    assert base.grad.tolist() == (weights * ~written).tolist()
    assert value.grad.item() == (weights * written).sum().item()
    assert view.tolist() == [copy.tolist()] * 2


def test_a_leaf_that_requires_a_gradient_is_not_written():
    leaf = rushlight.ones(3).expand(2, 3).requires_grad_()
    with (
        warnings.catch_warnings(),
        pytest.raises(RuntimeError, match="leaf"),
    ):
        warnings.simplefilter("ignore")
        leaf.masked_fill_(rushlight.ones(3) > 0, 1)
