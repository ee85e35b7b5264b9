"""`assert_close` and `make_tensor` beside PyTorch's."""

from __future__ import annotations

import math
import re

import numpy
import pytest

import rushlight

torch = pytest.importorskip("torch")
NAN, INF = float("nan"), float("inf")


def outcome(module, make, options):
    """The error's class and text, or None."""
    actual, expected = make(module)
    try:
        module.testing.assert_close(actual, expected, **options)
    except Exception as error:
        text = str(error).replace("rushlight.Tensor", "torch.Tensor").replace("rushlight", "torch")
        return type(error), re.sub("was able to handle inputs of type|handles", "of", text)
    return None


PAIRS = [
    lambda m: (m.tensor([1.0, 2, 3]), m.tensor([1.0, 2, 4])),
    lambda m: (m.tensor([1.0, 2, 3]), m.tensor([1.0, 2, 3 + 1e-6])),
    lambda m: (m.tensor([1, 2, 3]), m.tensor([1, 2, 4])),
    lambda m: (m.tensor([1, 2, 3]), m.tensor([1.0, 2, 3])),
    lambda m: (m.tensor([1.0, 2, 3]), m.tensor([1.0, 2])),
    lambda m: (m.tensor(1.0), m.tensor(2.0)),
    lambda m: (1.0, 2.0),
    lambda m: (1, 2),
    lambda m: (1, 1.0),
    lambda m: (1 + 2j, 1 + 3j),
    lambda m: ([1.0, m.tensor([2.0])], [1.0, m.tensor([3.0])]),
    lambda m: ({"a": 1.0}, {"b": 1.0}),
    lambda m: ({"a": 1.0}, {"a": 2.0}),
    lambda m: ([1.0], [1.0, 2.0]),
    lambda m: ((1.0,), [1.0]),
    lambda m: ("a", "a"),
    lambda m: (None, None),
    lambda m: (None, 1.0),
    lambda m: (m.tensor(1.0), 1.0),
    lambda m: (m.tensor([NAN, 1.0]), m.tensor([NAN, 1.0])),
    lambda m: (m.tensor([INF, -INF]), m.tensor([INF, -INF])),
    lambda m: (m.tensor([INF]), m.tensor([1.0])),
    lambda m: (m.tensor([True]), m.tensor([False])),
    lambda m: (True, False),
    lambda m: (numpy.array([1.0]), numpy.array([2.0])),
    lambda m: (numpy.float64(1), numpy.float64(2)),
    lambda m: (m.tensor([1.0]), numpy.array([1.0])),
    lambda m: (m.nn.Parameter(m.tensor([1.0])), m.tensor([1.0])),
    lambda m: (m.tensor([0.0]), m.tensor([1e-6])),
    lambda m: (m.tensor([1.0]), m.tensor([0.0])),
    lambda m: (m.zeros(0), m.zeros(0)),
    lambda m: ([[1.0, [2.0]]], [[1.0, [3.0]]]),
    lambda m: (m.tensor([1 + 1j]), m.tensor([1 + 2j])),
    lambda m: (m.tensor([1e-9], dtype=m.float64), m.tensor([0.0], dtype=m.float64)),
    lambda m: (m.tensor([1.0]).half(), m.tensor([1.0005]).half()),
    lambda m: (m.tensor([[1.0, 2.0]]).t(), m.tensor([[1.0], [2.0]])),
    lambda m: (m.ones(2, device="meta"), m.ones(2)),
    lambda m: (m.tensor([2**60 + 1]), m.tensor([2**60])),
]


@pytest.mark.parametrize("make", PAIRS, ids=range(len(PAIRS)))
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"rtol": 0.0, "atol": 0.0},
        {"rtol": 0.0, "atol": 1.5},
        {"equal_nan": True, "check_dtype": False},
        {"check_stride": True, "check_device": False},
        {"msg": "other"},
        {"msg": lambda text: "!" + text},
    ],
    ids=range(7),
)
def test_the_same_errors(make, options):
    if make is PAIRS[-2] and options.get("check_device") is False:
        pytest.skip("tensors without data cannot be compared")
    assert outcome(rushlight, make, options) == outcome(torch, make, options)


def test_subclasses_may_be_refused():
    p = rushlight.nn.Parameter(rushlight.ones(1))
    with pytest.raises(TypeError, match="No comparison pair"):
        rushlight.testing.assert_close(p, rushlight.ones(1), allow_subclasses=False)


def test_one_tolerance_is_not_enough():
    for options in ({"rtol": 1.0}, {"atol": 1.0}):
        with pytest.raises(ValueError, match="must be either specified or omitted"):
            rushlight.testing.assert_close(1.0, 1.0, **options)


def test_assert_allclose():
    rushlight.testing.assert_allclose(rushlight.ones(2), [1.0, 1.0])
    with pytest.raises(AssertionError):
        rushlight.testing.assert_allclose(rushlight.ones(2), [1.0, 2.0])


@pytest.mark.parametrize(
    "dtype",
    ["bool", "uint8", "int8", "int32", "int64", "float32", "float64", "bfloat16", "complex64"],
)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"low": 0, "high": 2},
        {"noncontiguous": True},
        {"exclude_zero": True, "low": 0, "high": 2},
    ],
)
def test_the_same_numbers(dtype, options):
    results = []
    for module in (rushlight, torch):
        module.manual_seed(4)
        x = module.testing.make_tensor(
            (5, 3), dtype=getattr(module, dtype), device="cpu", **options
        )
        results.append((x.tolist(), tuple(x.stride()), str(x.dtype)))
    assert results[0] == results[1]


def test_invalid_bounds():
    for options in (
        {"low": 2, "high": 1},
        {"low": NAN},
        {"noncontiguous": True, "memory_format": rushlight.channels_last},
    ):
        with pytest.raises(ValueError):
            rushlight.testing.make_tensor(2, dtype=rushlight.float32, device="cpu", **options)
    with pytest.raises(ValueError, match="requires_grad"):
        rushlight.testing.make_tensor(2, dtype=rushlight.int64, device="cpu", requires_grad=True)
    x = rushlight.testing.make_tensor(2, dtype=rushlight.float32, device="cpu", low=-math.inf)
    assert rushlight.isfinite(x).all()
