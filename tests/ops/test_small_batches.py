"""Batches of many small matrices take other routines than single ones; both find the same."""

from __future__ import annotations

import numpy
import pytest

import rushlight
from rushlight import linalg

DTYPES = ("float32", "float64", "complex64", "complex128")
COUNT = 460  # enough for solving systems of three equations
SMALL = {"float32": 2e-5, "complex64": 2e-5, "float64": 1e-12, "complex128": 1e-12}


def _matrices(dtype, m, n, seed=0):
    draw = numpy.random.default_rng(seed)
    values = draw.normal(size=(COUNT, m, n))
    if dtype.startswith("complex"):
        values = values + 1j * draw.normal(size=values.shape)
    values[3] = 0
    values[5, :, 0] = 0  # no pivot in the first column
    values[7] = numpy.round(values[7])  # equal candidates for pivots
    values[11] *= 1e-30 if dtype in ("float32", "complex64") else 1e-200
    return values.astype(dtype)


def _one_by_one(function, *arrays):
    """The results of calls with one matrix each, stacked."""
    results = [function(*(rushlight.tensor(x[i]) for x in arrays)) for i in range(COUNT)]
    if isinstance(results[0], rushlight.Tensor):
        return [rushlight.stack(results).numpy()]
    return [rushlight.stack(list(each)).numpy() for each in zip(*results)]


def _agree(function, *arrays, dtype):
    found = function(*map(rushlight.tensor, arrays))
    found = [found] if isinstance(found, rushlight.Tensor) else found
    for ours, expected in zip(found, _one_by_one(function, *arrays), strict=True):
        assert ours.numpy().dtype == expected.dtype
        scale = numpy.abs(expected).max(axis=tuple(range(1, expected.ndim)), keepdims=True)
        if expected.ndim == 1 and expected.dtype != numpy.int32:  # cancellation in determinants
            scale = numpy.linalg.norm(arrays[0], axis=-1).prod(-1)
        error = numpy.abs(ours.numpy() - expected)
        assert (error <= SMALL[dtype] * numpy.maximum(scale, 1e-30)).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", ((1, 1), (2, 2), (3, 3), (6, 6), (2, 5), (5, 2)))
def test_lu(shape, dtype):
    A = _matrices(dtype, *shape)
    _agree(linalg.lu_factor_ex, A, dtype=dtype)
    _agree(linalg.lu, A, dtype=dtype)
    P, L, U = linalg.lu(rushlight.tensor(A.reshape(4, 115, *shape)))
    numpy.testing.assert_allclose(
        (P @ L @ U).numpy().reshape(A.shape), A, rtol=1e-4, atol=10 * SMALL[dtype]
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", (1, 2, 3, 5))
def test_determinants(size, dtype):
    _agree(linalg.det, _matrices(dtype, size, size), dtype=dtype)


def test_determinants_of_singular_matrices_and_permutations():
    A = rushlight.zeros(COUNT, 3, 3)
    assert linalg.det(A).tolist() == [0.0] * COUNT
    orders = numpy.array([numpy.random.default_rng(i).permutation(4) for i in range(COUNT)])
    P = numpy.eye(4)[orders]
    found = linalg.det(rushlight.tensor(P)).numpy()
    numpy.testing.assert_array_equal(found, numpy.linalg.det(P).round())


def test_numbers_that_are_not_finite():
    A = _matrices("float64", 3, 3)
    A[20, 1, 1], A[21, 0, 2] = numpy.nan, numpy.inf
    found = linalg.det(rushlight.tensor(A)).numpy()
    assert not numpy.isfinite(found[20:22]).any()
    others = numpy.delete(numpy.arange(COUNT), [20, 21])
    numpy.testing.assert_allclose(found[others], numpy.linalg.det(A[others]), rtol=1e-9, atol=1e-12)
    scales = rushlight.diag(rushlight.tensor([1e30, 1e30, 1e-30])).expand(COUNT, 3, 3)
    assert rushlight.allclose(linalg.det(scales), rushlight.tensor(1e30))
    largest = rushlight.full((COUNT, 2, 2), 3e38)
    assert linalg.det(largest).tolist() == [0.0] * COUNT


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("upper", (False, True))
@pytest.mark.parametrize("unitriangular", (False, True))
@pytest.mark.parametrize("left", (False, True))
def test_triangular_systems(left, unitriangular, upper, dtype):
    draw = numpy.random.default_rng(1)
    A = (draw.normal(size=(COUNT, 4, 4)) * 0.3 + 2 * numpy.eye(4)).astype(dtype)
    B = draw.normal(size=(COUNT, 4, 4)).astype(dtype)
    _agree(
        lambda A, B: linalg.solve_triangular(
            A, B, upper=upper, left=left, unitriangular=unitriangular
        ),
        A,
        B,
        dtype=dtype,
    )
    other = rushlight.full((COUNT, 4, 4), float("nan")).tril(-1) if upper else None
    if other is not None and dtype == "float64":  # the other triangle is not read
        a = rushlight.tensor(A).triu()
        expected = linalg.solve_triangular(a, rushlight.tensor(B), upper=True)
        found = linalg.solve_triangular(
            rushlight.where(other == other, a, other), rushlight.tensor(B), upper=True
        )
        assert rushlight.allclose(found, expected)


@pytest.mark.parametrize("dtype", ("float64", "complex128"))
def test_systems_solved_by_factors(dtype):
    draw = numpy.random.default_rng(2)
    A = (draw.normal(size=(COUNT, 3, 3)) + 3 * numpy.eye(3)).astype(dtype)
    B = rushlight.tensor(draw.normal(size=(COUNT, 3, 2)).astype(dtype))
    a = rushlight.tensor(A)
    assert rushlight.allclose(a @ linalg.lu_solve(*linalg.lu_factor(a), B), B)
    definite = a @ a.mH + rushlight.eye(3, dtype=a.dtype)
    X = rushlight.cholesky_solve(B, linalg.cholesky(definite))
    assert rushlight.allclose(definite @ X, B)


@pytest.mark.parametrize("dtype", ("float64", "complex128"))
def test_gradient_of_determinants_of_which_some_are_singular(dtype):
    A = _matrices(dtype, 3, 3)
    whole = rushlight.tensor(A, requires_grad=True)
    (found,) = rushlight.autograd.grad(linalg.det(whole).real.sum(), whole)
    expected = []
    for matrix in A:
        single = rushlight.tensor(matrix, requires_grad=True)
        expected.append(rushlight.autograd.grad(linalg.det(single).real, single)[0])
    assert rushlight.allclose(found, rushlight.stack(expected), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", (1, 2, 3, 5))
def test_systems_and_inverses(size, dtype):
    draw = numpy.random.default_rng(4)
    A = (draw.normal(size=(COUNT, size, size)) + 3 * numpy.eye(size)).astype(dtype)
    B = draw.normal(size=(COUNT, size, 2)).astype(dtype)
    tolerance = 50 * SMALL[dtype]
    for function, arrays in ((linalg.solve, (A, B)), (linalg.inv, (A,))):
        found = function(*map(rushlight.tensor, arrays)).numpy()
        (expected,) = _one_by_one(function, *arrays)
        numpy.testing.assert_allclose(found, expected, tolerance, tolerance)


def test_one_singular_matrix_of_many_is_named():
    A = rushlight.eye(3).repeat(COUNT, 1, 1)
    A[17, 1] = 0
    with pytest.raises(linalg.LinAlgError, match="Batch element 17"):
        linalg.inv(A)
    with pytest.raises(linalg.LinAlgError, match="Batch element 17"):
        linalg.solve(A, A)
    inverse, info = linalg.inv_ex(A)
    assert info.nonzero().tolist() == [[17]] and info[17] == 2
    assert rushlight.equal(inverse[:17], A[:17])


def test_no_right_sides():
    A = rushlight.eye(3).repeat(COUNT, 1, 1)
    empty = rushlight.ones(COUNT, 3, 0)
    assert linalg.solve(A, empty).shape == (COUNT, 3, 0)
    assert linalg.solve_triangular(A, empty, upper=True).shape == (COUNT, 3, 0)
    assert linalg.det(rushlight.ones(0, 3, 3)).shape == (0,)
