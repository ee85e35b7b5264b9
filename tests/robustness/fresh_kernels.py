"""Operators that nobody has compiled before."""

from __future__ import annotations

from typing import Any

from rushlight import plan
from rushlight.ops.record import Composite, op


def fresh_operator(number: int) -> Any:
    """An operator whose kernel differs from those of all other numbers below 2**12."""

    def body(x: Any) -> Any:
        for bit in range(12):
            x = op.sub(op.mul(x, x), 1) if number >> bit & 1 else op.add(x, 1)
        return op.sigmoid(x)

    return plan.make_operator(Composite(body, name=f"fresh{number}"))
