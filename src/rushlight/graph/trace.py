"""The tracer: Python code over ``Traced`` values appends nodes to a graph.

Operators are applied through a *context*. A ``GraphContext`` appends a node; a transform (batching,
forward mode) is a context of its own whose values are ``Traced`` too: it works a primitive out with
others, applied in the context below it.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import dtypes
from ..dtypes import dtype as DType
from .context import (
    Captures,
    Context,
    NestedContext,
    NestedValue,
    apply,
    captures,
    current_context,
    lifted,
    set_captures,
    tracing_contexts,
)
from .node import Graph, Node, Region, Value
from .rewrite import node_key, remove_dead, simplify
from .symbols import ShapeEnvironment, SymbolicInt
from .traced import METHODS, Number, Traced, TracedNumber, contains_traced

if TYPE_CHECKING:
    from ..ops.record import Composite, Primitive

__all__ = [
    "METHODS",
    "PRIMITIVES",
    "Captures",
    "Context",
    "GraphContext",
    "NestedContext",
    "NestedValue",
    "Number",
    "Traced",
    "TracedNumber",
    "apply",
    "captures",
    "contains_traced",
    "current_context",
    "lifted",
    "number_type",
    "set_captures",
    "user_source",
]

# The primitives by name; filled by ops/record.py.
PRIMITIVES: dict[str, Primitive] = {}

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class GraphContext(Context):
    """Appends nodes to a graph."""

    def __init__(self, environment: ShapeEnvironment | None = None) -> None:
        self.environment = environment or ShapeEnvironment()
        self.environment.lift = self.number
        self.graph = Graph(self.environment)
        self.hints: dict[Value, Any] = {}  # run-time numbers: their values in the call being traced
        self._known: dict[Any, Node] = {}

    # ---- inputs

    def input(
        self, dtype: DType, shape: Sequence[Any], name: str = "", weak: bool = False
    ) -> Traced:
        """A tensor that the graph takes, or a number (weak) of which only the type is known."""
        return self.wrap(self._new_input(Value(dtype, tuple(shape), weak=weak, name=name)))

    def number_input(self, value: Any, name: str = "") -> Traced:
        """A run-time number that the graph takes; ``value`` is what it is in this call."""
        result = self._new_input(Value(number_type(value), (), weak=True, name=name))
        self.hints[result] = value
        return TracedNumber(self, result)

    def _new_input(self, value: Value) -> Value:
        value.index = len(self.graph.inputs)
        self.graph.inputs.append(value)
        return value

    # ---- nodes

    def number(self, value: Any) -> Traced:
        return apply_one(
            self,
            PRIMITIVES["constant"],
            (),
            {"value": value, "dtype": number_type(value), "weak": True},
        )

    def apply(
        self, primitive: Primitive, inputs: Sequence[Traced], attributes: dict[str, Any]
    ) -> tuple[Traced, ...]:
        for x in inputs:
            if x.context is not self:
                raise RuntimeError(
                    f"{primitive.name}: a tensor of another trace is used here; pass it as an "
                    "argument instead"
                )
        return tuple(
            map(self.wrap, self.append(primitive, tuple(x.value for x in inputs), attributes))
        )

    def wrap(self, value: Value) -> Traced:
        return (TracedNumber if value.weak else Traced)(self, value)

    def append(
        self, primitive: Primitive, inputs: tuple[Value, ...], attributes: dict[str, Any]
    ) -> tuple[Value, ...]:
        """The outputs of a primitive: of an equal earlier node, or of a new one."""
        while (simpler := simplify(primitive, inputs, attributes)) is not None:
            if isinstance(simpler, Value):
                return (simpler,)
            primitive, inputs, attributes = PRIMITIVES[simpler[0]], simpler[1], simpler[2]
        key = None if primitive.impure else node_key(primitive, inputs, attributes)
        if key is not None and key in self._known:
            return self._known[key].outputs
        node = Node(primitive, inputs, attributes, source=user_source())
        node.outputs = tuple(
            Value(dtype, tuple(shape), node, index, weak)
            for index, (dtype, shape, weak) in enumerate(
                primitive.infer(inputs, attributes, self.environment)
            )
        )
        self.graph.nodes.append(node)
        if key is not None:
            self._known[key] = node
        return node.outputs

    # ---- composites with derivatives of their own

    def enter(self, composite: Composite, arguments: dict[str, Any]) -> Any:
        return Region(composite, unwrap(arguments), ())

    def leave(self, token: Region, result: Any) -> None:
        results = result if isinstance(result, tuple | list) else (result,)
        token.outputs = tuple(each.value for each in results if isinstance(each, Traced))
        self.graph.regions.append(token)

    # ---- the end

    def finish(self, outputs: Sequence[Traced | Value | None]) -> Graph:
        """Set the outputs and drop the nodes that nothing needs.

        Numbers become tensors of their default dtype.
        """
        self.graph.outputs = [self._output(each) for each in outputs]
        remove_dead(self.graph)
        return self.graph

    def _output(self, output: Any) -> Value | None:
        if output is None:
            return None
        if isinstance(output, Number):
            output = self.number(output)
        value = output.value if isinstance(output, Traced) else output
        if value.weak:
            target = _tensor_dtype(value.dtype)
            (value,) = self.append(PRIMITIVES["convert"], (value,), {"dtype": target})
        return value


def _tensor_dtype(dtype: DType) -> DType:
    if dtype.is_floating_point:
        return dtypes.get_default_dtype()
    return dtypes.get_default_dtype().to_complex() if dtype.is_complex else dtype


def apply_one(
    context: Context, primitive: Primitive, inputs: Sequence[Traced], attributes: dict[str, Any]
) -> Traced:
    (result,) = context.apply(primitive, inputs, attributes)
    return result


def number_type(value: Any) -> DType:
    """The dtype of a weak value for a Python number: bool, int64, float64 or complex128."""
    if isinstance(value, bool):
        return dtypes.bool
    if isinstance(value, int | SymbolicInt):
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise RuntimeError(
                f"value cannot be converted to type int64_t without overflow: {value}"
            )
        return dtypes.int64
    return dtypes.complex128 if isinstance(value, complex) else dtypes.float64


def unwrap(argument: Any) -> Any:
    """Arguments with values in the place of traced tensors."""
    if isinstance(argument, Traced):
        return argument.value
    if isinstance(argument, dict):
        return {name: unwrap(each) for name, each in argument.items()}
    if isinstance(argument, list | tuple):
        return type(argument)(map(unwrap, argument))
    return argument


def user_source() -> tuple[str, int] | None:
    """File and line of the innermost frame outside this package."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def warn_user(message: str) -> None:
    """A UserWarning at the line that called the operator that runs; of one that is being traced at
    each call of the plan that comes out.
    """
    for context in reversed(tracing_contexts()):
        if isinstance(context, GraphContext):
            context.graph.warnings.append(message)
            return
    show_warning(message)


def show_warning(message: str) -> None:
    """A UserWarning at the innermost line outside this package."""
    filename, line = user_source() or ("<unknown>", 1)
    warnings.warn_explicit(message, UserWarning, filename, line)
