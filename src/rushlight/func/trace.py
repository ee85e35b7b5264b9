"""Runs a transform: its function is traced to one graph, which is planned like an operator's call.

The function is called each time, as in PyTorch: what it reads besides its arguments may change. The
graph's text is the key of its operator, so what was planned once is replayed.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .. import _core
from .._core import Size, Tensor
from ..graph.node import Graph, Value
from ..graph.rewrite import remove_dead
from ..graph.symbols import DataDependentError, ShapeEnvironment, SymbolicInt
from ..graph.trace import (
    METHODS,
    Captures,
    Context,
    GraphContext,
    Traced,
    captures,
    current_context,
    set_captures,
)
from ..ops.kinds import Host
from ..ops.record import PRIMITIVES, Primitive, op
from ..plan import CallTracer, Job, build
from .replay import Trace, call_key, find, keep
from .trees import Tree, flatten, map_tree, unflatten

# The mode bit of calls made while a function is traced: it is part of every key, and the plans of
# such calls trace.
_TRACING = 1 << 8

_NEED_MEMORY = ("data_ptr", "numpy", "storage", "untyped_storage", "backward")

_OPERATORS_KEPT = 512


class TensorCaptures(Captures):
    """Traced values pass for tensors."""

    tensor_type = Tensor
    size_type = Size

    def lift(self, argument: Any) -> Any:
        if isinstance(argument, Traced):
            return argument
        if isinstance(argument, Tensor):
            return self.capture(argument)
        if isinstance(argument, list | tuple):
            return type(argument)([self.lift(each) for each in argument])
        if isinstance(argument, dict):
            return {key: self.lift(each) for key, each in argument.items()}
        return argument

    def capture(self, tensor: Tensor) -> Traced:
        """A tensor that is no traced value, as one."""
        raise NotImplementedError

    def attribute(self, x: Traced, name: str) -> Any:
        if name in METHODS or name.endswith("_") and name[:-1] in METHODS:
            raise RuntimeError(
                f"{name}: a function that is transformed (vmap, grad, jvp, ...) cannot change a "
                f"tensor in place; use the result of {name.rstrip('_')} instead"
            )
        if name in ("real", "imag"):
            return getattr(op, name)(x)
        if name in ("H", "mH"):
            return op.conj(x.T if name == "H" else x.mT)
        if name in _NEED_MEMORY:
            raise RuntimeError(
                f"{name}: a tensor in a function that is transformed (vmap, grad, jvp, ...) has no "
                "memory of its own; use operators instead"
            )
        raise AttributeError(f"'Tensor' object has no attribute '{name}' while it is traced")

    @contextmanager
    def tracing_calls(self) -> Iterator[None]:
        """Calls of operators are traced, whatever their arguments are."""
        previous, bits = set_captures(self), _core.get_mode_bits()
        _core.set_mode_bits(bits | _TRACING)
        try:
            yield
        finally:
            _core.set_mode_bits(bits)
            set_captures(previous)


class Root(GraphContext, TensorCaptures):
    """The graph of a whole transform. Tensors that the function meets become its inputs."""

    def __init__(self, name: str) -> None:
        super().__init__(ShapeEnvironment(static=True))
        self.environment.lift = _no_sizes  # no cycle: what is traced is freed with the last value
        self.name = name
        self.tensors: list[Tensor] = []
        self.grad_enabled = _core.is_grad_enabled()
        self.asked = False  # whether a value was asked for: another call may go another way
        self.has_eager = False  # can the transform do without a trace?
        self._captured: dict[int, Traced] = {}

    # ---- inputs

    def capture(self, tensor: Tensor) -> Traced:
        """A tensor as an input of the graph."""
        known = self._captured.get(id(tensor))
        if known is None:
            known = self.input(tensor.dtype, tuple(tensor.shape))
            self.tensors.append(tensor)
            self._captured[id(tensor)] = known
        return known

    def reaches_tape(self) -> bool:
        """Will a backward pass of tensors outside ask for gradients of what is traced here?"""
        return self.grad_enabled and any(tensor.requires_grad for tensor in self.tensors)

    def forget(self) -> None:
        """Let go of the tensors: the graph may be kept."""
        self.tensors = []
        self._captured.clear()

    # ---- nodes

    def apply(
        self, primitive: Primitive, inputs: Sequence[Traced], attributes: dict[str, Any]
    ) -> tuple[Traced, ...]:
        if captures() is not self:
            raise RuntimeError(
                f"{primitive.name}: a value of a function that was transformed is used after the "
                "call; return it from the function instead"
            )
        if isinstance(primitive.kind, Host) and self._depends_on_data(
            primitive, inputs, attributes
        ):
            return self._run(primitive, inputs, attributes)
        outputs = super().apply(primitive, inputs, attributes)
        if self.grad_enabled and not _core.is_grad_enabled():
            return tuple(map(self._detached, outputs))
        return outputs

    def _depends_on_data(
        self, primitive: Primitive, inputs: Sequence[Traced], attributes: dict[str, Any]
    ) -> bool:
        """Whether only running it tells the sizes of its results."""
        if not isinstance(primitive.kind, Host):
            return False
        outputs = primitive.infer([x.value for x in inputs], attributes, self.environment)
        return any(isinstance(size, SymbolicInt) for _, shape, _ in outputs for size in shape)

    def _run(
        self, primitive: Primitive, inputs: Sequence[Traced], attributes: dict[str, Any]
    ) -> tuple[Traced, ...]:
        """Run a primitive now; its results become inputs, of sizes that are known."""
        tensors = [self.concrete(x, primitive.name) for x in inputs]
        with self._paused():
            results = primitive.operator(*tensors, **attributes)
        return tuple(map(self.capture, results if isinstance(results, tuple) else (results,)))

    @contextmanager
    def _paused(self) -> Iterator[None]:
        """Operators called inside run, and are not recorded for a backward pass."""
        bits, previous = _core.get_mode_bits(), set_captures(None)
        enabled = _core.set_grad_enabled(False)
        _core.set_mode_bits(bits & ~_TRACING)
        try:
            yield
        finally:
            _core.set_mode_bits(bits)
            _core.set_grad_enabled(enabled)
            set_captures(previous)

    def _detached(self, output: Traced) -> Traced:
        if output.weak or not output.dtype.is_differentiable:
            return output
        return self.wrap(self.append(PRIMITIVES["detach"], (output.value,), {})[0])

    # ---- running

    @contextmanager
    def tracing(self) -> Iterator[None]:
        """Operators called inside append to this graph."""
        try:
            with self.tracing_calls(), self.active():
                yield
        finally:
            _core.set_grad_enabled(self.grad_enabled)

    def concrete(self, x: Traced, what: str) -> Tensor:
        """The value in this call: what was traced so far runs.

        Random numbers that were drawn become inputs: they are not to be drawn again.
        """
        self.asked = True
        drawn = [node for node in self.graph.nodes if node.primitive.impure]
        values = [value for node in drawn for value in node.outputs]
        (wanted,) = self.append(PRIMITIVES["detach"], (x.value,), {}) if not x.weak else (x.value,)
        part = Graph(self.environment, list(self.graph.inputs))
        part.outputs = [*values, self._output(wanted)]
        part.nodes = list(self.graph.nodes)
        remove_dead(part)
        with self._paused():
            *drawn_values, result = graph_runner(part, self, f"{self.name}_part")(self.tensors)
        for value, tensor in zip(values, drawn_values, strict=True):
            self._replace_by_input(value, tensor)
        self.graph.nodes[:] = [node for node in self.graph.nodes if node not in drawn]
        return result

    def _replace_by_input(self, value: Value, tensor: Tensor) -> None:
        value.node = None
        self._new_input(value)
        self.tensors.append(tensor)


@dataclass
class Source:
    """What a call is: the transform with its parameters, the function, and all its arguments."""

    transform: tuple[Any, ...]
    function: Callable[..., Any]
    arguments: Tree


def run(
    name: str,
    body: Callable[[Context], Tree],
    eager: Callable[[], Tree] | None = None,
    source: Source | None = None,
) -> Tree:
    """What ``body(context)`` returns, with the traced values in it as tensors.

    In a function that is being traced the body runs in its context, and values stay traced.

    Args:
        name: of the transform.
        body: applies the transform in a context.
        eager: does the same without tracing, for functions whose sizes depend on data.
        source: what the call is, if an equal one need not be traced again.
    """
    if captures() is not None:
        context = current_context()
        assert context is not None
        return body(context)
    known = None
    if source is not None:
        arguments, shape = flatten(source.arguments)
        known = call_key((name, *source.transform), source.function, arguments, shape)
        if known is not None and (trace := find(known[0])) is not None:
            return run_again(trace, known[1])
    root = Root(name)
    root.has_eager = eager is not None
    try:
        with root.tracing():
            result = body(root)
        return execute(root, result, known)
    except DataDependentError as error:
        if eager is None:
            raise RuntimeError(
                f"{name}: the function calls an operator whose result has a size that depends on "
                f"data, which cannot be batched: {error}"
            ) from error
    finally:
        root.forget()
    return eager()


def _no_sizes(size: SymbolicInt) -> Any:
    raise AssertionError(f"{size!r} is symbolic in a trace whose sizes are ints")


def run_again(trace: Trace, tensors: list[Tensor]) -> Tree:
    """What a call gives whose trace is kept."""
    inputs = [tensors[i] for i in trace.inputs]
    leaves = list(trace.leaves)
    for i, tensor in zip(trace.positions, trace.run(inputs), strict=True):
        leaves[i] = tensor
    return unflatten(leaves, trace.structure)


def execute(root: Root, tree: Tree, known: Any) -> Tree:
    """Run a finished trace: the tree with its traced values as tensors.

    known: the key under which it may be kept, with the tensors of the key.
    """
    leaves, structure = flatten(tree)
    positions = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Traced)]
    for i in positions:
        if leaves[i].context is not root:
            raise RuntimeError(
                f"{root.name}: a value of an inner transform is returned by an outer one; return "
                "it from the function that is transformed"
            )
    graph = root.finish([leaves[i] for i in positions])
    tensors = root.tensors
    run = graph_runner(graph, root, root.name)
    for i, tensor in zip(positions, run(tensors), strict=True):
        leaves[i] = tensor
    if known is not None and not root.asked:
        _keep(known, tensors, run, leaves, positions, structure)
    return unflatten(leaves, structure)


def _keep(
    known: tuple[Any, list[Tensor]],
    tensors: list[Tensor],
    run: Callable[[list[Tensor]], tuple[Tensor, ...]],
    leaves: list[Any],
    positions: list[int],
    structure: Any,
) -> None:
    """Keep a trace, if all its inputs are tensors of the key and the rest is no tensor."""
    places = {id(tensor): i for i, tensor in enumerate(known[1])}
    if any(id(tensor) not in places for tensor in tensors):
        return
    rest = [None if i in set(positions) else leaf for i, leaf in enumerate(leaves)]
    if any(leaf is not None and not isinstance(leaf, int | float | str) for leaf in rest):
        return
    inputs = [places[id(tensor)] for tensor in tensors]
    keep(known[0], Trace(run, inputs, rest, positions, structure))


# ---------------------------------------------------------------- operators of graphs

_operators: OrderedDict[Any, Any] = OrderedDict()
_lock = threading.Lock()


class _Pending(threading.local):
    """The graph whose operator this thread calls: its planner takes it from here."""

    job: tuple[Graph, Root, str] | None = None


_pending = _Pending()


def graph_runner(
    graph: Graph, root: Root, name: str
) -> Callable[[Sequence[Tensor]], tuple[Tensor, ...]]:
    """A function from tensors, one for each input of the graph, to its outputs."""
    if not graph.outputs:
        return lambda tensors: ()
    operator = _operator(graph_key(graph), name)

    def run(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
        previous, _pending.job = _pending.job, (graph, root, name)
        try:
            return operator(*tensors)
        finally:
            _pending.job = previous

    return run


def _operator(key: Any, name: str) -> Any:
    with _lock:
        operator = _operators.get(key)
        if operator is None:
            parameters = (("inputs", "T*"),)
            operator = _operators[key] = _core.Operator(name, parameters, _plan, _refuse)
            if len(_operators) > _OPERATORS_KEPT:
                _operators.popitem(last=False)
        else:
            _operators.move_to_end(key)
        return operator


def _plan(operator: Any, args: tuple, kwargs: dict[str, Any], aliases: Any) -> Any:
    assert _pending.job is not None
    graph, root, name = _pending.job
    call = CallTracer()
    call.context, call.tensors, call.values = root, list(args), list(graph.inputs)
    return build(Job(graph, name, call, "tuple", call.requiring_gradients(), itself=False))


def _refuse(operator: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    kinds = ", ".join(type(each).__name__ for each in args)
    raise TypeError(f"{operator.name}: expected tensors, got ({kinds})")


def graph_key(graph: Graph) -> Any:
    """Equal for graphs that compute the same in the same way."""
    numbers = {value: i for i, value in enumerate(graph.values())}
    nodes = tuple(
        (
            node.primitive.name,
            tuple(numbers[value] for value in node.inputs),
            repr(node.attributes),
            len(node.outputs),
        )
        for node in graph.nodes
    )
    inputs = tuple((value.dtype, value.shape, value.weak) for value in graph.inputs)

    def number(argument: Any) -> Any:
        return numbers.get(argument) if isinstance(argument, Value) else argument

    outputs = tuple(map(number, graph.outputs))
    regions = tuple(
        (
            region.composite.name,
            repr(map_tree(number, region.arguments)),
            tuple(map(number, region.outputs)),
        )
        for region in graph.regions
    )
    return inputs, nodes, outputs, regions
