"""Rewrites a graph so that every node has a lowering: what libraries and loops cannot do directly becomes what they can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dtypes import dtype as DType
from ..dtypes import float32
from ..graph.node import Graph, Node, Value
from ..ops.record import primitives
from .steps import AFFINE_VIEWS, trivial_reshape

GEMM_TYPES = {"float32", "float64", "complex64", "complex128"}


class Legalizer:
    """Walks the nodes in order and emits replacements.

    Args:
        graph: changed in place.
        contiguous: graph inputs known to be contiguous.
        may_alias: whether outputs may share memory with inputs.
    """

    def __init__(self, graph: Graph, contiguous: set[Value], may_alias: bool):
        self.graph = graph
        self.contiguous = contiguous
        self.may_alias = may_alias
        self.nodes: list[Node] = []
        self.replaced: dict[Value, Value] = {}

    def run(self) -> dict[Value, Value]:
        """Rewrite the graph; returns what replaced which value."""
        rules: dict[str, Callable[[Node], Value | None]] = {
            "matmul": self.matmul,
            "pad": self.pad,
            "reshape": self.reshape,
        }
        for node in self.graph.nodes:
            node.inputs = tuple(self.replaced.get(v, v) for v in node.inputs)
            rule = rules.get(node.name)
            result = rule(node) if rule is not None else None
            if result is None:
                self.nodes.append(node)
            else:
                self.replaced[node.outputs[0]] = result
        outputs = [self.replaced.get(v, v) if v is not None else None for v in self.graph.outputs]
        mutated = set(self.graph.mutations.values())
        self.graph.outputs = [
            v if v is None or i in mutated or not self.needs_copy(v) else self.convert(v, v.dtype)
            for i, v in enumerate(outputs)
        ]
        self.graph.nodes = self.nodes
        return self.replaced

    def emit(self, name: str, inputs: tuple[Value, ...], dtype: DType, shape: tuple[Any, ...], **attributes: Any) -> Value:
        node = Node(primitives[name], inputs, attributes)
        value = Value(dtype, shape, node)
        node.outputs = (value,)
        self.nodes.append(node)
        return value

    def convert(self, value: Value, dtype: DType) -> Value:
        return self.emit("convert", (value,), dtype, value.shape, dtype=dtype)

    def needs_copy(self, value: Value) -> bool:
        """Whether an output would share memory with an input, or have overlapping elements."""
        if self.may_alias:
            return False
        broadcast = False
        while value.node is not None and value.node.name in AFFINE_VIEWS:
            broadcast |= value.node.name in ("expand", "slice")
            value = value.node.inputs[0]
        return broadcast or value.node is None

    def matmul(self, node: Node) -> Value | None:
        a, b = node.inputs
        result = node.outputs[0]
        if result.dtype.name in GEMM_TYPES:
            return None
        if result.dtype.is_floating_point:
            wide = self.emit("matmul", (self.convert(a, float32), self.convert(b, float32)), float32, result.shape)
            return self.convert(wide, result.dtype)
        *batch, m, k = a.shape
        n = b.shape[-1]
        shape = (*batch, m, k, n)
        left = self.expand(self.emit("reshape", (a,), a.dtype, (*batch, m, k, 1), shape=(*batch, m, k, 1)), shape)
        right = self.expand(self.emit("reshape", (b,), b.dtype, (*batch, 1, k, n), shape=(*batch, 1, k, n)), shape)
        product = self.emit("mul", (left, right), result.dtype, shape)
        dim = len(shape) - 2
        total = self.emit("sum", (product,), result.dtype, (*batch, m, 1, n), dims=(dim,))
        return self.emit("reshape", (total,), result.dtype, result.shape, shape=result.shape)

    def expand(self, value: Value, shape: tuple[Any, ...]) -> Value:
        return self.emit("expand", (value,), value.dtype, shape, shape=shape)

    def pad(self, node: Node) -> Value:
        source, result = node.inputs[0], node.outputs[0]
        attributes = node.attributes
        zero = self.emit("constant", (), result.dtype, (), value=0)
        zeros = self.emit("full", (zero,), result.dtype, result.shape, shape=result.shape, dtype=result.dtype)
        return self.emit(
            "slice_scatter", (zeros, source), result.dtype, result.shape,
            dim=attributes["dim"], start=attributes["before"], step=attributes["step"],
        )  # fmt: skip

    def reshape(self, node: Node) -> Value | None:
        """A reshape that merges or splits dims of a possibly non-contiguous view works on a copy."""
        source = node.inputs[0]
        base, plain = source, True
        while base.node is not None and base.node.name in AFFINE_VIEWS:
            plain &= base.node.name == "reshape"
            base = base.node.inputs[0]
        if trivial_reshape(node) or (plain and (base.node is not None or base in self.contiguous)):
            return None
        node.inputs = (self.convert(source, source.dtype),)
        return None
