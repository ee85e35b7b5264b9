"""Adam and AdamW."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from .._core import Tensor
from ..ops.creation import zeros, zeros_like
from ..ops.optimization import adam_step
from .optimizer import Optimizer, check_options


class Adam(Optimizer):
    """Adam (Kingma and Ba 2015, algorithm 1).

    Args:
        params: see `Optimizer`. lr: learning rate. betas: decay of the averages of the gradient and
        of its square. eps: added to the denominator. weight_decay: factor of an L2 penalty, or with
        ``decoupled_weight_decay`` of AdamW's decay. amsgrad: use the maximum of the squared
        averages (Reddi et al. 2018). maximize: ascend instead of descend. decoupled_weight_decay:
        decay the weights directly (Loshchilov and Hutter 2019, algorithm 2).

    Example:
        >>> w = rushlight.zeros(2, requires_grad=True)
        >>> optimizer = rushlight.optim.Adam([w], lr=0.1)
        >>> w.sum().backward(); optimizer.step(); w
        tensor([-0.1000, -0.1000], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
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
        check_options(
            learning_rate=(lr, lr >= 0),
            epsilon_value=(eps, eps >= 0),
            weight_decay_value=(weight_decay, weight_decay >= 0),
        )
        for index, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {index}: {beta}")
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

    def update(self, group: dict[str, Any], parameters: list[Tensor]) -> None:
        by_step: defaultdict[float, list[Tensor]] = defaultdict(list)
        for p in parameters:
            state = self.state[p]
            if not state:
                state["step"] = zeros(())
                state["exp_avg"] = zeros_like(p)
                state["exp_avg_sq"] = zeros_like(p)
                if group["amsgrad"]:
                    state["max_exp_avg_sq"] = zeros_like(p)
            state["step"] += 1
            by_step[state["step"].item()].append(p)
        for step, members in by_step.items():
            self._step(group, members, step)

    def _step(self, group: dict[str, Any], parameters: list[Tensor], step: float) -> None:
        states = [self.state[p] for p in parameters]
        beta1, beta2 = group["betas"]
        adam_step.operator(
            parameters,
            [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states],
            [state["max_exp_avg_sq"] for state in states] if group["amsgrad"] else [],
            [p.grad for p in parameters],
            group["lr"],
            beta1,
            beta2,
            group["eps"],
            group["weight_decay"],
            1 - beta1**step,
            math.sqrt(1 - beta2**step),
            group["decoupled_weight_decay"],
            group["maximize"],
        )


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2). Arguments as
    `Adam`.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            **{**options, "decoupled_weight_decay": True},
        )
