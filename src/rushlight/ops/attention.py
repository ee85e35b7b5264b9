"""Scaled dot-product attention, alone and with several heads."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..graph.trace import Traced
from ..promotion import scalar_type_name
from . import build
from .checks import require_same_dtype
from .record import Operand, Tensor, composite, op
from .samples import Draw, calls

_INFINITE = float("inf")


def _check_attention(query: Traced, key: Traced, value: Traced, mask: Any, causal: bool) -> None:
    name = "scaled_dot_product_attention"
    require_same_dtype(name, query=query, key=key, value=value)
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError(
            f"{name}: query, key and value need at least 2 dimensions, but have {query.ndim}, "
            f"{key.ndim} and {value.ndim}"
        )
    if not query.dtype.is_floating_point:
        raise NotImplementedError(
            f"\"{name}\" not implemented for '{scalar_type_name(query.dtype)}'; convert the inputs"
        )
    if mask is None:
        return
    if causal:
        raise RuntimeError(f"{name}: Explicit attn_mask should not be set when is_causal=True")
    if mask.dtype is not dtypes.bool and mask.dtype not in (query.dtype, dtypes.float32):
        raise RuntimeError(
            f"{name}: attn_mask must be bool, float32 or of query's dtype, {query.dtype}, not "
            f"{mask.dtype}"
        )


def _causal_mask(rows: Any, columns: Any) -> Traced:
    """True where a column is not after its row."""
    row = build.insert_dim(build.iota(rows), 1)
    return build.insert_dim(build.iota(columns), 0) <= row


def _shared_heads(query: Traced, key: Traced, value: Traced) -> tuple[Traced, Traced]:
    """Key and value with each head repeated for the group of query heads that shares it."""
    if min(query.ndim, key.ndim, value.ndim) < 3:
        raise RuntimeError(
            "scaled_dot_product_attention: with enable_gqa the inputs need a dim of heads in "
            f"third place from the end, but got shapes {list(query.shape)}, {list(key.shape)} and "
            f"{list(value.shape)}"
        )
    heads = query.shape[-3]
    repeated = []
    for x in (key, value):
        if x.shape[-3] == 0 or heads % x.shape[-3] != 0:
            raise RuntimeError(
                f"scaled_dot_product_attention: {heads} heads of query cannot share "
                f"{x.shape[-3]} heads of key or value; the number of these must divide the "
                "number of those"
            )
        apart = build.insert_dim(x, x.ndim - 2)
        shape = (*apart.shape[:-3], heads // x.shape[-3], *apart.shape[-2:])
        repeated.append(
            build.reshape(build.expand(apart, shape), (*x.shape[:-3], heads, *x.shape[-2:]))
        )
    return repeated[0], repeated[1]


def _attention_weights(scores: Traced) -> Traced:
    """Softmax along the last dim; a row that is masked throughout gets zeros."""
    last = scores.ndim - 1
    if scores.shape[last] == 0:
        return scores
    largest = op.detach(op.amax(scores, last, True))
    hidden = largest == -_INFINITE
    exponentials = op.exp(scores - op.where(hidden, 0.0, largest))
    total = build.reduce_sum(exponentials, (last,))
    return exponentials * op.reciprocal(op.where(hidden, 1.0, total))


@composite(
    names=["nn.functional.scaled_dot_product_attention"],
    methods=[],
    random=True,
    onnx="Attention",
    samples=calls(
        (Draw((3, 4)), Draw((5, 4)), Draw((5, 6))),
        (Draw((2, 3, 4)), Draw((2, 5, 4)), Draw((2, 5, 4)), Draw((3, 5))),
        (Draw((2, 3, 4)), Draw((2, 5, 4)), Draw((2, 5, 4)), Draw((3, 5), 0, 2, dtype=dtypes.bool)),
        ((Draw((2, 3, 4)), Draw((2, 5, 4)), Draw((2, 5, 4))), {"is_causal": True, "scale": 0.3}),
        ((Draw((4, 3, 4)), Draw((2, 5, 4)), Draw((2, 5, 4))), {"enable_gqa": True}),
    ),
)
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: Operand = 0.0,
    is_causal: bool = False,
    scale: Operand = None,
    enable_gqa: bool = False,
):
    """softmax(query @ key^T * scale + attn_mask) @ value (Vaswani et al. 2017, section 3.2.1).

    A bool mask is true where a key takes part; is_causal lets row i attend to keys up to i.
    enable_gqa: groups of query heads share one head of key and value. scale: None is one over the
    square root of the last size.
    """
    _check_attention(query, key, value, attn_mask, is_causal)
    if enable_gqa:
        key, value = _shared_heads(query, key, value)
    wide = build.widened(query)
    if scale is None:
        scale = 1 / op.sqrt(query.shape[-1] * 1.0) if query.shape[-1] != 0 else 1.0
    scores = op.matmul(wide * scale, op.transpose(build.widened(key), -2, -1))
    if is_causal:
        attn_mask = _causal_mask(query.shape[-2], key.shape[-2])
    if attn_mask is not None:
        if attn_mask.dtype is dtypes.bool:
            scores = op.where(attn_mask, scores, -_INFINITE)
        else:
            scores = scores + attn_mask
    weights = op.dropout(_attention_weights(scores), dropout_p, True)
    return build.convert(op.matmul(weights, build.widened(value)), query.dtype)
