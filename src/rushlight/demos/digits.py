"""Trains a small network with dropout on scikit-learn's bundled images of handwritten digits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import rushlight as torch
import rushlight.nn.functional as F

from ..utils.progress import Progress


def load(seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """The digits, split: training images [1437, 64] and labels, test images [360, 64] and labels.

    Raises:
        SystemExit: if scikit-learn is not installed.
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise SystemExit("the demo needs scikit-learn: pip install 'rushlight[demo]'") from None
    digits = load_digits()
    images = torch.from_numpy(digits.data.astype("float32") / 16.0)
    labels = torch.from_numpy(digits.target.astype("int64"))
    torch.manual_seed(seed)
    order = torch.randperm(len(labels))
    images, labels = images[order], labels[order]
    split = len(labels) * 4 // 5
    return images[:split], labels[:split], images[split:], labels[split:]


def initial_weights(sizes: Sequence[int]) -> list[Any]:
    """Weights and biases of fully connected layers, as PyTorch's ``nn.Linear`` draws them."""
    parameters = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        bound = 1 / math.sqrt(inputs)
        parameters.append(torch.empty(outputs, inputs).uniform_(-bound, bound).requires_grad_())
        parameters.append(torch.empty(outputs).uniform_(-bound, bound).requires_grad_())
    return parameters


def network(parameters: list[Any], x: Any, training: bool, dropout: float = 0.2) -> Any:
    """Logits [batch, 10] for images [batch, 64]."""
    *hidden, (weight, bias) = zip(parameters[::2], parameters[1::2])
    for hidden_weight, hidden_bias in hidden:
        x = torch.relu(F.linear(x, hidden_weight, hidden_bias))
        x = F.dropout(x, dropout, training)
    return F.linear(x, weight, bias)


def accuracy(parameters: list[Any], images: Any, labels: Any) -> float:
    """Share of images whose most likely digit is right."""
    with torch.no_grad():
        guess = network(parameters, images, training=False).argmax(1)
    return float((guess == labels).to(torch.float32).mean())


def train(epochs: int = 30, batch_size: int = 64, lr: float = 2e-3, seed: int = 0) -> float:
    """Train and report; returns the accuracy on the test images."""
    images, labels, test_images, test_labels = load(seed)
    torch.manual_seed(seed)
    parameters = initial_weights([64, 128, 64, 10])
    optimizer = torch.optim.Adam(parameters, lr=lr)
    count = sum(p.numel() for p in parameters)
    print(
        f"{len(labels)} training and {len(test_labels)} test images, "
        f"a network of {count} parameters"
    )
    progress = Progress(range(epochs), "training")
    for _ in progress:
        order = torch.randperm(len(labels))
        total = 0.0
        for start in range(0, len(labels), batch_size):
            batch = order[start : start + batch_size]
            loss = F.cross_entropy(network(parameters, images[batch], training=True), labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        progress.note(f"loss {total / len(labels):.4f}")
    result = accuracy(parameters, test_images, test_labels)
    print(f"test accuracy {result:.4f}")
    return result
