"""Trains a small GPT, character by character, on the help texts that come with Python.

A plain script in PyTorch's style: with ``import torch`` in the place of the first import below it
runs on PyTorch. The architecture is that of Radford et al., "Language Models are Unsupervised
Multitask Learners" (2019), section 2.3.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import rushlight as torch

nn = torch.nn
F = torch.nn.functional


@dataclass(frozen=True)
class Sizes:
    """vocabulary: characters; context: positions seen at once; width: of a position's features."""

    vocabulary: int
    context: int = 64
    width: int = 96
    heads: int = 4
    layers: int = 3
    dropout: float = 0.1


class Attention(nn.Module):
    """Causal self-attention: features [batch, positions, width] to features."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.heads, self.dropout = sizes.heads, sizes.dropout
        self.project = nn.Linear(sizes.width, 3 * sizes.width)
        self.mix = nn.Linear(sizes.width, sizes.width)

    def forward(self, x: Any) -> Any:
        batch, positions, width = x.shape
        parts = self.project(x).view(batch, positions, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
        dropout = self.dropout if self.training else 0.0
        seen = F.scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=True)
        return self.mix(seen.transpose(1, 2).reshape(batch, positions, width))


class Block(nn.Module):
    """Attention and a perceptron for each position, each added to what comes in."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.normalize1 = nn.LayerNorm(sizes.width)
        self.attention = Attention(sizes)
        self.normalize2 = nn.LayerNorm(sizes.width)
        self.perceptron = nn.Sequential(
            nn.Linear(sizes.width, 4 * sizes.width),
            nn.GELU(approximate="tanh"),
            nn.Linear(4 * sizes.width, sizes.width),
            nn.Dropout(sizes.dropout),
        )

    def forward(self, x: Any) -> Any:
        x = x + self.attention(self.normalize1(x))
        return x + self.perceptron(self.normalize2(x))


class GPT(nn.Module):
    """Logits [batch, positions, vocabulary] for characters [batch, positions]."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.characters = nn.Embedding(sizes.vocabulary, sizes.width)
        self.positions = nn.Embedding(sizes.context, sizes.width)
        self.dropout = nn.Dropout(sizes.dropout)
        self.blocks = nn.Sequential(*(Block(sizes) for _ in range(sizes.layers)))
        self.normalize = nn.LayerNorm(sizes.width)
        self.head = nn.Linear(sizes.width, sizes.vocabulary, bias=False)
        self.apply(self.initialize)

    @staticmethod
    def initialize(module: Any) -> None:
        """Small random weights, no biases."""
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, text: Any) -> Any:
        places = torch.arange(text.shape[1])
        x = self.dropout(self.characters(text) + self.positions(places))
        return self.head(self.normalize(self.blocks(x)))


def load() -> tuple[Any, list[str]]:
    """The text as numbers [characters], int64, and the character of each number."""
    from pydoc_data.topics import topics

    text = "\n".join(topics[name] for name in sorted(topics))
    alphabet = sorted(set(text))
    number = {character: i for i, character in enumerate(alphabet)}
    return torch.tensor([number[character] for character in text]), alphabet


def train(
    network: Any, text: Any, steps: int, batch_size: int = 16, lr: float = 3e-3
) -> Iterator[float]:
    """Train on random pieces of the text and give the loss of every step."""
    context = network.sizes.context
    optimizer = torch.optim.AdamW(network.parameters(), lr=lr, weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    network.train()
    for _ in range(steps):
        starts = torch.randint(len(text) - context, (batch_size, 1))
        pieces = text[starts + torch.arange(context + 1)]
        logits = network(pieces[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), pieces[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        yield loss.item()


def sample(network: Any, start: Any, length: int, temperature: float = 0.8) -> Any:
    """``start`` [characters] and ``length`` further characters, drawn one by one."""
    network.eval()
    text = start
    with torch.no_grad():
        for _ in range(length):
            logits = network(text[-network.sizes.context :].unsqueeze(0))[0, -1]
            drawn = torch.multinomial(torch.softmax(logits / temperature, 0), 1)
            text = torch.cat([text, drawn])
    return text


def run(
    steps: int = 600, seed: int = 0, folder: str = ".", progress: Callable[..., Any] | None = None
) -> float:
    """Train, save a checkpoint and print a sample.

    Args:
        steps: of training.
        seed: of all random numbers.
        folder: where ``text.pt`` is saved.
        progress: ``progress(losses, label, total)`` shows how far the training is.

    Returns:
        The mean loss of the last twenty steps, in nats a character.
    """
    text, alphabet = load()
    torch.manual_seed(seed)
    network = GPT(Sizes(len(alphabet)))
    print(
        f"{len(text)} characters, a network of "
        f"{sum(p.numel() for p in network.parameters())} parameters"
    )
    losses: Any = train(network, text, steps)
    if progress is not None:
        losses = progress(losses, "training", steps)
    last: list[float] = []
    for loss in losses:
        last = [*last[-19:], loss]
        if progress is not None:
            losses.note(f"loss {sum(last) / len(last):.3f}")
    os.makedirs(folder, exist_ok=True)
    torch.save(network.state_dict(), os.path.join(folder, "text.pt"))
    mean = sum(last) / len(last)
    print(f"loss {mean:.3f} nats a character; a sample:\n")
    start = torch.tensor([alphabet.index("\n")])
    print("".join(alphabet[i] for i in sample(network, start, 400).tolist()))
    return mean


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", default=".")
    run(**vars(parser.parse_args()))
