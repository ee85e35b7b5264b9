"""DLPack: tensors from and to other libraries without copies (https://dmlc.github.io/dlpack)."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from . import _core
from ._core import Tensor
from .factories import require_device

__all__ = ["from_dlpack", "to_dlpack"]


class DLDeviceType(IntEnum):
    """DLPack's numbers for kinds of devices."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


def __dlpack__(
    self: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """A capsule that shares the tensor's memory, for another library's ``from_dlpack``.

    Args:
        stream: only for accelerators.
        max_version: the version of DLPack that the consumer knows; None: before 1.0.
        dl_device: where the consumer wants it; only the CPU.
        copy: True: export a copy; False: BufferError if a copy would be needed.

    Raises:
        BufferError: for tensors that require gradients, have no data, or are read-only while the
            consumer knows no version that can say so.
    """
    if stream is not None and stream != -1:
        raise AssertionError("stream should be None on CPU.")
    if dl_device is not None and tuple(dl_device) != __dlpack_device__(self):
        raise BufferError(f"cannot export to device {dl_device}: there is only the CPU, (1, 0)")
    exported = self.detach().clone() if copy and not self.requires_grad else self
    versioned = max_version is not None and max_version[0] >= 1
    return _core.to_dlpack(exported, versioned, bool(copy))


def __dlpack_device__(self: Tensor) -> tuple[int, int]:
    """The kind and number of the tensor's device in DLPack's terms."""
    if self.device.type != "cpu":
        raise ValueError(f"Unknown device type {self.device.type} for Dlpack")
    return (DLDeviceType.kDLCPU, 0)


def to_dlpack(tensor: Tensor) -> Any:
    """A capsule that shares a tensor's memory, which can be consumed once. What is made of it does
    not require gradients.

    Raises:
        BufferError: for tensors without data and for read-only ones.
    """
    return _core.to_dlpack(tensor.detach() if isinstance(tensor, Tensor) else tensor)


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor that shares the memory of another library's array.

    Args:
        ext_tensor: an object with ``__dlpack__``, or a capsule.
        device: where it should be; only the CPU.
        copy: True: copy; False: BufferError if a copy would be needed.

    Raises:
        RuntimeError: for a capsule that was consumed before.
        BufferError: for arrays on other devices, or of types that do not exist here.

    Example:
        >>> rushlight.from_dlpack(rushlight.arange(3).numpy())
        tensor([0, 1, 2])
    """
    if device is not None and require_device(device, "from_dlpack").type != "cpu":
        raise BufferError(f"from_dlpack(): there is no array on {device}, only on the CPU")
    if not hasattr(ext_tensor, "__dlpack__"):
        if copy is not None:
            raise RuntimeError("device and copy are not supported for capsules")
        return _core.from_dlpack(ext_tensor)
    kind = ext_tensor.__dlpack_device__()[0]
    if kind != DLDeviceType.kDLCPU:
        raise BufferError(f"from_dlpack(): the array is on a device of kind {int(kind)}, not a CPU")
    options: dict[str, Any] = {"max_version": (1, 1)}
    if copy is not None:
        options["copy"] = copy
    try:
        capsule = ext_tensor.__dlpack__(**options)
    except TypeError:  # a library that knows no versions
        capsule = ext_tensor.__dlpack__()
        result = _core.from_dlpack(capsule)
        return result.clone() if copy else result
    return _core.from_dlpack(capsule)


for _name, _method in (("__dlpack__", __dlpack__), ("__dlpack_device__", __dlpack_device__)):
    setattr(Tensor, _name, _method)
