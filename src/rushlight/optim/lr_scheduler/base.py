"""The base of learning rate schedulers."""

from __future__ import annotations

import types
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..._core import Tensor
from ..optimizer import Optimizer


class LRScheduler:
    """Sets the learning rates of an optimizer's groups.

    A subclass overrides `get_lr`, which computes the rates at ``last_epoch``, usually from those
    before; and if there is a formula for any epoch, ``_get_closed_form_lr``.

    Args:
        optimizer: the optimizer; its rates at first become each group's ``"initial_lr"``.
        last_epoch: the epoch after which training goes on; -1: from the start.

    Raises:
        TypeError: if optimizer is none.
        KeyError: if training goes on and a group lacks ``"initial_lr"``.
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = require_optimizer(optimizer)
        if last_epoch == -1:
            for group in optimizer.param_groups:
                group.setdefault("initial_lr", copied(group["lr"]))
        for index, group in enumerate(optimizer.param_groups):
            if "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{index}] when resuming "
                    "scheduler with last_epoch >= 0. Load the optimizer's state_dict first, or set "
                    "it."
                )
        self.base_lrs: list[Any] = [copied(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """The rates that the last `step` has set."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The rates at ``last_epoch``."""
        raise NotImplementedError(f"{type(self).__name__} must define get_lr()")

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch.

        Args:
            epoch: the epoch to go to, for older programs.
        """
        if self._step_count == 1 and not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. The order "
                "should be the opposite: `optimizer.step()` first. Else the first value of the "
                "schedule is skipped.",
                UserWarning,
                stacklevel=2,
            )
        self._step_count += 1
        if epoch is not None:
            warnings.warn(
                "scheduler.step(epoch) is deprecated: the scheduler counts its steps itself. "
                "Call `scheduler.step()`.",
                UserWarning,
                stacklevel=2,
            )
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        with self._within_step():
            if epoch is None:
                self.last_epoch += 1
                values = self.get_lr()
            else:
                self.last_epoch = epoch
                closed_form = getattr(self, "_get_closed_form_lr", None)
                values = self.get_lr() if closed_form is None else closed_form()
        self._set(values)

    def _set(self, values: Sequence[Any]) -> None:
        """Give the groups these rates."""
        groups = self.optimizer.param_groups
        for group, value in zip(groups, values, strict=True):
            set_option(group, "lr", value)
        self._last_lr: list[Any] = [copied(group["lr"]) for group in groups]

    @contextmanager
    def _within_step(self) -> Iterator[None]:
        self._get_lr_called_within_step = True
        try:
            yield
        finally:
            self._get_lr_called_within_step = False

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "get_lr() computes the rates of the next step and works inside of it only; the "
                "current ones are those of `get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )

    def _rates(self) -> list[Any]:
        """The groups' rates now."""
        return [group["lr"] for group in self.optimizer.param_groups]


def require_optimizer(optimizer: Any) -> Optimizer:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


def copied(value: Any) -> Any:
    """A tensor's copy, which later changes in place do not reach; other values as they are."""
    return value.detach().clone() if isinstance(value, Tensor) else value


def set_option(group: dict[str, Any], name: str, value: Any) -> None:
    """Set a group's option; a tensor is filled, so that those who hold it see the new value."""
    if isinstance(group[name], Tensor):
        group[name].detach().fill_(value)
    else:
        group[name] = value


def for_each_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """A value for each group: one for all, or a list of as many as there are groups."""
    count = len(optimizer.param_groups)
    if not isinstance(value, list | tuple):
        return [value] * count
    if len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups: there are {count} "
            f"groups, but {len(value)} values"
        )
    return [copied(each) for each in value]


def attributes_of(function: Any) -> dict[str, Any] | None:
    """What a callable object knows; None for a function, which a state does not hold."""
    if isinstance(function, types.FunctionType) or not hasattr(function, "__dict__"):
        return None
    return dict(vars(function))


def scaled(rates: Iterable[Any], factor: float) -> list[Any]:
    return [rate * factor for rate in rates]
