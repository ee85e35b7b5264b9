"""Steps of plans: errors, products, random numbers, host functions, copies, temporaries."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from plan_support import Spec, add_kernel, f32, i64, operator, run, tensor, valid_spec
from python_kernels import PythonKernel

from rushlight import _core, dtypes

pytestmark = pytest.mark.usefixtures("one_thread")

# ---------------------------------------------------------------- status and errors


@pytest.mark.parametrize(
    ("status", "errors", "expected", "message"),
    [
        (1, None, IndexError, "index out of range in self"),
        (2, None, RuntimeError, "ZeroDivisionError"),
        (3, {2: (ValueError, "mine")}, ValueError, "mine"),
        (1, {1: (KeyError, lambda: "made")}, KeyError, "made"),
        (4, None, RuntimeError, "status 4"),
    ],
)
def test_status(status, errors, expected, message):
    kernel = PythonKernel(
        lambda launch: status, [("read", "P", np.float32), ("write", "P", np.float32)], 1
    )
    spec = valid_spec()
    step = list(spec["steps"][0])
    step[1] = kernel.core
    plan = _core.Plan(**spec | {"steps": [tuple(step)], "errors": errors})
    with pytest.raises(expected, match=message):
        run(plan, tensor(np.ones(3, np.float32)))


def test_errors_while_compiling_are_raised_and_forgotten():
    attempts = []

    def compile_badly(*variant):
        attempts.append(variant)
        raise KeyError("no compiler")

    kernel = _core.Kernel("nest", compile_badly, (("read", "P", 4), ("write", "P", 4)), 1, 0)
    spec = valid_spec()
    step = list(spec["steps"][0])
    step[1] = kernel
    op = operator(_core.Plan(**spec | {"steps": [tuple(step)]}))
    for _ in range(2):
        with pytest.raises(KeyError, match="no compiler"):
            op(tensor(np.ones(3, np.float32)))
    assert len(attempts) == 2


@pytest.mark.parametrize(
    "compiled", [None, (b"", 0), (b"\xc3", 1), (b"\xc3", -1), (b"\xc3",), ("text", 0)]
)
def test_bad_code(compiled):
    kernel = _core.Kernel("nest", lambda *_: compiled, (("read", "P", 4), ("write", "P", 4)), 1, 0)
    spec = valid_spec()
    step = list(spec["steps"][0])
    step[1] = kernel
    with pytest.raises((TypeError, ValueError)):
        run(_core.Plan(**spec | {"steps": [tuple(step)]}), tensor(np.ones(3, np.float32)))


# ---------------------------------------------------------------- other steps


def gemm_plan(a_chain, b_chain, sizes, layout="contiguous", dtype=f32, out_chain=()):
    spec = Spec(2)
    views = [spec.view(0, *a_chain(spec)), spec.view(1, *b_chain(spec))]
    out = spec.view(spec.buffer(dtype, sizes, layout), *out_chain)
    spec.fields["steps"].append(("gemm", *views, out))
    return spec.plan()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("layouts", list(itertools.product("ntsb", repeat=2)))
def test_gemm(dtype, layouts):
    """n: row-major, t: transposed, s: no unit stride, b: one matrix for all."""
    rng = np.random.default_rng(0)

    def factor(kind, rows, columns):
        shape = {
            "n": (3, rows, columns),
            "t": (3, columns, rows),
            "s": (3, rows, 2 * columns),
            "b": (rows, columns),
        }
        x = rng.standard_normal(shape[kind])
        x = (
            x + 1j * rng.standard_normal(shape[kind]) if np.dtype(dtype).kind == "c" else x
        ).astype(dtype)
        if kind == "t":
            return x, lambda spec: [("permute", (0, 2, 1))], x.transpose(0, 2, 1)
        if kind == "s":
            by_two = lambda spec: [("slice", 2, spec.slot(0), spec.slot(2), spec.slot(columns))]  # noqa: E731
            return x, by_two, x[:, :, ::2]
        if kind == "b":
            spread = lambda spec: [("expand", spec.slots((3, rows, columns)))]  # noqa: E731
            return x, spread, np.broadcast_to(x, (3, rows, columns))
        return x, lambda spec: [], x

    a, a_chain, a_value = factor(layouts[0], 4, 5)
    b, b_chain, b_value = factor(layouts[1], 5, 6)
    plan = gemm_plan(a_chain, b_chain, (3, 4, 6), dtype=getattr(dtypes, np.dtype(dtype).name))
    result = run(plan, tensor(a), tensor(b))
    np.testing.assert_allclose(_core.to_numpy(result), a_value @ b_value, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "sizes", [(0, 3, 4), (3, 0, 4), (3, 4, 0), (1, 1, 1), (1, 4, 1), (5, 1, 7), (1, 1, 9)]
)
@pytest.mark.parametrize("layout", ["contiguous", ("order", (1, 0))])
def test_gemm_of_odd_sizes(sizes, layout):
    m, k, n = sizes
    a, b = np.random.rand(m, k).astype(np.float32), np.random.rand(k, n).astype(np.float32)
    result = run(gemm_plan(lambda s: [], lambda s: [], (m, n), layout), tensor(a), tensor(b))
    np.testing.assert_allclose(_core.to_numpy(result), a @ b, rtol=1e-5)


def test_gemm_into_a_result_without_unit_stride():
    a, b = np.random.rand(3, 4).astype(np.float32), np.random.rand(4, 5).astype(np.float32)
    spec = Spec(2)
    buffer = spec.buffer(f32, (3, 10))
    every_other = ("slice", 1, spec.slot(0), spec.slot(2), spec.slot(5))
    spec.fields["steps"].append(
        ("gemm", spec.view(0), spec.view(1), spec.view(buffer, every_other))
    )
    result = _core.to_numpy(run(spec.plan(), tensor(a), tensor(b)))
    np.testing.assert_allclose(result[:, ::2], a @ b, rtol=1e-5)


def test_large_gemm_on_threads():
    _core.set_num_threads(2)
    for m, n in [(200, 90), (90, 200)]:
        a, b = np.random.rand(m, 64).astype(np.float32), np.random.rand(64, n).astype(np.float32)
        result = run(gemm_plan(lambda s: [], lambda s: [], (m, n)), tensor(a), tensor(b))
        np.testing.assert_allclose(_core.to_numpy(result), a @ b, rtol=1e-5)


def test_gemm_checks_its_factors():
    a = tensor(np.ones((3, 4), np.float32))
    with pytest.raises(RuntimeError, match="no product of sizes"):
        run(gemm_plan(lambda s: [], lambda s: [], (3, 4)), a, a)
    with pytest.raises(RuntimeError, match="one dtype"):
        square = tensor(np.ones((3, 3), np.int64))
        run(gemm_plan(lambda s: [], lambda s: [], (3, 3), dtype=i64), square, square)


def test_random_step_takes_the_generators_next_outputs():
    spec = Spec(0)
    generator = _core.Generator()
    generator.set_state(_core.Generator().get_state())
    buffer = spec.buffer(dtypes.uint32, (5,))
    spec.fields["steps"].append(("random", buffer, 32, generator))
    expected = np.empty(5, np.uint32)
    _core.Generator().fill(expected)
    np.testing.assert_array_equal(_core.to_numpy(run(spec.plan())), expected)


def host_plan(function, reshape=False):
    spec = Spec(1)
    out = spec.view(spec.buffer(f32, (6,)))
    chain = (
        [("permute", (1, 0)), ("reshape", spec.slots([6]))]
        if reshape
        else [("reshape", spec.slots([6]))]
    )
    spec.fields["steps"].append(("host", function, [out, spec.view(0, *chain)]))
    return spec.plan()


@pytest.mark.parametrize("reshape", [False, True])
def test_host_steps_see_the_memory(reshape):
    kept = []

    def double(out, x):
        kept.append(x)
        _core.to_numpy(out)[...] = 2 * _core.to_numpy(x)

    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    expected = (x.T if reshape else x).reshape(6)
    result = run(host_plan(double, reshape), tensor(x))
    np.testing.assert_array_equal(_core.to_numpy(result), 2 * expected)
    np.testing.assert_array_equal(_core.to_numpy(kept[0]), expected)  # still alive


def test_errors_in_host_steps():
    def fail(out, x):
        raise LookupError("host")

    with pytest.raises(LookupError, match="host"):
        run(host_plan(fail), tensor(np.ones((2, 3), np.float32)))


def test_host_step_may_replace_an_inputs_memory():
    x = tensor(np.ones((2, 3), np.float32))

    def replace(out, alias):
        _core.set_data(x, tensor(np.zeros((1000, 100), np.float32)))
        _core.to_numpy(out)[...] = _core.to_numpy(alias)

    assert run(host_plan(replace), x).tolist() == [1] * 6


def test_copy_step():
    x = np.random.rand(3, 4).astype(np.float32)
    spec = Spec(1)
    out = spec.view(spec.buffer(f32, (3, 4)))
    spec.fields["steps"].append(("copy", spec.view(0, ("flip", (0, 1))), out))
    np.testing.assert_array_equal(_core.to_numpy(run(spec.plan(), tensor(x))), x[::-1, ::-1])


def test_reshape_that_is_no_view_reads_from_a_copy():
    kernel = add_kernel(1, 1)
    x = np.random.rand(3, 4).astype(np.float32)
    spec = Spec(1)
    view = spec.view(0, ("permute", (1, 0)), ("reshape", spec.slots([12])), ("flip", (0,)))
    out = spec.view(spec.buffer(f32, (12,)))
    spec.kernel(kernel, (12,), 1, [(view, (0,)), (out, (0,))])
    np.testing.assert_array_equal(
        _core.to_numpy(run(spec.plan(), tensor(x))), x.T.reshape(12)[::-1]
    )


def test_writing_through_such_a_reshape_is_an_error():
    spec = Spec(1)
    target = spec.view(spec.buffer(f32, (3, 4)), ("permute", (1, 0)), ("reshape", spec.slots([12])))
    spec.fields["steps"].append(("copy", spec.view(0), target))
    with pytest.raises(RuntimeError, match="cannot be written through a reshape"):
        run(spec.plan(), tensor(np.ones(12, np.float32)))


def test_temporaries_share_memory_when_their_steps_do_not_overlap():
    addresses = []

    def increment(launch):
        addresses.append(launch.pointers)
        launch.arrays[1][...] = launch.arrays[0] + 1

    kernel = PythonKernel(increment, [("read", "P", np.float32), ("write", "P", np.float32)], 1)
    spec = Spec(1)
    buffers = (
        [0] + [spec.buffer(f32, (8,), output=False) for _ in range(4)] + [spec.buffer(f32, (8,))]
    )
    views = [spec.view(buffer) for buffer in buffers]
    for source, target in itertools.pairwise(views):
        spec.kernel(kernel, (8,), 1, [(source, (0,)), (target, (0,))])
    assert run(spec.plan(), tensor(np.zeros(8, np.float32))).tolist() == [5] * 8
    written = [pointers[1] for pointers in addresses[:4]]
    assert written[0] == written[2] and written[1] == written[3] and written[0] != written[1]
