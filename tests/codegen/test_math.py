"""Accuracy of the elementary functions over random bit patterns and where they are used most."""

from __future__ import annotations

import math

import numpy
import pytest
from harness import unary

from rushlight import dtypes
from rushlight.codegen.target import AVX2, AVX512, host_target


def sigmoid(x):
    e = numpy.exp(-abs(x))
    return numpy.where(x < 0, e / (1 + e), 1 / (1 + e))


def by_element(function):
    """Math functions in double are exact enough to judge float32 only."""
    return lambda x: numpy.array([function(v) for v in x.astype("f8")], numpy.longdouble)


# Name: reference in extended precision, largest error in ulp.
FUNCTIONS = {
    "exp": (numpy.exp, 1.0), "exp2": (numpy.exp2, 1.2), "expm1": (numpy.expm1, 2.0),
    "log": (numpy.log, 1.0), "log1p": (numpy.log1p, 1.0), "log2": (numpy.log2, 1.0),
    "log10": (numpy.log10, 2.0),
    "tanh": (numpy.tanh, 1.6), "sigmoid": (sigmoid, 2.5), "sin": (numpy.sin, 1.0),
    "cos": (numpy.cos, 1.0),
    "tan": (numpy.tan, 1.0),
    "asin": (numpy.arcsin, 1.0), "acos": (numpy.arccos, 1.0), "atan": (numpy.arctan, 1.0),
    "sinh": (numpy.sinh, 2.0), "cosh": (numpy.cosh, 2.0), "asinh": (numpy.arcsinh, 2.0),
    "acosh": (numpy.arccosh, 2.5), "atanh": (numpy.arctanh, 2.0), "sqrt": (numpy.sqrt, 0.5),
    "rsqrt": (lambda x: 1 / numpy.sqrt(x), 1.6),
}  # fmt: skip


def arguments(dtype) -> numpy.ndarray:
    generator = numpy.random.default_rng(0)
    word = numpy.uint32 if dtype is dtypes.float32 else numpy.uint64
    patterns = generator.integers(0, numpy.iinfo(word).max, 30_000, dtype=word, endpoint=True)
    parts = [
        patterns.view(dtype.numpy),
        generator.normal(size=20_000) * 3,
        generator.uniform(-1, 1, 20_000),
        generator.uniform(-800, 800, 20_000),
        1 + generator.normal(size=10_000) * 1e-3,
        generator.normal(size=10_000) * 1e-3,
        [0.0, -0.0, math.inf, -math.inf, math.nan, 1, -1, 88.7228, -103.97, 709.782, -745.1],
        [math.pi, math.pi / 2, 1e22, 2.0**25, 2.0**24 + 1, 5e-324, 1e-45],
    ]
    return numpy.concatenate([numpy.asarray(part).astype(dtype.numpy) for part in parts])


def check(
    name: str, dtype, x: numpy.ndarray, reference: numpy.ndarray, limit: float, target=None
) -> None:
    got = unary(name, dtype, dtype, x, target)
    with numpy.errstate(all="ignore"):
        rounded = reference.astype(dtype.numpy)
        errors = numpy.abs(got.astype(numpy.longdouble) - reference) / numpy.spacing(
            numpy.abs(rounded)
        )
        finite = numpy.isfinite(rounded)
        numpy.testing.assert_array_equal(got[~finite], rounded[~finite])
        exact = finite & (got == rounded)
        errors = numpy.where(exact, numpy.minimum(errors, 0.5), errors)[finite]
    worst = numpy.argmax(errors)
    assert errors[worst] <= limit, f"{name}({x[finite][worst]!r}) is {errors[worst]} ulp off"
    zero = (x == 0) & ~numpy.isnan(rounded)
    numpy.testing.assert_array_equal(numpy.signbit(got[zero]), numpy.signbit(rounded[zero]))


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64], ids=lambda d: d.name)
@pytest.mark.parametrize("name", list(FUNCTIONS))
@pytest.mark.skipif(numpy.finfo(numpy.longdouble).nmant < 63, reason="needs extended precision")
def test_accuracy(name, dtype):
    function, limit = FUNCTIONS[name]
    x = arguments(dtype)
    with numpy.errstate(all="ignore"):
        reference = function(x.astype(numpy.longdouble))
    targets = [None, AVX2] if host_target() == AVX512 else [None]
    for target in targets:
        check(name, dtype, x, reference, limit, target)


@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_error_functions(name):
    x = arguments(dtypes.float32)
    check(name, dtypes.float32, x, by_element(getattr(math, name))(x), 1.3)
    special = pytest.importorskip("scipy.special")
    x = arguments(dtypes.float64)
    got = unary(name, dtypes.float64, dtypes.float64, x)
    rtol = 1e-13 if name == "erfc" else 1e-15
    numpy.testing.assert_allclose(got, getattr(special, name)(x), rtol=rtol, atol=1e-307)
