"""Steps that add products up on overlapping windows: values, threads, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from plan_support import Spec, f32, run, tensor

from rushlight import _core, dtypes

pytestmark = pytest.mark.usefixtures("one_thread")


def spread_plan(a, b, sizes, step, spacing, dtype=f32, order=None):
    """whole[g, i, n, position * step + tap * spacing] += a[g, i, tap, :] @ b[g, :, n, position]."""
    (groups, channels, taps, _), (_, _, images, length) = a, b
    spec = Spec(2)
    layout = "contiguous" if order is None else ("order", order)
    whole = spec.buffer(dtype, (groups, channels, images, sizes), layout)
    window = ("window", 3, *spec.slots((length, step, taps, spacing)))
    windows = spec.view(whole, window, ("permute", (0, 1, 4, 2, 3)))
    step = ("spread", spec.view(0), spec.view(1), spec.view(whole), windows)
    spec.fields["steps"].append(step)
    return spec.plan()


def expected(a, b, size, step, spacing):
    result = np.zeros((*a.shape[:2], b.shape[2], size), np.result_type(a, b))
    for tap in range(a.shape[2]):
        for place in range(b.shape[3]):
            products = np.einsum("gio,gon->gin", a[:, :, tap], b[..., place])
            result[..., place * step + tap * spacing] += products
    return result


CASES = [  # groups, channels, taps, inner, images, positions, step, spacing, room behind
    (1, 3, 3, 4, 2, 6, 1, 1, 0),
    (2, 3, 4, 5, 3, 6, 2, 1, 1),
    (1, 2, 2, 3, 2, 5, 3, 1, 2),  # gaps between windows
    (1, 2, 3, 3, 2, 5, 2, 3, 0),
    (1, 700, 2, 3, 9, 1, 1, 1, 0),  # several parts of channels
    (1, 2, 3, 1500, 2, 40, 1, 1, 0),  # several parts of the inner dim
    (1, 4, 3, 8, 2, 3000, 1, 1, 0),  # several pieces of positions
    (2, 4, 1, 3, 5, 7, 1, 1, 0),  # nothing overlaps
    (1, 4, 1, 3, 5, 7, 1, 1, 4),
    (1, 1, 1, 1, 1, 1, 1, 1, 0),
    (1, 2, 3, 4, 0, 6, 1, 1, 0),
    (1, 2, 3, 0, 2, 6, 1, 1, 0),
]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("layouts", ["plain", "turned", "gaps"])
def test_sums_on_windows(dtype, case, layouts):
    groups, channels, taps, inner, images, length, step, spacing, room = case
    rng = np.random.default_rng(1)

    def factor(*shape):
        x = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
        x = (x if dtype.startswith("complex") else x.real).astype(dtype)
        if layouts == "turned":
            return np.ascontiguousarray(x.T).T
        if layouts == "gaps":
            return np.repeat(x, 2, axis=1)[:, ::2]
        return x

    a, b = factor(groups, channels, taps, inner), factor(groups, inner, images, length)
    size = (length - 1) * step + (taps - 1) * spacing + 1 + room
    plan = spread_plan(a.shape, b.shape, size, step, spacing, getattr(dtypes, dtype))
    want = expected(a, b, size, step, spacing)
    tolerance = 1e-3 if dtype in ("float32", "complex64") else 1e-10
    for threads in (1, 2):
        _core.set_num_threads(threads)
        result = _core.to_numpy(run(plan, tensor(a), tensor(b)))
        np.testing.assert_allclose(result, want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("order", [(3, 2, 1, 0), (2, 0, 3, 1)])
def test_results_of_any_layout(order):
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((2, 3, 4, 5)), rng.standard_normal((2, 5, 6, 7))
    plan = spread_plan(a.shape, b.shape, 16, 2, 1, dtypes.float64, order)
    result = _core.to_numpy(run(plan, tensor(a), tensor(b)))
    np.testing.assert_allclose(result, expected(a, b, 16, 2, 1), rtol=1e-10)


@pytest.mark.parametrize(("a", "b"), [((1, 2, 3, 4), (1, 5, 2, 6)), ((2, 2, 3, 4), (1, 4, 2, 6))])
def test_factors_that_do_not_fit(a, b):
    plan = spread_plan(a, b, 8, 1, 1)
    with pytest.raises(RuntimeError, match="cannot be spread"):
        run(plan, tensor(np.zeros(a, np.float32)), tensor(np.zeros(b, np.float32)))


def test_other_dtypes_are_refused():
    plan = spread_plan((1, 2, 3, 4), (1, 4, 2, 6), 8, 1, 1, dtypes.int32)
    with pytest.raises(RuntimeError, match="dtypes"):
        run(
            plan, tensor(np.zeros((1, 2, 3, 4), np.int32)), tensor(np.zeros((1, 4, 2, 6), np.int32))
        )
