"""``rushlight.autograd.forward_ad``."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import pytest
from func_support import arrays, compare, same_error, torch

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


# What happens to memory: functions of a framework and of a dual tensor, which return tensors.
def view_is_written(t: Any, d: Any) -> Any:
    view = d[1:]
    view.mul_(2)
    return d, view


def gets_a_tangent(t: Any, d: Any) -> Any:
    x = t.zeros_like(d.detach())
    return x.add_(d), x


def view_gets_a_tangent(t: Any, d: Any) -> Any:
    x = t.zeros(2, len(d), dtype=d.dtype)
    x[1].copy_(d)
    x[0, 2] = d[0]
    return x, x.t()


def loses_its_tangent(t: Any, d: Any) -> Any:
    return d.zero_(), d


def masked_write(t: Any, d: Any) -> Any:
    y = d * 2
    y[d > 0] = d[d > 0] * 3
    return y, d


WRITES = [view_is_written, gets_a_tangent, view_gets_a_tangent, loses_its_tangent, masked_write]


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("recorded", [False, True])
def test_writes(write: Any, recorded: bool) -> None:
    def program(t: Any, F: Any, x: Any) -> Any:
        ad = t.autograd.forward_ad
        leaf = x.requires_grad_(recorded)
        with ad.dual_level():
            dual = ad.make_dual(leaf * 1, x.detach().cos())
            results = [tuple(ad.unpack_dual(each)) for each in write(t, dual)]
            return [[None if p is None else p.detach() for p in pair] for pair in results]

    compare(program, X)


def test_gradients_in_forward_mode_have_tangents() -> None:
    def program(t: Any, F: Any, x: Any, w: Any) -> Any:
        ad = t.autograd.forward_ad
        x.requires_grad_()
        with ad.dual_level():
            dual = ad.make_dual(x, x.detach().cos())
            loss = ((w @ dual).sin() * dual).sum()
            (gradient,) = t.autograd.grad(loss, dual, create_graph=True)
            primal, tangent = ad.unpack_dual(gradient)
            (third,) = t.autograd.grad(tangent.sum(), x)
            return primal.detach(), tangent.detach(), third

    compare(program, X, W)


def test_backward_in_forward_mode() -> None:
    def program(t: Any, F: Any, x: Any) -> Any:
        ad = t.autograd.forward_ad
        x.requires_grad_()
        with ad.dual_level():
            (ad.make_dual(x, x.detach().cos()) ** 3).sum().backward()
            return x.grad, ad.unpack_dual(x.grad).tangent

    compare(program, X)


def test_modes_and_types() -> None:
    for t in (rushlight, torch):
        ad, x = t.autograd.forward_ad, t.ones(3)
        with ad.dual_level():
            dual = ad.make_dual(x, t.ones(3))
            assert type(dual) is t.Tensor and dual.data_ptr() == x.data_ptr()
            assert "tangent=tensor([1., 1., 1.])" in repr(dual)
            assert ad.unpack_dual(x).tangent is None
            assert dual.sum().item() == 3 and dual.tolist() == [1, 1, 1] and float(dual[0]) == 1
            with ad._set_fwd_grad_enabled(False):
                assert not ad._is_fwd_grad_enabled()
                assert ad.unpack_dual(dual * 2).tangent is None
            with t.inference_mode():
                assert ad.unpack_dual(dual * 2).tangent is None
            with t.no_grad():
                assert ad.unpack_dual(dual * 2).tangent is not None
            with pytest.raises(NotImplementedError, match="out="):
                t.add(dual, 1, out=t.ones(3))
            with pytest.raises(RuntimeError, match="already has a forward gradient"):
                ad.make_dual(dual, x)
            with pytest.raises(RuntimeError, match="itself has a forward gradient"):
                ad.make_dual(x, dual)
            with pytest.raises(RuntimeError, match="level"):
                ad.make_dual(x, x, level=3)
            with pytest.raises(TypeError, match="must be Tensor, not float"):
                ad.unpack_dual(1.0)


def test_tangents_go_when_the_level_is_left() -> None:
    x = rushlight.ones(3)
    tangent = rushlight.ones(3)
    gone = weakref.ref(tangent)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, tangent)
        result = dual * 2
        del tangent
    assert gone() is None and (dual + result).tolist() == [3.0] * 3


def test_levels_belong_to_threads() -> None:
    x = rushlight.ones(3)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, x)
        found: list[Any] = []

        def work() -> None:
            found.append((dual * 2).tolist())
            with forward_ad.dual_level():
                found.append(forward_ad.unpack_dual(forward_ad.make_dual(x, x) * 2).tangent)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert found[0] == [2.0] * 3 and found[1].tolist() == [2.0] * 3
        assert forward_ad.unpack_dual(dual * 2).tangent.tolist() == [2.0] * 3


def test_jvp_of_functions_of_users() -> None:
    def program(t: Any, F: Any, x: Any, w: Any) -> Any:
        class Scaled(t.autograd.Function):  # type: ignore[misc, name-defined]
            @staticmethod
            def forward(ctx: Any, x: Any, y: Any, k: int) -> Any:
                ctx.save_for_forward(x, y)
                ctx.k = k
                return x * y * k, x + y

            @staticmethod
            def backward(ctx: Any, g: Any, h: Any) -> Any:
                return g, h, None

            @staticmethod
            def jvp(ctx: Any, u: Any, v: Any, _: Any) -> Any:
                x, y = ctx.saved_tensors
                return (u * y + x * v) * ctx.k * 10, u + v  # 10: nobody else computes this

        ad = t.autograd.forward_ad
        with ad.dual_level():
            results = Scaled.apply(ad.make_dual(x, x.cos()), w[0], 3)
            return [tuple(ad.unpack_dual(each)) for each in results]

    compare(program, X, W)
