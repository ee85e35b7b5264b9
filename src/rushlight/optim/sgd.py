"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._core import Tensor
from ..ops.optimization import sgd_step
from .optimizer import Optimizer, check_options


class SGD(Optimizer):
    """Stochastic gradient descent, optionally with momentum (Sutskever et al. 2013, section 2).

    Args:
        params: see `Optimizer`.
        lr: learning rate.
        momentum: factor of the previous step.
        dampening: how much less of the gradient goes into the momentum.
        weight_decay: factor of an L2 penalty.
        nesterov: look ahead along the momentum.
        maximize: ascend instead of descend.

    Example:
        >>> w = rushlight.zeros(3, requires_grad=True)
        >>> optimizer = rushlight.optim.SGD([w], lr=0.1)
        >>> w.sum().backward(); optimizer.step(); w
        tensor([-0.1000, -0.1000, -0.1000], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_options(
            learning_rate=(lr, lr >= 0),
            momentum_value=(momentum, momentum >= 0),
            weight_decay_value=(weight_decay, weight_decay >= 0),
        )
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def update(self, group: dict[str, Any], parameters: list[Tensor]) -> None:
        if group["momentum"] == 0:
            self._step(group, parameters, [], first=False)
            return
        state = self.state
        ready = [p for p in parameters if state[p].get("momentum_buffer") is not None]
        new = [p for p in parameters if state[p].get("momentum_buffer") is None]
        if ready:
            self._step(group, ready, [state[p]["momentum_buffer"] for p in ready], first=False)
        if new:
            for p in new:
                assert p.grad is not None
                state[p]["momentum_buffer"] = p.grad.new_empty(p.grad.shape)
            self._step(group, new, [state[p]["momentum_buffer"] for p in new], first=True)

    @staticmethod
    def _step(
        group: dict[str, Any], parameters: list[Tensor], buffers: list[Tensor], first: bool
    ) -> None:
        sgd_step.operator(
            parameters,
            buffers,
            [p.grad for p in parameters],
            group["lr"],
            group["weight_decay"],
            group["momentum"],
            group["dampening"],
            group["nesterov"],
            group["maximize"],
            first,
        )
