"""Optimizer steps: each updates all parameters of a group in one call."""

from __future__ import annotations

from typing import Any

from .record import MutatedTensors, Operand, Tensors, composite


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
    form).

    ``momentum_buffers`` is empty if there is no momentum; ``first``: the buffers hold nothing yet.
    """
    updated, buffers = [], []
    for index, (parameter, gradient) in enumerate(zip(parameters, gradients)):
        step = -gradient if maximize else gradient
        if weight_decay != 0:
            step = step + weight_decay * parameter
        if momentum_buffers:
            buffer = step if first else momentum * momentum_buffers[index] + (1 - dampening) * step
            buffers.append(buffer)
            step = step + momentum * buffer if nesterov else buffer
        updated.append(parameter - lr * step)
    return updated + buffers


@composite(name="adam_step")
def adam_step(
    parameters: MutatedTensors,
    averages: MutatedTensors,
    squared_averages: MutatedTensors,
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
    Hutter 2019).

    ``maximums`` is empty without AMSGrad; ``correction1`` is ``1 - beta1**t``, ``correction2_root``
    the root of
    ``1 - beta2**t``; ``decoupled``: weight decay as in AdamW.
    """
    updated, firsts, seconds, tops = [], [], [], []
    for index, (parameter, gradient) in enumerate(zip(parameters, gradients)):
        step = -gradient if maximize else gradient
        if weight_decay != 0:
            if decoupled:
                parameter = parameter * (1 - lr * weight_decay)
            else:
                step = step + weight_decay * parameter
        average = averages[index] + (1 - beta1) * (step - averages[index])
        squared = beta2 * squared_averages[index] + (1 - beta2) * (step * step)
        top = squared
        if maximums:
            top = maximums[index].maximum(squared)
            tops.append(top)
        denominator = top.sqrt() / correction2_root + eps
        updated.append(parameter - (lr / correction1) * (average / denominator))
        firsts.append(average)
        seconds.append(squared)
    return updated + firsts + seconds + tops
