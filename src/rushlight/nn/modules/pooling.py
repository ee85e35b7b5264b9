"""Pooling."""

from __future__ import annotations

from typing import Any, ClassVar

from ..._core import Tensor
from .. import functional as F
from .fields import module_fields
from .module import Module
from .utils import _ntuple, _single

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d",
    "FractionalMaxPool2d", "FractionalMaxPool3d", "LPPool1d", "LPPool2d", "LPPool3d", "MaxPool1d",
    "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
]  # fmt: skip


@module_fields
class _MaxPoolNd(Module):
    """The greatest element of each window.

    Args:
        kernel_size: the size of the windows, one number or one for each dim; so all below.
        stride: the distance of neighbouring windows; None: their size.
        padding: by how much the input is enlarged at each side, with -inf.
        dilation: the distance of neighbouring elements of a window.
        return_indices: whether the elements' places are returned too.
        ceil_mode: whether windows may go beyond the input.
    """

    kernel_size: Any
    stride: Any = None
    padding: Any = 0
    dilation: Any = 1
    return_indices: bool = False
    ceil_mode: bool = False

    def setup(self) -> None:
        if self.stride is None:
            self.stride = self.kernel_size

    def extra_repr(self) -> str:
        """The options with their values."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )

    def _options(self) -> dict[str, Any]:
        return {"ceil_mode": self.ceil_mode, "return_indices": self.return_indices}


class MaxPool1d(_MaxPoolNd):
    __doc__ = (_MaxPoolNd.__doc__ or "").replace("each window", "each window of [N, C, L]")

    def forward(self, input: Tensor) -> Any:
        return F.max_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.dilation, **self._options()
        )


class MaxPool2d(_MaxPoolNd):
    __doc__ = (_MaxPoolNd.__doc__ or "").replace("each window", "each window of [N, C, H, W]")

    def forward(self, input: Tensor) -> Any:
        return F.max_pool2d(
            input, self.kernel_size, self.stride, self.padding, self.dilation, **self._options()
        )


class MaxPool3d(_MaxPoolNd):
    __doc__ = (_MaxPoolNd.__doc__ or "").replace("each window", "each window of [N, C, D, H, W]")

    def forward(self, input: Tensor) -> Any:
        return F.max_pool3d(
            input, self.kernel_size, self.stride, self.padding, self.dilation, **self._options()
        )


class _MaxUnpoolNd(Module):
    """Puts elements back to the places that max pooling took them from, among zeros.

    Args:
        kernel_size: the size of the windows, one number or one for each dim; so all below.
        stride: the distance of neighbouring windows; None: their size.
        padding: the padding of the max pooling.
    """

    _dims: ClassVar[int]

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        each = _ntuple(self._dims)
        self.kernel_size = each(kernel_size)
        self.stride = each(kernel_size if stride is None else stride)
        self.padding = each(padding)

    def extra_repr(self) -> str:
        """The options with their values."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """The result for elements and the places that `return_indices` gave."""
        unpool = getattr(F, f"max_unpool{self._dims}d")
        return unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_MaxUnpoolNd):
    __doc__ = _MaxUnpoolNd.__doc__
    _dims = 1


class MaxUnpool2d(_MaxUnpoolNd):
    __doc__ = _MaxUnpoolNd.__doc__
    _dims = 2


class MaxUnpool3d(_MaxUnpoolNd):
    __doc__ = _MaxUnpoolNd.__doc__
    _dims = 3


class _AvgPoolNd(Module):
    """The mean of each window."""

    kernel_size: Any
    stride: Any
    padding: Any

    def extra_repr(self) -> str:
        """The options with their values."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


@module_fields
class AvgPool1d(_AvgPoolNd):
    """The mean of each window of [N, C, L].

    Args:
        kernel_size: the size of the windows.
        stride: the distance of neighbouring windows; None: their size.
        padding: by how much the input is enlarged at each side, with zeros.
        ceil_mode: whether windows may go beyond the input.
        count_include_pad: whether the padding counts as elements.
    """

    kernel_size: Any
    stride: Any = None
    padding: Any = 0
    ceil_mode: bool = False
    count_include_pad: bool = True

    def setup(self) -> None:
        self.kernel_size = _single(self.kernel_size)
        self.stride = _single(self.kernel_size if self.stride is None else self.stride)
        self.padding = _single(self.padding)

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )


@module_fields
class AvgPool2d(_AvgPoolNd):
    """The mean of each window of [N, C, H, W].

    Args:
        kernel_size: the size of the windows, one number or one for each dim; so all below.
        stride: the distance of neighbouring windows; None: their size.
        padding: by how much the input is enlarged at each side, with zeros.
        ceil_mode: whether windows may go beyond the input.
        count_include_pad: whether the padding counts as elements.
        divisor_override: what sums are divided by; None: the number of elements.
    """

    kernel_size: Any
    stride: Any = None
    padding: Any = 0
    ceil_mode: bool = False
    count_include_pad: bool = True
    divisor_override: int | None = None

    def setup(self) -> None:
        if self.stride is None:
            self.stride = self.kernel_size

    def _arguments(self) -> tuple[Any, ...]:
        return (
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool2d(input, *self._arguments())


class AvgPool3d(AvgPool2d):
    __doc__ = (AvgPool2d.__doc__ or "").replace("[N, C, H, W]", "[N, C, D, H, W]")

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool3d(input, *self._arguments())

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for name, value in {"padding": 0, "ceil_mode": False, "count_include_pad": True}.items():
            self.__dict__.setdefault(name, value)


class _FractionalMaxPoolNd(Module):
    """Max pooling with windows at pseudo-random places (Graham, arXiv:1412.6071).

    Args:
        kernel_size: the size of the windows, one number or one for each dim; so all below.
        output_size: the size of the result; either this or the next is given.
        output_ratio: the size of the result as a share of the input's.
        return_indices: whether the elements' places are returned too.

    Raises:
        ValueError: if none or both of them are given, or for a ratio outside of (0, 1).
    """

    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]
    _dims: ClassVar[int]

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        each = _ntuple(self._dims)
        self.kernel_size = each(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else each(output_size)
        self.output_ratio = None if output_ratio is None else each(output_ratio)
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name}: give output_size or output_ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError(f"{name}: give output_size or output_ratio, but not both")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        pool = getattr(F, f"fractional_max_pool{self._dims}d")
        return pool(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    __doc__ = _FractionalMaxPoolNd.__doc__
    _dims = 2


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    __doc__ = _FractionalMaxPoolNd.__doc__
    _dims = 3


@module_fields
class _LPPoolNd(Module):
    """The p-norm of each window.

    Args:
        norm_type: p.
        kernel_size: the size of the windows, one number or one for each dim.
        stride: the distance of neighbouring windows; None: their size.
        ceil_mode: whether windows may go beyond the input.
    """

    norm_type: float
    kernel_size: Any
    stride: Any = None
    ceil_mode: bool = False


class LPPool1d(_LPPoolNd):
    __doc__ = _LPPoolNd.__doc__

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool1d(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


class LPPool2d(_LPPoolNd):
    __doc__ = _LPPoolNd.__doc__

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool2d(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


class LPPool3d(_LPPoolNd):
    __doc__ = _LPPoolNd.__doc__

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool3d(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


@module_fields
class _AdaptiveMaxPoolNd(Module):
    """Max pooling to a size.

    Args:
        output_size: the size of the result, one number or one for each dim; None: the input's.
        return_indices: whether the elements' places are returned too.
    """

    output_size: Any
    return_indices: bool = False

    def extra_repr(self) -> str:
        """The options with their values."""
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    __doc__ = _AdaptiveMaxPoolNd.__doc__

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    __doc__ = _AdaptiveMaxPoolNd.__doc__

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    __doc__ = _AdaptiveMaxPoolNd.__doc__

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)


@module_fields
class _AdaptiveAvgPoolNd(Module):
    """Average pooling to a size.

    Args:
        output_size: the size of the result, one number or one for each dim; None: the input's.
    """

    output_size: Any


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    __doc__ = _AdaptiveAvgPoolNd.__doc__

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    __doc__ = _AdaptiveAvgPoolNd.__doc__

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    __doc__ = _AdaptiveAvgPoolNd.__doc__

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool3d(input, self.output_size)
