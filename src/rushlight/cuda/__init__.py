"""NVIDIA GPUs, of which this build supports none: questions are answered, the rest raises.

A program that asks `is_available` first runs on the CPU.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from .._core import Tensor
from . import amp

__all__ = [
    "Event", "Stream", "StreamContext", "amp", "can_device_access_peer", "current_device",
    "current_stream", "default_stream", "device", "device_count", "device_of", "empty_cache",
    "get_device_capability", "get_device_name", "get_device_properties", "get_rng_state",
    "get_rng_state_all", "init", "initial_seed", "ipc_collect", "is_available",
    "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all",
    "max_memory_allocated", "max_memory_reserved", "mem_get_info", "memory_allocated",
    "memory_reserved", "memory_stats", "memory_summary", "reset_peak_memory_stats", "seed",
    "seed_all", "set_device", "set_rng_state", "set_rng_state_all", "set_stream", "stream",
    "synchronize",
]  # fmt: skip


def _none(*args: Any, **kwargs: Any) -> Any:
    raise AssertionError("Torch not compiled with CUDA enabled: this build runs on the CPU")


def is_available() -> bool:
    """Whether there is a GPU that this build can use."""
    return False


def is_initialized() -> bool:
    """Whether a GPU is in use."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the GPU has bfloat16."""
    return False


def device_count() -> int:
    """The number of GPUs that this build can use."""
    return 0


def init() -> None:
    """Raises AssertionError: there is no GPU."""
    _none()


def current_device() -> int:
    """Raises AssertionError: there is no GPU."""
    return _none()


def set_device(device: Any) -> None:
    """Raises AssertionError: there is no GPU."""
    _none()


def synchronize(device: Any = None) -> None:
    """Raises AssertionError: there is no GPU."""
    _none()


def current_stream(device: Any = None) -> Any:
    """Raises AssertionError: there is no GPU."""
    return _none()


def default_stream(device: Any = None) -> Any:
    """Raises AssertionError: there is no GPU."""
    return _none()


def set_stream(stream: Any) -> None:
    """Do nothing for None; else AssertionError: there is no GPU."""
    if stream is not None:
        _none()


def get_device_name(device: Any = None) -> str:
    """Raises AssertionError: there is no GPU."""
    return _none()


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Raises AssertionError: there is no GPU."""
    return _none()


def get_device_properties(device: Any = None) -> Any:
    """Raises AssertionError: there is no GPU."""
    return _none()


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Raises AssertionError: there is no GPU."""
    return _none()


def ipc_collect() -> None:
    """Raises AssertionError: there is no GPU."""
    _none()


class Stream:
    """A queue of a GPU's work; there is no GPU.

    Raises:
        RuntimeError: always.
    """

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        raise RuntimeError("torch.cuda.Stream requires CUDA support, which this build lacks")


class Event:
    """A mark in a GPU's queue; there is no GPU.

    Raises:
        RuntimeError: always.
    """

    def __init__(
        self,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
        external: bool = False,
    ) -> None:
        raise RuntimeError("torch.cuda.Event requires CUDA support, which this build lacks")


class device:
    """A context in which a GPU is the current one; entering it raises unless it is None or -1."""

    def __init__(self, device: Any) -> None:
        self.idx = device

    def __enter__(self) -> None:
        if self.idx not in (None, -1):
            raise RuntimeError("there is no CUDA device: this build runs on the CPU")

    def __exit__(self, *exception: object) -> None:
        pass


class device_of(device):
    """A context in which a tensor's GPU is the current one; tensors on the CPU change nothing."""

    def __init__(self, obj: Tensor) -> None:
        super().__init__(-1)


class StreamContext:
    """A context in which work goes to a stream; None changes nothing."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        set_stream(self.stream)

    def __exit__(self, *exception: object) -> None:
        pass


def stream(stream: Any) -> StreamContext:
    """A context in which work goes to a stream."""
    return StreamContext(stream)


# ---------------------------------------------------------------- random numbers


def manual_seed(seed: int) -> None:
    """Seed the GPU's generator; nothing happens, as there is none."""


def manual_seed_all(seed: int) -> None:
    """Seed all GPUs' generators; nothing happens, as there are none."""


def seed() -> None:
    """Seed the GPU's generator at random; nothing happens, as there is none."""


def seed_all() -> None:
    """Seed all GPUs' generators at random; nothing happens, as there are none."""


def initial_seed() -> int:
    """Raises AssertionError: there is no GPU."""
    return _none()


def get_rng_state(device: Any = "cuda") -> Tensor:
    """Raises AssertionError: there is no GPU."""
    return _none()


def set_rng_state(new_state: Tensor, device: Any = "cuda") -> None:
    """Set the generator's state; nothing happens, as there is none."""


def get_rng_state_all() -> list[Tensor]:
    """The states of all GPUs' generators: none."""
    return []


def set_rng_state_all(new_states: Any) -> None:
    """Set the states of all GPUs' generators; nothing happens, as there are none."""


# ---------------------------------------------------------------- memory


def empty_cache() -> None:
    """Give cached memory back; nothing happens, as there is none."""


def memory_allocated(device: Any = None) -> int:
    """The GPU's memory that tensors take: 0 bytes."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """The most memory that tensors took: 0 bytes."""
    return 0


def memory_reserved(device: Any = None) -> int:
    """The memory that is cached: 0 bytes."""
    return 0


def max_memory_reserved(device: Any = None) -> int:
    """The most memory that was cached: 0 bytes."""
    return 0


def memory_stats(device: Any = None) -> dict[str, Any]:
    """Numbers about the allocator: none."""
    return OrderedDict()


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """A table of the allocator's numbers."""
    return "No CUDA device: no memory is allocated."


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Raises AssertionError: there is no GPU."""
    return _none()


def reset_peak_memory_stats(device: Any = None) -> None:
    """Forget the most memory that was taken; nothing happens, as there is none."""
