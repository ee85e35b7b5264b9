"""Modules on other devices, in other dtypes and in shared memory."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import rushlight

from ... import _core
from ..._core import Tensor
from ...autograd import no_grad
from ...device import device as Device
from ...dtypes import dtype as DType
from ..parameter import Parameter, is_lazy


class ModuleConversion:
    """The part of `Module` that converts its parameters and buffers."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace parameters, their gradients and buffers by what a function makes of them.

        A parameter stays the same object, which optimizers may hold, unless the device changes.
        """
        if recurse:
            for part in self.children():
                part._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is not None:
                self._parameters[name] = _converted(parameter, fn)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = _with_data(buffer, fn) if is_lazy(buffer) else fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert parameters and buffers: `to(device)`, `to(dtype)`, `to(device, dtype)`,
        `to(tensor)`, `to(memory_format=...)`.

        Args:
            device: the device to move them to.
            dtype: the floating point or complex type for those of such a type; others stay.
            tensor: a tensor that has the device and the dtype.
            memory_format: the order of the elements of 4-d and 5-d parameters and buffers.

        Returns:
            The module itself, which is changed.

        Raises:
            TypeError: for a dtype that is neither floating point nor complex.
        """
        device, dtype, non_blocking, format = _parse_to(*args, **kwargs)
        if dtype is not None:
            if not (dtype.is_floating_point or dtype.is_complex):
                raise TypeError(f"Module.to: dtype must be floating point or complex, not {dtype}")
            if dtype.is_complex:
                warnings.warn(
                    "modules with complex parameters are new, and some operators may not work "
                    "with them",
                    stacklevel=2,
                )

        def convert(tensor: Tensor) -> Tensor:
            options: dict[str, Any] = {"non_blocking": non_blocking}
            if dtype is not None and (tensor.is_floating_point() or tensor.is_complex()):
                options["dtype"] = dtype
            if device is not None:
                options["device"] = device
            if format is not None and tensor.ndim in (4, 5):
                options["memory_format"] = format
            try:
                return tensor.to(**options)
            except NotImplementedError as error:
                if tensor.device.type == "meta":
                    raise NotImplementedError(
                        f"{error} Module.to_empty() takes a module off the meta device, "
                        "Module.to() does not."
                    ) from None
                raise

        return self._apply(convert)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Move parameters and buffers to a device without their values."""
        return self._apply(
            lambda tensor: rushlight.empty_like(tensor, device=device), recurse=recurse
        )

    def type(self, dst_type: Any) -> Self:
        """Convert all parameters and buffers to a type."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def _to_floating(self, dtype: DType) -> Self:
        return self._apply(
            lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor
        )

    def float(self) -> Self:
        """Convert floating point parameters and buffers to float32."""
        return self._to_floating(rushlight.float32)

    def double(self) -> Self:
        """Convert floating point parameters and buffers to float64."""
        return self._to_floating(rushlight.float64)

    def half(self) -> Self:
        """Convert floating point parameters and buffers to float16."""
        return self._to_floating(rushlight.float16)

    def bfloat16(self) -> Self:
        """Convert floating point parameters and buffers to bfloat16."""
        return self._to_floating(rushlight.bfloat16)

    def cpu(self) -> Self:
        """Move parameters and buffers to the CPU."""
        return self._apply(lambda tensor: tensor.cpu())

    def cuda(self, device: Any = None) -> Self:
        """Move parameters and buffers to a GPU.

        Raises:
            AssertionError: if this build has none.
        """
        return self._apply(lambda tensor: tensor.cuda(device))

    def _without_backend(self, name: str) -> Self:
        raise AssertionError(f"Rushlight was not built with {name}; use device='cpu'")

    def xpu(self, device: Any = None) -> Self:
        """Raises AssertionError: this build has no such devices."""
        return self._without_backend("XPU")

    def mtia(self, device: Any = None) -> Self:
        """Raises AssertionError: this build has no such devices."""
        return self._without_backend("MTIA")

    def ipu(self, device: Any = None) -> Self:
        """Raises AssertionError: this build has no such devices."""
        return self._without_backend("IPU")

    def share_memory(self) -> Self:
        """Move parameters and buffers into memory that other processes can use."""
        return self._apply(lambda tensor: tensor.share_memory_())


def _converted(parameter: Parameter, fn: Callable[[Tensor], Tensor]) -> Parameter:
    """A parameter and its gradient after conversion: the same object if it can be."""
    if is_lazy(parameter):
        return _with_data(parameter, fn)
    with no_grad():
        converted = fn(parameter)
        gradient = parameter.grad
        converted_gradient = None if gradient is None else fn(gradient)
    if converted is parameter:
        return parameter
    if converted.device.type == parameter.device.type:
        parameter.grad = None  # a gradient of the former type does not fit
        parameter.data = converted
        result = parameter
    else:
        result = Parameter(converted, parameter.requires_grad)
    if converted_gradient is not None and gradient is not None:
        result.grad = converted_gradient.requires_grad_(gradient.requires_grad)
    return result


def _with_data(tensor: Any, fn: Callable[[Tensor], Tensor]) -> Any:
    """A lazy parameter or buffer, with device and dtype as a function changes them."""
    tensor.data = fn(_core.alias_as(Tensor, tensor))
    return tensor


def _parse_to(
    *args: Any,
    device: Any = None,
    dtype: Any = None,
    tensor: Tensor | None = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> tuple[Device | None, DType | None, bool, Any]:
    """Device, dtype, non_blocking and memory format from the arguments of `Module.to`."""
    rest = list(args)
    if rest and isinstance(rest[0], Tensor):
        tensor = rest.pop(0)
    else:
        if rest and not isinstance(rest[0], DType) and not isinstance(rest[0], bool):
            device = rest.pop(0)
            if device is not None and not isinstance(device, Device | str | int):
                raise TypeError(
                    f"to(): expected a device, a dtype or a tensor, but got {type(device).__name__}"
                )
        if rest and (isinstance(rest[0], DType) or rest[0] is None):
            dtype = rest.pop(0)
    if rest:
        non_blocking = bool(rest.pop(0))
    if len(rest) > 1:
        raise TypeError(f"to(): too many arguments: {args}")
    if dtype is not None and not isinstance(dtype, DType):
        raise TypeError(f"to(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
    if tensor is not None:
        device, dtype = tensor.device, tensor.dtype
    if device is not None and not isinstance(device, Device):
        device = Device(device)
    return device, dtype, non_blocking, memory_format
