"""What must hold after code generation's stages: legalized graphs, and the nests of fusion."""

from __future__ import annotations

from ..graph.check import GraphError, check
from ..graph.node import Graph, Node
from ..ops.kinds import Elementwise
from .nest import Instruction, Nest
from .schedule import is_reduction, is_scan, value_arguments
from .steps import AFFINE_VIEWS, INDIRECT, REDUCTIONS, REGION_WRITERS, SCANS, Step, is_barrier

_LOWERED = {
    *AFFINE_VIEWS,
    *REDUCTIONS,
    *SCANS,
    *REGION_WRITERS,
    *INDIRECT,
    "constant",
    "convert",
    "convert_number",
    "full",
    "iota",
}


class NestError(AssertionError):
    """A nest breaks a rule. The message names the instruction."""


def check_legalized(graph: Graph) -> None:
    """Raise ``GraphError`` if the graph breaks a rule or has a node without a lowering."""
    check(graph)
    for node in graph.nodes:
        if not has_lowering(node):
            source = f" ({node.source[0]}:{node.source[1]})" if node.source else ""
            raise GraphError(f"{node.name}: there is no lowering, and legalization left it{source}")


def has_lowering(node: Node) -> bool:
    """Whether fusion or a step of its own can do this node."""
    if node.name in _LOWERED or is_barrier(node):
        return True
    from . import scalars

    scalar = node.primitive.scalar
    is_known = callable(scalar) or scalar in scalars.names()
    return isinstance(node.primitive.kind, Elementwise) and is_known


def check_step(step: Step) -> None:
    """Raise ``NestError`` if a step's nest breaks a rule, or does not fit what it is bound to."""
    nest = step.nest
    if nest is None:
        return
    _check_nest(nest)
    _require(len(step.domain) == nest.parallel + nest.reduced, "the domain has another rank")
    _require(len(step.operands) == len(nest.operands), "not one binding for each operand")
    _require(len(step.scalars) == nest.scalars, "not one number for each scalar word")
    _require(len(step.ints) == nest.ints, "not one size or stride for each int")
    for position, (operand, binding) in enumerate(zip(nest.operands, step.operands)):
        is_coordinate = binding[0] == "coordinate"
        _require(is_coordinate == (operand.role == "coordinate"), f"operand {position}: its role")
        followed = (
            [binding[1]] if is_coordinate else [i for i, d in enumerate(binding[3]) if d != -1]
        )
        level = "P" if any(i < nest.parallel for i in followed) else ""
        level += "R" if any(i >= nest.parallel for i in followed) else ""
        _require(
            level == operand.level, f"operand {position}: level {operand.level!r}, not {level!r}"
        )


def _check_nest(nest: Nest) -> None:
    levels: list[str] = []
    for position, each in enumerate(nest.body):
        where = f"instruction {position}, {each.name}"
        arguments = value_arguments(each)
        _require(
            all(isinstance(k, int) and 0 <= k < position for k in arguments),
            f"{where}: an argument is no earlier instruction",
        )
        _check_memory(nest, each, where)
        level = {axis for k in arguments for axis in levels[k]}
        if each.name in ("load", "coordinate", "load_indirect"):
            level |= set(nest.operands[each.arguments[0]].level)
        if is_reduction(each) or is_scan(each):
            _require(nest.reduced > 0, f"{where}: the nest has no reduced dim")
            level = {"P"} if is_reduction(each) else level | {"R"}
        levels.append("".join(sorted(level)))
    for operand, value in nest.stores:
        target = nest.operands[operand]
        where = f"store of instruction {value} to operand {operand}"
        _require(target.role == "write", f"{where}: the operand is no result")
        _require(target.dtype is nest.body[value].dtype, f"{where}: another dtype")
        _require(
            "R" not in levels[value] or "R" in target.level,
            f"{where}: the value varies along the reduced dims, the operand does not",
        )


def _check_memory(nest: Nest, each: Instruction, where: str) -> None:
    roles = {"load": "read", "coordinate": "coordinate", "load_indirect": "base"}
    if each.name in roles:
        operand = nest.operands[each.arguments[0]]
        _require(operand.role == roles[each.name], f"{where}: operand of role {operand.role}")
        _require(
            each.name == "coordinate" or operand.dtype is each.dtype, f"{where}: another dtype"
        )
    if each.name == "scalar":
        _require(0 <= each.arguments[0] < nest.scalars, f"{where}: no such scalar word")
    if each.name == "size":
        _require(0 <= each.arguments[0] < nest.ints, f"{where}: no such int")


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise NestError(message)
