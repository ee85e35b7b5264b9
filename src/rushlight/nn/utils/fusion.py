"""Batch normalisations that become part of the layer before them, for evaluation."""

from __future__ import annotations

import copy
from typing import Any

import rushlight

from ..._core import Tensor
from ..parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights",
]  # fmt: skip


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A convolution that does what a convolution and a batch normalisation after it do.

    Args:
        conv: the convolution, in evaluation mode.
        bn: the normalisation, in evaluation mode and with running statistics.
        transpose: whether the convolution is transposed.

    Raises:
        AssertionError: in training mode, or without statistics.
    """
    _check_eval(conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight,
        fused.bias,
        bn.running_mean,
        bn.running_var,
        bn.eps,
        bn.weight,
        bn.bias,
        transpose,
    )
    return fused


def _check_eval(layer: Any, bn: Any) -> None:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("Fusion needs running statistics; the normalisation has none")


def _scale_and_shift(
    bias: Tensor | None,
    mean: Tensor,
    variance: Tensor,
    eps: float,
    bn_weight: Tensor | None,
    bn_bias: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """The factor for each output of the layer, and the bias after it."""
    scale = (variance + eps).rsqrt()
    if bn_weight is not None:
        scale = scale * bn_weight
    shift = (-mean if bias is None else bias - mean) * scale
    return scale, shift if bn_bias is None else shift + bn_bias


def _parameters(
    weight: Tensor, bias: Tensor, old_weight: Tensor, old_bias: Tensor | None
) -> tuple[Parameter, Parameter]:
    bias_dtype = old_weight.dtype if old_bias is None else old_bias.dtype
    trains_bias = old_weight.requires_grad if old_bias is None else old_bias.requires_grad
    return (
        Parameter(weight.detach().to(old_weight.dtype), old_weight.requires_grad),
        Parameter(bias.detach().to(bias_dtype), trains_bias),
    )


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of a convolution that includes a batch normalisation.

    Args:
        conv_w: the convolution's weight.
        conv_b: its bias, or None.
        bn_rm: the running mean.
        bn_rv: the running variance.
        bn_eps: the normalisation's eps.
        bn_w: its weight, or None.
        bn_b: its bias, or None.
        transpose: whether the convolution is transposed.
    """
    scale, shift = _scale_and_shift(conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    return _parameters(conv_w * scale.reshape(shape), shift, conv_w, conv_b)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A `Linear` that does what a `Linear` and a batch normalisation after it do.

    Raises:
        AssertionError: in training mode, or for sizes that do not fit.
    """
    _check_eval(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "to fuse them, bn.num_features must be 1 or linear.out_features, "
            f"{linear.out_features}, not {bn.num_features}"
        )
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of a `Linear` that includes a batch normalisation; arguments as of
    `fuse_conv_bn_weights`.
    """
    scale, shift = _scale_and_shift(linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    shift = shift + rushlight.zeros(linear_w.size(0), dtype=shift.dtype)
    return _parameters(linear_w * scale.unsqueeze(-1), shift, linear_w, linear_b)
