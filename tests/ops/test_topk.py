"""topk selects before it sorts; what it selects is what sorting everything would."""

from __future__ import annotations

import numpy
import pytest

import rushlight
from rushlight.ops.orders import largest_arrays, order_arrays


@pytest.mark.parametrize("largest", (True, False))
@pytest.mark.parametrize("kind", ("float16", "float32", "float64", "int8", "uint8", "int64"))
def test_selected_places_are_the_first_of_all_sorted(kind, largest):
    draw = numpy.random.default_rng(7)
    for shape, dim in (((1000,), 0), ((3, 517), 1), ((517, 3), 0), ((2, 333, 3), 1), ((0, 99), 1)):
        for values in ("spread", "many equal", "special"):
            x = draw.normal(size=shape) * (2 if values == "many equal" else 50)
            if values == "many equal" and kind[0] == "f":
                x = x.round()
            if values == "special" and kind[0] == "f":
                special = [numpy.nan, numpy.inf, -numpy.inf, 0.0, -0.0, numpy.nan]
                x = numpy.where(draw.random(shape) < 0.02, draw.choice(special, shape), x)
            x = x.clip(0 if kind == "uint8" else -100, 100).astype(kind)
            for k in (0, 1, 5, shape[dim] // 8):
                expected = numpy.take(order_arrays(x, dim, largest), range(k), dim)
                numpy.testing.assert_array_equal(largest_arrays(x, k, dim, largest), expected)


@pytest.mark.parametrize("largest", (True, False))
def test_extremes_of_integers_and_nothing_but_nan(largest):
    limits = numpy.iinfo(numpy.int64)
    for fill in (limits.min, limits.max, 0):
        x = rushlight.full((200,), fill, dtype=rushlight.int64)
        x[50], x[60] = limits.max, limits.min
        values, places = rushlight.topk(x, 3, largest=largest)
        expected = x.sort(descending=largest, stable=True)
        assert values.tolist() == expected[0][:3].tolist()
        assert places.tolist() == expected[1][:3].tolist()
    values, places = rushlight.topk(rushlight.full((2, 200), float("nan")), 4, largest=largest)
    assert values.isnan().all() and places.tolist() == [[0, 1, 2, 3]] * 2


def test_strided_rows_and_bfloat16():
    x = rushlight.arange(4000.0).reshape(2, 2000).t()[::2]
    assert rushlight.topk(x, 2, 0)[1].tolist() == [[999, 999], [998, 998]]
    x = (rushlight.arange(256.0) - 128).to(rushlight.bfloat16)
    assert rushlight.topk(x, 2)[0].tolist() == [127, 126]
    assert rushlight.topk(x, 2, largest=False)[1].tolist() == [0, 1]


def test_values_are_pytorchs():
    torch = pytest.importorskip("torch")
    draw = numpy.random.default_rng(3)
    for shape, dim, k in (((5, 700), 1, 20), ((700, 5), 0, 3), ((100000,), 0, 50)):
        x = draw.normal(size=shape).astype("float32")
        x[x > 2.5] = numpy.nan
        for largest in (True, False):
            found, expected = (m.topk(m.tensor(x), k, dim, largest) for m in (rushlight, torch))
            numpy.testing.assert_array_equal(found[0].numpy(), expected[0].numpy())
            taken = numpy.take_along_axis(x, found[1].numpy(), dim)
            numpy.testing.assert_array_equal(taken, expected[0].numpy())
