"""The command ``rushlight``: ``demo`` trains networks, ``doctor`` says what is installed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="rushlight", description="A deep-learning framework with PyTorch's API."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="train a network and try it")
    demo.add_argument(
        "name",
        nargs="?",
        choices=("digits", "text"),
        default="digits",
        help="digits: recognise handwritten digits (default); text: write like Python's help",
    )
    demo.add_argument("--epochs", type=int, default=15, help="passes over the digits")
    demo.add_argument("--steps", type=int, default=600, help="steps of training on the text")
    demo.add_argument("--seed", type=int, default=0, help="seed of all random numbers")
    demo.add_argument("--folder", default="rushlight-demo", help="where results are saved")
    commands.add_parser("doctor", help="what is installed and what each device can do")
    options = parser.parse_args(arguments)
    if options.command == "demo":
        return run_demo(options)
    from .doctor import report

    print(report())
    return 0


def run_demo(options: argparse.Namespace) -> int:
    """Run a demo with a progress bar; the exit status tells whether the network learnt."""
    from .utils.progress import Progress

    if options.name == "text":
        from .demos import text

        loss = text.run(options.steps, options.seed, options.folder, Progress)
        return 0 if loss < 3 else 1
    from .demos import digits

    accuracy = digits.run(options.epochs, options.seed, options.folder, Progress)
    return 0 if accuracy >= 0.9 else 1


if __name__ == "__main__":
    raise SystemExit(main())
