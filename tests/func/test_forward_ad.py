"""``rushlight.autograd.forward_ad``."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.autograd.forward_ad
from func_support import arrays, compare, same_error

import rushlight
from rushlight.autograd import forward_ad

X, W = arrays((5,), (5, 5))

# Functions of a framework, a dual tensor and a plain one.
FUNCTIONS = {
    "arithmetic": lambda t, x, w: (w @ x).sin() * x + 1 - x / 2,
    "reflected": lambda t, x, w: 2 / (1 + x * x) - 3,
    "subscripts": lambda t, x, w: x[0] + x[None, 1:].sum() + x[t.tensor([1, 1])].prod(),
    "mask": lambda t, x, w: x[x > 0] ** 2,
    "views": lambda t, x, w: x.view(1, 5).expand(2, 5).reshape(-1)[::2],
    "lists": lambda t, x, w: t.cat([x, w[0], x * 2]),
    "several results": lambda t, x, w: x.max(0).values,
    "no tangent": lambda t, x, w: x > 0,
    "detach": lambda t, x, w: x.detach() * 2,
    "in place": lambda t, x, w: x.clone().mul_(x).add_(w[0]),
    "setitem": lambda t, x, w: assigned(x * 1, x),
    "functional": lambda t, x, w: t.nn.functional.softmax(x, 0),
    "loop": lambda t, x, w: sum(element * i for i, element in enumerate(x)),
}


def assigned(y: Any, x: Any) -> Any:
    y[0] = 2.0
    y[1] = x[2]
    return y


@pytest.mark.parametrize("name", FUNCTIONS)
def test_same_tangents(name: str) -> None:
    def program(t: Any, F: Any, x: Any, w: Any) -> Any:
        ad = t.autograd.forward_ad
        with ad.dual_level():
            result = ad.unpack_dual(FUNCTIONS[name](t, ad.make_dual(x, x.cos()), w))
            return tuple(result)

    compare(program, X, W)


def test_tangents_are_differentiable() -> None:
    def program(t: Any, F: Any, x: Any, w: Any) -> Any:
        ad = t.autograd.forward_ad
        w.requires_grad_()
        with ad.dual_level():
            tangent = ad.unpack_dual((w @ ad.make_dual(x, x.cos())).sin()).tangent
        return t.autograd.grad(tangent.sum(), w)

    compare(program, X, W)


def test_levels() -> None:
    x = rushlight.ones(3)
    with pytest.raises(RuntimeError, match="level"):
        forward_ad.make_dual(x, x)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, x)
        assert forward_ad.unpack_dual(dual).tangent is x
        assert forward_ad.unpack_dual(x).tangent is None
        with pytest.raises(RuntimeError, match="Nested"):
            forward_ad.enter_dual_level()
    assert forward_ad.unpack_dual(dual).tangent is None
    assert (dual * 2).tolist() == [2.0] * 3
    with forward_ad.dual_level():
        assert forward_ad.unpack_dual(dual).tangent is None
    with pytest.raises(RuntimeError):
        forward_ad.exit_dual_level()


@pytest.mark.parametrize(
    "make",
    [
        lambda t, x: t.autograd.forward_ad.make_dual(t.arange(5), x),
        lambda t, x: t.autograd.forward_ad.make_dual(x, x[:2]),
        lambda t, x: t.autograd.forward_ad.make_dual(x, t.arange(5)),
    ],
)
def test_same_errors(make: Any) -> None:
    def program(t: Any, F: Any, x: Any) -> Any:
        with t.autograd.forward_ad.dual_level():
            make(t, x)

    same_error(program, X)
    assert torch.autograd.forward_ad._current_level == -1
