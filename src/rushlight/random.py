"""Random number streams: the default generator and its state."""

from __future__ import annotations

import secrets
from typing import Any

from . import _core

default_generator = _core.default_generator()


def manual_seed(seed: int) -> Any:
    """Start the default generator's stream anew; the same seed gives the same numbers as in PyTorch on a CPU.

    Args:
        seed: an int from -2**63 to 2**64 - 1.

    Returns:
        The default generator.
    """
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Seed the default generator from the operating system; returns the seed."""
    value = secrets.randbits(64)
    default_generator.manual_seed(value)
    return value


def initial_seed() -> int:
    """The seed that the default generator was given last."""
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """The default generator's state."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Put the default generator into a state that `get_rng_state` gave."""
    default_generator.set_state(new_state)
