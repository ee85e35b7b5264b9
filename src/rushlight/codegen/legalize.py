"""Rewrites a graph so that every node has a lowering: what libraries and loops cannot do directly
becomes what they can.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..dtypes import dtype as DType
from ..dtypes import float32
from ..graph.node import Graph, Node, Value
from ..graph.trace import PRIMITIVES, GraphContext, Traced
from ..ops.windows import overlapped
from . import convolve, scatter
from .steps import AFFINE_VIEWS, GEMM_TYPES, SCATTERS, trivial_reshape


class Legalizer:
    """Walks the nodes in order and emits replacements into a new graph; the given one stays as it
    is.

    Args:
        graph: what to rewrite. contiguous: graph inputs known to be contiguous. may_alias: whether
        outputs may share memory with inputs. kept: values that need a buffer of their own shape
        besides the outputs; afterwards what stands for them.
    """

    def __init__(
        self, graph: Graph, contiguous: set[Value], may_alias: bool, kept: Sequence[Value] = ()
    ):
        self.graph = graph
        self.kept = list(kept)
        self.contiguous = contiguous
        self.may_alias = may_alias
        self.nodes: list[Node] = []
        self.replaced: dict[Value, Value] = {}
        self.rules: dict[str, Callable[[Node], Value | None]] = {
            "matmul": self.matmul,
            "pad": self.pad,
            "reshape": self.reshape,
            "overlap_add": self.overlap_add,
            "convolution": self.convolution,
            "convolution_weight": self.convolution,
            "convolution_input": self.convolution,
            **dict.fromkeys(SCATTERS, self.scatter),
        }

    def run(self) -> Graph:
        """The rewritten graph; ``replaced`` tells what stands for which value of the old one."""
        for node in self.graph.nodes:
            self.legalize(node)
        mutated = set(self.graph.mutations.values())
        outputs: list[Value | None] = []
        for i, old in enumerate(self.graph.outputs):
            value = self.current(old) if old is not None else None
            if value is not None and i not in mutated and self.needs_copy(value):
                value = self.convert(value, value.dtype)
            if value is not None and old is not None and value.like is None:
                value.like = old.like
            outputs.append(value)
        claimed: set[Value] = set()
        self.kept = [self.own_buffer(self.current(value), claimed) for value in self.kept]
        return replace(self.graph, nodes=self.nodes, outputs=outputs)

    def legalize(self, original: Node) -> None:
        """Emit a node, or what stands for it."""
        node = self.with_replaced_inputs(original)
        rule = self.rules.get(node.name)
        result = rule(node) if rule is not None else None
        if result is None:
            self.nodes.append(node)
        else:
            self.replaced[original.outputs[0]] = result

    def own_buffer(self, value: Value, claimed: set[Value]) -> Value:
        """A kept value that is a view of another one: reshaped results take over the buffer, others
        are copied.
        """
        base = value
        while base.node is not None and base.node.name == "reshape":
            base = base.node.inputs[0]
        is_view = base.node is None or base.node.name in AFFINE_VIEWS
        if value is not base and (is_view or base in claimed) or is_view:
            return self.convert(value, value.dtype)
        claimed.add(base)
        return value

    def current(self, value: Value) -> Value:
        return self.replaced.get(value, value)

    def with_replaced_inputs(self, node: Node) -> Node:
        inputs = tuple(self.current(value) for value in node.inputs)
        if all(new is old for new, old in zip(inputs, node.inputs)):
            return node
        return self.with_inputs(node, inputs)

    def with_inputs(self, node: Node, inputs: tuple[Value, ...]) -> Node:
        result = replace(node, inputs=inputs)
        result.outputs = tuple(replace(value, node=result) for value in node.outputs)
        self.replaced.update(zip(node.outputs, result.outputs))
        return result

    def emit(
        self,
        name: str,
        inputs: tuple[Value, ...],
        dtype: DType,
        shape: tuple[Any, ...],
        /,
        **attributes: Any,
    ) -> Value:
        node = Node(PRIMITIVES[name], inputs, attributes)
        value = Value(dtype, shape, node)
        node.outputs = (value,)
        self.nodes.append(node)
        return value

    def traced(self, function: Callable[..., Traced], *values: Value) -> Value:
        """What a function over traced values gives, its nodes in their legal form."""
        environment = self.graph.environment
        lift, context = environment.lift, GraphContext(environment)
        with context.active():
            result = function(*map(context.wrap, values)).value
        environment.lift = lift
        for node in context.graph.nodes:
            self.legalize(node)
        return self.current(result)

    def convert(self, value: Value, dtype: DType) -> Value:
        return self.emit("convert", (value,), dtype, value.shape, dtype=dtype)

    def needs_copy(self, value: Value) -> bool:
        """Whether an output shares memory with an input, overlaps itself or is flipped."""
        broadcast = flipped = False
        while value.node is not None and value.node.name in AFFINE_VIEWS:
            flipped |= value.node.name == "flip"
            broadcast |= value.node.name in ("expand", "slice", "window")
            value = value.node.inputs[0]
        return flipped or not self.may_alias and (broadcast or value.node is None)

    def matmul(self, node: Node) -> Value | None:
        a, b = node.inputs
        result = node.outputs[0]
        if result.dtype.name in GEMM_TYPES:
            return None
        if result.dtype.is_floating_point:
            wide = self.emit(
                "matmul",
                (self.convert(a, float32), self.convert(b, float32)),
                float32,
                result.shape,
            )
            return self.convert(wide, result.dtype)
        *batch, m, k = a.shape
        n = b.shape[-1]
        shape = (*batch, m, k, n)
        left = self.expand(
            self.emit("reshape", (a,), a.dtype, (*batch, m, k, 1), shape=(*batch, m, k, 1)), shape
        )
        right = self.expand(
            self.emit("reshape", (b,), b.dtype, (*batch, 1, k, n), shape=(*batch, 1, k, n)), shape
        )
        product = self.emit("mul", (left, right), result.dtype, shape)
        dim = len(shape) - 2
        total = self.emit("sum", (product,), result.dtype, (*batch, m, 1, n), dims=(dim,))
        return self.emit("reshape", (total,), result.dtype, result.shape, shape=result.shape)

    def expand(self, value: Value, shape: tuple[Any, ...]) -> Value:
        return self.emit("expand", (value,), value.dtype, shape, shape=shape)

    def pad(self, node: Node) -> Value:
        source, result = node.inputs[0], node.outputs[0]
        attributes = node.attributes
        zero = self.emit("constant", (), result.dtype, (), value=0, dtype=result.dtype, weak=False)
        zeros = self.emit(
            "full", (zero,), result.dtype, result.shape, shape=result.shape, dtype=result.dtype
        )
        return self.emit(
            "slice_scatter", (zeros, source), result.dtype, result.shape,
            dim=attributes["dim"], start=attributes["before"], step=attributes["step"],
        )  # fmt: skip

    def overlap_add(self, node: Node) -> Value:
        return self.traced(partial(overlapped, **node.attributes), *node.inputs)

    def convolution(self, node: Node) -> Value | None:
        function = convolve.replacement(node)
        return None if function is None else self.traced(function, *node.inputs)

    def scatter(self, node: Node) -> Value | None:
        function = scatter.replacement(node)
        return None if function is None else self.traced(function, *node.inputs)

    def reshape(self, node: Node) -> Value | None:
        """A reshape that merges or splits dims of a possibly strided view works on a copy."""
        source = node.inputs[0]
        base, plain = source, True
        while base.node is not None and base.node.name in AFFINE_VIEWS:
            plain &= base.node.name == "reshape"
            base = base.node.inputs[0]
        if trivial_reshape(node) or (plain and (base.node is not None or base in self.contiguous)):
            return None
        return self.emit(
            "reshape",
            (self.convert(source, source.dtype),),
            source.dtype,
            node.outputs[0].shape,
            **node.attributes,
        )
