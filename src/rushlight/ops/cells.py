"""What the cells of recurrent layers do with their gates."""

from __future__ import annotations

from typing import Any

from ..graph.trace import Traced
from . import build
from .record import Tensor, composite, op
from .samples import Draw, calls


def _parts(gates: Traced, count: int) -> list[Traced]:
    """The gates, side by side along the last dim."""
    size = gates.shape[-1] // count
    return [build.slice_(gates, gates.ndim - 1, i * size, 1, size) for i in range(count)]


def _lstm_values(projected: Any, hidden: Any) -> tuple[Traced, ...]:
    """The gates after their functions: how much of the new and of the old, the new, how much is
    shown.
    """
    keep_new, keep_old, new, show = _parts(build.widened(projected) + build.widened(hidden), 4)
    return op.sigmoid(keep_new), op.sigmoid(keep_old), op.tanh(new), op.sigmoid(show)


def _lstm_derivative(g: Any, out: Any, projected: Any, hidden: Any, cell: Any) -> Any:
    keep_new, keep_old, new, show = map(build.conjugate, _lstm_values(projected, hidden))
    shown = build.conjugate(op.tanh(build.widened(out[1])))
    zeros = build.full_like(shown, 0, shown.dtype)
    of_hidden, of_cell = (zeros if each is None else build.widened(each) for each in g)
    total = of_cell + of_hidden * show * (1 - shown * shown)
    old = build.conjugate(build.widened(cell))
    parts = [
        total * new * keep_new * (1 - keep_new),
        total * old * keep_old * (1 - keep_old),
        total * keep_new * (1 - new * new),
        of_hidden * shown * show * (1 - show),
    ]
    gates = op.cat([build.convert(part, projected.dtype) for part in parts], projected.ndim - 1)
    return gates, gates, build.convert(total * keep_old, cell.dtype)


@composite(
    name="lstm_gates",
    derivative=_lstm_derivative,
    samples=calls((Draw((2, 12)), Draw((2, 12)), Draw((2, 3)))),
)
def lstm_gates(projected: Tensor, hidden: Tensor, cell: Tensor):
    """The next hidden and cell state of long short-term memory (Hochreiter and Schmidhuber, 1997).

    projected, hidden: the gates' parts from the input and from the hidden state, ``[N, 4 * size]``
    both; cell: ``[N, size]``.
    """
    keep_new, keep_old, new, show = _lstm_values(projected, hidden)
    following = keep_old * build.widened(cell) + keep_new * new
    shown = show * op.tanh(following)
    return build.convert(shown, cell.dtype), build.convert(following, cell.dtype)


def _gru_values(projected: Any, hidden: Any) -> tuple[Traced, ...]:
    """How much is kept of the state in the new one, how much of the old stays, the new, and the
    part of that from the hidden state.
    """
    reset_x, update_x, new_x = _parts(build.widened(projected), 3)
    reset_h, update_h, new_h = _parts(build.widened(hidden), 3)
    reset = op.sigmoid(reset_x + reset_h)
    return reset, op.sigmoid(update_x + update_h), op.tanh(new_x + reset * new_h), new_h


def _gru_derivative(g: Any, out: Any, projected: Any, hidden: Any, state: Any) -> Any:
    reset, update, new, new_h = map(build.conjugate, _gru_values(projected, hidden))
    g, old = build.widened(g), build.conjugate(build.widened(state))
    of_new = g * (1 - update) * (1 - new * new)
    of_update = g * (old - new) * update * (1 - update)
    of_reset = of_new * new_h * reset * (1 - reset)

    def joined(last: Traced) -> Traced:
        parts = [build.convert(part, projected.dtype) for part in (of_reset, of_update, last)]
        return op.cat(parts, projected.ndim - 1)

    return joined(of_new), joined(of_new * reset), build.convert(g * update, state.dtype)


@composite(
    name="gru_gates",
    derivative=_gru_derivative,
    samples=calls((Draw((2, 9)), Draw((2, 9)), Draw((2, 3)))),
)
def gru_gates(projected: Tensor, hidden: Tensor, state: Tensor):
    """The next state of a gated recurrent unit (Cho et al., arXiv:1406.1078).

    projected, hidden: the gates' parts from the input and from the state, ``[N, 3 * size]`` both;
    state: ``[N, size]``.
    """
    _, update, new, _ = _gru_values(projected, hidden)
    return build.convert((build.widened(state) - new) * update + new, state.dtype)
