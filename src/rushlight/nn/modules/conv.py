"""Convolutions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import rushlight

from ..._core import Tensor
from .. import functional as F
from .. import init
from ..parameter import Parameter, UninitializedParameter
from .lazy import LazyModuleMixin
from .module import Module
from .utils import _ntuple, _reverse_repeat_tuple

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
    "LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]  # fmt: skip

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What all convolutions have: weight, bias and options."""

    __constants__ = [
        "stride", "padding", "dilation", "groups", "padding_mode", "output_padding", "in_channels",
        "out_channels", "kernel_size",
    ]  # fmt: skip
    weight: Tensor
    bias: Tensor | None
    padding: Any
    _dims: ClassVar[int]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        transposed: bool,
        output_padding: Any,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        each = _ntuple(self._dims)
        kernel_size, stride, dilation = each(kernel_size), each(stride), each(dilation)
        padding = padding if isinstance(padding, str) else each(padding)
        _check_options(in_channels, out_channels, groups, stride, padding, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = each(output_padding)
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = _padding_for_pad(padding, kernel_size, dilation)
        channels = (
            (in_channels, out_channels // groups)
            if transposed
            else (out_channels, in_channels // groups)
        )
        shape = (*channels, *kernel_size)
        self.weight = Parameter(rushlight.empty(shape, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(rushlight.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew: uniform within ``1 / sqrt(fan in)`` of 0."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        """The options with their values, as far as they are not the defaults."""
        zeros, ones = (0,) * len(self.kernel_size), (1,) * len(self.kernel_size)
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        if self.padding != zeros:
            text += f", padding={self.padding}"
        if self.dilation != ones:
            text += f", dilation={self.dilation}"
        if self.output_padding != zeros:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")


def _check_options(
    in_channels: int,
    out_channels: int,
    groups: int,
    stride: tuple[int, ...],
    padding: str | tuple[int, ...],
    padding_mode: str,
) -> None:
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups != 0:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups != 0:
        raise ValueError("out_channels must be divisible by groups")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(
                f"Invalid padding string {padding!r}, should be one of 'same' and 'valid'"
            )
        if padding == "same" and any(step != 1 for step in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in _PADDING_MODES:
        raise ValueError(
            f"padding_mode must be one of {_PADDING_MODES}, but got padding_mode='{padding_mode}'"
        )


def _padding_for_pad(
    padding: str | tuple[int, ...], kernel_size: tuple[int, ...], dilation: tuple[int, ...]
) -> Any:
    """The padding as `functional.pad` takes it: last dim first, before and after."""
    if not isinstance(padding, str):
        return _reverse_repeat_tuple(padding, 2)
    both = [0, 0] * len(kernel_size)
    if padding == "same":
        for i, (step, size) in enumerate(zip(reversed(dilation), reversed(kernel_size))):
            total = step * (size - 1)
            both[2 * i : 2 * i + 2] = [total // 2, total - total // 2]
    return both


class _Conv(_ConvNd):
    """Convolution over any number of dims.

    Args:
        in_channels: the channels (dim 1) of the input.
        out_channels: the channels of the result.
        kernel_size: the size of the kernel, one number or one for each dim; so all below.
        stride: the distance of neighbouring results in the input.
        padding: by how much the input is enlarged at each side, ``"valid"`` (not at all) or
            ``"same"`` (to a result of the input's size).
        dilation: the distance of neighbouring kernel elements in the input.
        groups: into how many parts the channels are divided that do not mix.
        bias: whether there is a bias.
        padding_mode: with what: ``"circular"``, ``"replicate"``, ``"reflect"`` or ``"zeros"``.
        device: where the parameters are.
        dtype: their dtype.

    Raises:
        ValueError: for options that do not fit together.
    """

    _dims: ClassVar[int]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, False, 0, groups,
            bias, padding_mode, device, dtype,
        )  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * self._dims
        function = getattr(F, f"conv{self._dims}d")
        return function(input, weight, bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_Conv):
    __doc__ = (_Conv.__doc__ or "").replace("any number of dims", "the last dim of [N, C, L]")
    _dims = 1


class Conv2d(_Conv):
    __doc__ = (_Conv.__doc__ or "").replace("any number of dims", "images [N, C, H, W]")
    _dims = 2


class Conv3d(_Conv):
    __doc__ = (_Conv.__doc__ or "").replace("any number of dims", "volumes [N, C, D, H, W]")
    _dims = 3


class _ConvTransposeNd(_ConvNd):
    """Transposed convolution over any number of dims: the gradient of a convolution.

    Args:
        in_channels: the channels (dim 1) of the input.
        out_channels: the channels of the result.
        kernel_size: the size of the kernel, one number or one for each dim; so all below.
        stride: the stride of the convolution whose gradient this is.
        padding: its padding.
        output_padding: by how much the result is longer at its end.
        groups: into how many parts the channels are divided that do not mix.
        bias: whether there is a bias.
        dilation: the distance of neighbouring kernel elements.
        padding_mode: only ``"zeros"``.
        device: where the parameters are.
        dtype: their dtype.

    Raises:
        ValueError: for options that do not fit together.
    """

    _dims: ClassVar[int]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, True,
            output_padding, groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """The result, of the given size if that is one of those that fit the input."""
        output_padding = self._output_padding(input, output_size)
        function = getattr(F, f"conv_transpose{self._dims}d")
        options = (self.stride, self.padding, output_padding, self.groups, self.dilation)
        return function(input, self.weight, self.bias, *options)

    def _output_padding(self, input: Tensor, output_size: Sequence[int] | None) -> Any:
        """The padding at the end of the result that gives it a size."""
        if output_size is None:
            return self.output_padding
        dims = self._dims
        batched = input.dim() == dims + 2
        sizes = list(output_size)
        if len(sizes) == dims + 1 + batched:
            sizes = sizes[1 + batched :]
        if len(sizes) != dims:
            raise ValueError(
                f"{type(self).__name__}: for {input.dim()}D input, output_size must have {dims} "
                f"or {input.dim()} elements (got {len(output_size)})"
            )
        smallest = [
            (input.size(d - dims) - 1) * self.stride[d]
            - 2 * self.padding[d]
            + self.dilation[d] * (self.kernel_size[d] - 1)
            + 1
            for d in range(dims)
        ]
        greatest = [low + step - 1 for low, step in zip(smallest, self.stride)]
        for size, low, high in zip(sizes, smallest, greatest):
            if not low <= size <= high:
                raise ValueError(
                    f"requested an output size of {sizes}, but valid sizes range from {smallest} "
                    f"to {greatest} (for an input of {input.size()[-dims:]})"
                )
        return [size - low for size, low in zip(sizes, smallest)]


class ConvTranspose1d(_ConvTransposeNd):
    __doc__ = (_ConvTransposeNd.__doc__ or "").replace("any number of dims", "[N, C, L]")
    _dims = 1


class ConvTranspose2d(_ConvTransposeNd):
    __doc__ = (_ConvTransposeNd.__doc__ or "").replace("any number of dims", "images [N, C, H, W]")
    _dims = 2


class ConvTranspose3d(_ConvTransposeNd):
    __doc__ = (_ConvTransposeNd.__doc__ or "").replace(
        "any number of dims", "volumes [N, C, D, H, W]"
    )
    _dims = 3


class _LazyConvMixin(LazyModuleMixin):
    """A convolution that takes in_channels from its first input."""

    def _make_lazy(self, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        module: Any = self
        module.weight = UninitializedParameter(device=device, dtype=dtype)
        module.out_channels = out_channels
        if bias:
            module.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw weight and bias anew, if they have shapes."""
        module: Any = self
        if not self.has_uninitialized_params() and module.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Give weight and bias the shapes that fit an input."""
        module: Any = self
        if not self.has_uninitialized_params():
            return
        dims = len(module.kernel_size)
        if input.dim() not in (dims + 1, dims + 2):
            raise RuntimeError(
                f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}"
            )
        module.in_channels = input.shape[-dims - 1]
        if module.in_channels % module.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if module.transposed:
            channels = (module.in_channels, module.out_channels // module.groups)
        else:
            channels = (module.out_channels, module.in_channels // module.groups)
        module.weight.materialize((*channels, *module.kernel_size))
        if module.bias is not None:
            module.bias.materialize((module.out_channels,))
        module.reset_parameters()


class _LazyConv(_LazyConvMixin):
    """A convolution that takes in_channels from its first input; the other arguments are those of
    the convolution that it becomes.
    """

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self._make_lazy(out_channels, bias, device, dtype)


class _LazyConvTranspose(_LazyConvMixin):
    """A transposed convolution that takes in_channels from its first input; the other arguments
    are those of the convolution that it becomes.
    """

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation,
            padding_mode,
        )  # fmt: skip
        self._make_lazy(out_channels, bias, device, dtype)


class LazyConv1d(_LazyConv, Conv1d):
    __doc__ = _LazyConv.__doc__ or ""
    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    __doc__ = _LazyConv.__doc__ or ""
    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    __doc__ = _LazyConv.__doc__ or ""
    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    __doc__ = _LazyConvTranspose.__doc__ or ""
    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    __doc__ = _LazyConvTranspose.__doc__ or ""
    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    __doc__ = _LazyConvTranspose.__doc__ or ""
    cls_to_become = ConvTranspose3d
