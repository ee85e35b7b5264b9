"""Averaged stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._core import Tensor
from ..ops.creation import zeros_like
from ..ops.optimization import asgd_step
from .optimizer import Optimizer, check_options, column, count_zero, gradients


class ASGD(Optimizer):
    """Averaged stochastic gradient descent (Polyak and Juditsky 1992; the rates of Bottou 2010).

    Args:
        params: see `Optimizer`.
        lr: learning rate, a number or a tensor of one element.
        lambd: decay of the parameters and of the learning rate.
        alpha: power with which the learning rate falls.
        t0: the step at which averaging starts; the averages are the state's ``ax``.
        weight_decay: factor of an L2 penalty.
        foreach, capturable: accepted; a step is one native call in any case.
        maximize: ascend instead of descend.
        differentiable: record the step, so that gradients flow through it.

    Raises:
        ValueError: for an option out of its range.

    Example:
        >>> w = rushlight.ones(2, requires_grad=True)
        >>> optimizer = rushlight.optim.ASGD([w])
        >>> w.sum().backward(); optimizer.step()
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_options(lr, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def initial_state(self, group: dict[str, Any], parameter: Tensor) -> dict[str, Any]:
        return {
            "eta": count_zero().fill_(group["lr"]),
            "mu": count_zero().fill_(1.0),
            "ax": zeros_like(parameter),
        }

    def update(
        self,
        group: dict[str, Any],
        parameters: list[Tensor],
        states: list[dict[str, Any]],
        step: float,
    ) -> None:
        lr, lambd = float(group["lr"]), group["lambd"]
        asgd_step.operator(
            column(states, "step"),
            parameters,
            column(states, "eta"),
            column(states, "mu"),
            column(states, "ax"),
            gradients(parameters),
            lambd,
            group["weight_decay"],
            lr / (1 + lambd * lr * step) ** group["alpha"],
            1 / max(1, step - group["t0"]),
            group["maximize"],
        )
