"""Operators that draw random numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.trace import Traced
from ..layout import broadcast_shapes
from . import build
from .arithmetic import computed_dtype
from .conversion import overwritten, require_dtype
from .creation import check_sizes
from .kinds import Elementwise, floating
from .random_numbers import (
    Layout,
    as_computed,
    double_uniform,
    layout_like,
    normal_numbers,
    paired_normal_numbers,
    permutation,
    random_bits,
    uniform_numbers,
)
from .record import (
    Generator,
    MemoryFormat,
    Mutated,
    Operand,
    Size,
    composite,
    constructor,
    op,
    primitive,
)

# ---------------------------------------------------------------- new tensors


def floating_dtype(dtype: DType | None, name: str) -> DType:
    """The dtype of random floating-point or complex numbers."""
    dtype = dtypes.get_default_dtype() if dtype is None else require_dtype(dtype, name)
    if not dtype.is_differentiable:
        raise NotImplementedError(
            f'"{name}" not implemented for {dtype}; give a floating-point dtype'
        )
    return dtype


@constructor(names=["rand"], random=True, out=True)
def rand(*size: Size, generator: Generator = None, dtype: DType | None = None):
    """Uniform random numbers in [0, 1)."""
    return uniform_numbers(check_sizes(size, "rand"), floating_dtype(dtype, "rand"), generator)


@constructor(names=["rand_like"], random=True)
def rand_like(
    input,
    *,
    generator: Generator = None,
    dtype: DType | None = None,
    memory_format: MemoryFormat = None,
):
    """Uniform random numbers in [0, 1), in the shape of another tensor."""
    dtype = floating_dtype(dtype or input.dtype, "rand_like")
    layout = layout_like(input, memory_format, "rand_like")
    return layout(uniform_numbers(input.shape, dtype, generator, layout))


@constructor(names=["randn"], random=True, out=True)
def randn(*size: Size, generator: Generator = None, dtype: DType | None = None):
    """Standard normal random numbers."""
    return normal_numbers.apply(
        shape=check_sizes(size, "randn"), dtype=floating_dtype(dtype, "randn"), generator=generator
    )


@constructor(names=["randn_like"], random=True)
def randn_like(
    input,
    *,
    generator: Generator = None,
    dtype: DType | None = None,
    memory_format: MemoryFormat = None,
):
    """Standard normal random numbers, in the shape of another tensor."""
    dtype = floating_dtype(dtype or input.dtype, "randn_like")
    numbers = normal_numbers.apply(shape=tuple(input.shape), dtype=dtype, generator=generator)
    return layout_like(input, memory_format, "randn_like")(numbers)


def _integers(
    low: Any,
    high: Any,
    shape: Sequence[Any],
    dtype: DType,
    generator: Any,
    name: str,
    layout: Layout = as_computed,
) -> Traced:
    if low >= high:
        raise RuntimeError(f"{name}: 'from' must be less than 'to', but they are {low} and {high}")
    width = high - low
    if width >= 2**32:
        bits = layout(random_bits.apply(shape=tuple(shape), bits=64, generator=generator))
    else:
        bits = layout(random_bits.apply(shape=tuple(shape), bits=32, generator=generator))
        bits = build.convert(bits, dtypes.int64)
    return layout(build.convert(build.convert(bits % width, dtypes.int64) + low, dtype))


@constructor(names=["randint"], random=True, out=True)
def randint(
    *bounds_and_size: Size,
    low: Size = 0,
    high: Size = None,
    size: Size = None,
    generator: Generator = None,
    dtype: DType | None = None,
):
    """Random integers from low (0 if left out) up to but without high: ``randint(low, high,
    size)``.
    """
    *bounds, shape = bounds_and_size if size is None else (*bounds_and_size, size)
    if len(bounds) == 2:
        low, high = bounds
    elif bounds:
        high = bounds[0]
    if high is None:
        raise TypeError("randint() missing the argument 'high'")
    dtype = dtypes.int64 if dtype is None else require_dtype(dtype, "randint")
    return _integers(
        low, high, check_sizes((tuple(shape),), "randint"), dtype, generator, "randint"
    )


@constructor(names=["randperm"], random=True, out=True)
def randperm(n: Size, *, generator: Generator = None, dtype: DType | None = None):
    """The numbers 0 ... n - 1 in random order."""
    if n < 0:
        raise RuntimeError(f"n must be non-negative, got {n} (in randperm)")
    dtype = dtypes.int64 if dtype is None else require_dtype(dtype, "randperm")
    return build.convert(permutation.apply(length=n, generator=generator), dtype)


@constructor(names=["randint_like"], random=True)
def randint_like(
    input,
    *bounds: Size,
    low: Size = 0,
    high: Size = None,
    generator: Generator = None,
    dtype: DType | None = None,
    memory_format: MemoryFormat = None,
):
    """Random integers from low (0 if left out) up to but without high: ``randint_like(x, low,
    high)``.
    """
    if len(bounds) == 2:
        low, high = bounds
    elif bounds and high is None:
        high = bounds[0]
    elif bounds:
        low = bounds[0]
    if high is None:
        raise TypeError("randint_like() missing the argument 'high'")
    dtype = input.dtype if dtype is None else require_dtype(dtype, "randint_like")
    layout = layout_like(input, memory_format, "randint_like")
    return _integers(low, high, input.shape, dtype, generator, "randint_like", layout)


@constructor(names=["normal"], random=True, out=True)
def normal(
    mean: Operand = 0.0,
    std: Operand = 1.0,
    size: Size = None,
    *,
    generator: Generator = None,
    dtype: DType | None = None,
):
    """Normal random numbers: of the given size, or one for each element of mean and std."""
    if build.is_number(std) and std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    if size is not None:
        if not (build.is_number(mean) and build.is_number(std)):
            raise TypeError("normal(): give size only with mean and std as numbers")
        dtype = floating_dtype(dtype, "normal")
        shape = check_sizes((tuple(size),), "normal")
    else:
        tensors = [each for each in (mean, std) if not build.is_number(each)]
        if not tensors:
            raise TypeError("normal(): give size, or tensors as mean or std")
        dtype = floating_dtype(computed_dtype(*tensors), "normal")
        shape = broadcast_shapes([each.shape for each in tensors], "normal")
    numbers = normal_numbers.apply(shape=tuple(shape), dtype=dtype, generator=generator)
    return build.convert(numbers * std + mean, dtype)


# ---------------------------------------------------------------- in place


def _in_memory_order(self: Traced) -> Layout:
    """Numbers for a tensor are drawn in the order of its dims in memory."""
    return layout_like(self, None, "")


def check_range(low: Any, high: Any) -> None:
    """RuntimeError unless low <= high.

    A plan holds for bounds on both sides of a number: 0 where it lies between them.
    """
    known: list[Any] = [
        getattr(bound.context, "hints", {}).get(bound.value) if isinstance(bound, Traced) else bound
        for bound in (low, high)
    ]
    if None in known:
        return
    pivot = 0 if known[0] <= 0 <= known[1] else known[0]
    if not (low <= pivot and high >= pivot):
        raise RuntimeError(
            f"uniform_: nothing lies from `from` to `to`: from={known[0]} > to={known[1]}"
        )


@composite(name="uniform_", methods=["uniform_"], random=True)
def uniform_(
    self: Mutated, from_: Operand = 0.0, to: Operand = 1.0, *, generator: Generator = None
):
    """Set to uniform random numbers in [from_, to)."""
    check_range(from_, to)
    dtype = floating_dtype(self.dtype, "uniform_")
    compute = dtypes.float32 if dtype.itemsize == 2 else dtype
    if dtype.is_complex:
        return uniform_numbers(self.shape, dtype, generator) * (to - from_) + from_ * (1 + 1j)
    numbers = uniform_numbers(self.shape, compute, generator, _in_memory_order(self))
    low, high = (build.convert(build.lift(bound, self.context), compute) for bound in (from_, to))
    width, low = (build.expand(each, self.shape) for each in (high - low, low))
    return build.convert(multiply_add.apply(numbers, width, low), dtype)


def _multiply_add_arrays(x: Any, y: Any, z: Any) -> Any:
    wide = numpy.longdouble if x.dtype == numpy.float64 else numpy.float64
    return (x.astype(wide) * y.astype(wide) + z.astype(wide)).astype(x.dtype)


@primitive(
    Elementwise(floating),
    name="multiply_add",
    derivative=lambda out, x, y, z: (y, x, 1),
    reference=_multiply_add_arrays,
)
def multiply_add(x, y, z):
    """x * y + z, rounded once."""


@composite(name="normal_", methods=["normal_"], random=True)
def normal_(self: Mutated, mean: Operand = 0.0, std: Operand = 1.0, *, generator: Generator = None):
    """Set to normal random numbers."""
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    dtype = floating_dtype(self.dtype, "normal_")
    return (
        normal_numbers.apply(shape=tuple(self.shape), dtype=dtype, generator=generator) * std + mean
    )


@composite(name="exponential_", methods=["exponential_"], random=True)
def exponential_(self: Mutated, lambd: Operand = 1.0, *, generator: Generator = None):
    """Set to random numbers of the exponential distribution."""
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    dtype = floating_dtype(self.dtype, "exponential_")
    return build.convert(
        -op.log1p(-double_uniform(self.shape, generator, _in_memory_order(self))) / lambd, dtype
    )


@composite(name="cauchy_", methods=["cauchy_"], random=True)
def cauchy_(
    self: Mutated, median: Operand = 0.0, sigma: Operand = 1.0, *, generator: Generator = None
):
    """Set to random numbers of the Cauchy distribution."""
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    dtype = floating_dtype(self.dtype, "cauchy_")
    angles = (double_uniform(self.shape, generator, _in_memory_order(self)) - 0.5) * math.pi
    return build.convert(op.tan(angles) * sigma + median, dtype)


@composite(name="geometric_", methods=["geometric_"], random=True)
def geometric_(self: Mutated, p: Operand, *, generator: Generator = None):
    """Set to the numbers of trials up to the first success, which has probability p."""
    if p <= 0 or p >= 1:
        raise RuntimeError(f"geometric_: p must be more than 0 and less than 1, but is {p}")
    trials = op.ceil(
        op.log(double_uniform(self.shape, generator, _in_memory_order(self))) / op.log1p(-p)
    )
    return build.convert(trials, self.dtype)


@composite(name="log_normal_", methods=["log_normal_"], random=True)
def log_normal_(
    self: Mutated, mean: Operand = 1.0, std: Operand = 2.0, *, generator: Generator = None
):
    """Set to numbers whose logarithms are normal."""
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    dtype = floating_dtype(self.dtype, "log_normal_")
    numbers = paired_normal_numbers.apply(shape=tuple(self.shape), generator=generator)
    return build.convert(op.exp(numbers * std + mean), dtype)


@composite(name="bernoulli_", methods=["bernoulli_"], random=True)
def bernoulli_(self: Mutated, p: Operand = 0.5, *, generator: Generator = None):
    """Set to 1 with probability p (a number, or a tensor of probabilities), else 0."""
    if build.is_number(p):
        if p < 0 or p > 1:
            raise RuntimeError(f"bernoulli_: p must be a probability, from 0 to 1, but is {p}")
        return build.convert(
            double_uniform(self.shape, generator, _in_memory_order(self)) < p, self.dtype
        )
    return build.convert(
        _bernoulli(build.expand(p, self.shape), generator, _in_memory_order(self)), self.dtype
    )


def _bernoulli(p: Traced, generator: Any, layout: Layout = as_computed) -> Traced:
    compute = dtypes.float64 if p.dtype is dtypes.float64 else dtypes.float32
    return uniform_numbers(p.shape, compute, generator, layout) < build.convert(p, compute)


@composite(
    names=["bernoulli"],
    random=True,
    out=True,
)
def bernoulli(input, p: Operand = None, *, generator: Generator = None):
    """1 with the probability that the element (or p) says, else 0."""
    if p is None:
        hits = _bernoulli(input, generator)
    else:
        if not build.is_number(p) and p.ndim:
            raise TypeError(
                "bernoulli(): p must be a number; give tensors of probabilities to bernoulli_, or "
                "as the input"
            )
        p = p if build.is_number(p) else build.expand(p, input.shape)
        hits = double_uniform(input.shape, generator) < p
    return overwritten.apply(input, build.convert(hits, input.dtype))


@composite(name="random_", methods=["random_"], random=True)
def random_(self: Mutated, from_: Size = None, to: Size = None, *, generator: Generator = None):
    """Set to random integers in [from_, to), by default all from 0 on that the dtype holds."""
    if to is None and from_ is not None:
        from_, to = 0, from_
    if to is not None:
        return _integers(
            from_ or 0, to, self.shape, self.dtype, generator, "random_", _in_memory_order(self)
        )
    digits = {dtypes.float16: 11, dtypes.bfloat16: 8, dtypes.float32: 24, dtypes.float64: 53}
    if self.dtype in digits:
        limit = 2 ** digits[self.dtype] + 1
    elif self.dtype is dtypes.bool:
        limit = 2
    else:
        limit = 2 ** (8 * self.dtype.itemsize - (self.dtype.kind == "i"))
    bits = 64 if limit > 2**32 else 32
    draws = random_bits.apply(shape=tuple(self.shape), bits=bits, generator=generator)
    draws = _in_memory_order(self)(draws)
    draws = build.convert(draws, dtypes.int64) if bits == 32 else draws
    draws = draws & (limit - 1) if limit & (limit - 1) == 0 else draws % limit
    return build.convert(draws, self.dtype)
