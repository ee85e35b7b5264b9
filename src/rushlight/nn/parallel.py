"""Modules on several devices: there is one device in this build."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .modules.module import Module

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """Runs a module on parts of a batch on several devices; with one device, on all of it.

    Args:
        module: the module, which becomes the part `module`.
        device_ids: the devices.
        output_device: where results go.
        dim: the dim of the batch.

    Raises:
        RuntimeError: if devices are named that do not exist.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[Any] | None = None,
        output_device: Any = None,
        dim: int = 0,
    ) -> None:
        super().__init__()
        if device_ids:
            raise RuntimeError(
                f"DataParallel: there are no accelerators for device_ids={list(device_ids)}; leave "
                "them out to run on the CPU"
            )
        self.module = module
        self.device_ids: list[Any] = []
        self.dim = dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """One call of a module as by `DataParallel`."""
    arguments = inputs if isinstance(inputs, tuple) else (inputs,)
    return DataParallel(module, device_ids, output_device, dim)(*arguments, **(module_kwargs or {}))
