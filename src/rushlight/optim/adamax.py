"""Adamax."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._core import Tensor
from ..ops.creation import zeros_like
from ..ops.optimization import adamax_step
from .optimizer import Optimizer, check_options, column, gradients


class Adamax(Optimizer):
    """Adamax (Kingma and Ba 2015, algorithm 2): Adam with the largest gradient for a denominator.

    Args:
        params: see `Optimizer`.
        lr: learning rate, a number or a tensor of one element.
        betas: factors of the average of the gradient and of the largest gradient.
        eps: added to the gradient's size.
        weight_decay: factor of an L2 penalty.
        foreach, capturable: accepted; a step is one native call in any case.
        maximize: ascend instead of descend.
        differentiable: record the step, so that gradients flow through it.

    Raises:
        ValueError: for an option out of its range.

    Example:
        >>> w = rushlight.ones(2, requires_grad=True)
        >>> optimizer = rushlight.optim.Adamax([w])
        >>> w.sum().backward(); optimizer.step()
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_options(lr, betas, epsilon=eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def initial_state(self, group: dict[str, Any], parameter: Tensor) -> dict[str, Any]:
        return {"exp_avg": zeros_like(parameter), "exp_inf": zeros_like(parameter)}

    def update(
        self,
        group: dict[str, Any],
        parameters: list[Tensor],
        states: list[dict[str, Any]],
        step: float,
    ) -> None:
        beta1, beta2 = group["betas"]
        adamax_step.operator(
            column(states, "step"),
            parameters,
            column(states, "exp_avg"),
            column(states, "exp_inf"),
            gradients(parameters),
            group["lr"],
            beta1,
            beta2,
            group["eps"],
            group["weight_decay"],
            1 - beta1**step,
            group["maximize"],
        )
