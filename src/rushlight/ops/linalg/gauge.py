"""Phases of complex eigenvectors and singular vectors, which no decomposition determines: what is
differentiated must not depend on them.
"""

from __future__ import annotations

from typing import Any

import numpy

from ...graph.trace import Traced
from ..host_kinds import HostMatrices
from ..record import op, primitive
from .matrices import diagonal


def turns(inner: Traced) -> Traced:
    """The imaginary parts of the diagonal: of V.mH @ gV how much a loss changes as the vectors turn
    in the complex plane.
    """
    return op.imag(diagonal(inner))


def _check_turns(x: Any, turn: Any, message: str) -> Any:
    scale = max(1.0, float(numpy.abs(x).max(initial=0)))
    if turn.size and float(numpy.abs(turn).max()) > 1e-2 * scale:
        raise RuntimeError(message)
    return x


@primitive(
    HostMatrices(lambda environment, x, turn, message: [(x.dtype, tuple(x.shape), False)]),
    name="invariant_under_phases",
    vjp=lambda inputs, outputs, gradients, attributes: [gradients[0], None],
    jvp=lambda inputs, outputs, tangents, attributes: [tangents[0]],
    reference=_check_turns,
)
def invariant_under_phases(x, turn, message):
    """x itself; RuntimeError if ``turn`` is not nearly zero."""


def require_invariance(x: Traced, turn: Traced, name: str, what: str) -> Traced:
    """x itself; RuntimeError if a loss depends on the phases of vectors."""
    message = (
        f"{name}: {what} of complex matrices are defined up to multiplication by e^{{i phi}} only, "
        "and this loss varies with phi, so it has no gradient; use a loss that is the same for all "
        "phi, such as one of absolute values or projectors"
    )
    return invariant_under_phases.apply(x, op.detach(turn), message=message)
