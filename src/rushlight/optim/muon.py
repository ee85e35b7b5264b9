"""Muon."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy

from .._core import Tensor
from ..dtypes import bfloat16, float32, float64
from ..ops.creation import zeros_like
from .optimizer import Optimizer, check_options


class Muon(Optimizer):
    """Muon (Jordan et al. 2024): momentum whose matrix is made orthogonal before it is used.

    Args:
        params: matrices; see `Optimizer`.
        lr: learning rate, a number or a tensor of one element.
        weight_decay: factor by which weights decay, decoupled from the gradient.
        momentum: factor of the average of gradients.
        nesterov: look ahead along the momentum.
        ns_coefficients: the polynomial of the Newton-Schulz iteration.
        eps: the smallest length that a matrix is divided by.
        ns_steps: number of iterations, below 100.
        adjust_lr_fn: how the learning rate follows the shape: ``"original"`` (or None): the root of
            rows per column, at least 1; ``"match_rms_adamw"``: 0.2 times the root of the larger
            size (Liu et al. 2025).

    Raises:
        ValueError: for an option out of its range, or a parameter that is no matrix.
        RuntimeError: for complex parameters.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_options(lr, weight_decay=weight_decay, momentum=momentum)
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(
                f"Adjust learning rate function {adjust_lr_fn} is not supported; it is 'original' "
                "or 'match_rms_adamw'"
            )
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)

    def _check_members(self, members: Sequence[Any]) -> None:
        super()._check_members(members)
        for member in members:
            if member.ndim != 2:
                raise ValueError(
                    f"Muon only supports 2D parameters, but one has shape {tuple(member.shape)}"
                )
            if member.is_complex():
                raise RuntimeError("Muon does not support complex parameters")

    def update_group(self, group: dict[str, Any], parameters: list[Tensor]) -> None:
        if len(group["ns_coefficients"]) != 3:
            raise ValueError(
                f"Muon: ns_coefficients are 3 numbers, not {len(group['ns_coefficients'])}"
            )
        if group["ns_steps"] >= 100:
            raise ValueError(f"Muon: ns_steps must be below 100, not {group['ns_steps']}")
        for parameter in parameters:
            gradient, state = parameter.grad, self.state[parameter]
            assert gradient is not None
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = zeros_like(gradient)
            buffer = state["momentum_buffer"]
            buffer.lerp_(gradient, 1 - group["momentum"])
            step = gradient.lerp(buffer, group["momentum"]) if group["nesterov"] else buffer
            step = orthogonal(step, group["ns_coefficients"], group["eps"], group["ns_steps"])
            parameter.mul_(1 - group["lr"] * group["weight_decay"])
            parameter.sub_(step.to(parameter.dtype) * self._rate(group, parameter))

    @staticmethod
    def _rate(group: dict[str, Any], parameter: Tensor) -> Any:
        rows, columns = parameter.shape
        if group["adjust_lr_fn"] == "match_rms_adamw":
            return group["lr"] * (0.2 * math.sqrt(max(rows, columns)))
        return group["lr"] * math.sqrt(max(1, rows / max(columns, 1)))


def orthogonal(
    matrix: Tensor, coefficients: tuple[float, float, float], eps: float, rounds: int
) -> Tensor:
    """About the orthogonal matrix that is nearest, by Newton-Schulz iterations in bfloat16 with the
    polynomial ``a x + b x^3 + c x^5``.
    """
    a, b, c = coefficients
    x = matrix.to(bfloat16)
    is_tall = x.shape[0] > x.shape[1]
    x = x.t() if is_tall else x
    length = (x.to(float32) ** 2).sum().sqrt().to(bfloat16)
    x = x / length.clamp(eps)
    for _ in range(rounds):
        gram = x @ x.t()
        power = rounded_once(b, gram, c, gram, gram)
        x = rounded_once(a, x, 1.0, power, x)
    return x.t() if is_tall else x


def rounded_once(beta: float, x: Tensor, alpha: float, left: Tensor, right: Tensor) -> Tensor:
    """``beta * x + alpha * left @ right`` of bfloat16 matrices, with the sum in single precision
    rounded once, as by a fused multiply-add.
    """
    product = alpha * (left.to(float32) @ right.to(float32))
    total = float(numpy.float32(beta)) * x.to(float64) + product.to(float64)
    return total.to(float32).to(bfloat16)
