"""Plans: checks of specifications, outputs and layouts, symbolic sizes, writing, the tape."""

from __future__ import annotations

import random

import numpy as np
import pytest
from plan_support import (
    Spec,
    add_kernel,
    f32,
    pointwise_plan,
    random_array,
    run,
    tensor,
    valid_spec,
)
from python_kernels import PythonKernel

from rushlight import _core

pytestmark = pytest.mark.usefixtures("one_thread")

# ---------------------------------------------------------------- specifications


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
        {"buffers": [(f32, ("channels", (1,)), [0])]},
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
        {"tape": (len, [("input", 4, "")], [], [], "Name", [], 0)},
        {"tape": (len, [("nothing", 0, "")], [], [], "Name", [], 0)},
        {"tape": (len, [], [1], [], "Name", [0], 1)},
        {"tape": (len, [], [], [1], "Name", [], 0)},
        {"tape": (len, [], [0], [], "Name", [1], 1)},
        {"tape": (len, [], [0], [], "Name", [], 1)},
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
        {"tape": (1, [], [], [], "Name", [], 0)},
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
        (2, [0, 0]), (3, 0), (4, [(0, (0,))]), (4, [(0, (0, 1)), (1, (0,))]),
        (4, [(0, (64,)), (1, (0,))]), (4, [("coordinate", 0), (1, (0,))]), (5, [0]), (6, [0]),
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
        shape = tuple(
            rng.choice([1, 2, 3, 3, 0] if rng.random() < 0.1 else [1, 2, 3, 3]) for _ in range(dims)
        )
        arrays = [random_array(rng, shape) for _ in range(rng.randint(1, 3))]
        theirs = [
            torch.as_strided(torch.zeros(4096), a.shape, [s // 4 for s in a.strides])
            for a in arrays
        ]
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


def test_channels_lie_as_those_of_an_operand():
    def strides(sizes, *operands):
        spec = Spec(len(operands))
        views = [spec.view(i) for i in range(len(operands))]
        spec.buffer(f32, sizes, ("channels", tuple(views)))
        tensors = [_core.empty_strided(*each, f32.code, 0) for each in operands]
        return run(spec.plan(), *tensors).stride()

    last, rows = ((2, 3, 4, 5), (60, 1, 15, 3)), ((2, 3, 4, 5), (60, 20, 5, 1))
    assert strides((2, 7, 4, 6), last) == strides((2, 7, 4, 6), rows, last) == (168, 1, 42, 7)
    assert strides((2, 7, 4, 6), rows) == (168, 24, 6, 1)
    assert strides((2, 7, 4), last) == (28, 4, 1)  # of other ranks: row-major
    assert strides((2, 7, 4, 6), ((2, 3), (3, 1)), ((), ())) == (168, 24, 6, 1)
    for sizes, found in (((0, 3, 4, 5), (60, 1, 15, 3)), ((2, 3, 4, 5), (0, 0, 0, 0))):
        assert strides((2, 7, 4, 6), (sizes, found)) == (168, 24, 6, 1)
    volume = ((2, 3, 4, 5, 6), (360, 1, 90, 18, 3))
    assert strides((1, 2, 3, 3, 3), volume) == (54, 1, 18, 6, 2)


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
        lambda launch: (
            launch.arrays[3].__setitem__(..., launch.arrays[0] * launch.arrays[1])
            or launch.arrays[2].__setitem__(..., 7)
        ),
        [("read", "P", np.float32)] * 2 + [("write", "P", np.float32)] * 2,
        1,
    )
    spec = Spec(2)
    hidden = spec.buffer(f32, (3,), output=False)
    out = spec.buffer(f32, (3,))
    spec.kernel(kernel, (3,), 1, [(spec.view(b), (0,)) for b in (0, 1, hidden, out)])
    saved = [
        ("input", 1, "other"),
        ("output", 0, "result"),
        ("hidden", hidden, ""),
        ("scalar", 0, ""),
        ("scalar", 1, ""),
        ("int", spec.slot(11), ""),
    ]
    plan = spec.plan(
        tape=(lambda wanted: gradient, saved, [0, 1], [0], "TestedBackward0", [0, 1], 2)
    )
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
    recorded = spec.plan(
        tape=(
            lambda wanted: lambda *a: calls.append(a),
            [("input", 0, "")],
            [1],
            [0],
            "TestedBackward0",
            [1],
            2,
        )
    )
    x, y = tensor(np.ones(3, np.float32)), tensor(np.ones(3, np.float32)).requires_grad_()
    z = run(recorded, x, y)
    run(write_plan(kernel), x, tensor(np.ones(3, np.float32)))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        _core.run_backward((z,), (tensor(np.ones(3, np.float32)),), False, False, None, True, True)
    assert not calls
