"""Averages of weights beside PyTorch's."""

from __future__ import annotations

import numpy
import pytest

import rushlight

torch = pytest.importorskip("torch")


def net(module):
    module.manual_seed(2)
    return module.nn.Sequential(
        module.nn.Linear(3, 4), module.nn.BatchNorm1d(4), module.nn.Linear(4, 2)
    )


def averaged(module, options):
    swa = module.optim.swa_utils
    model = net(module)
    options = {key: value(swa) if callable(value) else value for key, value in options.items()}
    average = swa.AveragedModel(model, **options)
    generator = numpy.random.default_rng(0)
    for _ in range(4):
        with module.no_grad():
            for p in model.parameters():
                p.add_(module.tensor(generator.standard_normal(tuple(p.shape)).astype("float32")))
        average.update_parameters(model)
    data = [module.tensor(generator.standard_normal((5, 3)).astype("float32")) for _ in range(3)]
    swa.update_bn([[x] for x in data], average)
    state = {key: value.numpy() for key, value in average.state_dict().items()}
    average.eval()
    return state, average(data[0]).detach().numpy()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"avg_fn": lambda swa: swa.get_swa_avg_fn()},
        {"avg_fn": lambda swa: swa.get_ema_avg_fn(0.9)},
        {"multi_avg_fn": lambda swa: swa.get_ema_multi_avg_fn(0.9), "use_buffers": True},
        {"multi_avg_fn": lambda swa: swa.get_swa_multi_avg_fn()},
    ],
)
def test_averages(options):
    ours, theirs = averaged(rushlight, options), averaged(torch, options)
    assert ours[0].keys() == theirs[0].keys()
    for key, value in theirs[0].items():
        numpy.testing.assert_allclose(ours[0][key], value, rtol=1e-5, atol=1e-6)
    numpy.testing.assert_allclose(ours[1], theirs[1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "options",
    [
        {"swa_lr": 0.05},
        {"swa_lr": 0.05, "anneal_strategy": "linear", "anneal_epochs": 3},
        {"swa_lr": [0.02, 0.2], "anneal_epochs": 5},
        {"swa_lr": 0.05, "anneal_epochs": 0},
    ],
)
def test_rates(options):
    found = []
    for module in (rushlight, torch):
        groups = [{"params": [module.zeros(1, requires_grad=True)]} for _ in range(2)]
        optimizer = module.optim.SGD(groups, lr=0.5)
        decay = module.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
        swa = module.optim.swa_utils.SWALR(optimizer, **options)
        rates = []
        for step in range(12):
            optimizer.step()
            (decay if step < 4 else swa).step()
            rates.append([group["lr"] for group in optimizer.param_groups])
        found.append(rates)
        assert sorted(swa.state_dict()) == sorted(swa.state_dict())
    numpy.testing.assert_allclose(*found, rtol=1e-12)


def test_misuse():
    swa = rushlight.optim.swa_utils
    optimizer = rushlight.optim.SGD([rushlight.zeros(1, requires_grad=True)], lr=0.1)
    for options in ({"anneal_strategy": "square"}, {"anneal_epochs": -1}, {"swa_lr": [1, 2, 3]}):
        with pytest.raises(ValueError):
            swa.SWALR(optimizer, **{"swa_lr": 0.1, **options})
    with pytest.raises(ValueError):
        swa.get_ema_avg_fn(1.5)
    with pytest.raises(AssertionError):
        swa.AveragedModel(net(rushlight), avg_fn=lambda *a: 0, multi_avg_fn=lambda *a: 0)
