"""Matrix products that are cut into pieces: sizes about the pieces', layouts, dtypes, threads."""

from __future__ import annotations

import numpy as np
import pytest
from plan_support import Spec, run, tensor

from rushlight import _core, dtypes

pytestmark = pytest.mark.usefixtures("one_thread")

SIZES = [  # m, n, k
    (1, 4096, 300),
    (3, 700, 500),
    (16, 1024, 256),
    (16, 300, 2000),
    (48, 300, 640),
    (64, 63, 1025),
    (64, 784, 512),
    (64, 576, 1024),
    (65, 65, 321),
    (97, 129, 641),
    (1000, 64, 31),
    (2000, 64, 10),
    (2000, 10, 64),
    (300, 16, 700),
    (1025, 1, 1024),
    (260, 520, 96),
]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("turned", ["", "a", "b", "ab"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_products_in_pieces(sizes, turned, dtype):
    m, n, k = sizes
    rng = np.random.default_rng(m + n + k)
    a, b = (rng.integers(-4, 5, shape).astype(dtype) for shape in ((m, k), (k, n)))
    spec = Spec(2)
    chain = [[("permute", (1, 0))] if name in turned else [] for name in "ab"]
    views = [spec.view(i, *each) for i, each in enumerate(chain)]
    out = spec.view(spec.buffer(getattr(dtypes, dtype), (m, n)))
    spec.fields["steps"].append(("gemm", *views, out))
    given = [x.T if name in turned else x for name, x in zip("ab", (a, b), strict=True)]
    plan = spec.plan()
    want = a.astype("complex128") @ b if dtype == "complex64" else a.astype("float64") @ b
    for threads in (1, 2):
        _core.set_num_threads(threads)
        result = _core.to_numpy(run(plan, *(tensor(np.ascontiguousarray(x)) for x in given)))
        np.testing.assert_array_equal(result, want.astype(dtype))  # sums of integers are exact


def test_old_contents_do_not_matter():
    """What lay in the result's memory, NaN too, is overwritten."""
    a, b = np.ones((70, 700), np.float32), np.ones((700, 70), np.float32)
    spec = Spec(3)
    buffer = spec.buffer(dtypes.float32, (70, 70))
    spec.fields["steps"] += [
        ("copy", spec.view(2), spec.view(buffer)),
        ("gemm", spec.view(0), spec.view(1), spec.view(buffer)),
    ]
    nan = np.full((70, 70), np.nan, np.float32)
    result = _core.to_numpy(run(spec.plan(), *map(tensor, (a, b, nan))))
    np.testing.assert_array_equal(result, np.full((70, 70), 700, np.float32))
