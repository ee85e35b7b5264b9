"""The functional SSA graph: values, nodes, graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..dtypes import dtype as DType

if TYPE_CHECKING:
    from ..ops.record import Composite, Primitive
    from .symbols import Dimension, ShapeEnvironment


@dataclass(frozen=True)
class Order:
    """Dense in memory, with these dims from outermost to innermost."""

    dims: tuple[int, ...]


@dataclass(frozen=True)
class Channels:
    """Dense in memory, channels last if one of these views of arguments lies so, else row-major."""

    operands: tuple[Value, ...]


@dataclass(eq=False)
class Value:
    """One result of a node, or an input of the graph (``node`` is None)."""

    dtype: DType
    shape: tuple[Dimension, ...]
    node: Node | None = None
    index: int = 0
    weak: bool = False  # a Python number: 0-d, takes no part in promotion
    name: str = ""
    # How a result lies in memory, if the operator says so: as this input does, or an elementwise
    # result of these, with its dims in an order, channels last as operands, or "contiguous".
    like: Value | tuple[Value, ...] | Order | Channels | str | None = None
    # Whether a backward pass that reads it keeps it, rather than what it is computed from.
    kept: bool = False


@dataclass(eq=False)
class Node:
    """A primitive applied to values."""

    primitive: Primitive
    inputs: tuple[Value, ...]
    attributes: dict[str, Any]
    outputs: tuple[Value, ...] = ()
    source: tuple[str, int] | None = None  # the user's file and line

    @property
    def name(self) -> str:
        return self.primitive.name


@dataclass(eq=False)
class Region:
    """A call of a composite: ``arguments`` by parameter name, tensors as values; what it gave."""

    composite: Composite
    arguments: dict[str, Any]
    outputs: tuple[Value, ...]


@dataclass(eq=False)
class Graph:
    """inputs are tensors and weak scalars in the order of the call; outputs are what it returns.

    ``scalar_guards``: ``(operation, input, number)``, what must hold of run-time numbers: eq ne lt
    le gt ge isnan.
    ``regions``: the calls of composites that carry a derivative of their own.
    ``mutations`` maps a position in ``inputs`` to a position in ``outputs``: that output is the
    input's new content.
    ``warnings``: messages for users, at each call.
    """

    environment: ShapeEnvironment
    inputs: list[Value] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    outputs: list[Value | None] = field(default_factory=list)
    mutations: dict[int, int] = field(default_factory=dict)
    scalar_guards: list[tuple[str, Value, Any]] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def values(self) -> Iterator[Value]:
        yield from self.inputs
        for node in self.nodes:
            yield from node.outputs
