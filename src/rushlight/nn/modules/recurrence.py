"""The computation of recurrent layers: steps of cells, and layers that run them over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import rushlight

from ..._core import Tensor
from ...ops.cells import gru_gates, lstm_gates
from .. import functional as F

State = tuple[Tensor, ...]  # (hidden,) or (hidden, cell)


class Weights(NamedTuple):
    """The parameters of one layer in one direction."""

    input: Tensor
    hidden: Tensor
    input_bias: Tensor | None
    hidden_bias: Tensor | None
    projection: Tensor | None = None


# A step turns the projected input [N, gates * hidden size] and a state into the next state.
Step = Callable[[Tensor, State, Weights], State]


def tanh_step(projected: Tensor, state: State, weights: Weights) -> State:
    """tanh(input part + hidden part)"""
    hidden = F.linear(state[0], weights.hidden, weights.hidden_bias)
    return (rushlight.tanh(projected + hidden),)


def relu_step(projected: Tensor, state: State, weights: Weights) -> State:
    """relu(input part + hidden part)"""
    hidden = F.linear(state[0], weights.hidden, weights.hidden_bias)
    return (rushlight.relu(projected + hidden),)


def lstm_step(projected: Tensor, state: State, weights: Weights) -> State:
    """Long short-term memory; projections by Sak et al., arXiv:1402.1128."""
    hidden, cell = state
    part = F.linear(hidden, weights.hidden, weights.hidden_bias)
    hidden, cell = lstm_gates.operator(projected, part, cell)
    if weights.projection is not None:
        hidden = F.linear(hidden, weights.projection)
    return hidden, cell


def gru_step(projected: Tensor, state: State, weights: Weights) -> State:
    """Gated recurrent unit."""
    (hidden,) = state
    part = F.linear(hidden, weights.hidden, weights.hidden_bias)
    return (gru_gates.operator(projected, part, hidden),)


STEPS: dict[str, Step] = {
    "RNN_TANH": tanh_step,
    "RNN_RELU": relu_step,
    "LSTM": lstm_step,
    "GRU": gru_step,
}
GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}


def run_cell(mode: str, input: Tensor, state: State, weights: Weights) -> State:
    """One step of a cell for inputs [N, input size]."""
    projected = F.linear(input, weights.input, weights.input_bias)
    return STEPS[mode](projected, state, weights)


def _run_steps(
    step: Step, inputs: Sequence[Tensor], state: State, weights: Weights, backward: bool
) -> tuple[list[Tensor], State]:
    """All steps of a batch of sequences of one length."""
    outputs = []
    for projected in reversed(inputs) if backward else inputs:
        state = step(projected, state, weights)
        outputs.append(state[0])
    return outputs[::-1] if backward else outputs, state


def _run_shrinking(
    step: Step, inputs: Sequence[Tensor], state: State, weights: Weights
) -> tuple[list[Tensor], State]:
    """All steps of a batch whose later sequences end first."""
    outputs, ended = [], []
    for projected in inputs:
        count = projected.size(0)
        if count < state[0].size(0):
            ended.append(tuple(part[count:] for part in state))
            state = tuple(part[:count] for part in state)
        state = step(projected, state, weights)
        outputs.append(state[0])
    pieces = [state, *reversed(ended)]
    return outputs, tuple(rushlight.cat(parts, 0) for parts in zip(*pieces))


def _run_growing(
    step: Step, inputs: Sequence[Tensor], start: State, weights: Weights
) -> tuple[list[Tensor], State]:
    """All steps, backward in time, of a batch whose later sequences end first."""
    state = tuple(part[: inputs[-1].size(0)] for part in start)
    outputs = []
    for projected in reversed(inputs):
        present, count = state[0].size(0), projected.size(0)
        if count > present:
            state = tuple(
                rushlight.cat([part, new[present:count]], 0) for part, new in zip(state, start)
            )
        state = step(projected, state, weights)
        outputs.append(state[0])
    return outputs[::-1], state


def run_layer(
    mode: str,
    input: Tensor,
    batch_sizes: list[int] | None,
    state: State,
    weights: Weights,
    backward: bool,
) -> tuple[Tensor, State]:
    """One layer in one direction.

    Args:
        mode: the kind of cell.
        input: [time, N, features], or packed [sum of batch sizes, features].
        batch_sizes: how many sequences there are at each time, if packed.
        state: the state to begin with, each part [N, size].
        weights: the layer's parameters.
        backward: whether it runs from the last time to the first.

    Returns:
        The outputs in the form of the input, and the last state.
    """
    projected = F.linear(input, weights.input, weights.input_bias)
    step = STEPS[mode]
    if batch_sizes is None:
        outputs, state = _run_steps(step, projected.unbind(0), state, weights, backward)
        return rushlight.stack(outputs, 0), state
    inputs = projected.split(batch_sizes, 0)
    run = _run_growing if backward else _run_shrinking
    outputs, state = run(step, inputs, state, weights)
    return rushlight.cat(outputs, 0), state


def run_layers(
    mode: str,
    input: Tensor,
    batch_sizes: list[int] | None,
    state: State,
    weights: Sequence[Weights],
    directions: int,
    dropout: float,
) -> tuple[Tensor, State]:
    """All layers, with dropout between them.

    Args:
        mode: the kind of cell.
        input: [time, N, features], or packed [sum of batch sizes, features].
        batch_sizes: how many sequences there are at each time, if packed.
        state: the states to begin with, each part [layers * directions, N, size].
        weights: the parameters of each layer and direction.
        directions: 1, or 2 for both.
        dropout: the probability for dropout.

    Returns:
        The outputs of the last layer and the last states of all.
    """
    last: list[Any] = []
    for first in range(0, len(weights), directions):
        outputs = []
        for i in range(first, first + directions):
            own = tuple(part[i] for part in state)
            output, final = run_layer(mode, input, batch_sizes, own, weights[i], i > first)
            outputs.append(output)
            last.append(final)
        input = outputs[0] if directions == 1 else rushlight.cat(outputs, -1)
        if dropout and first + directions < len(weights):
            input = F.dropout(input, dropout, True)
    return input, tuple(rushlight.stack(parts, 0) for parts in zip(*last))
