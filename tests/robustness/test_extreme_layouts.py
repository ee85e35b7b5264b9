"""Strides along which nothing is read may be any number: of dims of one element, and of tensors
without elements. The sanitizers see whether computing with them overflows.
"""

from __future__ import annotations

import math

import pytest

import rushlight

FAR = 2**62
# Sizes and strides; all but the first two have no elements.
LAYOUTS = [
    ((1, 3, 1), (FAR, 1, 2**63 - 1)),
    ((1, 1), (2**63 - 1, 2**61)),
    ((0, 3), (1, FAR)),
    ((3, 0), (FAR, FAR)),
    ((2, 0, 2), (FAR, 5, 2**63 - 1)),
    ((0,), (0,)),
]
VIEWS = {
    "select": lambda x: x.select(0, -1),
    "index": lambda x: x[..., -1],
    "narrow": lambda x: x.narrow(-1, x.shape[-1], 0),
    "steps": lambda x: x[::3],
    "diagonal": lambda x: x.diagonal(1, 0, -1),
    "unbind": lambda x: x.unbind(0)[-1],
    "unfold": lambda x: x.unfold(0, 1, 2**62),
    "bytes": lambda x: x.view(x.dtype),
    "real": lambda x: x.real,
    "expand": lambda x: x.expand(2, *x.shape),
    "permute": lambda x: x.permute(*range(x.ndim)[::-1]),
    "unsqueeze": lambda x: x.unsqueeze(0),
}
OPERATORS = {
    "add": lambda x: x + 1,
    "sum": lambda x: x.sum(0),
    "sum of all": lambda x: x.sum(),
    "softmax": lambda x: x.softmax(-1),
    "flip": lambda x: x.flip(0),
    "product": lambda x: x @ x.mT if x.ndim > 1 else x @ x,
    "list": lambda x: x.clone(),
    "reshape": lambda x: x.reshape(-1),
    "cumsum": lambda x: x.cumsum(0),
    "gradient": lambda x: gradient(x),
}


def gradient(x):
    leaf = x.detach().requires_grad_()
    (leaf[::2].transpose(0, -1) * 2).sum().backward()
    return leaf.grad


def outcome(function, x):
    """Shape and values, or the class of the error."""
    try:
        result = function(x)
    except (RuntimeError, IndexError) as error:
        return type(error)
    return tuple(result.shape), result.tolist()


@pytest.mark.parametrize("name", [*VIEWS, *OPERATORS])
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("dtype", [rushlight.float64, rushlight.complex128], ids=str)
def test_results_are_those_of_ordinary_strides(layout, name, dtype):
    sizes, strides = layout
    function = VIEWS.get(name) or OPERATORS[name]
    ordinary = rushlight.arange(math.prod(sizes)).reshape(sizes).to(dtype)
    extreme = rushlight.empty_strided(sizes, strides, dtype=dtype).copy_(ordinary)
    assert outcome(function, extreme) == outcome(function, ordinary)


@pytest.mark.parametrize("strides", [(0,), (1,), (FAR,)])
def test_scatter_with_no_indices(strides):
    """Repeated indices are checked once; there are none here, and no memory behind them."""
    index = rushlight.empty_strided((0,), strides, dtype=rushlight.int64)
    x = rushlight.arange(3.0)
    assert x.scatter(0, index, rushlight.zeros(0)).tolist() == [0, 1, 2]
    assert x.index_put((index,), rushlight.zeros(0)).tolist() == [0, 1, 2]
    assert x.index_add(0, index, rushlight.zeros(0)).tolist() == [0, 1, 2]
    assert x.gather(0, index).tolist() == []
