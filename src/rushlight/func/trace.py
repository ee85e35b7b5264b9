"""Runs a transform: its function is traced to one graph, which is planned like an operator's call.

The function is called each time, as in PyTorch: what it reads besides its arguments may change. The
graph's text is the key of its operator, so what was planned once is replayed.
"""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .. import _core
from .._core import Tensor
from ..graph.node import Graph, Node, Region, Value
from ..graph.rewrite import remove_dead
from ..graph.symbols import DataDependentError, ShapeEnvironment
from ..graph.trace import (
    METHODS,
    Captures,
    Context,
    GraphContext,
    Traced,
    apply,
    captures,
    current_context,
    set_captures,
)
from ..ops.record import PRIMITIVES, Composite, Primitive
from ..plan import CallTracer, Job, build
from .trees import Tree, flatten, map_tree, unflatten

# The mode bit of calls made while a function is traced: it is part of every key, and the plans of
# such calls trace.
_TRACING = 1 << 8

_OPERATORS_KEPT = 512


class Root(GraphContext, Captures):
    """The graph of a whole transform. Tensors that the function meets become its inputs."""

    def __init__(self, name: str) -> None:
        super().__init__(ShapeEnvironment(static=True))
        self.name = name
        self.tensors: list[Tensor] = []
        self.grad_enabled = _core.is_grad_enabled()
        self._captured: dict[int, Traced] = {}

    # ---- inputs

    def lift(self, argument: Any) -> Any:
        if isinstance(argument, Tensor):
            return self.capture(argument)
        if isinstance(argument, list | tuple):
            return type(argument)([self.lift(each) for each in argument])
        if isinstance(argument, dict):
            return {key: self.lift(each) for key, each in argument.items()}
        return argument

    def attribute(self, x: Traced, name: str) -> Any:
        if name.endswith("_") and not name.startswith("_") and name[:-1] in METHODS:
            raise RuntimeError(
                f"{name}: a function that is transformed (vmap, grad, jvp, ...) cannot change a "
                f"tensor in place; use {name[:-1]}"
            )
        raise AttributeError(f"'Tensor' object has no attribute '{name}' while it is traced")

    def capture(self, tensor: Tensor) -> Traced:
        """A tensor as an input of the graph."""
        known = self._captured.get(id(tensor))
        if known is None:
            known = self.input(tensor.dtype, tuple(tensor.shape))
            self.tensors.append(tensor)
            self._captured[id(tensor)] = known
        return known

    # ---- nodes

    def apply(
        self, primitive: Primitive, inputs: Sequence[Traced], attributes: dict[str, Any]
    ) -> tuple[Traced, ...]:
        outputs = super().apply(primitive, inputs, attributes)
        if self.grad_enabled and not _core.is_grad_enabled():
            return tuple(map(self._detached, outputs))
        return outputs

    def _detached(self, output: Traced) -> Traced:
        if output.weak or not output.dtype.is_differentiable:
            return output
        return self.wrap(self.append(PRIMITIVES["detach"], (output.value,), {})[0])

    # ---- running

    @contextmanager
    def tracing(self) -> Iterator[None]:
        """Operators called inside append to this graph."""
        previous, bits = set_captures(self), _core.get_mode_bits()
        _core.set_mode_bits(bits | _TRACING)
        try:
            with self.active():
                yield
        finally:
            _core.set_mode_bits(bits)
            set_captures(previous)
            _core.set_grad_enabled(self.grad_enabled)

    def concrete(self, x: Traced, what: str) -> Tensor:
        """The value in this call: what was traced so far runs.

        Random numbers that were drawn become inputs: they are not to be drawn again.
        """
        drawn = [node for node in self.graph.nodes if node.primitive.impure]
        values = [value for node in drawn for value in node.outputs]
        (wanted,) = self.append(PRIMITIVES["detach"], (x.value,), {}) if not x.weak else (x.value,)
        nodes, enabled = list(self.graph.nodes), _core.set_grad_enabled(False)
        part = Graph(self.environment, list(self.graph.inputs), nodes, [])
        outputs = [*values, self._output(wanted)]
        part.outputs, part.nodes = outputs, list(self.graph.nodes)
        remove_dead(part)
        bits, previous = _core.get_mode_bits(), set_captures(None)
        _core.set_mode_bits(bits & ~_TRACING)
        try:
            *drawn_values, result = run_graph(part, self, f"{self.name}_part")
        finally:
            _core.set_mode_bits(bits)
            set_captures(previous)
            _core.set_grad_enabled(enabled)
        for value, tensor in zip(values, drawn_values, strict=True):
            self._replace_by_input(value, tensor)
        self.graph.nodes[:] = [node for node in self.graph.nodes if node not in drawn]
        return result

    def _replace_by_input(self, value: Value, tensor: Tensor) -> None:
        value.node = None
        self._new_input(value)
        self.tensors.append(tensor)


def run(
    name: str, body: Callable[[Context], Tree], eager: Callable[[], Tree] | None = None
) -> Tree:
    """What ``body(context)`` returns, with the traced values in it as tensors.

    In a function that is being traced the body runs in its context, and values stay traced.

    Args:
        name: of the transform.
        body: applies the transform in a context.
        eager: does the same without tracing, for functions whose sizes depend on data.
    """
    if captures() is not None:
        context = current_context()
        assert context is not None
        return body(context)
    root = Root(name)
    try:
        with root.tracing():
            result = body(root)
        return execute(root, result)
    except DataDependentError as error:
        if eager is None:
            raise RuntimeError(
                f"{name}: the function calls an operator whose result has a size that depends on "
                f"data, which cannot be batched: {error}"
            ) from error
    return eager()


def execute(root: Root, tree: Tree) -> Tree:
    """Run a finished trace: the tree with its traced values as tensors."""
    leaves, structure = flatten(tree)
    positions = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Traced)]
    for i in positions:
        if leaves[i].context is not root:
            raise RuntimeError(
                f"{root.name}: a value of an inner transform is returned by an outer one; return "
                "it from the function that is transformed"
            )
    if any(symbol.hint is None for symbol in root.environment.symbols):
        raise DataDependentError("nonzero and masks give results of unknown size")
    graph = root.finish([leaves[i] for i in positions])
    for i, tensor in zip(positions, run_graph(graph, root, root.name), strict=True):
        leaves[i] = tensor
    return unflatten(leaves, structure)


# ---------------------------------------------------------------- operators of graphs

_operators: OrderedDict[Any, Any] = OrderedDict()
_lock = threading.Lock()


class _Pending(threading.local):
    """The graph whose operator this thread calls: its planner takes it from here."""

    graph: Graph
    root: Root
    name: str


_pending = _Pending()


def run_graph(graph: Graph, root: Root, name: str) -> tuple[Tensor, ...]:
    """The outputs of a graph whose inputs are the tensors of ``root``."""
    if not graph.outputs:
        return ()
    operator = _operator(graph_key(graph), name)
    _pending.graph, _pending.root, _pending.name = graph, root, name
    try:
        return operator(*root.tensors)
    finally:
        del _pending.graph, _pending.root, _pending.name


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
    call = CallTracer()
    call.context, call.tensors = _pending.root, list(args)
    call.values = list(_pending.graph.inputs)
    job = Job(
        _pending.graph, _pending.name, call, "tuple", call.requiring_gradients(), itself=False
    )
    return build(job)


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
    outputs = tuple(numbers[value] for value in graph.outputs)

    def number(argument: Any) -> Any:
        return numbers.get(argument) if isinstance(argument, Value) else argument

    regions = tuple(
        (
            region.composite.name,
            repr(map_tree(number, region.arguments)),
            tuple(map(number, region.outputs)),
        )
        for region in graph.regions
    )
    return inputs, nodes, outputs, regions


# ---------------------------------------------------------------- reverse mode


class Recorded:
    """A value of the context below that depends on what gradients are wanted of."""

    __slots__ = ("like", "node", "primal")

    def __init__(self, primal: Traced, node: Value) -> None:
        self.primal = primal
        self.node = node
        self.like: Any = None

    @property
    def dtype(self) -> Any:
        return self.primal.dtype

    @property
    def shape(self) -> tuple[Any, ...]:
        return self.primal.shape

    @property
    def weak(self) -> bool:
        return False


class ReverseContext(Context):
    """Applies primitives in the context below and notes them, to be differentiated.

    What depends on no input of it stays a value of the context below.
    """

    _serial = itertools.count()

    def __init__(self, below: Context) -> None:
        self.below = below
        self.level = below.level + 1
        self.graph = Graph(None)  # type: ignore[arg-type]  # its sizes are ints
        self.primals: dict[Value, Traced] = {}
        self.outer_grad = _core.is_grad_enabled()
        self._constants: dict[int, tuple[Traced, Value]] = {}

    # ---- values

    def variable(self, primal: Traced) -> Traced:
        """A value of the context below as one that gradients are wanted of."""
        value = self._known(Value(primal.dtype, primal.shape), primal)
        self.graph.inputs.append(value)
        return Traced(self, Recorded(primal, value))

    def lower(self, x: Any) -> Any:
        """What stands for a value in the context below; other arguments as they are."""
        return x.value.primal if isinstance(x, Traced) and x.context is self else x

    def node(self, x: Traced) -> Value:
        """What stands for a value in the graph of what was noted."""
        if x.context is self:
            return x.value.node
        known = self._constants.get(id(x))
        if known is None:
            value = self._known(Value(x.dtype, x.shape, weak=x.weak), x)
            known = self._constants[id(x)] = (x, value)  # x is kept: its id stays its own
        return known[1]

    def lookup(self, value: Value) -> Traced:
        return self.primals[value]

    def _known(self, value: Value, primal: Traced) -> Value:
        self.primals[value] = primal
        return value

    # ---- a context

    def number(self, value: Any) -> Traced:
        return self.below.number(value)

    def concrete(self, x: Traced, what: str) -> Any:
        primal = x.value.primal
        return primal.context.concrete(primal, what)

    @contextmanager
    def active(self) -> Iterator[Context]:
        previous = _core.set_grad_enabled(True)
        try:
            with super().active():
                yield self
        finally:
            _core.set_grad_enabled(previous)

    @contextmanager
    def _below(self) -> Iterator[None]:
        """The context below is active, in the mode of where this transform was called."""
        previous = _core.is_grad_enabled()
        _core.set_grad_enabled(previous and self.outer_grad)
        try:
            with Context.active(self.below):
                yield
        finally:
            _core.set_grad_enabled(previous)

    def apply(
        self, primitive: Primitive, inputs: Sequence[Traced], attributes: dict[str, Any]
    ) -> tuple[Traced, ...]:
        with self._below():
            outputs = apply(primitive, [self.lower(x) for x in inputs], attributes)
        if not primitive.differentiable or not _core.is_grad_enabled():
            return outputs
        if all(x.context is not self for x in inputs):
            return outputs
        if not any(output.dtype.is_differentiable and not output.weak for output in outputs):
            return outputs
        node = Node(primitive, tuple(map(self.node, inputs)), attributes)
        node.outputs = tuple(
            self._known(Value(output.dtype, output.shape, node, i, output.weak), output)
            for i, output in enumerate(outputs)
        )
        self.graph.nodes.append(node)
        return tuple(
            Traced(self, Recorded(output, value)) if output.dtype.is_differentiable else output
            for output, value in zip(outputs, node.outputs, strict=True)
        )

    # ---- composites with derivatives of their own

    def enter(self, composite: Composite, arguments: dict[str, Any]) -> Any:
        below = self.below.enter(composite, _mapped(arguments, self.lower))
        values = _mapped(arguments, lambda x: self.node(x) if isinstance(x, Traced) else x)
        return below, Region(composite, values, ())

    def leave(self, token: Any, result: Any) -> None:
        below, region = token
        self.below.leave(below, _mapped(result, self.lower))
        results = result if isinstance(result, tuple | list) else (result,)
        traced = [each for each in results if isinstance(each, Traced)]
        if traced and all(each.context is self for each in traced):
            region.outputs = tuple(each.value.node for each in traced)
            self.graph.regions.append(region)


def _mapped(argument: Any, function: Callable[[Any], Any]) -> Any:
    if isinstance(argument, dict):
        return {name: _mapped(each, function) for name, each in argument.items()}
    if isinstance(argument, tuple | list):
        return type(argument)([_mapped(each, function) for each in argument])
    return function(argument)
