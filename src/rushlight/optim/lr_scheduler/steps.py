"""Schedules in steps, lines and powers."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, scaled


class StepLR(LRScheduler):
    """Multiply the rates by ``gamma`` every ``step_size`` epochs.

    Args:
        optimizer, last_epoch: see `LRScheduler`.
        step_size: number of epochs between two steps.
        gamma: the factor.

    Example:
        >>> optimizer = rushlight.optim.SGD([rushlight.zeros(2, requires_grad=True)], lr=0.1)
        >>> scheduler = rushlight.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
        >>> optimizer.step(); scheduler.step(); scheduler.get_last_lr()
        [0.05]
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self._is_initial or self.last_epoch % self.step_size != 0:
            return self._rates()
        return scaled(self._rates(), self.gamma)

    def _get_closed_form_lr(self) -> list[Any]:
        return scaled(self.base_lrs, self.gamma ** (self.last_epoch // self.step_size))


class MultiStepLR(LRScheduler):
    """Multiply the rates by ``gamma`` at each milestone.

    Args:
        optimizer, last_epoch: see `LRScheduler`.
        milestones: epochs, in increasing order; one that occurs twice counts twice.
        gamma: the factor.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self._is_initial or self.last_epoch not in self.milestones:
            return self._rates()
        return scaled(self._rates(), self.gamma ** self.milestones[self.last_epoch])

    def _get_closed_form_lr(self) -> list[Any]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return scaled(self.base_lrs, self.gamma**passed)


class ConstantLR(LRScheduler):
    """Multiply the rates by ``factor`` for the first ``total_iters`` epochs.

    Args:
        optimizer, last_epoch: see `LRScheduler`.
        factor: from 0 to 1.
        total_iters: number of epochs.

    Raises:
        ValueError: if factor is out of its range.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError(f"ConstantLR: factor must be between 0 and 1, not {factor}")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self.last_epoch == 0:
            return scaled(self._rates(), self.factor)
        if self.last_epoch != self.total_iters:
            return self._rates()
        return scaled(self._rates(), 1.0 / self.factor)

    def _get_closed_form_lr(self) -> list[Any]:
        factor = 1.0 if self.last_epoch >= self.total_iters else self.factor
        return scaled(self.base_lrs, factor)


class LinearLR(LRScheduler):
    """Change the factor of the rates linearly over the first ``total_iters`` epochs.

    Args:
        optimizer, last_epoch: see `LRScheduler`.
        start_factor: the factor at first, above 0 and at most 1.
        end_factor: the factor at last, from 0 to 1.
        total_iters: number of epochs.

    Raises:
        ValueError: if a factor is out of its range.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError(f"LinearLR: start_factor must be in (0, 1], not {start_factor}")
        if not 0 <= end_factor <= 1:
            raise ValueError(f"LinearLR: end_factor must be in [0, 1], not {end_factor}")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self.last_epoch == 0:
            return scaled(self._rates(), self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates()
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return scaled(self._rates(), 1.0 + rise / before)

    def _get_closed_form_lr(self) -> list[Any]:
        done = min(self.total_iters, self.last_epoch) / self.total_iters
        return scaled(
            self.base_lrs, self.start_factor + (self.end_factor - self.start_factor) * done
        )


class ExponentialLR(LRScheduler):
    """Multiply the rates by ``gamma`` every epoch.

    Args:
        optimizer, last_epoch: see `LRScheduler`.
        gamma: the factor.
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        return self._rates() if self._is_initial else scaled(self._rates(), self.gamma)

    def _get_closed_form_lr(self) -> list[Any]:
        return scaled(self.base_lrs, self.gamma**self.last_epoch)


class PolynomialLR(LRScheduler):
    """Let the rates fall to zero as a power of the remaining epochs.

    Args:
        optimizer, last_epoch: see `LRScheduler`.
        total_iters: number of epochs.
        power: the power.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates()
        left = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return scaled(self._rates(), (left / before) ** self.power)

    def _get_closed_form_lr(self) -> list[Any]:
        done = min(self.total_iters, self.last_epoch) / self.total_iters
        return scaled(self.base_lrs, (1.0 - done) ** self.power)
