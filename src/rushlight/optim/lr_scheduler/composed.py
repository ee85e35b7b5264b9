"""Schedulers made of others."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, copied, require_optimizer, set_option
from .plateau import ReduceLROnPlateau


def check_schedulers(
    name: str, optimizer: Optimizer | None, schedulers: Sequence[Any]
) -> Optimizer:
    """ValueError unless these are schedulers of one optimizer, which is returned."""
    if len(schedulers) < 1:
        raise ValueError(f"{name} expects at least one scheduler, but got none")
    if optimizer is None:
        optimizer = schedulers[0].optimizer
    for index, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "optimizer"):
            raise TypeError(f"{name} at index {index} should have `optimizer` as its attribute")
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ValueError(
                f"{name} does not support ReduceLROnPlateau (index {index}), whose step() needs "
                "metrics"
            )
        if scheduler.optimizer is not optimizer:
            raise ValueError(
                f"{name} needs schedulers of the same optimizer, but that at index {index} has "
                "another"
            )
    return require_optimizer(optimizer)


class Composed(LRScheduler):
    """Keeps other schedulers, and their states in its own."""

    _schedulers: list[Any]

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer, and the schedulers' states."""
        state = {k: v for k, v in super().state_dict().items() if k != "_schedulers"}
        state["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"]):
            scheduler.load_state_dict(state)


class SequentialLR(Composed):
    """One scheduler after the other.

    Args:
        optimizer: the optimizer of all of them.
        schedulers: the schedulers.
        milestones: the epoch at which each but the first begins.
        last_epoch: see `LRScheduler`.

    Raises:
        ValueError: for schedulers of several optimizers, or another number of milestones.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        check_schedulers(type(self).__name__, optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "SequentialLR expects one milestone less than schedulers, but got "
                f"{len(schedulers)} schedulers and {len(milestones)} milestones"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        for group in optimizer.param_groups:  # as before the schedulers were made
            set_option(group, "lr", group["initial_lr"])
        self.recursive_undo()
        self._schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Take the schedulers' first steps back, those inside of others included."""
        scheduler = self if sched is None else sched
        if hasattr(scheduler, "_schedulers"):
            for each in scheduler._schedulers:
                self.recursive_undo(each)
        elif hasattr(scheduler, "last_epoch"):
            scheduler.last_epoch -= 1

    def step(self) -> None:  # type: ignore[override]
        """Go on to the next epoch."""
        self.last_epoch += 1
        index = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[index]
        if index > 0 and self._milestones[index - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(Composed):
    """Several schedulers at the same time: each step is one step of all.

    Args:
        schedulers: schedulers of one optimizer.
        optimizer: that optimizer; None: the first scheduler's.

    Raises:
        ValueError: for schedulers of several optimizers.
    """

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        self.optimizer = check_schedulers(type(self).__name__, optimizer, schedulers)
        self._schedulers = list(schedulers)
        self._last_lr = [copied(rate) for rate in self._rates()]

    def step(self) -> None:  # type: ignore[override]
        """Go on to the next epoch."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = [copied(rate) for rate in self._rates()]
