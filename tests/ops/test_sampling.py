"""`multinomial` draws what PyTorch draws."""

from __future__ import annotations

import pytest

import rushlight

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("shape", [(5,), (3, 7), (0, 3), (1, 40)])
@pytest.mark.parametrize("options", [(1,), (3,), (1, True), (9, True)])
def test_the_same_draws(dtype, shape, options):
    found = []
    for module in (rushlight, torch):
        module.manual_seed(5)
        weights = module.rand(shape, dtype=module.float64).to(getattr(module, dtype))
        drawn = [module.multinomial(weights, *options), weights.multinomial(*options)]
        generator = module.Generator().manual_seed(3)
        drawn.append(module.multinomial(weights, *options, generator=generator))
        found.append([x.tolist() for x in drawn] + [module.rand(1).item()])
        assert drawn[0].dtype == module.int64
    assert found[0] == found[1]


def test_zeros_are_not_drawn():
    weights = rushlight.tensor([0.0, 1.0, 0.0, 2.0])
    assert set(rushlight.multinomial(weights, 200, True).tolist()) == {1, 3}
    assert sorted(rushlight.multinomial(weights, 2).tolist()) == [1, 3]


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.multinomial(m.tensor([1.0, -1]), 1),
        lambda m: m.multinomial(m.tensor([float("nan"), 1]), 1),
        lambda m: m.multinomial(m.tensor([float("inf"), 1]), 2, True),
        lambda m: m.multinomial(m.zeros(2), 1),
        lambda m: m.multinomial(m.zeros(2), 3, True),
        lambda m: m.multinomial(m.ones(2), 3),
        lambda m: m.multinomial(m.ones(2), 0),
        lambda m: m.multinomial(m.ones(2, dtype=m.int64), 1),
        lambda m: m.multinomial(m.ones(1, 1, 1), 1),
        lambda m: m.multinomial(m.tensor(1.0), 1),
    ],
)
def test_invalid_distributions(call):
    for module in (rushlight, torch):
        with pytest.raises(RuntimeError):
            call(module)
