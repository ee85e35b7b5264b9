"""Random number streams: generators, the default generator and its state."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy

from . import _core, dtypes
from ._core import Tensor
from .device import cpu
from .device import device as Device


class Generator(_core.Generator):
    """A stream of random numbers.

    Args:
        device: the CPU, which is the only device with generators.

    Example:
        >>> generator = rushlight.Generator().manual_seed(3)
        >>> generator.initial_seed()
        3
    """

    @property
    def device(self) -> Device:
        """The device whose numbers these are."""
        return cpu

    def get_state(self) -> Tensor:
        """The state as a uint8 tensor."""
        state = numpy.frombuffer(bytearray(super().get_state()), dtype=numpy.uint8)
        return _core.from_numpy(state)

    def set_state(self, new_state: Tensor) -> Generator:
        """Go on from a state that `get_state` returned.

        Raises:
            TypeError: if it is no uint8 tensor.
            RuntimeError: if it is no state.
        """
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        if new_state.dtype is not dtypes.uint8 or new_state.device.type != "cpu":
            raise TypeError("RNG state must be a torch.ByteTensor")
        super().set_state(bytes(_core.to_numpy(new_state)))
        return self

    def clone_state(self) -> Generator:
        """Another generator in the same state."""
        return Generator().set_state(self.get_state())

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (super().get_state(),)


def _restore(state: bytes) -> Generator:
    generator = Generator()
    _core.Generator.set_state(generator, state)
    return generator


default_generator = Generator()
_core.set_default_generator(default_generator)


def manual_seed(seed: int) -> Generator:
    """Start the default generator's stream anew; a seed gives the numbers that it gives in PyTorch.

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


def get_rng_state() -> Tensor:
    """The default generator's state."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Put the default generator into a state that `get_rng_state` gave."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(
    devices: Any = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str = "cuda",
) -> Iterator[None]:
    """Put the default generator's state back at the end of a ``with`` block.

    Args:
        devices: accelerators whose generators to put back too; there are none.
        enabled: whether anything is done.
        device_type: the kind of accelerator.
    """
    if devices:
        warnings.warn(
            f"fork_rng(): there are no {device_type} devices; only the CPU's state is put back",
            stacklevel=3,
        )
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
