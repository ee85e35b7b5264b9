"""Operands that lie across the vector loop are turned tile by tile; rows are gathered whole."""

import numpy as np
import pytest

import rushlight as rl

SHAPES = [
    ((100, 130), (1, 0)),
    ((3, 50, 70), (0, 2, 1)),
    ((3, 50, 70), (2, 1, 0)),
    ((2, 3, 40, 50), (0, 2, 3, 1)),
    ((2, 40, 50, 3), (0, 3, 1, 2)),
    ((17, 16), (1, 0)),
    ((300, 15), (1, 0)),
]


@pytest.fixture(params=[1, 2])
def threads(request):
    before = rl.get_num_threads()
    rl.set_num_threads(request.param)
    yield request.param
    rl.set_num_threads(before)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "c16"])
@pytest.mark.parametrize("shape, dims", SHAPES)
def test_permuted_operand(threads, dtype, shape, dims):
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(shape) * 50).astype(dtype)
    turned = x.transpose(dims)
    y = (rng.standard_normal(turned.shape) * 50).astype(dtype)
    a, b = rl.from_numpy(x).permute(dims), rl.from_numpy(y)
    np.testing.assert_array_equal((b * 2 + a).numpy(), y * 2 + turned)
    np.testing.assert_array_equal((b.flip(0) + a).numpy(), y[::-1] + turned)
    np.testing.assert_array_equal(a.contiguous().numpy(), turned)
    if len(shape) == 2:
        np.testing.assert_array_equal((a[::2, 3:] + b[::2, 3:]).numpy(), (turned + y)[::2, 3:])


@pytest.mark.parametrize("dtype", ["f4", "i1", "?", "c16"])
@pytest.mark.parametrize("rows, columns, count", [(50, 130, 33), (7, 1, 30), (400, 3, 300)])
def test_gathered_rows(threads, dtype, rows, columns, count):
    rng = np.random.default_rng(0)
    x = (rng.standard_normal((rows, columns)) * 50).astype(dtype)
    index = rng.integers(-rows, rows, count)
    a = rl.from_numpy(x)
    np.testing.assert_array_equal(a[rl.from_numpy(index)].numpy(), x[index])
    index[-1] = rows
    with pytest.raises(IndexError):
        a[rl.from_numpy(index)]
