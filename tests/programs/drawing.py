"""Drawing tensors, numbers, dims and other arguments for a program's next call.

A ``Drawing`` takes its choices from a ``random.Random``: Hypothesis's own, which can shrink, or an
ordinary one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeVar

import numpy
from calls import Dtype, Ref
from program import Program

T = TypeVar("T")

DTYPES = (
    "float32", "float64", "int64", "bool", "int32", "uint8",
    "float16", "bfloat16", "complex64", "complex128", "int8", "int16",
)  # fmt: skip
SHAPES = (
    (3,), (2, 3), (), (1,), (3, 1), (1, 3), (3, 3), (0,), (0, 3), (2, 1, 3), (2, 3, 3),
    (37,), (3, 37), (2, 3, 1, 2),
)  # fmt: skip
LAYOUTS = ("contiguous", "transposed", "stepped", "offset", "expanded", "rows", "swapped")
SPECIAL = (numpy.nan, numpy.inf, -numpy.inf, -0.0, 0.0, 1.0, -1.0, 1e-40, 1e-30, 3e4, -1e30, 3e38)
NUMBERS = (2, 1, 0, -1, 3, 0.5, -1.5, 2.0, True, False, 0.0, -0.0, 7, 1.25, 100, 1 + 2j)
EXTREME_NUMBERS = (
    float("nan"),
    float("inf"),
    float("-inf"),
    1e30,
    -1e-30,
    300,
    2**40,
    -(2**63),
    1e300,
)


class Drawing:
    """program: what has been computed so far; mistakes: the percentage of deliberately wrong
    arguments.
    """

    def __init__(self, random: Random, program: Program, mistakes: int = 4) -> None:
        self.random = random
        self.program = program
        self.mistakes = mistakes
        self.special = self.percent(25)

    # ---------------------------------------------------------------- choices

    def percent(self, chance: int) -> bool:
        return self.random.randrange(100) >= 100 - chance

    def mistake(self) -> bool:
        return self.percent(self.mistakes)

    def integer(self, low: int, high: int) -> int:
        return low + self.random.randrange(high - low + 1)

    def choice(self, options: Sequence[T]) -> T:
        return options[self.random.randrange(len(options))]

    def first(self, options: Sequence[T]) -> T:
        """A choice that prefers the front."""
        return options[
            min(self.random.randrange(len(options)), self.random.randrange(len(options)))
        ]

    # ---------------------------------------------------------------- tensors

    def leaf(
        self, shape: Sequence[int] | None = None, dtype: str | None = None, **flags: Any
    ) -> Ref:
        shape = tuple(self.first(SHAPES) if shape is None else shape)
        dtype = dtype or self.first(DTYPES)
        layout = self.first(LAYOUTS)
        return Ref(self.program.leaf(self.array(shape, dtype, **flags), dtype, layout, **flags))

    def array(self, shape: tuple[int, ...], dtype: str, **flags: Any) -> numpy.ndarray:
        generator = numpy.random.default_rng(self.random.randrange(1000))
        if dtype == "bool":
            return generator.integers(0, 2, shape).astype(numpy.uint8)
        if "int" in dtype:
            low, high = (0, 6) if dtype == "uint8" else (-5, 6)
            array = generator.integers(low, high, shape, numpy.int64)
            if self.special:
                array = numpy.where(generator.random(shape) < 0.2, numpy.iinfo(dtype).max, array)
            return array.astype(dtype)
        array = generator.normal(0, 2, shape).round(2)
        if "complex" in dtype:
            return array + 1j * generator.normal(0, 2, shape).round(2)
        if self.special and not flags.get("requires_grad"):
            array = numpy.where(
                generator.random(shape) < 0.3, generator.choice(SPECIAL, shape), array
            )
        if dtype == "float16":
            with numpy.errstate(over="ignore"):
                array = array.astype(numpy.float16)
        return array

    def indices(
        self, shape: Sequence[int], size: int, dtype: str = "int64", negative: bool = True
    ) -> Ref:
        """An integer tensor of indices for a dim of this size."""
        generator = numpy.random.default_rng(self.random.randrange(1000))
        low = -size if negative and self.percent(30) else 0
        array = generator.integers(low, max(size, 1), tuple(shape))
        if array.size and (self.mistake() or size == 0):
            array.reshape(-1)[-1] = self.choice((size, -size - 1, size + 100))
        return Ref(self.program.leaf(array, dtype, self.first(("contiguous", "stepped"))))

    def tensor(self, accept: Callable[[Any], bool] | None = None) -> Ref:
        """A value so far, the later the likelier, that is accepted if there is one."""
        values = self.program.theirs
        known = [
            number
            for number, each in enumerate(values)
            if accept is None or self.mistake() or accept(each)
        ]
        if not known:
            known = list(range(len(values)))
        return Ref(self.first(known[::-1]))

    def value(self, ref: Ref) -> Any:
        """PyTorch's tensor."""
        return self.program.theirs[ref.index]

    def number(self) -> Any:
        return (
            self.choice(EXTREME_NUMBERS)
            if self.special and self.percent(20)
            else self.choice(NUMBERS)
        )


def broadcasts(a: Sequence[int], b: Sequence[int]) -> bool:
    return all(x == y or x == 1 or y == 1 for x, y in zip(reversed(a), reversed(b)))


def dtype(drawing: Drawing) -> Dtype:
    return Dtype(drawing.first(DTYPES))
