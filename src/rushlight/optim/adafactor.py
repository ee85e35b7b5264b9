"""Adafactor."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from .._core import Tensor
from ..limits import finfo
from ..ops.creation import zeros_like
from ..ops.optimization import adafactor_step
from .optimizer import Optimizer, column, gradients


class Adafactor(Optimizer):
    """Adafactor (Shazeer and Stern 2018, algorithms 4 and 5): of a matrix of squares only averages
    of rows and columns are kept.

    Args:
        params: see `Optimizer`.
        lr: the largest relative step, a number or a tensor of one element.
        beta2_decay: power of the step's number that is the weight of the newest square.
        eps: added to squares (None: the dtype's machine epsilon), and the smallest scale.
        d: size of a step from which it is clipped.
        weight_decay: factor by which weights decay, decoupled from the gradient.
        foreach: accepted; a step is one native call in any case.
        maximize: ascend instead of descend.

    Raises:
        ValueError: for an option out of its range.
        RuntimeError: for complex parameters.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError(f"Tensor lr must be 1-element, but its shape is {tuple(lr.shape)}")
        for holds, message in (
            (lr >= 0.0, f"Learning rate should be >= 0 but is: {lr}"),
            (beta2_decay <= 0.0, f"beta2_decay should be <= 0 but is: {beta2_decay}"),
            (eps[0] is None or eps[0] >= 0.0, f"epsilon1 should be >= 0 but is: {eps[0]}"),
            (eps[1] >= 0.0, f"epsilon2 should be >= 0 but is: {eps[1]}"),
            (d >= 1.0, f"Clipping threshold d must be 1 or more, not {d}"),
            (weight_decay >= 0.0, f"weight_decay should be >= 0 but is: {weight_decay}"),
        ):
            if not holds:
                raise ValueError(message)
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _check_members(self, members: Sequence[Any]) -> None:
        super()._check_members(members)
        if any(member.is_complex() for member in members):
            raise RuntimeError("Adafactor does not support complex parameters")

    def initial_state(self, group: dict[str, Any], parameter: Tensor) -> dict[str, Any]:
        if parameter.ndim < 2:
            return {"variance": zeros_like(parameter)}
        *batch, rows, columns = parameter.shape
        return {
            "row_var": parameter.new_zeros((*batch, rows, 1)),
            "col_var": parameter.new_zeros((*batch, 1, columns)),
        }

    def update(
        self,
        group: dict[str, Any],
        parameters: list[Tensor],
        states: list[dict[str, Any]],
        step: float,
    ) -> None:
        pairs = list(zip(parameters, states))
        for dtype in {parameter.dtype for parameter in parameters}:
            for is_matrix in (True, False):
                chosen = [
                    (p, s) for p, s in pairs if p.dtype is dtype and (p.ndim >= 2) == is_matrix
                ]
                if chosen:
                    self._step(group, [p for p, _ in chosen], [s for _, s in chosen], step)

    @staticmethod
    def _step(
        group: dict[str, Any],
        parameters: list[Tensor],
        states: list[dict[str, Any]],
        step: float,
    ) -> None:
        is_matrix = parameters[0].ndim >= 2
        lr = group["lr"]
        eps1, eps2 = group["eps"]
        adafactor_step.operator(
            column(states, "step"),
            parameters,
            column(states, "row_var") if is_matrix else [],
            column(states, "col_var") if is_matrix else [],
            [] if is_matrix else column(states, "variance"),
            gradients(parameters),
            lr,
            min(float(lr), 1 / math.sqrt(step)),
            step ** group["beta2_decay"],
            finfo(parameters[0].dtype).eps if eps1 is None else eps1,
            eps2,
            group["d"],
            group["weight_decay"],
            group["maximize"],
        )
