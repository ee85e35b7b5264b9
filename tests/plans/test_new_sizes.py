"""New sizes cost no compilation and no planning once their structures are known."""

from __future__ import annotations

import numpy
import pytest

import rushlight
from rushlight import plan
from rushlight.codegen import compile as code


@pytest.fixture
def work(monkeypatch):
    """Counts of kernels compiled and plans built."""
    counts = {"kernels": 0, "plans": 0}
    compile_kernel, build_plan = code.compile, plan.build

    def counting_compile(*args, **kwargs):
        counts["kernels"] += 1
        return compile_kernel(*args, **kwargs)

    def counting_build(*args, **kwargs):
        counts["plans"] += 1
        return build_plan(*args, **kwargs)

    monkeypatch.setattr(code, "compile", counting_compile)
    monkeypatch.setattr(plan, "build", counting_build)
    return counts


def expression(a, b):
    return ((a * 1.25 + b).tanh() - b).sum(1)


def test_thousand_new_sizes(work):
    random = numpy.random.default_rng(0)
    drawn = {(int(m), int(n)) for m, n in random.integers(2, 120, (2000, 2)) if m != n}
    shapes = sorted(drawn, key=lambda shape: (shape[0] * 31 + shape[1] * 17) % 101)[:1050]
    data = rushlight.from_numpy(random.standard_normal(1 << 14).astype("float32"))
    for count, (m, n) in enumerate(shapes):
        if count == 50:
            seen = dict(work)
        x = data[: m * n].view(m, n)
        result = expression(x, x[0])
        array = x.numpy()
        expected = (numpy.tanh(array * numpy.float32(1.25) + array[0]) - array[0]).sum(1)
        numpy.testing.assert_allclose(result.numpy(), expected, rtol=1e-4, atol=1e-4)
    assert len(shapes) == 1050 and work == seen


def test_running_indices_share_a_plan(work):
    x = rushlight.arange(4096.0).reshape(512, 8)
    for i in range(2, 400):
        if i == 10:
            seen = dict(work)
        assert (x[i] + x[i : i + 4].sum(0)).tolist()[0] == x[i, 0].item() + sum(
            x[i + k, 0].item() for k in range(4)
        )
    assert work == seen


def test_operand_numbers_share_a_plan(work):
    x = rushlight.ones(3)
    (x * 0.5).tolist()
    seen = dict(work)
    for k in range(100):
        assert (x * (k / 7)).tolist() == pytest.approx([k / 7] * 3, rel=1e-6)
    assert work == seen
