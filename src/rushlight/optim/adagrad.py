"""Adagrad."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._core import Tensor
from ..ops.creation import full_like
from ..ops.optimization import adagrad_step
from .optimizer import Optimizer, check_implementation, check_options, column, count_zero, gradients


class Adagrad(Optimizer):
    """Adagrad (Duchi et al. 2011, the diagonal form in section 5).

    Args:
        params: see `Optimizer`.
        lr: learning rate, a number or a tensor of one element.
        lr_decay: how fast the learning rate falls: it is divided by ``1 + t * lr_decay``.
        weight_decay: factor of an L2 penalty.
        initial_accumulator_value: where the sums of squares start.
        eps: added to the denominator.
        foreach, fused: accepted; a step is one native call in any case.
        maximize: ascend instead of descend.
        differentiable: record the step, so that gradients flow through it.

    Raises:
        ValueError: for an option out of its range.

    Example:
        >>> w = rushlight.ones(2, requires_grad=True)
        >>> optimizer = rushlight.optim.Adagrad([w])
        >>> w.sum().backward(); optimizer.step()
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_options(
            lr,
            lr_decay=lr_decay,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
            epsilon=eps,
        )
        check_implementation(foreach, fused, differentiable)
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        for parameter in group["params"]:
            self.state[parameter] = {"step": count_zero(), **self.initial_state(group, parameter)}

    def share_memory(self) -> None:
        """Move the state into memory that other processes can share; there is none yet.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("Adagrad.share_memory(): tensors cannot be shared by processes")

    def initial_state(self, group: dict[str, Any], parameter: Tensor) -> dict[str, Any]:
        start = group["initial_accumulator_value"]
        value = complex(start, start) if parameter.is_complex() else start
        return {"sum": full_like(parameter, value)}

    def update(
        self,
        group: dict[str, Any],
        parameters: list[Tensor],
        states: list[dict[str, Any]],
        step: float,
    ) -> None:
        adagrad_step.operator(
            column(states, "step"),
            parameters,
            column(states, "sum"),
            gradients(parameters),
            group["lr"] / (1 + (step - 1) * group["lr_decay"]),
            group["eps"],
            group["weight_decay"],
            group["maximize"],
        )
