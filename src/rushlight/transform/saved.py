"""Chooses what a backward pass keeps of a forward pass.

These are the cheapest values from which the needed ones can be computed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..graph.node import Graph, Node, Value
from ..graph.symbols import hint_of
from ..layout import numel

_UNKNOWN_SIZE = 1 << 20  # elements of a value whose size only running the program tells
_OUTPUT, _INPUT, _HIDDEN = (
    1,
    2,
    1 << 10,
)  # what keeping one more value costs; a hidden one takes memory besides
_UNLIMITED = 1 << 62


@dataclass
class Saved:
    """What a backward pass keeps.

    entries: ``(kind, value)``; kind is "input", "output", "hidden" (another value of the forward
    pass), "copy" (of an input that the call overwrites), "constant" (one that depends on no input
    whose gradient is asked for) or "scalar" (a run-time number that is an input). outputs: the
    graph's outputs that can have gradients.
    """

    entries: list[tuple[str, Value]]
    outputs: list[Value]


def select(
    graph: Graph, used: Iterable[Value], is_cheap: Callable[[Node], bool]
) -> list[tuple[str, Value]]:
    """The values to keep so that the ``used`` ones can be had, with their kinds.

    The order is inputs, outputs, hidden, scalars. Used inputs and outputs are kept as such. The
    others are computed again from what costs least to keep, by the nodes that are cheap: a minimum
    cut between the values that cannot be computed again, or are marked as kept, and the used ones.
    A hidden input is one that the call overwrites.
    """
    overwritten = {
        graph.inputs[i]
        for i, output in graph.mutations.items()
        if graph.outputs[output] is not graph.inputs[i]
    }
    kinds: dict[Value, str] = {value: "output" for value in graph.outputs if value is not None}
    for value in graph.inputs:
        kinds[value] = "scalar" if value.weak else "hidden" if value in overwritten else "input"
    used = list(used)
    kept = {value for value in used if kinds.get(value, "hidden") != "hidden"}
    kept |= _cut([value for value in used if value not in kept], kept, kinds, is_cheap)
    order = {value: i for i, value in enumerate(graph.values())}
    ranks = {"input": 0, "output": 1, "hidden": 2, "scalar": 3}
    entries = [(kinds.get(value, "hidden"), value) for value in kept]
    return sorted(entries, key=lambda entry: (ranks[entry[0]], order[entry[1]]))


def _cut(
    used: list[Value], kept: set[Value], kinds: dict[Value, str], is_cheap: Callable[[Node], bool]
) -> set[Value]:
    """The cheapest set of values that gives, with the ``kept`` ones, all used values."""
    network = _Network()
    source, sink = network.vertex(), network.vertex()
    doors: dict[Value, tuple[int, int]] = {}
    pending = list(used)
    for value in used:
        doors[value] = _add_value(network, value, kinds)
        network.edge(doors[value][1], sink, _UNLIMITED)
    while pending:
        value = pending.pop()
        if value.node is None or value.kept or not is_cheap(value.node):
            network.edge(source, doors[value][0], _UNLIMITED)
            continue
        for operand in value.node.inputs:
            if operand in kept:
                continue
            if operand not in doors:
                doors[operand] = _add_value(network, operand, kinds)
                pending.append(operand)
            network.edge(doors[operand][1], doors[value][0], _UNLIMITED)
    reached = network.reaching(source, sink)
    return {
        value
        for value, (entry, exit_) in doors.items()
        if entry not in reached and exit_ in reached
    }


def _add_value(network: _Network, value: Value, kinds: dict[Value, str]) -> tuple[int, int]:
    entry, exit_ = network.vertex(), network.vertex()
    network.edge(entry, exit_, _cost(value, kinds.get(value, "hidden")))
    return entry, exit_


def _cost(value: Value, kind: str) -> int:
    if kind in ("output", "scalar"):
        return _OUTPUT
    if kind == "input":
        return _INPUT
    elements = hint_of(numel(value.shape))
    return _HIDDEN + value.dtype.itemsize * (_UNKNOWN_SIZE if elements is None else elements)


class _Network:
    """A flow network; maximum flow by Dinic's algorithm."""

    def __init__(self) -> None:
        self.edges: list[
            list[int]
        ] = []  # per vertex: numbers of edges; edge i and i ^ 1 are opposite
        self.target: list[int] = []
        self.room: list[int] = []

    def vertex(self) -> int:
        self.edges.append([])
        return len(self.edges) - 1

    def edge(self, start: int, end: int, capacity: int) -> None:
        for origin, target, room in ((start, end, capacity), (end, start, 0)):
            self.edges[origin].append(len(self.target))
            self.target.append(target)
            self.room.append(room)

    def reaching(self, source: int, sink: int) -> set[int]:
        """The vertices from which the sink can still be reached when the flow is at its maximum."""
        while (levels := self._levels(source))[sink] >= 0:
            position = [0] * len(self.edges)
            while self._augment(source, sink, levels, position):
                pass
        reached, pending = {sink}, [sink]
        while pending:
            for edge in self.edges[pending.pop()]:
                if self.room[edge ^ 1] and self.target[edge] not in reached:
                    reached.add(self.target[edge])
                    pending.append(self.target[edge])
        return reached

    def _levels(self, source: int) -> list[int]:
        levels = [-1] * len(self.edges)
        levels[source] = 0
        pending = deque([source])
        while pending:
            vertex = pending.popleft()
            for edge in self.edges[vertex]:
                if self.room[edge] and levels[self.target[edge]] < 0:
                    levels[self.target[edge]] = levels[vertex] + 1
                    pending.append(self.target[edge])
        return levels

    def _augment(self, source: int, sink: int, levels: list[int], position: list[int]) -> bool:
        """Push flow along one shortest path; False if none is left."""
        path: list[int] = []
        vertex = source
        while vertex != sink:
            edges = self.edges[vertex]
            while position[vertex] < len(edges):
                edge = edges[position[vertex]]
                if self.room[edge] and levels[self.target[edge]] == levels[vertex] + 1:
                    break
                position[vertex] += 1
            if position[vertex] < len(edges):
                path.append(edges[position[vertex]])
                vertex = self.target[path[-1]]
            elif path:
                vertex = self.target[path.pop() ^ 1]
                position[vertex] += 1
            else:
                return False
        amount = min(self.room[edge] for edge in path)
        for edge in path:
            self.room[edge] -= amount
            self.room[edge ^ 1] += amount
        return True
