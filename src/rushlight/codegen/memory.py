"""Loads and stores of one operand at one position: contiguous, strided, at addresses, scalar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..dtypes import dtype as DType
from .llvm import Builder, Reg, bits
from .values import Value, from_memory, memory_element, parts_of, to_memory


@dataclass
class Lanes:
    """Which lanes of the current vector exist: all when ``full``, else the first ``count``.

    full and mask are None if all exist by construction. masks: masked memory operations are as
    cheap as plain ones, so that they are always used.
    """

    width: int
    count: Reg
    full: Reg | None
    mask: Reg | None
    masks: bool

    def choose(
        self, b: Builder, all_lanes: Callable[[], list[Reg]], some: Callable[[], list[Reg]]
    ) -> list[Reg]:
        """Code for whole vectors, or for partial ones."""
        return all_lanes() if self.full is None else b.branch(self.full, all_lanes, some)


def load_scalar(b: Builder, dtype: DType, pointer: Reg) -> Value:
    element = memory_element(dtype)
    raws = [
        b.load(b.offset(pointer, k * bits(element) // 8), element) for k in range(parts_of(dtype))
    ]
    return Value(dtype, tuple(from_memory(b, dtype, raw) for raw in raws))


def store_scalar(b: Builder, pointer: Reg, value: Value) -> None:
    for k, part in enumerate(value.parts):
        raw = to_memory(b, value.dtype, part)
        b.store(b.offset(pointer, k * bits(raw.element) // 8), raw)


def load_contiguous(b: Builder, dtype: DType, pointer: Reg, lanes: Lanes) -> Value:
    parts = parts_of(dtype)
    raws = [load_raw(b, memory_element(dtype), pointer, lanes, parts)]
    if parts == 2:
        raws = [b.shuffle(raws[0], raws[0], range(k, 2 * lanes.width, 2)) for k in (0, 1)]
    return Value(dtype, tuple(from_memory(b, dtype, each) for each in raws))


def load_raw(b: Builder, element: str, pointer: Reg, lanes: Lanes, parts: int = 1) -> Reg:
    """A vector of the lanes that exist, zero in others; ``parts`` elements a lane."""
    if lanes.masks and lanes.mask is not None:
        return b.masked_load(pointer, _repeat(b, lanes.mask, parts), element)
    width, size = lanes.width * parts, bits(element) // 8

    def plain() -> list[Reg]:
        return [b.load(pointer, element, width)]

    def looped() -> list[Reg]:
        slot = b.slot(element, width)
        b.store(slot, b.constant(element, width, 0))
        with b.loop(lanes.count * parts) as loop:
            at = loop.index * size
            b.store(b.offset(slot, at), b.load(b.offset(pointer, at), element))
        return [b.load(slot, element, width)]

    return lanes.choose(b, plain, looped)[0]


def store_contiguous(b: Builder, pointer: Reg, value: Value, lanes: Lanes) -> None:
    raws = [to_memory(b, value.dtype, part) for part in value.parts]
    raw = raws[0]
    if len(raws) == 2:
        order = [lane + part * lanes.width for lane in range(lanes.width) for part in (0, 1)]
        raw = b.shuffle(raws[0], raws[1], order)
    store_raw(b, pointer, raw, lanes, len(raws))


def store_raw(b: Builder, pointer: Reg, raw: Reg, lanes: Lanes, parts: int = 1) -> None:
    """Store the lanes that exist."""
    if lanes.masks and lanes.mask is not None:
        b.masked_store(pointer, _repeat(b, lanes.mask, parts), raw)
        return

    def plain() -> list[Reg]:
        b.store(pointer, raw)
        return []

    def store_lane(lane: Reg, singles: list[Reg]) -> None:
        b.store(b.offset(pointer, lane * (bits(raw.element) // 8)), singles[0])

    count = lanes.count * parts
    lanes.choose(b, plain, lambda: for_each_lane(b, [raw], count, store_lane))


def _repeat(b: Builder, mask: Reg, parts: int) -> Reg:
    """Each lane of a mask twice, for complex elements."""
    if parts == 1:
        return mask
    return b.shuffle(mask, mask, [k // 2 for k in range(2 * mask.lanes)])


def load_strided(b: Builder, dtype: DType, pointer: Reg, stride: Reg, lanes: Lanes) -> Value:
    """Scalar loads put together: CPUs gather no faster. Lanes beyond the last are zero."""
    element = memory_element(dtype)

    def unrolled() -> list[Reg]:
        addresses = [b.offset(pointer, stride * lane) for lane in range(lanes.width)]
        return _gather(b, dtype, addresses)

    def looped() -> list[Reg]:
        zero = b.constant(element, lanes.width, 0)
        slots = [b.slot(element, lanes.width) for _ in range(parts_of(dtype))]
        for slot in slots:
            b.store(slot, zero)
        with b.loop(lanes.count) as loop:
            source = b.offset(pointer, loop.index * stride)
            for k, slot in enumerate(slots):
                raw = b.load(b.offset(source, k * bits(element) // 8), element)
                b.store(b.offset(slot, loop.index * (bits(element) // 8)), raw)
        return [b.load(slot, element, lanes.width) for slot in slots]

    raws = lanes.choose(b, unrolled, looped)
    return Value(dtype, tuple(from_memory(b, dtype, raw) for raw in raws))


def load_addresses(b: Builder, dtype: DType, addresses: Reg) -> Value:
    """One element per address (integers), all of which must be readable."""
    if addresses.lanes == 1:
        return load_scalar(b, dtype, addresses.cast("inttoptr", "ptr"))
    singles = [b.extract(addresses, k).cast("inttoptr", "ptr") for k in range(addresses.lanes)]
    raws = _gather(b, dtype, singles)
    return Value(dtype, tuple(from_memory(b, dtype, raw) for raw in raws))


def _gather(b: Builder, dtype: DType, addresses: list[Reg]) -> list[Reg]:
    element = memory_element(dtype)
    raws = []
    for part in range(parts_of(dtype)):
        raw = b.constant(element, len(addresses), 0)
        for lane, address in enumerate(addresses):
            single = b.load(b.offset(address, part * bits(element) // 8), element)
            raw = b.insert(raw, single, lane)
        raws.append(raw)
    return raws


def store_strided(b: Builder, pointer: Reg, stride: Reg, value: Value, lanes: Lanes) -> None:
    raws = [to_memory(b, value.dtype, part) for part in value.parts]
    size = bits(raws[0].element) // 8

    def unrolled() -> list[Reg]:
        for lane in range(lanes.width):
            for part, raw in enumerate(raws):
                address = b.offset(b.offset(pointer, stride * lane), part * size)
                b.store(address, b.extract(raw, lane))
        return []

    def looped() -> list[Reg]:
        return for_each_lane(b, raws, lanes.count, store_lane)

    def store_lane(lane: Reg, singles: list[Reg]) -> None:
        target = b.offset(pointer, lane * stride)
        for part, single in enumerate(singles):
            b.store(b.offset(target, part * size), single)

    lanes.choose(b, unrolled, looped)


def for_each_lane(
    b: Builder, vectors: list[Reg], count: Reg, code: Callable[[Reg, list[Reg]], None]
) -> list[Reg]:
    """Run code(lane, scalars) for the first ``count`` lanes of vectors (no i1); returns nothing."""
    slots = []
    for vector in vectors:
        slots.append(b.slot(vector.element, vector.lanes))
        b.store(slots[-1], vector)
    with b.loop(count) as loop:
        singles = []
        for slot, vector in zip(slots, vectors, strict=True):
            address = b.offset(slot, loop.index * (bits(vector.element) // 8))
            singles.append(b.load(address, vector.element))
        code(loop.index, singles)
    return []
