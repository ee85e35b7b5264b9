"""The streams of random numbers are PyTorch's."""

from __future__ import annotations

import numpy
import pytest

from rushlight import dtypes, ops
from rushlight.devices import reference
from rushlight.graph.trace import METHODS
from rushlight.ops.record import COMPOSITES

torch = pytest.importorskip("torch")
ops.load()


def ours(name, *args, **kwargs):
    return reference.call(COMPOSITES[name], *args, generator=reference.Generator(5), **kwargs).data


def filled(name, shape, *args, dtype=dtypes.float32):
    x = reference.stored(numpy.zeros(shape), dtype)
    return reference.call(METHODS[name], x, *args, generator=reference.Generator(5)).data


def theirs(function, *args):
    torch.manual_seed(5)
    return function(*args).double().numpy()


DTYPES = ["float32", "float64", "float16", "bfloat16"]


@pytest.mark.parametrize("name", ["rand", "randn"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (7,), (16,), (5, 5), (0,), (64,)])
def test_new_numbers(name, dtype, shape):
    expected = theirs(lambda: getattr(torch, name)(shape, dtype=getattr(torch, dtype)))
    result = ours(name, shape, dtype=dtypes.BY_NAME[dtype])
    tolerance = {"float32": 2e-6, "float64": 1e-12}.get(dtype, 1e-2) if name == "randn" else 0
    numpy.testing.assert_allclose(result, expected, rtol=0, atol=tolerance)


def test_integers_and_permutations():
    numpy.testing.assert_array_equal(
        ours("randint", 10, (6,)), theirs(lambda: torch.randint(10, (6,)))
    )
    numpy.testing.assert_array_equal(
        ours("randint", -5, 7, (4, 2)), theirs(lambda: torch.randint(-5, 7, (4, 2)))
    )
    wide = theirs(lambda: torch.randint(0, 2**40, (9,)))
    numpy.testing.assert_array_equal(ours("randint", 0, 2**40, (9,)), wide)
    for n in (0, 1, 8, 100):
        numpy.testing.assert_array_equal(ours("randperm", n), theirs(torch.randperm, n))


@pytest.mark.parametrize(
    "name, args",
    [
        ("uniform_", (-2.0, 3.0)),
        ("normal_", (1.0, 2.0)),
        ("bernoulli_", (0.3,)),
        ("uniform_", ()),
        ("bernoulli_", ()),
    ],
)
@pytest.mark.parametrize("dtype", DTYPES)
def test_in_place(name, args, dtype):
    expected = theirs(lambda: getattr(torch.zeros(20, dtype=getattr(torch, dtype)), name)(*args))
    tolerance = {"float32": 1e-5, "float64": 1e-12}.get(dtype, 3e-2)
    numpy.testing.assert_allclose(
        filled(name, (20,), *args, dtype=dtypes.BY_NAME[dtype]), expected, atol=tolerance
    )


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "float32", "bool"])
def test_random_(dtype):
    expected = theirs(lambda: torch.zeros(20, dtype=getattr(torch, dtype)).random_())
    numpy.testing.assert_array_equal(
        filled("random_", (20,), dtype=dtypes.BY_NAME[dtype]), expected
    )
    expected = theirs(lambda: torch.zeros(20, dtype=getattr(torch, dtype)).random_(0, 2))
    numpy.testing.assert_array_equal(
        filled("random_", (20,), 0, 2, dtype=dtypes.BY_NAME[dtype]), expected
    )


def test_dropout_masks():
    x = numpy.arange(1.0, 41).reshape(4, 10)
    expected = theirs(lambda: torch.nn.functional.dropout(torch.from_numpy(x).float(), 0.3))
    result = ours("dropout", reference.stored(x, dtypes.float32), 0.3)
    numpy.testing.assert_allclose(result, expected, rtol=1e-6)


def test_bernoulli_of_probabilities():
    p = numpy.linspace(0, 1, 30)
    expected = theirs(lambda: torch.bernoulli(torch.from_numpy(p).float()))
    numpy.testing.assert_array_equal(
        ours("bernoulli", reference.stored(p, dtypes.float32)), expected
    )
