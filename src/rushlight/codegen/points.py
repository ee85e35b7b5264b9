"""What a kernel does at one position of its loops: addresses, loads, instructions, stores."""

from __future__ import annotations

from . import memory, scalars
from .llvm import Builder, Reg, bits
from .memory import Lanes
from .nest import Instruction, Nest, Variant
from .reductions import Reduction, State, reduction
from .schedule import is_scan, schedule
from .target import Target
from .values import Value, constant, element_of, parts_of, splat
from .widths import vector_lanes

P1, P0 = 0, 1  # the loops over parallel dims; the reduced ones follow
_STEPS_AHEAD = 8
_CACHE_LINE = 64


def reduction_of(nest: Nest, position: int) -> Reduction:
    instruction = nest.body[position]
    return reduction(instruction.name, instruction.dtype, nest.body[instruction.arguments[0]].dtype)


class PointEmitter:
    """The state while a kernel is emitted, and the code for one point (or one vector of points).

    ``bases``: each operand's address (a coordinate's value) at the loops' current position.
    """

    def __init__(self, nest: Nest, variant: Variant, target: Target) -> None:
        if len(variant.classes) != len(nest.operands):
            raise ValueError(
                f"variant has {len(variant.classes)} classes for {len(nest.operands)} operands"
            )
        if variant.vector == "R" and not variant.loops:
            raise ValueError("a variant along the reduced loop needs a reduced loop")
        self.nest, self.variant, self.target = nest, variant, target
        self.plan = schedule(nest, variant)
        self.base_width = vector_lanes(self.plan, target)
        self.width = self.base_width  # of the code being emitted
        self.unroll = 1  # vectors per step of the vector loop
        self.loops = 2 + variant.loops
        self.vector_loop = P0 if variant.vector == "P" else self.loops - 1
        if variant.split == "finish":
            self.vector_loop = -1
        self.b = Builder(target.scalef)
        self.context = scalars.Context(self.b, target)
        self.values: dict[int, Value] = {}
        self.wide: dict[int, Value] = {}  # scalars spread over a vector
        self.bases: dict[int, Reg] = {}
        self.ints: dict[int, Reg] = {}
        self.sizes: list[Reg] = []
        self.strides: dict[tuple[int, int], Reg] = {}
        self.lanes: Lanes | None = None
        self.row = self.b.constant("i64", 1, 0)  # running number of the parallel point
        self.point: Reg | None = None  # running number of the reduced element
        self.states: dict[int, State] = {}  # of scans
        self.offsets: dict[int, tuple[Reg, Reg]] = {}  # of indirect loads, where fixed in a loop

    def _word(self, array: str, index: int, element: str = "i64") -> Reg:
        pointer = self.b.offset(self.b.argument(array), 8 * index)
        return self.b.load(pointer, element)

    def _operands(self) -> None:
        """Load the address and the strides of every operand that is used."""
        used = {operand for operand, _ in self.nest.stores}
        for position in self.plan.live:
            instruction = self.nest.body[position]
            if instruction.name in ("load", "coordinate", "load_indirect"):
                used.add(instruction.arguments[0])
            if instruction.name == "load_indirect":
                first = instruction.arguments[1]
                for word in range(first, first + 2 * len(instruction.arguments[2:])):
                    self.ints[word] = self._word("ints", word)
        for each in sorted(used):
            operand = self.nest.operands[each]
            element = "i64" if operand.role == "coordinate" else "ptr"
            self.bases[each] = self._word("pointers", each, element)
            for loop in range(self.loops):
                if self._axis(loop) in operand.level:
                    self.strides[each, loop] = self._stride(each, loop)

    def _stride(self, operand: int, loop: int) -> Reg:
        """Bytes between neighbours along a loop, known when compiling for classes B and C.

        The slots of a split reduction and coordinates have strides of their own.
        """
        described, kind = self.nest.operands[operand], self.variant.classes[operand]
        slot = self.variant.split == "partial" and described.role == "write"
        if loop != self.vector_loop or slot or kind == "S":
            return self._word("strides", operand * self.loops + loop)
        if described.role == "coordinate" and kind == "C":
            return self._word("strides", operand * self.loops + loop)
        return self.b.constant("i64", 1, described.dtype.itemsize if kind == "C" else 0)

    def _axis(self, loop: int) -> str:
        return "P" if loop in (P1, P0) else "R"

    # ---- instructions

    def _define(self, position: int, value: Value) -> None:
        self.values[position] = value
        self.wide.pop(position, None)
        if position in self.plan.splats and value.lanes == 1:
            self.wide[position] = splat(self.b, value, self.width)

    def _get(self, position: int, lanes: int) -> Value:
        value = self.values[position]
        if value.lanes == lanes:
            return value
        wide = self.wide.get(position)
        return wide if wide is not None and wide.lanes == lanes else splat(self.b, value, lanes)

    def _instruction(self, position: int) -> None:
        instruction = self.nest.body[position]
        lanes = self.width if self.plan.vector[position] else 1
        name, dtype, arguments = instruction.name, instruction.dtype, instruction.arguments
        if name == "constant":
            value = constant(self.b, dtype, arguments[0])
        elif name == "scalar":
            value = self._scalar(instruction)
        elif name == "size":
            value = Value(dtype, (self._word("ints", arguments[0]),))
        elif name == "load":
            value = self._load(position)
        elif name == "coordinate":
            value = self._coordinate(position)
        elif name == "load_indirect":
            value = self._load_indirect(position, lanes)
        elif is_scan(instruction):
            value = self._scan(position)
        else:
            operands = [self._get(each, lanes) for each in arguments]
            value = scalars.apply(self.context, name, dtype, operands)
        self._define(position, value)

    def _hoist(self) -> None:
        """What stays the same along the vector loop over parallel points, before that loop."""
        for position in self.plan.rows[0]:
            instruction = self.nest.body[position]
            if not self.plan.vector[position]:
                self._instruction(position)
            elif instruction.name == "load_indirect":
                if not any(self.plan.vector[each] for each in instruction.arguments[2:]):
                    self.offsets[position] = self._indirect_offset(instruction, 1)

    def _scalar(self, instruction: Instruction) -> Value:
        dtype, word = instruction.dtype, instruction.arguments[0]
        if dtype.kind in "fc":
            words = [self._word("scalars", word + k, "double") for k in range(parts_of(dtype))]
            return Value(dtype, tuple(each.cast("fptrunc", element_of(dtype)) for each in words))
        raw = self._word("scalars", word)
        element = element_of(dtype)
        return Value(dtype, (raw.ne(0) if element == "i1" else raw.cast("trunc", element),))

    def _load(self, position: int) -> Value:
        operand = self.nest.body[position].arguments[0]
        dtype, base = self.nest.operands[operand].dtype, self.bases[operand]
        if not self.plan.vector[position]:
            return memory.load_scalar(self.b, dtype, base)
        assert self.lanes is not None
        if self.variant.classes[operand] == "C":
            self._prefetch(operand)
            return memory.load_contiguous(self.b, dtype, base, self.lanes)
        stride = self.strides[operand, self.vector_loop]
        return memory.load_strided(self.b, dtype, base, stride, self.lanes)

    def _prefetch(self, operand: int) -> None:
        """Ask for what comes some reduced steps later: the CPU foresees only neighbours."""
        stride = self.strides.get((operand, self.loops - 1))
        if self.variant.vector == "R" or self.loops == 2 or stride is None:
            return
        ahead = self.b.offset(self.bases[operand], stride * _STEPS_AHEAD)
        itemsize = self.nest.operands[operand].dtype.itemsize
        for line in range(0, self.width * itemsize, _CACHE_LINE):
            self.b.prefetch(self.b.offset(ahead, line))

    def _coordinate(self, position: int) -> Value:
        instruction = self.nest.body[position]
        operand = instruction.arguments[0]
        index = self.bases[operand]
        if self.plan.vector[position]:
            index = index + self._iota() * self.strides[operand, self.vector_loop]
        return Value(instruction.dtype, (index,))

    def _iota(self) -> Reg:
        return self.b.vector("i64", range(self.width))

    def _load_indirect(self, position: int, lanes: int) -> Value:
        """Lanes out of range (or that do not exist) read zeros on the stack instead."""
        b, instruction = self.b, self.nest.body[position]
        operand, dtype = instruction.arguments[0], instruction.dtype
        offset, bad = self.offsets.get(position) or self._indirect_offset(instruction, lanes)
        along = lanes > 1 and self.variant.vector in self.nest.operands[operand].level
        if along and offset.lanes == 1 and self.variant.classes[operand] == "C":
            assert self.lanes is not None
            start = b.offset(self.bases[operand], offset)
            start = b.select(bad, b.zeros(lanes * dtype.itemsize), start)
            return memory.load_contiguous(b, dtype, start, self.lanes)
        address = self.bases[operand].cast("ptrtoint", "i64") + offset
        if along:
            address = address + self._iota() * self.strides[operand, self.vector_loop]
        mask = self.context.mask if lanes > 1 else None
        readable = b.splat(~bad if mask is None else mask & ~bad, lanes)
        zero = b.zeros(dtype.itemsize).cast("ptrtoint", "i64")
        return memory.load_addresses(b, dtype, b.select(readable, address, zero))

    def _indirect_offset(self, instruction: Instruction, lanes: int) -> tuple[Reg, Reg]:
        """How far from the base the indices lead, and which of them are out of range."""
        b = self.b
        first = instruction.arguments[1]
        offset = b.constant("i64", lanes, 0)
        bad = b.constant("i1", lanes, 0)
        for k, position in enumerate(instruction.arguments[2:]):
            value = self._get(position, lanes)
            index = b.widen_or_narrow(value.reg, "i64", value.dtype.is_signed)
            size = self.ints[first + 2 * k]
            if instruction.wrap:
                index = b.select(index.lt(0), index + size, index)
            bad = bad | index.ge(size, signed=False)
            offset = offset + index * self.ints[first + 2 * k + 1]
        self.context.flag(scalars.STATUS_INDEX, bad)
        return offset, bad

    def _scan(self, position: int) -> Value:
        b, kind = self.b, reduction_of(self.nest, position)
        argument = self.nest.body[position].arguments[0]
        state = self.states[position]
        if self.variant.vector == "P":
            width = self.width if self.plan.vector[position] else 1
            state = kind.step(b, state, [self._get(argument, width)], None)
            self.states[position] = state
            return kind.finish(b, state)
        assert self.lanes is not None
        width = self.width
        identity = kind.identity(b, width)
        prefix = kind.step(b, identity, [self._get(argument, width)], self.lanes.mask)
        shift = 1
        while shift < width:
            picks = [*range(shift), *range(width, 2 * width - shift)]
            moved = [b.shuffle(x, y, picks) for x, y in zip(identity, prefix, strict=True)]
            prefix = kind.combine(b, moved, prefix)
            shift *= 2
        total = [b.extract(each, width - 1) for each in prefix]
        prefix = kind.combine(b, [b.splat(each, width) for each in state], prefix)
        self.states[position] = kind.combine(b, state, total)  # waits for nothing but the last
        return kind.finish(b, prefix)

    # ---- stores, and what is kept between phases

    def _store(self, store: int) -> None:
        operand, position = self.nest.stores[store]
        described, base = self.nest.operands[operand], self.bases[operand]
        axis, kind = self.variant.vector, self.variant.classes[operand]
        spread = self.lanes is not None and axis in described.level and kind != "B"
        value = self._get(position, self.width if spread else self.values[position].lanes)
        if value.dtype != described.dtype:
            value = scalars.apply(self.context, "convert", described.dtype, [value])
        if not spread:
            single = Value(value.dtype, tuple(self.b.extract(part, 0) for part in value.parts))
            memory.store_scalar(self.b, base, single)
            return
        assert self.lanes is not None
        if kind == "C":
            memory.store_contiguous(self.b, base, value, self.lanes)
        else:
            stride = self.strides[operand, self.vector_loop]
            memory.store_strided(self.b, base, stride, value, self.lanes)

    def _kept_address(self, position: int, part: int) -> Reg:
        """Scratch holds one array per kept value and part, over the reduced elements."""
        size = bits(_kept_element(self.nest.body[position])) // 8
        total = self.b.constant("i64", 1, 1)
        for each in self.sizes[2:]:
            total = total * each
        start = total * (self.plan.scratch[position] + part * size)
        at = start + (self.point or self.b.constant("i64", 1, 0)) * size
        if self.variant.vector == "P":
            at = at * self.width
        return self.b.offset(self.b.argument("scratch"), at)

    def _keep(self, position: int) -> None:
        element = _kept_element(self.nest.body[position])
        for part, reg in enumerate(self._get(position, self.width).parts):
            raw = reg.cast("zext", element) if reg.element == "i1" else reg
            address = self._kept_address(position, part)
            if self.variant.vector == "R":
                assert self.lanes is not None
                memory.store_raw(self.b, address, raw, self.lanes)
            else:
                self.b.store(address, raw)

    def _load_kept(self, position: int) -> Value:
        instruction = self.nest.body[position]
        element = _kept_element(instruction)
        lanes = self.width if self.plan.vector[position] else 1
        parts = []
        for part in range(parts_of(instruction.dtype)):
            address = self._kept_address(position, part)
            if self.variant.vector == "R" and lanes > 1:
                assert self.lanes is not None
                raw = memory.load_raw(self.b, element, address, self.lanes)
            else:
                raw = self.b.load(address, element, lanes)
            is_bool = element_of(instruction.dtype) == "i1"
            parts.append(raw.ne(0) if is_bool else raw)
        return Value(instruction.dtype, tuple(parts))


def _kept_element(instruction: Instruction) -> str:
    element = element_of(instruction.dtype)
    return "i8" if element == "i1" else element
