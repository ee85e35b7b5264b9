"""Numbers in a row: arange, linspace, logspace."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.symbols import SymbolicInt
from ..graph.trace import Traced, warn_user
from . import build
from .conversion import require_dtype
from .parts import concrete_size
from .record import Bound, Operand, Size, constructor, op
from .samples import calls


@constructor(
    names=["arange"],
    out=True,
    onnx="Range",
    samples=calls(
        (5,),
        (2, 7),
        (1, 10, 3),
        (0.5, 3.0, 0.5),
        (5, 0, -2),
        (0,),
        ((4,), {"dtype": dtypes.float32}),
    ),
)
def arange(start: Bound = 0, end: Bound = None, step: Bound = 1, *, dtype: DType | None = None):
    """The numbers start, start + step, ... before end."""
    if end is None:
        start, end = 0, start
    bounds = (start, end, step)
    whole = all(isinstance(each, int | SymbolicInt) for each in bounds)
    if dtype is None:
        dtype = dtypes.int64 if whole else dtypes.get_default_dtype()
    dtype = require_dtype(dtype, "arange")
    if not whole:
        start, end, step = (float(concrete_size(each, "arange")) for each in bounds)
        if not (math.isfinite(start) and math.isfinite(end)):
            raise RuntimeError(f"unsupported range: {start} -> {end} (in arange)")
    if step == 0:
        raise RuntimeError("step must be nonzero (in arange)")
    if (end < start) if step > 0 else (end > start):
        raise RuntimeError(
            f"arange: step={step} does not lead from start={start} to end={end}; change its sign"
        )
    if whole:
        return build.convert(build.iota(-((start - end) // step)) * step + start, dtype)
    if dtype.is_integral:  # all arithmetic is in that type
        first, last, stride = math.trunc(start), math.trunc(end), math.trunc(step)
        if dtype is not dtypes.int64:
            count = math.ceil((end - start) / step)
        elif stride:
            count = -((first - last) // stride)
        else:
            raise ValueError("step must be nonzero (in arange)")
        return build.convert(build.iota(count) * stride + first, dtype)
    counts = build.convert(build.iota(math.ceil((end - start) / step)), dtypes.float64)
    return build.convert(counts * step + start, dtype)


@constructor(name="range_with_end", names=["range"], out=True, samples=calls((0, 4), (1, 3, 0.5)))
def range_with_end(start: Bound, end: Bound, step: Bound = 1, *, dtype: DType | None = None):
    """The numbers start, start + step, ... up to end, included. (Use ``arange``, without it.)"""
    warn_user("range() includes the end, unlike Python's range; use arange instead")
    start, end, step = (float(concrete_size(each, "range")) for each in (start, end, step))
    if step == 0:
        raise RuntimeError("step must be nonzero (in range)")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end} (in range)")
    if (end < start) if step > 0 else (end > start):
        raise RuntimeError(
            f"range: step={step} does not lead from start={start} to end={end}; change its sign"
        )
    dtype = dtypes.get_default_dtype() if dtype is None else require_dtype(dtype, "range")
    counts = build.convert(build.iota(math.floor((end - start) / step) + 1), dtypes.float64)
    return build.convert(counts * step + start, dtype)


@constructor(
    names=["linspace"],
    out=True,
    samples=calls((0, 1, 5), (-2.5, 2.5, 4), (3, 4, 1), (1, 2, 0)),
)
def linspace(start: Operand, end: Operand, steps: Size, *, dtype: DType | None = None):
    """``steps`` numbers at equal distances from start to end, both included."""
    _check_steps("linspace", start, end, steps)
    dtype = _range_dtype("linspace", (start, end), dtype)
    compute = dtypes.complex128 if dtype.is_complex else dtypes.float64
    return build.convert(_spaced(start, end, steps, compute, dtype.is_integral), dtype)


def _check_steps(name: str, start: Traced, end: Traced, steps: Any) -> None:
    if not isinstance(steps, int | SymbolicInt):
        raise TypeError(f"{name}(): argument 'steps' must be int, not {type(steps).__name__}")
    if steps < 0:
        raise RuntimeError(f"number of steps must be non-negative (got {steps}, in {name})")
    if start.shape or end.shape:
        raise RuntimeError(
            f"{name}: start and end must be numbers or 0-dimensional tensors, but have "
            f"{start.ndim} and {end.ndim} dimensions"
        )


def _range_dtype(name: str, ends: Sequence[Traced], dtype: DType | None) -> DType:
    """The dtype of a range between these ends."""
    if dtype is None:
        default = dtypes.get_default_dtype()
        is_complex = any(end.dtype.is_complex for end in ends)
        dtype = default.to_complex() if is_complex else default
    return require_dtype(dtype, name)


def _spaced(start: Traced, end: Traced, steps: Any, compute: DType, whole: bool) -> Traced:
    """Numbers at equal distances from start to end, which are cut to whole numbers if need be."""
    if whole:
        start, end = (build.convert(each, dtypes.int64) for each in (start, end))
    start, end = (build.convert(each, compute) for each in (start, end))
    counts = build.convert(build.iota(steps), compute)
    if steps == 1:
        return counts + start
    step = (end - start) / (steps - 1)
    backward = end - step * (steps - 1 - counts)
    forward = build.iota(steps) < steps // 2
    return build.select_where(forward, counts * step + start, backward, compute)


@constructor(
    names=["logspace"],
    out=True,
    samples=calls((0, 1, 5), (-2.5, 2.5, 4), (3, 4, 1), (1, 2, 0), (0, 3, 4, 2.0)),
)
def logspace(
    start: Operand, end: Operand, steps: Size, base: Operand = 10.0, *, dtype: DType | None = None
):
    """The powers of base with ``steps`` exponents at equal distances from start to end, both
    included.
    """
    _check_steps("logspace", start, end, steps)
    dtype = _range_dtype("logspace", (start, end), dtype)
    if dtype.is_integral:  # single precision, cut off
        base = build.convert(build.lift(base, start.context), dtypes.int64)
        exponents = build.convert(_spaced(start, end, steps, dtypes.float64, True), dtypes.float32)
        powers = op.pow(build.convert(base, dtypes.float64), exponents)
        return build.convert(build.convert(powers, dtypes.float32), dtype)
    compute = dtypes.complex128 if dtype.is_complex else dtypes.float64
    base = build.convert(build.lift(base, start.context), compute)
    return build.convert(op.pow(base, _spaced(start, end, steps, compute, False)), dtype)
