"""Reverse mode while tracing: a context that notes what is applied, to be differentiated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .. import _core
from ..graph.node import Graph, Node, Region, Value
from ..graph.trace import Context, NestedContext, NestedValue, Traced, apply
from ..ops.record import Composite, Primitive


class Recorded(NestedValue):
    """A value of the context below that depends on what gradients are wanted of."""

    def __init__(self, primal: Traced, node: Value) -> None:
        super().__init__(primal)
        self.node = node


class ReverseContext(NestedContext):
    """Applies primitives in the context below and notes them, to be differentiated.

    What depends on no input of it stays a value of the context below.
    """

    def __init__(self, below: Context) -> None:
        super().__init__(below)
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
        if any(each.context is self for each in traced):  # the others have no gradient
            region.outputs = tuple(map(self.node, traced))
            self.graph.regions.append(region)


def _mapped(argument: Any, function: Callable[[Any], Any]) -> Any:
    if isinstance(argument, dict):
        return {name: _mapped(each, function) for name, each in argument.items()}
    if isinstance(argument, tuple | list):
        return type(argument)([_mapped(each, function) for each in argument])
    return function(argument)
