"""Batching (vmap): a context whose values have one more dim than the program sees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..graph.node import Graph
from ..graph.trace import Context, GraphContext, NestedContext, NestedValue, Traced, apply
from ..layout import normalize_dim
from ..ops import build
from ..ops.record import Primitive
from .replay import copy_inputs, replay

RANDOMNESS = ("error", "different", "same")


class Batch(NestedValue):
    """A value of the context below, with the batch dim in front; shape is what one example has."""

    @property
    def shape(self) -> tuple[Any, ...]:
        return self.primal.shape[1:]


def check_randomness(randomness: str) -> None:
    """Raise RuntimeError if this is no way to draw random numbers for a batch."""
    if randomness not in RANDOMNESS:
        raise RuntimeError(f"vmap: randomness is one of {RANDOMNESS}, not {randomness!r}")


class BatchedContext(NestedContext):
    """Applies primitives to whole batches.

    What is the same for all examples stays a value of the context below. size: of the batch;
    randomness: what drawing random numbers does: "error", "different" numbers for each example or
    the "same" ones for all.
    """

    def __init__(self, below: Context, size: Any, randomness: str = "error") -> None:
        check_randomness(randomness)
        super().__init__(below)
        self.size = size
        self.randomness = randomness

    def batched(self, value: Traced, dim: int | None) -> Traced:
        """A value of the context below, with the batch at ``dim``; as it is if dim is None."""
        if dim is None:
            return value
        if not value.shape:
            raise ValueError("vmap: a 0-d tensor has no dim to batch over; give None as its in_dim")
        return Traced(self, Batch(build.move_dim(value, normalize_dim(dim, value.ndim), 0)))

    def whole(self, x: Traced) -> tuple[Traced, bool]:
        """The value of the context below, and whether it has the batch dim in front."""
        return (x.value.primal, True) if x.context is self else (x, False)

    def unbatched(self, x: Traced) -> Traced:
        """The value of the context below with the batch in front, expanded if examples share it."""
        value, is_batched = self.whole(x)
        return value if is_batched else build.expand(value, (self.size, *value.shape))

    def concrete(self, x: Traced, what: str) -> Any:
        if what == "bool":
            raise RuntimeError(
                "vmap: a condition depends on a Tensor that differs between the examples, so that "
                "each may take another branch. Use where() instead, or call the function for each "
                "example."
            )
        raise RuntimeError(
            f"vmap: It looks like you're calling .{what}() on a Tensor: it has one value for each "
            "example. Rewrite it with operators on tensors, or call the function for each example."
        )

    def apply(
        self, primitive: Primitive, inputs: Sequence[Traced], attributes: dict[str, Any]
    ) -> tuple[Traced, ...]:
        pairs = [self.whole(x) for x in inputs]
        values, batched = [value for value, _ in pairs], [is_batched for _, is_batched in pairs]
        with self.below.active():
            if primitive.random and self._differs():
                outputs = self._draw(primitive, values, batched, attributes)
            elif any(batched):
                outputs = tuple(primitive.batch(values, batched, self.size, attributes))
            else:
                return apply(primitive, values, attributes)
        return tuple(Traced(self, Batch(output)) for output in outputs)

    def _differs(self) -> bool:
        """Whether each example draws its own numbers."""
        if self.randomness == "error":
            raise RuntimeError(
                "vmap: random numbers are drawn in randomness error mode. Pass randomness='same' "
                "for "
                "all examples alike or 'different' for each its own, or draw them before."
            )
        return self.randomness == "different"

    def _draw(
        self,
        primitive: Primitive,
        values: list[Traced],
        batched: list[bool],
        attributes: dict[str, Any],
    ) -> tuple[Traced, ...]:
        if any(batched) or "shape" not in attributes:
            return tuple(primitive.batch(values, batched, self.size, attributes))
        return apply(primitive, values, attributes | {"shape": (self.size, *attributes["shape"])})


def batch_graph(
    graph: Graph, in_dims: Sequence[int | None], size: Any, randomness: str = "error"
) -> Graph:
    """The graph that computes the given one for ``size`` examples at once.

    An input with a dim in ``in_dims`` has the batch at that dim; every output has it in front.
    size: an int or a symbol of the graph's environment. The result mutates nothing.
    """
    context = GraphContext(graph.environment)
    vmap = BatchedContext(context, size, randomness)
    bindings = {}
    shapes = [
        _batched_shape(value.shape, dim, size)
        for value, dim in zip(graph.inputs, in_dims, strict=True)
    ]
    inputs = copy_inputs(graph, context, shapes)
    with context.active():
        for value, x, dim in zip(graph.inputs, inputs, in_dims, strict=True):
            bindings[value] = vmap.batched(x, dim)
    values = replay(graph, vmap, bindings)
    with context.active():
        outputs = [
            None if value is None else vmap.unbatched(values[value]) for value in graph.outputs
        ]
    return context.finish(outputs)


def _batched_shape(shape: tuple[Any, ...], dim: int | None, size: Any) -> tuple[Any, ...]:
    if dim is None:
        return shape
    dim = normalize_dim(dim, len(shape) + 1)
    return (*shape[:dim], size, *shape[dim:])
