"""Forward mode: a context whose values carry a tangent.

Running a function on them gives its derivative along a direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..graph.node import Graph
from ..graph.symbols import same_shape
from ..graph.trace import GraphContext, NestedContext, NestedValue, Traced, apply
from ..ops import build
from ..ops.record import Primitive
from .replay import copy_inputs, replay


class Dual(NestedValue):
    """A value and its derivative along a direction, both of the context below."""

    def __init__(self, primal: Traced, tangent: Traced) -> None:
        super().__init__(primal)
        self.tangent = tangent


class DualContext(NestedContext):
    """Applies primitives to values and their tangents.

    What has no tangent stays a value of the context below.
    """

    def dual(self, primal: Traced, tangent: Traced | None) -> Traced:
        """A value with a tangent of its dtype and shape; the value itself if it has no tangent."""
        if tangent is None or not primal.dtype.is_differentiable or primal.weak:
            return primal
        if tangent.dtype is not primal.dtype or tangent.weak:
            tangent = build.convert(tangent, primal.dtype)
        if not same_shape(tangent.shape, primal.shape):
            tangent = build.expand(tangent, primal.shape)
        return Traced(self, Dual(primal, tangent))

    def split(self, x: Traced) -> tuple[Traced, Traced | None]:
        """A value without its tangent, and the tangent."""
        return (x.value.primal, x.value.tangent) if x.context is self else (x, None)

    def apply(
        self, primitive: Primitive, inputs: Sequence[Traced], attributes: dict[str, Any]
    ) -> tuple[Traced, ...]:
        pairs = [self.split(x) for x in inputs]
        primals, tangents = [primal for primal, _ in pairs], [tangent for _, tangent in pairs]
        with self.below.active():
            outputs = apply(primitive, primals, attributes)
            if all(tangent is None for tangent in tangents):
                return outputs
            results = primitive.jvp(primals, outputs, tangents, attributes)
            return tuple(
                self.dual(output, tangent) for output, tangent in zip(outputs, results, strict=True)
            )


def jvp_graph(graph: Graph, with_tangent: Sequence[bool]) -> Graph:
    """The graph that computes the given one's outputs and their tangents.

    Its inputs are the graph's and then the tangents of those for which ``with_tangent`` is true;
    its outputs are the graph's and then the tangent of each, None for outputs that have none. It
    mutates nothing.
    """
    context = GraphContext(graph.environment)
    inputs = copy_inputs(graph, context)
    dual = DualContext(context)
    bindings = {}
    with context.active():
        for value, x, has_tangent in zip(graph.inputs, inputs, with_tangent, strict=True):
            bindings[value] = dual.dual(x, context.input(x.dtype, x.shape)) if has_tangent else x
    values = replay(graph, dual, bindings)
    pairs = [
        (None, None) if value is None else dual.split(values[value]) for value in graph.outputs
    ]
    return context.finish([primal for primal, _ in pairs] + [tangent for _, tangent in pairs])
