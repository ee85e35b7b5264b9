"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._core import Tensor
from ..ops.creation import empty_like
from ..ops.optimization import sgd_step
from .optimizer import Optimizer, check_implementation, check_options, gradients


class SGD(Optimizer):
    """Stochastic gradient descent, optionally with momentum (Sutskever et al. 2013, section 2).

    Args:
        params: see `Optimizer`.
        lr: learning rate, a number or a tensor of one element.
        momentum: factor of the previous step.
        dampening: how much less of the gradient goes into the momentum.
        weight_decay: factor of an L2 penalty.
        nesterov: look ahead along the momentum.
        maximize: ascend instead of descend.
        foreach, fused: accepted; a step is one native call in any case.
        differentiable: record the step, so that gradients flow through it.

    Raises:
        ValueError: for an option out of its range.

    Example:
        >>> w = rushlight.zeros(3, requires_grad=True)
        >>> optimizer = rushlight.optim.SGD([w], lr=0.1)
        >>> w.sum().backward(); optimizer.step(); w
        tensor([-0.1000, -0.1000, -0.1000], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_options(lr, momentum=momentum, weight_decay=weight_decay)
        check_implementation(foreach, fused, differentiable)
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

    def update_group(self, group: dict[str, Any], parameters: list[Tensor]) -> None:
        if group["momentum"] == 0:
            self._step(group, parameters, [], first=False)
            return
        ready, buffers, new = [], [], []
        for parameter in parameters:
            buffer = self.state[parameter].get("momentum_buffer")
            if buffer is None:
                new.append(parameter)
            else:
                ready.append(parameter)
                buffers.append(buffer)
        if ready:
            self._step(group, ready, buffers, first=False)
        if new:
            buffers = [empty_like(parameter) for parameter in new]
            for parameter, buffer in zip(new, buffers):
                self.state[parameter]["momentum_buffer"] = buffer
            self._step(group, new, buffers, first=True)

    @staticmethod
    def _step(
        group: dict[str, Any], parameters: list[Tensor], buffers: list[Tensor], first: bool
    ) -> None:
        sgd_step.operator(
            parameters,
            buffers,
            gradients(parameters),
            group["lr"],
            group["weight_decay"],
            group["momentum"],
            group["dampening"],
            group["nesterov"],
            group["maximize"],
            first,
        )
