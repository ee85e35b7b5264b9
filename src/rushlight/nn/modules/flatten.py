"""Dims as one, and one as several."""

from __future__ import annotations

from typing import Any

from ..._core import Tensor
from .fields import module_fields
from .module import Module

__all__ = ["Flatten", "Unflatten"]


@module_fields
class Flatten(Module):
    """The dims from start_dim to end_dim as one."""

    start_dim: int = 1
    end_dim: int = -1

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)


@module_fields
class Unflatten(Module):
    """One dim as several.

    Args:
        dim: the dim.
        unflattened_size: the sizes of the dims that it becomes; one may be -1.

    Raises:
        TypeError: if they are no ints.
    """

    dim: int
    unflattened_size: Any

    def setup(self) -> None:
        sizes = self.unflattened_size
        if not isinstance(sizes, tuple | list):
            raise TypeError(
                f"unflattened_size must be a tuple of sizes, not {type(sizes).__name__}"
            )
        for i, size in enumerate(sizes):
            if not isinstance(size, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, but found element of type "
                    f"{type(size).__name__} at pos {i}"
                )

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)
