"""Lowering: a graph becomes the specification of a plan (``docs/design.md``, "Plans")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..graph import expressions
from ..graph.node import Channels, Graph, Node, Order, Value
from ..graph.polynomials import Atom
from ..graph.symbols import key_of
from ..ops.build import is_half
from ..ops.kinds import Elementwise
from .convolve import contraction, spread
from .fuse import Fusion
from .nest import Nest
from .scatter import scatter_of
from .schedule import read_again
from .steps import AFFINE_VIEWS, CONTRACTIONS, SCATTERS, Step, view_operation


@dataclass(frozen=True)
class Slot:
    """An entry of the shape program's table before numbering: constants come first, then sources,
    then results.
    """

    table: str
    index: int


class SlotTable:
    """Collects the sizes that a plan needs as a shape program."""

    def __init__(self) -> None:
        self.constants: list[int] = []
        self.sources: list[tuple[Any, ...]] = []
        self.program: list[tuple[Any, ...]] = []
        self.known: dict[Any, Slot] = {}

    def slot(self, size: Any) -> Slot:
        """The slot that holds an int or symbolic int."""
        return expressions.lower(size, self.symbol, self.constant, self.emit)

    def constant(self, number: int) -> Slot:
        return self.entry("constant", self.constants, int(number))

    def symbol(self, atom: Atom) -> Slot:
        assert atom.origin is not None, f"{atom!r} has no origin"
        return self.entry("source", self.sources, atom.origin)

    def emit(self, operation: str, a: Slot, b: Slot) -> Slot:
        return self.entry("program", self.program, (operation, a, b))

    def entry(self, table: str, entries: list[Any], content: Any) -> Slot:
        key = (table, content)
        if key not in self.known:
            self.known[key] = Slot(table, len(entries))
            entries.append(content)
        return self.known[key]

    def number(self, item: Any) -> Any:
        """``item`` with every `Slot` replaced by its final number."""
        if isinstance(item, Slot):
            before = {"constant": 0, "source": len(self.constants)}
            return before.get(item.table, len(self.constants) + len(self.sources)) + item.index
        if isinstance(item, dict):
            return {key: self.number(each) for key, each in item.items()}
        if isinstance(item, tuple | list):
            return type(item)(self.number(each) for each in item)
        return item


# Tensor arguments that share memory: (number of a mutated one, number of the other, relation),
# where relation is SAME (the same elements) or OVERLAP.
Aliases = Sequence[tuple[int, int, int]]
SAME, OVERLAP = 1, 2


@dataclass
class Request:
    """What a plan has to do with a graph.

    graph: legalized. saved: forward values that the tape keeps (inputs, outputs or hidden).
    aliases: what mutated arguments share memory with. itself: whether an output that is an input is
    that very tensor, rather than a view of it.
    """

    graph: Graph
    saved: Sequence[Value] = ()
    aliases: Aliases = ()
    itself: bool = True


class Lowering:
    """Turns a request into the fields of a plan; `buffer` and `slots` serve the tape's part too.

    kernel: makes the core's kernel for a nest; host_function: makes the function of a host step.
    ``steps``: what ``spec`` made of the graph, in order.
    """

    def __init__(
        self,
        request: Request,
        kernel: Callable[[Nest], Any],
        host_function: Callable[[Node], Callable[..., None]],
    ):
        self.request = request
        self.graph = request.graph
        self.kernel = kernel
        self.host_function = host_function
        self.steps: list[Step] = []
        self.slots = SlotTable()
        self.tensors = [value for value in self.graph.inputs if not value.weak]
        self.buffer: dict[Value, int] = {value: i for i, value in enumerate(self.tensors)}
        self.buffers: list[tuple[Any, ...]] = []
        self.views: list[tuple[Any, ...]] = []
        self.view_index: dict[Any, int] = {}
        self.reshaped: dict[
            Value, Value
        ] = {}  # stored value -> the result that its buffer has the shape of
        self.words = self.scalar_words()

    def scalar_words(self) -> dict[Value, int]:
        words, count = {}, 0
        for value in self.graph.inputs:
            if value.weak:
                words[value] = count
                count += 2 if value.dtype.is_complex else 1
        return words

    def spec(self) -> dict[str, Any]:
        """The plan's fields except ``result`` and ``tape``, with slots not yet numbered: see
        `finish`.
        """
        wanted = [v for v in self.graph.outputs if v is not None] + list(self.request.saved)
        self.fusion = Fusion(self.graph, wanted)
        steps = self.fusion.steps()
        self.find_reshaped(steps)
        targets, copies = self.place_mutations(steps)
        steps = [step for step in steps if not self.is_idle(step, targets)]
        for step in steps:
            for value in step.writes:
                shown = self.reshaped.get(value, value)
                if shown not in self.buffer:
                    self.buffer[shown] = (
                        targets[value] if value in targets else self.new_buffer(shown)
                    )
        self.steps = self.order_effects(steps, set(targets))
        lowered = [self.lower_step(step) for step in self.steps]
        lowered += [
            ("copy", self.stored_view(source), self.view_of_buffer(target))
            for source, target in copies
        ]
        return {
            "inputs": len(self.tensors),
            "buffers": self.buffers,
            "views": self.views,
            "steps": lowered,
            "outputs": [self.lower_output(i, v) for i, v in enumerate(self.graph.outputs)],
            "guards": [
                (op, self.slots.slot(a), self.slots.slot(b))
                for op, a, b in self.graph.environment.guards
            ],
            "mutated": [self.tensor_position(i) for i in self.graph.mutations],
        }

    def finish(self, fields: dict[str, Any]) -> dict[str, Any]:
        """The fields with all slots numbered, and the shape program that fills them."""
        return self.slots.number(fields) | {
            "constants": self.slots.constants,
            "sources": self.slots.sources,
            "program": self.slots.number(self.slots.program),
        }

    # -- buffers and views

    def find_reshaped(self, steps: list[Step]) -> None:
        """Results that are reshapes of stored values: the buffer gets the result's shape, the
        stored value is a view.
        """
        written = {value for step in steps for value in step.writes}
        results = [*self.request.saved, *(v for v in self.graph.outputs if v is not None)]
        for value in results:
            base = value
            while base.node is not None and base.node.name == "reshape" and base not in written:
                base = base.node.inputs[0]
            if base is not value and base in written and base not in results:
                self.reshaped.setdefault(base, value)

    def new_buffer(self, value: Value) -> int:
        self.buffers.append((value.dtype, self.layout(value), self.size_slots(value.shape)))
        return len(self.tensors) + len(self.buffers) - 1

    def size_slots(self, shape: Sequence[Any]) -> tuple[Slot, ...]:
        return tuple(self.slots.slot(d) for d in shape)

    def layout(self, value: Value) -> Any:
        """Elementwise results of inputs take over the inputs' order of dims; everything else is
        contiguous. Random bits, which are drawn in the order of memory, lie as their record says.
        """
        drawn = value.node is not None and value.node.name == "random_bits" and value.like
        is_output = any(value is each for each in self.graph.outputs)
        if not (is_output or drawn) or value.like == "contiguous":
            return "contiguous"
        if isinstance(value.like, Order):
            return ("order", value.like.dims)
        operands = elementwise_inputs(value)
        kind = "channels" if isinstance(value.like, Channels) else "like"
        if isinstance(value.like, Channels):
            operands = [view_of_input(each) for each in value.like.operands]
        elif isinstance(value.like, tuple):
            operands = [view_of_input(each) for each in value.like]
        elif value.like in self.tensors:
            operands = [(value.like, ())]
        if operands is None:
            return "contiguous"
        views = [self.view(source, chain) for source, chain in operands if source in self.buffer]
        return (kind, tuple(views)) if views else "contiguous"

    def view(self, value: Value, chain: tuple[Any, ...]) -> int:
        shown = self.reshaped.get(value)
        if shown is not None:
            return self.view_of_buffer(
                self.buffer[shown], (("reshape", tuple(value.shape)), *chain)
            )
        return self.view_of_buffer(self.buffer[value], chain)

    def view_of_buffer(self, buffer: int, chain: tuple[Any, ...] = ()) -> int:
        key = (buffer, tuple(symbol_key(part) for part in chain))
        if key not in self.view_index:
            self.view_index[key] = len(self.views)
            self.views.append((buffer, tuple(self.chain_slots(part) for part in chain)))
        return self.view_index[key]

    def chain_slots(self, part: tuple[Any, ...]) -> tuple[Any, ...]:
        name, *rest = part
        if name in ("expand", "reshape"):
            return (name, self.size_slots(rest[0]))
        if name in ("slice", "window"):
            return (name, rest[0], *self.size_slots(rest[1:]))
        return part

    def stored_view(self, value: Value, further: tuple[tuple[Any, ...], ...] = ()) -> int:
        """The operand for a value that is stored or a view of a stored value, or a further view of
        it.
        """
        chain: list[tuple[Any, ...]] = []
        while value.node is not None and value not in self.buffer and value not in self.reshaped:
            chain.append(view_operation(value.node))
            value = value.node.inputs[0]
        return self.view(value, (*reversed(chain), *further))

    # -- effects

    def tensor_position(self, position: int) -> int:
        return self.tensors.index(self.graph.inputs[position])

    def place_mutations(
        self, steps: list[Step]
    ) -> tuple[dict[Value, int], list[tuple[Value, int]]]:
        """New contents of inputs: those to write straight to their destination, and those to copy
        there at the end.
        """
        direct: dict[Value, int] = {}
        copies: list[tuple[Value, int]] = []
        may_fail = any(
            step.can_fail or (step.node is not None and step.node.name != "matmul")
            for step in steps
        )
        for position, output in self.graph.mutations.items():
            value, target = self.graph.outputs[output], self.graph.inputs[position]
            assert value is not None
            number = self.tensor_position(position)
            if value is target:
                continue
            shared, overlapping = self.aliases_of(number)
            memory = {target, *shared}
            safe = (
                not overlapping
                and value not in direct
                and value.dtype is target.dtype
                and (
                    not may_fail
                    and self.may_write_through(steps, value, memory)
                    or self.may_scatter_through(steps, value, target, memory)
                )
            )
            if safe:
                direct[value] = number
            else:
                copies.append((value, number))
        return direct, copies

    def aliases_of(self, number: int) -> tuple[list[Value], bool]:
        """The other inputs that are the same elements as a mutated one, and whether any overlaps it
        in another way.
        """
        known = [alias for alias in self.request.aliases if number in alias[:2]]
        shared = [self.tensors[n] for alias in known for n in alias[:2] if n != number]
        return shared, any(alias[2] == OVERLAP for alias in known)

    def may_write_through(self, steps: list[Step], value: Value, targets: set[Value]) -> bool:
        """Whether nothing reads the old content of ``targets`` (one memory) after the step that
        computes ``value``.

        Inside that step each read must be of the very element that is then written, and not in a
        later pass over the elements.
        """
        writer = next((s for s in steps if s.nest is not None and s.writes.count(value) == 1), None)
        if writer is None:
            return False
        views = [binding for binding in writer.operands if binding[0] == "view"]
        written = [binding for binding in views if binding[1] is value]
        reads = [binding for binding in views if binding[1] in targets]
        if len(written) != 1 or written[0][2] or any(b[2:] != written[0][2:] for b in reads):
            return False
        assert writer.nest is not None
        operands = {i for i, b in enumerate(writer.operands) if b[0] == "view" and b[1] in targets}
        if read_again(writer.nest, operands, writer.operands.index(written[0])):
            return False
        contents = {self.graph.outputs[output] for output in self.graph.mutations.values()}
        readers = [step for step in steps if step is not writer and targets & set(step.reads)]
        return not any(
            self.fusion.depends(writer, step) or contents & set(step.writes) for step in readers
        )

    def may_scatter_through(
        self, steps: list[Step], value: Value, target: Value, memory: set[Value]
    ) -> bool:
        """Whether ``value`` is the old content with changes at computed places, all of which the
        core checks before it writes, and nothing else may fail or sees the old content.
        """
        if value.node is None or value.node.name not in SCATTERS or value in self.request.saved:
            return False
        others = [step for step in steps if value not in step.writes]
        scattering = next(step for step in steps if step.node is value.node)
        return (
            value.node.inputs[0] is target
            and len(self.graph.mutations) == 1
            and not any(step.can_fail or step.node is not None for step in others)
            and not any(memory & set(step.reads) for step in (scattering, *others))
        )

    def is_idle(self, step: Step, targets: dict[Value, int]) -> bool:
        """Whether a step would copy to an input what is there."""
        return step.nest is not None and any(
            root.target in targets
            and root.target.node is not None
            and root.target.node.name in SCATTERS
            for root in step.roots
        )

    def order_effects(self, steps: list[Step], direct: set[Value]) -> list[Step]:
        """Steps that write to user memory come last; the order is otherwise kept."""
        writers = [step for step in steps if direct & set(step.writes)]
        tail = [s for s in steps if s in writers or any(self.fusion.depends(w, s) for w in writers)]
        return [s for s in steps if s not in tail] + tail

    # -- steps

    def lower_step(self, step: Step) -> tuple[Any, ...]:
        if step.nest is not None:
            return self.lower_nest(step)
        node = step.node
        assert node is not None
        if node.name == "matmul":
            a, b = (self.stored_view(value) for value in node.inputs)
            return ("gemm", a, b, self.stored_view(node.outputs[0]))
        if node.name in CONTRACTIONS:
            left, right, result, inner = contraction(node)
            out = self.stored_view(node.outputs[0], result)
            return ("contract", self.stored_view(*left), self.stored_view(*right), out, inner)
        if node.name == "convolution_input":
            left, right, result, windows = spread(node)
            targets = (self.stored_view(node.outputs[0], chain) for chain in (result, windows))
            return ("spread", self.stored_view(*left), self.stored_view(*right), *targets)
        if node.name in SCATTERS:
            return self.lower_scatter(node)
        if node.name == "random_bits":
            return (
                "random",
                self.buffer[self.reshaped.get(node.outputs[0], node.outputs[0])],
                node.attributes["bits"],
                node.attributes["generator"],
            )
        operands = tuple(self.stored_view(value) for value in (*node.outputs, *node.inputs))
        return ("host", self.host_function(node), operands)

    def lower_scatter(self, node: Node) -> tuple[Any, ...]:
        scatter = scatter_of(node)
        indices = tuple(self.stored_view(*each) for each in scatter.indices)
        return (
            "scatter",
            self.stored_view(node.outputs[0]),
            self.stored_view(scatter.source),
            indices,
            scatter.dims,
            scatter.walks,
            int(scatter.adds),
            int(scatter.wraps),
        )

    def lower_nest(self, step: Step) -> tuple[Any, ...]:
        assert step.nest is not None
        operands = tuple(
            (self.view(b[1], b[2]), b[3]) if b[0] == "view" else ("coordinate", b[1])
            for b in step.operands
        )
        ints = tuple(
            self.slots.slot(i[1]) if i[0] == "size" else ("stride", self.view(i[1], i[2]), i[3])
            for i in step.ints
        )
        scalars = tuple(self.words[value] + word for value, word in step.scalars)
        domain = self.size_slots(step.domain)
        return (
            "kernel",
            self.kernel(step.nest),
            domain,
            step.nest.parallel,
            operands,
            scalars,
            ints,
        )

    # -- outputs

    def lower_output(self, index: int, value: Value | None) -> Any:
        if value is None:
            return None
        for position, output in self.graph.mutations.items():
            if output == index:
                return ("input", self.tensor_position(position))
        if value in self.buffer:
            buffer = self.buffer[value]
            if buffer >= len(self.tensors):
                return ("buffer", buffer)
            if self.request.itself:
                return ("input", buffer)
        return ("view", self.stored_view(value))


def symbol_key(part: tuple[Any, ...]) -> Any:
    """A hashable identity of a view operation that records no guard."""
    return tuple(
        tuple(key_of(d) if not isinstance(d, str) else d for d in each)
        if isinstance(each, tuple)
        else each
        if isinstance(each, str)
        else key_of(each)
        for each in part
    )


def view_of_input(value: Value) -> tuple[Value, tuple[Any, ...]]:
    """The value that this one is a view of, conversions apart, and the chain of views."""
    chain: list[tuple[Any, ...]] = []
    while (node := value.node) is not None and node.name in {*AFFINE_VIEWS, "convert"}:
        if node.name != "convert":
            chain.insert(0, view_operation(node))
        value = node.inputs[0]
    return value, tuple(chain)


def is_view_of_input(value: Value) -> bool:
    while (node := value.node) is not None and node.name in AFFINE_VIEWS:
        value = node.inputs[0]
    return node is None


def elementwise_inputs(value: Value) -> list[tuple[Value, tuple[Any, ...]]] | None:
    """The graph inputs (with broadcasts as view chains) of an expression that is elementwise
    throughout, else None.
    """
    found: list[tuple[Value, tuple[Any, ...]]] = []
    seen: set[Value] = set()

    def visit(each: Value, chain: tuple[Any, ...]) -> bool:
        if each in seen or each.weak:
            return True
        seen.add(each)
        node = each.node
        if node is None:
            found.append((each, chain))
            return True
        filled = node.name == "full" or all(operand.weak for operand in node.inputs)
        if not each.shape and filled:
            return True  # a number
        if each.like == "contiguous" and each is not value:
            chain = (("copy", "contiguous"), *chain)
        if node.name == "convert" and is_view_of_input(node.inputs[0]):
            half = is_half(value.dtype) and node.inputs[0].dtype is value.dtype
            if not half:  # in which case it is only computed in float32
                chain = (("copy", "like"), *chain)
        if node.name == "flip":
            return visit(node.inputs[0], chain)
        if node.name == "expand":
            return visit(node.inputs[0], (view_operation(node), *chain))
        if not isinstance(node.primitive.kind, Elementwise):
            return False
        return all(visit(operand, chain) for operand in node.inputs)

    return found if visit(value, ()) else None
