"""Scans: running sums."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from ..dtypes import dtype as DType
from ..layout import normalize_dim
from . import build
from .kinds import Scan
from .record import Tensor, composite, primitive
from .reductions import scan_dtype
from .samples import Draw, with_dim
from .shapes import flip_primitive

_WIDE = {"f": numpy.float64, "c": numpy.complex128}


def reversed_cumsum(g: Any, x: Any, dim: int) -> Any:
    """The transpose of cumsum: the running sum from the end."""
    return flip_primitive.apply(
        cumsum_primitive.apply(flip_primitive.apply(g, dims=(dim,)), dim=dim), dims=(dim,)
    )


@primitive(
    Scan(),
    name="cumsum",
    transpose=reversed_cumsum,
    reference=lambda x, dim: numpy.cumsum(x, axis=dim, dtype=_WIDE.get(x.dtype.kind, x.dtype)),
)
def cumsum_primitive(x, dim):
    """The running sum along dim, in the input's dtype."""


def _samples(dtype: DType) -> Any:
    yield from with_dim()(dtype)
    yield (Draw(()), 0), {}


@composite(names=["cumsum"], inplace=True, out=True, samples=_samples, onnx="CumSum")
def cumsum(input: Tensor, dim: int, *, dtype: DType | None = None):
    """The running sum along dim."""
    input = build.convert(input, scan_dtype(input, dtype, "cumsum"))
    dim = normalize_dim(dim, input.ndim)
    if not input.ndim or input.dtype is dtypes.bool:  # the latter has no elements
        return input
    return cumsum_primitive.apply(input, dim=dim)
