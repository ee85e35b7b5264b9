"""Which dtypes out= may have depends on the arguments of some operators."""

from __future__ import annotations

import pytest

import rushlight

torch = pytest.importorskip("torch")

DTYPES = ("bool", "uint8", "int64", "float16", "float32", "float64", "complex64")


def matrix(m, dtype):
    return m.tensor([[0, 1], [2, 3]]).to(getattr(m, dtype))


CALLS = {
    "abs": lambda m, x: (m.abs, x),
    "clamp by numbers": lambda m, x: (m.clamp, x, 1, 2),
    "clamp by tensors": lambda m, x: (m.clamp, x, x, None),
    "inner": lambda m, x: (m.inner, x, x),
    "inner with a number's tensor": lambda m, x: (m.inner, x, x[1, 1]),
    "matrix_power 0": lambda m, x: (m.matrix_power, x, 0),
    "matrix_power 1": lambda m, x: (m.matrix_power, x, 1),
    "matrix_power 2": lambda m, x: (m.matrix_power, x, 2),
}


def outcome(m, call, dtype, out):
    function, *args = call(m, matrix(m, dtype))
    try:
        return function(*args, out=m.zeros(2, 2, dtype=getattr(m, out))).tolist()
    except RuntimeError:  # or NotImplementedError
        return "refused"


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_dtypes_that_out_may_have(name, dtype):
    for out in DTYPES:
        found, expected = (outcome(m, CALLS[name], dtype, out) for m in (rushlight, torch))
        assert found == expected or dtype == "bool" and expected == "refused", out


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("out", ("bool", "uint8"))
def test_truth_of_any_dtype_is_written(dtype, out):
    for name in ("any", "all"):
        for dim in ((), (1,)):
            found, expected = (
                getattr(m, name)(
                    matrix(m, dtype), *dim, out=m.zeros([2] * len(dim), dtype=getattr(m, out))
                ).tolist()
                for m in (rushlight, torch)
            )
            assert found == expected


def test_clamp_in_place_by_tensors_of_another_dtype():
    for m in (rushlight, torch):
        x = m.ones(3)
        x.clamp_(m.tensor(2.0, dtype=m.float64), m.tensor([3.0], dtype=m.float64))
        assert (x.tolist(), str(x.dtype)) == ([2.0] * 3, "torch.float32")


def test_cat_of_empty_vectors_along_any_dim():
    for m in (rushlight, torch):
        assert m.cat([m.zeros(0), m.zeros(0)], 7).shape == (0,)


@pytest.mark.parametrize("dtype", ("float16", "bfloat16"))
def test_half_precision_is_rounded_before_it_is_converted(dtype):
    for name in ("exp", "atan2", "asin", "sqrt", "ldexp"):
        for out in ("float32", "float64", "complex64"):
            found, expected = (
                getattr(m, name)(*arguments, out=m.zeros(40, dtype=getattr(m, out)))
                for m in (rushlight, torch)
                for x in [(m.arange(40) / 40).to(getattr(m, dtype))]
                for arguments in [(x, 20 * x) if name in ("atan2", "ldexp") else (x,)]
            )
            half = torch.tensor(found.real.tolist(), dtype=torch.float64).to(getattr(torch, dtype))
            assert half.tolist() == found.real.tolist()
            assert torch.allclose(half.double(), expected.real.double(), rtol=2**-7)


def test_decimals_of_half_precision_are_rounded_once():
    for dtype in ("float16", "bfloat16", "float32"):
        for decimals in (2, 1, -1):
            found, expected = (
                m.round(m.linspace(-3, 30, 400).to(getattr(m, dtype)), decimals=decimals).tolist()
                for m in (rushlight, torch)
            )
            assert found == expected


def test_clamp_takes_a_tensor_without_dims_beside_a_number_as_a_number():
    for dtype in ("int64", "float16", "float32"):
        for bound in ("float64", "float32", "int64", "bool"):
            for shape in ((), (3,)):
                found, expected = (
                    m.clamp(x.to(getattr(m, dtype)), m.ones(()).to(getattr(m, bound)), 2)
                    for m in (rushlight, torch)
                    for x in [m.ones(shape)]
                )
                assert str(found.dtype) == str(expected.dtype)
                assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("name", ("cumsum", "cumprod"))
def test_running_results_of_bools_where_nothing_runs(name):
    for m in (rushlight, torch):
        function = getattr(m, name)
        for shape in ((), (0,), (2, 0)):
            x = m.ones(shape, dtype=m.bool)
            result = function(x, 0, dtype=m.bool)
            assert (result.tolist(), result.dtype) == (x.tolist(), m.bool)
            assert getattr(x, f"{name}_")(0) is x
            assert function(x, 0, out=x).tolist() == result.tolist()
        for shape in ((1,), (2,)):
            with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
                function(m.ones(shape, dtype=m.bool), 0, dtype=m.bool)
