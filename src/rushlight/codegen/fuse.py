"""Fusion: which values of a graph are stored, and the loop nests that compute them.

A value that somebody outside a nest needs (an output, a saved value, an operand of a library call)
is *stored*; every other value is computed where it is used, as an instruction of its consumers'
nests. Nests are built from the last stored value to the first. A nest follows its root's expression
through views (permutations and broadcasts only change which loop indexes which dim) and through
reductions, as long as these run over the nest's own reduced dims. A reduction that does not fit is
stored instead (`NeedsStore`) and building starts again; since the set of stored values only grows,
this ends.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..graph.node import Graph, Node, Value
from ..graph.symbols import same_shape
from .builder import DomainMismatch, NestBuilder
from .steps import (
    AFFINE_VIEWS,
    REGION_WRITERS,
    SCANS,
    SCATTERS,
    NeedsStore,
    Root,
    Step,
    is_barrier,
    trivial_reshape,
)


class Fusion:
    """Partition of a legalized graph into steps.

    Args:
        graph: the graph to partition.
        stored: values that must end up in memory.
    """

    def __init__(self, graph: Graph, stored: Iterable[Value]):
        self.graph = graph
        self.inputs = {value for value in graph.inputs if not value.weak}
        self.order = {node: position for position, node in enumerate(graph.nodes)}
        self.ancestors: dict[Node, int] = {}
        for node in graph.nodes:
            mask = 1 << self.order[node]
            for value in node.inputs:
                if value.node is not None:
                    mask |= self.ancestors[value.node]
            self.ancestors[node] = mask
        self.stored: set[Value] = set()
        for value in stored:
            self.store(value)
        for node in graph.nodes:
            self.store_operands(node)

    # -- what is stored

    def store(self, value: Value) -> None:
        """Mark the value that holds ``value``'s memory as stored."""
        base = self.base(value)
        if base not in self.inputs and not base.weak:
            self.stored.add(base)

    def base(self, value: Value) -> Value:
        """The value whose memory ``value`` is a view of."""
        while (
            value.node is not None and value not in self.stored and value.node.name in AFFINE_VIEWS
        ):
            value = value.node.inputs[0]
        return value

    def store_operands(self, node: Node) -> None:
        if is_barrier(node):
            for value in (*node.inputs, *node.outputs):
                if not value.weak:
                    self.store(value)
        elif node.name in REGION_WRITERS or node.name in SCANS:
            self.store(node.outputs[0])
            for value in node.inputs[1:] if node.name in SCATTERS else ():
                self.store(value)
        elif node.name in ("slice", "flip", "window") or (
            node.name == "reshape" and not trivial_reshape(node)
        ):
            self.store(node.inputs[0])

    # -- building

    def steps(self) -> list[Step]:
        """All steps in an order that respects their dependencies."""
        while True:
            try:
                steps = self.build()
                repeated = self.repeated_reductions(steps)
                if not repeated:
                    return self.sort(self.merge_siblings(steps))
                self.stored |= repeated
            except NeedsStore as need:
                if need.value in self.stored:
                    raise AssertionError(f"fusion does not converge at {need.value.node}") from need
                self.stored.add(need.value)

    def build(self) -> list[Step]:
        steps: list[Step] = []
        done: set[Value] = set()
        pending = sorted(
            (value for value in self.stored if value.node is not None),
            key=lambda value: -self.order[value.node],  # type: ignore[index]
        )
        for value in pending:
            if value in done:
                continue
            node = value.node
            assert node is not None
            if is_barrier(node):
                reads = [self.base(v) for v in node.inputs if not v.weak]
                steps.append(Step(list(node.outputs), reads, node=node))
                done.update(node.outputs)
            elif node.name in REGION_WRITERS:
                steps.extend(reversed(self.region_steps(node)))
                done.add(value)
            else:
                step = self.nest([Root(value, value)], done)
                steps.append(step)
                done.update(step.writes)
        steps.reverse()
        return steps

    def region_steps(self, node: Node) -> list[Step]:
        """Steps that write the parts of a cat, or a base and then a slice or places over it."""
        target = node.outputs[0]
        if node.name in SCATTERS:
            base = self.nest([Root(node.inputs[0], target)], set(), absorb=False)
            reads = [self.base(value) for value in node.inputs[1:] if not value.weak]
            return [base, Step([target], reads, node=node)]
        roots = []
        if node.name == "cat":
            dim, start = node.attributes["dim"], 0
            for piece in node.inputs:
                length = piece.shape[dim]
                roots.append(Root(piece, target, (("slice", dim, start, 1, length),)))
                start = start + length
        else:
            whole, part = node.inputs
            dim, start, step = (node.attributes[k] for k in ("dim", "start", "step"))
            roots = [
                Root(whole, target),
                Root(part, target, (("slice", dim, start, step, part.shape[dim]),)),
            ]
        return [self.nest([root], set(), absorb=False) for root in roots]

    def nest(self, roots: list[Root], done: set[Value], absorb: bool = True) -> Step:
        """Build one nest for these roots; absorb other stored values where that makes no cycle."""
        refused: set[Value] = set()
        while True:
            builder = NestBuilder(self, roots, done | refused, absorb)
            try:
                step = builder.build()
            except NeedsStore as need:
                if need.value not in self.stored or need.value in refused:
                    raise
                refused.add(need.value)  # it is stored already: load it instead
                continue
            cyclic = {
                value
                for value in builder.absorbed
                for read in step.reads
                if read.node is not None and self.ancestors[read.node] >> self.order[value.node] & 1  # type: ignore[index]
            }
            if not cyclic:
                return step
            refused |= cyclic

    def repeated_reductions(self, steps: list[Step]) -> set[Value]:
        """Reductions that more than one nest would compute."""
        seen: set[Value] = set()
        repeated: set[Value] = set()
        for step in steps:
            for value in step.reductions:
                (repeated if value in seen else seen).add(value)
        return repeated - self.stored

    def merge_siblings(self, steps: list[Step]) -> list[Step]:
        """Join nests over one domain that share an operand and do not depend on each other."""
        merged: list[Step] = []
        for step in steps:
            for position, other in enumerate(merged):
                if self.mergeable(other, step, steps):
                    roots = other.roots + step.roots
                    done = (
                        {v for s in (*steps, *merged) for v in s.writes}
                        - set(other.writes)
                        - set(step.writes)
                    )
                    try:
                        joint = self.nest(roots, done)
                    except DomainMismatch:
                        continue
                    if set(joint.writes) == set(other.writes) | set(step.writes):
                        merged[position] = joint
                        break
            else:
                merged.append(step)
        return merged

    def mergeable(self, a: Step, b: Step, steps: list[Step]) -> bool:
        if a.nest is None or b.nest is None or len(a.operands) + len(b.operands) > 24:
            return False
        if (a.nest.parallel, a.nest.reduced) != (b.nest.parallel, b.nest.reduced):
            return False
        if not same_shape(a.domain, b.domain) or not set(a.reads) & set(b.reads):
            return False
        if any(root.chain or root.value is not root.target for root in a.roots + b.roots):
            return False
        return a.axes == b.axes and not (self.depends(a, b) or self.depends(b, a))

    def depends(self, a: Step, b: Step) -> bool:
        """Whether step b needs (through anything) a value that step a writes."""
        written = sum(1 << self.order[v.node] for v in set(a.writes) if v.node in self.order)
        return any(
            self.ancestors[read.node] & written for read in b.reads if read.node in self.ancestors
        )

    def sort(self, steps: list[Step]) -> list[Step]:
        """Stable topological order: writers of a value before its readers."""
        writers: dict[Value, list[Step]] = {}
        for step in steps:
            for value in step.writes:
                writers.setdefault(value, []).append(step)
        result: list[Step] = []
        entered: set[int] = set()

        def visit(step: Step) -> None:
            if id(step) in entered:
                return
            entered.add(id(step))
            for value in step.reads:
                for writer in writers.get(value, ()):
                    visit(writer)
            result.append(step)

        for step in steps:
            visit(step)
        return result
