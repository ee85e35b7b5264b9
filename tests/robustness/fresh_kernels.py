"""Operators that nobody has compiled before."""

from __future__ import annotations

from typing import Any

from rushlight import operators
from rushlight.ops.record import Composite, op

KINDS = 1 << 16


def fresh_operator(number: int) -> Any:
    """An operator whose kernel differs from those of all other numbers below KINDS."""

    def body(x: Any) -> Any:
        for bit in range(16):
            x = op.sub(1, x) if number >> bit & 1 else op.mul(x, 0.5)
        return op.sigmoid(x)

    return operators.record_operator(Composite(body, name=f"fresh{number}"))
