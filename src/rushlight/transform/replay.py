"""Re-applies a graph's nodes in another context, with other sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..graph.expressions import substitute
from ..graph.node import Graph, Node, Region, Value
from ..graph.polynomials import Atom
from ..graph.symbols import SymbolicInt
from ..graph.trace import Context, GraphContext, Traced

Sizes = Callable[
    [Atom], Any
]  # what a symbol of the graph is in the other context: an int or a symbolic int


def unchanged(atom: Atom) -> SymbolicInt:
    """The ``Sizes`` of a context that shares the graph's environment."""
    raise AssertionError(f"{atom!r} is substituted although the environment is the same")


def substitute_all(argument: Any, sizes: Sizes) -> Any:
    """An attribute with the symbols in it replaced."""
    if sizes is unchanged:
        return argument
    if isinstance(argument, SymbolicInt):
        return substitute(argument, sizes)
    if isinstance(argument, dict):
        return {name: substitute_all(each, sizes) for name, each in argument.items()}
    if type(argument) in (tuple, list):
        return type(argument)(substitute_all(each, sizes) for each in argument)
    return argument


def replay(
    graph: Graph,
    context: Context,
    bindings: Mapping[Value, Traced],
    sizes: Sizes = unchanged,
    wanted: Iterable[Value] | None = None,
) -> dict[Value, Traced]:
    """Apply the graph's nodes in ``context`` and return what stands for each value there.

    Args:
        graph: the graph to apply.
        context: where; a graph or a transform.
        bindings: what stands for values that are known already, at least for the inputs that are
            needed. Nodes of which all outputs are bound are skipped.
        sizes: what stands for the symbols.
        wanted: only what these values need is applied; None: everything.
    """
    values = dict(bindings)
    needed = None if wanted is None else _needed(graph, values, wanted)
    with context.active():
        for node in graph.nodes:
            if needed is not None and node not in needed:
                continue
            if any(output not in values for output in node.outputs):
                for value, result in zip(
                    node.outputs, apply_node(node, context, values, sizes), strict=True
                ):
                    values.setdefault(value, result)
                    sizes = _with_new_symbols(graph, value, result, sizes)
    if isinstance(context, GraphContext):
        copy_regions(graph, context, values, sizes)
    return values


def _with_new_symbols(graph: Graph, value: Value, result: Traced, sizes: Sizes) -> Sizes:
    """Sizes with the symbols of sizes that a step yields when it runs: each replay has its own."""
    renamed = {}
    for old, new in zip(value.shape, result.shape, strict=True):
        atom = old.atom() if isinstance(old, SymbolicInt) else None
        if atom is not None and atom.hint is None:
            renamed[atom] = new
    if not renamed:
        return sizes
    if sizes is unchanged:
        return lambda atom: (
            renamed[atom] if atom in renamed else graph.environment.canonical({((atom, 1),): 1})
        )
    return lambda atom: renamed[atom] if atom in renamed else sizes(atom)


def apply_node(
    node: Node, context: Context, values: Mapping[Value, Traced], sizes: Sizes
) -> tuple[Traced, ...]:
    """One node of a graph, applied in another context."""
    inputs = [values[value] for value in node.inputs]
    return context.apply(node.primitive, inputs, substitute_all(node.attributes, sizes))


def _needed(graph: Graph, bound: Mapping[Value, Traced], wanted: Iterable[Value]) -> set[Node]:
    missing = {value for value in wanted if value not in bound}
    nodes = set()
    for node in reversed(graph.nodes):
        if any(output in missing for output in node.outputs):
            nodes.add(node)
            missing.update(value for value in node.inputs if value not in bound)
    return nodes


def copy_regions(
    graph: Graph, context: GraphContext, values: Mapping[Value, Traced], sizes: Sizes
) -> None:
    """Note in ``context`` the calls of composites of which all values have a counterpart there."""
    for region in graph.regions:
        if all(value in values for value in (*region.outputs, *tensors_in(region.arguments))):
            outputs = tuple(values[value].value for value in region.outputs)
            arguments = {
                name: map_arguments(each, lambda value: values[value].value, sizes)
                for name, each in region.arguments.items()
            }
            context.graph.regions.append(Region(region.composite, arguments, outputs))


def map_arguments(argument: Any, tensor: Callable[[Value], Any], sizes: Sizes) -> Any:
    """A region's argument with each value replaced by ``tensor(value)``, and the symbols too."""
    if isinstance(argument, Value):
        return tensor(argument)
    if type(argument) in (tuple, list):
        return type(argument)(map_arguments(each, tensor, sizes) for each in argument)
    return substitute_all(argument, sizes)


def tensors_in(argument: Any) -> list[Value]:
    """The values in a region's arguments, in their order."""
    if isinstance(argument, Value):
        return [argument]
    if isinstance(argument, dict):
        argument = tuple(argument.values())
    if isinstance(argument, tuple | list):
        return [value for each in argument for value in tensors_in(each)]
    return []


def copy_inputs(
    graph: Graph, context: GraphContext, shapes: Sequence[tuple[Any, ...]] | None = None
) -> list[Traced]:
    """New inputs of ``context`` like those of the graph, which shares its environment.

    shapes: their shapes, if these differ.
    """
    shapes = [value.shape for value in graph.inputs] if shapes is None else shapes
    inputs = [
        context.input(value.dtype, shape, value.name, value.weak)
        for value, shape in zip(graph.inputs, shapes, strict=True)
    ]
    copies = {old: new.value for old, new in zip(graph.inputs, inputs, strict=True)}
    context.graph.scalar_guards += [
        (operation, copies[value], number) for operation, value, number in graph.scalar_guards
    ]
    return inputs
