"""What fusion and the nest builder share: kinds of nodes, steps, and views as changes of access."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..graph.node import Node, Value
from ..graph.symbols import Dimension, same_shape
from ..ops.kinds import Host, Random
from .nest import Nest

REDUCTIONS = {
    "sum": "reduce_sum",
    "prod": "reduce_prod",
    "amax": "reduce_max",
    "amin": "reduce_min",
    "any": "reduce_any",
    "all": "reduce_all",
    "argmax": "reduce_argmax",
    "argmin": "reduce_argmin",
}
SCANS = {"cumsum": "scan_sum", "cumprod": "scan_prod"}
AFFINE_VIEWS = {"expand", "permute", "reshape", "slice", "flip", "window"}
SCATTERS = {"scatter", "scatter_add", "index_put"}
REGION_WRITERS = {"cat", "slice_scatter"} | SCATTERS  # their result is written piece by piece
STEPWISE = REGION_WRITERS | SCANS.keys()  # never absorbed into another nest
PREDICATES = {"eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite"}
INDIRECT = {"gather", "index"}
DIVISIONS = {"floor_divide", "remainder", "fmod", "trunc_divide"}  # by zero, they fail for integers
CONTRACTIONS = {"convolution", "convolution_weight"}
LIBRARY = {"matmul", "convolution_input"} | CONTRACTIONS
GEMM_TYPES = {"float32", "float64", "complex64", "complex128"}

Access = tuple[Any, ...]  # per dim of a value: a domain dim, None (index 0), or Computed


class NeedsStore(Exception):
    """This value cannot be computed inside the nest being built."""

    def __init__(self, value: Value):
        super().__init__(value)
        self.value = value


@dataclass(frozen=True)
class Computed:
    """An index that an instruction computes; ``wrap``: negative values count from the end."""

    instruction: int
    wrap: bool


@dataclass(eq=False)
class Step:
    """A nest with its bindings, or a barrier node. ``writes`` and ``reads`` are stored values."""

    writes: list[Value]
    reads: list[Value]
    nest: Nest | None = None
    domain: tuple[Dimension, ...] = ()
    operands: list[tuple[Any, ...]] = field(default_factory=list)
    scalars: list[tuple[Value, int]] = field(default_factory=list)  # (weak input, word)
    ints: list[tuple[Any, ...]] = field(default_factory=list)
    node: Node | None = None
    roots: list[Root] = field(default_factory=list)
    axes: tuple[int, ...] = ()  # order of the domain dims relative to the root's
    reductions: list[Value] = field(default_factory=list)
    can_fail: bool = False


@dataclass(frozen=True)
class Root:
    """A value to store, and the view of a stored value's buffer that receives it."""

    value: Value
    target: Value
    chain: tuple[tuple[Any, ...], ...] = ()


def is_one(dimension: Dimension) -> bool:
    return isinstance(dimension, int) and dimension == 1


def is_barrier(node: Node) -> bool:
    """A node that is a step of its own: a library call, a host function, a draw of random bits."""
    return node.name in LIBRARY or isinstance(node.primitive.kind, Host | Random)


def trivial_reshape(node: Node) -> bool:
    """A reshape that only adds or drops dims of size one."""
    before = [d for d in node.inputs[0].shape if not is_one(d)]
    after = [d for d in node.outputs[0].shape if not is_one(d)]
    return same_shape(before, after)


def is_rearrangement(node: Node) -> bool:
    """A view that only says which dim follows which loop."""
    return node.name in ("expand", "permute") or (node.name == "reshape" and trivial_reshape(node))


def reduced_dims(node: Node) -> tuple[int, ...]:
    attributes = node.attributes
    return (attributes["dim"],) if "dim" in attributes else tuple(attributes["dims"])


# -- views as changes of access


def broadcast_access(value: Value, access: Access) -> Access:
    return access if value.shape else ()


def view_access(node: Node, access: Access) -> Access:
    """How the input of an expand, permute or trivial reshape is accessed when its result is
    accessed by ``access``.
    """
    source, result = node.inputs[0], node.outputs[0]
    if node.name == "expand":
        tail = access[len(access) - len(source.shape) :] if source.shape else ()
        return tuple(None if is_one(d) else a for d, a in zip(source.shape, tail))
    if node.name == "permute":
        inner: list[Any] = [None] * len(access)
        for position, dim in enumerate(node.attributes["dims"]):
            inner[dim] = access[position]
        return tuple(inner)
    entries = iter([a for d, a in zip(result.shape, access) if not is_one(d)])
    return tuple(None if is_one(d) else next(entries) for d in source.shape)


def loses_index(node: Node, access: Access) -> bool:
    """Whether a computed index does not reach the view's input, so that no load would check it."""
    inner = view_access(node, access)
    return any(isinstance(entry, Computed) and entry not in inner for entry in access)


def index_span(node: Node) -> int:
    """The dim of an indexed shape at which the dims of the indices begin."""
    dims = node.attributes["dims"]
    adjacent = list(dims) == list(range(dims[0], dims[0] + len(dims)))
    return dims[0] if adjacent else 0


def index_accesses(node: Node, access: Access) -> tuple[Access, list[Any]]:
    """Accesses of the index tensors and of the indexed value (None at the indexed dims)."""
    dims = node.attributes["dims"]
    rank = len(node.inputs[0].shape)
    index_rank = len(node.inputs[1].shape)
    first = index_span(node)
    index_access = access[first : first + index_rank]
    others = iter(access[:first] + access[first + index_rank :])
    rest = [None if dim in dims else next(others) for dim in range(rank)]
    return index_access, rest


def view_operation(node: Node) -> tuple[Any, ...]:
    """The entry of a plan's view chain for this node."""
    attributes = node.attributes
    if node.name == "permute":
        return ("permute", tuple(attributes["dims"]))
    if node.name in ("expand", "reshape"):
        return (node.name, tuple(node.outputs[0].shape))
    if node.name == "flip":
        return ("flip", tuple(attributes["dims"]))
    if node.name == "slice":
        return ("slice", *(attributes[k] for k in ("dim", "start", "step", "length")))
    if node.name == "window":
        return ("window", *(attributes[k] for k in ("dim", "length", "step", "taps", "spacing")))
    raise AssertionError(f"{node.name} is no view")
