"""Adadelta."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._core import Tensor
from ..ops.creation import zeros_like
from ..ops.optimization import adadelta_step
from .optimizer import Optimizer, check_options, column, gradients


class Adadelta(Optimizer):
    """Adadelta (Zeiler 2012, algorithm 1).

    Args:
        params: see `Optimizer`.
        lr: learning rate, a number or a tensor of one element.
        rho: factor of the averages of the squares of gradients and of changes.
        eps: added below the roots.
        weight_decay: factor of an L2 penalty.
        foreach, capturable: accepted; a step is one native call in any case.
        maximize: ascend instead of descend.
        differentiable: record the step, so that gradients flow through it.

    Raises:
        ValueError: for an option out of its range.

    Example:
        >>> w = rushlight.ones(2, requires_grad=True)
        >>> optimizer = rushlight.optim.Adadelta([w])
        >>> w.sum().backward(); optimizer.step()
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr, epsilon=eps, weight_decay=weight_decay)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def initial_state(self, group: dict[str, Any], parameter: Tensor) -> dict[str, Any]:
        return {"square_avg": zeros_like(parameter), "acc_delta": zeros_like(parameter)}

    def update(
        self,
        group: dict[str, Any],
        parameters: list[Tensor],
        states: list[dict[str, Any]],
        step: float,
    ) -> None:
        adadelta_step.operator(
            column(states, "step"),
            parameters,
            column(states, "square_avg"),
            column(states, "acc_delta"),
            gradients(parameters),
            group["lr"],
            group["rho"],
            group["eps"],
            group["weight_decay"],
            group["maximize"],
        )
