"""`AdaptiveLogSoftmaxWithLoss`: log-softmax over many classes of very different frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import rushlight

from ..._core import Tensor
from .. import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    """The log-probability of each target, and the mean loss."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-softmax with rare classes in clusters that have smaller layers.

    (Grave et al., arXiv:1609.04309.) Classes must be sorted by frequency, the most frequent first.

    Args:
        in_features: the size of the input's last dim.
        n_classes: the number of classes.
        cutoffs: where clusters begin.
        div_value: by which factor the layer of a cluster is smaller than that before it.
        head_bias: whether the layer of the frequent classes has a bias.
        device: where the parameters are.
        dtype: their dtype.

    Raises:
        ValueError: for cutoffs that are not increasing, or out of range.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs must not be empty")
        if (
            cutoffs != sorted(set(cutoffs))
            or cutoffs[0] <= 0
            or cutoffs[-1] > n_classes - 1
            or any(int(cutoff) != cutoff for cutoff in cutoffs)
        ):
            raise ValueError(
                "cutoffs must be different integers in increasing order, each from 1 to "
                "n_classes - 1"
            )
        options = {"device": device, "dtype": dtype}
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden = int(in_features // div_value ** (i + 1))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(
                    Linear(in_features, hidden, bias=False, **options),
                    Linear(hidden, size, bias=False, **options),
                )
            )

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        self.head.reset_parameters()
        for inner, outer in self.tail:
            inner.reset_parameters()
            outer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """Log-probabilities [N] of the targets [N] for inputs [N, in_features], and the loss."""
        batched = target_.dim() > 0
        if target_.dim() > 1:
            raise RuntimeError(
                f"target must be 0D or 1D, not {target_.dim()}D: multi-target not supported"
            )
        if batched and input_.size(0) != target_.size(0):
            raise RuntimeError(
                f"input and target must have one batch size, not {input_.size(0)} and "
                f"{target_.size(0)}"
            )
        if input_.dim() != (2 if batched else 1):
            raise RuntimeError(
                f"{target_.dim()}D target tensor expects {2 if batched else 1}D input tensors, but "
                f"found inputs with size {input_.size()}"
            )
        input = input_ if batched else input_.unsqueeze(0)
        target = target_ if batched else target_.unsqueeze(0)
        if target.numel() and not (0 <= int(target.min()) and int(target.max()) < self.n_classes):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{int(target.min())}, {int(target.max())}] were found. "
            )
        output = self._log_prob_of(input, target)
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def _log_prob_of(self, input: Tensor, target: Tensor) -> Tensor:
        """The log-probability of each target: only the clusters that occur are computed."""
        output = input.new_zeros(target.size(0))
        head_index = target.clone()
        for i, cluster in enumerate(self.tail):
            low, high = self.cutoffs[i], self.cutoffs[i + 1]
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            within = F.log_softmax(cluster(input[rows]), dim=1)
            picked = within.gather(1, (target[rows] - low).unsqueeze(1)).squeeze(1)
            output = output.index_put((rows,), picked)
            head_index[rows] = self.shortlist_size + i
        head = F.log_softmax(self.head(input), dim=1)
        return output + head.gather(1, head_index.unsqueeze(1)).squeeze(1)

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities [N, n_classes] of all classes for inputs [N, in_features]."""
        head = F.log_softmax(self.head(input), dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            within = F.log_softmax(cluster(input), dim=1)
            parts.append(within + head[:, self.shortlist_size + i].unsqueeze(1))
        return rushlight.cat(parts, dim=1)

    def predict(self, input: Tensor) -> Tensor:
        """The most likely class [N] for inputs [N, in_features]."""
        return self.log_prob(input).argmax(dim=1)
