"""Gradients of linear algebra, first and second, forward and batched, against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight
from rushlight import linalg
from rushlight.autograd import gradcheck, gradgradcheck

REAL, COMPLEX = rushlight.float64, rushlight.complex128
SHAPES = ((3, 3), (2, 4, 3), (3, 5))


def draw(*shape: int, dtype: Any) -> Any:
    return rushlight.randn(*shape, dtype=dtype).requires_grad_()


def positive(x: Any) -> Any:
    return x @ x.mH + rushlight.eye(x.shape[-2], dtype=x.dtype)


def check(function: Callable[..., Any], *arguments: Any, second: bool = True) -> None:
    gradcheck(function, arguments, check_forward_ad=True, check_batched_grad=True)
    if second:
        gradgradcheck(function, arguments)


def svd_of(x: Any) -> Any:
    """What does not depend on the phases of complex singular vectors."""
    U, S, Vh = linalg.svd(x, full_matrices=False)
    if not x.dtype.is_complex:
        return U, S, Vh
    return S, U.abs(), Vh.abs(), U[..., :2] @ Vh[..., :2, :]


def eigh_of(x: Any) -> Any:
    values, V = linalg.eigh(x + x.mH)
    return (values, V.abs(), V[..., :1] @ V[..., :1].mH) if x.dtype.is_complex else (values, V)


def eig_of(x: Any) -> Any:
    values, V = linalg.eig(x)
    return values, V.abs(), V[..., :1] @ V[..., :1].mH


def solve_by_lu(x: Any, b: Any, left: bool, adjoint: bool) -> Any:
    return linalg.lu_solve(*linalg.lu_factor(x), b, left=left, adjoint=adjoint)


SQUARE: dict[str, Callable[[Any], Any]] = {
    "inv": linalg.inv,
    "det": linalg.det,
    "logabsdet": lambda x: linalg.slogdet(x).logabsdet,
    "logdet": lambda x: rushlight.logdet(positive(x)),
    "cholesky": lambda x: linalg.cholesky(positive(x)),
    "cholesky upper": lambda x: linalg.cholesky(positive(x), upper=True),
    "cholesky_inverse": rushlight.cholesky_inverse,
    "cholesky_inverse upper": lambda x: rushlight.cholesky_inverse(x, True),
    "pinv hermitian": lambda x: linalg.pinv(x + x.mH, hermitian=True),
    "eigh": eigh_of,
    "eigvalsh": lambda x: linalg.eigvalsh(x + x.mH, "U"),
    "eig": eig_of,
    "eigvals": linalg.eigvals,
    "matrix_exp": linalg.matrix_exp,
    "matrix_power": lambda x: linalg.matrix_power(x, -2),
    **{
        f"cond {p}": lambda x, p=p: linalg.cond(x, p)
        for p in (None, -2, "fro", "nuc", 1, -1, float("inf"))
    },
}
ANY: dict[str, Callable[[Any], Any]] = {
    "svd": svd_of,
    "svdvals": linalg.svdvals,
    "pinv": linalg.pinv,
    "qr": lambda x: tuple(linalg.qr(x)),
    "lu_factor": lambda x: linalg.lu_factor(x).LU,
    "lu": lambda x: linalg.lu(x)[1:],
    "norms": lambda x: tuple(linalg.matrix_norm(x, p) for p in ("nuc", 2, -2)),
}


@pytest.mark.parametrize("dtype", (REAL, COMPLEX), ids=str)
@pytest.mark.parametrize("name", SQUARE)
def test_of_square_matrices(name: str, dtype: Any) -> None:
    rushlight.manual_seed(1)
    check(SQUARE[name], draw(2, 3, 3, dtype=dtype))


@pytest.mark.parametrize("dtype", (REAL, COMPLEX), ids=str)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ANY)
def test_of_matrices(name: str, shape: tuple[int, ...], dtype: Any) -> None:
    rushlight.manual_seed(2)
    check(ANY[name], draw(*shape, dtype=dtype))


def test_sign_of_a_complex_determinant() -> None:
    rushlight.manual_seed(3)
    check(lambda x: tuple(linalg.slogdet(x)), draw(2, 3, 3, dtype=COMPLEX))


@pytest.mark.parametrize("dtype", (REAL, COMPLEX), ids=str)
@pytest.mark.parametrize("rank", (0, 1, 2, 3))
def test_determinant_of_singular_matrices(rank: int, dtype: Any) -> None:
    rushlight.manual_seed(4)
    left, right = (rushlight.randn(4, rank, dtype=dtype) for _ in range(2))
    check(linalg.det, (left @ right.mH).requires_grad_())


@pytest.mark.parametrize("dtype", (REAL, COMPLEX), ids=str)
def test_pseudoinverse_of_low_rank(dtype: Any) -> None:
    rushlight.manual_seed(5)
    left, right = draw(4, 2, dtype=dtype), draw(3, 2, dtype=dtype)
    check(lambda x, y: linalg.pinv(x @ y.mH), left, right)


@pytest.mark.parametrize("dtype", (REAL, COMPLEX), ids=str)
@pytest.mark.parametrize("left", (True, False))
def test_solutions(left: bool, dtype: Any) -> None:
    rushlight.manual_seed(6)
    A, B = draw(2, 3, 3, dtype=dtype), draw(*((3, 2) if left else (4, 3)), dtype=dtype)
    check(lambda a, b: linalg.solve(a, b, left=left), A, B)
    for flag in (True, False):
        check(lambda a, b, flag=flag: solve_by_lu(a, b, left, flag), A, B)
        check(
            lambda a, b, flag=flag: linalg.solve_triangular(
                a, b, upper=flag, left=left, unitriangular=not flag
            ),
            A,
            B,
        )


@pytest.mark.parametrize("dtype", (REAL, COMPLEX), ids=str)
@pytest.mark.parametrize("upper", (True, False))
def test_solutions_with_a_factor(upper: bool, dtype: Any) -> None:
    rushlight.manual_seed(7)
    A, B = draw(2, 3, 3, dtype=dtype), draw(2, 3, 2, dtype=dtype)
    check(lambda b, a: rushlight.cholesky_solve(b, a, upper), B, A)
    check(lambda b, a: rushlight.triangular_solve(b, a, upper, transpose=True)[0], B, A)


@pytest.mark.parametrize("dtype", (REAL, COMPLEX), ids=str)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("driver", ("gels", "gelsy", "gelss", "gelsd"))
def test_least_squares(driver: str, shape: tuple[int, ...], dtype: Any) -> None:
    rushlight.manual_seed(8)
    A, B = draw(*shape, dtype=dtype), draw(*shape[:-1], 2, dtype=dtype)

    def solution(a: Any, b: Any) -> Any:
        result = linalg.lstsq(a, b, driver=driver)
        return result[:2] if result.residuals.numel() else result.solution

    by_data = driver in ("gelss", "gelsd") and shape[-2] > shape[-1]
    if not by_data:  # whether there are residuals
        check(solution, A, B)
    else:
        gradcheck(solution, (A, B))
        gradgradcheck(solution, (A, B))


@pytest.mark.parametrize("dtype", (REAL, COMPLEX), ids=str)
def test_reflections(dtype: Any) -> None:
    rushlight.manual_seed(9)
    A, tau = draw(2, 4, 3, dtype=dtype), draw(2, 2, dtype=dtype)
    check(linalg.householder_product, A, tau)
    for left in (True, False):
        C = draw(2, *((4, 2) if left else (2, 4)), dtype=dtype)
        for transpose in (True, False):
            check(lambda a, t, c: rushlight.ormqr(a, t, c, left, transpose), A, tau, C)  # noqa: B023


@pytest.mark.parametrize("dtype", (REAL, COMPLEX), ids=str)
@pytest.mark.parametrize("hermitian", (True, False))
def test_indefinite_solution(hermitian: bool, dtype: Any) -> None:
    rushlight.manual_seed(10)
    A = rushlight.randn(2, 4, 4, dtype=dtype)
    LD, pivots = linalg.ldl_factor(A + (A.mH if hermitian else A.mT), hermitian=hermitian)
    check(
        lambda b: linalg.ldl_solve(LD, pivots, b, hermitian=hermitian), draw(2, 4, 2, dtype=dtype)
    )


def test_phases_of_vectors_have_no_gradient() -> None:
    rushlight.manual_seed(11)
    A = draw(3, 3, dtype=COMPLEX)
    for vectors in (linalg.svd(A)[0], linalg.eigh(A)[1], linalg.eig(A)[1]):
        with pytest.raises(RuntimeError, match="up to multiplication by e"):
            vectors.real.sum().backward()


def test_missing_gradients_are_errors_of_the_backward_pass() -> None:
    rushlight.manual_seed(12)
    A = draw(4, 3, dtype=REAL)
    for result, message in (
        (linalg.qr(A, mode="r").R, "mode='r'"),
        (linalg.qr(A, mode="complete").Q, "mode='complete'"),
        (rushlight.geqrf(A).a, "geqrf"),
        (linalg.ldl_factor(positive(A)).LD, "ldl_factor"),
    ):
        with pytest.raises(RuntimeError, match=message):
            result.sum().backward()
