"""Python numbers beside tensors whose dtype is narrower than the number."""

from __future__ import annotations

import pytest

import rushlight

torch = pytest.importorskip("torch")

HALVES = ("float16", "bfloat16")
BY_NUMBER = {
    "mul": lambda m, x, n: m.mul(x, n),
    "reflected mul": lambda m, x, n: n * x,
    "div": lambda m, x, n: m.div(x, n),
    "floor_divide": lambda m, x, n: m.floor_divide(x, n),
    "trunc": lambda m, x, n: m.div(x, n, rounding_mode="trunc"),
    "mul by a 0-d tensor": lambda m, x, n: m.mul(x, m.tensor(n)),
    "mul of a 0-d tensor": lambda m, x, n: m.mul(m.tensor(n), x),
    "add": lambda m, x, n: m.add(x, n),
    "addcmul": lambda m, x, n: m.addcmul(x, x, x, value=n),
    "addcdiv": lambda m, x, n: m.addcdiv(x, x, x, value=n),
    "lerp": lambda m, x, n: m.lerp(x, x + 1, n),
}


def outcome(function, *arguments):
    """The elements, or the exception's class."""
    try:
        result = function(*arguments)
    except Exception as error:
        return next(base for base in type(error).__mro__ if base.__module__ == "builtins")
    return [repr(each) for each in result.reshape(-1).tolist()]


@pytest.mark.parametrize("number", (0.1, 0.3337, 1e30, 1e-30, 70000, 1e300))
@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", BY_NUMBER)
def test_half_precision_by_a_number(name, dtype, number):
    values = [1.0, 2.5, -3.0, 0.0, 7.0]
    found, expected = (
        outcome(BY_NUMBER[name], m, m.tensor(values, dtype=getattr(m, dtype)), number)
        for m in (rushlight, torch)
    )
    assert found == expected


RANGES = {
    "alpha": lambda m, x, n: m.add(x, x, alpha=n),
    "clamp": lambda m, x, n: m.clamp(x, 0, n),
    "clamp_min": lambda m, x, n: m.clamp_min(x, n),
    "pow": lambda m, x, n: m.pow(x, n),
    "where": lambda m, x, n: m.where(x > 1, x, n),
    "fill_": lambda m, x, n: x.fill_(n),
    "fill_ of one element": lambda m, x, n: x[:1].fill_(n),
    "full_like": lambda m, x, n: m.full_like(x, n),
    "new_full": lambda m, x, n: x.new_full((2,), n),
    "masked_fill": lambda m, x, n: x.masked_fill(x > 1, n),
    "x[0] = n": lambda m, x, n: (x.__setitem__(0, n), x)[1],
    "x[index] = n": lambda m, x, n: (x.__setitem__(m.tensor([0]), n), x)[1],
    "x[False] = n": lambda m, x, n: (x.__setitem__(False, n), x)[1],
    "nan_to_num": lambda m, x, n: m.nan_to_num(x, n),
    "leaky_relu": lambda m, x, n: m.nn.functional.leaky_relu(x, n),
    "threshold": lambda m, x, n: m.nn.functional.threshold(x, 0, n),
}


@pytest.mark.parametrize("number", (70000, 1e30, 1e300, -129, 300, 2**40, 1.5, 65519.0, -0.5))
@pytest.mark.parametrize("dtype", (*HALVES, "float32", "uint8", "int8", "int64", "complex64"))
@pytest.mark.parametrize("name", RANGES)
def test_number_beyond_the_dtype(name, dtype, number):
    if name == "pow" and dtype == "complex64":
        pytest.skip("PyTorch's powers are less exact")
    found, expected = (
        outcome(RANGES[name], m, m.tensor([1, 2, 3]).to(getattr(m, dtype)), number)
        for m in (rushlight, torch)
    )
    assert found == expected


def test_logic_of_numbers_beyond_the_dtype():
    for m in (rushlight, torch):
        x = m.tensor([1, 0], dtype=m.uint8)
        assert m.logical_or(x, m.tensor(256)).tolist() == [True, False]  # 256 is 0 in uint8


EDGES = [1.0, -3.0, 0.0, -0.0, float("inf"), -float("inf"), float("nan"), 65504.0, 6e-8, 1e-40]


@pytest.mark.parametrize("dtype", (*HALVES, "float32", "float64"))
def test_nextafter(dtype):
    found, expected = (
        outcome(
            lambda m: m.nextafter(
                m.tensor(EDGES, dtype=getattr(m, dtype)).reshape(-1, 1),
                m.tensor(EDGES, dtype=getattr(m, dtype)),
            ),
            m,
        )
        for m in (rushlight, torch)
    )
    assert found == expected


@pytest.mark.parametrize("exponent", (-2000, -1060, -151, -30, 3, 128, 1023, 2**31, 2**40))
@pytest.mark.parametrize("dtype", (*HALVES, "float32", "float64"))
def test_ldexp_rounds_once(dtype, exponent):
    found, expected = (
        outcome(m.ldexp, m.tensor(EDGES, dtype=getattr(m, dtype)), m.tensor([exponent]))
        for m in (rushlight, torch)
    )
    assert found == expected


WRITES = {
    "masked_fill": lambda m, x, n: x.masked_fill(x != x + 1, n),
    "index_fill": lambda m, x, n: x.index_fill(0, m.tensor([0, 1]), n),
    "x[mask] = n": lambda m, x, n: (x.__setitem__(m.tensor([True, False]), n), x)[1],
    "x[[0]] = n": lambda m, x, n: (x.__setitem__([0], n), x)[1],
    "x[0] = n": lambda m, x, n: (x.__setitem__(0, n), x)[1],
}


@pytest.mark.parametrize("number", (1 + 2j, -0.5, 100, 2.5, True))
@pytest.mark.parametrize("dtype", ("float16", "float32", "int64", "int8", "bool", "complex64"))
@pytest.mark.parametrize("name", WRITES)
def test_tensor_of_one_number_of_another_dtype(name, dtype, number):
    found, expected = (
        outcome(WRITES[name], m, m.zeros(2, dtype=getattr(m, dtype)), m.tensor(number))
        for m in (rushlight, torch)
    )
    assert found == expected


@pytest.mark.parametrize("number", (70000.0, float("inf"), 1e-30))
def test_a_number_behind_a_mask_must_fit(number):
    found, expected = (
        outcome(WRITES["x[mask] = n"], m, m.zeros(2, dtype=m.float16), m.tensor(number))
        for m in (rushlight, torch)
    )
    assert found == expected


@pytest.mark.parametrize("exponent", (0.5, -0.5, -1, -1.0, 2, 3, -2, 0.25))
@pytest.mark.parametrize("dtype", (*HALVES, "float32", "float64"))
def test_powers_of_edges(dtype, exponent):
    """By the number and by a tensor of it, which need not agree on -inf and -0."""
    edges = [float("inf"), -float("inf"), float("nan"), 0.0, -0.0, 4.0, -1.0]
    found, expected = (
        outcome(lambda m, x: m.stack([x**exponent, x ** m.full_like(x, exponent)]), m, x)
        for m in (rushlight, torch)
        for x in [m.tensor(edges, dtype=getattr(m, dtype))]
    )
    assert found == expected
