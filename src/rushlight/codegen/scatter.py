"""How writes at computed places are done: by one step of the core, whatever the primitive.

``out[..., indices at their dims, ...] = source`` or ``+= source``: each dim of source follows a dim
of out, or walks along the indices only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..dtypes import complex32, complex64, float32, int64
from ..graph.node import Node, Value
from ..graph.trace import PRIMITIVES, Traced
from ..ops import build
from .steps import GEMM_TYPES, index_span

Chain = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Scatter:
    """What a node writes where.

    indices: of the shape of source; dims: which dim of out each numbers; walks: the dim of out that
    each dim of source follows, or -1; wraps: negative indices count from the end.
    """

    source: Value
    indices: tuple[tuple[Value, Chain], ...]
    dims: tuple[int, ...]
    walks: tuple[int, ...]
    adds: bool
    wraps: bool


def scatter_of(node: Node) -> Scatter:
    """The step that a scatter, scatter_add or index_put is."""
    if node.name == "index_put":
        return _index_put(node)
    x, index, source = node.inputs
    adds = node.name == "scatter_add"
    if not x.shape:
        return Scatter(source, (), (), (), adds, False)
    dim = node.attributes["dim"]
    walks = tuple(-1 if each == dim else each for each in range(len(x.shape)))
    return Scatter(source, ((index, ()),), (dim,), walks, adds, False)


def _index_put(node: Node) -> Scatter:
    x, source, *indices = node.inputs
    dims, rank = tuple(node.attributes["dims"]), len(indices[0].shape)
    first = index_span(node)
    rest = [dim for dim in range(len(x.shape)) if dim not in dims]
    walks = (*rest[:first], *[-1] * rank, *rest[first:])
    placed = (*[1] * first, *indices[0].shape, *[1] * (len(rest) - first))
    chain = (("reshape", placed), ("expand", tuple(source.shape)))
    return Scatter(
        source,
        tuple((index, chain) for index in indices),
        dims,
        walks,
        node.attributes["accumulate"],
        True,
    )


def replacement(node: Node) -> Any:
    """A function of the node's inputs that stands for it; None if the core can do it.

    Sums in half precision are rounded once.
    """
    dtype, options = node.outputs[0].dtype, node.attributes
    indices = slice(1, 2) if node.name != "index_put" else slice(2, None)
    narrow = dtype.is_floating_point or dtype.is_complex
    wide = scatter_of(node).adds and narrow and dtype.name not in GEMM_TYPES
    if not wide and all(index.dtype is int64 for index in node.inputs[indices]):
        return None
    compute = (complex64 if dtype is complex32 else float32) if wide else dtype

    def applied(*inputs: Traced) -> Traced:
        places = inputs[indices]
        parts = [
            build.convert(x, int64 if any(x is each for each in places) else compute)
            for x in inputs
        ]
        return build.convert(PRIMITIVES[node.name].apply(*parts, **options), dtype)

    return applied
