"""The same optimization with Rushlight and with PyTorch."""

from __future__ import annotations

import numpy

STEPS = 5

# Options of each optimizer, beside its defaults.
OPTIONS = {
    "SGD": [
        {},
        {"momentum": 0.9, "weight_decay": 0.1, "nesterov": True},
        {"momentum": 0.5, "dampening": 0.3, "maximize": True},
    ],
    "Adam": [{}, {"amsgrad": True, "weight_decay": 0.1, "maximize": True}, {"fused": True}],
    "AdamW": [{}, {"amsgrad": True, "weight_decay": 0.3, "betas": (0.5, 0.9)}],
    "Adamax": [{}, {"weight_decay": 0.1, "maximize": True, "eps": 1e-3}],
    "NAdam": [{}, {"weight_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True}],
    "RAdam": [
        {"betas": (0.9, 0.7)},
        {"weight_decay": 0.1},
        {"weight_decay": 0.1, "decoupled_weight_decay": True, "betas": (0.9, 0.7)},
    ],
    "RMSprop": [
        {},
        {"centered": True, "weight_decay": 0.1},
        {"centered": True, "momentum": 0.9, "maximize": True},
    ],
    "Adagrad": [
        {},
        {"lr_decay": 0.5, "weight_decay": 0.1, "initial_accumulator_value": 0.1, "maximize": True},
    ],
    "Adadelta": [{}, {"rho": 0.5, "weight_decay": 0.1, "maximize": True}],
    "ASGD": [{}, {"t0": 1, "lambd": 0.1, "weight_decay": 0.1}],
    "Rprop": [{}, {"etas": (0.3, 1.7), "step_sizes": (1e-3, 0.02), "maximize": True}],
    "Adafactor": [{}, {"weight_decay": 0.1, "beta2_decay": -0.5, "d": 1.5, "eps": (1e-6, 0.1)}],
}
CASES = [(name, options) for name, rows in OPTIONS.items() for options in rows]


def arrays(shapes, dtype, seed=0):
    generator = numpy.random.default_rng(seed)
    made = []
    for shape in shapes:
        values = generator.standard_normal(shape)
        if numpy.dtype(dtype).kind == "c":
            values = values + 1j * generator.standard_normal(shape)
        made.append(values.astype(dtype))
    return made


def leaves(module, shapes, dtype="float32"):
    return [module.tensor(x).requires_grad_() for x in arrays(shapes, dtype)]


def give_gradients(module, parameters, seed):
    shapes = [tuple(p.shape) for p in parameters]
    dtype = parameters[0].detach().numpy().dtype
    for parameter, gradient in zip(parameters, arrays(shapes, dtype, seed)):
        parameter.grad = module.tensor(gradient)


def trained(module, name, options, shapes, dtype="float32", steps=STEPS):
    """The optimizer and its parameters after some steps."""
    parameters = leaves(module, shapes, dtype)
    optimizer = getattr(module.optim, name)(parameters, **options)
    for step in range(steps):
        give_gradients(module, parameters, step + 1)
        optimizer.step()
    return optimizer, parameters


def assert_same(ours, theirs, rtol=2e-6, atol=1e-7):
    for a, b in zip(ours, theirs, strict=True):
        assert a.dtype.is_complex == b.dtype.is_complex
        numpy.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol, atol)
