"""Scalar instructions against PyTorch and NumPy, for every dtype they take."""

from __future__ import annotations

import itertools

import numpy
import pytest

torch = pytest.importorskip("torch")

from harness import binary, numpy_of, unary  # noqa: E402

from rushlight import dtypes  # noqa: E402

INTEGERS = [d for d in dtypes.ALL if d.kind in "iu"]
FLOATS = [d for d in dtypes.ALL if d.kind == "f"]
COMPLEX = [d for d in dtypes.ALL if d.kind == "c"]
SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.5,
    -2.5,
    3.7,
    -300.7,
    7e4,
    -7e4,
    1e-40,
    3e9,
    -3e9,
    5e9,
    1e10,
    9.3e18,
    1.8e19,
    1e30,
]
SPECIAL += [-1e30, float("inf"), -float("inf"), float("nan"), 100.0, -128.0, 127.0, 255.0, 65504.0]


def torch_type(dtype):
    return getattr(torch, dtype.name)


def to_numpy(tensor: torch.Tensor, dtype) -> numpy.ndarray:
    """The tensor's memory as the harness stores a dtype."""
    if dtype is dtypes.bfloat16:
        return tensor.contiguous().view(torch.int16).numpy().view(numpy.uint16)
    if dtype is dtypes.complex32:
        return torch.view_as_real(tensor).contiguous().numpy().view(numpy_of(dtype))[..., 0]
    return tensor.contiguous().numpy()


def to_torch(array: numpy.ndarray, dtype) -> torch.Tensor:
    if dtype is dtypes.bfloat16:
        return torch.from_numpy(array.view(numpy.int16)).view(torch.bfloat16)
    if dtype is dtypes.complex32:
        return torch.view_as_complex(
            torch.from_numpy(array.view(numpy.float16).reshape(*array.shape, 2))
        )
    return torch.from_numpy(array)


def sample(dtype, size: int = 67, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    if dtype.kind == "b":
        return torch.randint(0, 2, (size,), generator=generator).to(torch.bool)
    if dtype.kind in "iu":
        bits = torch.randint(-(2**63), 2**63 - 1, (size,), generator=generator)
        values = bits.to(torch_type(dtype))
        values[:4] = torch.tensor([0, 1, 2, 3]).to(values.dtype)
        if dtype.is_signed:
            values[4:7] = torch.tensor(
                [-1, torch.iinfo(values.dtype).min, torch.iinfo(values.dtype).max]
            )
        return values
    real = torch.randn(size, generator=generator, dtype=torch.float64) * 3
    if dtype.kind == "f":
        special = (
            torch.tensor(SPECIAL, dtype=torch.float64).clamp(-3e38, 3e38)
            if size > 2 * len(SPECIAL)
            else real[:1]
        )
        real[: len(special)] = special
        real[len(special)] = float("nan")
        real[len(special) + 1] = float("inf")
        return (
            real.to(torch.float32).to(torch_type(dtype))
            if dtype.itemsize == 2
            else real.to(torch_type(dtype))
        )
    imaginary = torch.randn(size, generator=generator, dtype=torch.float64) * 3
    return torch.complex(real, imaginary).to(torch.complex64).to(torch_type(dtype))


def check(got: numpy.ndarray, dtype, expected: torch.Tensor, tolerance: float = 0.0) -> None:
    result = to_torch(got, dtype)
    assert result.dtype == expected.dtype
    if dtype.itemsize == 2 and dtype.kind == "f":
        result, expected = result.double(), expected.double()
    if dtype is dtypes.complex32:
        result, expected = result.to(torch.complex64), expected.to(torch.complex64)
    torch.testing.assert_close(
        result, expected, rtol=tolerance, atol=tolerance / 100, equal_nan=True
    )


@pytest.mark.parametrize(
    ("source", "result"), list(itertools.product(dtypes.ALL, dtypes.ALL)), ids=lambda d: d.name
)
def test_convert(source, result):
    x = sample(source)
    if (
        source.kind == "f"
    ):  # scalar conversions are the rule; PyTorch's vector code differs out of range
        expected = torch.stack([each.reshape(1).to(torch_type(result))[0] for each in x])
    else:
        expected = x.to(torch_type(result))
    got = unary("convert", source, result, to_numpy(x, source))
    check(got, result, expected)


@pytest.mark.parametrize("dtype", [dtypes.bool, *INTEGERS, *FLOATS, *COMPLEX], ids=lambda d: d.name)
@pytest.mark.parametrize("name", ["add", "mul", "eq", "ne"])
def test_arithmetic(name, dtype):
    x, y = sample(dtype), sample(dtype, seed=1)
    y[::5] = x[::5]
    result = dtypes.bool if name in ("eq", "ne") else dtype
    got, status = binary(name, dtype, result, to_numpy(x, dtype), to_numpy(y, dtype))
    assert status == 0
    if dtype in (dtypes.uint16, dtypes.uint32, dtypes.uint64):
        function = {
            "add": numpy.add,
            "mul": numpy.multiply,
            "eq": numpy.equal,
            "ne": numpy.not_equal,
        }[name]
        numpy.testing.assert_array_equal(got, function(x.numpy(), y.numpy()))
        return
    if dtype is dtypes.complex32:
        function = getattr(torch, name)
        wide = function(x.to(torch.complex64), y.to(torch.complex64))
        check(got, result, wide if name in ("eq", "ne") else wide.to(torch.complex32), 2e-3)
        return
    check(got, result, getattr(torch, name)(x, y), 1e-6 if dtype.is_complex else 0)


@pytest.mark.parametrize("dtype", [dtypes.bool, *INTEGERS, *FLOATS], ids=lambda d: d.name)
@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "maximum", "minimum"])
def test_order(name, dtype):
    x, y = sample(dtype), sample(dtype, seed=1)
    y[::5] = x[::5]
    result = dtype if name in ("maximum", "minimum") else dtypes.bool
    got, _ = binary(name, dtype, result, to_numpy(x, dtype), to_numpy(y, dtype))
    functions = {
        "lt": numpy.less, "le": numpy.less_equal, "gt": numpy.greater, "ge": numpy.greater_equal,
        "maximum": numpy.maximum, "minimum": numpy.minimum,
    }  # fmt: skip
    if dtype is dtypes.bfloat16:
        check(got, result, getattr(torch, name)(x, y))
        return
    numpy.testing.assert_array_equal(got, functions[name](x.numpy(), y.numpy()))


@pytest.mark.parametrize(
    "dtype", [*INTEGERS, dtypes.float32, dtypes.float64, dtypes.float16], ids=lambda d: d.name
)
@pytest.mark.parametrize("name", ["floor_divide", "trunc_divide", "remainder", "fmod"])
@pytest.mark.parametrize("size", [1, 67])
def test_division(name, dtype, size):
    x, y = sample(dtype)[-size:].clone(), sample(dtype, seed=1)[-size:].clone()
    if dtype.kind != "f":
        y = torch.from_numpy(numpy.where(y.numpy() == 0, 7, y.numpy()).astype(dtype.numpy))
    got, status = binary(name, dtype, dtype, to_numpy(x, dtype), to_numpy(y, dtype))
    assert status == 0
    if dtype.kind != "f":
        numbers = x.tolist(), y.tolist()
        expected = []
        for a, b in zip(*numbers, strict=True):
            truncated = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            exact = {
                "floor_divide": a // b, "trunc_divide": truncated, "remainder": a % b,
                "fmod": a - truncated * b,
            }[name]  # fmt: skip
            expected.append(exact)
        wrapped = torch.tensor(
            [e % (1 << 64) - (1 << 64) * (e % (1 << 64) >= 1 << 63) for e in expected]
        )
        numpy.testing.assert_array_equal(got, wrapped.to(torch_type(dtype)).numpy())
        return
    if name in ("floor_divide", "trunc_divide"):
        expected = torch.div(x, y, rounding_mode=name.partition("_")[0])
    else:
        expected = getattr(torch, name)(x, y)
    check(got, dtype, expected)


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.name)
def test_division_by_zero_sets_the_status(dtype):
    x = numpy.arange(1, 34).astype(dtype.numpy)
    for size in (1, 15, 16, 33):
        zero = numpy.ones(size, dtype.numpy)
        assert binary("floor_divide", dtype, dtype, x[:size], zero)[1] == 0
        zero[-1] = 0
        for name in ("floor_divide", "trunc_divide", "remainder", "fmod"):
            assert binary(name, dtype, dtype, x[:size], zero)[1] == 2


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.name)
def test_shifts_and_bits(dtype):
    x = to_numpy(sample(dtype), dtype)
    width = dtype.itemsize * 8
    for count in (0, 1, width - 1, width, width + 1, 64, -1):
        amount = numpy.full_like(
            x, count % (1 << width) if not dtype.is_signed else min(count, 127)
        )
        valid = 0 <= int(amount[0]) < width
        left, _ = binary("shift_left", dtype, dtype, x, amount)
        right, _ = binary("shift_right", dtype, dtype, x, amount)
        shift = dtype.numpy.type(count if valid else 0)
        numpy.testing.assert_array_equal(left, numpy.left_shift(x, shift) if valid else 0)
        sign = numpy.where(x < 0, -1, 0).astype(x.dtype)
        numpy.testing.assert_array_equal(right, numpy.right_shift(x, shift) if valid else sign)
    y = x[::-1].copy()
    for name, function in (
        ("and", numpy.bitwise_and),
        ("or", numpy.bitwise_or),
        ("xor", numpy.bitwise_xor),
    ):
        numpy.testing.assert_array_equal(binary(name, dtype, dtype, x, y)[0], function(x, y))
    numpy.testing.assert_array_equal(unary("not", dtype, dtype, x), ~x)


@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: d.name)
def test_integer_power(dtype):
    x = to_numpy(sample(dtype), dtype)
    x[:9] = numpy.array([0, 1, 2, 3, 5, 7, 0, 1, 2]).astype(x.dtype)
    for exponent in (0, 1, 2, 3, 13, 64, 100, *((-1, -2) if dtype.is_signed else ())):
        got, _ = binary("pow", dtype, dtype, x, numpy.full_like(x, exponent))
        modulus = 1 << (8 * dtype.itemsize)
        if exponent < 0:
            expected = [{1: 1, -1: (-1) ** exponent}.get(int(v), 0) for v in x]
        else:
            expected = [pow(int(v) % modulus, exponent, modulus) for v in x]
        bits = numpy.array([int(e) % modulus for e in expected], numpy.uint64)
        numpy.testing.assert_array_equal(
            got, bits.astype(numpy.dtype(f"u{dtype.itemsize}")).view(x.dtype)
        )


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS], ids=lambda d: d.name)
@pytest.mark.parametrize("name", ["neg", "abs", "sign", "square"])
def test_unary(name, dtype):
    x = sample(dtype)
    got = unary(name, dtype, dtype, to_numpy(x, dtype))
    if dtype in (dtypes.uint16, dtypes.uint32, dtypes.uint64):
        functions = {
            "neg": numpy.negative,
            "abs": numpy.abs,
            "sign": numpy.sign,
            "square": numpy.square,
        }
        numpy.testing.assert_array_equal(got, functions[name](x.numpy()))
    else:
        check(got, dtype, getattr(torch, name)(x))


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
@pytest.mark.parametrize(
    "name", ["floor", "ceil", "round", "trunc", "isnan", "isinf", "isfinite", "signbit"]
)
def test_float_only(name, dtype):
    x = sample(dtype)
    result = dtypes.bool if name.startswith(("is", "sign")) else dtype
    check(unary(name, dtype, result, to_numpy(x, dtype)), result, getattr(torch, name)(x))


@pytest.mark.parametrize("dtype", [dtypes.complex64, dtypes.complex128], ids=lambda d: d.name)
@pytest.mark.parametrize(
    "name",
    "exp log sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh "
    "sigmoid log2 log10 log1p expm1 neg sgn conj square exp2".split(),
)
def test_complex_functions(name, dtype):
    x = sample(dtype)
    got = unary(name, dtype, dtype, to_numpy(x, dtype))
    function = torch.conj_physical if name == "conj" else getattr(torch, name)
    reference = function(x.to(torch.complex128)).to(torch_type(dtype))
    check(got, dtype, reference, 1e-5 if dtype is dtypes.complex64 else 1e-12)


@pytest.mark.parametrize("dtype", [dtypes.complex64, dtypes.complex128], ids=lambda d: d.name)
def test_complex_parts_and_quotients(dtype):
    x, y = sample(dtype), sample(dtype, seed=1)
    x[3], y[3] = complex(1, 2), 0
    tolerance = 1e-5 if dtype is dtypes.complex64 else 1e-12
    arrays = to_numpy(x, dtype), to_numpy(y, dtype)
    check(binary("div", dtype, dtype, *arrays)[0], dtype, x / y, tolerance)
    check(binary("pow", dtype, dtype, *arrays)[0], dtype, torch.pow(x, y), 100 * tolerance)
    real = dtype.to_real()
    for name in ("abs", "angle", "real", "imag"):
        check(unary(name, dtype, real, arrays[0]), real, getattr(torch, name)(x), tolerance)


def test_complex_magnitude_of_extremes():
    x = numpy.array(
        [3e300 + 4e300j, 3e-310 + 4e-310j, complex(numpy.inf, numpy.nan), 0j, complex(numpy.nan, 1)]
    )
    got = unary("abs", dtypes.complex128, dtypes.float64, x)
    numpy.testing.assert_allclose(got, numpy.abs(x), rtol=1e-15)


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64], ids=lambda d: d.name)
@pytest.mark.parametrize("name", ["pow", "atan2", "hypot", "copysign", "nextafter"])
def test_float_pairs(name, dtype):
    values = numpy.array([*SPECIAL, 1e-5, 10.0, -3.0, 2.0, 3.0, -0.5, 1 / 3], dtype.numpy)
    x, y = (each.reshape(-1).copy() for each in numpy.meshgrid(values, values))
    got, _ = binary(name, dtype, dtype, x, y)
    functions = {
        "pow": numpy.power, "atan2": numpy.arctan2, "hypot": numpy.hypot,
        "copysign": numpy.copysign, "nextafter": numpy.nextafter,
    }  # fmt: skip
    with numpy.errstate(all="ignore"):
        expected = (
            functions[name](x, y)
            if name == "nextafter"
            else functions[name](x.astype("f8"), y.astype("f8"))
        )
        expected = expected.astype(dtype.numpy)
    numpy.testing.assert_allclose(got, expected, rtol=2e-7 if dtype is dtypes.float32 else 4e-16)
    numpy.testing.assert_array_equal(
        numpy.signbit(got[got == 0]), numpy.signbit(expected[got == 0])
    )


def test_half_rounding_covers_every_value():
    for dtype in (dtypes.float16, dtypes.bfloat16):
        bits = numpy.arange(1 << 16, dtype=numpy.uint16)
        stored = bits.view(numpy_of(dtype))
        wide = unary("convert", dtype, dtypes.float32, stored)
        assert torch.equal(
            torch.from_numpy(wide).nan_to_num(7.0), to_torch(stored, dtype).float().nan_to_num(7.0)
        )
        again = unary("convert", dtypes.float32, dtype, wide)
        check(again, dtype, to_torch(stored, dtype))
        with numpy.errstate(invalid="ignore"):
            middle = (wide[:-1].astype(numpy.float64) + wide[1:]) / 2
        ties = middle.astype(numpy.float32)
        check(
            unary("convert", dtypes.float32, dtype, ties),
            dtype,
            torch.from_numpy(ties).to(torch_type(dtype)),
        )
