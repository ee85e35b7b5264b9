"""Planning: what the core asks for when a call has a new structure.

A call is traced over symbolic sizes, differentiated if an input needs a gradient, legalized, fused,
and handed to the core as a `Plan`. The backward pass of a plan is an operator of its own, planned
in the same way when it is first called.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _core
from .codegen import compile as code
from .codegen.legalize import Legalizer
from .codegen.lower import Aliases, Lowering, Request
from .codegen.nest import Nest, Variant
from .devices import host
from .graph.node import Graph, Value
from .graph.polynomials import Atom
from .graph.symbols import SymbolicInt
from .graph.trace import GraphContext, Traced
from .inspection import Inspection
from .node_names import node_name
from .ops.build import zeros_like
from .ops.indexing import IndexOutOfRange
from .stages import collecting
from .transform import reverse

# ---------------------------------------------------------------- kernels

_kernels: dict[str, Any] = {}  # by text: equal numbers such as 0.0 and -0.0 are different constants


def kernel(nest: Nest) -> Any:
    """The core's kernel for a nest; equal nests share one."""
    key = repr(nest)
    known = None if collecting() else _kernels.get(key)
    if known is None:

        def compile_variant(
            vector: str, classes: str, loops: int, split: str
        ) -> tuple[bytes, int, int]:
            variant = Variant(vector, classes, loops, split)
            result = code.compile(nest, variant)
            return result.blob, result.entry, code.scratch_bytes(nest, variant)

        known = _kernels[key] = _core.Kernel(
            nest,
            compile_variant,
            tuple(
                (operand.role, operand.level, operand.dtype.itemsize) for operand in nest.operands
            ),
            nest.parallel,
            nest.reduced,
            scalars=nest.scalars,
            ints=nest.ints,
            ordered=any(instruction.name.startswith("scan_") for instruction in nest.body),
            splittable=code.splittable(nest),
            accumulators=len(nest.stores),
            cost=code.cost(nest),
        )
    return known


# ---------------------------------------------------------------- a call's graph


class CallTracer:
    """Turns the arguments of a call into inputs of a graph, in the order in which the core numbers
    them.
    """

    def __init__(self) -> None:
        self.context = GraphContext()
        self.tensors: list[Any] = []
        self.values: list[Value] = []
        self.numbers: list[Any] = []
        self.device: str | None = None  # of the result, if the call says so
        self.leaf = False  # whether the result is to require a gradient
        self.ints: list[int] = []

    def tensor(self, tensor: Any) -> Traced:
        position = len(self.tensors)
        environment = self.context.environment
        shape = [environment.size(n, ("size", position, dim)) for dim, n in enumerate(tensor.shape)]
        traced = self.context.input(tensor.dtype, shape)
        self.tensors.append(tensor)
        self.values.append(traced.value)
        return traced

    def number(self, number: Any) -> Traced:
        self.numbers.append(number)
        return self.context.number_input(number)

    def size(self, number: int) -> Any:
        position = len(self.ints)
        self.ints.append(number)
        return self.context.environment.size(number, ("int", position))

    def contiguous(self) -> set[Value]:
        return {value for value, tensor in zip(self.values, self.tensors) if tensor.is_contiguous()}

    def requiring_gradients(self) -> list[Value]:
        if not _core.is_grad_enabled():
            return []
        return [value for value, tensor in zip(self.values, self.tensors) if tensor.requires_grad]


def flatten_result(result: Any) -> tuple[list[Any], Any]:
    """The results as a list, and how the core puts them together again."""
    if result is None:
        return [], "none"
    if isinstance(result, list):
        return result, "list"
    if isinstance(result, tuple) and any(isinstance(each, tuple) for each in result):
        return flatten_nested(result)
    if isinstance(result, tuple):
        return list(result), "tuple" if type(result) is tuple else lambda *outputs: type(result)(
            *outputs
        )
    return [result], "single"


def flatten_nested(result: tuple) -> tuple[list[Any], Any]:
    """As ``flatten_result`` for a named tuple of results and tuples of results."""
    flat = [x for each in result for x in (each if isinstance(each, tuple) else (each,))]

    def together(*outputs: Any) -> Any:
        rest = iter(outputs)
        return type(result)(
            *(
                tuple(next(rest) for _ in each) if isinstance(each, tuple) else next(rest)
                for each in result
            )
        )

    return flat, together


# ---------------------------------------------------------------- plans


@dataclass
class Job:
    """A traced graph and what its plan must observe.

    name: the operator's, for messages and the tape; wrt: the inputs that need gradients; may_alias:
    whether outputs may share memory with inputs; aliases: which arguments share memory with mutated
    ones; call: its arguments; itself: whether an output that is an input is that very tensor; node:
    the tape's name for it, if its own name does not tell; names: of the arguments.
    """

    graph: Graph
    name: str
    call: CallTracer
    result: Any
    wrt: list[Value]
    may_alias: bool = False
    aliases: Aliases = ()
    itself: bool = True
    node: str = ""
    names: dict[Value, str] = field(default_factory=dict)


def build(job: Job) -> Any:
    """The core's plan for a traced graph."""
    saved = reverse.saved_values(job.graph, job.wrt) if job.wrt else None
    if saved is not None and job.may_alias and job.itself:
        # an input that is returned keeps its own history
        saved.outputs = [value for value in saved.outputs if value not in job.graph.inputs]
    if saved is not None and not saved.outputs:
        saved = None
    inspection = Inspection(job.name, job.graph, job.call)
    inspection.traced()
    hidden = [v for kind, v in saved.entries if kind in _HIDDEN] if saved else []
    legalizer = Legalizer(job.graph, job.call.contiguous(), job.may_alias, hidden)
    graph = legalizer.run()
    inspection.legalized(graph, legalizer.replaced)
    request = Request(graph, legalizer.kept, job.aliases, job.itself)
    lowering = Lowering(request, kernel, host.function)
    fields = lowering.spec()
    inspection.lowered(lowering, fields)
    fields["result"] = job.result
    fields["scalar_guards"] = scalar_guards(graph, lowering.words)
    fields["tape"] = None
    fields["device"] = 1 if job.call.device == "meta" else -1
    fields["requires_grad"] = job.call.leaf
    fields["errors"] = {1: (IndexOutOfRange, f"{job.name}(): an index is out of bounds")}
    if job.graph.warnings:
        fields["warnings"] = job.graph.warnings
    if saved is not None:
        fields["tape"] = tape(job, saved, lowering, dict(zip(hidden, legalizer.kept)))
    fields = lowering.finish(fields)
    inspection.finished(fields)
    return _core.Plan(**fields)


def scalar_guards(graph: Graph, words: dict[Value, int]) -> list[tuple[str, int, Any]]:
    return [(operation, words[value], number) for operation, value, number in graph.scalar_guards]


def tape(job: Job, saved: Any, lowering: Lowering, kept: dict[Value, Value]) -> tuple[Any, ...]:
    """The plan's ``tape`` field: what makes the backward operator, and what that needs."""
    tensors = [value for value in job.graph.inputs if not value.weak]
    entries: list[tuple[str, Any, str]] = []
    for kind, value in saved.entries:
        name = job.names.get(value, "")
        if kind == "input":
            entries.append((kind, tensors.index(value), name))
        elif kind == "output":
            place = job.graph.outputs.index(value)
            entries.append((kind, place, f"result{place}" if job.graph.outputs[1:] else "result"))
        elif kind == "copy":
            (copied,) = value.node.inputs
            copy = (lowering.buffer[kept[value]], job.wrt.index(copied))
            entries.append((kind, copy, job.names.get(copied, "")))
        elif kind in _HIDDEN:
            entries.append((kind, lowering.buffer[kept[value]], name))
        else:
            entries.append((kind, lowering.words[value], name))
    # A value may be several outputs (empty pieces of a split): each has a gradient.
    graded = [
        (place, value)
        for place, value in enumerate(job.graph.outputs)
        if value is not None and value in saved.outputs
    ]
    grad_outputs = [place for place, _ in graded]
    rule = BackwardRule(
        job.graph,
        job.name,
        saved.entries,
        [value for _, value in graded],
        job.wrt,
    )
    entries += [("int", lowering.slots.slot(symbol), "") for symbol in rule.symbols]
    grad_inputs = [tensors.index(value) for value in job.wrt]
    operands = tensors
    if job.name.strip("_") in _NUMBERS_AS_OPERANDS and len(tensors) == 1:
        operands = [*tensors, *(value for value in job.graph.inputs if value.weak)][:2]
    places = [operands.index(value) for value in job.wrt]
    name = job.node or node_name(job.name)
    return rule.operator, entries, grad_inputs, grad_outputs, name, places, len(operands)


_HIDDEN = ("hidden", "constant", "copy")  # saved values that are neither inputs nor outputs
# As in PyTorch a number in the place of a tensor counts as an operand of the node.
_NUMBERS_AS_OPERANDS = ("add", "sub", "mul", "div")


# ---------------------------------------------------------------- operators

operators: weakref.WeakSet[Any] = weakref.WeakSet()  # alive: of records, and of backward passes


def dual_call(operator: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """What a call with dual tensors among its arguments gives; NotImplemented if there are none."""
    call = _core.registered("dual_call") if _core.dual_levels() else None
    return NotImplemented if call is None else call(operator, args, kwargs)


def make_operator(
    name: str,
    parameters: Sequence[tuple[str, str]],
    planner: Callable[..., Any],
    fallback: Callable[..., Any],
    native: str | None = None,
) -> Any:
    """A native operator; ``parameters`` are names and modes."""
    operator = _core.Operator(name, tuple(parameters), planner, fallback, native=native)
    operators.add(operator)
    return operator


# ---------------------------------------------------------------- backward


class BackwardRule:
    """The backward pass of one graph as operators: ``operator(*saved, *sizes, *gradients) ->
    gradients of wrt``, None for those that are not wanted.

    saved: the forward values that are passed in, each with its kind; outputs: the values whose
    gradients are passed in, after them come the hidden saved values; symbols: the sizes of the
    forward graph that no saved tensor tells.
    """

    def __init__(
        self,
        graph: Graph,
        name: str,
        saved: list[tuple[str, Value]],
        outputs: list[Value],
        wrt: list[Value],
    ):
        self.graph = graph
        self.name = name
        self.saved = [value for _, value in saved]
        self.seeds = [*outputs, *(value for kind, value in saved if kind == "hidden")]
        self.wrt = wrt
        sizes = [size for value in self.saved for size in value.shape]
        told = {size.key for size in sizes if isinstance(size, SymbolicInt)}
        environment = graph.environment
        symbols = [
            SymbolicInt(environment, {((atom, 1),): 1})
            for atom in environment.symbols
            if atom.hint is not None
        ]
        self.symbols = [symbol for symbol in symbols if symbol.key not in told]

    def operator(self, wanted: tuple[int, ...] | None) -> Any:
        """The operator that computes these of the gradients; None: all."""
        chosen = self.wrt if wanted is None else [self.wrt[index] for index in wanted]
        count = len(self.saved)
        parameters = [(f"saved{i}", "T") for i in range(count)]
        parameters += [(f"size{i}", "Z") for i in range(len(self.symbols))]
        parameters += [(f"gradient{i}", "T") for i in range(len(self.seeds))]

        def planner(operator: Any, args: tuple, kwargs: dict[str, Any], aliases: Aliases) -> Any:
            return self.plan(args, chosen)

        def fallback(operator: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
            result = dual_call(operator, args, kwargs)
            if result is NotImplemented:
                raise TypeError(f"{self.name}: its gradients must be tensors")
            return result

        return make_operator(f"{self.name}_backward", parameters, planner, fallback)

    def plan(self, args: tuple, chosen: list[Value]) -> Any:
        tracer = CallTracer()
        tracer.context.environment.static = self.graph.environment.static
        sizes: dict[Atom, Any] = {}
        bindings: dict[Value, Traced] = {}
        arguments = iter(args)
        for value, argument in zip(self.saved, arguments):
            traced = tracer.number(argument) if value.weak else tracer.tensor(argument)
            bindings[value] = traced
            for old, new in zip(value.shape, traced.shape):
                bind_symbol(sizes, old, new)
        for symbol, argument in zip(self.symbols, arguments):
            bind_symbol(sizes, symbol, tracer.size(argument))
        seeds: dict[Value, Traced] = {}
        given = [
            (value, tracer.tensor(argument))
            for value, argument in zip(self.seeds, arguments)
            if argument is not None
        ]
        reverse.use_known_sizes(given, sizes.__getitem__)
        with tracer.context.active():
            for value, gradient in given:
                known = seeds.get(value)
                seeds[value] = gradient if known is None else known + gradient
            found = reverse.backward(
                self.graph, tracer.context, bindings, sizes.__getitem__, seeds, chosen
            )
            gradients = dict(zip(chosen, found, strict=True))
            self._clear_overwritten(gradients, seeds)
        results = [gradients.get(value) for value in self.wrt]
        graph = tracer.context.finish(results)
        used = reverse.ancestors([each.value for each in results if each is not None], set())
        wrt = [value for value in tracer.requiring_gradients() if value in used]
        return build(
            Job(
                graph,
                f"{self.name}_backward",
                tracer,
                "tuple",
                wrt,
                may_alias=True,
            )
        )

    def _clear_overwritten(
        self, gradients: dict[Value, Traced | None], seeds: dict[Value, Traced]
    ) -> None:
        """Zeros for what was written over: its gradient is known, not absent."""
        for position, output in self.graph.mutations.items():
            value, new = self.graph.inputs[position], self.graph.outputs[output]
            if value in gradients and new in seeds and gradients[value] is None:
                gradients[value] = zeros_like(seeds[new])


def bind_symbol(sizes: dict[Atom, Any], old: Any, new: Any) -> None:
    """Note what a symbol of the forward graph is here, if ``old`` is just a symbol."""
    atom = old.atom() if isinstance(old, SymbolicInt) else None
    if atom is not None:
        sizes[atom] = new
