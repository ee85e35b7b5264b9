"""Rows of a table by number: embedding, alone and in bags."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..graph.symbols import DataDependentError
from ..graph.trace import Traced
from ..layout import numel
from . import build
from .conversion import with_gradient_of
from .indexing import gather_primitive, scatter_add_primitive
from .record import Selector, Tensor, composite, op
from .samples import Draw, calls


def _check_rows(input: Traced, weight: Traced, name: str) -> None:
    if input.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(
            f"{name}: indices must be int64 or int32, not {input.dtype}; convert them with .long()"
        )
    if weight.ndim != 2:
        raise RuntimeError(f"'weight' must be 2-D (in {name}: got shape {list(weight.shape)})")


def row_number(padding_idx: int | None, rows: Any, name: str) -> int | None:
    """padding_idx counted from the start; None if no row is special."""
    if padding_idx is None:
        return None
    if padding_idx >= rows or padding_idx < -rows:
        raise AssertionError(
            f"Padding_idx must be within num_embeddings (in {name}: {padding_idx} of {rows} rows)"
        )
    return padding_idx if padding_idx >= 0 else padding_idx + rows


def rows_at(weight: Traced, index: Traced) -> Traced:
    """The rows of weight at a 1-d index."""
    shape = (index.shape[0], weight.shape[1])
    return gather_primitive.apply(weight, build.expand(build.insert_dim(index, 1), shape), dim=0)


def add_rows(weight: Traced, index: Traced, rows: Traced) -> Traced:
    """Zeros of weight's shape with rows added at a 1-d index."""
    zeros = build.full_like(weight, 0, rows.dtype)
    index = build.expand(build.insert_dim(index, 1), rows.shape)
    return scatter_add_primitive.apply(zeros, index, rows, dim=0)


def flat_index(input: Traced) -> Traced:
    return build.reshape(build.convert(input, dtypes.int64), (numel(input.shape),))


def _share(index: Traced, rows: Any, dtype: Any) -> Traced:
    """One over how often each index occurs, in a column."""
    ones = build.full(index.shape, 1, dtype)
    counts = scatter_add_primitive.apply(build.full((rows,), 0, dtype), index, ones, dim=0)
    return build.insert_dim(1 / gather_primitive.apply(counts, index, dim=0), 1)


def _counted_rows(
    rows: Traced, index: Traced, weight: Traced, padding_idx: Any, scale_grad_by_freq: bool
) -> Traced:
    """The rows as their gradients count: that of padding_idx not, and the others by frequency."""
    if scale_grad_by_freq:
        rows = rows * _share(index, weight.shape[0], rows.dtype)
    padding = row_number(padding_idx, weight.shape[0], "embedding")
    if padding is None:
        return rows
    return build.select_where(build.insert_dim(index, 1) == padding, 0, rows, rows.dtype)


def _embedding_derivative(
    g: Any,
    out: Any,
    input: Any,
    weight: Any,
    padding_idx: Any = None,
    max_norm: Any = None,
    norm_type: Any = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    if sparse:
        raise NotImplementedError(
            "embedding: sparse gradients are not supported; give sparse=False for dense ones"
        )
    index = flat_index(input)
    rows = build.reshape(g, (index.shape[0], weight.shape[1]))
    rows = _counted_rows(rows, index, weight, padding_idx, scale_grad_by_freq)
    return None, add_rows(weight, index, rows)


def limit_rows(weight: Any, index: Any, max_norm: Any, norm_type: Any) -> None:
    """Scale the rows at ``index`` whose norm is greater than max_norm down to it, in place."""
    table = op.detach(weight)
    index = op.reshape(index, (-1,))
    rows = op.index_select(table, 0, index)
    norms = op.pow(op.sum(op.pow(op.abs(rows), norm_type), 1, True), 1 / norm_type)
    scaled = op.where(norms > max_norm, rows * (max_norm / (norms + 1e-7)), rows)
    table.index_copy_(0, index, scaled)


_INDICES = Draw((2, 3), 0, 4, dtype=dtypes.int64)


@composite(
    names=["nn.functional.embedding"],
    methods=[],
    derivative=_embedding_derivative,
    onnx="Gather",
    samples=calls(
        (_INDICES, Draw((4, 5))),
        (Draw((), 0, 4, dtype=dtypes.int32), Draw((4, 5))),
        (Draw((0,), 0, 4, dtype=dtypes.int64), Draw((4, 5))),
    ),
)
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: Selector = None,
    norm_type: Selector = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
):
    """The rows of weight that the integers in input number.

    padding_idx: a row that gets no gradient; max_norm: longer rows among these are first scaled
    down to it, in place; scale_grad_by_freq: gradients are divided by how often a row occurs.
    """
    _check_rows(input, weight, "embedding")
    if max_norm is not None:
        if isinstance(weight, Traced):
            raise DataDependentError(
                "embedding with max_norm changes the rows that it finds in place, which cannot be "
                "traced"
            )
        limit_rows(weight, input, max_norm, norm_type)
        return embedding(input, weight, padding_idx, None, 2.0, scale_grad_by_freq)
    row_number(padding_idx, weight.shape[0], "embedding")
    index = flat_index(input)
    rows = rows_at(weight, index)
    if padding_idx is not None or scale_grad_by_freq:
        rows = with_gradient_of.apply(
            rows, _counted_rows(rows, index, weight, padding_idx, scale_grad_by_freq)
        )
    return build.reshape(rows, (*input.shape, weight.shape[1]))


@composite(
    name="embedding_of",
    names=["embedding"],
    methods=[],
    samples=calls((Draw((4, 5)), _INDICES)),
)
def embedding_of(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
):
    """``nn.functional.embedding`` with the table first; padding_idx -1: no row is special."""
    padding = None if padding_idx < 0 else padding_idx
    return embedding(indices, weight, padding, None, 2.0, scale_grad_by_freq, sparse)
