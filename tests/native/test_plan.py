"""Plans: checking of specifications, output layouts, loops of kernels, steps, temporaries, errors, the tape."""

from __future__ import annotations

import itertools
import random
import struct

import numpy as np
import pytest
from python_kernels import PythonKernel, array_at, elementwise, reduction

from rushlight import _core, dtypes

f32, f64, i64 = dtypes.float32, dtypes.float64, dtypes.int64


@pytest.fixture(autouse=True)
def one_thread():
    threads = _core.get_num_threads()
    _core.set_num_threads(1)
    yield
    _core.set_num_threads(threads)


def tensor(array):
    return _core.from_numpy(np.asarray(array))


def operator(plan, parameters=(("args", "T*"),)):
    """An operator that always gets the same plan."""
    planner = plan if callable(plan) else lambda *_: plan
    return _core.Operator("tested", parameters, planner, None)


def run(plan, *args, **options):
    return operator(plan, **options)(*args)


class Spec:
    """Builds a specification with slots for literal sizes."""

    def __init__(self, inputs):
        self.fields = {"inputs": inputs, "constants": [], "buffers": [], "views": [], "steps": [], "outputs": []}

    def slot(self, value):
        self.fields["constants"].append(value)
        return len(self.fields["constants"]) - 1

    def slots(self, values):
        return [self.slot(value) for value in values]

    def view(self, buffer, *chain):
        self.fields["views"].append((buffer, chain))
        return len(self.fields["views"]) - 1

    def buffer(self, dtype, sizes, layout="contiguous", output=True):
        self.fields["buffers"].append((dtype, layout, self.slots(sizes)))
        index = self.fields["inputs"] + len(self.fields["buffers"]) - 1
        if output:
            self.fields["outputs"].append(("buffer", index))
        return index

    def kernel(self, kernel, domain, parallel, operands, scalars=(), ints=()):
        core = getattr(kernel, "core", kernel)
        self.fields["steps"].append(("kernel", core, self.slots(domain), parallel, operands, scalars, ints))

    def plan(self, **more):
        return _core.Plan(**self.fields | more)


def pointwise_plan(kernel, shapes, output, layout="contiguous", dtype=f32, **more):
    """Inputs broadcast to ``output`` by expanding views."""
    spec = Spec(len(shapes))
    identity = tuple(range(len(output)))
    views = [spec.view(i, ("expand", spec.slots(output))) for i in range(len(shapes))]
    layout = ("like", views) if layout == "like" else layout
    out = spec.view(spec.buffer(dtype, output, layout))
    spec.kernel(kernel, output, len(output), [(view, identity) for view in (*views, out)], **more)
    return spec.plan()


def add_kernel(dims, count=2):
    return elementwise(lambda *xs: sum(xs), [np.float32] * (count + 1), dims)


# ---------------------------------------------------------------- specifications


def valid_spec():
    spec = Spec(1)
    view = spec.view(0)
    out = spec.view(spec.buffer(f32, (3,)))
    spec.kernel(add_kernel(1, 1), (3,), 1, [(view, (0,)), (out, (0,))])
    return spec.fields


def test_valid_spec_runs():
    result = run(_core.Plan(**valid_spec()), tensor(np.ones(3, np.float32)))
    assert result.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "changes",
    [
        {"inputs": -1},
        {"constants": [1 << 70]},
        {"sources": [("size", 1, 0)]},
        {"sources": [("size", 0, 64)]},
        {"sources": [("volume", 0, 0)]},
        {"sources": [()]},
        {"program": [("add", 0, 99)]},
        {"program": [("pow", 0, 0)]},
        {"program": [("add", 0)]},
        {"guards": [("eq", -1, 0)]},
        {"scalar_guards": [("add", 0, 1)]},
        {"scalar_guards": [("eq", -1, 1)]},
        {"buffers": [(f32, "diagonal", [0])]},
        {"buffers": [(f32, ("order", (0, 0)), [0, 0])]},
        {"buffers": [(f32, ("like", (1,)), [0])]},
        {"buffers": [(f32, "contiguous", [77])]},
        {"views": [(5, ()), (1, ())]},
        {"views": [(0, (("permute", (1,)),)), (1, ())]},
        {"views": [(0, (("slice", 0, 0, 0),)), (1, ())]},
        {"views": [(0, (("fold", (0,)),)), (1, ())]},
        {"views": [(0, (("expand", (88,)),)), (1, ())]},
        {"steps": [()]},
        {"steps": [("jump", 1)]},
        {"steps": [("copy", 0, 9)]},
        {"steps": [("copy", 1, 0)]},
        {"steps": [("gemm", 0, 0)]},
        {"steps": [("random", 0, 32, None)]},
        {"steps": [("random", 1, 16, None)]},
        {"outputs": [("buffer", 0)]},
        {"outputs": [("input", 1)]},
        {"outputs": [("view", 2)]},
        {"outputs": [("hole", 0)]},
        {"outputs": [], "result": "single"},
        {"result": "set"},
        {"mutated": [1]},
        {"tape": (len, [("input", 4)], [], [], "Name")},
        {"tape": (len, [("nothing", 0)], [], [], "Name")},
        {"tape": (len, [], [1], [], "Name")},
        {"tape": (len, [], [], [1], "Name")},
        {"errors": {3: (IndexError, "two bits")}},
    ],
)
def test_bad_values(changes):
    with pytest.raises(ValueError, match="Plan"):
        _core.Plan(**valid_spec() | changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"inputs": None},
        {"unknown": 1},
        {"constants": [1.5]},
        {"constants": 3},
        {"buffers": [("float32", "contiguous", [0])]},
        {"steps": [("kernel", 1, [0], 1, [], [], [])]},
        {"steps": [("host", 1, [])]},
        {"result": 5},
        {"tape": (1, [], [], [], "Name")},
        {"errors": {1: (int, "text")}},
        {"errors": {1: (IndexError, 5)}},
    ],
)
def test_bad_types(changes):
    with pytest.raises(TypeError, match="Plan"):
        _core.Plan(**valid_spec() | changes)


def test_kernel_step_must_match_the_kernel():
    kernel = add_kernel(1, 1).core
    good = ("kernel", kernel, [0], 1, [(0, (0,)), (1, (0,))], (), ())
    for position, bad in [
        (2, [0, 0]), (3, 0), (4, [(0, (0,))]), (4, [(0, (0, 1)), (1, (0,))]), (4, [(0, (64,)), (1, (0,))]),
        (4, [("coordinate", 0), (1, (0,))]), (5, [0]), (6, [0]),
    ]:  # fmt: skip
        step = list(good)
        step[position] = bad
        with pytest.raises(ValueError):
            _core.Plan(**valid_spec() | {"steps": [tuple(step)]})


@pytest.mark.parametrize(
    "change",
    [
        {"constants": [4, 3]},  # the buffer's size differs from the domain's
        {"constants": [3, -3]},
        {"constants": [-3, 3]},
        {"constants": [1 << 62, 3]},
        {"sources": [("size", 0, 5)]},
        {"sources": [("int", 0)]},
        {"views": [(0, (("slice", 0, 0, 0, 0),)), (1, ())], "constants": [3, 3]},
        {"views": [(0, (("flip", (1,)),)), (1, ())]},
        {"views": [(0, (("permute", (0, 1)),)), (1, ())]},
        {"views": [(0, (("reshape", ()),)), (1, ())]},
        {"program": [("floordiv", 0, 2)], "constants": [3, 3, 0]},
        {"inputs": 2, "views": [(0, ()), (2, ())], "outputs": [("buffer", 2)]},
    ],
)
def test_bad_sizes_are_errors_of_the_call(change):
    plan = _core.Plan(**valid_spec() | change)
    with pytest.raises(RuntimeError):
        run(plan, tensor(np.ones(3, np.float32)))


def test_operand_of_another_item_size():
    with pytest.raises(RuntimeError, match="items of 8 bytes, not 4"):
        run(_core.Plan(**valid_spec()), tensor(np.ones(3, np.float64)))


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
    plan = pointwise_plan(kernel, [a.shape for a in arrays], shape, rng.choice(["contiguous", "like"]))
    result = run(plan, *(strided_tensor(a) for a in arrays))
    np.testing.assert_array_equal(_core.to_numpy(result), arrays[0] + arrays[1])


def random_array(rng, shape):
    """A float32 array of a shape that broadcasts to ``shape``, in a random layout."""
    shape = tuple(1 if rng.random() < 0.2 else n for n in shape)
    order = list(range(len(shape)))
    rng.shuffle(order)
    steps = [rng.choice([1, 1, 1, 2]) for _ in shape]
    base = np.asarray(np.random.random_sample([shape[d] * steps[d] for d in order]), np.float32)
    array = base.transpose(np.argsort(order)) if order else base
    array = array[tuple(slice(None, None, step) for step in steps)]
    if rng.random() < 0.2 and len(shape):
        array = np.broadcast_to(array[(slice(None),) * (len(shape) - 1) + (slice(0, 1),)], shape)
    return array


def strided_tensor(array):
    """A tensor with exactly this array's sizes, strides and elements."""
    strides = tuple(stride // array.itemsize for stride in array.strides)
    result = _core.empty_strided(array.shape, strides, f32.code, 0)
    array_at(result.data_ptr(), array.shape, np.float32, array.strides)[...] = array
    return result


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

    kernel = PythonKernel(run_scan, [("read", "PR", np.float32), ("write", "PR", np.float32)], 1, 1, ordered=True)
    x = np.random.rand(4, 5).astype(np.float32)
    spec = Spec(1)
    views = [spec.view(0), spec.view(spec.buffer(f32, (4, 5)))]
    spec.kernel(kernel, (4, 5), 1, [(view, (0, 1)) for view in views])
    np.testing.assert_allclose(_core.to_numpy(run(spec.plan(), tensor(x))), x.cumsum(1), rtol=1e-6)
    assert (kernel.launches[0].vector, kernel.launches[0].sizes) == ("P", (1, 4, 5))


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

    kernel = PythonKernel(write_scratch, [("read", "PR", np.float32), ("write", "P", np.float32)], 1, 1, scratch=8)
    assert run(sum_plan(kernel, (2, 6), (1,)), tensor(np.ones((2, 6), np.float32))).tolist() == [2, 2]


def test_scalars_and_ints():
    def check(launch):
        number, flag, real, imaginary = launch.scalars
        assert struct.unpack("d", struct.pack("q", number)) == (0.5,)
        assert flag == 1
        assert struct.unpack("2d", struct.pack("2q", real, imaginary)) == (1.0, 2.0)
        assert launch.ints == [7, 12]
        launch.arrays[1][...] = 1

    kernel = PythonKernel(check, [("read", "P", np.float32), ("write", "P", np.float32)], 1, scalars=4, ints=2)
    spec = Spec(1)
    whole = spec.view(0)
    view = spec.view(0, ("slice", 1, spec.slot(0), spec.slot(1), spec.slot(1)), ("reshape", spec.slots([2])))
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
    """A splittable float64 sum over a long dim with few points; checks the slots as compiled code would use them."""

    def run_sum(launch):
        source, output = launch.arrays
        if launch.split == "finish":
            parts = launch.sizes[2]
            slots = array_at(launch.scratch, (points, parts, 8), np.float64)
            output[...] = slots[:, :, 0].sum(1).reshape(output.shape)
        else:
            output[...] = source.sum(axis=2)

    kernel = PythonKernel(
        run_sum, [("read", "PR", np.float64), ("write", "P", np.float64)], 1, 1, splittable=True, accumulators=1
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
    assert ("R" if points == 1 else vector, "CS" if vector == "P" else "CB", 1, "partial") in kernel.compiled


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
    kernel = PythonKernel(lambda launch: status, [("read", "P", np.float32), ("write", "P", np.float32)], 1)
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


@pytest.mark.parametrize("compiled", [None, (b"", 0), (b"\xc3", 1), (b"\xc3", -1), (b"\xc3",), ("text", 0)])
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
        shape = {"n": (3, rows, columns), "t": (3, columns, rows), "s": (3, rows, 2 * columns), "b": (rows, columns)}
        x = rng.standard_normal(shape[kind])
        x = (x + 1j * rng.standard_normal(shape[kind]) if np.dtype(dtype).kind == "c" else x).astype(dtype)
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


@pytest.mark.parametrize("sizes", [(0, 3, 4), (3, 0, 4), (3, 4, 0), (1, 1, 1), (1, 4, 1), (5, 1, 7), (1, 1, 9)])
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
    spec.fields["steps"].append(("gemm", spec.view(0), spec.view(1), spec.view(buffer, every_other)))
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
    chain = [("permute", (1, 0)), ("reshape", spec.slots([6]))] if reshape else [("reshape", spec.slots([6]))]
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
    np.testing.assert_array_equal(_core.to_numpy(run(spec.plan(), tensor(x))), x.T.reshape(12)[::-1])


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
    buffers = [0] + [spec.buffer(f32, (8,), output=False) for _ in range(4)] + [spec.buffer(f32, (8,))]
    views = [spec.view(buffer) for buffer in buffers]
    for source, target in itertools.pairwise(views):
        spec.kernel(kernel, (8,), 1, [(source, (0,)), (target, (0,))])
    assert run(spec.plan(), tensor(np.zeros(8, np.float32))).tolist() == [5] * 8
    written = [pointers[1] for pointers in addresses[:4]]
    assert written[0] == written[2] and written[1] == written[3] and written[0] != written[1]


# ---------------------------------------------------------------- outputs


def output_plan(outputs, result=None):
    spec = Spec(1)
    spec.buffer(f32, (2,), output=False)
    spec.view(0, ("permute", (1, 0)))
    spec.fields["outputs"] = outputs
    return spec.plan(result=result)


def test_results():
    x = tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert run(output_plan([("input", 0)]), x) is x
    view = run(output_plan([("view", 0)]), x)
    assert view.tolist() == [[0, 3], [1, 4], [2, 5]] and view.data_ptr() == x.data_ptr()
    first, second, third = run(output_plan([("buffer", 1), None, ("buffer", 1)]), x)
    assert first is third and second is None
    assert type(run(output_plan([("input", 0)], "list"), x)) is list
    assert run(output_plan([("input", 0)], "tuple"), x) == (x,)
    assert run(output_plan([("input", 0)], "none"), x) is None
    assert run(output_plan([("input", 0), None], lambda a, b: (b, a)), x) == (None, x)


def test_meta_tensors_run_no_step():
    kernel = add_kernel(1)
    x = _core.empty((3,), f32.code, 1)
    result = run(pointwise_plan(kernel, [(3,), (3,)], (3,)), x, x)
    assert result.shape == (3,) and result.device.type == "meta" and not kernel.launches


def test_symbolic_sizes():
    """One plan serves all sizes for which its guard holds."""
    kernel = add_kernel(1, 1)
    spec = {
        "inputs": 1,
        "constants": [10],
        "sources": [("size", 0, 0), ("int", 0), ("stride", 0, 0)],
        "program": [("mul", 1, 2), ("max", 1, 3), ("floordiv", 4, 2), ("mod", 4, 2)],
        "guards": [("lt", 1, 0)],
        "buffers": [(f32, "contiguous", [6])],
        "views": [(0, ()), (1, ())],
        "steps": [("kernel", kernel.core, [1], 1, [(0, (0,)), (1, (0,))], (), ())],
        "outputs": [("buffer", 1)],
    }
    plans = []

    def planner(*_):
        plans.append(_core.Plan(**spec))
        return plans[-1]

    op = _core.Operator("tested", (("x", "T"), ("n", "Z")), planner, None)
    for size in (2, 3, 7, 9):
        assert op(tensor(np.ones(size, np.float32)), 5 if size != 5 else 6).tolist() == [1] * size
    assert len(plans) == 1
    with pytest.raises(RuntimeError, match="guards of a new plan reject"):
        op(tensor(np.ones(10, np.float32)), 5)


# ---------------------------------------------------------------- output layouts


def test_layouts_match_pytorch():
    torch = pytest.importorskip("torch")
    rng = random.Random(1)
    for _ in range(300):
        dims = rng.randint(1, 5)
        shape = tuple(rng.choice([1, 2, 3, 3, 0] if rng.random() < 0.1 else [1, 2, 3, 3]) for _ in range(dims))
        arrays = [random_array(rng, shape) for _ in range(rng.randint(1, 3))]
        theirs = [torch.as_strided(torch.zeros(4096), a.shape, [s // 4 for s in a.strides]) for a in arrays]
        ours = [_core.empty_strided(t.shape, t.stride(), f32.code, 1) for t in theirs]
        if len(theirs) == 1:
            expected = torch.neg(theirs[0])
        elif len(theirs) == 2:
            expected = torch.add(*theirs)
        else:
            expected = torch.addcmul(*theirs)
        shape = tuple(expected.shape)
        spec = Spec(len(arrays))
        views = [spec.view(i) for i in range(len(arrays))]
        spec.buffer(f32, shape, ("like", views))
        result = run(spec.plan(), *ours)
        described = [(tuple(t.shape), t.stride()) for t in theirs]
        assert result.stride() == expected.stride(), described


def test_ordered_layout():
    spec = Spec(0)
    spec.buffer(f32, (2, 3, 4), ("order", (2, 0, 1)))
    assert run(spec.plan()).stride() == (3, 1, 6)


# ---------------------------------------------------------------- writing and the tape


def write_plan(kernel, **more):
    """x += y"""
    spec = Spec(2)
    views = [spec.view(0), spec.view(1)]
    spec.kernel(kernel, (3,), 1, [(views[0], (0,)), (views[1], (0,)), (views[0], (0,))])
    spec.fields["outputs"] = [("input", 0)]
    return spec.plan(mutated=[0], **more)


def test_undeclared_writes_are_refused():
    with pytest.raises(ValueError, match="not in 'mutated'"):
        spec = Spec(2)
        view = spec.view(0)
        spec.fields["steps"].append(("copy", spec.view(1), view))
        spec.plan()


def test_writes_go_to_the_input():
    x, y = tensor(np.ones(3, np.float32)), tensor(np.full(3, 2, np.float32))
    assert run(write_plan(add_kernel(1)), x, y) is x
    assert x.tolist() == [3] * 3


def test_read_only_memory_and_leaves_are_not_written():
    kernel = add_kernel(1)
    frozen = np.ones(3, np.float32)
    frozen.flags.writeable = False
    y = tensor(np.ones(3, np.float32))
    leaf = tensor(np.ones(3, np.float32)).requires_grad_()
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        run(write_plan(kernel), leaf, y)
    assert not kernel.launches


def test_tape_saves_what_the_recipe_says():
    """z = x * y + 2 * n with a recipe that checks what it is given."""
    seen = []

    def gradient(*arguments):
        seen.append(arguments)
        return tensor(np.full(3, 5, np.float32)), None

    kernel = PythonKernel(
        lambda launch: launch.arrays[3].__setitem__(..., launch.arrays[0] * launch.arrays[1])
        or launch.arrays[2].__setitem__(..., 7),
        [("read", "P", np.float32)] * 2 + [("write", "P", np.float32)] * 2,
        1,
    )
    spec = Spec(2)
    hidden = spec.buffer(f32, (3,), output=False)
    out = spec.buffer(f32, (3,))
    spec.kernel(kernel, (3,), 1, [(spec.view(b), (0,)) for b in (0, 1, hidden, out)])
    saved = [("input", 1), ("output", 0), ("hidden", hidden), ("scalar", 0), ("scalar", 1), ("int", spec.slot(11))]
    plan = spec.plan(tape=(gradient, saved, [0, 1], [0], "TestedBackward0"))
    x, y = (tensor(np.full(3, n, np.float32)).requires_grad_() for n in (2, 3))
    z = run(plan, x, y, 0.5, True)
    assert type(z.grad_fn).__name__ == "TestedBackward0" and z.requires_grad
    _core.run_backward((z,), (tensor(np.ones(3, np.float32)),), False, False, None, True, True)
    assert x.grad.tolist() == [5] * 3 and y.grad is None
    (arguments,) = seen
    assert arguments[0] is y
    assert arguments[1].tolist() == [6] * 3 and arguments[2].tolist() == [7] * 3
    assert arguments[3] == 0.5 and arguments[4] is True and arguments[5] == 11
    assert arguments[6].tolist() == [1] * 3 and arguments[7] is None


def test_versions_grow_with_each_write():
    calls = []
    kernel = add_kernel(1)
    spec = Spec(2)
    out = spec.buffer(f32, (3,))
    spec.kernel(kernel, (3,), 1, [(spec.view(b), (0,)) for b in (0, 1, out)])
    recorded = spec.plan(tape=(lambda *a: calls.append(a), [("input", 0)], [1], [0], "TestedBackward0"))
    x, y = tensor(np.ones(3, np.float32)), tensor(np.ones(3, np.float32)).requires_grad_()
    z = run(recorded, x, y)
    run(write_plan(kernel), x, tensor(np.ones(3, np.float32)))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        _core.run_backward((z,), (tensor(np.ones(3, np.float32)),), False, False, None, True, True)
    assert not calls
