"""Averages of weights over training."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from typing import Any, Literal

from .. import autograd
from .._core import Tensor
from ..creation import tensor
from ..nn.modules.batchnorm import _BatchNorm
from ..nn.modules.module import Module
from .lr_scheduler.base import LRScheduler, for_each_group, require_optimizer
from .optimizer import Optimizer

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn",
    "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1]")


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., None]:
    """A function that updates lists of exponential averages: ``f(averages, values, count)``."""
    _check_decay(decay)

    @autograd.no_grad()
    def ema_update(ema_param_list: list[Tensor], current_param_list: list[Tensor], _: Any) -> None:
        for average, value in zip(ema_param_list, current_param_list):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(value, 1 - decay)  # type: ignore[arg-type]
            else:
                average.copy_(average * decay + value * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> Callable[..., None]:
    """A function that updates lists of equal averages: ``f(averages, values, count)``."""

    @autograd.no_grad()
    def swa_update(
        averaged_param_list: list[Tensor], current_param_list: list[Tensor], num_averaged: Any
    ) -> None:
        weight = 1 / (float(num_averaged) + 1)
        for average, value in zip(averaged_param_list, current_param_list):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(value, weight)  # type: ignore[arg-type]
            else:
                average.copy_(average + (value - average) * weight)

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Callable[..., Tensor]:
    """A function that gives the next exponential average: ``f(average, value, count)``."""
    _check_decay(decay)

    @autograd.no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable[..., Tensor]:
    """A function that gives the next equal average: ``f(average, value, count)``."""

    @autograd.no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of a module whose parameters are averages (Izmailov et al. 2018).

    Args:
        model: the module to follow.
        device: where the copy is.
        avg_fn: ``f(average, value, count)`` gives the next average; None: equal weights.
        multi_avg_fn: the same for lists, in place.
        use_buffers: whether buffers are averaged too; else they are copied.

    Raises:
        AssertionError: if both functions are given.
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Callable[..., Tensor] | None = None,
        multi_avg_fn: Callable[..., None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("AveragedModel takes avg_fn or multi_avg_fn, not both")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged module computes."""
        return self.module(*args, **kwargs)

    @autograd.no_grad()
    def update_parameters(self, model: Module) -> None:
        """Take a module's parameters into the averages."""
        own, other = self.module, model
        averages: list[Tensor] = list(own.parameters())
        values: list[Tensor] = list(other.parameters())
        if self.use_buffers:
            averages += own.buffers()
            values += other.buffers()
        if self.n_averaged == 0:
            for average, value in zip(averages, values):
                average.detach().copy_(value.detach())
        elif self.avg_fn is not None:
            for average, value in zip(averages, values):
                following = self.avg_fn(average.detach(), value.detach(), self.n_averaged)
                average.detach().copy_(following)
        else:
            function = self.multi_avg_fn or get_swa_multi_avg_fn()
            function(
                [average.detach() for average in averages],
                [value.detach() for value in values],
                self.n_averaged,
            )
        if not self.use_buffers:
            for average, value in zip(own.buffers(), other.buffers()):
                average.detach().copy_(value.detach())
        self.n_averaged += 1


@autograd.no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running statistics of a module's batch norms anew, by one pass over data.

    Args:
        loader: gives batches; of lists and tuples the first element is the input.
        model: the module, which is in training mode meanwhile.
        device: where inputs are moved to.
    """
    momenta: dict[Any, Any] = {}
    for module in model.modules():
        if isinstance(module, _BatchNorm):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.momentum = None  # equal weights
    for batch in loader:
        given = batch[0] if isinstance(batch, list | tuple) else batch
        model(given if device is None else given.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Go from the present rates to fixed ones, then stay there.

    Args:
        optimizer, last_epoch: see `LRScheduler`.
        swa_lr: the final rate; a number, or a list for the groups.
        anneal_epochs: epochs on the way.
        anneal_strategy: ``"cos"`` or ``"linear"``.

    Raises:
        ValueError: for an unknown strategy, or a negative number of epochs.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: Any,
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ) -> None:
        require_optimizer(optimizer)
        for rate, group in zip(for_each_group("swa_lr", optimizer, swa_lr), optimizer.param_groups):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be an int of 0 or more, not {anneal_epochs!r}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        """How far the rates are on their way."""
        done = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * done)) / 2 if self._anneal_strategy == "cos" else done

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            target = group["swa_lr"]
            start = target if before == 1 else (group["lr"] - before * target) / (1 - before)
            rates.append(target * now + start * (1 - now))
        return rates
