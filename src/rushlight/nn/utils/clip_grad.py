"""Gradients within limits."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable
from typing import Any

import rushlight

from ..._core import Tensor
from ...autograd import no_grad

__all__ = [
    "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_",
    "get_total_norm",
]  # fmt: skip

Tensors = Tensor | Iterable[Tensor]


def _as_list(tensors: Tensors) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _norm(tensor: Tensor, norm_type: float) -> Tensor:
    """The p-norm of all elements."""
    if tensor.is_complex():
        tensor = rushlight.view_as_real(tensor)
    if norm_type == float("inf"):
        return tensor.abs().amax() if tensor.numel() else tensor.sum()
    if norm_type == float("-inf"):
        return tensor.abs().amin()
    if norm_type == 0:
        return (tensor != 0).sum().to(tensor.dtype)
    if norm_type == 1:
        return tensor.abs().sum()
    if norm_type == 2:
        return (tensor * tensor).sum().sqrt()
    return (tensor.abs() ** norm_type).sum() ** (1.0 / norm_type)


@no_grad()
def get_total_norm(
    tensors: Tensors,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of the norms of tensors, which is the norm of all their elements.

    Args:
        tensors: the tensors.
        norm_type: the p of the norm; may be infinite.
        error_if_nonfinite: whether an infinite norm or NaN is an error.
        foreach: has no effect.

    Raises:
        RuntimeError: if the norm is not finite, and that is an error.
    """
    norm_type = float(norm_type)
    norms = [_norm(tensor, norm_type) for tensor in _as_list(tensors)]
    if not norms:
        return rushlight.tensor(0.0)
    device = norms[0].device
    total = _norm(rushlight.stack([norm.to(device) for norm in norms]), norm_type)
    if error_if_nonfinite and not bool(total.isfinite()):
        raise RuntimeError(
            f"the norm of order {norm_type} of the gradients is non-finite, so it cannot scale "
            "them; pass error_if_nonfinite=False to do so all the same"
        )
    return total


@no_grad()
def clip_grads_with_norm_(
    parameters: Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale gradients in place by max_norm / total_norm if that is less than 1.

    Args:
        parameters: the parameters.
        max_norm: see there.
        total_norm: see there, as `get_total_norm` gives it.
        foreach: has no effect.
    """
    factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
    for parameter in _as_list(parameters):
        if parameter.grad is not None:
            parameter.grad.mul_(factor.to(parameter.grad.device))


@no_grad()
def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale gradients in place so that the norm of all of them is at most max_norm.

    Args:
        parameters: the parameters.
        max_norm: the greatest norm.
        norm_type: the p of the norm; may be infinite.
        error_if_nonfinite: whether an infinite norm or NaN is an error.
        foreach: has no effect.

    Returns:
        The norm before scaling.

    Raises:
        RuntimeError: if the norm is not finite, and that is an error.
    """
    parameters = _as_list(parameters)
    if not parameters:
        warnings.warn("clip_grad_norm_: `parameters` is empty, so nothing is clipped", stacklevel=3)
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    total = get_total_norm(gradients, norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


@functools.wraps(clip_grad_norm_)
def clip_grad_norm(*args: Any, **kwargs: Any) -> Tensor:
    """The old name of `clip_grad_norm_`."""
    warnings.warn(
        "`clip_grad_norm` is deprecated; call `clip_grad_norm_`, which is the same",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(*args, **kwargs)


@no_grad()
def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Limit the elements of gradients, in place, to [-clip_value, clip_value].

    Args:
        parameters: the parameters.
        clip_value: see there.
        foreach: has no effect.
    """
    limit = float(clip_value)
    for parameter in _as_list(parameters):
        if parameter.grad is not None:
            parameter.grad.clamp_(min=-limit, max=limit)
