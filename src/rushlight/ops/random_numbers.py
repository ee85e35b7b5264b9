"""Random numbers as PyTorch's CPU generator draws them: as raw bits, and made of these."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.trace import Traced
from . import build
from .kinds import Host, Random
from .record import NONE, op, primitive, unsupported


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


# Notes how numbers lie in memory, in the order of which they are drawn.
Layout = Callable[[Traced], Traced]


def as_computed(numbers: Traced) -> Traced:
    """The layout of numbers that are drawn in row-major order."""
    return numbers


def layout_like(input: Traced, memory_format: Any, name: str) -> Layout:
    """The layout of a result of an operator of that name in the shape of the input."""
    if memory_format is None or memory_format.name == "preserve_format":
        return lambda numbers: build.laid_out_by(numbers, [input])
    return lambda numbers: build.in_format(numbers, memory_format, name)


def uniform_numbers(
    shape: Sequence[Any], dtype: DType, generator: Any, layout: Layout = as_computed
) -> Traced:
    """Numbers in [0, 1): 53 bits in double precision, else 24 bits rounded to dtype. Both parts of
    complex ones are such numbers.
    """
    if dtype.is_complex:
        parts = uniform_numbers((*shape, 2), dtype.to_real(), generator)
        real, imaginary = (op.select(parts, -1, position) for position in (0, 1))
        return build.convert(real, dtype) + build.convert(imaginary, dtype) * 1j
    if dtype is dtypes.float64:
        return double_uniform(shape, generator, layout)
    bits = layout(random_bits.apply(shape=tuple(shape), bits=32, generator=generator))
    return build.convert(build.convert(bits & 0xFFFFFF, dtypes.float32) * 2.0**-24, dtype)


def double_uniform(shape: Sequence[Any], generator: Any, layout: Layout = as_computed) -> Traced:
    """Numbers in [0, 1) in double precision."""
    bits = layout(random_bits.apply(shape=tuple(shape), bits=64, generator=generator))
    return build.convert(bits & (2**53 - 1), dtypes.float64) * 2.0**-53


# ---------------------------------------------------------------- normal numbers


def uniform_arrays(generator: Any, count: int, double: bool) -> Any:
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
    angle, radius = uniform_arrays(generator, 2 * pairs, True).reshape(pairs, 2).T
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
    uniform = uniform_arrays(generator, whole if dtype.itemsize == 2 else count, double)
    result = numpy.empty(count, uniform.dtype)
    result[:whole] = _box_muller_blocks(uniform[:whole].reshape(-1, 16)).reshape(-1)
    if whole != count:
        result[-16:] = _box_muller_blocks(
            uniform_arrays(generator, 16, double).reshape(1, 16)
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
