"""``RUSHLIGHT_CHECK=1``: every plan is verified and compared with the reference device.

After each stage of planning its rules are verified (``graph/check.py``, ``codegen/verify.py``), and
its values are compared with those of the stage before, on the arguments of the call being planned:

- *traced graph*: evaluated node by node on the reference device;
- *legalized graph*: the same, where values stand for those of the traced graph;
- *fused kernels*: the plan runs on copies of the arguments; all that it stores is compared.

The first value that differs is named. If a kernel computed it, its nodes are compiled one by
one, and then fused one after the other, to find the node.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from . import _core
from .codegen.legalize import Legalizer
from .codegen.lower import Lowering, Request
from .codegen.show import step_text
from .codegen.steps import Step
from .codegen.verify import check_legalized, check_step
from .devices import host
from .devices.reference import Array, Evaluation
from .graph import check as graph_check
from .graph.node import Graph, Node, Value
from .graph.print import value_names
from .graph.symbols import ShapeEnvironment
from .tolerance import Comparison

if TYPE_CHECKING:
    from .plan import CallTracer


class CheckError(AssertionError):
    """A stage of planning changed the result. The message names the stage and the node."""


_enabled = os.environ.get("RUSHLIGHT_CHECK", "0") not in ("", "0")
_busy = threading.local()


def set_enabled(enabled: bool) -> bool:
    """Check the plans made from now on, or not; returns what was set before."""
    global _enabled
    previous, _enabled = _enabled, enabled
    return previous


def begin(name: str, graph: Graph, call: CallTracer) -> Trial | None:
    """The checks of one plan, or None if it is not to be checked."""
    if not _enabled or getattr(_busy, "value", False):
        return None
    if call.device == "meta" or any(tensor.is_meta for tensor in call.tensors):
        return None
    return Trial(name, graph, call)


@contextmanager
def _quietly(generators: Sequence[Any]) -> Iterator[None]:
    """Nothing is checked or recorded inside, and the generators are put back afterwards."""
    states = [_core.Generator.get_state(each) for each in generators]
    grad, _busy.value = _core.is_grad_enabled(), True
    _core.set_grad_enabled(False)
    try:
        yield
    finally:
        _core.set_grad_enabled(grad)
        _busy.value = False
        for generator, state in zip(generators, states):
            _core.Generator.set_state(generator, state)


class Trial:
    """The checks of one plan: a method for each stage, to be called in order."""

    def __init__(self, name: str, graph: Graph, call: CallTracer) -> None:
        self.name = name
        self.graph = graph
        self.call = call
        self.traced_values: dict[Value, Array] = {}
        self.values: dict[Value, Array] = {}
        self.evaluation = Evaluation()
        self.comparison = Comparison()
        drawn = [node.attributes.get("generator") for node in self.graph.nodes]
        self.generators = [_core.default_generator()]
        self.generators += [each for each in dict.fromkeys(drawn) if each is not None]

    # ---- stages

    def traced(self) -> None:
        """The traced graph keeps the rules of graphs, and its values have the derived shapes."""
        self.verify("traced graph", graph_check.check, self.graph)
        self.traced_values = self.evaluate("traced graph", self.graph).values

    def legalized(self, graph: Graph, replaced: dict[Value, Value]) -> None:
        """Each node has a lowering, and what stands for a traced value is equal to it."""
        stage = "legalized graph"
        self.verify(stage, check_legalized, graph)
        self.evaluation = self.evaluate(stage, graph)
        self.values = self.evaluation.values
        self.comparison.follow(graph, self.values)
        for node in self.graph.nodes:
            for value in node.outputs:
                current = replaced.get(value, value)
                if current in self.values:
                    found, expected = self.values[current], self.traced_values[value]
                    difference = self.comparison.difference(current, found, expected)
                    if difference:
                        raise self.diverging(stage, self.graph, value, difference)

    def lowered(self, lowering: Lowering, fields: dict[str, Any]) -> None:
        """The nests keep their rules, and the plan stores what the reference device gives."""
        stage = "fused kernels"
        for step in lowering.steps:
            self.verify(stage, check_step, step)
        buffers = {
            value: number for value, number in lowering.buffer.items() if value.node is not None
        }
        with _quietly(self.generators):
            outputs, stored = self.run_plan(lowering, fields, buffers)
            for step in lowering.steps:
                for value in step.writes:
                    shown = lowering.reshaped.get(value, value)
                    found = host.to_array(stored[buffers[shown]])
                    difference = self.comparison.difference(shown, found, self.values[shown])
                    if difference:
                        raise self.wrong_step(stage, lowering, step, value, difference)
            for output, given in zip(lowering.graph.outputs, outputs):
                if output is not None:
                    found = host.to_array(given)
                    difference = self.comparison.difference(output, found, self.values[output])
                    if difference:
                        raise self.diverging("plan's output", lowering.graph, output, difference)

    # ---- the two ways to run

    def evaluate(self, stage: str, graph: Graph) -> Evaluation:
        """All values of a graph on the reference device."""
        evaluation = Evaluation(self.generators[0])
        numbers = iter(self.call.numbers)
        tensors = iter(self.call.tensors)
        with _quietly(self.generators):
            inputs = [
                next(numbers) if value.weak else host.to_array(next(tensors).detach())
                for value in graph.inputs
            ]
            try:
                evaluation.run(graph, inputs, dict(enumerate(self.call.ints)))
            except NotImplementedError:  # what no device can do
                raise
            except Exception as error:
                node = next((n for n in graph.nodes if n.outputs[0] not in evaluation.values), None)
                where = "" if node is None else f" at {node_text(graph, node)}"
                raise CheckError(f"{self.name}: the {stage} cannot run{where}: {error}") from error
        return evaluation

    def run_plan(
        self, lowering: Lowering, fields: dict[str, Any], buffers: dict[Value, int]
    ) -> tuple[list[Any], dict[int, Any]]:
        """Run the plan on copies of the arguments: its outputs, and the content of its buffers."""
        outputs = list(fields["outputs"])
        places: dict[int, int] = {}
        for buffer in buffers.values():
            if buffer >= len(self.call.tensors):
                entry = ("buffer", buffer)
                if entry not in outputs:
                    outputs.append(entry)
                places[buffer] = outputs.index(entry)
        spec = {**fields, "outputs": outputs, "result": "list", "tape": None}
        tensors = copies(self.call.tensors)
        results = run_once(lowering.finish(spec), tensors, self.call.numbers, self.call.ints)
        stored = {buffer: results[place] for buffer, place in places.items()}
        return results, stored | dict(enumerate(tensors))

    # ---- naming what is wrong

    def verify(self, stage: str, rule: Callable[[Any], None], subject: Any) -> None:
        try:
            rule(subject)
        except AssertionError as error:
            raise CheckError(f"{self.name}: the {stage} breaks a rule: {error}") from error

    def diverging(self, stage: str, graph: Graph, value: Value, difference: str) -> CheckError:
        where = "an input" if value.node is None else node_text(graph, value.node)
        return CheckError(f"{self.name}: the {stage} diverges at {where}: {difference}")

    def wrong_step(
        self, stage: str, lowering: Lowering, step: Step, value: Value, difference: str
    ) -> CheckError:
        """Name the node to blame: wrong when compiled alone, or the first wrong one when fused."""
        graph = lowering.graph
        nodes = [step.node] if step.node is not None else self.nodes_of(graph, step)
        text = step_text(step, value_names(graph))
        for node in nodes:
            alone = self.compiled_differs(lowering, [node], node)
            if alone:
                where = f"{node_text(graph, node)}, compiled alone: {alone}"
                return CheckError(f"{self.name}: the {stage} diverge at {where}\n\n{text}")
        for position, node in enumerate(nodes):
            fused = self.compiled_differs(lowering, nodes[: position + 1], node)
            if fused:
                where = f"{node_text(graph, node)}, fused with what it needs: {fused}"
                return CheckError(f"{self.name}: the {stage} diverge at {where}\n\n{text}")
        assert value.node is not None
        where = f"{node_text(graph, value.node)}: {difference}"
        return CheckError(f"{self.name}: the {stage} diverge at {where}\n\n{text}")

    @staticmethod
    def nodes_of(graph: Graph, step: Step) -> list[Node]:
        """The nodes that a step computes, in the graph's order."""
        found: set[Node] = set()
        pending = [root.value for root in step.roots] + list(step.writes)
        while pending:
            value = pending.pop()
            if value.node is not None and value not in step.reads and value.node not in found:
                found.add(value.node)
                pending += value.node.inputs
        return [node for node in graph.nodes if node in found]

    def compiled_differs(self, lowering: Lowering, nodes: list[Node], last: Node) -> str:
        """How the last node's result differs if just these are compiled; "" if it does not."""
        try:
            (found,) = self.compile_and_run(lowering, nodes, last)
        except Exception as error:  # the parts may fail where the whole does not: tells nothing
            return f"it cannot be compiled ({error})" if len(nodes) == 1 else ""
        value = last.outputs[0]
        return self.comparison.difference(value, host.to_array(found), self.values[value])

    def compile_and_run(self, lowering: Lowering, nodes: list[Node], last: Node) -> Any:
        """Run a plan for just these nodes, on inputs that the reference device gave."""
        graph = Graph(ShapeEnvironment())
        known: dict[Value, Value] = {}
        tensors: list[Array] = []
        numbers: list[Array] = []
        for node in nodes:
            for value in node.inputs:
                if value not in known:
                    array = self.values[value]
                    known[value] = Value(
                        value.dtype, array.shape, weak=value.weak, index=len(known)
                    )
                    graph.inputs.append(known[value])
                    (numbers if value.weak else tensors).append(array)
            copy = Node(
                node.primitive,
                tuple(known[value] for value in node.inputs),
                self.evaluation.concrete(node.attributes),
                source=node.source,
            )
            copy.outputs = tuple(
                Value(value.dtype, self.values[value].shape, copy, value.index, value.weak)
                for value in node.outputs
            )
            known.update(zip(node.outputs, copy.outputs))
            graph.nodes.append(copy)
        graph.outputs = [known[last.outputs[0]]]
        legalizer = Legalizer(graph, set(graph.inputs), False)
        part = Lowering(Request(legalizer.run()), lowering.kernel, lowering.host_function)
        spec = {**part.spec(), "result": "list", "scalar_guards": [], "tape": None}
        arguments = [host.to_tensor(array) for array in tensors]
        return run_once(part.finish(spec), arguments, [array.data.item() for array in numbers], [])


def node_text(graph: Graph, node: Node) -> str:
    """``v3 = exp(v2) (file:line)``"""
    names = value_names(graph)
    targets = ", ".join(names[value] for value in node.outputs)
    inputs = ", ".join(names[value] for value in node.inputs)
    source = f" ({node.source[0]}:{node.source[1]})" if node.source else ""
    return f"{targets} = {node.name}({inputs}){source}"


def run_once(
    spec: dict[str, Any], tensors: Sequence[Any], numbers: Sequence[Any], ints: Sequence[int]
) -> list[Any]:
    """Run a plan without keeping it. The result must be a list."""
    plan = _core.Plan(**spec)
    parameters = [(f"x{i}", "T!" if i in spec["mutated"] else "T") for i in range(len(tensors))]
    parameters += [(f"number{i}", "T") for i in range(len(numbers))]
    parameters += [(f"size{i}", "Z") for i in range(len(ints))]
    operator = _core.Operator("check", tuple(parameters), lambda *call: plan, None)
    return operator(*tensors, *numbers, *ints)


def copies(tensors: Sequence[Any]) -> list[Any]:
    """Tensors of the same layouts in memory of their own; those that are one memory stay one."""
    known: dict[Any, Any] = {}
    result = []
    for tensor in tensors:
        shape, strides = tuple(tensor.shape), tensor.stride()
        key = (tensor.data_ptr(), shape, strides, tensor.dtype)
        if key not in known or not tensor.numel():
            extent = sum((n - 1) * stride for n, stride in zip(shape, strides)) + 1
            flat = tensor.detach().as_strided(
                (extent if tensor.numel() else 0,), (1,), tensor.storage_offset()
            )
            known[key] = flat.clone().as_strided(shape, strides, 0)
        result.append(known[key])
    return result
