"""Steps, loop nests and plans as text, for reading.

A nest prints as the loops that it stands for: ``p0, p1 …`` are the parallel loops, ``r0, r1 …`` the
reduced ones, each ``for r0`` is one phase. What a later phase needs and would cost more to compute
again is kept in ``scratch``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..dtypes import dtype as DType
from ..graph.node import Value
from ..graph.print import attribute_text
from .nest import Instruction, Nest, Variant
from .schedule import is_reduction, is_scan, schedule
from .steps import Step

_START = {
    "sum": "0",
    "prod": "1",
    "max": "lowest",
    "min": "highest",
    "any": "False",
    "all": "True",
    "argmax": "(lowest, 0)",
    "argmin": "(highest, 0)",
}
_UPDATE = {"sum": "{} + {}", "prod": "{} * {}", "any": "{} or {}", "all": "{} and {}"}
_INDENT = "    "


def fusion_text(steps: Iterable[Step], names: Mapping[Value, str]) -> str:
    """The steps of a graph, in order. names: ``graph.print.value_names`` of the graph."""
    texts = [step_text(step, names) for step in steps]
    return "\n".join(texts) or "# nothing to compute: the results are views\n"


def step_text(step: Step, names: Mapping[Value, str]) -> str:
    """A nest as loops; a library call, host function or draw as one line."""
    if step.nest is not None:
        return _NestText(step.nest, step, names).text()
    node = step.node
    assert node is not None
    inputs = [names[value] for value in node.inputs]
    attributes = [f"{name}={attribute_text(each)}" for name, each in node.attributes.items()]
    targets = ", ".join(names[value] for value in node.outputs)
    return f"{targets} = {node.name}({', '.join([*inputs, *attributes])})  # step of its own\n"


def nest_text(nest: Nest) -> str:
    """A nest alone: operands are ``a0, a1 …``, sizes those of the loops."""
    return _NestText(nest, None, {}).text()


class _NestText:
    """Prints one nest. step: what it is bound to, if that is known."""

    def __init__(self, nest: Nest, step: Step | None, names: Mapping[Value, str]) -> None:
        self.nest, self.step, self.names = nest, step, names
        self.parallel = [f"p{i}" for i in range(nest.parallel)]
        self.reduced = [f"r{i}" for i in range(nest.reduced)]
        self.loops = [*self.parallel, *self.reduced]
        self.sizes = [str(d) for d in step.domain] if step else [f"size_{i}" for i in self.loops]
        vector = "R" if nest.reduced else "P"
        self.plan = schedule(nest, Variant(vector, "S" * len(nest.operands), nest.reduced))

    def text(self) -> str:
        lines = [f"# nest: {self.operand_list()}"]
        lines += map(self.instruction, self.plan.constants)
        depth = ""
        for loop, size in zip(self.parallel, self.sizes):
            lines.append(f"{depth}for {loop} in range({size}):")
            depth += _INDENT
        lines += [depth + line for line in self.point()]
        return "\n".join(lines) + "\n"

    def operand_list(self) -> str:
        parts = []
        for position, operand in enumerate(self.nest.operands):
            if operand.role != "coordinate":
                role = "indirect" if operand.role == "base" else operand.role
                parts.append(f"{role} {self.operand_name(position)}: {operand.dtype.name}")
        return ", ".join(parts)

    def point(self) -> list[str]:
        """What happens at one point of the parallel loops."""
        lines: list[str] = []
        for number, phase in enumerate(self.plan.phases):
            lines += map(self.instruction, self.plan.rows[number])
            scans = [each for each in phase.body if is_scan(self.nest.body[each])]
            lines += [self.start(each) for each in [*phase.reductions, *scans]]
            depth = ""
            for loop, size in zip(self.reduced, self.sizes[self.nest.parallel :]):
                comment = f"  # phase {number}" if not depth else ""
                lines.append(f"{depth}for {loop} in range({size}):{comment}")
                depth += _INDENT
            lines += [depth + line for line in self.reduced_point(phase)]
        lines += map(self.instruction, self.plan.rows[-1])
        lines += map(self.store, self.plan.row_stores)
        return lines

    def reduced_point(self, phase: Any) -> list[str]:
        place = ", ".join(self.reduced)
        lines = [f"t{each} = scratch.t{each}[{place}]" for each in phase.loaded]
        lines += map(self.instruction, phase.body)
        lines += [f"scratch.t{each}[{place}] = t{each}" for each in phase.kept]
        lines += map(self.update, phase.reductions)
        return lines + [*map(self.store, phase.stores)]

    # ---- instructions

    def instruction(self, position: int) -> str:
        each = self.nest.body[position]
        if is_scan(each):
            return self.update(position)
        return f"t{position}: {each.dtype.name} = {self.expression(each)}"

    def expression(self, each: Instruction) -> str:
        arguments = each.arguments
        if each.name == "load":
            return self.element(arguments[0])
        if each.name == "coordinate":
            return self.coordinate(arguments[0])
        if each.name == "constant":
            return repr(arguments[0])
        if each.name == "scalar":
            return (
                self.names[self.step.scalars[arguments[0]][0]]
                if self.step
                else f"number[{arguments[0]}]"
            )
        if each.name == "size":
            return str(self.step.ints[arguments[0]][1]) if self.step else f"int[{arguments[0]}]"
        if each.name == "load_indirect":
            return self.indirect(*arguments)
        values = ", ".join(f"t{argument}" for argument in arguments)
        return f"{each.name}({values})"

    def start(self, position: int) -> str:
        each = self.nest.body[position]
        kind = each.name.partition("_")[2]
        return f"t{position}: {each.dtype.name} = {_START[kind]}"

    def update(self, position: int) -> str:
        each = self.nest.body[position]
        kind = each.name.partition("_")[2]
        values = [f"t{argument}" for argument in each.arguments]
        value = values[0] if len(values) == 1 else f"({', '.join(values)})"
        pattern = _UPDATE.get(kind, kind + "({}, {})")
        return f"t{position} = {pattern.format(f't{position}', value)}"

    # ---- memory

    def store(self, store: int) -> str:
        operand, value = self.nest.stores[store]
        return f"{self.element(operand)} = t{value}"

    def operand_name(self, position: int) -> str:
        if self.step is None:
            return f"a{position}"
        _, value, chain, _ = self.step.operands[position]
        return self.names[value] + "".join(map(_view_text, chain))

    def element(self, position: int, computed: Mapping[int, str] | None = None) -> str:
        """An operand indexed by the loops that its dims follow."""
        return f"{self.operand_name(position)}[{', '.join(self.index(position, computed or {}))}]"

    def index(self, position: int, computed: Mapping[int, str]) -> list[str]:
        if self.step is None:
            level = self.nest.operands[position].level
            loops = (self.parallel if "P" in level else []) + (self.reduced if "R" in level else [])
            return [*loops, *computed.values()]
        _, value, chain, dim_map = self.step.operands[position]
        result = ["0"] * _rank(value, chain)
        for loop, dim in zip(self.loops, dim_map):
            if dim != -1:
                result[dim] = loop
        for dim, text in computed.items():
            result[dim] = text
        return result

    def coordinate(self, position: int) -> str:
        return self.loops[self.step.operands[position][1]] if self.step else f"a{position}"

    def indirect(self, operand: int, first: int, *indices: int) -> str:
        """A load at computed indices; ints from ``first`` on are the size and stride of each."""
        dims = range(len(indices))
        if self.step is not None:
            dims = [self.step.ints[first + 2 * k + 1][3] for k in dims]  # type: ignore[assignment]
        return self.element(operand, {dim: f"t{index}" for dim, index in zip(dims, indices)})


def _rank(value: Value, chain: Sequence[tuple[Any, ...]]) -> int:
    rank = len(value.shape)
    for name, *rest in chain:
        if name in ("permute", "expand", "reshape"):
            rank = len(rest[0])
        elif name == "window":  # makes two dims of one
            rank += 1
    return rank


def _view_text(part: tuple[Any, ...]) -> str:
    name, *rest = part
    return f".{name}({', '.join(map(str, rest))})"


# ---------------------------------------------------------------- plans


def plan_text(fields: Mapping[str, Any]) -> str:
    """The fields of a plan (``docs/design.md``, "Plans"), one entry a line; empty ones left out."""
    lines = []
    for name, content in fields.items():
        if isinstance(content, list) and content:
            lines.append(f"{name}:")
            lines += [f"    {number}: {entry_text(each)}" for number, each in enumerate(content)]
        elif not isinstance(content, list) and content is not None:
            lines.append(f"{name}: {entry_text(content)}")
    return "\n".join(lines) + "\n"


def entry_text(content: Any) -> str:
    """An entry of a plan's field."""
    if isinstance(content, tuple | list):
        open_, close = "()" if isinstance(content, tuple) else "[]"
        comma = "," if isinstance(content, tuple) and len(content) == 1 else ""
        return f"{open_}{', '.join(map(entry_text, content))}{comma}{close}"
    if isinstance(content, DType):
        return content.name
    nest = getattr(content, "nest", None)
    if isinstance(nest, Nest):
        reductions = sum(map(is_reduction, nest.body))
        return f"<kernel: {len(nest.body)} instructions, {reductions} reductions>"
    if callable(content) and not isinstance(content, type):
        return f"<{getattr(content, '__name__', type(content).__name__)}>"
    return repr(content)
