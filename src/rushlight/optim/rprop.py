"""Resilient backpropagation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._core import Tensor
from ..ops.creation import full_like, zeros_like
from ..ops.optimization import rprop_step
from .optimizer import Optimizer, check_options, column, gradients


class Rprop(Optimizer):
    """Resilient backpropagation (Riedmiller and Braun 1993): only the signs of gradients count.

    Args:
        params: see `Optimizer`.
        lr: learning rate, a number or a tensor of one element.
        etas: factors of an element's step size when its gradient's sign has changed, or not.
        step_sizes: the smallest and the largest step.
        foreach, capturable: accepted; a step is one native call in any case.
        maximize: ascend instead of descend.
        differentiable: record the step, so that gradients flow through it.

    Raises:
        ValueError: for an option out of its range.

    Example:
        >>> w = rushlight.ones(2, requires_grad=True)
        >>> optimizer = rushlight.optim.Rprop([w])
        >>> w.sum().backward(); optimizer.step()
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def initial_state(self, group: dict[str, Any], parameter: Tensor) -> dict[str, Any]:
        lr = float(group["lr"])
        value = complex(lr, lr) if parameter.is_complex() else lr
        return {"prev": zeros_like(parameter), "step_size": full_like(parameter, value)}

    def update(
        self,
        group: dict[str, Any],
        parameters: list[Tensor],
        states: list[dict[str, Any]],
        step: float,
    ) -> None:
        rprop_step.operator(
            column(states, "step"),
            parameters,
            column(states, "prev"),
            column(states, "step_size"),
            gradients(parameters),
            *group["etas"],
            *group["step_sizes"],
            group["maximize"],
        )
