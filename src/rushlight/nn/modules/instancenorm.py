"""Normalisation by the statistics of each instance."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

from ..._core import Tensor
from .. import functional as F
from .batchnorm import _LazyNormBase, _NormBase

__all__ = [
    "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LazyInstanceNorm1d",
    "LazyInstanceNorm2d", "LazyInstanceNorm3d",
]  # fmt: skip


class _InstanceNorm(_NormBase):
    """(input - mean) / sqrt(variance + eps) * weight + bias, for each channel of each instance.

    (Ulyanov et al., arXiv:1607.08022.)

    Args:
        num_features: the number of channels.
        eps: a small number that keeps the denominator from zero.
        momentum: the weight of a new batch in the running statistics.
        affine: whether there are a weight and a bias.
        track_running_stats: whether there are running statistics, which are used in evaluation.
        device: where parameters and statistics are.
        dtype: their dtype.
        bias: whether there is a bias, if affine.

    Raises:
        ValueError: for inputs of other numbers of dims, or if affine of channels.
    """

    _unbatched: ClassVar[int]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        channel_dim = input.dim() - self._unbatched
        if input.size(channel_dim) != self.num_features:
            message = (
                f"input's size at dim={channel_dim} to match num_features ({self.num_features}), "
                f"but got: {input.size(channel_dim)}."
            )
            if self.affine:
                raise ValueError(f"expected {message}")
            warnings.warn(
                f"expected {message} num_features is not used, since affine=False", stacklevel=3
            )
        if channel_dim == 0:
            return self._normalize(input.unsqueeze(0)).squeeze(0)
        return self._normalize(input)

    def _normalize(self, input: Tensor) -> Tensor:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum if self.momentum is not None else 0.0,
            self.eps,
        )

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """States of version 1 have running statistics that are not used."""
        version = local_metadata.get("version", None)
        if version is None and not self.track_running_stats:
            unused = [
                prefix + name
                for name in ("running_mean", "running_var")
                if prefix + name in state_dict
            ]
            if unused:
                name = type(self).__name__
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {', '.join(unused)} for {name} with "
                    "track_running_stats=False: remove them from the state, or create the module "
                    "with track_running_stats=True"
                )
                for key in unused:
                    state_dict.pop(key)
        super()._load_from_state_dict(
            state_dict,
            prefix,
            local_metadata,
            strict,
            missing_keys,
            unexpected_keys,
            error_msgs,
        )


class InstanceNorm1d(_InstanceNorm):
    __doc__ = (_InstanceNorm.__doc__ or "").replace("instance.", "instance of [N, C, L].", 1)
    _dims = (2, 3)
    _unbatched = 2


class InstanceNorm2d(_InstanceNorm):
    __doc__ = (_InstanceNorm.__doc__ or "").replace("instance.", "instance of [N, C, H, W].", 1)
    _dims = (3, 4)
    _unbatched = 3


class InstanceNorm3d(_InstanceNorm):
    __doc__ = (_InstanceNorm.__doc__ or "").replace("instance.", "instance of [N, C, D, H, W].", 1)
    _dims = (4, 5)
    _unbatched = 4


class _LazyInstanceNorm(_LazyNormBase, _InstanceNorm):
    """An instance normalisation that takes num_features from its first input; the other arguments
    are those of the normalisation that it becomes.
    """

    def initialize_parameters(self, input: Tensor) -> None:
        """Give parameters and statistics the shapes that fit an input."""
        batched = input if input.dim() > self._unbatched else input.unsqueeze(0)
        super().initialize_parameters(batched)


class LazyInstanceNorm1d(_LazyInstanceNorm):
    __doc__ = _LazyInstanceNorm.__doc__
    cls_to_become = InstanceNorm1d
    _dims, _unbatched = InstanceNorm1d._dims, InstanceNorm1d._unbatched


class LazyInstanceNorm2d(_LazyInstanceNorm):
    __doc__ = _LazyInstanceNorm.__doc__
    cls_to_become = InstanceNorm2d
    _dims, _unbatched = InstanceNorm2d._dims, InstanceNorm2d._unbatched


class LazyInstanceNorm3d(_LazyInstanceNorm):
    __doc__ = _LazyInstanceNorm.__doc__
    cls_to_become = InstanceNorm3d
    _dims, _unbatched = InstanceNorm3d._dims, InstanceNorm3d._unbatched
