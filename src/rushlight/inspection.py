"""What looks on while a plan is made: the stages that are shown, and ``RUSHLIGHT_CHECK=1``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import check
from .codegen.lower import Lowering
from .codegen.show import fusion_text, plan_text
from .graph.node import Graph, Value
from .graph.print import text as graph_text
from .graph.print import value_names
from .stages import show

if TYPE_CHECKING:
    from .plan import CallTracer


class Inspection:
    """One plan's: a method for each stage, to be called in order."""

    def __init__(self, name: str, graph: Graph, call: CallTracer) -> None:
        self.name = name
        self.graph = self.legal = graph
        self.trial = check.begin(name, graph, call)

    def traced(self) -> None:
        show("graph", f"{self.name}, as traced", lambda: graph_text(self.graph))
        if self.trial:
            self.trial.traced()

    def legalized(self, graph: Graph, replaced: dict[Value, Value]) -> None:
        if [node.name for node in graph.nodes] == [node.name for node in self.graph.nodes]:
            show("graph", f"{self.name}, legalized: as traced")
        else:
            show("graph", f"{self.name}, legalized", lambda: graph_text(graph))
        if self.trial:
            self.trial.legalized(graph, replaced)
        self.legal = graph

    def lowered(self, lowering: Lowering, fields: dict[str, Any]) -> None:
        show("fusion", self.name, lambda: fusion_text(lowering.steps, value_names(self.legal)))
        if self.trial:
            self.trial.lowered(lowering, fields)

    def finished(self, fields: dict[str, Any]) -> None:
        show("plans", self.name, lambda: plan_text(fields))
