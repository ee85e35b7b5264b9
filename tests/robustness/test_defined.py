"""Arithmetic that machines leave undefined gives PyTorch's results and errors."""

from __future__ import annotations

import math
import operator

import pytest

import rushlight as rl

SIGNED = (rl.int8, rl.int16, rl.int32, rl.int64)
INTEGRAL = (*SIGNED, rl.uint8)
UNSIGNED = (rl.uint8, rl.uint16, rl.uint32, rl.uint64)


def least(dtype: rl.dtype) -> int:
    return rl.iinfo(dtype).min


def greatest(dtype: rl.dtype) -> int:
    return rl.iinfo(dtype).max


def bits(dtype: rl.dtype) -> int:
    return rl.iinfo(dtype).bits


def wrapped(value: int, dtype: rl.dtype) -> int:
    """An integer as it lies in so many bits."""
    return (value - least(dtype)) % 2 ** bits(dtype) + least(dtype)


# ---------------------------------------------------------------- division by zero

DIVISIONS = {
    "floor": lambda a, b: rl.div(a, b, rounding_mode="floor"),
    "trunc": lambda a, b: rl.div(a, b, rounding_mode="trunc"),
    "floor_divide": lambda a, b: rl.floor_divide(a, b),
    "//": operator.floordiv,
    "remainder": lambda a, b: rl.remainder(a, b),
    "%": operator.mod,
    "fmod": lambda a, b: rl.fmod(a, b),
}
IN_PLACE = {
    "floor": lambda a, b: a.div_(b, rounding_mode="floor"),
    "trunc": lambda a, b: a.div_(b, rounding_mode="trunc"),
    "floor_divide_": lambda a, b: a.floor_divide_(b),
    "remainder_": lambda a, b: a.remainder_(b),
    "fmod_": lambda a, b: a.fmod_(b),
    "//=": operator.ifloordiv,
    "%=": operator.imod,
}


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("dtype", INTEGRAL, ids=str)
def test_integer_division_by_zero_raises(name, dtype):
    divide = DIVISIONS[name]
    ones = rl.ones(40, dtype=dtype)
    zero_last = rl.ones(40, dtype=dtype)
    zero_last[39] = 0
    for divisor in (rl.zeros(40, dtype=dtype), zero_last, rl.zeros((), dtype=dtype), 0, False):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            divide(ones, divisor)
    assert divide(ones, 1).shape == (40,)
    assert divide(rl.ones(0, dtype=dtype), 0).shape == (0,)


@pytest.mark.parametrize("name", IN_PLACE)
@pytest.mark.parametrize("dtype", INTEGRAL, ids=str)
def test_nothing_is_written_when_a_divisor_is_zero(name, dtype):
    for size in (3, 100, 50_000):
        target = rl.full((size,), 7, dtype=dtype)
        divisor = rl.full((size,), 2, dtype=dtype)
        divisor[size - 1] = 0
        for zero in (divisor, 0):
            with pytest.raises(RuntimeError, match="ZeroDivisionError"):
                IN_PLACE[name](target, zero)
            assert (target == 7).all()
    strided = rl.full((20, 10), 7, dtype=dtype).t()
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        IN_PLACE[name](strided[::2], rl.zeros(20, dtype=dtype))
    assert (strided == 7).all()


@pytest.mark.parametrize("name", DIVISIONS)
def test_out_is_not_written_when_a_divisor_is_zero(name):
    functions = {
        "floor": lambda a, b, out: rl.div(a, b, rounding_mode="floor", out=out),
        "trunc": lambda a, b, out: rl.div(a, b, rounding_mode="trunc", out=out),
        "floor_divide": lambda a, b, out: rl.floor_divide(a, b, out=out),
        "remainder": lambda a, b, out: rl.remainder(a, b, out=out),
        "fmod": lambda a, b, out: rl.fmod(a, b, out=out),
    }
    if name not in functions:
        pytest.skip("no out=")
    out = rl.full((5,), 3)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        functions[name](rl.arange(5), rl.tensor([1, 1, 1, 1, 0]), out)
    assert (out == 3).all()


def test_floating_division_by_zero_does_not_raise():
    x = rl.tensor([1.0, -1.0, 0.0])
    assert (x / 0).tolist()[:2] == [math.inf, -math.inf]
    assert (x // 0).tolist()[:2] == [math.inf, -math.inf]
    assert rl.isnan(x % 0).all() and rl.isnan(rl.fmod(x, 0)).all()
    assert (rl.tensor([1, -1]) / 0).tolist() == [math.inf, -math.inf]


# ---------------------------------------------------------------- the least integer


@pytest.mark.parametrize("dtype", SIGNED, ids=str)
def test_the_least_integer(dtype):
    """In two's complement its negative is itself. (PyTorch leaves its division by -1 to the CPU;
    its fmod and remainder are 0 or a crash.)
    """
    low = least(dtype)
    for size in (1, 40):
        x = rl.full((size,), low, dtype=dtype)
        for minus_one in (-1, rl.tensor(-1, dtype=dtype), rl.full((size,), -1, dtype=dtype)):
            for mode in ("floor", "trunc"):
                assert (rl.div(x, minus_one, rounding_mode=mode) == low).all()
            assert (x // minus_one == low).all()
            assert (x % minus_one == 0).all()
            assert (rl.fmod(x, minus_one) == 0).all()
        assert (x.abs() == low).all()
        assert (-x == low).all()
        assert (x * -1 == low).all()
        assert (x - 1 == greatest(dtype)).all()
        assert (rl.full((size,), greatest(dtype), dtype=dtype) + 1 == low).all()
        assert (x.sign() == -1).all()
        assert (x.square() == 0).all()
        x.neg_()
        assert (x == low).all()


# ---------------------------------------------------------------- shifts


@pytest.mark.parametrize("dtype", INTEGRAL, ids=str)
def test_shifts_out_of_range(dtype):
    """A shift by the width or more, or by less than 0, shifts everything out: 0, or the sign."""
    values = [v for v in (-128, -3, -1, 0, 1, 5, 127) if v >= least(dtype)] + [
        least(dtype),
        greatest(dtype),
    ]
    x = rl.tensor(values, dtype=dtype)
    amounts = [bits(dtype) - 1, bits(dtype), 100]
    amounts += [-1, -100] if least(dtype) < 0 else []
    for amount in amounts:
        all_out = not 0 <= amount < bits(dtype)
        left = [0 if all_out else wrapped(v << amount, dtype) for v in values]
        right = [(-1 if v < 0 else 0) if all_out else v >> amount for v in values]
        for shift in (amount, rl.full((len(values),), amount, dtype=dtype)):
            assert (x << shift).tolist() == left, amount
            assert (x >> shift).tolist() == right, amount
        y = x.clone()
        y <<= amount
        assert y.tolist() == left


# ---------------------------------------------------------------- floats to integers

SPECIAL = (
    0.0,
    -0.0,
    0.99,
    -0.99,
    1.5,
    -1.5,
    127.9,
    200.0,
    300.0,
    70000.0,
    -70000.0,
    2.0**31,
    -(2.0**31),
    2.0**40,
)


@pytest.mark.parametrize("source", (rl.float32, rl.float64, rl.float16, rl.bfloat16), ids=str)
@pytest.mark.parametrize("dtype", (*INTEGRAL, *UNSIGNED[1:], rl.bool), ids=str)
def test_floats_to_integers(source, dtype):
    """What the type holds is truncated. For the rest, which C++ leaves undefined, one element and
    many give the same: what PyTorch's x86-64 build gives for single elements.
    """
    for value in (*SPECIAL, math.inf, -math.inf, math.nan, 1e30, -1e30):
        number = rl.tensor(value, dtype=source)
        single = number.to(dtype).item()
        many = number.expand(67).contiguous().to(dtype)
        assert set(many.tolist()) == {single}, value
        strided = number.expand(67, 2).contiguous()[:, 1].to(dtype)
        assert set(strided.tolist()) == {single}, value
        exact = number.item()
        if dtype is rl.bool:
            assert single == bool(exact)
        elif math.isfinite(exact) and least(dtype) <= int(exact) <= greatest(dtype):
            assert single == int(exact)
        else:
            assert least(dtype) <= single <= greatest(dtype)


# ---------------------------------------------------------------- powers of integers


@pytest.mark.parametrize("dtype", INTEGRAL, ids=str)
def test_integer_powers_wrap(dtype):
    bases = [v for v in (-3, -2, -1, 0, 1, 2, 3, 10) if v >= least(dtype)]
    exponents = [0, 1, 2, 5, 8, 31, 63, 64, 100]
    for exponent in exponents:
        expected = [wrapped(base**exponent, dtype) for base in bases]
        assert (rl.tensor(bases, dtype=dtype) ** exponent).tolist() == expected
        if exponent <= greatest(dtype):
            powers = rl.full((len(bases),), exponent, dtype=dtype)
            assert rl.pow(rl.tensor(bases, dtype=dtype), powers).tolist() == expected


def test_negative_integer_exponents():
    x = rl.tensor([-2, -1, 1, 2])
    with pytest.raises(RuntimeError, match="negative"):
        x**-1
    for exponent, expected in ((-1, [0, -1, 1, 0]), (-2, [0, 1, 1, 0])):
        assert rl.pow(x, rl.full((4,), exponent)).tolist() == expected


# ---------------------------------------------------------------- PyTorch itself


def test_as_pytorch():
    torch = pytest.importorskip("torch")
    values = [-(2**63), 2**63 - 1, -7, -1, 0, 3, 100]
    a, b = rl.tensor(values), torch.tensor(values)
    for divisor in (2, -2, 7, -7, 2**40):
        for mode in ("floor", "trunc"):
            expected = torch.div(b, divisor, rounding_mode=mode)
            assert rl.div(a, divisor, rounding_mode=mode).tolist() == expected.tolist()
        assert (a % divisor).tolist() == (b % divisor).tolist()
        assert rl.fmod(a, divisor).tolist() == torch.fmod(b, divisor).tolist()
    for amount in (0, 1, 62, 63, 64, 100, -1):
        assert (a << amount).tolist() == (b << amount).tolist()
        assert (a >> amount).tolist() == (b >> amount).tolist()
    assert a.abs().tolist() == b.abs().tolist() and (-a).tolist() == (-b).tolist()
    for exponent in (0, 1, 2, 3, 63):
        assert (a**exponent).tolist() == (b**exponent).tolist()


@pytest.mark.parametrize("dtype", (*INTEGRAL, *UNSIGNED[1:]), ids=str)
def test_special_floats_to_integers_as_pytorch(dtype):
    torch = pytest.importorskip("torch")
    for source in ("float32", "float64"):
        for value in (*SPECIAL, math.inf, -math.inf, math.nan, 1e15, 1e19, -1e19, 1e30):
            ours = rl.tensor(value, dtype=getattr(rl, source)).to(dtype).item()
            theirs = (
                torch.tensor(value, dtype=getattr(torch, source))
                .to(getattr(torch, dtype.name))
                .item()
            )
            assert ours == theirs, (source, value)
