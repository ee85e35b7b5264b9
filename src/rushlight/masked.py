"""Reductions, scans and normalisations of the elements that a mask lets through. Filled from the
operator table when the package is imported.
"""

from __future__ import annotations

from typing import Any

from ._core import Tensor


def _input_mask(
    input: Tensor, *arguments: Any, mask: Tensor | None = None, **options: Any
) -> Tensor:
    """The mask of a call of an operator here, as bools in the input's shape.

    Raises:
        ValueError: without a mask.
        IndexError: for a mask with more dims than the input.
    """
    if mask is None:
        raise ValueError("_input_mask requires explicit mask")
    if mask.ndim > input.ndim:
        raise IndexError(
            f"the mask has {mask.ndim} dims and the input {input.ndim}; a broadcastable mask has "
            "no more dims than the input"
        )
    return mask.expand(input.shape).bool()
