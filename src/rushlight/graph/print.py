"""Graphs as text: runnable Python whose lines carry dtype, shape and the user's file and line.

Each node is a call ``name_(inputs, attributes, outputs=[dtypes])``; ``devices/reference.py`` runs
the text.
"""

from __future__ import annotations

import os
from typing import Any

from ..dtypes import dtype as DType
from .node import Graph, Node, Value
from .polynomials import Atom
from .symbols import SymbolicInt


def text(graph: Graph) -> str:
    """The graph as a Python function ``graph(inputs, sizes)``."""
    return "\n".join(_Printer(graph).lines()) + "\n"


def value_names(graph: Graph) -> dict[Value, str]:
    """The names that the graph's text gives to its values."""
    return _Printer(graph).names


def type_text(value: Value) -> str:
    """``float32[s0, 4]``; a weak value has no brackets."""
    if value.weak:
        return f"number {value.dtype.name}"
    return f"{value.dtype.name}[{', '.join(map(str, value.shape))}]"


class _Printer:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.names: dict[Value, str] = {}
        for position, value in enumerate(graph.inputs):
            self.names[value] = value.name or f"a{position}"
        for position, value in enumerate(output for node in graph.nodes for output in node.outputs):
            self.names[value] = f"v{position}"
        self.lone: dict[str, str] = {}  # symbols that an input's shape tells
        for value in graph.inputs:
            for dim, size in enumerate(value.shape):
                if isinstance(size, SymbolicInt):
                    self.lone.setdefault(repr(size), f"{self.names[value]}.shape[{dim}]")

    def lines(self) -> list[str]:
        symbols = [repr(atom) for atom in self.graph.environment.symbols]
        given = [name for name in symbols if name not in self.lone and self._is_used(name)]
        parameters = [self.names[value] for value in self.graph.inputs]
        if given:
            parameters += ["*", *given]
        result = [f"def graph({', '.join(parameters)}):"]
        result += [f"    # {self.names[value]}: {type_text(value)}" for value in self.graph.inputs]
        result += [
            f"    # guard: {a} {operation} {b}" for operation, a, b in self.graph.environment.guards
        ]
        result += [f"    {name} = {self.lone[name]}" for name in symbols if name in self.lone]
        for node in self.graph.nodes:
            result.append(self.line(node))
            result += self._unbacked(node)
        outputs = ["None" if value is None else self.names[value] for value in self.graph.outputs]
        result.append(
            f"    return {', '.join(outputs)}{',' if len(outputs) == 1 else ''}"
            if outputs
            else "    return ()"
        )
        return result

    def _is_used(self, name: str) -> bool:
        """Whether a symbol that no input tells has to be passed in; those of data-dependent sizes
        come from nodes.
        """
        atom = next(each for each in self.graph.environment.symbols if repr(each) == name)
        return atom.hint is not None and any(
            atom in symbols_in((node.attributes, [v.shape for v in node.outputs]))
            for node in self.graph.nodes
        )

    def _unbacked(self, node: Node) -> list[str]:
        """Sizes that this node's results tell."""
        lines = []
        for value in node.outputs:
            for dim, size in enumerate(value.shape):
                if (
                    isinstance(size, SymbolicInt)
                    and size.hint is None
                    and repr(size) not in self.lone
                ):
                    if len(symbols_in(size)) == 1 and repr(size) == repr(
                        next(iter(symbols_in(size)))
                    ):
                        self.lone[repr(size)] = ""
                        lines.append(f"    {size} = {self.names[value]}.shape[{dim}]")
        return lines

    def line(self, node: Node) -> str:
        inputs = [self.names[value] for value in node.inputs]
        attributes = [f"{name}={attribute_text(each)}" for name, each in node.attributes.items()]
        dtypes = f"outputs=[{', '.join(value.dtype.name for value in node.outputs)}]"
        targets = ", ".join(self.names[value] for value in node.outputs)
        types = ", ".join(map(type_text, node.outputs))
        source = f"  {os.path.basename(node.source[0])}:{node.source[1]}" if node.source else ""
        call = f"{node.name}_({', '.join([*inputs, *attributes, dtypes])})"
        return f"    {targets} = {call}  # {types}{source}"


def attribute_text(attribute: Any) -> str:
    """An attribute as Python source."""
    if isinstance(attribute, DType):
        return attribute.name
    if isinstance(attribute, tuple):
        return f"({', '.join(map(attribute_text, attribute))}{',' if len(attribute) == 1 else ''})"
    if isinstance(attribute, bool | int | float | complex | str | SymbolicInt) or attribute is None:
        return repr(attribute)
    return "None"  # a generator: the text draws from the one that it is run with


def symbols_in(sizes: Any) -> set[Atom]:
    """The symbols in a nest of tuples, lists, dicts and sizes."""
    if isinstance(sizes, SymbolicInt):
        found = set()
        for monomial in sizes.terms:
            for atom, _ in monomial:
                found |= {atom} if atom.operation is None else symbols_in(atom.operands)
        return found
    if isinstance(sizes, dict):
        sizes = tuple(sizes.values())
    return set().union(*map(symbols_in, sizes)) if isinstance(sizes, tuple | list) else set()
