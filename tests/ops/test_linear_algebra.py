"""Linear algebra beside PyTorch: special values, empty and odd arguments, errors."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import rushlight
from rushlight import linalg
from rushlight.linalg import LinAlgError

torch = pytest.importorskip("torch")

DECOMPOSITIONS = (
    "inv", "inv_ex", "det", "slogdet", "svd", "svdvals", "eigh", "eigvalsh", "eig", "eigvals",
    "cholesky", "cholesky_ex", "qr", "pinv", "matrix_rank", "cond", "lu_factor", "lu_factor_ex",
    "lu", "ldl_factor", "ldl_factor_ex", "matrix_exp",
)  # fmt: skip


def both(path: str, *arguments: Any, **keywords: Any) -> tuple[Any, Any]:
    """What we and PyTorch give; an exception as its class, LinAlgError as a name."""
    results = []
    for package in (rushlight, torch):

        def convert(x: Any, package: Any = package) -> Any:
            return package.from_numpy(x.copy()) if isinstance(x, numpy.ndarray) else x

        function: Any = package
        for part in path.split("."):
            function = getattr(function, part)
        try:
            results.append(
                function(*map(convert, arguments), **{k: convert(v) for k, v in keywords.items()})
            )
        except Exception as error:
            is_algebra = isinstance(error, LinAlgError | torch.linalg.LinAlgError)
            results.append("LinAlgError" if is_algebra else type(error))
    return results[0], results[1]


def assert_same(ours: Any, theirs: Any, tolerance: float = 1e-5, shapes_only: bool = False) -> None:
    if isinstance(theirs, str | type):
        assert ours == theirs
    elif isinstance(theirs, tuple):
        assert not isinstance(ours, str | type), ours
        if hasattr(theirs, "n_fields"):
            assert type(ours).__name__ == type(theirs).__name__
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, other, tolerance, shapes_only)
    else:
        assert not isinstance(ours, str | type), ours
        assert str(ours.dtype) == str(theirs.dtype) and tuple(ours.shape) == tuple(theirs.shape)
        if not shapes_only:
            numpy.testing.assert_allclose(
                ours.numpy(), theirs.numpy(), rtol=tolerance, atol=tolerance
            )


@pytest.mark.parametrize("shape", ((0, 0), (2, 0, 3, 3), (0, 3), (3, 0), (3,), (2, 3)), ids=str)
@pytest.mark.parametrize("dtype", ("float32", "complex128", "int64", "float16"))
@pytest.mark.parametrize("name", DECOMPOSITIONS)
@pytest.mark.filterwarnings("ignore")
def test_shapes_and_dtypes(name: str, dtype: str, shape: tuple[int, ...]) -> None:
    x = numpy.arange(numpy.prod(shape), dtype=dtype).reshape(shape)
    if not x.size and dtype in ("int64", "float16"):
        pytest.skip("PyTorch refuses a dtype only where there is something to compute")
    ours, theirs = both(f"linalg.{name}", x)
    assert_same(ours, theirs, shapes_only=True)


@pytest.mark.parametrize("value", (0.0, float("nan"), float("inf"), -float("inf")))
@pytest.mark.parametrize("name", DECOMPOSITIONS)
def test_special_values(name: str, value: float) -> None:
    if name == "eigvals":
        pytest.skip("PyTorch may crash here")
    if name == "ldl_factor" and (value == 0 or value != value):
        pytest.skip("PyTorch has an internal error, or goes on, where we have a LinAlgError")
    ours, theirs = both(f"linalg.{name}", numpy.full((2, 2), value, numpy.float32))
    is_phase = value == 0 and name in ("qr", "svd", "eigh", "eig")
    same_inside = name not in (
        "qr",
        "lu",
        "lu_factor",
        "lu_factor_ex",
        "ldl_factor_ex",
        "ldl_factor",
    )
    only_shapes = is_phase or (value != 0 and not same_inside) or name in ("cholesky_ex", "inv_ex")
    assert_same(ours, theirs, shapes_only=only_shapes)


@pytest.mark.parametrize("value", (float("nan"), float("inf")))
def test_values_that_are_not_finite_are_refused(value: float) -> None:
    A = rushlight.full((3, 3), value)
    with pytest.raises(RuntimeError, match="NaN"):
        linalg.eigvals(A)
    for driver in ("gels", "gelsy", "gelsd", "gelss"):
        with pytest.raises(RuntimeError, match="NaN"):
            linalg.lstsq(A, A, driver=driver)


def test_one_bad_matrix_of_a_batch() -> None:
    good, bad = numpy.eye(2), numpy.ones((2, 2))
    batch = numpy.stack([good, bad, good])
    for name in ("inv", "cholesky", "lu_factor"):
        assert_same(*both(f"linalg.{name}", batch))
    with pytest.raises(LinAlgError, match=r"Batch element 1.*diagonal element 2 is zero"):
        linalg.inv(rushlight.from_numpy(batch))
    for name in ("inv_ex", "lu_factor_ex", "cholesky_ex"):
        ours, theirs = both(f"linalg.{name}", batch)
        assert ours.info.tolist() == theirs.info.tolist() == [0, 2, 0]
    endless = batch.copy()
    endless[1, 0, 0] = float("inf")
    for name in ("svdvals", "eigvalsh", "det", "matrix_exp"):
        assert_same(*both(f"linalg.{name}", endless))


def test_error_is_a_runtime_error() -> None:
    assert issubclass(LinAlgError, RuntimeError)
    with pytest.raises(LinAlgError, match="singular"):
        linalg.solve(rushlight.zeros(2, 2), rushlight.ones(2))
    with pytest.raises(LinAlgError, match="positive-definite"):
        linalg.cholesky(-rushlight.eye(2))


@pytest.mark.parametrize(
    "a, b, left",
    (
        ((3, 3), (3,), True),
        ((3, 3), (3, 2), True),
        ((2, 3, 3), (2, 3), True),
        ((2, 3, 3), (3, 4), True),
        ((2, 1, 3, 3), (4, 3, 2), True),
        ((3, 3), (2, 3), False),
        ((3, 3), (3,), False),
        ((3, 3), (2, 2), True),
        ((3, 2), (3, 2), True),
        ((2, 3, 3), (5, 3, 1), True),
        ((0, 0), (0, 2), True),
        ((3, 3), (3, 0), True),
        ((0, 3, 3), (3, 1), True),
    ),
    ids=str,
)
@pytest.mark.parametrize("name", ("solve", "solve_ex"))
def test_shapes_of_solutions(name: str, a: tuple[int, ...], b: tuple[int, ...], left: bool) -> None:
    random = numpy.random.default_rng(1)
    A, B = random.normal(size=a), random.normal(size=b)
    assert_same(*both(f"linalg.{name}", A, B, left=left))


@pytest.mark.parametrize("driver", (None, "gels", "gelsy", "gelsd", "gelss", "gesv"))
@pytest.mark.parametrize("shape", ((4, 3), (3, 4), (2, 4, 3), (0, 4, 3), (4, 0), (0, 3)), ids=str)
@pytest.mark.parametrize("kind", ("full", "ones"))
def test_least_squares(kind: str, shape: tuple[int, ...], driver: str | None) -> None:
    random = numpy.random.default_rng(2)
    A = numpy.ones(shape) if kind == "ones" else random.normal(size=shape)
    for B in (random.normal(size=(*shape[:-1], 2)), random.normal(size=shape[:-1])):
        ours, theirs = both("linalg.lstsq", A, B, driver=driver)
        if driver == "gels" and (kind == "ones" or shape == (4, 0)):
            continue  # rounding decides whether there is an error; PyTorch has no residuals
        assert_same(ours, theirs)


@pytest.mark.parametrize("hermitian", (False, True))
def test_tolerances_of_ranks_and_pseudoinverses(hermitian: bool) -> None:
    A = numpy.diag([4.0, 1.0, 1e-3, 0.0])
    keywords: tuple[dict[str, Any], ...] = (
        {},
        {"atol": 0.5},
        {"rtol": 0.5},
        {"atol": 1e-4, "rtol": 1e-2},
        {"atol": numpy.array([0.5, 2.0, 9.0])},
        {"atol": numpy.array([[0.0], [2.0]]), "rtol": numpy.array(0.1)},
    )
    for each in keywords:
        for name in ("matrix_rank", "pinv"):
            assert_same(*both(f"linalg.{name}", A, hermitian=hermitian, **each))
    assert_same(*both("linalg.matrix_rank", A, 2.0))
    assert_same(*both("linalg.pinv", A, 0.5))


def test_parts_of_lu() -> None:
    A = numpy.random.default_rng(3).normal(size=(2, 4, 3))
    LU, pivots = (x.numpy() for x in torch.linalg.lu_factor(torch.from_numpy(A)))
    for data in (True, False):
        for permutation in (True, False):
            ours, theirs = both("lu_unpack", LU, pivots, data, permutation)
            assert_same(ours, theirs)
    with pytest.raises(RuntimeError, match="pivots must be from 1 to 4"):
        rushlight.lu_unpack(rushlight.from_numpy(LU), rushlight.from_numpy(pivots + 9))


def test_foreign_pivots_do_no_harm() -> None:
    square = rushlight.eye(3)
    for pivots in ([99, 1, 1], [-1, -2, 3], [0, 0, 0], [-3, -3, -3]):
        places = rushlight.tensor(pivots, dtype=rushlight.int32)
        with pytest.raises(RuntimeError, match="pivots"):
            linalg.ldl_solve(square, places, square)


def test_adjugate_keeps_its_accuracy() -> None:
    """The gradient of det of an ill-conditioned matrix is its adjugate to rounding."""
    A = numpy.diag([1e8, 1.0, 1e-9])
    A[0, 2] = 3.0
    x = rushlight.from_numpy(A).requires_grad_()
    linalg.det(x).backward()
    expected = numpy.diag([1e-9, 1e8 * 1e-9, 1e8])
    expected[2, 0] = -3.0
    numpy.testing.assert_allclose(x.grad.numpy(), expected, atol=1e8 * 1e-15)


def test_exponentials() -> None:
    large = numpy.array([[0.0, 40.0], [-40.0, 0.0]])
    expected = numpy.array([[numpy.cos(40), numpy.sin(40)], [-numpy.sin(40), numpy.cos(40)]])
    ours = linalg.matrix_exp(rushlight.from_numpy(large)).numpy()
    numpy.testing.assert_allclose(ours, expected, atol=1e-13)
    mixed = numpy.stack([large, numpy.zeros((2, 2)), numpy.full((2, 2), 1e-30)])
    assert_same(*both("matrix_exp", mixed), tolerance=1e-10)


@pytest.mark.parametrize("name", DECOMPOSITIONS)
def test_vmap_is_a_batch(name: str) -> None:
    rushlight.manual_seed(5)
    A = rushlight.randn(4, 3, 3, dtype=rushlight.float64)
    batch = A @ A.mT + rushlight.eye(3, dtype=A.dtype)
    function = getattr(linalg, name)
    one, many = function(batch), rushlight.vmap(function)(batch)
    for x, y in zip(*(x if isinstance(x, tuple) else (x,) for x in (one, many)), strict=True):
        assert x.dtype is y.dtype and rushlight.equal(x, y)
    B = rushlight.randn(3, 2, dtype=A.dtype)
    shared = rushlight.vmap(linalg.solve, in_dims=(0, None))(batch, B)
    assert rushlight.equal(shared, linalg.solve(batch, B))


def test_named_results() -> None:
    result = linalg.svd(rushlight.eye(2))
    assert isinstance(result, rushlight.return_types.linalg_svd)
    assert repr(result).startswith("torch.return_types.linalg_svd(\nU=tensor(")
    U, S, Vh = (rushlight.empty(0) for _ in range(3))
    written = linalg.svd(rushlight.eye(2), out=(U, S, Vh))
    assert written.U is U and S.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("shape", ((6, 4), (4, 6), (2, 7, 5)))
def test_low_rank(shape: tuple[int, ...]) -> None:
    rushlight.manual_seed(1)
    A = rushlight.randn(*shape[:-1], 2, dtype=rushlight.float64) @ rushlight.randn(
        *shape[:-2], 2, shape[-1], dtype=rushlight.float64
    )
    U, S, V = rushlight.svd_lowrank(A, 3)
    assert rushlight.allclose((U * S.unsqueeze(-2)) @ V.mH, A)
    mean = A.mean(-2, keepdim=True)
    U, S, V = rushlight.pca_lowrank(A, 3)
    assert rushlight.allclose((U * S.unsqueeze(-2)) @ V.mH, A - mean)
    with pytest.raises(ValueError, match="non-negative integer"):
        rushlight.pca_lowrank(A, 99)


def test_norms_of_negative_order_at_zero() -> None:
    for order in (-1.0, -3.5, 0.5, 2.0, float("inf")):
        x = rushlight.zeros(5, requires_grad=True)
        linalg.vector_norm(x, order).backward()
        assert x.grad.tolist() == [0.0] * 5, order


@pytest.mark.parametrize("largest", (True, False))
@pytest.mark.parametrize("general", (True, False))
def test_some_eigenvalues(general: bool, largest: bool) -> None:
    random = numpy.random.default_rng(4)
    A, B = (random.normal(size=(9, 9)) for _ in range(2))
    A, B = A + A.T, B @ B.T + numpy.eye(9)
    keywords = {"B": B} if general else {}
    (ours, X), (theirs, _) = both("lobpcg", A, 2, largest=largest, **keywords)
    numpy.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6)
    A, B = rushlight.from_numpy(A), rushlight.from_numpy(B if general else numpy.eye(9))
    assert rushlight.allclose(A @ X, B @ X * ours)
    assert rushlight.allclose(X.mT @ B @ X, rushlight.eye(2, dtype=A.dtype))
    assert both("lobpcg", A.numpy(), 4) == (ValueError, ValueError)


@pytest.mark.parametrize("name", ("eig", "symeig", "lstsq", "solve", "matrix_rank"))
def test_removed_functions_name_their_successors(name: str) -> None:
    arguments = [rushlight.eye(2)] * (2 if name in ("lstsq", "solve") else 1)
    with pytest.raises(RuntimeError, match=r"has been removed: use linalg\."):
        getattr(rushlight, name)(*arguments)
    if name != "matrix_rank":
        with pytest.raises(RuntimeError, match=r"use linalg\."):
            getattr(rushlight.eye(2), name)(*arguments[1:])
