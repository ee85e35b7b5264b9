"""Lower rates when a metric does not improve any more."""

from __future__ import annotations

import math
from typing import Any, Literal

from ..optimizer import Optimizer
from .base import LRScheduler, copied, require_optimizer, set_option


class ReduceLROnPlateau(LRScheduler):
    """Multiply the rates by ``factor`` when a metric has not improved for a while.

    Args:
        optimizer: see `LRScheduler`.
        mode: ``"min"``: lower is better; ``"max"``: higher is.
        factor: below 1.
        patience: epochs without improvement that are allowed.
        threshold: what counts as an improvement.
        threshold_mode: whether threshold is a share of the best value (``"rel"``) or a difference
            (``"abs"``).
        cooldown: epochs after a reduction that do not count.
        min_lr: the lowest rate; a number or a list for the groups.
        eps: a reduction by less than this is left out.

    Raises:
        ValueError: for a factor of 1 or more, unknown modes, or a list of another length.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: Literal["min", "max"] = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: Literal["rel", "abs"] = "rel",
        cooldown: int = 0,
        min_lr: list[float] | float = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError(f"Factor should be < 1.0, but is {factor}")
        self.optimizer = require_optimizer(optimizer)
        self.factor = factor
        count = len(optimizer.param_groups)
        if isinstance(min_lr, list | tuple):
            if len(min_lr) != count:
                raise ValueError(f"expected {count} min_lrs, got {len(min_lr)}")
            self.default_min_lr = None
            self.min_lrs = list(min_lr)
        else:
            self.default_min_lr = min_lr
            self.min_lrs = [min_lr] * count
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = [copied(rate) for rate in self._rates()]
        self._init_is_better(mode, threshold, threshold_mode)
        self._reset()

    def _reset(self) -> None:
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def _init_is_better(self, mode: str, threshold: float, threshold_mode: str) -> None:
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode!r} is unknown; it is 'min' or 'max'")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode!r} is unknown; it is 'rel' or 'abs'")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode

    def _is_better(self, a: float, best: float) -> bool:
        change = -self.threshold if self.mode == "min" else self.threshold
        limit = best * (1 + change) if self.threshold_mode == "rel" else best + change
        return a < limit if self.mode == "min" else a > limit

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take the metric of another epoch into account.

        Args:
            metrics: a number, or a tensor of one element.
            epoch: the epoch's number, for older programs.
        """
        current = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(self.last_epoch)
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = [copied(rate) for rate in self._rates()]

    def _reduce_lr(self, epoch: int) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"the optimizer has {len(groups)} groups, but min_lr was given for "
                    f"{len(self.min_lrs)}: set min_lrs before adding groups"
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                set_option(group, "lr", new)

    @property
    def in_cooldown(self) -> bool:
        """Whether epochs do not count for the moment."""
        return self.cooldown_counter > 0
