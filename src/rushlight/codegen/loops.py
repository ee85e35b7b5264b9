"""From a nest and a variant to the LLVM IR of its kernel: loops, loads, phases, stores."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import memory, scalars
from .llvm import Builder, Reg, bits
from .memory import Lanes
from .nest import Instruction, Nest, Variant
from .reductions import Reduction, State, reduction
from .schedule import Phase, Schedule, is_scan, schedule
from .target import Target
from .values import Value, constant, element_of, parts_of, splat

SLOT_WORDS = 8  # a 64-byte slot of a split reduction, in words
_P1, _P0 = 0, 1


def kernel_ir(nest: Nest, variant: Variant, target: Target) -> str:
    """The LLVM module, as text, of one kernel."""
    return _Kernel(nest, variant, target).module()


def scratch_bytes(nest: Nest, variant: Variant, target: Target) -> int:
    """Scratch memory per reduced element that a kernel needs (for all lanes of a vector)."""
    plan = schedule(nest, variant)
    lanes = vector_lanes(plan, target) if variant.vector == "P" else 1
    return plan.scratch_size * lanes


def splittable(nest: Nest) -> bool:
    """Whether the reduced range may be split into parts whose accumulators are combined afterwards."""
    if not nest.reduced or any(is_scan(each) for each in nest.body):
        return False
    if any("R" in nest.operands[operand].level for operand, _ in nest.stores):
        return False
    plan = schedule(nest, Variant("R", "S" * len(nest.operands), 1))
    if len(plan.phases) != 1:
        return False
    words = sum(len(_reduction(nest, each).elements) for each in plan.phases[0].reductions)
    return 0 < words <= SLOT_WORDS * len(nest.stores)


def vector_lanes(plan: Schedule, target: Target) -> int:
    """Lanes per vector: as many as a register holds of the widest type."""
    body = plan.nest.body
    widths = [bits(element_of(body[each].dtype)) for each in plan.live if plan.vector[each]]
    return target.vector_bytes * 8 // max(8, *widths) if widths else target.vector_bytes // 4


# What a reducing loop may do to be worth unrolling: such loops wait for memory or for the last addition.
_LIGHT = frozenset("load constant scalar size convert add sub mul abs neg maximum minimum".split())
_UNROLL = 4
_MAX_LANES = 64


def _reduction(nest: Nest, position: int) -> Reduction:
    instruction = nest.body[position]
    return reduction(instruction.name, instruction.dtype, nest.body[instruction.arguments[0]].dtype)


class _Kernel:
    """Emits one kernel. ``bases`` holds each operand's address at the current position of the loops."""

    def __init__(self, nest: Nest, variant: Variant, target: Target) -> None:
        if len(variant.classes) != len(nest.operands):
            raise ValueError(
                f"variant has {len(variant.classes)} operand classes for {len(nest.operands)} operands"
            )
        if variant.vector == "R" and not variant.loops:
            raise ValueError("a variant along the reduced loop needs a reduced loop")
        self.nest, self.variant, self.target = nest, variant, target
        self.plan = schedule(nest, variant)
        self.base_width = vector_lanes(self.plan, target)
        self.width = self.base_width  # of the code being emitted
        self.unroll = 1  # vectors per step of the vector loop
        self.loops = 2 + variant.loops
        self.vector_loop = _P0 if variant.vector == "P" else self.loops - 1
        if variant.split == "finish":
            self.vector_loop = -1
        self.b = Builder()
        self.context = scalars.Context(self.b, target)
        self.values: dict[int, Value] = {}
        self.wide: dict[int, Value] = {}  # scalars spread over a vector
        self.bases: dict[int, Reg] = {}
        self.ints: dict[int, Reg] = {}
        self.strides: dict[tuple[int, int], Reg] = {}
        self.lanes: Lanes | None = None
        self.row = self.b.constant("i64", 1, 0)  # running number of the parallel point
        self.point: Reg | None = None  # running number of the reduced element
        self.states: dict[int, State] = {}  # of scans

    # ---- the function

    def module(self) -> str:
        b = self.b
        self.sizes = [self._word("sizes", k) for k in range(self.loops)]
        nonempty = self.sizes[_P1].gt(0) & self.sizes[_P0].gt(0)
        b.emit(f"br i1 {nonempty.name}, label %work, label %end")
        b.start("work")
        self._operands()
        for position in self.plan.constants:
            self._instruction(position)
        if self.variant.vector == "P" and len(self.plan.phases) == 1:
            self.unroll = self._unroll(self.plan.phases[0])
        self._run_loops([_P1, _P0], [], self._row)
        b.emit("br label %end")
        b.start("end")
        b.emit(f"ret i64 {self.context.status().name}")
        return self._text()

    def _text(self) -> str:
        arguments = "pointers sizes strides scalars ints scratch table".split()
        header = ", ".join(f"ptr %{each}" for each in arguments)
        width = self.target.vector_bytes * 8
        lines = [f'target triple = "{self.target.triple}"']
        lines.append(f"define i64 @kernel({header}) #0 {{")
        lines += ["start:", *self.b.slots, *self.b.lines, "}"]
        lines += self.b.declarations.values()
        lines.append(
            f'attributes #0 = {{ nounwind "no-builtins" "no-jump-tables"="true" '
            f'"prefer-vector-width"="{width}" "min-legal-vector-width"="{width}" }}'
        )
        return "\n".join(lines) + "\n"

    def _word(self, array: str, index: int, element: str = "i64") -> Reg:
        pointer = self.b.offset(Reg(self.b, "ptr", 1, f"%{array}"), 8 * index)
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
        return "P" if loop in (_P1, _P0) else "R"

    def _run_loops(
        self, loops: Sequence[int], carried: State, body: Callable[[State], State]
    ) -> State:
        """Nested loops around a body that maps the carried registers to their next values."""
        if not loops:
            return body(carried)
        loop, inner = loops[0], loops[1:]
        size = self.sizes[loop]
        if loop != self.vector_loop:
            return self._run_loop(loop, size, None, inner, carried, body)
        if self.unroll == 1:
            return self._run_loop(loop, size, None, inner, carried, body)
        # Whole blocks of several vectors first, then single vectors, the last one masked.
        unroll, block = self.unroll, self.base_width * self.unroll
        whole = size & -block
        self.width = block
        carried = self._run_loop(loop, whole, None, inner, carried, body, whole_blocks=True)
        self.width, self.unroll = self.base_width, 1
        carried = self._run_loop(loop, size - whole, whole, inner, carried, body)
        self.unroll = unroll
        return carried

    def _run_loop(
        self,
        loop: int,
        count: Reg,
        start: Reg | None,
        inner: Sequence[int],
        carried: State,
        body: Callable[[State], State],
        whole_blocks: bool = False,
    ) -> State:
        outside = self.bases, self.lanes, self.row, self.point, dict(self.values), dict(self.wide)
        step = self.width if loop == self.vector_loop else 1
        with self.b.loop(count, step, carried) as built:
            index = built.index if start is None else built.index + start
            self._advance(loop, index)
            if loop == self.vector_loop:
                self.lanes = self._lanes(None if whole_blocks else self.sizes[loop] - index)
                self.context.mask = self.lanes.mask
            built.next = self._run_loops(inner, built.carried, body)
        self.bases, self.lanes, self.row, self.point, self.values, self.wide = outside
        self.context.mask = self.lanes.mask if self.lanes else None
        return built.results

    def _advance(self, loop: int, index: Reg) -> None:
        b = self.b
        self.bases = dict(self.bases)
        for operand, base in self.bases.items():
            described = self.nest.operands[operand]
            if self._axis(loop) not in described.level:
                continue
            step = index * self.strides[operand, loop]
            moved = base + step if described.role == "coordinate" else b.offset(base, step)
            self.bases[operand] = moved
        if loop in (_P1, _P0):
            self.row = self.row * self.sizes[loop] + index
        elif self.plan.scratch:
            point = self.point or b.constant("i64", 1, 0)
            self.point = point * self.sizes[loop] + index

    def _lanes(self, remaining: Reg | None) -> Lanes:
        """The lanes of the current vector: all of them if ``remaining`` is None."""
        b, width = self.b, self.width
        if remaining is None:
            return Lanes(width, b.constant("i64", 1, width), None, None, self.target.masks)
        limit = b.constant("i64", 1, width)
        count = b.intrinsic("umin", remaining, limit)
        element = f"i{max(8, self.target.vector_bytes * 8 // width)}"
        numbers = b.vector(element, range(width))
        mask = numbers.lt(count.cast("trunc", element) if element != "i64" else count, signed=False)
        return Lanes(width, count, remaining.ge(limit), mask, self.target.masks)

    # ---- one row: everything at one parallel point, or one vector of them

    def _row(self, carried: State) -> State:
        split = self.variant.split
        if split == "finish":
            self._combine_parts()
        for position in self.plan.rows[0]:
            self._instruction(position)
        for phase, after in zip(self.plan.phases, self.plan.rows[1:], strict=True):
            results = self._phase(phase)
            if split == "partial":
                self._store_parts(phase, results)
                return carried
            for position, state in zip(phase.reductions, results, strict=True):
                self._define(position, _reduction(self.nest, position).finish(self.b, state))
            for position in after:
                self._instruction(position)
        for store in self.plan.row_stores:
            self._store(store)
        return carried

    def _phase(self, phase: Phase) -> list[State]:
        """One pass over the reduced dims; the final accumulators (scalars if they were along the lanes)."""
        b = self.b
        along = self.variant.vector == "R"
        carriers = phase.reductions + [p for p in phase.body if is_scan(self.nest.body[p])]
        kinds = [_reduction(self.nest, each) for each in carriers]
        widths = []
        for position in carriers:
            scanned = is_scan(self.nest.body[position])
            width = self.base_width if along else self.width
            widths.append(width if self.plan.vector[position] or along else 1)
            if along and scanned:
                widths[-1] = 1  # the total so far
        lengths = [len(kind.elements) for kind in kinds]
        initial = [
            reg
            for kind, width in zip(kinds, widths, strict=True)
            for reg in kind.identity(b, width)
        ]

        def body(flat: State) -> State:
            states = _unflatten(flat, lengths)
            self.states = dict(zip(carriers, states, strict=True))
            self._point_code(phase)
            for position, kind, width in zip(carriers, kinds, widths, strict=True):
                if is_scan(self.nest.body[position]):
                    continue
                width = self.width if along else width
                arguments = self.nest.body[position].arguments
                operands = [self._get(each, width) for each in arguments]
                mask = self.lanes.mask if along and self.lanes else None
                self.states[position] = kind.step(b, self.states[position], operands, mask)
            return [reg for each in carriers for reg in self.states[each]]

        if along:
            self.unroll = self._unroll(phase)
        results = _unflatten(self._run_loops(range(2, self.loops), initial, body), lengths)
        reduced = list(zip(kinds, results, strict=True))[: len(phase.reductions)]
        return [kind.horizontal(b, state) if along else state for kind, state in reduced]

    def _unroll(self, phase: Phase) -> int:
        """Vectors per step of the vector loop: several if each step would mostly wait."""
        body = [self.nest.body[each] for each in phase.body]
        if not phase.reductions or phase.stores or phase.kept or phase.loaded:
            return 1
        if any(each.name not in _LIGHT for each in body):
            return 1
        loads = [each.arguments[0] for each in body if each.name == "load"]
        if any(self.variant.classes[each] == "S" for each in loads):
            return 1
        return max(1, min(_UNROLL, _MAX_LANES // self.base_width))

    def _point_code(self, phase: Phase) -> None:
        """Everything that is computed at one reduced point of a phase, but the reductions."""
        for position in phase.loaded:
            self._define(position, self._load_kept(position))
        for position in phase.body:
            self._instruction(position)
        for position in phase.kept:
            self._keep(position)
        for store in phase.stores:
            self._store(store)

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
            value = self._load_indirect(instruction, lanes)
        elif is_scan(instruction):
            value = self._scan(position)
        else:
            operands = [self._get(each, lanes) for each in arguments]
            value = scalars.apply(self.context, name, dtype, operands)
        self._define(position, value)

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
            return memory.load_contiguous(self.b, dtype, base, self.lanes)
        stride = self.strides[operand, self.vector_loop]
        return memory.load_strided(self.b, dtype, base, stride, self.lanes)

    def _coordinate(self, position: int) -> Value:
        instruction = self.nest.body[position]
        operand = instruction.arguments[0]
        index = self.bases[operand]
        if self.plan.vector[position]:
            index = index + self._iota() * self.strides[operand, self.vector_loop]
        return Value(instruction.dtype, (index,))

    def _iota(self) -> Reg:
        return self.b.vector("i64", range(self.width))

    def _load_indirect(self, instruction: Instruction, lanes: int) -> Value:
        """Lanes out of range (or that do not exist) read a zero on the stack instead."""
        b = self.b
        operand, first = instruction.arguments[:2]
        base = self.bases[operand].cast("ptrtoint", "i64")
        axis = self.variant.vector
        if lanes > 1 and axis in self.nest.operands[operand].level:
            base = base + self._iota() * self.strides[operand, self.vector_loop]
        mask = self.context.mask if lanes > 1 else None
        valid = mask if mask is not None else b.constant("i1", lanes, 1)
        address = b.splat(base, lanes)
        bad = b.constant("i1", lanes, 0)
        for k, position in enumerate(instruction.arguments[2:]):
            value = self._get(position, lanes)
            index = b.widen_or_narrow(value.reg, "i64", value.dtype.is_signed)
            size = self.ints[first + 2 * k]
            if instruction.wrap:
                index = b.select(index.lt(0), index + size, index)
            bad = bad | index.ge(size, signed=False)
            address = address + index * self.ints[first + 2 * k + 1]
        self.context.flag(scalars.STATUS_INDEX, bad)
        zero = b.slot("i64", 2)
        b.slots.append(f"store <2 x i64> zeroinitializer, {zero}")
        safe = b.select(valid & ~bad, address, b.splat(zero.cast("ptrtoint", "i64"), lanes))
        return memory.load_addresses(b, instruction.dtype, safe)

    def _scan(self, position: int) -> Value:
        b, kind = self.b, _reduction(self.nest, position)
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
        prefix = kind.combine(b, [b.splat(each, width) for each in state], prefix)
        self.states[position] = [b.extract(each, width - 1) for each in prefix]
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
        return self.b.offset(Reg(self.b, "ptr", 1, "%scratch"), at)

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

    # ---- reductions split into parts

    def _store_parts(self, phase: Phase, results: list[State]) -> None:
        """Write the accumulators, one word each, into the slots that stand in for the results."""
        b = self.b
        flat = [_as_word(reg) for state in results for reg in state]
        targets = [self.nest.stores[word // SLOT_WORDS][0] for word in range(len(flat))]

        def store(lane: Reg | None, singles: Sequence[Reg]) -> None:
            for word, (operand, single) in enumerate(zip(targets, singles, strict=True)):
                address = b.offset(self.bases[operand], 8 * (word % SLOT_WORDS))
                if lane is not None and "P" in self.nest.operands[operand].level:
                    address = b.offset(address, lane * self.strides[operand, _P0])
                b.store(address, single)

        if self.lanes is None:
            store(None, flat)
        else:
            vectors = [b.splat(each, self.width) for each in flat]
            memory.for_each_lane(b, vectors, self.lanes.count, store)

    def _combine_parts(self) -> None:
        """Read the accumulators of all parts (slots lie as [row][part][store]) and finish them."""
        b = self.b
        positions = [p for p, each in enumerate(self.nest.body) if each.name.startswith("reduce_")]
        kinds = [_reduction(self.nest, each) for each in positions]
        lengths = [len(kind.elements) for kind in kinds]
        elements = [element for kind in kinds for element in kind.elements]
        initial = [reg for kind in kinds for reg in kind.identity(b, 1)]
        parts = self.sizes[-1]
        part_bytes = 8 * SLOT_WORDS * len(self.nest.stores)
        row = self.row * (parts * part_bytes)
        with b.loop(parts, 1, initial) as loop:
            part = b.offset(Reg(b, "ptr", 1, "%scratch"), row + loop.index * part_bytes)
            words = [
                self._from_word(b.offset(part, 8 * k), each) for k, each in enumerate(elements)
            ]
            old, new = _unflatten(loop.carried, lengths), _unflatten(words, lengths)
            pairs = zip(kinds, old, new, strict=True)
            loop.next = [reg for kind, x, y in pairs for reg in kind.combine(b, x, y)]
        results = _unflatten(loop.results, lengths)
        for position, kind, state in zip(positions, kinds, results, strict=True):
            self._define(position, kind.finish(b, state))

    def _from_word(self, pointer: Reg, element: str) -> Reg:
        if element == "i1":
            return self.b.load(pointer, "i8").ne(0)
        return self.b.load(pointer, element)


def _as_word(reg: Reg) -> Reg:
    return reg.cast("zext", "i8") if reg.element == "i1" else reg


def _kept_element(instruction: Instruction) -> str:
    element = element_of(instruction.dtype)
    return "i8" if element == "i1" else element


def _unflatten(flat: Sequence[Reg], lengths: Sequence[int]) -> list[State]:
    result, start = [], 0
    for length in lengths:
        result.append(list(flat[start : start + length]))
        start += length
    return result
