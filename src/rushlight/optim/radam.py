"""RAdam."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from .._core import Tensor
from ..ops.creation import zeros_like
from ..ops.optimization import radam_step
from .optimizer import Optimizer, check_options, column, gradients


class RAdam(Optimizer):
    """RAdam (Liu et al. 2020, algorithm 2): Adam that is rectified while the variance is uncertain.

    Args:
        params: see `Optimizer`.
        lr: learning rate, a number or a tensor of one element.
        betas: factors of the averages of the gradient and of its square.
        eps: added to the denominator.
        weight_decay: factor of an L2 penalty, or of the decoupled decay.
        decoupled_weight_decay: decay the weights directly, as AdamW.
        foreach, capturable: accepted; a step is one native call in any case.
        maximize: ascend instead of descend.
        differentiable: record the step, so that gradients flow through it.

    Raises:
        ValueError: for an option out of its range.

    Example:
        >>> w = rushlight.ones(2, requires_grad=True)
        >>> optimizer = rushlight.optim.RAdam([w])
        >>> w.sum().backward(); optimizer.step()
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr, betas, epsilon=eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def initial_state(self, group: dict[str, Any], parameter: Tensor) -> dict[str, Any]:
        return {"exp_avg": zeros_like(parameter), "exp_avg_sq": zeros_like(parameter)}

    def update(
        self,
        group: dict[str, Any],
        parameters: list[Tensor],
        states: list[dict[str, Any]],
        step: float,
    ) -> None:
        beta1, beta2 = group["betas"]
        correction2 = 1 - beta2**step
        longest = 2 / (1 - beta2) - 1  # of the moving average: rho, in the limit and now
        length = longest - 2 * step * beta2**step / correction2
        rectification = 0.0
        if length > 5.0:
            scale = longest / ((longest - 4) * (longest - 2) * length)
            rectification = math.sqrt((length - 4) * (length - 2) * scale * correction2)
        radam_step.operator(
            column(states, "step"),
            parameters,
            column(states, "exp_avg"),
            column(states, "exp_avg_sq"),
            gradients(parameters),
            group["lr"],
            beta1,
            beta2,
            group["eps"],
            group["weight_decay"],
            1 - beta1**step,
            rectification,
            length > 5.0,
            group["decoupled_weight_decay"],
            group["maximize"],
        )
