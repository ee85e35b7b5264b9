"""Trains a convolutional network on scikit-learn's bundled images of handwritten digits.

A plain script in PyTorch's style: with ``import torch`` in the place of the first import below it
runs on PyTorch.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import rushlight as torch

nn = torch.nn


class Network(nn.Module):
    """Logits [batch, 10] for images [batch, 1, 8, 8]."""

    def __init__(self, width: int = 16, dropout: float = 0.2) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1),
            nn.BatchNorm2d(width),
            nn.GELU(),
            nn.Conv2d(width, 2 * width, 3, padding=1),
            nn.BatchNorm2d(2 * width),
            nn.GELU(),
            nn.MaxPool2d(2),
            nn.Conv2d(2 * width, 4 * width, 3, padding=1),
            nn.BatchNorm2d(4 * width),
            nn.GELU(),
            nn.AdaptiveAvgPool2d(2),
        )
        self.classify = nn.Sequential(nn.Flatten(), nn.Dropout(dropout), nn.Linear(16 * width, 10))

    def forward(self, images: Any) -> Any:
        return self.classify(self.features(images))


def load(seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """The digits, split: images [1437, 1, 8, 8] and labels to train on, [360, 1, 8, 8] to test.

    Raises:
        SystemExit: if scikit-learn is not installed.
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise SystemExit("the demo needs scikit-learn: pip install 'rushlight[demo]'") from None
    digits = load_digits()
    images = torch.from_numpy(digits.images.astype("float32") / 16.0).unsqueeze(1)
    labels = torch.from_numpy(digits.target.astype("int64"))
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed))
    images, labels = images[order], labels[order]
    split = len(labels) * 4 // 5
    return images[:split], labels[:split], images[split:], labels[split:]


def train(
    network: Any, images: Any, labels: Any, epochs: int, batch_size: int = 64, lr: float = 5e-3
) -> Iterator[float]:
    """Train and give the loss of every step."""
    dataset = torch.utils.data.TensorDataset(images, labels)
    loader = torch.utils.data.DataLoader(dataset, batch_size, shuffle=True)
    optimizer = torch.optim.AdamW(network.parameters(), lr=lr)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, lr, total_steps=epochs * len(loader))
    network.train()
    for _ in range(epochs):
        for batch, expected in loader:
            loss = nn.functional.cross_entropy(network(batch), expected, label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            yield loss.item()


def predict(network: Any, images: Any) -> Any:
    """The most likely digit for each image."""
    network.eval()
    with torch.no_grad():
        return network(images).argmax(1)


def draw(losses: Sequence[float], images: Any, guesses: Any, labels: Any, path: str) -> None:
    """Save a picture of the loss curve and of some predictions, wrong ones first."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    panels: Any = figure.subfigures(1, 2)
    left, right = panels
    axes = left.subplots()
    axes.plot(losses)
    axes.set(xlabel="step", ylabel="loss", yscale="log", title="training loss")
    order = torch.argsort((guesses == labels).to(torch.int64), stable=True)[:24].tolist()
    for place, i in zip(right.subplots(4, 6).flat, order):
        place.imshow(images[i, 0].numpy(), cmap="gray_r")
        place.set_axis_off()
        wrong = guesses[i].item() != labels[i].item()
        place.set_title(str(guesses[i].item()), fontsize=9, color="red" if wrong else "black")
    right.suptitle("predictions")
    figure.savefig(path)


def run(
    epochs: int = 15, seed: int = 0, folder: str = ".", progress: Callable[..., Any] | None = None
) -> float:
    """Train, report, save a picture and a checkpoint, load it and predict.

    Args:
        epochs: passes over the training images.
        seed: of all random numbers.
        folder: where ``digits.png`` and ``digits.pt`` are saved.
        progress: ``progress(losses, label, total)`` shows how far the training is.

    Returns:
        The share of the test images that the loaded network names rightly.
    """
    images, labels, test_images, test_labels = load(seed)
    torch.manual_seed(seed)
    network = Network()
    print(
        f"{len(labels)} images to train on and {len(test_labels)} to test, a network of "
        f"{sum(p.numel() for p in network.parameters())} parameters"
    )
    total = epochs * ((len(labels) + 63) // 64)
    steps: Any = train(network, images, labels, epochs)
    if progress is not None:
        steps = progress(steps, "training", total)
    losses = []
    for loss in steps:
        losses.append(loss)
        if progress is not None:
            steps.note(f"loss {loss:.4f}")
    os.makedirs(folder, exist_ok=True)
    checkpoint = os.path.join(folder, "digits.pt")
    torch.save({"network": network.state_dict(), "losses": losses}, checkpoint)
    loaded = Network()
    loaded.load_state_dict(torch.load(checkpoint)["network"])
    guesses = predict(loaded, test_images)
    accuracy = (guesses == test_labels).to(torch.float32).mean().item()
    print(f"test accuracy {accuracy:.4f}")
    picture = os.path.join(folder, "digits.png")
    try:
        draw(losses, test_images, guesses, test_labels, picture)
    except ImportError:
        print(f"saved {checkpoint}; for a picture of the training, install matplotlib")
    else:
        print(f"saved {checkpoint} and {picture}")
    return accuracy


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", default=".")
    run(**vars(parser.parse_args()))
