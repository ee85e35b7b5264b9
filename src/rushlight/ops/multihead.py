"""Attention with several heads, projections included."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..graph.trace import PRIMITIVES, Traced
from . import build
from .attention import scaled_dot_product_attention
from .linear_algebra import linear
from .record import Operand, Tensor, composite, op

_NAME = "multi_head_attention_forward"


def _additive(mask: Any, dtype: Any, label: str) -> Any:
    """A mask as numbers to add to scores: minus infinity where a bool mask is true."""
    if mask is None or mask.dtype.is_floating_point:
        return mask
    if mask.dtype is not dtypes.bool:
        raise AssertionError(f"only bool and floating types of {label} are supported ({_NAME})")
    return build.select_where(mask, -float("inf"), 0.0, dtype)


def _joined(x: Traced, more: Traced, dim: int) -> Traced:
    return PRIMITIVES["cat"].apply(x, build.convert(more, x.dtype), dim=dim)


def _wider(mask: Any) -> Any:
    """A mask with a column more, which masks nothing."""
    if mask is None:
        return None
    last = mask.ndim - 1
    return build.pad(mask, last, 0, mask.shape[last] + 1)


def _check(query: Traced, key: Traced, value: Traced, embed_dim: int, num_heads: int) -> None:
    if query.ndim not in (2, 3) or key.ndim != query.ndim or value.ndim != query.ndim:
        raise AssertionError(
            "query should be unbatched 2D or batched 3D tensor, and key and value alike, but got "
            f"{query.ndim}D, {key.ndim}D and {value.ndim}D ({_NAME})"
        )
    if query.shape[query.ndim - 1] != embed_dim:
        raise AssertionError(
            f"was expecting embedding dimension of {embed_dim}, but got "
            f"{query.shape[query.ndim - 1]} ({_NAME})"
        )
    if num_heads < 1 or embed_dim % num_heads:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    if tuple(key.shape[:-1]) != tuple(value.shape[:-1]):
        raise AssertionError(
            f"key's sequence and batch dims {list(key.shape[:-1])} do not match value's "
            f"{list(value.shape[:-1])} ({_NAME})"
        )


def _rows(x: Any, part: int, size: Any) -> Any:
    return None if x is None else build.slice_(x, 0, part * size, 1, size)


def _heads(x: Traced, count: int, head_dim: Any) -> Traced:
    """[length, batch, heads * head_dim] as [batch * heads, length, head_dim]."""
    length, batch = x.shape[0], x.shape[1]
    return build.permute(build.reshape(x, (length, batch * count, head_dim)), (1, 0, 2))


def _fitting_mask(mask: Any, batch: Any, heads: int, rows: Any, columns: Any) -> Any:
    if mask is None:
        return None
    if mask.ndim not in (2, 3):
        raise RuntimeError(f"attn_mask's dimension {mask.ndim} is not supported ({_NAME})")
    expected = (rows, columns) if mask.ndim == 2 else (batch * heads, rows, columns)
    if tuple(mask.shape) != expected:
        raise RuntimeError(
            f"The shape of the {mask.ndim}D attn_mask is {list(mask.shape)}, but should be "
            f"{list(expected)}. ({_NAME})"
        )
    return mask if mask.ndim == 3 else build.insert_dim(mask, 0)


@composite(names=["nn.functional.multi_head_attention_forward"], methods=[], random=True)
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: Operand,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
):
    """Project query, key and value, attend with ``num_heads`` heads, project the result (Vaswani et
    al. 2017, section 3.2.2).

    Sequences are ``[length, batch, features]`` or ``[length, features]``. Bool masks are true where
    a key is left out. Returns the result and the weights (None unless need_weights).
    """
    _check(query, key, value, embed_dim_to_check, num_heads)
    if is_causal and attn_mask is None:
        raise RuntimeError(f"Need attn_mask if specifying the is_causal hint. (in {_NAME})")
    if not isinstance(embed_dim_to_check, int):
        raise TypeError(f"{_NAME}(): embed_dim_to_check must be an int")
    batched = query.ndim == 3
    if not batched:
        query, key, value = (build.insert_dim(x, 1) for x in (query, key, value))
        if key_padding_mask is not None:
            key_padding_mask = build.insert_dim(key_padding_mask, 0)
    rows, batch, embed = query.shape[0], query.shape[1], embed_dim_to_check
    head_dim = embed // num_heads
    causal = is_causal and key_padding_mask is None and not need_weights
    key_padding_mask = _additive(key_padding_mask, query.dtype, "key_padding_mask")
    attn_mask = None if causal else _additive(attn_mask, query.dtype, "attn_mask")
    if key_padding_mask is not None and tuple(key_padding_mask.shape) != (batch, key.shape[0]):
        raise AssertionError(
            f"expecting key_padding_mask shape of {[batch, key.shape[0]]}, but got "
            f"{list(key_padding_mask.shape)} ({_NAME})"
        )
    attn_mask = _fitting_mask(attn_mask, batch, num_heads, rows, key.shape[0])
    weights = (
        (q_proj_weight, k_proj_weight, v_proj_weight)
        if use_separate_proj_weight
        else tuple(_rows(in_proj_weight, part, embed) for part in range(3))
    )
    if any(weight is None for weight in weights):
        raise AssertionError(f"{_NAME}: the projection weights are missing")
    biases = [_rows(in_proj_bias, part, embed) for part in range(3)]
    q, k, v = (
        linear(x, weight, bias)
        for x, weight, bias in zip((query, key, value), weights, biases, strict=True)
    )
    if bias_k is not None and bias_v is not None:
        k, v = (
            _joined(x, build.expand(extra, (1, batch, embed)), 0)
            for x, extra in ((k, bias_k), (v, bias_v))
        )
        attn_mask, key_padding_mask = _wider(attn_mask), _wider(key_padding_mask)
    q = _heads(q, num_heads, head_dim)
    k = _heads(k, num_heads, head_dim) if static_k is None else static_k
    v = _heads(v, num_heads, head_dim) if static_v is None else static_v
    if add_zero_attn:
        zeros = build.full((batch * num_heads, 1, head_dim), 0, k.dtype)
        k, v = _joined(k, zeros, 1), _joined(v, zeros, 1)
        attn_mask, key_padding_mask = _wider(attn_mask), _wider(key_padding_mask)
    columns = k.shape[1]
    if key_padding_mask is not None:
        mask = build.reshape(key_padding_mask, (batch, 1, 1, columns))
        mask = build.expand(mask, (batch, num_heads, 1, columns))
        mask = build.reshape(mask, (batch * num_heads, 1, columns))
        attn_mask = mask if attn_mask is None else attn_mask + mask
    dropout = dropout_p if training else 0.0
    shown = None
    if need_weights:
        scores = op.matmul(q * (1.0 / head_dim) ** 0.5, op.transpose(k, 1, 2))
        shown = op.softmax(scores if attn_mask is None else scores + attn_mask, 2)
        shown = op.dropout(shown, dropout, True)
        result = op.matmul(shown, v)
        shown = build.reshape(shown, (batch, num_heads, rows, columns))
        shown = op.mean(shown, 1) if average_attn_weights else shown
        shown = shown if batched else build.drop_dims(shown, (0,))
    else:
        result = scaled_dot_product_attention(q, k, v, attn_mask, dropout, causal)
    result = build.reshape(build.permute(result, (1, 0, 2)), (rows, batch, embed))
    result = linear(result, out_proj_weight, out_proj_bias)
    return (result if batched else build.drop_dims(result, (1,))), shown
