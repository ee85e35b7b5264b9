"""Kinds of primitives that run on the host, by NumPy or SciPy, and that batch all the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .kinds import Elementwise, Host, Reduction, with_batch

if TYPE_CHECKING:
    from .record import Primitive


class HostElementwise(Elementwise, Host):
    """A function of single elements for which there is no scalar instruction."""


class HostAlong(Host):
    """A function of whole tensors of equal rank that works along attribute ``dim``, for each place
    in the other dims apart.
    """

    def batch(
        self,
        primitive: Primitive,
        inputs: Sequence,
        batched: Sequence[bool],
        size: Any,
        attributes: dict,
    ) -> list:
        inputs = [with_batch(x, each, size) for x, each in zip(inputs, batched, strict=True)]
        results = primitive.apply(*inputs, **{**attributes, "dim": attributes["dim"] + 1})
        return list(results) if isinstance(results, tuple) else [results]


class HostMatrices(Host):
    """A function of matrices in the last two dims, for each place in the batch dims apart; all
    inputs have the same batch dims, in front.
    """

    def batch(
        self,
        primitive: Primitive,
        inputs: Sequence,
        batched: Sequence[bool],
        size: Any,
        attributes: dict,
    ) -> list:
        inputs = [with_batch(x, each, size) for x, each in zip(inputs, batched, strict=True)]
        results = primitive.apply(*inputs, **attributes)
        return list(results) if isinstance(results, tuple) else [results]


class HostOver(Reduction, Host):
    """A reduction over attribute ``dims``, which stay with size 1."""
