"""Embeddings: rows of a table."""

from __future__ import annotations

from typing import Any

import rushlight

from ..._core import Tensor
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module

__all__ = ["Embedding", "EmbeddingBag"]


# Values of options that the text of a module leaves out.
_HIDDEN = {
    "padding_idx": None,
    "max_norm": None,
    "norm_type": 2,
    "scale_grad_by_freq": False,
    "sparse": False,
}


class _Table(Module):
    """A table of vectors, and options of looking them up."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    max_norm: float | None
    weight: Tensor

    def _set_padding(self, padding_idx: int | None, message: str) -> None:
        """Check the row whose gradient is zero, and count it from the start."""
        if padding_idx is not None:
            if not -self.num_embeddings <= padding_idx < self.num_embeddings:
                raise AssertionError(message)
            padding_idx %= self.num_embeddings
        self.padding_idx = padding_idx

    def _set_weight(self, weight: Tensor | None, freeze: bool, device: Any, dtype: Any) -> None:
        """Take over a table, or draw one."""
        shape = (self.num_embeddings, self.embedding_dim)
        if weight is None:
            empty = rushlight.empty(shape, device=device, dtype=dtype)
            self.weight = Parameter(empty, requires_grad=not freeze)
            self.reset_parameters()
        else:
            if tuple(weight.shape) != shape:
                raise AssertionError(
                    "the given weight must have shape (num_embeddings, embedding_dim), "
                    f"{shape}, not {tuple(weight.shape)}"
                )
            self.weight = Parameter(weight, requires_grad=not freeze)

    def reset_parameters(self) -> None:
        """Draw the table anew: normal numbers, and zeros in the row of the padding."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with rushlight.no_grad():
                self.weight[self.padding_idx].fill_(0)

    def _described(self, *options: str) -> str:
        """The table's sizes, and these options as far as they are not the defaults."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        for name in options:
            value = getattr(self, name)
            if name not in _HIDDEN or value != _HIDDEN[name]:
                text += f", {name}={value!r}"
        return text


class Embedding(_Table):
    """The rows of a table that indices tell.

    Args:
        num_embeddings: the number of rows.
        embedding_dim: their size.
        padding_idx: a row that starts as zeros and gets no gradient.
        max_norm: rows with a greater norm are scaled to it when they are looked up.
        norm_type: the p of that norm.
        scale_grad_by_freq: whether a row's gradient is divided by how often it is looked up.
        sparse: whether the gradient is sparse.
        _weight: the table, if it is given.
        _freeze: whether the table gets no gradient.
        device: where the table is.
        dtype: its dtype.

    Example:
        >>> Embedding(10, 3)(rushlight.tensor([1, 5])).shape
        torch.Size([2, 3])
    """

    __constants__ = [
        "num_embeddings", "embedding_dim", "padding_idx", "max_norm", "norm_type",
        "scale_grad_by_freq", "sparse",
    ]  # fmt: skip

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self._set_padding(padding_idx, "Padding_idx must be within num_embeddings")
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        self._set_weight(_weight, _freeze, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        """The options with their values, as far as they are not the defaults."""
        return self._described(
            "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse"
        )

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """A module with a given table; the other arguments are the constructor's."""
        return cls(
            *_sizes_of(embeddings),
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
            _weight=embeddings,
            _freeze=freeze,
        )


def _sizes_of(embeddings: Tensor) -> tuple[int, int]:
    if embeddings.dim() != 2:
        raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
    rows, columns = embeddings.shape
    return rows, columns


class EmbeddingBag(_Table):
    """The sum, mean or maximum of the rows of a table that bags of indices tell.

    Args:
        num_embeddings: the number of rows.
        embedding_dim: their size.
        max_norm: rows with a greater norm are scaled to it when they are looked up.
        norm_type: the p of that norm.
        scale_grad_by_freq: whether a row's gradient is divided by how often it is looked up.
        mode: ``"max"``, ``"mean"`` or ``"sum"``.
        sparse: whether the gradient is sparse.
        _weight: the table, if it is given.
        include_last_offset: whether the offsets end with the number of indices.
        padding_idx: a row that starts as zeros, gets no gradient and does not count.
        device: where the table is.
        dtype: its dtype.
    """

    __constants__ = [
        "num_embeddings", "embedding_dim", "max_norm", "norm_type", "scale_grad_by_freq", "mode",
        "sparse", "include_last_offset", "padding_idx",
    ]  # fmt: skip

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self._set_padding(padding_idx, "padding_idx must be within num_embeddings")
        self._set_weight(_weight, False, device, dtype)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        """The result for bags: the rows of a matrix of indices, or the parts of a vector of them
        that begin at offsets.
        """
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        """The options with their values, as far as they are not the defaults."""
        return self._described("max_norm", "norm_type", "scale_grad_by_freq", "mode", "padding_idx")

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """A module with a given table; the other arguments are the constructor's."""
        result = cls(
            *_sizes_of(embeddings),
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            mode=mode,
            sparse=sparse,
            _weight=embeddings,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        result.weight.requires_grad_(not freeze)
        return result
