"""Reverse mode: the backward pass of a graph, appended to a graph as ordinary nodes.

Gradients follow PyTorch's conventions: those of complex values are conjugate, integer and bool
values have none, and a gradient that is known to be absent is None instead of zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..graph.node import Graph, Node, Region, Value
from ..graph.polynomials import Atom
from ..graph.symbols import SymbolicInt, same_shape
from ..graph.trace import PRIMITIVES, GraphContext, Traced
from ..layout import broadcast_shapes
from ..ops import build
from ..ops.kinds import Elementwise, Host, Source, View
from ..ops.record import NONE
from .replay import (
    Sizes,
    apply_node,
    copy_regions,
    map_arguments,
    substitute_all,
    tensors_in,
    unchanged,
)
from .saved import Saved, select

Lookup = Callable[[Value], Traced]


def gradients(
    context: GraphContext,
    graph: Graph,
    seeds: Mapping[Value, Traced | Value],
    wanted: Sequence[Value],
    lookup: Lookup | None = None,
    sizes: Sizes = unchanged,
) -> list[Traced | None]:
    """Append to ``context`` what gives the gradients of ``wanted``; None for values that get none.

    Args:
        context: where nodes are appended.
        graph: the graph to differentiate: the context's own or another one.
        seeds: gradients of any values of the graph: outputs or intermediate ones.
        wanted: values of the graph.
        lookup: what stands for a value of the graph in the context; by default the graph is the
            context's own.
        sizes: what stands for the graph's symbols there.
    """
    walk = _Walk(graph, wanted, lookup or context.wrap, sizes)
    with context.active():
        for value, seed in seeds.items():
            walk.accumulate(value, context.wrap(seed) if isinstance(seed, Value) else seed)
        walk.run()
    return [walk.gradients.get(value) for value in wanted]


class _Walk:
    """One pass over a graph from its end to its beginning."""

    def __init__(self, graph: Graph, wanted: Sequence[Value], lookup: Lookup, sizes: Sizes) -> None:
        self.nodes = list(graph.nodes)
        self.wanted = set(wanted)
        self.lookup = lookup
        self.sizes = sizes
        self.gradients: dict[Value, Traced] = {}
        self.active = dependents(graph, wanted)
        # The region whose own derivative takes a value's gradient.
        self.owner: dict[Value, Region] = {}
        # The regions to differentiate when a node is reached.
        self.due: dict[Node, list[Region]] = {}
        self._plan_regions(graph.regions)

    def accumulate(self, value: Value, gradient: Traced | None) -> None:
        """Add to a value's gradient, which has the value's dtype and shape."""
        if gradient is None or value not in self.active:
            return
        gradient = fitted(gradient, self.lookup(value))
        known = self.gradients.get(value)
        if known is not None:
            gradient = PRIMITIVES["add"].apply(known, gradient)
        self.gradients[value] = gradient

    def run(self) -> None:
        for node in reversed(self.nodes):
            for region in self.due.get(node, ()):
                self._differentiate_region(region)
            self._differentiate_node(node)

    def _differentiate_node(self, node: Node) -> None:
        arrived = [None if value in self.owner else self._take(value) for value in node.outputs]
        depends = any(value in self.active for value in node.inputs)
        if not depends or all(each is None for each in arrived):
            return
        inputs = [self.lookup(value) for value in node.inputs]
        outputs = [self.lookup(value) for value in node.outputs]
        attributes = substitute_all(node.attributes, self.sizes)
        results = node.primitive.vjp(inputs, outputs, arrived, attributes)
        for value, gradient in zip(node.inputs, results, strict=True):
            self.accumulate(value, gradient)

    def _take(self, value: Value) -> Traced | None:
        """A value's gradient, now complete; kept only if it is wanted."""
        if value in self.wanted:
            return self.gradients.get(value)
        return self.gradients.pop(value, None)

    # ---- composites with a derivative of their own

    def _plan_regions(self, regions: Sequence[Region]) -> None:
        """Choose the regions of which the own derivative is used.

        An outer composite comes after the inner ones and wins.
        """
        position = {node: i for i, node in enumerate(self.nodes)}
        first: dict[Region, Node] = {}
        for region in regions:
            node = self._first_node(region, position)
            if node is not None:
                self.owner.update((value, region) for value in region.outputs)
                first[region] = node
        for region, node in first.items():
            self.due.setdefault(node, []).append(region)

    def _first_node(self, region: Region, position: dict[Node, int]) -> Node | None:
        """The first node that gives an output, if all outputs come after all arguments; else None.

        When that node is reached the outputs' gradients are complete, and those of the arguments
        are not yet due. An output may be an argument, or older than one if an equal value was known
        before the call. A gradient that is wanted of a value inside needs the derived rule.
        """
        active = self.active.intersection(region.outputs)
        makers = [value.node for value in active if value.node in position]
        if len(makers) < len(active) or not active:
            return None
        first = min(makers, key=position.__getitem__)
        arguments = tensors_in(region.arguments)
        makers_of_arguments = [value.node for value in arguments if value.node is not None]
        if any(
            position.get(node, len(position)) >= position[first] for node in makers_of_arguments
        ):
            return None
        inner = {value for value in self.wanted if value.node is not None}
        inner -= {*region.outputs, *arguments}
        if inner and not inner.isdisjoint(ancestors(region.outputs, set(arguments))):
            return None
        return first

    def _differentiate_region(self, region: Region) -> None:
        arrived = [
            self._take(value) if self.owner[value] is region else None for value in region.outputs
        ]
        derivative = region.composite.derivative
        if all(each is None for each in arrived) or derivative is NONE:
            return
        outputs = [self.lookup(value) for value in region.outputs]
        single = len(outputs) == 1
        g, out = (arrived[0], outputs[0]) if single else (tuple(arrived), tuple(outputs))
        args, kwargs = self._region_arguments(region)
        assert derivative is not None
        self._accumulate_arguments(region, derivative(g, out, *args, **kwargs))

    def _region_arguments(self, region: Region) -> tuple[list[Any], dict[str, Any]]:
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for name, parameter in region.composite.signature.parameters.items():
            argument = map_arguments(region.arguments[name], self.lookup, self.sizes)
            if parameter.kind is parameter.KEYWORD_ONLY:
                kwargs[name] = argument
            elif parameter.kind is parameter.VAR_POSITIONAL:
                args.extend(argument)
            else:
                args.append(argument)
        return args, kwargs

    def _accumulate_arguments(self, region: Region, results: Any) -> None:
        """Results: one gradient, or one for each parameter that takes tensors or was given one."""
        passed = [
            region.arguments[p.name] for p in region.composite.parameters if p.mode.startswith("T")
        ]
        given = [each for each in passed if tensors_in(each)]
        results = results if isinstance(results, tuple) else (results,)
        targets = given if len(results) == len(given) else passed
        if len(results) != len(targets):
            raise AssertionError(
                f"{region.composite.name}: its derivative gives {len(results)} gradients "
                f"for {len(given)} tensors"
            )
        for target, result in zip(targets, results, strict=True):
            values = tensors_in(target)
            pieces = result if isinstance(result, tuple | list) else [result] * len(values)
            for value, gradient in zip(values, pieces, strict=True):
                self.accumulate(value, gradient)


def fitted(gradient: Traced, value: Traced) -> Traced:
    """The gradient in the value's dtype (of a real value the real part) and summed to its shape."""
    shape = value.shape
    if gradient.dtype is not value.dtype or gradient.weak:
        gradient = build.convert(gradient, value.dtype)
    if not same_shape(gradient.shape, shape):
        gradient = build.expand(gradient, broadcast_shapes([gradient.shape, shape], "gradient"))
    return build.sum_to(gradient, shape)


def dependents(graph: Graph, roots: Iterable[Value]) -> set[Value]:
    """The values through which a derivative with respect to the roots flows, the roots included."""
    found = {value for value in roots if value.dtype.is_differentiable and not value.weak}
    for node in graph.nodes:
        if node.primitive.differentiable and any(value in found for value in node.inputs):
            found.update(
                value for value in node.outputs if value.dtype.is_differentiable and not value.weak
            )
    return found


def ancestors(values: Iterable[Value], stop: set[Value]) -> set[Value]:
    """The values and what they are computed from, up to ``stop``."""
    found: set[Value] = set()
    pending = [value for value in values if value not in stop]
    while pending:
        value = pending.pop()
        if value not in found:
            found.add(value)
            if value.node is not None:
                pending.extend(each for each in value.node.inputs if each not in stop)
    return found


# ---------------------------------------------------------------- what a backward pass keeps


def is_cheap(node: Node) -> bool:
    """Whether a backward pass computes the node's results again rather than keeping them."""
    kind = node.primitive.kind
    if node.primitive.impure:
        return False
    if isinstance(kind, Host):
        return not node.inputs  # numbers that are known when the plan is made
    return isinstance(kind, Elementwise | View | Source)


def saved_values(
    graph: Graph, wrt: Sequence[Value], outputs: Sequence[Value] | None = None
) -> Saved:
    """Which values of the forward pass the backward pass needs.

    Args:
        graph: the forward graph; a copy of an input that the call overwrites may be added to it.
        wrt: the inputs whose gradients will be asked for.
        outputs: the outputs that may have gradients; None: all.
    """
    outputs = (
        [value for value in graph.outputs if value is not None]
        if outputs is None
        else list(outputs)
    )
    active = dependents(graph, wrt)
    seeds = [value for value in dict.fromkeys(outputs) if value in active]
    hidden: list[Value] = []
    while True:
        entries = select(graph, _used(graph, [*seeds, *hidden], wrt), is_cheap)
        new = [
            value
            for kind, value in entries
            if kind == "hidden" and value in active and value not in hidden
        ]
        new = [value for value in new if value.node is not None]
        if not new:
            return Saved([_kept(graph, active, *entry) for entry in entries], seeds)
        hidden += new


def _kept(graph: Graph, active: set[Value], kind: str, value: Value) -> tuple[str, Value]:
    """An entry of ``Saved`` for a value that was selected."""
    if kind != "hidden":
        return kind, value
    if value.node is None:
        return "copy" if value in active else "constant", _copy_of_input(graph, value)
    return "hidden" if value in active else "constant", value


def _copy_of_input(graph: Graph, value: Value) -> Value:
    """A copy of an input that the call overwrites: a conversion to its own dtype."""
    node = Node(PRIMITIVES["convert"], (value,), {"dtype": value.dtype})
    copy = Value(value.dtype, value.shape, node)
    node.outputs = (copy,)
    graph.nodes.insert(0, node)
    return copy


def _used(graph: Graph, seeds: Sequence[Value], wrt: Sequence[Value]) -> list[Value]:
    """The forward values that the derivative rules use: found by running them, every value given.

    The scratch graph shares the environment: what the rules ask of sizes must hold of each call.
    """
    environment, lift = graph.environment, graph.environment.lift
    context = GraphContext(environment)
    forward = Forward(
        graph, context, {}, unchanged, lambda node: not node.inputs and not node.primitive.impure
    )
    with context.active():
        starts: dict[Value, Traced | Value] = {
            value: context.input(value.dtype, value.shape) for value in seeds
        }
    results = gradients(context, graph, starts, wrt, forward, unchanged)
    live = _live_leaves(result.value for result in results if result is not None)
    environment.lift = lift
    return [value for leaf, value in forward.leaves.items() if leaf in live]


def _live_leaves(values: Iterable[Value]) -> set[Value]:
    return {value for value in ancestors(values, set()) if value.node is None}


# ---------------------------------------------------------------- the backward graph


class Forward:
    """The values of a forward graph in another context, computed there when they are asked for.

    A value that is neither bound nor to be recomputed is a *leaf*: it has dtype and shape, and
    nothing may need its content.
    """

    def __init__(
        self,
        graph: Graph,
        context: GraphContext,
        bindings: Mapping[Value, Traced],
        sizes: Sizes,
        recompute: Callable[[Node], bool],
    ) -> None:
        self.graph = graph
        self.context = context
        self.sizes = sizes
        self.recompute = recompute
        self.values = dict(bindings)
        self.leaves: dict[Value, Value] = {}  # by the context's value: the forward graph's

    def __call__(self, value: Value) -> Traced:
        pending = [value]
        while pending:
            current = pending[-1]
            if current in self.values:
                pending.pop()
            elif current.node is None or not self.recompute(current.node):
                self.values[current] = self._leaf(current)
            elif missing := [each for each in current.node.inputs if each not in self.values]:
                pending.extend(missing)
            else:
                results = apply_node(current.node, self.context, self.values, self.sizes)
                for output, result in zip(current.node.outputs, results, strict=True):
                    self.values.setdefault(output, result)
        return self.values[value]

    def _leaf(self, value: Value) -> Traced:
        shape = tuple(substitute_all(value.shape, self.sizes))
        leaf = Value(value.dtype, shape, weak=value.weak, name=value.name)
        self.leaves[leaf] = value
        return self.context.wrap(leaf)


def use_known_sizes(pairs: Iterable[tuple[Value, Traced]], sizes: Sizes) -> None:
    """Give inputs of a backward pass the sizes of what they stand for: ``s0 - 1`` rather than a
    symbol of its own, so that they fit what is computed again from other inputs.
    """

    def known(size: Any, own: Any) -> Any:
        if not isinstance(size, SymbolicInt):
            return size
        if not isinstance(own, SymbolicInt) or size.atom():
            return own
        try:
            return substitute_all(size, sizes)
        except KeyError:
            return own

    for value, traced in pairs:
        if traced.value.node is None:
            traced.value.shape = tuple(map(known, value.shape, traced.value.shape))


def backward(
    graph: Graph,
    context: GraphContext,
    bindings: Mapping[Value, Traced],
    sizes: Sizes,
    seeds: Mapping[Value, Traced],
    wrt: Sequence[Value],
) -> list[Traced | None]:
    """The gradients of ``wrt``, computed in a new context from the saved values.

    Args:
        graph: the forward graph.
        context: where the backward pass is traced.
        bindings: what stands there for the values of ``saved_values(graph, wrt)``.
        sizes: what stands there for the forward graph's symbols; KeyError for those nobody knows.
        seeds: the gradients that are defined, of outputs and hidden values.
        wrt: inputs of the forward graph.
    """
    use_known_sizes([*bindings.items(), *seeds.items()], sizes)
    known = dict(bindings)
    for value, traced in bindings.items():
        if (
            value.node is not None
            and value.node.name == "convert"
            and value.node.inputs[0].dtype is value.dtype
        ):
            known.setdefault(value.node.inputs[0], traced)  # the copy of an overwritten input
    sizes = _with_unknown(sizes, context)
    forward = Forward(graph, context, known, sizes, is_cheap)
    results = gradients(context, graph, seeds, wrt, forward, sizes)
    live = _live_leaves(result.value for result in results if result is not None)
    for leaf, value in forward.leaves.items():
        if leaf in live:
            made_by = "an input" if value.node is None else f"a result of {value.node.name}"
            raise AssertionError(f"the backward pass needs {made_by} that was not saved")
    computed = {
        value: traced
        for value, traced in forward.values.items()
        if traced.value not in forward.leaves
    }
    copy_regions(graph, context, computed, sizes)
    return results


def _with_unknown(sizes: Sizes, context: GraphContext) -> Sizes:
    """Sizes in which a symbol that nobody knows is an unbacked one: only leaves can have it."""
    unknown: dict[Atom, Any] = {}

    def lookup(atom: Atom) -> Any:
        try:
            return sizes(atom)
        except KeyError:
            if atom not in unknown:
                unknown[atom] = context.environment.unbacked()
            return unknown[atom]

    return lookup
