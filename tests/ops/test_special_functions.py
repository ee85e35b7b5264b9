"""Special functions at the ends of their domains, and where their series change."""

from __future__ import annotations

import pytest

import rushlight

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("name", ("igamma", "igammac"))
def test_incomplete_gamma_at_its_limits(name):
    numbers = (float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.0, -1.0)
    for dtype in ("float32", "float64"):
        found, expected = (
            getattr(m, name)(x[:, None], x)
            for m in (rushlight, torch)
            for x in [m.tensor(numbers, dtype=getattr(m, dtype))]
        )
        assert torch.allclose(torch.tensor(found.tolist()), expected.float(), equal_nan=True)


def test_incomplete_gamma_of_large_arguments():
    """Temme's expansion; the exact numbers are of mpmath."""
    a = rushlight.tensor([39.619749680810486, 62.238340671809546], dtype=rushlight.float64)
    x = rushlight.tensor([28.10420858189629, 44.29319032213034], dtype=rushlight.float64)
    exact = [0.02328399638236265748, 0.006277523753070747332]
    assert rushlight.igamma(a, x).tolist() == pytest.approx(exact, rel=1e-14)


def test_gradients_that_are_no_numbers_reach_chosen_operands_only():
    for name in ("maximum", "minimum"):
        for dtype in ("float16", "float64"):
            found, expected = (
                [x.grad.tolist(), y.grad.tolist()]
                for m in (rushlight, torch)
                for x in [m.tensor([1.0, 2.0, 3.0], dtype=getattr(m, dtype)).requires_grad_()]
                for y in [m.tensor([2.0, 2.0, 1.0], dtype=getattr(m, dtype)).requires_grad_()]
                for g in [m.tensor([float("nan"), 1.0, float("inf")], dtype=getattr(m, dtype))]
                if getattr(m, name)(x, y).backward(g) is None
            )
            assert repr(found) == repr(expected)
