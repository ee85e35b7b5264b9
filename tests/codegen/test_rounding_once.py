"""What is bfloat16 already is stored as it is: loads and conversions are not rounded again."""

from __future__ import annotations

import rushlight


def instructions(text: str, name: str) -> int:
    return sum(f" {name} " in line for line in text.splitlines())


def test_a_conversion_rounds_once() -> None:
    x = rushlight.ones(1000)
    text = rushlight.explain(lambda: x.to(rushlight.bfloat16), stages="llvm")
    assert instructions(text, "fcmp uno") == 1  # the test for NaN is part of the rounding


def test_copies_keep_all_bits() -> None:
    """Signalling NaNs included."""
    bits = rushlight.arange(-(1 << 15), 1 << 15, dtype=rushlight.int16)
    x = bits.view(rushlight.bfloat16)
    for copy in (x.clone(), x.view(256, 256).t().contiguous().t().reshape(-1), x.flip(0).flip(0)):
        assert rushlight.equal(copy.view(rushlight.int16), bits)
    text = rushlight.explain(lambda: x.flip(0), stages="llvm")
    assert instructions(text, "fcmp uno") == 0
