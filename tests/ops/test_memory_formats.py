"""Conversions to memory formats, and what keeps them."""

from __future__ import annotations

import pytest

import rushlight

torch = pytest.importorskip("torch")

SHAPES = {"channels_last": (2, 3, 4, 5), "channels_last_3d": (2, 3, 4, 5, 2)}
CONVERSIONS = {
    "to": lambda x, format: x.to(memory_format=format),
    "to with a dtype": lambda x, format: x.to(x.new_zeros(1).double().dtype, memory_format=format),
    "contiguous": lambda x, format: x.contiguous(memory_format=format),
    "clone": lambda x, format: x.clone(memory_format=format),
    "double": lambda x, format: x.double(memory_format=format),
}
FACTORIES = {
    "empty": lambda m, x, format: m.empty(*x.shape, memory_format=format),
    "zeros_like": lambda m, x, format: m.zeros_like(x, memory_format=format),
    "full_like": lambda m, x, format: m.full_like(x, 2.0, memory_format=format),
}


def layouts(result):
    return tuple(result.shape), result.stride(), str(result.dtype)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("conversion", CONVERSIONS.values(), ids=CONVERSIONS)
def test_conversions(name, conversion):
    results = []
    for m in (rushlight, torch):
        x = m.arange(240.0)[: 120 if name == "channels_last" else 240].reshape(SHAPES[name])
        for source in (x, x.to(memory_format=getattr(m, name)), x.transpose(0, 1)):
            result = conversion(source, getattr(m, name))
            assert result.is_contiguous(memory_format=getattr(m, name))
            back = conversion(result, m.contiguous_format)
            results.append((layouts(result), result.tolist(), layouts(back)))
    assert results[:3] == results[3:]


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("factory", FACTORIES.values(), ids=FACTORIES)
def test_factories(name, factory):
    found, expected = (
        factory(m, m.ones(SHAPES[name]), getattr(m, name)) for m in (rushlight, torch)
    )
    assert layouts(found) == layouts(expected)


def test_a_tensor_in_the_format_is_returned():
    x = rushlight.ones(2, 3, 4, 5).to(memory_format=rushlight.channels_last)
    assert x.to(memory_format=rushlight.channels_last) is x
    assert x.contiguous(memory_format=rushlight.channels_last) is x
    assert x.clone(memory_format=rushlight.channels_last) is not x


def test_elementwise_results_and_gradients_keep_the_format():
    found, expected = [], []
    for m, results in ((rushlight, found), (torch, expected)):
        x = m.ones(2, 3, 4, 5, requires_grad=True)
        y = m.relu(x.to(memory_format=m.channels_last)) * 2 + 1
        y.sum().backward()
        results += [y.stride(), x.grad.stride(), x.grad.tolist()]
    assert found == expected


def test_modules_convert_their_4d_parameters():
    module = rushlight.nn.Sequential(rushlight.nn.Conv2d(3, 4, 3), rushlight.nn.BatchNorm2d(4))
    module.to(memory_format=rushlight.channels_last)
    assert module[0].weight.is_contiguous(memory_format=rushlight.channels_last)
    assert module(rushlight.ones(1, 3, 8, 8)).shape == (1, 4, 6, 6)


@pytest.mark.parametrize("rank", (3, 5))
def test_the_rank_must_fit(rank):
    x = rushlight.ones((2,) * rank)
    for call in CONVERSIONS.values():
        with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last"):
            call(x, rushlight.channels_last)
