"""Random numbers: the streams of PyTorch's CPU generator, drawn as raw bits and turned into numbers
by operators.
"""

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
from .kinds import Elementwise, Host, Random, floating
from .record import (
    NONE,
    Generator,
    MemoryFormat,
    Mutated,
    Operand,
    Size,
    composite,
    constructor,
    op,
    primitive,
    unsupported,
)


@primitive(
    Random(
        lambda shape, bits, generator: (
            dtypes.uint32 if bits == 32 else dtypes.uint64,
            tuple(shape),
            False,
        )
    ),
    random=True,
    derivative=NONE,
    reference=lambda shape, bits, generator: draw_bits(generator, shape, bits),
)
def random_bits(shape, bits, generator):
    """The next outputs of a generator: uint32, or uint64 with the high word drawn first. None: the
    default generator.
    """


def draw_bits(generator: Any, shape: Sequence[int], bits: int) -> Any:
    """A NumPy array of a generator's next outputs."""
    result = numpy.empty(tuple(shape), numpy.uint32 if bits == 32 else numpy.uint64)
    generator.fill(result)
    return result


def uniform_numbers(shape: Sequence[Any], dtype: DType, generator: Any) -> Traced:
    """Numbers in [0, 1): 53 bits in double precision, else 24 bits rounded to dtype. Both parts of
    complex ones are such numbers.
    """
    if dtype.is_complex:
        parts = uniform_numbers((*shape, 2), dtype.to_real(), generator)
        real, imaginary = (op.select(parts, -1, position) for position in (0, 1))
        return build.convert(real, dtype) + build.convert(imaginary, dtype) * 1j
    if dtype is dtypes.float64:
        return double_uniform(shape, generator)
    bits = random_bits.apply(shape=tuple(shape), bits=32, generator=generator)
    return build.convert(build.convert(bits & 0xFFFFFF, dtypes.float32) * 2.0**-24, dtype)


def double_uniform(shape: Sequence[Any], generator: Any) -> Traced:
    """Numbers in [0, 1) in double precision."""
    bits = random_bits.apply(shape=tuple(shape), bits=64, generator=generator)
    return build.convert(bits & (2**53 - 1), dtypes.float64) * 2.0**-53


# ---------------------------------------------------------------- normal numbers


def _uniform_arrays(generator: Any, count: int, double: bool) -> Any:
    if double:
        return (draw_bits(generator, (count,), 64) & numpy.uint64(2**53 - 1)).astype(
            numpy.float64
        ) * 2.0**-53
    return (draw_bits(generator, (count,), 32) & numpy.uint32(2**24 - 1)).astype(
        numpy.float32
    ) * numpy.float32(2.0**-24)


def _box_muller_blocks(uniform: Any) -> Any:
    """Blocks of 16 uniform numbers: the first 8 give radii, the others angles."""
    first, second = 1 - uniform[:, :8], uniform[:, 8:]
    radius = numpy.sqrt(-2 * numpy.log(first))
    angle = uniform.dtype.type(2 * math.pi) * second
    return numpy.concatenate([radius * numpy.cos(angle), radius * numpy.sin(angle)], axis=1)


def paired_normals(shape: Sequence[int], generator: Any) -> Any:
    """Normal numbers by pairs in double precision; the generator keeps the second number of the
    last pair.
    """
    count = math.prod(shape)
    result = numpy.empty(count + 2, numpy.float64)
    first = 0
    if count and generator.next_normal is not None:
        result[0], first = generator.next_normal, 1
        generator.next_normal = None
    pairs = (count - first + 1) // 2
    angle, radius = _uniform_arrays(generator, 2 * pairs, True).reshape(pairs, 2).T
    angle, radius = 2 * math.pi * angle, numpy.sqrt(-2 * numpy.log1p(-radius))
    result[first : first + 2 * pairs : 2] = radius * numpy.cos(angle)
    result[first + 1 : first + 1 + 2 * pairs : 2] = radius * numpy.sin(angle)
    if first + 2 * pairs > count:
        generator.next_normal = float(result[count])
    return result[:count].reshape(shape)


def normal_arrays(shape: Sequence[int], dtype: DType, generator: Any) -> Any:
    """Standard normal numbers as PyTorch's CPU generator gives them."""
    if dtype.is_complex:
        parts = normal_arrays((*shape, 2), dtype.to_real(), generator) * math.sqrt(0.5)
        return parts[..., 0] + 1j * parts[..., 1]
    count = math.prod(shape)
    if count < 16:
        return paired_normals(shape, generator)
    double = dtype is dtypes.float64
    whole = count - count % 16
    # The last count % 16 numbers are drawn, though replaced below, except in half precision.
    uniform = _uniform_arrays(generator, whole if dtype.itemsize == 2 else count, double)
    result = numpy.empty(count, uniform.dtype)
    result[:whole] = _box_muller_blocks(uniform[:whole].reshape(-1, 16)).reshape(-1)
    if whole != count:
        result[-16:] = _box_muller_blocks(
            _uniform_arrays(generator, 16, double).reshape(1, 16)
        ).reshape(-1)
    return result.reshape(shape)


@primitive(
    Host(lambda environment, shape, dtype, generator: [(dtype, tuple(shape), False)], impure=True),
    name="normal_numbers",
    random=True,
    derivative=NONE,
    reference=normal_arrays,
    batch=unsupported("drawing normal numbers has no inputs to batch over"),
)
def normal_numbers(shape, dtype, generator):
    """Standard normal numbers from a generator (None: the default one)."""


@primitive(
    Host(
        lambda environment, shape, generator: [(dtypes.float64, tuple(shape), False)], impure=True
    ),
    name="paired_normal_numbers",
    random=True,
    derivative=NONE,
    reference=paired_normals,
    batch=unsupported("drawing normal numbers has no inputs to batch over"),
)
def paired_normal_numbers(shape, generator):
    """Standard normal numbers, each pair of two draws."""


def _permutation_arrays(length: int, generator: Any) -> Any:
    result = numpy.arange(length, dtype=numpy.int64)
    draws = draw_bits(generator, (max(length - 1, 0),), 32)
    for position, draw in enumerate(draws.tolist()):
        other = position + draw % (length - position)
        result[position], result[other] = result[other], result[position]
    return result


@primitive(
    Host(lambda environment, length, generator: [(dtypes.int64, (length,), False)], impure=True),
    name="permutation",
    random=True,
    derivative=NONE,
    reference=_permutation_arrays,
    batch=unsupported("drawing a permutation has no inputs to batch over"),
)
def permutation(length, generator):
    """0 ... length - 1 in random order."""


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
    return uniform_numbers(
        input.shape, floating_dtype(dtype or input.dtype, "rand_like"), generator
    )


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
    return normal_numbers.apply(shape=tuple(input.shape), dtype=dtype, generator=generator)


def _integers(
    low: Any, high: Any, shape: Sequence[Any], dtype: DType, generator: Any, name: str
) -> Traced:
    if low >= high:
        raise RuntimeError(f"{name}: 'from' must be less than 'to', but they are {low} and {high}")
    width = high - low
    if width >= 2**32:
        bits = random_bits.apply(shape=tuple(shape), bits=64, generator=generator)
    else:
        bits = random_bits.apply(shape=tuple(shape), bits=32, generator=generator)
        bits = build.convert(bits, dtypes.int64)
    return build.convert(build.convert(bits % width, dtypes.int64) + low, dtype)


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
    return _integers(low, high, input.shape, dtype, generator, "randint_like")


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
    numbers = uniform_numbers(self.shape, compute, generator)
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
    return build.convert(-op.log1p(-double_uniform(self.shape, generator)) / lambd, dtype)


@composite(name="cauchy_", methods=["cauchy_"], random=True)
def cauchy_(
    self: Mutated, median: Operand = 0.0, sigma: Operand = 1.0, *, generator: Generator = None
):
    """Set to random numbers of the Cauchy distribution."""
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    dtype = floating_dtype(self.dtype, "cauchy_")
    angles = (double_uniform(self.shape, generator) - 0.5) * math.pi
    return build.convert(op.tan(angles) * sigma + median, dtype)


@composite(name="geometric_", methods=["geometric_"], random=True)
def geometric_(self: Mutated, p: Operand, *, generator: Generator = None):
    """Set to the numbers of trials up to the first success, which has probability p."""
    if p <= 0 or p >= 1:
        raise RuntimeError(f"geometric_: p must be more than 0 and less than 1, but is {p}")
    trials = op.ceil(op.log(double_uniform(self.shape, generator)) / op.log1p(-p))
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
        return build.convert(double_uniform(self.shape, generator) < p, self.dtype)
    return build.convert(_bernoulli(build.expand(p, self.shape), generator), self.dtype)


def _bernoulli(p: Traced, generator: Any) -> Traced:
    compute = dtypes.float64 if p.dtype is dtypes.float64 else dtypes.float32
    return uniform_numbers(p.shape, compute, generator) < build.convert(p, compute)


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
        return _integers(from_ or 0, to, self.shape, self.dtype, generator, "random_")
    digits = {dtypes.float16: 11, dtypes.bfloat16: 8, dtypes.float32: 24, dtypes.float64: 53}
    if self.dtype in digits:
        limit = 2 ** digits[self.dtype] + 1
    elif self.dtype is dtypes.bool:
        limit = 2
    else:
        limit = 2 ** (8 * self.dtype.itemsize - (self.dtype.kind == "i"))
    bits = 64 if limit > 2**32 else 32
    draws = random_bits.apply(shape=tuple(self.shape), bits=bits, generator=generator)
    draws = build.convert(draws, dtypes.int64) if bits == 32 else draws
    draws = draws & (limit - 1) if limit & (limit - 1) == 0 else draws % limit
    return build.convert(draws, self.dtype)
