"""Kernels in plans: order and collapse of loops, the vector loop, threads, split reductions."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest
from plan_support import (
    Spec,
    add_kernel,
    f32,
    f64,
    i64,
    pointwise_plan,
    random_array,
    run,
    strided_tensor,
    tensor,
)
from python_kernels import PythonKernel, array_at, reduction

from rushlight import _core

pytestmark = pytest.mark.usefixtures("one_thread")

# ---------------------------------------------------------------- loops


def test_contiguous_dims_collapse_to_one_loop():
    kernel = add_kernel(3)
    a, b = (np.random.rand(2, 3, 4).astype(np.float32) for _ in range(2))
    result = run(pointwise_plan(kernel, [a.shape] * 2, a.shape), tensor(a), tensor(b))
    np.testing.assert_array_equal(_core.to_numpy(result), a + b)
    assert [(x.sizes, x.vector, x.classes) for x in kernel.launches] == [((1, 24), "P", "CCC")]


def test_broadcast_operands():
    kernel = add_kernel(2, 3)
    a, row, column = np.random.rand(5, 3), np.random.rand(3), np.random.rand(5, 1)
    a, row, column = (x.astype(np.float32) for x in (a, row, column))
    plan = pointwise_plan(kernel, [(5, 3), (3,), (5, 1)], (5, 3))
    result = run(plan, tensor(a), tensor(row), tensor(column))
    np.testing.assert_allclose(_core.to_numpy(result), a + row + column, rtol=1e-6)
    assert [(x.sizes, x.classes) for x in kernel.launches] == [((5, 3), "CCBC")]


def test_single_elements_share_the_contiguous_variant():
    kernel = add_kernel(0)
    result = run(pointwise_plan(kernel, [(), ()], ()), tensor(np.float32(2)), tensor(np.float32(3)))
    assert result.item() == 5
    assert kernel.compiled == [("P", "CCC", 0, "")]


@pytest.mark.parametrize("seed", range(30))
def test_random_layouts(seed):
    """Permuted, sliced, expanded and flipped operands, up to five dims, against NumPy."""
    rng = random.Random(seed)
    dims = rng.randint(0, 5)
    shape = tuple(rng.choice([1, 2, 3, 4]) for _ in range(dims))
    kernel = add_kernel(dims)
    arrays = [random_array(rng, shape) for _ in range(2)]
    plan = pointwise_plan(
        kernel, [a.shape for a in arrays], shape, rng.choice(["contiguous", "like"])
    )
    result = run(plan, *(strided_tensor(a) for a in arrays))
    np.testing.assert_array_equal(
        _core.to_numpy(result), np.broadcast_to(arrays[0] + arrays[1], shape)
    )


def test_outer_loops_run_in_the_core():
    kernel = add_kernel(4, 1)
    base = np.random.rand(3, 2, 5, 4).astype(np.float32)
    spec = Spec(1)
    view = spec.view(0, ("permute", (1, 3, 0, 2)))
    out = spec.view(spec.buffer(f32, (2, 4, 3, 5)))
    spec.kernel(kernel, (2, 4, 3, 5), 4, [(view, (0, 1, 2, 3)), (out, (0, 1, 2, 3))])
    result = run(spec.plan(), tensor(base))
    np.testing.assert_array_equal(_core.to_numpy(result), base.transpose(1, 3, 0, 2))
    assert len(kernel.launches) == 8
    assert kernel.launches[0].sizes == (3, 5)


def sum_plan(kernel, shape, axes, dtype=f32, chain=()):
    """The sum of the input's (permuted) dims ``axes``."""
    kept = [d for d in range(len(shape)) if d not in axes]
    spec = Spec(1)
    view = spec.view(0, *chain)
    out = spec.view(spec.buffer(dtype, [shape[d] for d in kept]))
    order = kept + list(axes)
    write = tuple(range(len(kept))) + (-1,) * len(axes)
    spec.kernel(kernel, [shape[d] for d in order], len(kept), [(view, tuple(order)), (out, write)])
    return spec.plan()


@pytest.mark.parametrize("axes", [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
def test_reductions(axes):
    x = np.random.rand(3, 4, 20).astype(np.float32)
    kernel = reduction(lambda a, over: a.sum(over), [np.float32] * 2, 3 - len(axes), len(axes))
    result = run(sum_plan(kernel, x.shape, axes), tensor(x))
    np.testing.assert_allclose(_core.to_numpy(result), x.sum(axes), rtol=1e-6)


@pytest.mark.parametrize(
    ("axes", "vector", "classes", "sizes"),
    [
        ((2,), "R", "CB", (1, 12, 20)),
        ((0,), "P", "CC", (1, 80, 3)),
        ((1,), "P", "CC", (3, 20, 4)),
        ((0, 1), "P", "CC", (1, 20, 12)),
        ((0, 1, 2), "R", "CB", (1, 1, 240)),
    ],
)
def test_vector_loop_of_reductions(axes, vector, classes, sizes):
    kernel = reduction(lambda a, over: a.sum(over), [np.float32] * 2, 3 - len(axes), len(axes))
    run(sum_plan(kernel, (3, 4, 20), axes), tensor(np.ones((3, 4, 20), np.float32)))
    (launch,) = kernel.launches
    assert (launch.vector, launch.classes, launch.sizes) == (vector, classes, sizes)


def test_reduced_dims_follow_memory_unless_ordered():
    x = np.random.rand(4, 5, 6).astype(np.float32)
    kernel = reduction(lambda a, over: a.sum(over), [np.float32] * 2, 0, 3)
    result = run(sum_plan(kernel, (6, 4, 5), (0, 1, 2), chain=[("permute", (2, 0, 1))]), tensor(x))
    assert kernel.launches[0].sizes == (1, 1, 120)
    assert result.item() == pytest.approx(x.sum())


def test_empty_reductions_store_the_identity_and_empty_results_nothing():
    kernel = reduction(lambda a, over: a.sum(over), [np.float32] * 2, 1, 1)
    x = tensor(np.ones((3, 0), np.float32))
    assert run(sum_plan(kernel, (3, 0), (1,)), x).tolist() == [0, 0, 0]
    assert kernel.launches[-1].sizes[2] == 0
    count = len(kernel.launches)
    assert run(sum_plan(kernel, (3, 0), (0,)), x).tolist() == []
    assert len(kernel.launches) == count


def test_scans_keep_their_order():
    def run_scan(launch):
        source, output = launch.arrays
        output[...] = source.cumsum(2)

    kernel = PythonKernel(
        run_scan, [("read", "PR", np.float32), ("write", "PR", np.float32)], 1, 1, ordered=True
    )
    x = np.random.rand(4, 5).astype(np.float32)
    spec = Spec(1)
    views = [spec.view(0), spec.view(spec.buffer(f32, (4, 5)))]
    spec.kernel(kernel, (4, 5), 1, [(view, (0, 1)) for view in views])
    np.testing.assert_allclose(_core.to_numpy(run(spec.plan(), tensor(x))), x.cumsum(1), rtol=1e-6)
    assert (kernel.launches[0].vector, kernel.launches[0].sizes) == ("R", (1, 4, 5))


def test_coordinates():
    def write_index(launch):
        launch.arrays[1][...] = launch.arrays[0]

    kernel = PythonKernel(write_index, [("coordinate", "P", np.int64), ("write", "P", np.int64)], 2)
    spec = Spec(0)
    out = spec.view(spec.buffer(i64, (3, 4)))
    spec.kernel(kernel, (3, 4), 2, [("coordinate", 0), (out, (0, 1))])
    assert run(spec.plan()).tolist() == [[0] * 4, [1] * 4, [2] * 4]


def test_scratch_is_per_reduced_element():
    def write_scratch(launch):
        array_at(launch.scratch, (6,), np.float64)[...] = 1
        launch.arrays[1][...] = 2

    kernel = PythonKernel(
        write_scratch, [("read", "PR", np.float32), ("write", "P", np.float32)], 1, 1, scratch=8
    )
    assert run(sum_plan(kernel, (2, 6), (1,)), tensor(np.ones((2, 6), np.float32))).tolist() == [
        2,
        2,
    ]


def test_scalars_and_ints():
    def check(launch):
        number, flag, real, imaginary = launch.scalars
        assert struct.unpack("d", struct.pack("q", number)) == (0.5,)
        assert flag == 1
        assert struct.unpack("2d", struct.pack("2q", real, imaginary)) == (1.0, 2.0)
        assert launch.ints == [7, 12]
        launch.arrays[1][...] = 1

    kernel = PythonKernel(
        check, [("read", "P", np.float32), ("write", "P", np.float32)], 1, scalars=4, ints=2
    )
    spec = Spec(1)
    whole = spec.view(0)
    view = spec.view(
        0, ("slice", 1, spec.slot(0), spec.slot(1), spec.slot(1)), ("reshape", spec.slots([2]))
    )
    out = spec.view(spec.buffer(f32, (2,)))
    ints = [spec.slot(7), ("stride", whole, 0)]
    spec.kernel(kernel, (2,), 1, [(view, (0,)), (out, (0,))], [3, 0, 1, 2], ints)
    run(spec.plan(), tensor(np.ones((2, 3), np.float32)), True, 1 + 2j, 0.5)
    assert len(kernel.launches) == 1


# ---------------------------------------------------------------- threads


def test_large_kernels_are_split_over_threads():
    _core.set_num_threads(2)
    kernel = add_kernel(2, 1)
    x = np.random.rand(300, 1000).astype(np.float32)
    spec = Spec(1)
    view = spec.view(0, ("permute", (1, 0)))
    out = spec.view(spec.buffer(f32, (1000, 300)))
    spec.kernel(kernel, (1000, 300), 2, [(view, (0, 1)), (out, (0, 1))])
    result = run(spec.plan(), tensor(x))
    np.testing.assert_array_equal(_core.to_numpy(result), x.T)
    assert len(kernel.launches) > 1
    assert sum(launch.sizes[0] * launch.sizes[1] for launch in kernel.launches) == x.size


def test_one_long_row_is_cut_at_multiples_of_a_vector():
    _core.set_num_threads(2)
    kernel = add_kernel(1, 1)
    x = np.random.rand(200_001).astype(np.float32)
    result = run(pointwise_plan(kernel, [x.shape], x.shape), tensor(x))
    np.testing.assert_array_equal(_core.to_numpy(result), x)
    begins = [(launch.pointers[1] - result.data_ptr()) // 4 for launch in kernel.launches]
    assert len(begins) > 1 and all(begin % 64 == 0 for begin in begins)


def split_sum(points, vector):
    """A splittable float64 sum over a long dim with few points; slots as in compiled code."""

    def run_sum(launch):
        source, output = launch.arrays
        if launch.split == "finish":
            parts = launch.sizes[2]
            slots = array_at(launch.scratch, (points, parts, 8), np.float64)
            output[...] = slots[:, :, 0].sum(1).reshape(output.shape)
        else:
            output[...] = source.sum(axis=2)

    kernel = PythonKernel(
        run_sum,
        [("read", "PR", np.float64), ("write", "P", np.float64)],
        1,
        1,
        splittable=True,
        accumulators=1,
    )
    shape = (points, 200_000) if vector == "R" else (200_000, points)
    x = np.random.rand(*shape)
    axis = 1 if vector == "R" else 0
    return kernel, x, axis


@pytest.mark.parametrize(("points", "vector"), [(1, "R"), (3, "R"), (3, "P")])
def test_long_reductions_are_split_into_parts(points, vector):
    _core.set_num_threads(2)
    kernel, x, axis = split_sum(points, vector)
    result = run(sum_plan(kernel, x.shape, (axis,), f64), tensor(x))
    np.testing.assert_allclose(_core.to_numpy(result), x.sum(axis), rtol=1e-12)
    assert {launch.split for launch in kernel.launches} == {"partial", "finish"}
    assert (
        "R" if points == 1 else vector,
        "CS" if vector == "P" else "CB",
        1,
        "partial",
    ) in kernel.compiled
