"""The command ``rushlight``: ``demo`` trains a network, ``doctor`` says what is installed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="rushlight", description="A deep-learning framework with PyTorch's API."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="train a network on handwritten digits")
    demo.add_argument("--epochs", type=int, default=30, help="passes over the training images")
    demo.add_argument("--seed", type=int, default=0, help="seed of all random numbers")
    commands.add_parser("doctor", help="what is installed and what each device can do")
    options = parser.parse_args(arguments)
    if options.command == "demo":
        from .demos.digits import train

        return 0 if train(epochs=options.epochs, seed=options.seed) >= 0.9 else 1
    from .doctor import report

    print(report())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
