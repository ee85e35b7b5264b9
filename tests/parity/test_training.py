"""A perceptron's training beside PyTorch's: same seed, same weights, same masks, same losses."""

from __future__ import annotations

import numpy
import pytest

import rushlight
from rushlight.demos import digits

torch = pytest.importorskip("torch")
pytest.importorskip("sklearn")

STEPS = 200
BATCH = 64
SIZES = [64, 128, 64, 10]


def run(module, functional, images, labels):
    """Train for STEPS steps; returns the initial weights, the losses and the first dropout mask."""
    module.manual_seed(3)
    parameters = []
    for inputs, outputs in zip(SIZES, SIZES[1:]):
        bound = inputs**-0.5
        parameters.append(module.empty(outputs, inputs).uniform_(-bound, bound).requires_grad_())
        parameters.append(module.empty(outputs).uniform_(-bound, bound).requires_grad_())
    initial = [p.detach().numpy().copy() for p in parameters]
    mask = functional.dropout(module.ones(BATCH, 128), 0.2, True).numpy().copy()
    optimizer = module.optim.Adam(parameters, lr=2e-3)
    losses = []
    for step in range(STEPS):
        start = step * BATCH % (len(labels) - BATCH)
        x, y = images[start : start + BATCH], labels[start : start + BATCH]
        for weight, bias in zip(parameters[:-2:2], parameters[1:-2:2]):
            x = functional.dropout(module.relu(functional.linear(x, weight, bias)), 0.2, True)
        loss = functional.cross_entropy(functional.linear(x, *parameters[-2:]), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return initial, losses, mask


def test_training_matches_pytorch():
    images, labels, *_ = digits.load()
    images = images.flatten(1)
    ours = run(rushlight, rushlight.nn.functional, images, labels)
    theirs = run(
        torch,
        torch.nn.functional,
        torch.from_numpy(images.numpy()),
        torch.from_numpy(labels.numpy()),
    )
    for a, b in zip(ours[0], theirs[0]):
        numpy.testing.assert_array_equal(a, b)
    numpy.testing.assert_array_equal(ours[2], theirs[2])
    numpy.testing.assert_allclose(ours[1], theirs[1], rtol=1e-5)
