"""NAdam."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._core import Tensor
from ..ops.creation import zeros_like
from ..ops.optimization import nadam_step
from .optimizer import Optimizer, check_options, column, count_zero, gradients


class NAdam(Optimizer):
    """NAdam (Dozat 2016, algorithm 2): Adam with Nesterov momentum.

    Args:
        params: see `Optimizer`.
        lr: learning rate, a number or a tensor of one element.
        betas: factors of the averages of the gradient and of its square.
        eps: added to the denominator.
        weight_decay: factor of an L2 penalty, or of the decoupled decay.
        momentum_decay: how fast the momentum approaches its final value.
        decoupled_weight_decay: decay the weights directly, as AdamW.
        foreach, capturable: accepted; a step is one native call in any case.
        maximize: ascend instead of descend.
        differentiable: record the step, so that gradients flow through it.

    Raises:
        ValueError: for an option out of its range.

    Example:
        >>> w = rushlight.ones(2, requires_grad=True)
        >>> optimizer = rushlight.optim.NAdam([w])
        >>> w.sum().backward(); optimizer.step()
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(
            lr, betas, epsilon=eps, weight_decay=weight_decay, momentum_decay=momentum_decay
        )
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def initial_state(self, group: dict[str, Any], parameter: Tensor) -> dict[str, Any]:
        return {
            "mu_product": count_zero().fill_(1.0),
            "exp_avg": zeros_like(parameter),
            "exp_avg_sq": zeros_like(parameter),
        }

    def update(
        self,
        group: dict[str, Any],
        parameters: list[Tensor],
        states: list[dict[str, Any]],
        step: float,
    ) -> None:
        beta1, beta2 = group["betas"]
        decay = group["momentum_decay"]
        nadam_step.operator(
            column(states, "step"),
            parameters,
            column(states, "mu_product"),
            column(states, "exp_avg"),
            column(states, "exp_avg_sq"),
            gradients(parameters),
            group["lr"],
            beta1,
            beta2,
            group["eps"],
            group["weight_decay"],
            beta1 * (1 - 0.5 * 0.96 ** (step * decay)),
            beta1 * (1 - 0.5 * 0.96 ** ((step + 1) * decay)),
            1 - beta2**step,
            group["decoupled_weight_decay"],
            group["maximize"],
        )
