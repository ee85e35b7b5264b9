"""Optimizer steps: each updates all parameters of a group in one call.

Every step follows from a rule for one parameter: ``rule(parameter, gradient, *states)`` returns the
new parameter and states. ``steps`` counts the updates; numbers that depend on the count come as
operands, which the optimizers in ``optim/`` work out. Lists of states that the options leave unused
are empty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..dtypes import float64
from .record import MutatedTensors, Operand, Tensors, composite, op


def updated(
    rule: Callable[..., Sequence[Any]],
    maximize: bool,
    steps: Sequence[Any],
    parameters: Sequence[Any],
    gradients: Sequence[Any],
    *states: Sequence[Any],
) -> list[Any]:
    """New counts, parameters and states: the mutated lists one after the other."""
    used = [values for values in states if values]
    columns: list[list[Any]] = [[] for _ in range(1 + len(used))]
    for index, (parameter, gradient) in enumerate(zip(parameters, gradients)):
        own = [values[index] if values else None for values in states]
        arguments = [parameter, -gradient if maximize else gradient, *own]
        before = [parameter, *(value for value in own if value is not None)]
        if parameter.dtype.is_complex:
            results = by_parts(rule, arguments, before)
        else:
            results = rule(*arguments)
        for column, old, new in zip(columns, before, results, strict=True):
            column.append(new.to(old.dtype))
    return [count + 1 for count in steps] + [value for column in columns for value in column]


def by_parts(
    rule: Callable[..., Sequence[Any]], arguments: Sequence[Any], before: Sequence[Any]
) -> Sequence[Any]:
    """A rule for a complex parameter, which counts as two real ones."""
    is_complex = [x is not None and x.dtype.is_complex for x in arguments]
    reals = rule(*(op.real(x) if c else x for x, c in zip(arguments, is_complex)))
    imaginaries = rule(*(op.imag(x) if c else x for x, c in zip(arguments, is_complex)))
    return [
        op.complex(real, imaginary) if old.dtype.is_complex else real
        for old, real, imaginary in zip(before, reals, imaginaries, strict=True)
    ]


def mixed(average: Any, value: Any, weight: Any) -> Any:
    """A moving average after one more value."""
    return average + weight * (value - average)


def mixed_square(average: Any, value: Any, keep: Any) -> Any:
    """A moving average of squares after one more value."""
    return keep * average + (1 - keep) * (value * value)


def decayed(
    parameter: Any, step: Any, weight_decay: Any, lr: Any = 0, decoupled: bool = False
) -> tuple[Any, Any]:
    """Parameter and gradient with weight decay: as an L2 penalty, or decoupled from the gradient
    (Loshchilov and Hutter 2019).
    """
    if weight_decay == 0:
        return parameter, step
    if decoupled:
        return parameter * (1 - lr * weight_decay), step
    return parameter, step + weight_decay * parameter


@composite(name="sgd_step")
def sgd_step(
    parameters: MutatedTensors,
    momentum_buffers: MutatedTensors,
    gradients: Tensors,
    lr: Operand,
    weight_decay: Operand,
    momentum: Operand,
    dampening: Operand,
    nesterov: bool,
    maximize: bool,
    first: bool,
) -> Any:
    """Stochastic gradient descent with momentum (Sutskever et al. 2013, section 2, in PyTorch's
    form). ``first``: the buffers hold nothing yet.
    """

    def rule(parameter: Any, step: Any, buffer: Any) -> Any:
        if weight_decay != 0:
            step = step + weight_decay * parameter
        if buffer is None:
            return [parameter - lr * step]
        buffer = step if first else momentum * buffer + (1 - dampening) * step
        step = step + momentum * buffer if nesterov else buffer
        return parameter - lr * step, buffer

    return updated(rule, maximize, [], parameters, gradients, momentum_buffers)


@composite(name="adam_step")
def adam_step(
    steps: MutatedTensors,
    parameters: MutatedTensors,
    averages: MutatedTensors,
    squares: MutatedTensors,
    maximums: MutatedTensors,
    gradients: Tensors,
    lr: Operand,
    beta1: Operand,
    beta2: Operand,
    eps: Operand,
    weight_decay: Operand,
    correction1: Operand,
    correction2_root: Operand,
    decoupled: bool,
    maximize: bool,
) -> Any:
    """Adam (Kingma and Ba 2015, algorithm 1), AMSGrad (Reddi et al. 2018) and AdamW (Loshchilov and
    Hutter 2019). ``correction1`` is ``1 - beta1**t``, ``correction2_root`` the root of
    ``1 - beta2**t``.
    """

    def rule(parameter: Any, step: Any, average: Any, square: Any, maximum: Any) -> Any:
        parameter, step = decayed(parameter, step, weight_decay, lr, decoupled)
        average = mixed(average, step, 1 - beta1)
        square = mixed_square(square, step, beta2)
        top = square if maximum is None else op.maximum(maximum, square)
        denominator = op.sqrt(top) / correction2_root + eps
        parameter = parameter - (lr / correction1) * (average / denominator)
        return [parameter, average, square] + ([] if maximum is None else [top])

    return updated(rule, maximize, steps, parameters, gradients, averages, squares, maximums)


@composite(name="adamax_step")
def adamax_step(
    steps: MutatedTensors,
    parameters: MutatedTensors,
    averages: MutatedTensors,
    norms: MutatedTensors,
    gradients: Tensors,
    lr: Operand,
    beta1: Operand,
    beta2: Operand,
    eps: Operand,
    weight_decay: Operand,
    correction: Operand,
    maximize: bool,
) -> Any:
    """Adamax (Kingma and Ba 2015, algorithm 2). ``correction`` is ``1 - beta1**t``."""

    def rule(parameter: Any, step: Any, average: Any, norm: Any) -> Any:
        parameter, step = decayed(parameter, step, weight_decay)
        average = mixed(average, step, 1 - beta1)
        norm = op.maximum(beta2 * norm, op.abs(step) + eps)
        return parameter - (lr / correction) * (average / norm), average, norm

    return updated(rule, maximize, steps, parameters, gradients, averages, norms)


@composite(name="nadam_step")
def nadam_step(
    steps: MutatedTensors,
    parameters: MutatedTensors,
    products: MutatedTensors,
    averages: MutatedTensors,
    squares: MutatedTensors,
    gradients: Tensors,
    lr: Operand,
    beta1: Operand,
    beta2: Operand,
    eps: Operand,
    weight_decay: Operand,
    mu: Operand,
    next_mu: Operand,
    correction2: Operand,
    decoupled: bool,
    maximize: bool,
) -> Any:
    """NAdam (Dozat 2016, algorithm 2). ``products`` are the products of all mu up to now."""

    def rule(parameter: Any, step: Any, product: Any, average: Any, square: Any) -> Any:
        parameter, step = decayed(parameter, step, weight_decay, lr, decoupled)
        product = product * mu
        exact = product.to(float64)
        average = mixed(average, step, 1 - beta1)
        square = mixed_square(square, step, beta2)
        denominator = op.sqrt(square / correction2) + eps
        parameter = parameter - (lr * (1 - mu) / (1 - exact)) * (step / denominator)
        parameter = parameter - (lr * next_mu / (1 - exact * next_mu)) * (average / denominator)
        return parameter, product, average, square

    return updated(rule, maximize, steps, parameters, gradients, products, averages, squares)


@composite(name="radam_step")
def radam_step(
    steps: MutatedTensors,
    parameters: MutatedTensors,
    averages: MutatedTensors,
    squares: MutatedTensors,
    gradients: Tensors,
    lr: Operand,
    beta1: Operand,
    beta2: Operand,
    eps: Operand,
    weight_decay: Operand,
    correction1: Operand,
    rectification: Operand,
    rectified: bool,
    decoupled: bool,
    maximize: bool,
) -> Any:
    """RAdam (Liu et al. 2020, algorithm 2). ``rectification`` is the variance's rectification times
    the root of ``1 - beta2**t``; ``rectified``: whether the variance can be estimated yet.
    """

    def rule(parameter: Any, step: Any, average: Any, square: Any) -> Any:
        parameter, step = decayed(parameter, step, weight_decay, lr, decoupled)
        average = mixed(average, step, 1 - beta1)
        square = mixed_square(square, step, beta2)
        change = average / correction1
        if rectified:
            change = change * (rectification / (op.sqrt(square) + eps))
        return parameter - lr * change, average, square

    return updated(rule, maximize, steps, parameters, gradients, averages, squares)


@composite(name="rmsprop_step")
def rmsprop_step(
    steps: MutatedTensors,
    parameters: MutatedTensors,
    squares: MutatedTensors,
    averages: MutatedTensors,
    momentum_buffers: MutatedTensors,
    gradients: Tensors,
    lr: Operand,
    alpha: Operand,
    eps: Operand,
    weight_decay: Operand,
    momentum: Operand,
    maximize: bool,
) -> Any:
    """RMSprop (Hinton 2012, lecture 6e), with ``averages`` centered (Graves 2013, section 4.2)."""

    def rule(parameter: Any, step: Any, square: Any, average: Any, buffer: Any) -> Any:
        parameter, step = decayed(parameter, step, weight_decay)
        square = mixed_square(square, step, alpha)
        variance, states = square, [square]
        if average is not None:
            average = mixed(average, step, 1 - alpha)
            variance = square - average * average
            states.append(average)
        change = step / (op.sqrt(variance) + eps)
        if buffer is not None:
            change = momentum * buffer + change
            states.append(change)
        return [parameter - lr * change, *states]

    return updated(
        rule, maximize, steps, parameters, gradients, squares, averages, momentum_buffers
    )


@composite(name="adagrad_step")
def adagrad_step(
    steps: MutatedTensors,
    parameters: MutatedTensors,
    sums: MutatedTensors,
    gradients: Tensors,
    lr: Operand,
    eps: Operand,
    weight_decay: Operand,
    maximize: bool,
) -> Any:
    """Adagrad (Duchi et al. 2011, the diagonal form in section 5)."""

    def rule(parameter: Any, step: Any, total: Any) -> Any:
        parameter, step = decayed(parameter, step, weight_decay)
        total = total + step * step
        return parameter - lr * (step / (op.sqrt(total) + eps)), total

    return updated(rule, maximize, steps, parameters, gradients, sums)


@composite(name="adadelta_step")
def adadelta_step(
    steps: MutatedTensors,
    parameters: MutatedTensors,
    squares: MutatedTensors,
    changes: MutatedTensors,
    gradients: Tensors,
    lr: Operand,
    rho: Operand,
    eps: Operand,
    weight_decay: Operand,
    maximize: bool,
) -> Any:
    """Adadelta (Zeiler 2012, algorithm 1)."""

    def rule(parameter: Any, step: Any, square: Any, change: Any) -> Any:
        parameter, step = decayed(parameter, step, weight_decay)
        square = mixed_square(square, step, rho)
        delta = op.sqrt(change + eps) / op.sqrt(square + eps) * step
        return parameter - lr * delta, square, mixed_square(change, delta, rho)

    return updated(rule, maximize, steps, parameters, gradients, squares, changes)


@composite(name="asgd_step")
def asgd_step(
    steps: MutatedTensors,
    parameters: MutatedTensors,
    rates: MutatedTensors,
    weights: MutatedTensors,
    averages: MutatedTensors,
    gradients: Tensors,
    lambd: Operand,
    weight_decay: Operand,
    next_rate: Operand,
    next_weight: Operand,
    maximize: bool,
) -> Any:
    """Averaged stochastic gradient descent (Polyak and Juditsky 1992; the rates of Bottou 2010).

    ``rates`` and ``weights`` (of the newest parameter in the average) are 0-d.
    """

    def rule(parameter: Any, step: Any, rate: Any, weight: Any, average: Any) -> Any:
        parameter, step = decayed(parameter, step, weight_decay)
        exact, share = rate.to(float64), weight.to(float64)
        parameter = parameter * (1 - lambd * exact) - exact * step
        average = op.where(share == 1, parameter, mixed(average, parameter, share))
        new_rate, new_weight = op.full_like(rate, next_rate), op.full_like(weight, next_weight)
        return parameter, new_rate, new_weight, average

    return updated(rule, maximize, steps, parameters, gradients, rates, weights, averages)


@composite(name="rprop_step")
def rprop_step(
    steps: MutatedTensors,
    parameters: MutatedTensors,
    previous: MutatedTensors,
    sizes: MutatedTensors,
    gradients: Tensors,
    shrink: Operand,
    grow: Operand,
    smallest: Operand,
    largest: Operand,
    maximize: bool,
) -> Any:
    """Resilient backpropagation (Riedmiller and Braun 1993; no step where the sign has changed)."""

    def rule(parameter: Any, step: Any, before: Any, size: Any) -> Any:
        agreement = step * before
        kept = op.where(agreement < 0, size * shrink, size)
        size = op.clamp(op.where(agreement > 0, size * grow, kept), smallest, largest)
        step = op.where(agreement < 0, 0.0, step)
        return parameter - op.sign(step) * size, step, size

    return updated(rule, maximize, steps, parameters, gradients, previous, sizes)


@composite(name="adafactor_step")
def adafactor_step(
    steps: MutatedTensors,
    parameters: MutatedTensors,
    row_variances: MutatedTensors,
    column_variances: MutatedTensors,
    variances: MutatedTensors,
    gradients: Tensors,
    lr: Operand,
    relative_lr: Operand,
    weight: Operand,
    eps1: Operand,
    eps2: Operand,
    clipping: Operand,
    weight_decay: Operand,
    maximize: bool,
) -> Any:
    """Adafactor (Shazeer and Stern 2018, algorithms 4 and 5). ``weight`` is that of the newest
    square; matrices have row and column variances, others ``variances``.
    """

    def rule(parameter: Any, step: Any, row: Any, column: Any, variance: Any) -> Any:
        scale = op.maximum(root_mean_square(parameter), eps2) * relative_lr
        if weight_decay != 0:
            parameter = parameter * (1 - lr * weight_decay)
        square = step * step
        if variance is None:
            row = mixed(row, op.mean(square, -1, keepdim=True), weight)
            column = mixed(column, op.mean(square, -2, keepdim=True), weight)
            estimate = row * column / op.clamp(op.mean(row, -2, keepdim=True), eps1)
            states = [row, column]
        else:
            variance = estimate = mixed(variance, square, weight)
            states = [variance]
        change = step * op.rsqrt(op.clamp(estimate, eps1 * eps1))
        limit = op.clamp(root_mean_square(change) / clipping, 1.0)
        return [parameter - (scale / limit) * change, *states]

    return updated(
        rule,
        maximize,
        steps,
        parameters,
        gradients,
        row_variances,
        column_variances,
        variances,
    )


def root_mean_square(x: Any) -> Any:
    return op.sqrt(op.mean(x * x))
