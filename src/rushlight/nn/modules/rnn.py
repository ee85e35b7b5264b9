"""Recurrent layers."""

from __future__ import annotations

import math
import numbers
import warnings
from typing import Any

import rushlight

from ..._core import Tensor
from .. import init
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from .module import Module
from .recurrence import GATES, Weights, run_layers
from .recurrent_cells import GRUCell, LSTMCell, RNNCell, RNNCellBase

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]


class RNNBase(Module):
    """What recurrent layers have in common.

    Args:
        mode: ``"RNN_TANH"``, ``"RNN_RELU"``, ``"LSTM"`` or ``"GRU"``.
        input_size: the size of the input's last dim.
        hidden_size: the size of the hidden state.
        num_layers: the number of layers, each of which takes the outputs of the one before.
        bias: whether there are biases.
        batch_first: whether inputs and outputs are [N, time, features]; else [time, N, features].
        dropout: the probability for dropout between layers.
        bidirectional: whether each layer also runs backward in time.
        proj_size: the size to which the hidden state of an LSTM is projected; 0: not at all.
        device: where the parameters are.
        dtype: their dtype.

    Raises:
        ValueError: for sizes that are not positive, a probability outside of [0, 1], or a
            projection that is not smaller than the hidden state.
        TypeError: for sizes that are no ints.
    """

    __constants__ = [
        "mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout",
        "bidirectional", "proj_size",
    ]  # fmt: skip

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if mode not in GATES:
            raise ValueError(f"Unrecognized RNN mode: {mode}")
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = dropout
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._check_options()
        self.dropout = float(dropout)
        self._names: list[list[str]] = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse") if bidirectional else ("",):
                self._add_layer(layer, suffix, device, dtype)
        self.reset_parameters()

    def _check_options(self) -> None:
        dropout = self.dropout
        if (
            not isinstance(dropout, numbers.Number)
            or isinstance(dropout, bool)
            or not (0 <= dropout <= 1)
        ):
            raise ValueError(
                f"dropout must be a probability, a number from 0 to 1, not {dropout!r}"
            )
        if dropout > 0 and self.num_layers == 1:
            warnings.warn(
                f"dropout={dropout} has no effect with num_layers={self.num_layers}: it acts "
                "between recurrent layers, not after the last",
                stacklevel=4,
            )
        for name in ("input_size", "hidden_size", "num_layers"):
            if not isinstance(getattr(self, name), int):
                raise TypeError(
                    f"{name} should be of type int, got: {type(getattr(self, name)).__name__}"
                )
        for name in ("bias", "batch_first"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(
                    f"{name} should be of type bool, got: {type(getattr(self, name)).__name__}"
                )
        for name in ("input_size", "hidden_size", "num_layers"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.proj_size < 0:
            raise ValueError(
                f"proj_size must not be negative, but is {self.proj_size}; 0 means no projection"
            )
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")

    def _add_layer(self, layer: int, suffix: str, device: Any, dtype: Any) -> None:
        """Add the parameters of a layer in one direction."""
        gates = GATES[self.mode] * self.hidden_size
        output_size = self.proj_size or self.hidden_size
        directions = 2 if self.bidirectional else 1
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (gates, self.input_size if layer == 0 else output_size * directions),
            "weight_hh": (gates, output_size),
        }
        if self.bias:
            shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        names = {kind: f"{kind}_l{layer}{suffix}" for kind in shapes}
        for kind, shape in shapes.items():
            parameter = Parameter(rushlight.empty(shape, device=device, dtype=dtype))
            setattr(self, names[kind], parameter)
        self._names.append(list(names.values()))

    def reset_parameters(self) -> None:
        """Draw all parameters anew: uniform within ``1 / sqrt(hidden_size)`` of 0."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    @property
    def all_weights(self) -> list[list[Tensor]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._names]

    @property
    def _flat_weights(self) -> list[Tensor]:
        return [weight for weights in self.all_weights for weight in weights]

    def flatten_parameters(self) -> None:
        """Nothing is to be done: parameters need no common memory."""

    def _weights(self) -> list[Weights]:
        found = []
        for each in self.all_weights:
            biases = each[2:4] if self.bias else (None, None)
            projection = each[-1] if self.proj_size else None
            found.append(Weights(each[0], each[1], biases[0], biases[1], projection))
        return found

    # ------------------------------------------------------------ checks

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Raise if an input does not fit."""
        dtype = next(self.parameters()).dtype
        if input.dtype != dtype and not rushlight_autocast():
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype}). Convert "
                f"input: input.to({dtype}), or convert model: model.to({input.dtype})"
            )
        expected = 2 if batch_sizes is not None else 3
        if input.dim() != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.dim()}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. Expected "
                f"{self.input_size}, got {input.size(-1)}"
            )
        if batch_sizes is None and input.size(1 if self.batch_first else 0) == 0:
            raise RuntimeError(
                "sequence length must be larger than 0, but the shape of input is "
                f"{list(input.shape)}"
            )

    def get_expected_hidden_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """The shape of a state that fits an input."""
        if batch_sizes is not None:
            batch = int(batch_sizes[0])
        else:
            batch = input.size(0) if self.batch_first else input.size(1)
        layers = self.num_layers * (2 if self.bidirectional else 1)
        return layers, batch, self.proj_size or self.hidden_size

    def get_expected_cell_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """The shape of an LSTM's cell state that fits an input."""
        layers, batch, _ = self.get_expected_hidden_size(input, batch_sizes)
        return layers, batch, self.hidden_size

    def check_hidden_size(
        self,
        hx: Tensor,
        expected_hidden_size: tuple[int, int, int],
        msg: str = "Expected hidden size {}, got {}",
    ) -> None:
        """Raise if a state does not have a shape."""
        if tuple(hx.shape) != tuple(expected_hidden_size):
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Raise if input and state do not fit."""
        self.check_input(input, batch_sizes)
        expected = self.get_expected_hidden_size(input, batch_sizes)
        self.check_hidden_size(hidden, expected)

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """A state with its batch in another order."""
        if permutation is None:
            return hx
        if isinstance(hx, tuple):
            return tuple(part.index_select(1, permutation) for part in hx)
        return hx.index_select(1, permutation)

    # ------------------------------------------------------------ calls

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Run all layers.

        Args:
            input: [time, N, input_size], [time, input_size], or a `PackedSequence`; [N, time,
                input_size] if batch_first.
            hx: the state to begin with, zeros by default: [layers * directions, N, size] (for an
                LSTM a pair of hidden and cell state), without N for an input without it.

        Returns:
            The outputs of the last layer, in the form of the input, and the last states.
        """
        if isinstance(input, PackedSequence):
            data, batch_sizes, sorted_indices, unsorted_indices = input
            hx = None if hx is None else self.permute_hidden(hx, sorted_indices)
            output, state = self._run(data, hx, batch_sizes)
            packed = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
            return packed, self.permute_hidden(state, unsorted_indices)
        if input.dim() not in (2, 3):
            raise ValueError(
                f"{self._get_name()}: Expected input to be 2D or 3D, got {input.dim()}D instead"
            )
        batched = input.dim() == 3
        batch_dim = 0 if self.batch_first else 1
        self._check_state_dims(hx, batched)
        if batched:
            return self._run(input, hx, None)
        if hx is not None:
            hx = _each(hx, lambda part: part.unsqueeze(1))
        output, state = self._run(input.unsqueeze(batch_dim), hx, None)
        return output.squeeze(batch_dim), _each(state, lambda part: part.squeeze(1))

    def _check_state_dims(self, hx: Any, batched: bool) -> None:
        dims = 3 if batched else 2
        for part in hx if isinstance(hx, tuple) else (hx,):
            if part is not None and part.dim() != dims:
                kind = "batched 3-D" if batched else "unbatched 2-D"
                raise RuntimeError(
                    f"For {kind} input, hx should also be {dims}-D but got {part.dim()}-D tensor"
                )

    def _initial_state(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        return input.new_zeros(self.get_expected_hidden_size(input, batch_sizes))

    def _run(self, input: Tensor, hx: Any, batch_sizes: Tensor | None) -> tuple[Tensor, Any]:
        """Run all layers for a batch; the state is a tensor, or for an LSTM a pair."""
        self.check_input(input, batch_sizes)
        if hx is None:
            hx = self._initial_state(input, batch_sizes)
        self.check_forward_args(input, hx, batch_sizes)
        transpose = self.batch_first and batch_sizes is None
        output, state = run_layers(
            self.mode,
            input.transpose(0, 1) if transpose else input,
            None if batch_sizes is None else batch_sizes.tolist(),
            hx if isinstance(hx, tuple) else (hx,),
            self._weights(),
            2 if self.bidirectional else 1,
            self.dropout if self.training else 0.0,
        )
        if transpose:
            output = output.transpose(0, 1)
        return output, state if self.mode == "LSTM" else state[0]

    def extra_repr(self) -> str:
        """The options with their values, as far as they are not the defaults."""
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size != 0:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        for name, default in (
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0),
            ("bidirectional", False),
        ):
            value = getattr(self, name)
            if value != default:
                text += f", {name}={value}"
        return text


def rushlight_autocast() -> bool:
    """Whether operators choose their dtypes themselves."""
    enabled = getattr(rushlight, "is_autocast_enabled", None)
    return bool(enabled and enabled("cpu"))


def _each(state: Any, change: Any) -> Any:
    return tuple(change(part) for part in state) if isinstance(state, tuple) else change(state)


class RNN(RNNBase):
    """A recurrent network: ``h = tanh(W_ih x + b_ih + W_hh h + b_hh)`` for each time.

    Arguments as of `RNNBase`, without `mode` and `proj_size`; `nonlinearity` (after `num_layers`,
    or by name): ``"tanh"`` or ``"relu"``.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: Any = "tanh",
        *args: Any,
        **kwargs: Any,
    ) -> None:
        if kwargs.pop("proj_size", 0):
            raise ValueError("proj_size is an option of LSTM only, not of RNN")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        self.__dict__["nonlinearity"] = nonlinearity
        mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(mode, input_size, hidden_size, num_layers, *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997).

    Arguments as of `RNNBase`, without `mode`. States are pairs of hidden and cell state.

    Example:
        >>> output, (hidden, cell) = LSTM(3, 5)(rushlight.ones(7, 2, 3))
        >>> output.shape, hidden.shape
        (torch.Size([7, 2, 5]), torch.Size([1, 2, 5]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def _initial_state(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        return (
            input.new_zeros(self.get_expected_hidden_size(input, batch_sizes)),
            input.new_zeros(self.get_expected_cell_size(input, batch_sizes)),
        )

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Raise if input and state do not fit."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(
            hidden[0],
            self.get_expected_hidden_size(input, batch_sizes),
            "Expected hidden[0] size {}, got {}",
        )
        self.check_hidden_size(
            hidden[1],
            self.get_expected_cell_size(input, batch_sizes),
            "Expected hidden[1] size {}, got {}",
        )


class GRU(RNNBase):
    """Gated recurrent units (Cho et al., arXiv:1406.1078).

    Arguments as of `RNNBase`, without `mode` and `proj_size`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size is an option of LSTM only, not of GRU")
        super().__init__("GRU", *args, **kwargs)
