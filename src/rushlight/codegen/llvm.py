"""LLVM IR as text: registers with Python operators, and a builder of one function.

Text costs far less to make than an object graph, and needs no LLVM until it is compiled.
The builder reuses the register of an equal pure expression that dominates: callers need not care.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

Number = int | float
FLOATS = {"half": 16, "float": 32, "double": 64}


def bits(element: str) -> int:
    """Width of an element type."""
    return FLOATS.get(element) or int(element[1:])


def is_float(element: str) -> bool:
    return element in FLOATS


def type_text(element: str, lanes: int) -> str:
    return element if lanes == 1 else f"<{lanes} x {element}>"


def literal(element: str, value: Number) -> str:
    """A number as LLVM writes it; floats in the hexadecimal form that loses nothing."""
    if element == "i1":
        return "true" if value else "false"
    if not is_float(element):
        mask = (1 << bits(element)) - 1
        return str(int(value) & mask)
    number = float(value)
    if element == "float":
        number = round_to_float(number)
    return f"0x{struct.unpack('>Q', struct.pack('>d', number))[0]:016X}"


def round_to_float(number: float) -> float:
    """The nearest float32, with overflow to infinity."""
    try:
        return struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


class Reg:
    """An SSA value: a scalar (``lanes`` 1) or a vector; operators are for floats and integers."""

    __slots__ = ("builder", "element", "lanes", "name")

    def __init__(self, builder: Builder, element: str, lanes: int, name: str) -> None:
        self.builder = builder
        self.element = element
        self.lanes = lanes
        self.name = name

    @property
    def type(self) -> str:
        return type_text(self.element, self.lanes)

    def __str__(self) -> str:
        return f"{self.type} {self.name}"

    def like(self, value: Number) -> Reg:
        """A constant of this type."""
        return self.builder.constant(self.element, self.lanes, value)

    def _pair(self, other: Reg | Number) -> tuple[Reg, Reg]:
        if not isinstance(other, Reg):
            return self, self.like(other)
        lanes = max(self.lanes, other.lanes)
        return self.builder.splat(self, lanes), self.builder.splat(other, lanes)

    def _binary(
        self, float_op: str, integer_op: str, other: Reg | Number, swap: bool = False
    ) -> Reg:
        a, b = self._pair(other)
        if swap:
            a, b = b, a
        op = float_op if is_float(self.element) else integer_op
        return self.builder.op(f"{op} {a.type} {a.name}, {b.name}", a.element, a.lanes)

    def __add__(self, other: Reg | Number) -> Reg:
        return self._binary("fadd", "add", other)

    __radd__ = __add__

    def __sub__(self, other: Reg | Number) -> Reg:
        return self._binary("fsub", "sub", other)

    def __rsub__(self, other: Reg | Number) -> Reg:
        return self._binary("fsub", "sub", other, swap=True)

    def __mul__(self, other: Reg | Number) -> Reg:
        return self._binary("fmul", "mul", other)

    __rmul__ = __mul__

    def __truediv__(self, other: Reg | Number) -> Reg:
        return self._binary("fdiv", "", other)

    def __rtruediv__(self, other: Reg | Number) -> Reg:
        return self._binary("fdiv", "", other, swap=True)

    def __neg__(self) -> Reg:
        if is_float(self.element):
            return self.builder.op(f"fneg {self}", self.element, self.lanes)
        return self.like(0) - self

    def __and__(self, other: Reg | Number) -> Reg:
        return self._binary("", "and", other)

    def __or__(self, other: Reg | Number) -> Reg:
        return self._binary("", "or", other)

    def __xor__(self, other: Reg | Number) -> Reg:
        return self._binary("", "xor", other)

    def __invert__(self) -> Reg:
        return self ^ -1

    def __lshift__(self, other: Reg | Number) -> Reg:
        return self._binary("", "shl", other)

    def lshr(self, other: Reg | Number) -> Reg:
        return self._binary("", "lshr", other)

    def ashr(self, other: Reg | Number) -> Reg:
        return self._binary("", "ashr", other)

    def compare(self, float_test: str, integer_test: str, other: Reg | Number) -> Reg:
        a, b = self._pair(other)
        op = f"fcmp {float_test}" if is_float(self.element) else f"icmp {integer_test}"
        return self.builder.op(f"{op} {a.type} {a.name}, {b.name}", "i1", a.lanes)

    def eq(self, other: Reg | Number) -> Reg:
        return self.compare("oeq", "eq", other)

    def ne(self, other: Reg | Number) -> Reg:
        return self.compare("une", "ne", other)

    def lt(self, other: Reg | Number, signed: bool = True) -> Reg:
        return self.compare("olt", "slt" if signed else "ult", other)

    def le(self, other: Reg | Number, signed: bool = True) -> Reg:
        return self.compare("ole", "sle" if signed else "ule", other)

    def gt(self, other: Reg | Number, signed: bool = True) -> Reg:
        return self.compare("ogt", "sgt" if signed else "ugt", other)

    def ge(self, other: Reg | Number, signed: bool = True) -> Reg:
        return self.compare("oge", "sge" if signed else "uge", other)

    def isnan(self) -> Reg:
        return self.compare("uno", "", self)

    def cast(self, op: str, element: str) -> Reg:
        """A conversion instruction, e.g. ``sext``; nothing if the type is the same."""
        if element == self.element:
            return self
        target = type_text(element, self.lanes)
        return self.builder.op(f"{op} {self} to {target}", element, self.lanes)

    def bitcast(self, element: str) -> Reg:
        return self.cast("bitcast", element)


class Loop:
    """A counted loop being built: ``index``, ``carried`` values, and ``next``, set by the body."""

    def __init__(self, builder: Builder, count: Reg, step: int, initial: Sequence[Reg]) -> None:
        self.builder, self.count, self.step, self.initial = builder, count, step, list(initial)
        self.next: list[Reg] = []
        self.results: list[Reg] = []

    def __enter__(self) -> Loop:
        b = self.builder
        self.head, self.exit = b.label("loop"), b.label("done")
        self.entry = b.block
        enter = self.count.gt(0)
        b.emit(f"br i1 {enter.name}, label %{self.head}, label %{self.exit}")
        b.start(self.head)
        self.index = b.fresh("i64", 1)
        self.carried = [b.fresh(each.element, each.lanes) for each in self.initial]
        self.phis = len(b.lines)  # the phis go here once the last block is known
        b.push()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            return
        b = self.builder
        b.pop()
        index = b.fresh("i64", 1)
        b.emit(f"{index.name} = add nsw i64 {self.index.name}, {self.step}")
        again = b.fresh("i1", 1)
        b.emit(f"{again.name} = icmp slt i64 {index.name}, {self.count.name}")
        latch = b.block
        b.emit(f"br i1 {again.name}, label %{self.head}, label %{self.exit}")
        phis = [f"{self.index.name} = phi i64 [0, %{self.entry}], [{index.name}, %{latch}]"]
        for phi, first, following in zip(self.carried, self.initial, self.next, strict=True):
            sources = f"[{first.name}, %{self.entry}], [{following.name}, %{latch}]"
            phis.append(f"{phi.name} = phi {phi.type} {sources}")
        b.lines[self.phis : self.phis] = phis
        b.start(self.exit)
        for first, following in zip(self.initial, self.next, strict=True):
            self.results.append(b.phi([(first, self.entry), (following, latch)]))


class Builder:
    """Emits one function; ``lines`` is its body after the entry block's stack slots.

    scalef: the target can scale vectors by powers of two (AVX-512).
    """

    def __init__(self, scalef: bool = False) -> None:
        self.scalef = scalef
        self.lines: list[str] = []
        self.slots: list[str] = []
        self.declarations: dict[str, str] = {}
        self.block = "start"
        self.zero_bytes = 0
        self.stored: dict[str, Reg] = {}  # what registers are in memory, where that is known
        self._count = 0
        self._known: list[dict[str, Reg]] = [{}]

    # ---- names and blocks

    def fresh(self, element: str, lanes: int) -> Reg:
        self._count += 1
        return Reg(self, element, lanes, f"%v{self._count}")

    def label(self, hint: str) -> str:
        self._count += 1
        return f"{hint}{self._count}"

    def argument(self, name: str) -> Reg:
        """A pointer that the function is given."""
        return Reg(self, "ptr", 1, f"%{name}")

    def emit(self, text: str) -> None:
        self.lines.append(text)

    def start(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.block = label

    def push(self) -> None:
        """Expressions from here on are known only until ``pop``: they dominate no later block."""
        self._known.append({})

    def pop(self) -> None:
        self._known.pop()

    # ---- expressions

    def op(self, text: str, element: str, lanes: int) -> Reg:
        """The value of a pure expression."""
        for known in reversed(self._known):
            if text in known:
                return known[text]
        reg = self.effect(text, element, lanes)
        self._known[-1][text] = reg
        return reg

    def effect(self, text: str, element: str, lanes: int) -> Reg:
        """The value of an expression that must be evaluated here, such as a load."""
        reg = self.fresh(element, lanes)
        self.emit(f"{reg.name} = {text}")
        return reg

    def constant(self, element: str, lanes: int, value: Number) -> Reg:
        text = literal(element, value)
        return Reg(self, element, lanes, text if lanes == 1 else f"splat ({element} {text})")

    def vector(self, element: str, values: Sequence[Number]) -> Reg:
        """A constant vector."""
        text = ", ".join(f"{element} {literal(element, each)}" for each in values)
        return Reg(self, element, len(values), f"<{text}>")

    def splat(self, value: Reg, lanes: int) -> Reg:
        if value.lanes == lanes:
            return value
        if not value.name.startswith("%"):
            return Reg(self, value.element, lanes, f"splat ({value.element} {value.name})")
        vector = type_text(value.element, lanes)
        first = self.op(f"insertelement {vector} poison, {value}, i32 0", value.element, lanes)
        return self.shuffle(first, first, [0] * lanes)

    def shuffle(self, a: Reg, b: Reg, lanes: Sequence[int]) -> Reg:
        picks = ", ".join(f"i32 {each}" for each in lanes)
        text = f"shufflevector {a}, {b}, <{len(lanes)} x i32> <{picks}>"
        return self.op(text, a.element, len(lanes))

    def extract(self, vector: Reg, lane: int | Reg) -> Reg:
        if vector.lanes == 1:
            return vector
        index = lane.name if isinstance(lane, Reg) else lane
        return self.op(f"extractelement {vector}, i64 {index}", vector.element, 1)

    def insert(self, vector: Reg, value: Reg, lane: int) -> Reg:
        if vector.lanes == 1:
            return value
        return self.op(f"insertelement {vector}, {value}, i64 {lane}", vector.element, vector.lanes)

    def select(self, condition: Reg, a: Reg | Number, b: Reg | Number) -> Reg:
        a, b = self._alike(a, b)
        lanes = max(condition.lanes, a.lanes)
        condition, a, b = (self.splat(each, lanes) for each in (condition, a, b))
        return self.op(f"select {condition}, {a}, {b}", a.element, lanes)

    def _alike(self, a: Reg | Number, b: Reg | Number) -> tuple[Reg, Reg]:
        if isinstance(a, Reg):
            return a._pair(b)
        if not isinstance(b, Reg):
            raise TypeError("select needs a register to take its type from")
        return b.like(a), b

    def intrinsic(self, name: str, *arguments: Reg) -> Reg:
        """An overloaded intrinsic whose operands and result all have one type, e.g. ``fma``."""
        lanes = max(each.lanes for each in arguments)
        operands = [self.splat(each, lanes) for each in arguments]
        element = operands[0].element
        return self.call(f"llvm.{name}.{mangle(element, lanes)}", element, lanes, operands)

    def call(self, name: str, element: str, lanes: int, operands: Sequence[Reg]) -> Reg:
        """A call of a pure function, declared as it is called."""
        result = type_text(element, lanes)
        types = ", ".join(each.type for each in operands)
        self.declarations.setdefault(name, f"declare {result} @{name}({types})")
        values = ", ".join(map(str, operands))
        return self.op(f"call {result} @{name}({values})", element, lanes)

    def fma(self, a: Reg | Number, b: Reg | Number, c: Reg | Number) -> Reg:
        model = next(each for each in (a, b, c) if isinstance(each, Reg))
        return self.intrinsic(
            "fma", *(e if isinstance(e, Reg) else model.like(e) for e in (a, b, c))
        )

    def polynomial(self, x: Reg, coefficients: Sequence[float]) -> Reg:
        """c[0] + c[1] x + c[2] x^2 … by Horner's rule with fused multiply-adds."""
        result: Reg | Number = coefficients[-1]
        for each in reversed(coefficients[:-1]):
            result = self.fma(result, x, each)
        return result if isinstance(result, Reg) else x.like(result)

    def any_lane(self, mask: Reg) -> Reg:
        if mask.lanes == 1:
            return mask
        return self.call(f"llvm.vector.reduce.or.v{mask.lanes}i1", "i1", 1, [mask])

    def widen_or_narrow(self, value: Reg, element: str, signed: bool) -> Reg:
        """An integer as another integer type."""
        if bits(element) < bits(value.element):
            return value.cast("trunc", element)
        return value.cast("sext" if signed else "zext", element)

    # ---- memory

    def slot(self, element: str, lanes: int = 1) -> Reg:
        """A stack slot."""
        self._count += 1
        name = f"%s{self._count}"
        self.slots.append(f"{name} = alloca {type_text(element, lanes)}, align 64")
        return Reg(self, "ptr", 1, name)

    def zeros(self, count: int) -> Reg:
        """The address of at least that many zero bytes."""
        self.zero_bytes = max(self.zero_bytes, count)
        return Reg(self, "ptr", 1, "%zeros")

    def load(self, pointer: Reg, element: str, lanes: int = 1) -> Reg:
        return self.effect(f"load {type_text(element, lanes)}, {pointer}, align 1", element, lanes)

    def store(self, pointer: Reg, value: Reg) -> None:
        self.emit(f"store {value}, {pointer}, align 1")

    def prefetch(self, pointer: Reg) -> None:
        """Start to bring a cache line, of any address, into the first-level cache."""
        self.declarations["llvm.prefetch.p0"] = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"
        self.emit(f"call void @llvm.prefetch.p0({pointer}, i32 0, i32 3, i32 1)")

    def masked_load(self, pointer: Reg, mask: Reg, element: str) -> Reg:
        """Zero in the lanes that the mask excludes, which are not read."""
        vector = type_text(element, mask.lanes)
        name = f"llvm.masked.load.{mangle(element, mask.lanes)}.p0"
        self.declarations.setdefault(name, f"declare {vector} @{name}(ptr, {mask.type}, {vector})")
        arguments = f"ptr align 1 {pointer.name}, {mask}, {vector} zeroinitializer"
        return self.effect(f"call {vector} @{name}({arguments})", element, mask.lanes)

    def masked_store(self, pointer: Reg, mask: Reg, value: Reg) -> None:
        name = f"llvm.masked.store.{mangle(value.element, mask.lanes)}.p0"
        self.declarations.setdefault(name, f"declare void @{name}({value.type}, ptr, {mask.type})")
        self.emit(f"call void @{name}({value}, ptr align 1 {pointer.name}, {mask})")

    def offset(self, pointer: Reg, count: Reg | int) -> Reg:
        """The address ``count`` bytes on."""
        name = count.name if isinstance(count, Reg) else count
        return self.op(f"getelementptr i8, {pointer}, i64 {name}", "ptr", 1)

    # ---- control

    def loop(self, count: Reg, step: int = 1, carried: Sequence[Reg] = ()) -> Loop:
        return Loop(self, count, step, carried)

    def phi(self, sources: Sequence[tuple[Reg, str]]) -> Reg:
        model = sources[0][0]
        text = ", ".join(f"[{value.name}, %{block}]" for value, block in sources)
        return self.effect(f"phi {model.type} {text}", model.element, model.lanes)

    def branch(
        self,
        condition: Reg,
        then: Callable[[], Sequence[Reg]],
        otherwise: Callable[[], Sequence[Reg]] = lambda: (),
    ) -> list[Reg]:
        """Run one of two pieces of code; what they return is joined by position."""
        labels = [self.label("then"), self.label("else")]
        join = self.label("join")
        self.emit(f"br i1 {condition.name}, label %{labels[0]}, label %{labels[1]}")
        ends = []
        for label, code in zip(labels, (then, otherwise), strict=True):
            self.start(label)
            self.push()
            values = code()
            self.pop()
            ends.append((values, self.block))
            self.emit(f"br label %{join}")
        self.start(join)
        (first, first_block), (second, second_block) = ends
        pairs = zip(first, second, strict=True)
        return [self.phi([(a, first_block), (b, second_block)]) for a, b in pairs]

    def per_lane(
        self,
        inputs: Sequence[Reg],
        code: Callable[[list[Reg]], Sequence[Reg]],
        results: Sequence[Reg],
        mask: Reg | None = None,
    ) -> list[Reg]:
        """Run scalar code for each lane (that the mask picks); other lanes keep ``results``."""
        lanes = results[0].lanes
        if lanes == 1:
            if mask is None:
                return list(code(list(inputs)))
            return self.branch(mask, lambda: code(list(inputs)), lambda: results)
        sources = [(self._spill(each), each.element) for each in inputs]
        targets = [self._spill(each) for each in results]
        wanted = self._spill(mask.cast("zext", "i8")) if mask is not None else None
        with self.loop(self.constant("i64", 1, lanes)) as loop:

            def at(slot: Reg, element: str) -> Reg:
                return self.offset(slot, loop.index * (bits(element) // 8))

            def lane() -> tuple[Reg, ...]:
                scalars = [self.load(at(slot, element), element) for slot, element in sources]
                for slot, value in zip(targets, code(scalars), strict=True):
                    self.store(at(slot, value.element), value)
                return ()

            if wanted is None:
                lane()
            else:
                self.branch(self.load(at(wanted, "i8"), "i8").ne(0), lane)
        pairs = zip(targets, results, strict=True)
        return [self.load(slot, each.element, lanes) for slot, each in pairs]

    def _spill(self, value: Reg) -> Reg:
        slot = self.slot(value.element, value.lanes)
        self.store(slot, value)
        return slot


def mangle(element: str, lanes: int) -> str:
    """A type's name in an overloaded intrinsic."""
    name = f"f{bits(element)}" if is_float(element) else element
    return name if lanes == 1 else f"v{lanes}{name}"
