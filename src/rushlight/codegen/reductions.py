"""Reductions: the accumulators of each, how an element joins them, how two of them join.

A state is a list of registers, the same for scalars and vectors. Everything is associative up to
rounding, so lanes, parts of a split loop and threads combine in any order.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..dtypes import dtype as DType
from .llvm import Builder, Number, Reg, bits, is_float
from .values import Value, element_of

State = list[Reg]


class Reduction:
    """The interface; ``elements`` are the element types of a state."""

    elements: tuple[str, ...]
    initial: tuple[Number, ...]

    def __init__(self, dtype: DType) -> None:
        self.dtype = dtype  # of the result

    def identity(self, b: Builder, lanes: int) -> State:
        pairs = zip(self.elements, self.initial, strict=True)
        return [b.constant(element, lanes, number) for element, number in pairs]

    def lift(self, b: Builder, values: Sequence[Value]) -> State:
        """The state of one element."""
        raise NotImplementedError

    def combine(self, b: Builder, x: State, y: State) -> State:
        raise NotImplementedError

    def finish(self, b: Builder, state: State) -> Value:
        return Value(self.dtype, tuple(state))

    def step(self, b: Builder, state: State, values: Sequence[Value], mask: Reg | None) -> State:
        """The state with one more element per lane (of the mask), several if values are wider."""
        lifted = self.lift(b, values)
        if mask is not None:
            identity = self.identity(b, lifted[0].lanes)
            lifted = [b.select(mask, x, y) for x, y in zip(lifted, identity, strict=True)]
        while lifted[0].lanes > state[0].lanes:
            lifted = self.combine(b, *halves(b, lifted))
        return self.combine(b, state, lifted)

    def horizontal(self, b: Builder, state: State) -> State:
        """A vector state's lanes combined to one scalar state."""
        while state[0].lanes > 1:
            state = self.combine(b, *halves(b, state))
        return state


def halves(b: Builder, state: State) -> tuple[State, State]:
    """The lower and the upper half of the lanes."""
    lanes = state[0].lanes
    if lanes == 2:
        return [b.extract(each, 0) for each in state], [b.extract(each, 1) for each in state]
    low = [b.shuffle(each, each, range(lanes // 2)) for each in state]
    return low, [b.shuffle(each, each, range(lanes // 2, lanes)) for each in state]


class Sum(Reduction):
    """Integers in 64 bits; float32 and smaller in double, which holds 2^29 of them to the last bit.

    The floats of several vectors are first added in pairs as they are: two roundings at most.
    """

    def __init__(self, dtype: DType) -> None:
        super().__init__(dtype)
        parts = 2 if dtype.is_complex else 1
        self.accumulator = "double" if dtype.kind in "fc" else "i64"
        self.elements = (self.accumulator,) * parts
        self.initial = (-0.0 if dtype.kind in "fc" else 0,) * parts

    def lift(self, b: Builder, values: Sequence[Value]) -> State:
        return [
            to_accumulator(b, values[0].dtype, part, self.accumulator) for part in values[0].parts
        ]

    def step(self, b: Builder, state: State, values: Sequence[Value], mask: Reg | None) -> State:
        if self.dtype.kind not in "fc":
            return super().step(b, state, values, mask)
        parts = list(values[0].parts)
        if mask is not None:
            parts = [b.select(mask, part, -0.0) for part in parts]
        while parts[0].lanes > state[0].lanes:
            parts = [x + y for x, y in zip(*halves(b, parts), strict=True)]
        return self.add(b, state, [part.cast("fpext", "double") for part in parts])

    def add(self, b: Builder, state: State, parts: Sequence[Reg]) -> State:
        return [p + q for p, q in zip(state, parts, strict=True)]

    def combine(self, b: Builder, x: State, y: State) -> State:
        return self.add(b, x, y)

    def finish(self, b: Builder, state: State) -> Value:
        parts = [from_accumulator(b, each, element_of(self.dtype)) for each in state]
        if self.dtype.kind in "fc":  # the sum of nothing is +0, and -0 is neutral while adding
            parts = [part + 0.0 for part in parts]
        return Value(self.dtype, tuple(parts))


class CompensatedSum(Sum):
    """float64: a running sum and the sum of its rounding errors (Knuth's TwoSum, TAOCP 2, 4.2.2).

    The dependency between steps is one addition, as in a plain sum, so it keeps up with memory.
    """

    def __init__(self, dtype: DType) -> None:
        super().__init__(dtype)
        self.elements = self.elements * 2  # sums, then errors
        self.initial = self.initial + (0.0,) * len(self.initial)

    def lift(self, b: Builder, values: Sequence[Value]) -> State:
        parts = super().lift(b, values)
        return parts + [part.like(0.0) for part in parts]

    def combine(self, b: Builder, x: State, y: State) -> State:
        half = len(x) // 2
        summed = self.add(b, x, y[:half])
        return summed[:half] + [p + q for p, q in zip(summed[half:], y[half:], strict=True)]

    def add(self, b: Builder, state: State, parts: Sequence[Reg]) -> State:
        half = len(parts)
        sums, errors = [], []
        for total, error, x in zip(state[:half], state[half:], parts, strict=True):
            s = total + x
            virtual = s - total
            sums.append(s)
            errors.append(error + ((total - (s - virtual)) + (x - virtual)))
        return sums + errors

    def finish(self, b: Builder, state: State) -> Value:
        half = len(state) // 2
        totals = []
        for total, error in zip(state[:half], state[half:], strict=True):
            bounded = b.intrinsic("fabs", error).lt(float("inf"))  # not after an infinity
            totals.append(b.select(bounded, total + error, total))
        return super().finish(b, totals)


class Product(Reduction):
    def __init__(self, dtype: DType) -> None:
        super().__init__(dtype)
        self.accumulator = "double" if dtype.kind in "fc" else "i64"
        self.elements = (self.accumulator,) * (2 if dtype.is_complex else 1)
        self.initial = (1, 0) if dtype.is_complex else (1,)

    def lift(self, b: Builder, values: Sequence[Value]) -> State:
        return [
            to_accumulator(b, values[0].dtype, part, self.accumulator) for part in values[0].parts
        ]

    def combine(self, b: Builder, x: State, y: State) -> State:
        if len(x) == 1:
            return [x[0] * y[0]]
        return [x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]]

    def finish(self, b: Builder, state: State) -> Value:
        parts = tuple(from_accumulator(b, each, element_of(self.dtype)) for each in state)
        return Value(self.dtype, parts)


class Extreme(Reduction):
    """The largest or smallest element; NaN if there is one.

    Of floats the second accumulator turns from 0 to NaN when one is met; one comparison tests two
    elements.
    """

    def __init__(self, dtype: DType, largest: bool) -> None:
        super().__init__(dtype)
        self.largest = largest
        element = element_of(dtype)
        self.elements = (element, element) if is_float(element) else (element,)
        self.initial = (worst(dtype, largest), 0.0)[: len(self.elements)]

    def lift(self, b: Builder, values: Sequence[Value]) -> State:
        reg = values[0].reg
        if not is_float(reg.element):
            return [reg]
        return [reg, b.select(reg.isnan(), float("nan"), reg.like(0.0))]

    def combine(self, b: Builder, x: State, y: State) -> State:
        better = self._better(b, x[0], y[0])
        return [better] if len(x) == 1 else [better, x[1] + y[1]]

    def _better(self, b: Builder, x: Reg, y: Reg) -> Reg:
        if x.element == "i1":
            return x | y if self.largest else x & y
        signed = self.dtype.is_signed
        return b.select(y.gt(x, signed) if self.largest else y.lt(x, signed), y, x)

    def step(self, b: Builder, state: State, values: Sequence[Value], mask: Reg | None) -> State:
        if len(state) == 1:
            return super().step(b, state, values, mask)
        reg = values[0].reg
        if mask is not None:
            reg = b.select(mask, reg, worst(self.dtype, self.largest))
        if reg.lanes == state[0].lanes:
            special = reg.isnan()
        else:
            low, high = halves(b, [reg])
            special = low[0].compare("uno", "", high[0])
            reg = self._better(b, low[0], high[0])
        while reg.lanes > state[0].lanes:
            reg = self._better(b, *(each[0] for each in halves(b, [reg])))
            low, high = halves(b, [special])
            special = low[0] | high[0]
        best = self._better(b, state[0], reg)
        return [best, b.select(special, float("nan"), state[1])]

    def finish(self, b: Builder, state: State) -> Value:
        best = state[0]
        if len(state) == 2:
            best = b.select(state[1].isnan(), state[1], best)
        return Value(self.dtype, (best,))


class Logical(Reduction):
    """any and all, over bool."""

    def __init__(self, dtype: DType, conjunction: bool) -> None:
        super().__init__(dtype)
        self.conjunction = conjunction
        self.elements = ("i1",)
        self.initial = (int(conjunction),)

    def lift(self, b: Builder, values: Sequence[Value]) -> State:
        value = values[0]
        if value.dtype.name == "bool":
            return [value.reg]
        result = value.reg.ne(0)
        for part in value.parts[1:]:
            result = result | part.ne(0)
        return [result]

    def combine(self, b: Builder, x: State, y: State) -> State:
        return [x[0] & y[0] if self.conjunction else x[0] | y[0]]


class ArgExtreme(Reduction):
    """The index of the first extreme. NaN beats every number; among equals the lower index wins."""

    def __init__(self, dtype: DType, value_dtype: DType, largest: bool) -> None:
        super().__init__(dtype)
        self.value_dtype = value_dtype
        self.largest = largest
        self.element = element_of(value_dtype)
        if self.element == "i1":
            self.element = "i8"
        self.elements = (self.element, "i64")
        self.initial = (worst(value_dtype, largest), (1 << 63) - 1)

    def lift(self, b: Builder, values: Sequence[Value]) -> State:
        value, index = values
        reg = value.reg.cast("zext", "i8") if value.reg.element == "i1" else value.reg
        return [reg, b.splat(index.reg, reg.lanes)]

    def combine(self, b: Builder, x: State, y: State) -> State:
        signed = self.value_dtype.is_signed
        (a, i), (c, k) = x, y
        better = c.gt(a, signed) if self.largest else c.lt(a, signed)
        equal = c.eq(a)
        if is_float(self.element):
            a_nan, c_nan = a.isnan(), c.isnan()
            better = better | (c_nan & ~a_nan)
            equal = equal | (c_nan & a_nan)
        wins = better | (equal & k.lt(i))
        return [b.select(wins, c, a), b.select(wins, k, i)]

    def finish(self, b: Builder, state: State) -> Value:
        return Value(self.dtype, (b.widen_or_narrow(state[1], element_of(self.dtype), True),))


def extreme(b: Builder, dtype: DType, largest: bool, x: Reg, y: Reg) -> Reg:
    """The larger or smaller of two numbers, NaN if either is (x's payload first)."""
    if x.element == "i1":
        return x | y if largest else x & y
    wins = x.gt(y, dtype.is_signed) if largest else x.lt(y, dtype.is_signed)
    if is_float(x.element):
        wins = wins | x.isnan()
    return b.select(wins, x, y)


def worst(dtype: DType, largest: bool) -> Number:
    """The number that every other one beats."""
    if dtype.kind == "f":
        return float("-inf") if largest else float("inf")
    if dtype.kind == "b":
        return 0 if largest else 1
    width = bits(element_of(dtype))
    if dtype.kind == "u":
        return 0 if largest else (1 << width) - 1
    return -(1 << (width - 1)) if largest else (1 << (width - 1)) - 1


def to_accumulator(b: Builder, dtype: DType, part: Reg, accumulator: str) -> Reg:
    if is_float(part.element):
        return part.cast("fpext", accumulator)
    return b.widen_or_narrow(part, accumulator, dtype.is_signed)


def from_accumulator(b: Builder, part: Reg, element: str) -> Reg:
    if element == "i1":
        return part.ne(0)
    if is_float(part.element):
        return part.cast("fptrunc", element)
    return b.widen_or_narrow(part, element, True)


def reduction(name: str, dtype: DType, value_dtype: DType) -> Reduction:
    """The reduction (or scan) of that name, e.g. ``reduce_sum`` or ``scan_prod``."""
    kind = name.partition("_")[2]
    if kind == "sum":
        return CompensatedSum(dtype) if element_of(dtype) == "double" else Sum(dtype)
    if kind == "prod":
        return Product(dtype)
    if kind in ("max", "min"):
        return Extreme(dtype, kind == "max")
    if kind in ("any", "all"):
        return Logical(dtype, kind == "all")
    if kind in ("argmax", "argmin"):
        return ArgExtreme(dtype, value_dtype, kind == "argmax")
    raise ValueError(f"unknown reduction {name!r}")
