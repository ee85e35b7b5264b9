"""Builds one nest: follows the expressions of its roots and turns them into instructions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..dtypes import bool as bool_
from ..dtypes import dtype as DType
from ..dtypes import int64
from ..graph.node import Node, Value
from ..graph.symbols import Dimension, SymbolicInt, same, same_shape
from .nest import Instruction, Nest, Operand
from .steps import (
    DIVISIONS,
    INDIRECT,
    PREDICATES,
    REDUCTIONS,
    SCANS,
    STEPWISE,
    Access,
    Computed,
    NeedsStore,
    Root,
    Step,
    broadcast_access,
    index_accesses,
    is_barrier,
    is_one,
    is_rearrangement,
    loses_index,
    reduced_dims,
    view_access,
    view_operation,
)


class DomainMismatch(Exception):
    """Roots that were to be built together turn out to have different domains."""


class NestBuilder:
    """Evaluates the roots of one nest over its domain."""

    def __init__(self, fusion: Any, roots: list[Root], done: set[Value], absorb: bool):
        self.fusion = fusion
        self.roots = roots
        self.done = done
        self.absorb = absorb
        self.body: list[Instruction] = []
        self.memo: dict[Any, int] = {}
        self.operands: list[tuple[Any, ...]] = []
        self.operand_info: list[tuple[DType, str]] = []
        self.operand_index: dict[Any, int] = {}
        self.scalars: list[tuple[Value, int]] = []
        self.ints: list[tuple[Any, ...]] = []
        self.reads: list[Value] = []
        self.absorbed: list[Value] = []
        self.stores: list[tuple[Value, tuple[Any, ...], int, Access]] = []
        self.reductions: list[Value] = []
        self.can_fail = False
        self.domain: list[Dimension] = []
        self.reduced: list[int] = []

    # -- the domain

    def build(self) -> Step:
        settled: tuple[list[Dimension], list[int]] | None = None
        for root in self.roots:
            domain, reduced, access = self.choose_domain(root)
            if settled is not None and not (
                same_shape(domain, settled[0]) and reduced == settled[1]
            ):
                raise DomainMismatch
            settled = self.domain, self.reduced = domain, reduced
            result = self.evaluate(root.value, access, root=root.value is root.target)
            self.stores.append((root.target, root.chain, result, access))
        return self.finish()

    def choose_domain(self, root: Root) -> tuple[list[Dimension], list[int], Access]:
        """Parallel dims are the root's; reduced dims come from the first reduction in its
        expression.
        """
        value, shape = root.value, root.value.shape
        domain: list[Dimension] = list(shape)
        reduced: list[int] = []
        access: Access = tuple(None if is_one(d) else i for i, d in enumerate(shape))
        computed = root.value is root.target
        self.domain, self.reduced = domain, reduced
        if computed and value.node is not None and value.node.name in SCANS:
            return domain, [value.node.attributes["dim"]], tuple(range(len(shape)))
        misfit = None
        for reduction, kept in self.reductions_inside(value, access, set(), computed):
            extended = self.extended_domain(domain, reduction, kept)
            if extended is not None:
                return *extended, access
            if reduction not in self.fusion.stored:
                misfit = misfit or reduction
        if misfit is not None:
            raise NeedsStore(misfit)
        return domain, reduced, access

    @staticmethod
    def extended_domain(
        domain: list[Dimension], reduction: Value, kept: Access
    ) -> tuple[list[Dimension], list[int]] | None:
        """The domain with a reduction's dims as reduced ones, or None if the reduction is of
        another domain.
        """
        assert reduction.node is not None
        covered = {entry for entry in kept if isinstance(entry, int)}
        free = [i for i, d in enumerate(domain) if not is_one(d) and i not in covered]
        result, reduced = list(domain), []
        for dim in reduced_dims(reduction.node):
            size = reduction.node.inputs[0].shape[dim]
            if not is_one(size) and free and same(domain[free[0]], size):
                reduced.append(free.pop(0))
            else:
                reduced.append(len(result))
                result.append(size)
        return None if free else (result, reduced)

    def reductions_inside(
        self, value: Value, access: Access, seen: set[Any], root: bool = False
    ) -> Iterator[tuple[Value, Access]]:
        """The reductions that this nest might compute, and how they are accessed."""
        if (value, access) in seen or (not root and self.is_loaded(value, access, anywhere=True)):
            return
        seen.add((value, access))
        node = value.node
        assert node is not None
        if node.name in REDUCTIONS:
            yield value, access
            return
        for operand, sub in self.children(node, access):
            yield from self.reductions_inside(operand, sub, seen)

    def children(self, node: Node, access: Access) -> list[tuple[Value, Access]]:
        name = node.name
        if name in ("expand", "permute", "reshape"):
            return [(node.inputs[0], view_access(node, access))]
        if name in INDIRECT:
            unknown = Computed(-1, False)
            if name == "gather":
                dim = node.attributes["dim"]
                base = tuple(unknown if i == dim else a for i, a in enumerate(access))
                return [(node.inputs[1], access), (node.inputs[0], base)]
            index_access, _ = index_accesses(node, access)
            return [(index, index_access) for index in node.inputs[1:]]
        if name in ("full", "iota"):
            return []
        return [(operand, broadcast_access(operand, access)) for operand in node.inputs]

    def is_loaded(self, value: Value, access: Access, anywhere: bool = False) -> bool:
        """Whether ``value`` comes from memory (or is a scalar) rather than being computed here.

        anywhere: the domain is not settled, so any stored value might be absorbed.
        """
        node = value.node
        if node is None:
            return True
        if value in self.fusion.stored:
            return not self.may_absorb(value, access, anywhere)
        base = self.fusion.base(value)
        if base is value or base in self.fusion.inputs:
            return base is not value
        if base not in self.fusion.stored:
            return False
        if not is_rearrangement(node):
            return True
        return self.is_loaded(node.inputs[0], view_access(node, access), anywhere)

    def may_absorb(self, value: Value, access: Access, anywhere: bool = False) -> bool:
        """A stored value is computed here if each row or point of the domain has one element."""
        assert value.node is not None
        if (
            not self.absorb
            or value in self.done
            or is_barrier(value.node)
            or value.node.name in STEPWISE
        ):
            return False
        dims = [entry for entry in access if entry is not None]
        if any(not isinstance(entry, int) for entry in dims) or len(set(dims)) != len(dims):
            return False
        parallel = {i for i, d in enumerate(self.domain) if i not in self.reduced and not is_one(d)}
        reduced = {i for i in self.reduced if not is_one(self.domain[i])}
        return anywhere or set(dims) in (parallel, parallel | reduced)

    # -- evaluation

    def emit(self, name: str, arguments: tuple[Any, ...], dtype: DType, wrap: bool = False) -> int:
        key = (name, arguments, dtype, wrap)
        if key not in self.memo:
            self.memo[key] = len(self.body)
            self.body.append(Instruction(name, arguments, dtype, wrap))
            self.can_fail |= name in DIVISIONS and dtype.is_integral
        return self.memo[key]

    def evaluate(self, value: Value, access: Access, root: bool = False) -> int:
        access = tuple(
            None if is_one(d) and not isinstance(a, Computed) else a  # an index has to be checked
            for d, a in zip(value.shape, access)
        )
        key = (value, access)
        if key in self.memo:
            return self.memo[key]
        if value.node is None and value.weak:
            result = self.emit("scalar", (self.scalar_word(value),), value.dtype)
        elif not root and self.is_loaded(value, access):
            result = self.load(value, access)
        else:
            result = self.compute(value, access)
            if not root and value in self.fusion.stored and self.may_absorb(value, access):
                self.absorbed.append(value)
                self.stores.append((value, (), result, access))
        self.memo[key] = result
        return result

    def compute(self, value: Value, access: Access) -> int:
        node = value.node
        assert node is not None
        name = node.name
        if name == "constant":
            return self.constant(node.attributes["value"], value.dtype)
        if name == "full":
            return self.converted(node.inputs[0], value.dtype)
        if name == "iota":
            return self.coordinate(access[0])
        if name in ("expand", "permute", "reshape"):
            return self.evaluate(node.inputs[0], view_access(node, access))
        if name in REDUCTIONS:
            return self.reduce(value, access)
        if name in SCANS:
            operand = self.evaluate(node.inputs[0], access)
            return self.emit(SCANS[name], (operand,), value.dtype)
        if name == "gather":
            index = self.evaluate(node.inputs[1], access)
            dim = node.attributes["dim"]
            base = tuple(Computed(index, False) if i == dim else a for i, a in enumerate(access))
            return self.indirect(node.inputs[0], base)
        if name == "index":
            index_access, rest = index_accesses(node, access)
            computed = [
                Computed(self.evaluate(index, index_access), True) for index in node.inputs[1:]
            ]
            for dim, entry in zip(node.attributes["dims"], computed):
                rest[dim] = entry
            return self.indirect(node.inputs[0], tuple(rest))
        if name in ("convert", "convert_number"):
            operand = self.evaluate(node.inputs[0], access)
            return self.emit("convert", (operand,), value.dtype)
        arguments = [self.evaluate(v, broadcast_access(v, access)) for v in node.inputs]
        return self.scalar_instruction(node, arguments, value)

    def constant(self, number: Any, dtype: DType) -> int:
        """A number known when the plan is made, or a size."""
        if not isinstance(number, SymbolicInt):
            return self.emit("constant", (number,), dtype)
        entry = ("size", number)
        index = next(
            (
                i
                for i, known in enumerate(self.ints)
                if known[0] == "size" and same(known[1], number)
            ),
            None,
        )
        if index is None:
            index = len(self.ints)
            self.ints.append(entry)
        size = self.emit("size", (index,), int64)
        return size if dtype is int64 else self.emit("convert", (size,), dtype)

    def scalar_instruction(self, node: Node, arguments: list[int], value: Value) -> int:
        scalar = node.primitive.scalar
        if isinstance(scalar, str):
            return self.emit(scalar, tuple(arguments), value.dtype)
        handles = [ScalarHandle(self, argument) for argument in arguments]
        return int(scalar(ScalarTable(self, value.dtype), *handles).instruction)

    def indirect(self, value: Value, access: Access) -> int:
        """Element of ``value`` at an access that holds computed indices."""
        base = self.fusion.base(value)
        if base in self.fusion.inputs or base in self.fusion.stored:
            return self.load(value, access)
        if base.node is not None and base.node.name in ("full", "iota"):
            raise NeedsStore(base)  # a load checks the index
        shown, inner = value, access
        while shown is not base and shown.node is not None and is_rearrangement(shown.node):
            if loses_index(shown.node, inner):
                raise NeedsStore(base)
            node = shown.node
            shown, inner = node.inputs[0], view_access(node, inner)
        return self.evaluate(value, access)

    def converted(self, value: Value, dtype: DType) -> int:
        operand = self.evaluate(value, (None,) * len(value.shape))
        return operand if value.dtype is dtype else self.emit("convert", (operand,), dtype)

    def coordinate(self, entry: Any) -> int:
        if entry is None:
            return self.emit("constant", (0,), int64)
        if isinstance(entry, Computed):
            return entry.instruction
        operand = self.operand(("coordinate", entry), int64, "coordinate")
        return self.emit("coordinate", (operand,), int64)

    def reduce(self, value: Value, access: Access) -> int:
        node = value.node
        assert node is not None
        operand = node.inputs[0]
        dims = reduced_dims(node)
        kept = [a for i, a in enumerate(access) if i not in dims and a is not None]
        parallel = {i for i, d in enumerate(self.domain) if i not in self.reduced and not is_one(d)}
        if (
            any(not isinstance(a, int) for a in kept)
            or set(kept) != parallel
            or len(kept) != len(parallel)
        ):
            raise NeedsStore(value)
        inner = list(access)
        free = list(self.reduced)
        for dim in dims:
            size = operand.shape[dim]
            match = next((i for i in free if same(self.domain[i], size)), None)
            if match is None:
                raise NeedsStore(value)
            free.remove(match)
            inner[dim] = match
        if any(not is_one(self.domain[i]) for i in free):
            raise NeedsStore(value)
        self.reductions.append(value)
        argument = self.evaluate(operand, tuple(inner))
        arguments: tuple[int, ...] = (argument,)
        if node.name in ("argmax", "argmin"):
            arguments = (
                argument,
                self.coordinate(None if is_one(operand.shape[dims[0]]) else inner[dims[0]]),
            )
        return self.emit(REDUCTIONS[node.name], arguments, value.dtype)

    # -- memory

    def scalar_word(self, value: Value) -> int:
        words = 2 if value.dtype.is_complex else 1
        for position, (known, _) in enumerate(self.scalars):
            if known is value:
                return position
        position = len(self.scalars)
        self.scalars.extend((value, word) for word in range(words))
        return position

    def operand(self, binding: tuple[Any, ...], dtype: DType, role: str) -> int:
        key = (binding, role)
        if key not in self.operand_index:
            self.operand_index[key] = len(self.operands)
            self.operands.append(binding)
            self.operand_info.append((dtype, role))
        return self.operand_index[key]

    def load(self, value: Value, access: Access) -> int:
        """Read ``value``, a stored value or a view of one."""
        while (
            value.node is not None
            and value not in self.fusion.stored
            and is_rearrangement(value.node)
            and not loses_index(value.node, access)
        ):
            access = view_access(value.node, access)
            value = value.node.inputs[0]
        shown = value
        chain: list[tuple[Any, ...]] = []
        while value.node is not None and value not in self.fusion.stored:
            chain.append(view_operation(value.node))
            value = value.node.inputs[0]
        if value not in self.reads:
            self.reads.append(value)
        chain.reverse()
        computed = [(dim, a) for dim, a in enumerate(access) if isinstance(a, Computed)]
        dim_map = self.dim_map(access)
        binding = ("view", value, tuple(chain), dim_map)
        if not computed:
            operand = self.operand(binding, shown.dtype, "read")
            return self.emit("load", (operand,), shown.dtype)
        operand = self.operand(binding, shown.dtype, "base")
        first = len(self.ints)
        for dim, _ in computed:
            self.ints.append(("size", shown.shape[dim]))
            self.ints.append(("stride", value, tuple(chain), dim))
        self.can_fail = True
        arguments = (operand, first, *(entry.instruction for _, entry in computed))
        return self.emit(
            "load_indirect", arguments, shown.dtype, wrap=any(e.wrap for _, e in computed)
        )

    def dim_map(self, access: Access) -> tuple[int, ...]:
        """For each domain dim the dim of the value that follows it, or -1."""
        result = [-1] * len(self.domain)
        for dim, entry in enumerate(access):
            if isinstance(entry, int):
                if result[entry] != -1:
                    raise AssertionError("two dims of one value follow the same loop")
                result[entry] = dim
        return tuple(result)

    # -- result

    def finish(self) -> Step:
        stores = []
        for target, chain, instruction, access in self.stores:
            binding = ("view", target, chain, self.dim_map(access))
            operand = self.operand(binding, target.dtype, "write")
            stores.append((operand, instruction))
        parallel = [i for i in range(len(self.domain)) if i not in self.reduced]
        axes = [*parallel, *self.reduced]
        operands = []
        for binding, (dtype, role) in zip(self.operands, self.operand_info):
            operands.append(Operand(dtype, role, self.level(binding)))
        nest = Nest(
            len(parallel),
            len(self.reduced),
            tuple(operands),
            len(self.scalars),
            len(self.ints),
            tuple(self.body),
            tuple(stores),
        )
        return Step(
            [target for target, *_ in self.stores],
            self.reads,
            nest,
            tuple(self.domain[i] for i in axes),
            [self.reordered(binding, axes) for binding in self.operands],
            self.scalars,
            self.ints,
            roots=self.roots,
            axes=tuple(axes),
            reductions=self.reductions,
            can_fail=self.can_fail,
        )

    def level(self, binding: tuple[Any, ...]) -> str:
        if binding[0] == "coordinate":
            return "R" if binding[1] in self.reduced else "P"
        used = {i for i, dim in enumerate(binding[3]) if dim != -1}
        return ("P" if used - set(self.reduced) else "") + ("R" if used & set(self.reduced) else "")

    @staticmethod
    def reordered(binding: tuple[Any, ...], axes: list[int]) -> tuple[Any, ...]:
        if binding[0] == "coordinate":
            return ("coordinate", axes.index(binding[1]))
        kind, value, chain, dim_map = binding
        return (kind, value, chain, tuple(dim_map[i] for i in axes))


@dataclass(frozen=True)
class ScalarHandle:
    """A scalar inside a record's ``scalar`` function."""

    builder: NestBuilder
    instruction: int

    @property
    def dtype(self) -> DType:
        return self.builder.body[self.instruction].dtype


@dataclass(frozen=True)
class ScalarTable:
    """The scalar instructions, for a record whose ``scalar`` is a function over them."""

    builder: NestBuilder
    dtype: DType  # of the record's result

    def __getattr__(self, name: str) -> Any:
        def instruction(*arguments: Any, dtype: DType | None = None) -> ScalarHandle:
            kind = next(
                (
                    a.dtype
                    for a in arguments
                    if isinstance(a, ScalarHandle) and a.dtype is not bool_
                ),
                self.dtype,
            )
            known = [
                a.instruction
                if isinstance(a, ScalarHandle)
                else self.builder.emit("constant", (a,), kind)
                for a in arguments
            ]
            result = dtype or (bool_ if name in PREDICATES else kind)
            return ScalarHandle(self.builder, self.builder.emit(name, tuple(known), result))

        return instruction
