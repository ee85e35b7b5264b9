"""Loop nests: what one fused kernel computes at each point of its domain.

A nest's domain has ``parallel`` dims, then ``reduced`` dims. Instructions form an SSA list: an
instruction refers to earlier ones by position. Each value has a level, a set of axes it varies
over: ``"P"`` (parallel), ``"R"`` (reduced), both, or neither (a constant of the whole call).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..dtypes import dtype as DType


@dataclass(frozen=True)
class Operand:
    """Memory that the kernel reads or writes, or a coordinate.

    role: ``"read"`` (one element per point), ``"write"``, ``"base"`` (indirect loads only: the
    kernel adds the address itself), ``"coordinate"`` (no memory: the pointer is an int64 index).
    level: the axes along which its strides may be non-zero: "", "P", "R" or "PR".
    """

    dtype: DType
    role: str
    level: str


@dataclass(frozen=True)
class Instruction:
    """One step.

    name and arguments:

    - ``load`` (operand): the element at this point; ``coordinate`` (operand): int64.
    - ``scalar`` (word index): a run-time number of this dtype; ``constant`` (Python number);
      ``size`` (int index): int64.
    - ``convert`` (value): cast to dtype, as PyTorch casts.
    - the name of a scalar instruction (``add``, ``exp``, ``where``, ``eq`` …) (values): see
      ``codegen/scalars.py``.
    - ``reduce_sum``, ``reduce_prod``, ``reduce_max``, ``reduce_min``, ``reduce_any``,
      ``reduce_all`` (value): over all reduced dims.
    - ``reduce_argmax``, ``reduce_argmin`` (value, index value): the index of the first extreme, NaN
      winning.
    - ``scan_sum``, ``scan_prod`` (value): inclusive, along the only reduced dim.
    - ``load_indirect`` (operand, first int, index values …): element at ``sum(index[k] *
      stride[k])`` of a base operand;
      ints[first + 2k] is the size and ints[first + 2k + 1] the stride in bytes of the k-th index's
      dim. Negative indices count from the end if ``wrap``; one out of range sets status bit 1 and
      reads nothing (value 0).

    dtype is the result's. float16 and bfloat16 values are computed in float32 and rounded only when
    stored.
    """

    name: str
    arguments: tuple
    dtype: DType
    wrap: bool = False


@dataclass(frozen=True)
class Nest:
    """A fused kernel. ``stores``: (write operand, value) pairs; ``names``: for printing."""

    parallel: int
    reduced: int
    operands: tuple[Operand, ...]
    scalars: int
    ints: int
    body: tuple[Instruction, ...]
    stores: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Variant:
    """How the loops lie for one layout of the operands.

    vector: ``"P"``: the vector lanes are neighbours along the innermost parallel loop; ``"R"``:
    along the innermost reduced loop. classes: one letter per operand for its stride along that
    loop: C contiguous (itemsize; 1 for a coordinate), B zero, S other. loops: number of reduced
    loops after collapsing (0 when the nest has none). split: ``""``, or ``"partial"`` (store raw
    accumulators instead of results) or ``"finish"`` (combine them and do the rest).
    """

    vector: str
    classes: str
    loops: int
    split: str = ""
