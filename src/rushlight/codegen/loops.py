"""From a nest and a variant to the LLVM IR of its kernel: loops, loads, phases, stores."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import memory
from .llvm import Reg
from .memory import Lanes
from .nest import Nest, Variant
from .points import P0, P1, PointEmitter, reduction_of
from .reductions import State
from .schedule import Phase, is_scan
from .target import Target
from .widths import SLOT_WORDS, parallel_unroll, phase_unroll


def kernel_ir(nest: Nest, variant: Variant, target: Target) -> str:
    """The LLVM module, as text, of one kernel."""
    return _Kernel(nest, variant, target).module()


class _Kernel(PointEmitter):
    """Emits one kernel: the loops, and what happens in which of them."""

    # ---- the function

    def module(self) -> str:
        b = self.b
        self.sizes = [self._word("sizes", k) for k in range(self.loops)]
        nonempty = self.sizes[P1].gt(0) & self.sizes[P0].gt(0)
        b.emit(f"br i1 {nonempty.name}, label %work, label %end")
        b.start("work")
        self._operands()
        for position in self.plan.constants:
            self._instruction(position)
        if self.variant.vector == "P":
            self.unroll = parallel_unroll(self.plan, self.variant, self.base_width)
        self._run_loops([P1, P0], [], self._row)
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
        lines += ["start:", *self._zeros(), *self.b.slots, *self.b.lines, "}"]
        lines += self.b.declarations.values()
        lines.append(
            f'attributes #0 = {{ nounwind "no-builtins" "no-jump-tables"="true" '
            f'"prefer-vector-width"="{width}" "min-legal-vector-width"="{width}" }}'
        )
        return "\n".join(lines) + "\n"

    def _zeros(self) -> list[str]:
        if not self.b.zero_bytes:
            return []
        kind = f"[{self.b.zero_bytes} x i8]"
        return [f"%zeros = alloca {kind}, align 64", f"store {kind} zeroinitializer, ptr %zeros"]

    def _run_loops(
        self, loops: Sequence[int], carried: State, body: Callable[[State], State]
    ) -> State:
        """Nested loops around a body that maps the carried registers to their next values."""
        if not loops:
            return body(carried)
        loop, inner = loops[0], loops[1:]
        size = self.sizes[loop]
        if loop == self.vector_loop == P0:
            self._hoist()
        if loop != self.vector_loop or self.unroll == 1:
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
        outside = (
            self.bases, self.lanes, self.row, self.point, dict(self.values), dict(self.wide),
            dict(self.offsets),
        )  # fmt: skip
        step = self.width if loop == self.vector_loop else 1
        with self.b.loop(count, step, carried) as built:
            index = built.index if start is None else built.index + start
            self._advance(loop, index)
            if loop == self.vector_loop:
                self.lanes = self._lanes(None if whole_blocks else self.sizes[loop] - index)
                self.context.mask = self.lanes.mask
            built.next = self._run_loops(inner, built.carried, body)
        self.bases, self.lanes, self.row, self.point, self.values, self.wide, self.offsets = outside
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
        if loop in (P1, P0):
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
            if position not in self.values:
                self._instruction(position)
        for phase, after in zip(self.plan.phases, self.plan.rows[1:], strict=True):
            results = self._phase(phase)
            if split == "partial":
                self._store_parts(phase, results)
                return carried
            for position, state in zip(phase.reductions, results, strict=True):
                self._define(position, reduction_of(self.nest, position).finish(self.b, state))
            for position in after:
                self._instruction(position)
        for store in self.plan.row_stores:
            self._store(store)
        return carried

    def _phase(self, phase: Phase) -> list[State]:
        """One pass over the reduced dims; the final accumulators, lanes along them combined."""
        b = self.b
        along = self.variant.vector == "R"
        carriers = phase.reductions + [p for p in phase.body if is_scan(self.nest.body[p])]
        kinds = [reduction_of(self.nest, each) for each in carriers]
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
            self.unroll = phase_unroll(self.plan, self.variant, self.base_width, phase)
        results = _unflatten(self._run_loops(range(2, self.loops), initial, body), lengths)
        reduced = list(zip(kinds, results, strict=True))[: len(phase.reductions)]
        return [kind.horizontal(b, state) if along else state for kind, state in reduced]

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
                    address = b.offset(address, lane * self.strides[operand, P0])
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
        kinds = [reduction_of(self.nest, each) for each in positions]
        lengths = [len(kind.elements) for kind in kinds]
        elements = [element for kind in kinds for element in kind.elements]
        initial = [reg for kind in kinds for reg in kind.identity(b, 1)]
        parts = self.sizes[-1]
        part_bytes = 8 * SLOT_WORDS * len(self.nest.stores)
        row = self.row * (parts * part_bytes)
        with b.loop(parts, 1, initial) as loop:
            part = b.offset(b.argument("scratch"), row + loop.index * part_bytes)
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


def _unflatten(flat: Sequence[Reg], lengths: Sequence[int]) -> list[State]:
    result, start = [], 0
    for length in lengths:
        result.append(list(flat[start : start + length]))
        start += length
    return result
