"""Schedules that raise and lower rates, with momentum in the opposite direction."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

from ..optimizer import Optimizer
from .base import LRScheduler, attributes_of, for_each_group, require_optimizer, set_option


def momentum_option(optimizer: Optimizer) -> str:
    """``"betas"`` or ``"momentum"``, whichever the optimizer has; ValueError for none."""
    for name in ("betas", "momentum"):
        if name in optimizer.defaults:
            return name
    raise ValueError(
        "cycle_momentum=True cycles momentum or the first of betas, and the optimizer has neither; "
        "use cycle_momentum=False"
    )


def set_momentum(group: dict[str, Any], value: Any, use_beta1: bool) -> None:
    if use_beta1:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


class CyclicLR(LRScheduler):
    """Let the rates go up and down between two bounds (Smith 2017).

    Args:
        optimizer, last_epoch: see `LRScheduler`.
        base_lr, max_lr: the bounds; numbers, or lists for the groups.
        step_size_up, step_size_down: steps of the rising and (None: as many) of the falling part.
        mode: ``"triangular"``; ``"triangular2"``: half as high with each cycle; ``"exp_range"``:
            ``gamma**step`` as high.
        gamma: see mode.
        scale_fn: factor of the height, a function of the cycle or of the step; replaces mode.
        scale_mode: what scale_fn is a function of: ``"cycle"`` or ``"iterations"``.
        cycle_momentum: let momentum go the other way.
        base_momentum, max_momentum: bounds of the momentum.

    Raises:
        ValueError: for an unknown mode, lists of another length, or if there is no momentum.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = require_optimizer(optimizer)
        base_lrs = for_each_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, base_lrs):
                set_option(group, "lr", rate)
        self.max_lrs = for_each_group("max_lr", optimizer, max_lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up) + float(down)
        self.step_ratio = step_size_up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(f"mode {mode!r} is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = momentum_option(optimizer) == "betas"
            self.base_momentums = for_each_group("base_momentum", optimizer, base_momentum)
            self.max_momentums = for_each_group("max_momentum", optimizer, max_momentum)
            if last_epoch == -1:
                for group, most, least in zip(
                    optimizer.param_groups, self.max_momentums, self.base_momentums
                ):
                    set_momentum(group, most, self.use_beta1)
                    group["max_momentum"] = most
                    group["base_momentum"] = least
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """Factor of a cycle's height."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return 0.5 ** (x - 1) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self) -> list[Any]:
        """The rates at this step; sets the momentum too."""
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        place = 1.0 + self.last_epoch / self.total_size - cycle
        if place <= self.step_ratio:
            height = place / self.step_ratio
        else:
            height = (place - 1) / (self.step_ratio - 1)
        factor = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, least, most in zip(
                self.optimizer.param_groups, self.base_momentums, self.max_momentums
            ):
                set_momentum(group, most - (most - least) * height * factor, self.use_beta1)
        return [
            base + (most - base) * height * factor
            for base, most in zip(self.base_lrs, self.max_lrs)
        ]

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer; of scale_fn its attributes, if it is no function."""
        state = super().state_dict()
        state["_scale_fn_custom"] = attributes_of(state.pop("_scale_fn_custom"))
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave; a function stays that of this scheduler."""
        state = dict(state_dict)
        attributes = state.pop("_scale_fn_custom", None)
        super().load_state_dict(state)
        if attributes is not None:
            vars(self._scale_fn_custom).update(attributes)


class OneCycleLR(LRScheduler):
    """Raise the rates to a maximum, then lower them far below where they began (Smith and Topin
    2019).

    Args:
        optimizer, last_epoch: see `LRScheduler`.
        max_lr: the highest rate; a number, or a list for the groups.
        total_steps: number of steps; or
        epochs, steps_per_epoch: numbers whose product it is.
        pct_start: share of the steps in which the rates rise.
        anneal_strategy: ``"cos"`` or ``"linear"``.
        cycle_momentum: let momentum go the other way.
        base_momentum, max_momentum: bounds of the momentum.
        div_factor: the maximum divided by the first rate.
        final_div_factor: the first rate divided by the last one.
        three_phase: come down to the first rate as fast as up, then go on to the last one.

    Raises:
        ValueError: for missing or invalid numbers, or if there is no momentum.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = require_optimizer(optimizer)
        self.total_steps = number_of_steps(total_steps, epochs, steps_per_epoch)
        if not (isinstance(pct_start, float) and 0 <= pct_start <= 1):
            raise ValueError(f"Expected float between 0 and 1 for pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy is 'cos' or 'linear', not {anneal_strategy!r}")
        rise = pct_start * self.total_steps
        self._schedule_phases = phases(rise, self.total_steps, three_phase)
        self._anneal_func_type = anneal_strategy
        max_lrs = for_each_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, most in zip(optimizer.param_groups, max_lrs):
                group["initial_lr"] = most / div_factor
                group["max_lr"] = most
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = momentum_option(optimizer) == "betas"
            largest = for_each_group("max_momentum", optimizer, max_momentum)
            least = for_each_group("base_momentum", optimizer, base_momentum)
            if last_epoch == -1:
                for group, most, low in zip(optimizer.param_groups, largest, least):
                    set_momentum(group, most, self.use_beta1)
                    group["max_momentum"] = most
                    group["base_momentum"] = low
        super().__init__(optimizer, last_epoch)

    def _between(self, start: Any, end: Any, share: float) -> Any:
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)
        return (end - start) * share + start

    def get_lr(self) -> list[Any]:
        """The rates at this step; sets the momentum too.

        Raises:
            ValueError: after the last step.
        """
        self._warn_outside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        start = 0.0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if step <= end or phase is self._schedule_phases[-1]:
                break
            start = end
        share = (step - start) / (end - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                first, last = group[phase["start_momentum"]], group[phase["end_momentum"]]
                set_momentum(group, self._between(first, last, share), self.use_beta1)
        return rates


def number_of_steps(
    total_steps: int | None, epochs: int | None, steps_per_epoch: int | None
) -> int:
    if total_steps is None and (epochs is None or steps_per_epoch is None):
        raise ValueError("OneCycleLR needs total_steps, or epochs and steps_per_epoch")
    given = {"total_steps": total_steps, "epochs": epochs, "steps_per_epoch": steps_per_epoch}
    names = ["epochs", "steps_per_epoch"] if total_steps is None else ["total_steps"]
    result = 1
    for name in names:
        value = given[name]
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
        result *= value
    return result


def phases(rise: float, total_steps: int, three_phase: bool) -> list[dict[str, Any]]:
    """Where each part ends, and between which of a group's options it goes."""
    up = ("initial_lr", "max_lr", "max_momentum", "base_momentum")
    if three_phase:
        parts = [
            (rise - 1, up),
            (2 * rise - 2, ("max_lr", "initial_lr", "base_momentum", "max_momentum")),
            (total_steps - 1, ("initial_lr", "min_lr", "max_momentum", "max_momentum")),
        ]
    else:
        parts = [
            (rise - 1, up),
            (total_steps - 1, ("max_lr", "min_lr", "base_momentum", "max_momentum")),
        ]
    names = ("start_lr", "end_lr", "start_momentum", "end_momentum")
    return [{"end_step": float(end), **dict(zip(names, options))} for end, options in parts]
