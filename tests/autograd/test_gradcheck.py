"""``gradcheck`` and ``gradgradcheck`` give PyTorch's verdicts, with forward mode and batches."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import rushlight

torch = pytest.importorskip("torch")


def assigned(t: Any, x: Any) -> Any:
    y = t.zeros(3, dtype=t.float64)
    y[0] = x[1]
    y[1:] = x[:2] * 2
    return y * x


# Functions of a framework and its inputs: shapes, complex ones in a list of one.
CASES: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "product": (lambda t, a, b: a * b, [(3,), (3,)]),
    "several outputs": (lambda t, a, b: (a @ b, a.sum()), [(2, 3), (3, 2)]),
    "composite": (
        lambda t, a, w, b: t.nn.functional.layer_norm(a, (3,), w, b),
        [(2, 3), (3,), (3,)],
    ),
    "view": (lambda t, a: a.view(-1)[1:], [(2, 2)]),
    "repeated index": (lambda t, a: a[t.tensor([0, 0, 1])], [(3,)]),
    "list": (lambda t, a, b: t.cat([a, b]), [(2,), (3,)]),
    "maximum": (lambda t, a: a.max(0).values, [(3, 2)]),
    "0-d": (lambda t, a: a * a, [()]),
    "empty": (lambda t, a: a * 2, [(0, 3)]),
    "complex": (lambda t, a, b: a * b, [[(3,)], [(3,)]]),
    "complex to real": (lambda t, a: a.abs(), [[(3,)]]),
    "real by complex": (lambda t, a, b: a * b, [(3,), [(3,)]]),
}
# Function transforms take no writes.
WRITES: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "in place": (lambda t, a: a.clone().mul_(a).add_(1), [(3,)]),
    "subscripts": (assigned, [(3,)]),
}


def inputs(t: Any, shapes: list[Any]) -> list[Any]:
    t.manual_seed(0)

    def one(shape: Any) -> Any:
        if isinstance(shape, list):
            parts = [t.rand(shape[0], dtype=t.float64) + 0.5 for _ in range(2)]
            return t.complex(*parts).requires_grad_()
        return (t.rand(shape, dtype=t.float64) + 0.5).requires_grad_()

    return [one(shape) for shape in shapes]


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("name", [*CASES, *WRITES])
def test_right_derivatives(name: str, fast: bool) -> None:
    body, shapes = (CASES | WRITES)[name]
    options = dict.fromkeys(("check_batched_grad", "check_batched_forward_grad"), name in CASES)
    for t in (rushlight, torch):
        xs = inputs(t, shapes)

        def function(*xs: Any, t: Any = t) -> Any:
            return body(t, *xs)

        assert t.autograd.gradcheck(function, xs, fast_mode=fast, check_forward_ad=True, **options)
        if name != "maximum":
            assert t.autograd.gradgradcheck(function, xs, fast_mode=fast, check_fwd_over_rev=True)


def test_batched_second_derivatives() -> None:
    a, b = inputs(rushlight, [(3,), (3,)])
    assert rushlight.autograd.gradgradcheck(lambda a, b: a * b, (a, b), check_batched_grad=True)


def square(t: Any, backward: float, forward: float) -> Any:
    """x*x with derivatives of its own, which are right for the factor 2."""

    class Square(t.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_forward(x)
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * backward * ctx.saved_tensors[0]

        @staticmethod
        def jvp(ctx: Any, g: Any) -> Any:
            return g * forward * ctx.saved_tensors[0]

    return Square.apply


@pytest.mark.parametrize("fast", [False, True])
def test_wrong_derivatives_are_found(fast: bool) -> None:
    for t in (rushlight, torch):
        error = t.autograd.gradcheck.__globals__["GradcheckError"]
        check, (x,) = t.autograd.gradcheck, inputs(t, [(3,)])
        options = {"check_forward_ad": True, "fast_mode": fast}
        assert check(square(t, 2, 2), x, **options)
        assert check(square(t, 2, 3), x, fast_mode=fast)  # forward mode was not asked about
        with pytest.raises(error, match="computed with forward mode"):
            check(square(t, 2, 3), x, **options)
        with pytest.raises(error, match="Jacobian mismatch"):
            check(square(t, 3, 2), x, **options)
        assert check(square(t, 3, 2), x, check_backward_ad=False, **options)
        assert not check(square(t, 2, 3), x, raise_exception=False, **options)


def test_functions_without_jvp() -> None:
    for t in (rushlight, torch):

        class Twice(t.autograd.Function):  # type: ignore[misc, name-defined]
            forward = staticmethod(lambda ctx, x: x * 2)
            backward = staticmethod(lambda ctx, g: g * 2)

        (x,) = inputs(t, [(3,)])
        assert t.autograd.gradcheck(Twice.apply, x)
        with pytest.raises(NotImplementedError, match="jvp"):
            t.autograd.gradcheck(Twice.apply, x, check_forward_ad=True)


def test_combinations_that_make_no_sense() -> None:
    for t in (rushlight, torch):
        (x,) = inputs(t, [(3,)])
        for options in (
            {"check_backward_ad": False},
            {"check_batched_forward_grad": True},
            {"check_forward_ad": True, "check_backward_ad": False, "check_batched_grad": True},
        ):
            with pytest.raises(AssertionError):
                t.autograd.gradcheck(lambda x: x * 2, x, **options)


def test_what_cannot_be_batched_is_an_error() -> None:
    (x,) = inputs(rushlight, [(3,)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match="batched"):
            rushlight.autograd.gradcheck(
                lambda x: x.clone().mul_(2),
                x,
                check_forward_ad=True,
                check_batched_forward_grad=True,
            )
