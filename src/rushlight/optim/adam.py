"""Adam and AdamW."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._core import Tensor
from ..ops.creation import zeros_like
from ..ops.optimization import adam_step
from .optimizer import (
    Optimizer,
    check_implementation,
    check_options,
    column,
    gradients,
    square_root,
)


class Adam(Optimizer):
    """Adam (Kingma and Ba 2015, algorithm 1).

    Args:
        params: see `Optimizer`.
        lr: learning rate, a number or a tensor of one element.
        betas: factors of the averages of the gradient and of its square.
        eps: added to the denominator.
        weight_decay: factor of an L2 penalty, or with ``decoupled_weight_decay`` of AdamW's decay.
        amsgrad: use the maximum of the squared averages (Reddi et al. 2018).
        foreach, fused, capturable: accepted; a step is one native call in any case.
        maximize: ascend instead of descend.
        differentiable: record the step, so that gradients flow through it.
        decoupled_weight_decay: decay the weights directly, as AdamW.

    Raises:
        ValueError: for an option out of its range.

    Example:
        >>> w = rushlight.zeros(2, requires_grad=True)
        >>> optimizer = rushlight.optim.Adam([w], lr=0.1)
        >>> w.sum().backward(); optimizer.step(); w
        tensor([-0.1000, -0.1000], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_options(lr, betas, epsilon=eps, weight_decay=weight_decay)
        check_implementation(foreach, fused, differentiable)
        if len({isinstance(beta, Tensor) for beta in betas}) > 1:
            raise ValueError(f"betas are both floats or both Tensors, not {betas}")
        for name, value in (("lr", lr), *((f"betas[{i}]", beta) for i, beta in enumerate(betas))):
            if isinstance(value, Tensor) and foreach and not capturable:
                raise ValueError(
                    f"{name} as a Tensor needs capturable=True where foreach=True; or pass a float"
                )
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def initial_state(self, group: dict[str, Any], parameter: Tensor) -> dict[str, Any]:
        state = {"exp_avg": zeros_like(parameter), "exp_avg_sq": zeros_like(parameter)}
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_like(parameter)
        return state

    def update(
        self,
        group: dict[str, Any],
        parameters: list[Tensor],
        states: list[dict[str, Any]],
        step: float,
    ) -> None:
        beta1, beta2 = group["betas"]
        adam_step.operator(
            column(states, "step"),
            parameters,
            column(states, "exp_avg"),
            column(states, "exp_avg_sq"),
            column(states, "max_exp_avg_sq") if group["amsgrad"] else [],
            gradients(parameters),
            group["lr"],
            beta1,
            beta2,
            group["eps"],
            group["weight_decay"],
            1 - beta1**step,
            square_root(1 - beta2**step),
            group["decoupled_weight_decay"],
            group["maximize"],
        )


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2).

    Arguments and exceptions as `Adam`.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )
