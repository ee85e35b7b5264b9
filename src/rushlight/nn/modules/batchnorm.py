"""Normalisation by the statistics of a batch."""

from __future__ import annotations

from typing import Any, ClassVar

import rushlight

from ..._core import Tensor
from .. import functional as F
from .. import init
from ..parameter import Parameter, UninitializedBuffer, UninitializedParameter
from .lazy import LazyModuleMixin
from .module import Module

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LazyBatchNorm1d", "LazyBatchNorm2d",
    "LazyBatchNorm3d", "SyncBatchNorm",
]  # fmt: skip


class _NormBase(Module):
    """What normalisations by statistics have: weight, bias and running statistics."""

    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]
    _version = 2
    _dims: ClassVar[tuple[int, ...]] = ()
    num_features: int
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        options = {"device": device, "dtype": dtype}

        def parameter(wanted: bool) -> Parameter | None:
            return Parameter(rushlight.empty(num_features, **options)) if wanted else None

        self.register_parameter("weight", parameter(affine))
        self.register_parameter("bias", parameter(affine and bias))
        if track_running_stats:
            self.register_buffer("running_mean", rushlight.zeros(num_features, **options))
            self.register_buffer("running_var", rushlight.ones(num_features, **options))
            count = rushlight.tensor(0, dtype=rushlight.int64, device=device)
            self.register_buffer("num_batches_tracked", count)
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget the statistics of former batches."""
        if self.track_running_stats:
            self.running_mean.zero_()  # type: ignore[union-attr]
            self.running_var.fill_(1)  # type: ignore[union-attr]
            self.num_batches_tracked.zero_()  # type: ignore[union-attr]

    def reset_parameters(self) -> None:
        """Weight 1, bias 0, no statistics."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in self._dims:
            expected = " or ".join(f"{dim}D" for dim in self._dims)
            raise ValueError(f"expected {expected} input (got {input.dim()}D input)")

    def extra_repr(self) -> str:
        """The options with their values."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, *arguments: Any
    ) -> None:
        """States of version 1 do not count batches."""
        version = local_metadata.get("version", None)
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats:
            if key not in state_dict:
                count = self.num_batches_tracked
                has_count = count is not None and count.device.type != "meta"
                state_dict[key] = count if has_count else rushlight.tensor(0)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *arguments)


class _BatchNorm(_NormBase):
    """(input - mean) / sqrt(variance + eps) * weight + bias, for each channel (dim 1).

    In training mean and variance are those of the batch, and running statistics are updated; in
    evaluation these are used. (Ioffe and Szegedy, arXiv:1502.03167.)

    Args:
        num_features: the number of channels.
        eps: a small number that keeps the denominator from zero.
        momentum: the weight of a new batch in the running statistics; None: that of all batches is
            the same.
        affine: whether there are a weight and a bias.
        track_running_stats: whether there are running statistics; without them those of the batch
            are always used.
        device: where parameters and statistics are.
        dtype: their dtype.
        bias: whether there is a bias, if affine.

    Raises:
        ValueError: for inputs of other numbers of dims.
    """

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        tracked = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if tracked else None,
            self.running_var if tracked else None,
            self.weight,
            self.bias,
            by_batch,
            factor,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    __doc__ = (_BatchNorm.__doc__ or "").replace("(dim 1)", "(dim 1) of [N, C] or [N, C, L]")
    _dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    __doc__ = (_BatchNorm.__doc__ or "").replace("(dim 1)", "(dim 1) of [N, C, H, W]")
    _dims = (4,)


class BatchNorm3d(_BatchNorm):
    __doc__ = (_BatchNorm.__doc__ or "").replace("(dim 1)", "(dim 1) of [N, C, D, H, W]")
    _dims = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over the batches of several processes, which this build does not have.

    In one process, or with running statistics, it is batch normalisation of any number of dims.
    Arguments as of `BatchNorm1d`, and `process_group`: the processes.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        if process_group is not None:
            raise NotImplementedError(
                "SyncBatchNorm: process groups are not supported; leave process_group out to "
                "normalise by the batch of this process"
            )
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """The module with `SyncBatchNorm` in the place of its batch normalisations."""
        result = module
        if isinstance(module, _BatchNorm):
            result = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
                bias=module.bias is not None,
            )
            result._parameters.update(module._parameters)
            result._buffers.update(module._buffers)
            result.training = module.training
        for name, part in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(part, process_group))
        return result


class _LazyNormBase(LazyModuleMixin):
    """A normalisation that takes num_features from its first input; the other arguments are those
    of the normalisation that it becomes.
    """

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False)
        module: Any = self
        module.affine = affine
        module.track_running_stats = track_running_stats
        options = {"device": device, "dtype": dtype}
        if affine:
            module.weight = UninitializedParameter(**options)
            if bias:
                module.bias = UninitializedParameter(**options)
        if track_running_stats:
            module.running_mean = UninitializedBuffer(**options)
            module.running_var = UninitializedBuffer(**options)
            module.num_batches_tracked = rushlight.tensor(0, dtype=rushlight.int64, device=device)

    def reset_parameters(self) -> None:
        """Weight 1, bias 0, no statistics, if they have shapes."""
        module: Any = self
        if not self.has_uninitialized_params() and module.num_features != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor) -> None:
        """Give parameters and statistics the shapes that fit an input."""
        module: Any = self
        if not self.has_uninitialized_params():
            return
        module.num_features = input.shape[1]
        tensors = [module.weight, module.bias] if module.affine else []
        if module.track_running_stats:
            tensors += [module.running_mean, module.running_var]
        for tensor in tensors:
            if tensor is not None:
                tensor.materialize((module.num_features,))
        module.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    __doc__ = _LazyNormBase.__doc__
    cls_to_become = BatchNorm1d
    _dims = BatchNorm1d._dims


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    __doc__ = _LazyNormBase.__doc__
    cls_to_become = BatchNorm2d
    _dims = BatchNorm2d._dims


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    __doc__ = _LazyNormBase.__doc__
    cls_to_become = BatchNorm3d
    _dims = BatchNorm3d._dims
