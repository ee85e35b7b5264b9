"""Kinds of primitives that run on the host, by NumPy or SciPy, and that batch all the same."""

from __future__ import annotations

from .kinds import Elementwise, Host, Reduction, Together


class HostElementwise(Elementwise, Host):
    """A function of single elements for which there is no scalar instruction."""


class HostAlong(Together, Host):
    """A function of whole tensors of equal rank that works along attribute ``dim``, for each place
    in the other dims apart.
    """


class HostMatrices(Together, Host):
    """A function of matrices in the last two dims, for each place in the batch dims apart; all
    inputs have the same batch dims, in front.
    """


class HostOver(Reduction, Host):
    """A reduction over attribute ``dims``, which stay with size 1."""
