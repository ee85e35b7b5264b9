"""`make_tensor`."""

from __future__ import annotations

import math
import warnings
from typing import Any

from .. import dtypes
from .._core import Tensor
from ..device import device as Device
from ..dtypes import dtype as DType
from ..layout import flatten_sizes
from ..limits import finfo, iinfo
from ..ops.creation import empty
from ..ops.random import randint


def make_tensor(
    *shape: Any,
    dtype: DType,
    device: str | Device,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor of random numbers, uniform between two bounds.

    Args:
        shape: the sizes.
        dtype: the elements' type.
        device: where it will be.
        low, high: bounds, the upper one exclusive; None: bool 0 and 2, unsigned integers 0 and 10,
            other types -9 and 9 (integers: 10).
        requires_grad: whether gradients are to be computed for it.
        noncontiguous: whether there are gaps between the elements.
        exclude_zero: replace zeros by the smallest positive number.
        memory_format: the order of the dims in memory.

    Raises:
        ValueError: for bounds that hold no number of the type.
    """
    sizes = flatten_sizes(shape)
    if noncontiguous and memory_format is not None:
        raise ValueError(
            f"make_tensor: memory_format={memory_format} asks for a dense tensor and "
            f"noncontiguous={noncontiguous} for another; give one of them"
        )
    if requires_grad and not dtype.is_differentiable:
        raise ValueError(
            "`requires_grad=True` is only supported for floating point and complex dtypes, but "
            f"got dtype={dtype}"
        )
    gaps = noncontiguous and math.prod(sizes) > 1
    drawn_sizes = (*sizes[:-1], 2 * sizes[-1]) if gaps else sizes
    start, end = bounds(dtype, low, high)
    if dtype.is_integral:
        result = randint.operator(start, end, drawn_sizes, dtype=dtype)
    else:
        result = drawn(drawn_sizes, dtype, start, end)
    if gaps:
        result = result[..., 1::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        smallest = 1 if dtype.is_integral else finfo(dtype).tiny
        result.masked_fill_(result == 0, smallest)
    result = result.to(device=device)
    return result.requires_grad_() if requires_grad else result


def bounds(dtype: DType, low: Any, high: Any) -> tuple[Any, Any]:
    """Bounds within the type's range."""
    least: float
    most: float
    if dtype is dtypes.bool:
        defaults, least, most = (0, 2), 0, 2
    elif dtype.is_integral:
        defaults = (0 if dtype.kind == "u" else -9, 10)
        least, most = iinfo(dtype).min, iinfo(dtype).max + (dtype is not dtypes.int64)
    else:
        defaults = (-9, 9)
        least, most = finfo(dtype).min, finfo(dtype).max
    low = defaults[0] if low is None else low
    high = defaults[1] if high is None else high
    if any(isinstance(each, float) and math.isnan(each) for each in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low} and high={high}")
    if low == high and not dtype.is_integral:
        warnings.warn(
            "make_tensor: low == high leaves nothing random; it is deprecated for floating-point "
            "and complex dtypes. Use `torch.full(...)`.",
            FutureWarning,
            stacklevel=4,
        )
    elif low >= high:
        raise ValueError(f"make_tensor(): `low` must be below `high`, not {low} and {high}")
    elif high < least or low > most:
        raise ValueError(
            f"make_tensor: no value of {dtype} is in [{low}, {high}); its values are in [{least}, "
            f"{most})"
        )
    low, high = max(low, least), min(high, most)
    if dtype.is_integral:
        return math.floor(low), math.ceil(high)
    return low, high


def drawn(sizes: tuple[int, ...], dtype: DType, low: float, high: float) -> Tensor:
    """Uniform numbers; the parts of complex ones follow each other."""
    result: Any = empty.operator(sizes, dtype=dtype)
    if dtype is dtypes.complex32 or dtype.is_complex and not sizes:
        wide = drawn((*sizes, 1), dtypes.complex64, low, high).reshape(sizes)
        return wide.to(dtype)
    reals = result.view(dtype.to_real()) if dtype.is_complex else result
    reals.uniform_(low, high)
    return result
