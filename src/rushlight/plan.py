"""Planning: what the core asks for when a call has a new structure.

A call is traced over symbolic sizes, differentiated if an input needs a gradient, legalized, fused,
and handed to the core as a `Plan`. The backward pass of a plan is an operator of its own, planned
in the same way when it is first called.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import _core, check
from .codegen import compile as code
from .codegen.legalize import Legalizer
from .codegen.lower import Aliases, Lowering, Request
from .codegen.nest import Nest, Variant
from .codegen.show import fusion_text, plan_text
from .device import device as Device
from .devices import host
from .dtypes import dtype as DType
from .graph.node import Graph, Value
from .graph.print import text as graph_text
from .graph.print import value_names
from .graph.symbols import Atom, DataDependentError, SymbolicInt, same_shape
from .graph.trace import GraphContext, Traced, captures, contains_traced, lifted
from .ops.arguments import check_arguments, check_range, with_ints
from .ops.build import convert
from .ops.indexing import IndexOutOfRange
from .ops.record import Primitive, Record
from .promotion import can_cast, scalar_type_name
from .stages import collecting, show
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
    if isinstance(result, tuple):
        return list(result), "tuple" if type(result) is tuple else lambda *outputs: type(result)(
            *outputs
        )
    return [result], "single"


# ---------------------------------------------------------------- plans


@dataclass
class Job:
    """A traced graph and what its plan must observe.

    name: the operator's, for messages and the tape; wrt: the inputs that need gradients; may_alias:
    whether outputs may share memory with inputs; aliases: which arguments share memory with mutated
    ones; call: its arguments; itself: whether an output that is an
    input is that very tensor.
    """

    graph: Graph
    name: str
    call: CallTracer
    result: Any
    wrt: list[Value]
    may_alias: bool = False
    aliases: Aliases = ()
    itself: bool = True


def build(job: Job) -> Any:
    """The core's plan for a traced graph."""
    saved = reverse.saved_values(job.graph, job.wrt) if job.wrt else None
    if saved is not None and job.may_alias and job.itself:
        # an input that is returned keeps its own history
        saved.outputs = [value for value in saved.outputs if value not in job.graph.inputs]
    if saved is not None and not saved.outputs:
        saved = None
    show("graph", f"{job.name}, as traced", lambda: graph_text(job.graph))
    trial = check.begin(job.name, job.graph, job.call)
    if trial:
        trial.traced()
    hidden = [value for kind, value in saved.entries if kind == "hidden"] if saved else []
    legalizer = Legalizer(job.graph, job.call.contiguous(), job.may_alias, hidden)
    graph = legalizer.run()
    if [node.name for node in graph.nodes] == [node.name for node in job.graph.nodes]:
        show("graph", f"{job.name}, legalized: as traced")
    else:
        show("graph", f"{job.name}, legalized", lambda: graph_text(graph))
    if trial:
        trial.legalized(graph, legalizer.replaced)
    request = Request(graph, legalizer.kept, job.aliases, job.itself)
    lowering = Lowering(request, kernel, host.function)
    fields = lowering.spec()
    show("fusion", job.name, lambda: fusion_text(lowering.steps, value_names(graph)))
    if trial:
        trial.lowered(lowering, fields)
    fields["result"] = job.result
    fields["scalar_guards"] = scalar_guards(graph, lowering.words)
    fields["tape"] = None
    fields["errors"] = {1: (IndexOutOfRange, f"{job.name}(): an index is out of bounds")}
    if saved is not None:
        fields["tape"] = tape(job, saved, lowering, dict(zip(hidden, legalizer.kept)))
    fields = lowering.finish(fields)
    show("plans", job.name, lambda: plan_text(fields))
    return _core.Plan(**fields)


def scalar_guards(graph: Graph, words: dict[Value, int]) -> list[tuple[str, int, Any]]:
    return [(operation, words[value], number) for operation, value, number in graph.scalar_guards]


def tape(job: Job, saved: Any, lowering: Lowering, kept: dict[Value, Value]) -> tuple[Any, ...]:
    """The plan's ``tape`` field: the backward operator and what it needs."""
    tensors = [value for value in job.graph.inputs if not value.weak]
    entries: list[tuple[str, Any]] = []
    for kind, value in saved.entries:
        if kind == "input":
            entries.append((kind, tensors.index(value)))
        elif kind == "output":
            entries.append((kind, job.graph.outputs.index(value)))
        elif kind == "hidden":
            entries.append((kind, lowering.buffer[kept[value]]))
        else:
            entries.append((kind, lowering.words[value]))
    rule = BackwardRule(
        job.graph, job.name, [value for _, value in saved.entries], saved.outputs, job.wrt
    )
    entries += [("int", lowering.slots.slot(symbol)) for symbol in rule.symbols]
    grad_inputs = [tensors.index(value) for value in job.wrt]
    grad_outputs = [job.graph.outputs.index(value) for value in saved.outputs]
    return rule.operator(), entries, grad_inputs, grad_outputs, tape_name(job.name)


def tape_name(name: str) -> str:
    """``layer_norm`` gives ``LayerNormBackward0``."""
    return "".join(part.capitalize() for part in name.strip("_").split("_")) + "Backward0"


# ---------------------------------------------------------------- operators


def plan_record(
    record: Record, inplace: bool, args: tuple, kwargs: dict[str, Any], aliases: Aliases
) -> Any:
    """Plan a call of a record's operator."""
    check_arguments(record, args, kwargs)
    record.check_tensors(args, kwargs)
    if record.moves and requested_device(args[0], args[1:], kwargs) != args[0].device.type:
        return _core.Direct(mover(record))
    tracer = CallTracer()
    mapped, named = record.map_arguments(args, kwargs, tracer.tensor, tracer.number, tracer.size)
    out = named.pop("out", None)
    if out is not None:
        check_out(record, out, named, aliases)
    elif "inplace" in record.signature.parameters and not inplace:
        inplace = record.bind(*mapped, **named).arguments["inplace"] is True
    check_devices(f"{record.name}_" if inplace else record.name, tracer.tensors)
    wrt = tracer.requiring_gradients()
    if out is not None and wrt:
        raise RuntimeError(
            f"{record.name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad; call it without out= or "
            "under no_grad()"
        )
    try:
        with tracer.context.active():
            result = record.trace(*mapped, **named)
    except DataDependentError:
        return _core.Direct(eager(record, inplace, out is not None))
    if any(symbol.hint is None for symbol in tracer.context.environment.symbols):
        # a size that only a step's results tell
        return _core.Direct(eager(record, inplace, out is not None))
    outputs, shape = flatten_result(result)
    name = record.name
    if inplace:
        name = f"{name}_"
        written = [mapped[0]]
    elif out is not None:
        written = list(out) if isinstance(out, list | tuple) else [out]
        if len(written) != len(outputs):
            raise TypeError(
                f"{name}(): argument 'out' must be {len(outputs)} Tensors, not {len(written)}"
            )
        if any(not same_shape(new.shape, old.shape) for new, old in zip(outputs, written)):
            return _core.Direct(into_out(record, record))
    else:
        written = mutated_arguments(record, mapped, named)
    if written:
        outputs = [
            new_content(record, name, old, new) for old, new in zip(written, outputs, strict=True)
        ]
        shape = shape if inplace or out is not None or len(written) == 1 else "none"
    graph = tracer.context.finish(outputs)
    graph.mutations = {target.value.index: position for position, target in enumerate(written)}
    may_alias = record.views is not None
    return build(Job(graph, name, tracer, shape, wrt, may_alias, aliases, record.itself))


def check_devices(name: str, tensors: list[Any]) -> None:
    """All tensors are on one device, but for those that stand for a number."""
    if len({tensor.device for tensor in tensors}) < 2:
        return
    if name == "copy_" and tensors[0].device.type == "meta":
        return
    if name == "copy_":
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    device = next(tensor.device for tensor in tensors if tensor.ndim or tensor.is_meta)
    for tensor in tensors:
        if tensor.device != device and (tensor.ndim or tensor.is_meta):
            raise RuntimeError(
                f"{name}: Tensor on device {tensor.device} is not on the expected device {device}; "
                "move them to one device with to()"
            )


def requested_device(self: Any, args: tuple, kwargs: dict[str, Any]) -> str:
    """The type of the device that the arguments of ``to`` ask for."""
    for argument in (*args, kwargs.get("device")):
        if isinstance(argument, str | Device):
            return Device(argument).type
    return self.device.type


def mover(record: Record) -> Callable[..., Any]:
    """How to run ``to`` when the result is on another device."""

    def run(self: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        target = requested_device(self, args, {"device": device})
        others = [each for each in args if not isinstance(each, str | Device)]
        return moved(record(self, *others, **kwargs), Device(target))

    return run


def moved(tensor: Any, device: Device) -> Any:
    """The tensor on a device: on ``meta`` only its layout is left."""
    if device.type == tensor.device.type:
        return tensor
    if device.type == "meta":
        return _core.empty_strided(tuple(tensor.shape), tensor.stride(), tensor.dtype.code, 1)
    raise NotImplementedError("Cannot copy out of meta tensor; no data!")


def check_out(record: Record, out: Any, named: dict[str, Any], aliases: Aliases) -> None:
    """Refuse an ``out=`` that overlaps an argument where PyTorch does; it decides the dtype."""
    if record.out in ("apart", "exact") and aliases:
        raise RuntimeError(
            f"{record.name}(): unsupported operation: some elements of the input tensor and the "
            "written-to tensor refer to a single memory location. Please clone() the tensor "
            "before performing the operation."
        )
    if isinstance(out, Traced) and "dtype" in record.signature.parameters:
        named.setdefault("dtype", out.dtype)


def mutated_arguments(record: Record, args: list[Any], kwargs: dict[str, Any]) -> list[Traced]:
    """The tensors that the record's operator writes, lists flattened."""
    if not record.mutates:
        return []
    arguments = record.bind(*args, **kwargs).arguments
    found: list[Traced] = []
    for name in record.mutates:
        argument = arguments[name]
        found.extend(argument if isinstance(argument, list | tuple) else [argument])
    return [tensor for tensor in found if tensor is not None]


def into_out(record: Record, function: Callable[..., Any]) -> Callable[..., Any]:
    """How to run a call whose results have other shapes than ``out=``: as PyTorch, resize these."""

    def run(*args: Any, out: Any, **kwargs: Any) -> Any:
        results = function(*args, **kwargs)
        pairs = list(zip(out, results) if isinstance(out, list | tuple) else [(out, results)])
        for target, result in pairs:
            check_cast(record, record.name, result.dtype, target.dtype)
        for target, result in pairs:
            target.resize_(result.shape).copy_(result)
        return out

    return run


def eager(record: Record, inplace: bool, out: bool) -> Callable[..., Any]:
    """How to run a record whose result sizes depend on data: its body, operator by operator."""
    function = host.call(record) if isinstance(record, Primitive) else record.function
    if out:
        return into_out(record, function)
    return (
        (lambda self, *args, **kwargs: self.copy_(function(self, *args, **kwargs)))
        if inplace
        else function
    )


def new_content(record: Record, name: str, target: Traced, result: Traced) -> Traced:
    """What is written into ``target``: the result in the target's dtype, if shape and dtype allow
    it.
    """
    if not same_shape(result.shape, target.shape):
        raise RuntimeError(
            f"{name}: output with shape {list(target.shape)} doesn't match the broadcast shape "
            f"{list(result.shape)}"
        )
    if result.dtype is target.dtype:
        return result
    check_cast(record, name, result.dtype, target.dtype)
    return convert(result, target.dtype)


def check_cast(record: Record, name: str, dtype: DType, target: DType) -> None:
    """RuntimeError if results of one dtype may not be written into a tensor of another."""
    if record.out == "exact" and dtype is not target:
        raise RuntimeError(
            f"{name}(): Expected out tensor to have dtype {dtype}, but got {target} instead"
        )
    if not can_cast(dtype, target):
        raise RuntimeError(
            f"{name}: result type {scalar_type_name(dtype)} can't be cast to the desired output "
            f"type {scalar_type_name(target)}; use a form that returns a new tensor"
        )


_operators: weakref.WeakSet[Any] = weakref.WeakSet()


def known_operators() -> list[Any]:
    """The operators alive: of records, and of the backward passes that were planned."""
    return list(_operators)


def make_operator(record: Record, inplace: bool = False, native: str | None = None) -> Any:
    """The native operator of a record, or of its in-place form."""
    parameters = tuple(
        (
            p.name,
            p.mode
            + ("!" if inplace and i == 0 and p.mode == "T" else "")
            + ("*" if p.variadic else ""),
        )
        for i, p in enumerate(record.parameters)
    )
    if record.out and not inplace:
        parameters += (("out", "T!"),)

    def planner(operator: Any, args: tuple, kwargs: dict[str, Any], aliases: Aliases) -> Any:
        if captures() is not None:
            return _core.Direct(
                lambda *args, **kwargs: call_captured(record, inplace, args, kwargs)
            )
        target = plan_record(record, inplace, args, kwargs, aliases)
        if isinstance(target, _core.Direct):
            show("plans", f"{record.name}: no plan, runs operator by operator")
        return target

    def fallback(operator: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        return call_foreign(record, inplace, operator, args, kwargs)

    name = f"{record.name}_" if inplace else record.name
    operator = _core.Operator(name, parameters, planner, fallback, native=native)
    operator.__doc__ = record.__doc__
    _operators.add(operator)
    return operator


def call_foreign(
    record: Record, inplace: bool, operator: Any, args: tuple, kwargs: dict[str, Any]
) -> Any:
    """A call with arguments that have no key: tracers, subclasses, wrong types."""
    from .tensor import plain_arguments

    plain = plain_arguments(operator, args, kwargs)
    if plain is not None:
        return plain
    if captures() is not None:
        return call_captured(record, inplace, args, kwargs)
    traced = contains_traced((args, tuple(kwargs.values())))
    if not traced:
        check_range(record.name, [*args, *kwargs.values()])
        if record.overload is not None:
            return record.overload(*args, **kwargs)
    check_arguments(record, args, kwargs)
    if not traced:
        record.check_tensors(args, kwargs)
        changed = with_ints(record, args, kwargs)
        if changed is not None:
            return operator(*changed[0], **changed[1])
        kinds = ", ".join(type(each).__name__ for each in (*args, *kwargs.values()))
        raise TypeError(
            f"{record.name}() received an invalid combination of arguments - got ({kinds}), but "
            f"expected {record.signature}"
        )
    result = record.trace(*args, **kwargs)
    if inplace:
        raise TypeError(
            f"{record.name}_: a traced tensor cannot be changed in place; use {record.name}"
        )
    return result


def call_captured(record: Record, inplace: bool, args: tuple, kwargs: dict[str, Any]) -> Any:
    """A call in a function that a transform traces: tensors among the arguments become inputs."""
    name = f"{record.name}_" if inplace or record.mutates else record.name
    if inplace or record.mutates or kwargs.get("out") is not None or kwargs.get("inplace") is True:
        raise RuntimeError(
            f"{name}: a function that is transformed (vmap, grad, jvp, ...) cannot change a tensor "
            f"in place or write to out=; use the result of {record.name} instead"
        )
    given: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
    if record.overload is not None and any(
        contains_traced(each) or isinstance(each, _core.Tensor)
        for place, each in given
        if record.mode(place) == "S"
    ):
        return record.overload(*lifted(args), **lifted(kwargs))
    args, kwargs = lifted(args), lifted(kwargs)
    check_arguments(record, args, kwargs)
    record.check_tensors(args, kwargs)
    return record.trace(*args, **kwargs)


# ---------------------------------------------------------------- backward


class BackwardRule:
    """The backward pass of one graph as an operator: ``operator(*saved, *sizes, *gradients) ->
    gradients of wrt``.

    saved: the forward values that are passed in; outputs: the values whose gradients are passed in,
    after them come the hidden saved values; symbols: the sizes of the forward graph that no saved
    tensor tells.
    """

    def __init__(
        self, graph: Graph, name: str, saved: list[Value], outputs: list[Value], wrt: list[Value]
    ):
        self.graph = graph
        self.name = name
        self.saved = saved
        known = {*graph.inputs, *(v for v in graph.outputs if v is not None)}
        self.seeds = [*outputs, *(value for value in saved if value not in known)]
        self.wrt = wrt
        told = {
            size.key for value in saved for size in value.shape if isinstance(size, SymbolicInt)
        }
        environment = graph.environment
        symbols = [
            SymbolicInt(environment, {((atom, 1),): 1})
            for atom in environment.symbols
            if atom.hint is not None
        ]
        self.symbols = [symbol for symbol in symbols if symbol.key not in told]

    def operator(self) -> Any:
        count = len(self.saved)
        parameters = [(f"saved{i}", "T") for i in range(count)]
        parameters += [(f"size{i}", "Z") for i in range(len(self.symbols))]
        parameters += [(f"gradient{i}", "T") for i in range(len(self.seeds))]

        def planner(operator: Any, args: tuple, kwargs: dict[str, Any], aliases: Aliases) -> Any:
            return self.plan(args)

        def fallback(operator: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
            raise TypeError(f"{self.name}: its gradients must be tensors")

        operator = _core.Operator(f"{self.name}_backward", tuple(parameters), planner, fallback)
        _operators.add(operator)
        return operator

    def plan(self, args: tuple) -> Any:
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
        seeds = {
            value: tracer.tensor(argument)
            for value, argument in zip(self.seeds, arguments)
            if argument is not None
        }
        with tracer.context.active():
            results = reverse.backward(
                self.graph, tracer.context, bindings, sizes.__getitem__, seeds, self.wrt
            )
        graph = tracer.context.finish(results)
        return build(
            Job(
                graph,
                f"{self.name}_backward",
                tracer,
                "tuple",
                tracer.requiring_gradients(),
                may_alias=True,
            )
        )


def bind_symbol(sizes: dict[Atom, Any], old: Any, new: Any) -> None:
    """Note what a symbol of the forward graph is here, if ``old`` is just a symbol."""
    atom = old.atom() if isinstance(old, SymbolicInt) else None
    if atom is not None:
        sizes[atom] = new
