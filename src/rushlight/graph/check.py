"""What must hold of every graph: the invariants in ``docs/design.md``, "The graph"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .node import Graph, Node, Value
from .symbols import SymbolicInt, same, same_shape


class GraphError(AssertionError):
    """A graph breaks a rule. The message names the node and the user's line."""


def check(graph: Graph) -> None:
    """Raise ``GraphError`` if the graph breaks a rule."""
    known: set[Value] = set(graph.inputs)
    for value in graph.inputs:
        _require(value.node is None, None, f"input {value.name or value.index} has a node")
    for node in graph.nodes:
        _check_node(node, known, graph)
        known.update(node.outputs)
    for position, output in enumerate(graph.outputs):
        _require(output is None or output in known, None, f"output {position} is not computed")
    for source, target in graph.mutations.items():
        _check_mutation(graph, source, target)


def _require(condition: bool, node: Node | None, message: str) -> None:
    if not condition:
        where = "graph" if node is None else node.name
        source = f" ({node.source[0]}:{node.source[1]})" if node is not None and node.source else ""
        raise GraphError(f"{where}: {message}{source}")


def _check_mutation(graph: Graph, source: int, target: int) -> None:
    old, new = graph.inputs[source], graph.outputs[target]
    _require(new is not None, None, f"input {source} is set to nothing")
    assert new is not None
    _require(
        same_shape(old.shape, new.shape) and old.dtype is new.dtype,
        None,
        f"input {source} of {old.dtype} {old.shape} is set to a value of {new.dtype} {new.shape}",
    )


def _check_node(node: Node, known: set[Value], graph: Graph) -> None:
    for value in node.inputs:
        _require(value in known, node, "an input is not computed before")
    expected = node.primitive.infer(node.inputs, node.attributes, graph.environment)
    _require(
        len(expected) == len(node.outputs),
        node,
        f"{len(node.outputs)} outputs instead of {len(expected)}",
    )
    for index, (value, (dtype, shape, weak)) in enumerate(zip(node.outputs, expected, strict=True)):
        _require(
            value.node is node and value.index == index, node, "an output does not know its node"
        )
        _require(value.dtype is dtype, node, f"output of {value.dtype} instead of {dtype}")
        _require(
            _matching(value.shape, shape),
            node,
            f"output of shape {value.shape} instead of {tuple(shape)}",
        )
        _require(
            value.weak == weak and (not weak or value.shape == ()),
            node,
            "a weak value must be a 0-d number",
        )
    rule = _RULES.get(node.name)
    if rule is not None:
        rule(node)
    elif isinstance(node.primitive.scalar, str) and len({value.dtype for value in node.inputs}) > 1:
        allowed = node.name == "where" and node.inputs[1].dtype is node.inputs[2].dtype
        is_elementwise = type(node.primitive.kind).__name__ == "Elementwise"
        _require(allowed or not is_elementwise, node, "inputs were not converted to one dtype")


def _matching(shape: tuple, expected: Any) -> bool:
    """Equal shapes; a size known only at run time is a new symbol each time it is inferred."""
    return len(shape) == len(expected) and all(
        same(a, b) or (isinstance(a, SymbolicInt) and a.hint is None)
        for a, b in zip(shape, expected, strict=True)
    )


def _known_equal(a: Any, b: Any) -> bool:
    """Whether two sizes are equal by algebra or by a guard."""
    if same(a, b):
        return True
    symbolic = next((size for size in (a, b) if isinstance(size, SymbolicInt)), None)
    if symbolic is None:
        return False
    return any(
        operation == "eq" and (same(x - y, a - b) or same(x - y, b - a))
        for operation, x, y in symbolic.environment.guards
    )


# ---------------------------------------------------------------- rules of single primitives


def _dims(node: Node) -> None:
    dims, rank = node.attributes["dims"], len(node.inputs[0].shape)
    _require(
        all(isinstance(dim, int) and 0 <= dim < rank for dim in dims),
        node,
        f"dims {dims} of a {rank}-d input",
    )
    _require(
        tuple(dims) == tuple(sorted(set(dims))), node, f"dims {dims} are not sorted or not distinct"
    )


def _dim(node: Node) -> None:
    dim, rank = node.attributes["dim"], len(node.inputs[0].shape)
    _require(isinstance(dim, int) and 0 <= dim < rank, node, f"dim {dim} of a {rank}-d input")


def _permute(node: Node) -> None:
    dims = node.attributes["dims"]
    _require(
        sorted(dims) == list(range(len(node.inputs[0].shape))), node, f"{dims} is no permutation"
    )


def _expand(node: Node) -> None:
    source, target = node.inputs[0].shape, node.attributes["shape"]
    lead = len(target) - len(source)
    fits = lead >= 0 and all(
        same(a, 1) or _known_equal(a, b) for a, b in zip(source, target[lead:], strict=False)
    )
    _require(fits, node, f"shape {source} does not expand to {target}")


def _join(node: Node) -> None:
    _dim(node)
    _require(
        len({value.dtype for value in node.inputs}) == 1,
        node,
        "inputs were not converted to one dtype",
    )


def _index(node: Node) -> None:
    first = node.inputs[_FIRST_INDEX[node.name]]
    indices = node.inputs[_FIRST_INDEX[node.name] :]
    _require(len(indices) == len(node.attributes["dims"]), node, "not one index for each dim")
    _require(
        all(same_shape(each.shape, first.shape) for each in indices),
        node,
        "indices of several shapes",
    )


_FIRST_INDEX = {"index": 1, "index_put": 2}
_RULES: dict[str, Callable[[Node], None]] = {
    **dict.fromkeys(("sum", "prod", "amax", "amin", "any", "all", "flip"), _dims),
    **dict.fromkeys(
        ("argmax", "argmin", "cumsum", "slice", "pad", "gather", "scatter", "scatter_add"), _dim
    ),
    **dict.fromkeys(("index", "index_put"), _index),
    "permute": _permute,
    "expand": _expand,
    "cat": _join,
}
