"""What a nest computes where: levels, phases, and what is kept from one phase to a later one."""

from __future__ import annotations

from dataclasses import dataclass, field

from .nest import Instruction, Nest, Variant
from .values import register_bytes

# Instructions whose result costs more than a round trip through the cache.
_CHEAP = frozenset(
    "load coordinate scalar constant size convert add sub mul neg abs where eq ne lt le gt ge "
    "maximum minimum and or xor not sign sgn square floor ceil round trunc isnan isinf isfinite "
    "copysign real imag conj".split()
)


def is_reduction(instruction: Instruction) -> bool:
    return instruction.name.startswith("reduce_")


def is_scan(instruction: Instruction) -> bool:
    return instruction.name.startswith("scan_")


def value_arguments(instruction: Instruction) -> tuple[int, ...]:
    """The arguments that are positions of earlier instructions."""
    if instruction.name in ("load", "coordinate", "scalar", "constant", "size"):
        return ()
    if instruction.name == "load_indirect":
        return instruction.arguments[2:]
    return instruction.arguments


@dataclass
class Phase:
    """One pass over the reduced dims.

    body: instructions computed at each point, in order; loaded: those taken from scratch instead;
    kept: those written to scratch; reductions; stores (positions in ``nest.stores``).
    """

    reductions: list[int] = field(default_factory=list)
    stores: list[int] = field(default_factory=list)
    body: list[int] = field(default_factory=list)
    loaded: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)


@dataclass
class Schedule:
    """levels, stages and vector (varies along the vectorised loop): one entry per instruction.

    constants: computed once a call; rows[k]: once a row before phase k (the last: after all).
    """

    nest: Nest
    levels: list[str]
    stages: list[int]
    vector: list[bool]
    live: set[int] = field(default_factory=set)
    splats: set[int] = field(default_factory=set)
    phases: list[Phase] = field(default_factory=list)
    constants: list[int] = field(default_factory=list)
    rows: list[list[int]] = field(default_factory=list)
    row_stores: list[int] = field(default_factory=list)
    scratch: dict[int, int] = field(default_factory=dict)  # kept value -> offset per element

    @property
    def scratch_size(self) -> int:
        """Bytes per reduced element (and lane)."""
        return sum(register_bytes(self.nest.body[each].dtype) for each in self.scratch)


def schedule(nest: Nest, variant: Variant) -> Schedule:
    result = Schedule(nest, *_analyse(nest, variant), live=_live(nest, variant.split))
    if variant.split != "finish":
        _make_phases(result, with_stores=variant.split == "")
    if variant.split != "partial":
        _place_row_stores(result)
    _place_rows(result)
    _find_splats(result)
    return result


def read_again(nest: Nest, operands: set[int], written: int) -> bool:
    """Whether a later phase than that which stores operand ``written`` loads one of ``operands``
    again.
    """
    variant = Variant("P", "S" * len(nest.operands), nest.reduced)
    levels, stages, _ = _analyse(nest, variant)
    stored = next(stages[value] for operand, value in nest.stores if operand == written)
    depends: list[bool] = []
    for position, instruction in enumerate(nest.body):
        is_load = instruction.name in ("load", "load_indirect")
        depends.append(
            (is_load and instruction.arguments[0] in operands)
            or any(depends[each] and "R" in levels[each] for each in value_arguments(instruction))
        )
        phase = stages[position] - is_reduction(instruction)
        if depends[-1] and phase > stored:
            return True
    return False


def _union(levels: list[str]) -> str:
    return "".join(axis for axis in "PR" if any(axis in level for level in levels))


def _analyse(nest: Nest, variant: Variant) -> tuple[list[str], list[int], list[bool]]:
    # The finishing kernel of a split reduction handles few points: all scalar.
    axis = variant.vector if variant.split != "finish" else "none"
    levels: list[str] = []
    stages: list[int] = []
    vector: list[bool] = []
    for instruction in nest.body:
        arguments = value_arguments(instruction)
        level = _union([levels[each] for each in arguments])
        stage = max((stages[each] for each in arguments), default=0)
        varies = any(vector[each] for each in arguments)
        if instruction.name in ("load", "coordinate", "load_indirect"):
            operand = instruction.arguments[0]
            level = _union([level, nest.operands[operand].level])
            varies |= axis in nest.operands[operand].level and variant.classes[operand] != "B"
        elif is_reduction(instruction):
            level, stage = "P", stage + 1
            varies = varies and axis == "P"
        elif is_scan(instruction):
            level = _union([level, "R"])
            varies = varies or axis == "R"
        levels.append(level)
        stages.append(stage)
        vector.append(varies)
    return levels, stages, vector


def _place_row_stores(s: Schedule) -> None:
    for store, (operand, _) in enumerate(s.nest.stores):
        if "R" not in s.nest.operands[operand].level:
            s.row_stores.append(store)


def _make_phases(s: Schedule, with_stores: bool) -> None:
    """Fill the phases from last to first: later ones may ask earlier ones to keep values."""
    nest = s.nest
    for position in sorted(s.live):
        if is_reduction(nest.body[position]):
            _phase(s, s.stages[position] - 1).reductions.append(position)
    for store, (operand, value) in enumerate(nest.stores):
        if with_stores and "R" in nest.operands[operand].level:
            _phase(s, s.stages[value]).stores.append(store)
    expensive = _expensive(s)
    kept_by_stage: dict[int, set[int]] = {}
    for number in reversed(range(len(s.phases))):
        phase = s.phases[number]
        kept = kept_by_stage.get(number, set())
        roots = [nest.stores[store][1] for store in phase.stores] + sorted(kept)
        for position in phase.reductions:
            roots += value_arguments(nest.body[position])
        needed: set[int] = set()
        loaded: set[int] = set()
        pending = [each for each in roots if "R" in s.levels[each]]
        while pending:
            position = pending.pop()
            if position in needed or position in loaded:
                continue
            if s.stages[position] < number and expensive[position]:
                loaded.add(position)
                kept_by_stage.setdefault(s.stages[position], set()).add(position)
                continue
            needed.add(position)
            arguments = value_arguments(nest.body[position])
            pending += [each for each in arguments if "R" in s.levels[each]]
        phase.body, phase.loaded, phase.kept = sorted(needed), sorted(loaded), sorted(kept)
    offset = 0
    for position in sorted(set().union(*kept_by_stage.values())) if kept_by_stage else ():
        s.scratch[position] = offset
        offset += register_bytes(nest.body[position].dtype)


def _phase(s: Schedule, number: int) -> Phase:
    while len(s.phases) <= number:
        s.phases.append(Phase())
    return s.phases[number]


def _expensive(s: Schedule) -> list[bool]:
    """Whether computing a full value again at a later phase costs more than keeping it."""
    result: list[bool] = []
    for position, instruction in enumerate(s.nest.body):
        full = [each for each in value_arguments(instruction) if "R" in s.levels[each]]
        costly = instruction.name not in _CHEAP or any(result[each] for each in full)
        result.append("R" in s.levels[position] and costly)
    return result


def _live(nest: Nest, split: str) -> set[int]:
    """What the results need: of a split reduction, the part before or after the accumulators."""
    live: set[int] = set()
    pending = [value for _, value in nest.stores]
    if split == "partial":
        pending = [k for k, each in enumerate(nest.body) if is_reduction(each)]
    while pending:
        position = pending.pop()
        if position in live:
            continue
        live.add(position)
        if split != "finish" or not is_reduction(nest.body[position]):
            pending += value_arguments(nest.body[position])
    return live


def _place_rows(s: Schedule) -> None:
    s.rows = [[] for _ in range(len(s.phases) + 1)]
    for position in sorted(s.live):
        if "R" in s.levels[position] or is_reduction(s.nest.body[position]):
            continue
        if s.levels[position]:
            s.rows[min(s.stages[position], len(s.phases))].append(position)
        else:
            s.constants.append(position)


def _find_splats(s: Schedule) -> None:
    """Scalars that vectors are computed with: spread out where they are defined, not used."""
    for position, instruction in enumerate(s.nest.body):
        if s.vector[position]:
            arguments = value_arguments(instruction)
            s.splats.update(each for each in arguments if not s.vector[each])


# Straight code of a few dozen machine instructions for float32 and float64.
_MEDIUM = frozenset(
    "div reciprocal sqrt rsqrt exp expm1 log log1p tanh sigmoid erf sin cos multiply_add".split()
)
_UNLIMITED = 1000


def step_size(instruction: Instruction) -> int:
    """About how much code an instruction takes, in units of an addition; huge if it has loops."""
    name, dtype = instruction.name, instruction.dtype
    if name in ("constant", "scalar", "size"):
        return 0
    if dtype.is_complex or name == "load_indirect":
        return _UNLIMITED
    if name in _CHEAP or is_scan(instruction) or is_reduction(instruction):
        return 1
    return 20 if name in _MEDIUM and dtype.kind == "f" else _UNLIMITED


_LIBRARY_CALLS = frozenset(("lgamma",))


def cost(nest: Nest) -> float:
    """Work per point, in units of an addition that streams through memory."""
    total = 0.0
    for instruction in nest.body:
        if instruction.name in ("scalar", "constant", "size"):
            continue
        if instruction.dtype.is_complex and instruction.name not in _CHEAP:
            total += 40.0
        elif instruction.name in _CHEAP or is_reduction(instruction) or is_scan(instruction):
            total += 0.25
        else:
            total += 20.0 if instruction.name in _LIBRARY_CALLS else 2.0
    return max(1.0, total)
