"""Steps that write at computed places: values, order, threads, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from plan_support import Spec, f32, run, tensor

from rushlight import _core, dtypes

pytestmark = pytest.mark.usefixtures("one_thread")


def scatter_plan(shape, dims, walks, source_shape, add, wrap, dtype=f32, count=None):
    """out = base, then source at indices. Inputs: base, source, indices."""
    spec = Spec(2 + (len(dims) if count is None else count))
    out = spec.buffer(dtype, shape)
    spec.fields["steps"].append(("copy", spec.view(0), spec.view(out)))
    indices = tuple(
        spec.view(i, ("expand", spec.slots(source_shape))) for i in range(2, spec.fields["inputs"])
    )
    spec.fields["steps"].append(
        ("scatter", spec.view(out), spec.view(1), indices, dims, walks, int(add), int(wrap))
    )
    return spec.plan(errors={1: (IndexError, "unused")})


def expected(base, source, indices, dims, walks, add):
    result = base.copy()
    for position in np.ndindex(*source.shape):
        place = [0] * base.ndim
        for at, dim in zip(position, walks, strict=True):
            if dim >= 0:
                place[dim] = at
        for index, dim in zip(indices, dims, strict=True):
            place[dim] = index[position]
        if add:
            result[tuple(place)] += source[position]
        else:
            result[tuple(place)] = source[position]
    return result


CASES = [  # shape of out, indexed dims, what source's dims follow, sizes of those that follow none
    ((6,), (0,), (-1,), (40,)),
    ((5, 7), (0,), (-1, 1), (30,)),
    ((5, 7), (1,), (0, -1), (30,)),
    ((5, 7), (0, 1), (-1,), (60,)),
    ((4, 5, 3), (1,), (-1, 0, 2), (20,)),
    ((4, 5, 3), (0, 2), (-1, 1), (20,)),
    ((4, 5, 3), (2, 0), (1, -1, -1), (3, 9)),
    ((1, 5, 1), (1,), (0, -1, 2), (9,)),
    ((3, 4), (), (0, 1), ()),
    ((3, 0), (0,), (-1, 1), (5,)),
    ((3, 4), (0,), (-1, 1), (0,)),
]


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("varying", [False, True])
def test_places(case, add, varying):
    """Indices that vary along all dims of source, or only along those that follow none."""
    shape, dims, walks, free = case
    rng = np.random.default_rng(len(shape) + len(walks))
    sizes = iter(free)
    source_shape = tuple(next(sizes) if dim < 0 else shape[dim] for dim in walks)
    index_shape = source_shape if varying else tuple(
        1 if dim >= 0 else size for dim, size in zip(walks, source_shape, strict=True)
    )  # fmt: skip
    base, source = (rng.integers(-9, 9, s).astype(np.float32) for s in (shape, source_shape))
    indices = [rng.integers(-shape[dim], shape[dim], index_shape) for dim in dims]
    plan = scatter_plan(shape, dims, walks, source_shape, add, True)
    result = run(plan, *map(tensor, (base, source, *indices)))
    wide = [np.broadcast_to(index, source_shape) for index in indices]
    want = expected(base, source, wide, dims, walks, add)
    np.testing.assert_array_equal(_core.to_numpy(result), want)


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int8", "int16", "int32", "int64", "float64", "complex64",
              "complex128"]
)  # fmt: skip
@pytest.mark.parametrize("row", [1, 5])
def test_sums_of_each_dtype(dtype, row):
    rng = np.random.default_rng(3)
    base, source = (rng.integers(0, 100, s).astype(dtype) for s in ((4, row), (60, row)))
    index = rng.integers(0, 4, (60, 1))
    plan = scatter_plan((4, row), (0,), (-1, 1), (60, row), True, False, getattr(dtypes, dtype))
    result = _core.to_numpy(run(plan, *map(tensor, (base, source, index))))
    want = base.copy()
    np.add.at(want, index[:, 0], source)
    np.testing.assert_array_equal(result, want)


def test_the_last_of_several_values_for_a_place_stays():
    _core.set_num_threads(2)
    source = np.arange(60000, dtype=np.float32)
    index = np.arange(60000) % 7
    plan = scatter_plan((7,), (0,), (-1,), source.shape, False, False)
    result = run(plan, *map(tensor, (np.zeros(7, np.float32), source, index)))
    np.testing.assert_array_equal(np.sort(_core.to_numpy(result)), source[-7:])


@pytest.mark.parametrize(
    "case",
    [
        ((3000,), (0,), (-1,), (90000,)),  # parts of the indexed dim
        ((700, 130), (0,), (-1, 1), (900,)),  # parts of rows
        ((64, 900), (1,), (0, -1), (900,)),  # independent positions
        ((90, 70), (0, 1), (-1,), (90000,)),
    ],
)
def test_sums_do_not_depend_on_threads(case):
    shape, dims, walks, free = case
    rng = np.random.default_rng(5)
    source_shape = tuple(free[0] if dim < 0 else shape[dim] for dim in walks)
    source = rng.standard_normal(source_shape).astype(np.float32)
    index_shape = tuple(free[0] if dim < 0 else 1 for dim in walks)
    indices = [rng.integers(0, shape[dim], index_shape) for dim in dims]
    base = rng.standard_normal(shape).astype(np.float32)
    plan = scatter_plan(shape, dims, walks, source_shape, True, False)
    results = []
    for threads in (1, 2):
        _core.set_num_threads(threads)
        results.append(_core.to_numpy(run(plan, *map(tensor, (base, source, *indices)))))
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("wrong", [5, -1, -6, 2**62, -(2**63)])
@pytest.mark.parametrize("wrap", [False, True])
def test_wrong_indices(wrong, wrap):
    index = np.array([1, wrong, 4])
    plan = scatter_plan((5,), (0,), (-1,), (3,), True, wrap)
    arguments = [tensor(x) for x in (np.zeros(5, np.float32), np.ones(3, np.float32), index)]
    if wrap and wrong == -1:
        run(plan, *arguments)
        return
    with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for dimension 0 with s"):
        run(plan, *arguments)


def test_indices_do_not_matter_where_nothing_is_written():
    plan = scatter_plan((5, 0), (0,), (-1, 1), (3, 0), True, False)
    arguments = (np.zeros((5, 0), np.float32), np.ones((3, 0), np.float32), np.full((3, 1), 9))
    assert run(plan, *map(tensor, arguments)).shape == (5, 0)


@pytest.mark.parametrize(
    ("dims", "walks", "source"),
    [
        ((0,), (-1,), (3,)),  # dim 1 of out is neither numbered nor followed
        ((0,), (0, 1), (5, 4)),  # dim 0 is both
        ((0,), (-1, 1), (3, 5)),  # longer than out
        ((2,), (0, 1), (5, 4)),  # no such dim
        ((0, 0), (-1, 1), (3, 4)),
        ((0,), (-1, 1, -1), (3, 4)),
    ],
)
def test_shapes_that_do_not_fit(dims, walks, source):
    plan = scatter_plan((5, 4), dims, walks, source, True, False)
    arrays = [np.zeros((5, 4), np.float32), np.zeros(source, np.float32)]
    arrays += [np.zeros([1] * len(source), np.int64) for _ in dims]
    with pytest.raises(RuntimeError, match="plan: sizes"):
        run(plan, *map(tensor, arrays))


def test_half_precision_is_not_added_up():
    spec = Spec(3)
    out = spec.view(spec.buffer(dtypes.bfloat16, (2,)))
    spec.fields["steps"].append(("scatter", out, spec.view(1), (spec.view(2),), (0,), (-1,), 1, 0))
    half = _core.empty_strided((2,), (1,), dtypes.bfloat16.code, 0)
    with pytest.raises(RuntimeError, match="half precision"):
        run(spec.plan(), half, half, tensor(np.zeros(2, np.int64)))
