"""RMSprop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._core import Tensor
from ..ops.creation import zeros_like
from ..ops.optimization import rmsprop_step
from .optimizer import Optimizer, check_options, column, gradients


class RMSprop(Optimizer):
    """RMSprop (Hinton 2012, lecture 6e).

    Args:
        params: see `Optimizer`.
        lr: learning rate, a number or a tensor of one element.
        alpha: factor of the average of the gradient's square.
        eps: added to the denominator.
        weight_decay: factor of an L2 penalty.
        momentum: factor of the previous step.
        centered: divide by the standard deviation instead (Graves 2013, section 4.2).
        foreach, capturable: accepted; a step is one native call in any case.
        maximize: ascend instead of descend.
        differentiable: record the step, so that gradients flow through it.

    Raises:
        ValueError: for an option out of its range.

    Example:
        >>> w = rushlight.ones(2, requires_grad=True)
        >>> optimizer = rushlight.optim.RMSprop([w])
        >>> w.sum().backward(); optimizer.step()
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr, epsilon=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def initial_state(self, group: dict[str, Any], parameter: Tensor) -> dict[str, Any]:
        state = {"square_avg": zeros_like(parameter)}
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros_like(parameter)
        if group["centered"]:
            state["grad_avg"] = zeros_like(parameter)
        return state

    def update(
        self,
        group: dict[str, Any],
        parameters: list[Tensor],
        states: list[dict[str, Any]],
        step: float,
    ) -> None:
        rmsprop_step.operator(
            column(states, "step"),
            parameters,
            column(states, "square_avg"),
            column(states, "grad_avg") if group["centered"] else [],
            column(states, "momentum_buffer") if group["momentum"] > 0 else [],
            gradients(parameters),
            group["lr"],
            group["alpha"],
            group["eps"],
            group["weight_decay"],
            group["momentum"],
            group["maximize"],
        )
