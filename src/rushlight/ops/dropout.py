"""Dropout."""

from __future__ import annotations

from typing import Any

from . import build
from .random import double_uniform
from .record import Operand, composite


def _check(p: Any, name: str) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p} (in {name})")


def _dropped(input: Any, p: Any, training: bool, noise_shape: Any, name: str) -> Any:
    _check(p, name)
    if not training or p == 0:
        return input
    if p == 1:
        return input * 0
    keep = double_uniform(noise_shape, None) < 1 - p
    return input * build.convert(keep, input.dtype) * (1 / (1 - p))


@composite(names=["dropout", "nn.functional.dropout"], methods=[], random=True, onnx="Dropout")
def dropout(input, p: Operand = 0.5, training: bool = True, inplace: bool = False):
    """Set elements to zero with probability p and scale the others by 1 / (1 - p)."""
    return _dropped(input, p, training, input.shape, "dropout")


def _channels(name: str, batch_rank: int, spatial: int) -> Any:
    def body(input, p: Operand = 0.5, training: bool = True, inplace: bool = False):
        lead = input.ndim - spatial
        if lead not in (batch_rank - 1, batch_rank):
            raise RuntimeError(
                f"{name}: expected input with {spatial + 1} or {spatial + 2} dims, but got shape "
                f"{list(input.shape)}"
            )
        noise_shape = (*input.shape[:lead], *[1] * spatial)
        return _dropped(input, p, training, noise_shape, name)

    body.__doc__ = f"Drop whole channels of {spatial} dims with probability p and scale the others."
    return composite(names=[f"nn.functional.{name}"], methods=[], random=True)(body)


dropout1d = _channels("dropout1d", 2, 1)
dropout2d = _channels("dropout2d", 2, 2)
dropout3d = _channels("dropout3d", 2, 3)
