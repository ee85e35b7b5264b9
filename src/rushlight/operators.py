"""The native operators of records: how their calls are planned, and what happens to those that have
no plan.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from operator import is_not
from typing import Any

from . import _core, autocasting, plan
from .codegen.lower import Aliases
from .device import device as Device
from .devices import host
from .dtypes import dtype as DType
from .factories import elsewhere, finished, moved, require_strided, result_device
from .graph.symbols import DataDependentError, same_shape, shown_as_numbers
from .graph.trace import Traced, captures, contains_traced, lifted
from .node_names import node_name_of_call
from .ops import build
from .ops.arguments import check_arguments, check_range, check_tensors, with_numbers
from .ops.build import convert
from .ops.expanded_writes import is_expanded, refuse_expanded
from .ops.record import Composite, Record
from .plan import CallTracer, Job, flatten_result, make_operator
from .promotion import can_cast, scalar_type_name
from .stages import show


def plan_record(
    record: Record, inplace: bool, args: tuple, kwargs: dict[str, Any], aliases: Aliases
) -> Any:
    """Plan a call of a record's operator."""
    with shown_as_numbers():
        job = trace_record(record, inplace, args, kwargs, aliases)
    return plan.build(job) if isinstance(job, Job) else job


def trace_record(
    record: Record, inplace: bool, args: tuple, kwargs: dict[str, Any], aliases: Aliases
) -> Any:
    """What to plan for a call of a record's operator, or how to run it without a plan."""
    check_arguments(record, args, kwargs)
    check_tensors(record, args, kwargs)
    if record.moves and requested_device(args[0], args[1:], kwargs) != args[0].device.type:
        return _core.Direct(mover(record))
    if record.factory and (function := elsewhere(record, args, kwargs)) is not None:
        return _core.Direct(function)
    tracer = CallTracer()
    if record.factory:
        tracer.device = result_device(record, kwargs)
        tracer.leaf = bool(kwargs.get("requires_grad"))
    mapped, named = record.map_arguments(args, kwargs, tracer.tensor, tracer.number, tracer.size)
    out = named.pop("out", None)
    if out is not None:
        check_out(record, out, named, aliases)
        if tracer.device not in (None, *(tensor.device.type for tensor in tracer.tensors)):
            raise RuntimeError(
                f"{record.name}(): device type {tracer.device} does not match the device of out="
            )
    elif inplace and out_decides_dtype(record):
        named.setdefault("dtype", mapped[0].dtype)
    elif "inplace" in record.signature.parameters and not inplace:
        inplace = record.bind(*mapped, **named).arguments["inplace"] is True
    check_devices(f"{record.name}_" if inplace else record.name, tracer.tensors)
    wrt = tracer.requiring_gradients()
    if out is not None and wrt:
        raise RuntimeError(
            f"{record.name}(): out=... arguments don't support automatic differentiation, but an "
            "argument requires grad; call it without out= or under no_grad()"
        )
    try:
        with tracer.context.active():
            if autocasting.active() is not None and not inplace and out is None:
                mapped, named = autocasting.cast_arguments(record, mapped, named)
            bound = record.bind(*mapped, **named)
            result, contents = record.trace_bound(bound)
    except DataDependentError:
        return _core.Direct(eager(record, inplace, out is not None))
    if any(symbol.hint is None for symbol in tracer.context.environment.symbols):
        # a size that only a step's results tell
        return _core.Direct(eager(record, inplace, out is not None))
    if record.factory:
        require_strided(kwargs.get("layout"), record.name)
    outputs, shape = flatten_result(result)
    lay_out(record, record.bind(*mapped, **named).arguments, outputs)
    name = record.name
    if inplace:
        name = f"{name}_"
        written = [mapped[0]]
        asked = "inplace" in record.signature.parameters  # else the core has looked at the tensor
        if asked and not record.fills and outputs[0].value is not mapped[0].value:
            if is_expanded(record.bind(*args, **kwargs).args[0]):
                refuse_expanded(name)
    elif out is not None:
        written = list(out) if isinstance(out, list | tuple) else [out]
        if shape != "single" and not isinstance(out, list | tuple):
            raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not Tensor")
        if len(written) != len(outputs):
            kind = RuntimeError if returns_nothing(record) else TypeError
            raise kind(
                f"{name}(): argument 'out' must be {len(outputs)} Tensors, not {len(written)}"
            )
        if any(not same_shape(new.shape, old.shape) for new, old in zip(outputs, written)):
            return _core.Direct(into_out(record, record))
    else:
        written = [] if contents else mutated_arguments(record, bound.arguments)
    rule = record.out_rule(mapped, named)
    if written:
        outputs = [
            new_content(rule, name, old, new) for old, new in zip(written, outputs, strict=True)
        ]
        if out is not None and returns_nothing(record):
            shape = "none"
        elif not inplace and out is None and len(written) > 1:
            shape = "none"
    targets = dict(enumerate(written))
    if contents:
        shape = without_updates(shape, len(outputs))
        for old, new in zip(mutated_arguments(record, bound.arguments), contents, strict=True):
            if new is not old:
                targets[len(outputs)] = old
                outputs.append(new_content(rule, name, old, new))
    graph = tracer.context.finish(outputs)
    graph.mutations = {target.value.index: position for position, target in targets.items()}
    may_alias = record.views is not None
    node = node_name_of_call(record, name, bound.arguments) if wrt else ""
    names = operand_names(bound.arguments)
    return Job(graph, name, tracer, shape, wrt, may_alias, aliases, record.itself, node, names)


def lay_out(record: Record, arguments: dict[str, Any], outputs: list[Traced]) -> None:
    """Note how results lie in memory that the body says nothing about."""
    for names, rule in (
        (record.channels_as, build.channels_as),
        (record.laid_out_as, build.laid_out_by),
    ):
        operands = [arguments[name] for name in names]
        tensors = [each for each in operands if isinstance(each, Traced)]
        for output in outputs if tensors else ():
            if output.value.node is not None and output.value.like is None:
                rule(output, tensors)


def operand_names(arguments: dict[str, Any]) -> dict[Any, str]:
    """What the tape calls the arguments: by their parameters, the first of which is ``self``."""
    names: dict[Any, str] = {}
    for place, (name, argument) in enumerate(arguments.items()):
        if isinstance(argument, Traced):
            names.setdefault(argument.value, "self" if place == 0 else name)
    return names


def without_updates(shape: Any, count: int) -> Callable[..., Any]:
    """How to put together the first ``count`` outputs; the others went into arguments."""
    if shape == "single":
        return lambda *outputs: outputs[0]
    if shape in ("list", "tuple"):
        kind = list if shape == "list" else tuple
        return lambda *outputs: kind(outputs[:count])
    return lambda *outputs: shape(*outputs[:count])


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


def check_out(record: Record, out: Any, named: dict[str, Any], aliases: Aliases) -> None:
    """Refuse an ``out=`` that overlaps an argument where PyTorch does; it decides the dtype."""
    if record.out in ("apart", "exact") and aliases:
        raise RuntimeError(
            f"{record.name}(): unsupported operation: out= shares some elements with an argument, "
            "so that results would belong in a single memory location that is still to be read. "
            "Please clone() one of them."
        )
    if isinstance(out, Traced) and out_decides_dtype(record):
        named.setdefault("dtype", out.dtype)


def returns_nothing(record: Record) -> bool:
    """Whether a call with ``out=`` returns None."""
    return record.out in ("parts", "parts, same dtype")


def out_decides_dtype(record: Record) -> bool:
    """Whether the dtype of ``out=`` stands for a ``dtype=`` that is not given."""
    return "dtype" in record.signature.parameters and record.out is True


def mutated_arguments(record: Record, arguments: dict[str, Any]) -> list[Traced]:
    """The tensors that the record's operator writes, lists flattened."""
    found: list[Traced] = []
    for name in record.mutates:
        argument = arguments[name]
        found.extend(argument if isinstance(argument, list | tuple) else [argument])
    return [tensor for tensor in found if tensor is not None]


def into_out(record: Record, function: Callable[..., Any]) -> Callable[..., Any]:
    """How to run a call whose results have other shapes than ``out=``: as PyTorch, resize these,
    and lay them out as new results.
    """
    takes_dtype = out_decides_dtype(record)

    def run(*args: Any, out: Any, **kwargs: Any) -> Any:
        if takes_dtype and not isinstance(out, list | tuple):
            kwargs.setdefault("dtype", out.dtype)
        rule = record.out_rule(args, kwargs)
        results = function(*args, **kwargs)
        pairs = list(zip(out, results) if isinstance(out, list | tuple) else [(out, results)])
        for target, result in pairs:
            check_cast(rule, record.name, result.dtype, target.dtype)
        for target, result in pairs:
            if target.shape != result.shape:
                if target.numel():
                    warnings.warn(
                        f"{record.name}(): an output with elements was resized from "
                        f"{list(target.shape)} to {list(result.shape)}; give out= the shape of the "
                        "result, or no elements",
                        stacklevel=3,
                    )
                target.resize_(result.shape)
                if target.stride() != result.stride():
                    target.as_strided_(result.shape, result.stride())
            target.copy_(result)
        if returns_nothing(record):
            return None
        return type(results)(*out) if hasattr(results, "_fields") else out

    return run


def eager(record: Record, inplace: bool, out: bool) -> Callable[..., Any]:
    """How to run a record whose result sizes depend on data: its body, operator by operator."""
    function = record.run if isinstance(record, Composite) else host.call(record)
    if out:
        return into_out(record, function)
    return (
        (lambda self, *args, **kwargs: self.copy_(function(self, *args, **kwargs)))
        if inplace
        else function
    )


def new_content(rule: bool | str, name: str, target: Traced, result: Traced) -> Traced:
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
    check_cast(rule, name, result.dtype, target.dtype)
    return convert(result, target.dtype)


def check_cast(rule: bool | str, name: str, dtype: DType, target: DType) -> None:
    """RuntimeError if results of one dtype may not be written into a tensor of another."""
    if rule in ("exact", "same dtype", "parts, same dtype") and dtype is not target:
        raise RuntimeError(
            f"{name}(): Expected out tensor to have dtype {dtype}, but got {target} instead"
        )
    if rule != "any dtype" and not can_cast(dtype, target):
        raise RuntimeError(
            f"{name}: the result has type {scalar_type_name(dtype)} and can't be cast to that of "
            f"the tensor to write, {scalar_type_name(target)}; use a form that returns a new tensor"
        )


def write_expanded(record: Record, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The in-place form on a tensor with several elements at one place."""
    assert record.expanded is not None
    bound = record.bind(*args, **kwargs)
    check_arguments(record, args, kwargs)
    check_tensors(record, args, kwargs)
    _core.check_inplace(bound.args[0], f"{record.name}_")
    return record.expanded(*bound.args)


def record_operator(record: Record, inplace: bool = False, native: str | None = None) -> Any:
    """The native operator of a record, or of its in-place form."""
    parameters = tuple(
        (
            p.name,
            p.mode
            + ("!" if inplace and i == 0 and p.mode == "T" else "")
            + ("!" if record.fills and p.mode == "T!" else "")
            + ("!" if inplace and i == 0 and record.expanded else "")
            + ("*" if p.variadic else ""),
        )
        for i, p in enumerate(record.parameters)
    )
    if record.out and not inplace:
        parameters += (("out", "T!!" if record.fills else "T!"),)

    def planner(operator: Any, args: tuple, kwargs: dict[str, Any], aliases: Aliases) -> Any:
        if captures() is not None:
            return _core.Direct(
                lambda *args, **kwargs: call_captured(record, inplace, args, kwargs)
            )
        if inplace and record.expanded and is_expanded(record.bind(*args, **kwargs).args[0]):
            return _core.Direct(lambda *args, **kwargs: write_expanded(record, args, kwargs))
        target = plan_record(record, inplace, args, kwargs, aliases)
        if isinstance(target, _core.Direct):
            show("plans", f"{record.name}: no plan, runs operator by operator")
        return target

    def fallback(operator: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        return call_foreign(record, inplace, operator, args, kwargs)

    name = f"{record.name}_" if inplace else record.name
    operator = make_operator(name, parameters, planner, fallback, native)
    operator.__doc__ = record.__doc__
    operator.record, operator.inplace = record, inplace
    return operator


def call_foreign(
    record: Record, inplace: bool, operator: Any, args: tuple, kwargs: dict[str, Any]
) -> Any:
    """A call with arguments that have no key: tracers, subclasses, wrong types."""
    from .tensor import plain_arguments

    result = plan.dual_call(operator, args, kwargs)
    if result is not NotImplemented:
        return result
    plain = plain_arguments(operator, args, kwargs)
    if plain is not NotImplemented:
        return plain
    if captures() is not None:
        return call_captured(record, inplace, args, kwargs)
    traced = contains_traced((args, tuple(kwargs.values())))
    if not traced:
        check_range(record.name, [*args, *kwargs.values()])
        if record.overload is not None and has_tensor_selector(record, args, kwargs):
            return record.overload(*args, **kwargs)
    check_arguments(record, args, kwargs)
    if not traced:
        check_tensors(record, args, kwargs)
        changed = with_numbers(record, args, kwargs)
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


def has_tensor_selector(record: Record, args: tuple, kwargs: dict[str, Any]) -> bool:
    """Whether a tensor is in the place of a selector or size, or has a name that is none of the
    record's: only then an overload has something to change, else it would call itself for ever.
    """
    given: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
    return any(
        _has_tensor(each)
        for place, each in given
        if place != "out"
        and (record.parameter_at(place) is None or record.mode(place) not in ("T", "T!"))
    )


def _has_tensor(argument: Any) -> bool:
    if isinstance(argument, list | tuple):
        return any(map(_has_tensor, argument))
    return isinstance(argument, _core.Tensor | Traced)


def call_captured(record: Record, inplace: bool, args: tuple, kwargs: dict[str, Any]) -> Any:
    """A call in a function that a transform traces: tensors among the arguments become inputs."""
    name = f"{record.name}_" if inplace or record.mutates else record.name
    changes = RuntimeError(
        f"{name}: a function that is transformed (vmap, grad, jvp, ...) cannot change a tensor "
        f"in place or write to out=; use the result of {record.name} instead"
    )
    if inplace or kwargs.get("out") is not None or kwargs.get("inplace") is True:
        raise changes
    if record.overload is not None and has_tensor_selector(record, args, kwargs):
        return record.overload(*lifted(args), **lifted(kwargs))
    args, kwargs = lifted(args), lifted(kwargs)
    check_arguments(record, args, kwargs)
    check_tensors(record, args, kwargs)
    bound = record.bind(*args, **kwargs)
    result, contents = record.trace_bound(bound)
    written = mutated_arguments(record, bound.arguments)
    if len(contents) < len(written) or any(map(is_not, contents, written)):
        raise changes
    if not record.factory:
        return result
    leaf, pinned = kwargs.get("requires_grad", False), kwargs.get("pin_memory", False)
    return finished(result, kwargs.get("device"), leaf, pinned, record.name)
