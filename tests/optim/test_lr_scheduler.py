"""Learning rate schedules beside PyTorch's."""

from __future__ import annotations

import math
import pickle
import warnings

import numpy
import pytest

import rushlight

torch = pytest.importorskip("torch")

CASES = [
    ("StepLR", {"step_size": 3, "gamma": 0.5}),
    ("MultiStepLR", {"milestones": [2, 5, 5, 9], "gamma": 0.3}),
    ("ConstantLR", {"factor": 0.2, "total_iters": 4}),
    ("LinearLR", {"start_factor": 0.2, "end_factor": 0.9, "total_iters": 7}),
    ("ExponentialLR", {"gamma": 0.8}),
    ("PolynomialLR", {"total_iters": 8, "power": 2.0}),
    ("CosineAnnealingLR", {"T_max": 5, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", {"T_0": 2, "T_mult": 2, "eta_min": 0.001}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3}),
    ("LambdaLR", {"lr_lambda": lambda epoch: 0.9**epoch}),
    ("LambdaLR", {"lr_lambda": [lambda epoch: 1 / (epoch + 1), lambda epoch: 0.5**epoch]}),
    ("MultiplicativeLR", {"lr_lambda": lambda epoch: 1 - 1 / (epoch + 2)}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 3, "step_size_down": 2}),
    (
        "CyclicLR",
        {"base_lr": [0.01, 0.02], "max_lr": 0.2, "step_size_up": 2, "mode": "triangular2"},
    ),
    (
        "CyclicLR",
        {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 2, "mode": "exp_range", "gamma": 0.9},
    ),
    (
        "CyclicLR",
        {
            "base_lr": 0.01,
            "max_lr": 0.2,
            "step_size_up": 4,
            "scale_fn": lambda step: math.sqrt(step),
            "scale_mode": "iterations",
            "cycle_momentum": False,
        },
    ),
    ("OneCycleLR", {"max_lr": 0.3, "total_steps": 17}),
    (
        "OneCycleLR",
        {
            "max_lr": [0.3, 0.2],
            "epochs": 4,
            "steps_per_epoch": 5,
            "anneal_strategy": "linear",
            "three_phase": True,
        },
    ),
]
STEPS = 16
METRICS = [1.0, 0.9, 0.95, 0.95, 0.96, 0.95, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6, 0.4, 0.39, 0.38, 0.37]


def optimizer(module, name="SGD", lr=0.1, **options):
    options = {"momentum": 0.9, **options} if name == "SGD" else options
    groups = [
        {"params": [module.zeros(2, requires_grad=True)]},
        {"params": [module.zeros(3, requires_grad=True)], "lr": 0.05},
    ]
    return getattr(module.optim, name)(groups, lr=lr, **options)


def rates(opt):
    return [float(group["lr"]) for group in opt.param_groups]


def momenta(opt):
    return [float(g["momentum"] if "momentum" in g else g["betas"][0]) for g in opt.param_groups]


def history(module, name, options, steps=STEPS, optimizer_name="SGD"):
    opt = optimizer(module, optimizer_name)
    scheduler = getattr(module.optim.lr_scheduler, name)(opt, **options)
    found = [rates(opt) + momenta(opt)]
    for _ in range(steps):
        opt.step()
        scheduler.step()
        assert [float(rate) for rate in scheduler.get_last_lr()] == rates(opt)
        found.append(rates(opt) + momenta(opt))
    return scheduler, found


@pytest.mark.parametrize(("name", "options"), CASES)
@pytest.mark.parametrize("optimizer_name", ["SGD", "Adam"])
def test_schedules(name, options, optimizer_name):
    ours, mine = history(rushlight, name, options, optimizer_name=optimizer_name)
    theirs, other = history(torch, name, options, optimizer_name=optimizer_name)
    numpy.testing.assert_allclose(mine, other, rtol=1e-12)
    assert ours.state_dict().keys() == theirs.state_dict().keys()


@pytest.mark.parametrize(("name", "options"), CASES)
def test_training_goes_on_from_a_state(name, options):
    found = []
    for module in (rushlight, torch):
        scheduler, _ = history(module, name, options, steps=4)
        opt = optimizer(module)
        fresh = getattr(module.optim.lr_scheduler, name)(opt, **options)
        opt.load_state_dict(scheduler.optimizer.state_dict())
        fresh.load_state_dict(scheduler.state_dict())
        values = []
        for _ in range(6):
            opt.step()
            fresh.step()
            values.append(rates(opt))
        found.append(values)
    numpy.testing.assert_allclose(*found, rtol=1e-12)


@pytest.mark.parametrize(("name", "options"), CASES)
def test_training_goes_on_from_an_epoch(name, options):
    found = []
    for module in (rushlight, torch):
        opt = history(module, name, options, steps=4)[0].optimizer
        again = getattr(module.optim.lr_scheduler, name)(opt, **options, last_epoch=3)
        values = [rates(opt)]
        for _ in range(5):
            opt.step()
            again.step()
            values.append(rates(opt))
        found.append(values)
    numpy.testing.assert_allclose(*found, rtol=1e-12)


@pytest.mark.parametrize(("name", "options"), CASES)
def test_steps_to_an_epoch(name, options):
    if name in ("MultiplicativeLR", "OneCycleLR"):
        pytest.skip("depends on the epochs before")
    found = []
    for module in (rushlight, torch):
        opt = optimizer(module)
        scheduler = getattr(module.optim.lr_scheduler, name)(opt, **options)
        opt.step()
        values = []
        for epoch in (3, 7, 1, 10):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scheduler.step(epoch)
            values.append(rates(opt))
        found.append(values)
    numpy.testing.assert_allclose(*found, rtol=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {"patience": 1},
        {"patience": 0, "factor": 0.5, "mode": "max", "cooldown": 1, "min_lr": 0.01},
        {"patience": 1, "threshold": 0.2, "threshold_mode": "abs", "min_lr": [0.01, 0.04]},
        {"patience": 2, "threshold": 0.2},
    ],
)
def test_reduce_on_plateau(options):
    found = []
    for module in (rushlight, torch):
        opt = optimizer(module)
        scheduler = module.optim.lr_scheduler.ReduceLROnPlateau(opt, **options)
        values = []
        for metric in METRICS:
            scheduler.step(module.tensor(metric))
            values.append(rates(opt) + scheduler.get_last_lr())
        found.append(values)
        states = scheduler.state_dict()
        found.append(sorted(states))
    numpy.testing.assert_allclose(found[0], found[2], rtol=1e-12)
    assert found[1] == found[3]


def composed(module, kind):
    opt = optimizer(module)
    s = module.optim.lr_scheduler
    if kind == "chained":
        parts = [s.ConstantLR(opt, factor=0.1, total_iters=4), s.ExponentialLR(opt, gamma=0.9)]
        return opt, s.ChainedScheduler(parts)
    if kind == "sequential":
        parts = [
            s.LinearLR(opt, start_factor=0.1, total_iters=3),
            s.CosineAnnealingLR(opt, T_max=5),
            s.ExponentialLR(opt, gamma=0.9),
        ]
        return opt, s.SequentialLR(opt, parts, milestones=[3, 9])
    inner = s.SequentialLR(
        opt, [s.ConstantLR(opt, 0.5, total_iters=2), s.ExponentialLR(opt, 0.8)], milestones=[2]
    )
    return opt, s.SequentialLR(opt, [inner, s.StepLR(opt, 2, 0.5)], milestones=[6])


@pytest.mark.parametrize("kind", ["chained", "sequential", "nested"])
def test_schedulers_of_schedulers(kind):
    found = []
    for module in (rushlight, torch):
        opt, scheduler = composed(module, kind)
        values = [rates(opt)]
        for _ in range(12):
            opt.step()
            scheduler.step()
            values.append(rates(opt) + [float(rate) for rate in scheduler.get_last_lr()])
        found += [values[0], values[1:]]
        fresh_opt, fresh = composed(module, kind)
        fresh.load_state_dict(scheduler.state_dict())
        assert fresh.state_dict() == scheduler.state_dict()
    numpy.testing.assert_allclose(found[0], found[2], rtol=1e-12)
    numpy.testing.assert_allclose(found[1], found[3], rtol=1e-12)


def test_tensor_rates_are_changed_in_place():
    lr = rushlight.tensor(0.1)
    opt = rushlight.optim.SGD([rushlight.zeros(2, requires_grad=True)], lr=lr)
    scheduler = rushlight.optim.lr_scheduler.ExponentialLR(opt, gamma=0.5)
    opt.step()
    scheduler.step()
    assert opt.param_groups[0]["lr"] is lr
    assert lr.item() == pytest.approx(0.05)
    assert scheduler.base_lrs[0].item() == pytest.approx(0.1)


def test_the_order_of_steps_is_checked():
    s = rushlight.optim.lr_scheduler
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        s.StepLR(optimizer(rushlight), 2).step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opt = optimizer(rushlight)
        scheduler = s.StepLR(opt, 2)
        opt.step()
        scheduler.step()
    with pytest.warns(UserWarning, match="get_last_lr"):
        scheduler.get_lr()


def test_misuse():
    s = rushlight.optim.lr_scheduler
    opt = optimizer(rushlight)
    for error, match, call in (
        (TypeError, "not an Optimizer", lambda: s.StepLR(3, 2)),
        (KeyError, "initial_lr", lambda: s.StepLR(opt, 2, last_epoch=3)),
        (ValueError, "lr_lambdas", lambda: s.LambdaLR(opt, [lambda e: e])),
        (ValueError, "factor must be between 0 and 1", lambda: s.ConstantLR(opt, 1.5)),
        (ValueError, "start_factor must be in", lambda: s.LinearLR(opt, 0.0)),
        (ValueError, "end_factor must be in", lambda: s.LinearLR(opt, 0.5, 1.5)),
        (ValueError, "total_steps", lambda: s.OneCycleLR(opt, 0.1)),
        (ValueError, "pct_start", lambda: s.OneCycleLR(opt, 0.1, 10, pct_start=2.0)),
        (ValueError, "same length", lambda: s.OneCycleLR(opt, [0.1], 10)),
        (ValueError, "mode", lambda: s.CyclicLR(opt, 0.1, 0.2, mode="square")),
        (ValueError, "Factor", lambda: s.ReduceLROnPlateau(opt, factor=1.0)),
        (ValueError, "mode", lambda: s.ReduceLROnPlateau(opt, mode="least")),
        (ValueError, "T_0", lambda: s.CosineAnnealingWarmRestarts(opt, 0)),
        (ValueError, "at least one", lambda: s.ChainedScheduler([])),
        (
            ValueError,
            "same optimizer",
            lambda: s.SequentialLR(opt, [s.StepLR(optimizer(rushlight), 2)], []),
        ),
        (ValueError, "milestone", lambda: s.SequentialLR(opt, [s.StepLR(opt, 2)], [3])),
        (
            ValueError,
            "momentum",
            lambda: s.CyclicLR(optimizer(rushlight, "Adagrad"), 0.1, 0.2),
        ),
    ):
        with pytest.raises(error, match=match):
            call()
    scheduler = s.OneCycleLR(opt, 0.1, total_steps=2)
    opt.step()
    scheduler.step()
    scheduler.step()
    with pytest.raises(ValueError, match="total steps"):
        scheduler.step()


class Decay:
    def __init__(self, base):
        self.base = base

    def __call__(self, epoch):
        return self.base**epoch


def test_states_keep_what_callable_objects_know():
    scheduler = rushlight.optim.lr_scheduler.LambdaLR(optimizer(rushlight), Decay(0.5))
    state = pickle.loads(pickle.dumps(scheduler.state_dict()))
    other = rushlight.optim.lr_scheduler.LambdaLR(optimizer(rushlight), Decay(0.1))
    other.load_state_dict(state)
    assert other.lr_lambdas[0].base == 0.5
