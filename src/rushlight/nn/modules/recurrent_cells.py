"""Recurrent cells, which compute one step."""

from __future__ import annotations

import math
from typing import Any

import rushlight

from ..._core import Tensor
from .. import init
from ..parameter import Parameter
from .module import Module
from .recurrence import State, Weights, run_cell

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


class RNNCellBase(Module):
    """What cells, which compute one step, have in common.

    Args:
        input_size: the size of the input's last dim.
        hidden_size: the size of the state.
        bias: whether there are biases.
        num_chunks: the number of gates.
        device: where the parameters are.
        dtype: their dtype.
    """

    __constants__ = ["input_size", "hidden_size", "bias"]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        gates = num_chunks * hidden_size
        options = {"device": device, "dtype": dtype}
        self.weight_ih = Parameter(rushlight.empty((gates, input_size), **options))
        self.weight_hh = Parameter(rushlight.empty((gates, hidden_size), **options))
        for name in ("bias_ih", "bias_hh"):
            parameter = Parameter(rushlight.empty(gates, **options)) if bias else None
            self.register_parameter(name, parameter)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters anew: uniform within ``1 / sqrt(hidden_size)`` of 0."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def _step(self, mode: str, input: Tensor, hx: Any, parts: int) -> State:
        """One step for inputs [N, input_size] or [input_size]; returns the parts of the state."""
        name = self._get_name()
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        if hx is not None and parts == 2 and not isinstance(hx, tuple | list):
            raise TypeError(f"{name}: hx must be a tuple of two tensors, not {type(hx).__name__}")
        batched = input.dim() == 2
        state = (None,) * parts if hx is None else tuple(hx) if parts == 2 else (hx,)
        for i, part in enumerate(state):
            if part is not None and part.dim() not in (1, 2):
                place = f"hx[{i}]" if parts == 2 else "hidden"
                raise ValueError(
                    f"{name}: Expected {place} to be 1D or 2D, got {part.dim()}D instead"
                )
        rows = input if batched else input.unsqueeze(0)
        ready = tuple(
            rows.new_zeros(rows.size(0), self.hidden_size)
            if part is None
            else part
            if batched
            else part.unsqueeze(0)
            for part in state
        )
        self._check_sizes(rows, ready)
        weights = Weights(self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        result = run_cell(mode, rows, ready, weights)
        return result if batched else tuple(part.squeeze(0) for part in result)

    def _check_sizes(self, input: Tensor, state: State) -> None:
        if input.size(1) != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {input.size(1)} expected {self.input_size}"
            )
        for i, part in enumerate(state):
            if part.size(0) != input.size(0):
                raise RuntimeError(
                    f"Input batch size {input.size(0)} doesn't match hidden{i} batch size "
                    f"{part.size(0)}"
                )
            if part.size(-1) != self.hidden_size:
                raise RuntimeError(
                    f"hidden{i} has inconsistent hidden_size: got {part.size(-1)}, expected "
                    f"{self.hidden_size}"
                )

    def extra_repr(self) -> str:
        """The options with their values, as far as they are not the defaults."""
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text


class RNNCell(RNNCellBase):
    """One step of `RNN`: ``tanh(W_ih x + b_ih + W_hh h + b_hh)``; or relu."""

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(f"RNN_{self.nonlinearity.upper()}", input, hx, 1)[0]


class LSTMCell(RNNCellBase):
    """One step of `LSTM`: returns hidden and cell state."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: Any = None) -> State:
        return self._step("LSTM", input, hx, 2)


class GRUCell(RNNCellBase):
    """One step of `GRU`."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step("GRU", input, hx, 1)[0]
