"""Multi-head attention."""

from __future__ import annotations

from typing import Any

import rushlight

from ..._core import Tensor
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .linear import NonDynamicallyQuantizableLinear
from .module import Module

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Attention of several heads: each a projection of queries, keys and values.

    (Vaswani et al., arXiv:1706.03762.)

    Args:
        embed_dim: the size of queries and results.
        num_heads: the number of heads.
        dropout: the probability for dropout of attention weights.
        bias: whether projections have biases.
        add_bias_kv: whether learnt elements are added to the sequences of keys and values.
        add_zero_attn: whether zeros are added to them.
        kdim: the size of keys, by default embed_dim.
        vdim: the size of values, by default embed_dim.
        batch_first: whether the batch is dim 0; else dim 1.
        device: where the parameters are.
        dtype: their dtype.

    Raises:
        ValueError: for sizes that are not positive.
        AssertionError: if the heads do not divide embed_dim.
    """

    __constants__ = ["batch_first"]

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be positive, but are {embed_dim} and {num_heads}"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        options: dict[str, Any] = {"device": device, "dtype": dtype}

        def parameter(*shape: int, wanted: bool = True) -> Parameter | None:
            return Parameter(rushlight.empty(shape, **options)) if wanted else None

        same = self._qkv_same_embed_dim
        for name, parameter_or_none in {
            "in_proj_weight": parameter(3 * embed_dim, embed_dim, wanted=same),
            "q_proj_weight": parameter(embed_dim, embed_dim, wanted=not same),
            "k_proj_weight": parameter(embed_dim, self.kdim, wanted=not same),
            "v_proj_weight": parameter(embed_dim, self.vdim, wanted=not same),
            "in_proj_bias": parameter(3 * embed_dim, wanted=bias),
        }.items():
            self.register_parameter(name, parameter_or_none)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **options)
        if add_bias_kv:
            self.bias_k = parameter(1, 1, embed_dim)
            self.bias_v = parameter(1, 1, embed_dim)
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for weight in (
            self.in_proj_weight,
            self.q_proj_weight,
            self.k_proj_weight,
            self.v_proj_weight,
        ):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        if self.bias_k is not None:
            init.xavier_normal_(self.bias_k)
        if self.bias_v is not None:
            init.xavier_normal_(self.bias_v)

    def __setstate__(self, state: dict[str, Any]) -> None:
        state.setdefault("_qkv_same_embed_dim", True)
        super().__setstate__(state)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend from queries to keys, and mix the values.

        Args:
            query: [target length, N, embed_dim], or [N, target length, embed_dim] if batch_first,
                or without N.
            key: [source length, N, kdim], in the same form.
            value: [source length, N, vdim], in the same form.
            key_padding_mask: [N, source length], true where keys do not count (or numbers that are
                added to scores).
            need_weights: whether attention weights are returned.
            attn_mask: [target length, source length] or [N * heads, ...], true where attention is
                not allowed (or numbers that are added to scores).
            average_attn_weights: whether returned weights are averaged over the heads.
            is_causal: a hint that attn_mask is causal; it must be given too.

        Returns:
            The result in the form of the query, and the weights or None.
        """
        batched = query.dim() == 3
        if self.batch_first and batched:
            query, key, value = _swapped(query, key, value)
        masks: dict[str, Any] = {
            "key_padding_mask": _as_additive(key_padding_mask, query, "key_padding_mask"),
            "attn_mask": _as_additive(attn_mask, query, "attn_mask"),
        }
        projections: dict[str, Any] = {}
        if not self._qkv_same_embed_dim:
            projections = {
                "use_separate_proj_weight": True,
                "q_proj_weight": self.q_proj_weight,
                "k_proj_weight": self.k_proj_weight,
                "v_proj_weight": self.v_proj_weight,
            }
        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            need_weights=need_weights,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
            **masks,
            **projections,
        )
        if self.batch_first and batched:
            output = output.transpose(0, 1)
        return output, weights

    def merge_masks(
        self,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        query: Tensor,
    ) -> tuple[Tensor | None, int | None]:
        """Both masks as one [N, heads, target length, source length], and which there were: 0 the
        attention mask, 1 the padding mask, 2 both.
        """
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        batch, length = query.shape[:2]
        if attn_mask.dim() == 3:
            merged = attn_mask.view(batch, -1, length, length)
        else:
            merged = attn_mask.view(1, 1, length, length).expand(batch, self.num_heads, -1, -1)
        if key_padding_mask is None:
            return (merged if attn_mask.dim() == 3 else attn_mask), 0
        padding = key_padding_mask.view(batch, 1, 1, length).expand(-1, self.num_heads, -1, -1)
        return merged + padding, 2


def _swapped(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Batch and time exchanged; tensors that are the same stay the same."""
    turned: dict[int, Tensor] = {}
    for tensor in (query, key, value):
        if id(tensor) not in turned:
            turned[id(tensor)] = tensor.transpose(0, 1)
    return turned[id(query)], turned[id(key)], turned[id(value)]


def _as_additive(mask: Tensor | None, query: Tensor, name: str) -> Tensor | None:
    """A mask that is true where nothing counts as numbers to add to scores.

    Raises:
        AssertionError: if it is neither of bools nor of floating point numbers.
    """
    if mask is None or mask.is_floating_point():
        return mask
    if mask.dtype != rushlight.bool:
        raise AssertionError(f"only bool and floating types of {name} are supported")
    return rushlight.zeros_like(mask, dtype=query.dtype).masked_fill_(mask, float("-inf"))
