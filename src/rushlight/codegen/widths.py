"""How much each step of a kernel's loops does, and what follows for memory and threads.

Known without emitting code: a kernel that comes from the cache needs nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

from .nest import Nest, Variant
from .schedule import Phase, Schedule, is_scan, schedule, step_size
from .target import Target
from .values import parts_of, register_bytes

SLOT_WORDS = 8  # a 64-byte slot of a split reduction, in words
_MAX_STATE_WORDS = 4  # of one reduction: a compensated complex sum
_STEP_SIZE = 72  # of the code of one step of an unrolled loop
_WIDE_SIZE = 400  # the same, where a step reads more of each row of a matrix
_HEAVY = 20
_UNROLL = 4
_MAX_LANES = 64


def vector_lanes(plan: Schedule, target: Target) -> int:
    """Lanes per vector: as many as a register holds of the widest type."""
    dtypes = [plan.nest.body[each].dtype for each in plan.live if plan.vector[each]]
    widths = [register_bytes(each) // parts_of(each) for each in dtypes]
    return target.vector_bytes // max(1, *widths) if widths else target.vector_bytes // 4


def scratch_bytes(nest: Nest, variant: Variant, target: Target) -> int:
    """Scratch memory per reduced element that a kernel needs (for all lanes of a vector)."""
    if not nest.reduced:
        return 0
    plan = schedule(nest, variant)
    if variant.vector == "R" or not plan.scratch:
        return plan.scratch_size
    lanes = vector_lanes(plan, target)
    return plan.scratch_size * lanes * parallel_unroll(plan, variant, lanes)


def splittable(nest: Nest) -> bool:
    """Whether the reduced range may be cut into parts whose accumulators are combined later."""
    if not nest.reduced or any(is_scan(each) for each in nest.body):
        return False
    if any("R" in nest.operands[operand].level for operand, _ in nest.stores):
        return False
    plan = schedule(nest, Variant("R", "S" * len(nest.operands), 1))
    if len(plan.phases) != 1:
        return False
    words = _MAX_STATE_WORDS * len(plan.phases[0].reductions)
    return 0 < words <= SLOT_WORDS * len(nest.stores)


def parallel_unroll(plan: Schedule, variant: Variant, lanes: int) -> int:
    """Vectors per step along the parallel loop.

    Several hide the latency of what a step waits for. Reducing along rows that lie apart, they
    also read more of each row that they touch.
    """
    if not plan.nest.reduced:
        return _unroll(plan, variant, lanes, plan.rows[0], plan.row_stores, _STEP_SIZE)
    if variant.split == "finish" or not plan.phases:
        return 1
    phases = [phase_unroll(plan, variant, lanes, each, _WIDE_SIZE) for each in plan.phases]
    return min(phases)


def phase_unroll(
    plan: Schedule, variant: Variant, lanes: int, phase: Phase, limit: int = _STEP_SIZE
) -> int:
    """Vectors per step along the reduced loop of a phase."""
    body = [*phase.body, *phase.reductions]
    return _unroll(plan, variant, lanes, body, phase.stores, limit)


def _unroll(
    plan: Schedule,
    variant: Variant,
    lanes: int,
    body: Sequence[int],
    stores: Sequence[int],
    limit: int,
) -> int:
    """Vectors per step of the vector loop, for the instructions and stores of a step."""
    instructions = [plan.nest.body[each] for each in body]
    operands = [plan.nest.stores[each][0] for each in stores]
    operands += [each.arguments[0] for each in instructions if each.name == "load"]
    size = sum(step_size(each) for each in instructions)
    if any(variant.classes[each] == "S" for each in operands):
        return 1
    if variant.vector == "R" and any(is_scan(each) for each in instructions):
        return 1
    if limit == _STEP_SIZE and stores and size < _HEAVY:  # most of the time goes to memory
        return 1
    # Narrow numbers take as many lanes as the wide ones that they are computed as.
    narrow = all(plan.nest.operands[each].dtype.itemsize < 4 for each in operands)
    factor = 2 if narrow and variant.vector == "R" else 1
    fitting = min(factor * _UNROLL, limit // max(size, 1), factor * _MAX_LANES // lanes)
    return 1 << max(fitting, 1).bit_length() - 1
