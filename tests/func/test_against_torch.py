"""Transforms of the same functions as PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest
from func_support import arrays, compare, same_error

X, W = arrays((5,), (5, 5))

# Programs of (framework, func module, x, w).
PROGRAMS = {
    "grad": lambda t, F, x, w: F.grad(lambda x: ((w @ x).sin() * x).sum())(x),
    "grad of several": lambda t, F, x, w: F.grad(lambda x, w: (w @ x).tanh().sum(), argnums=(0, 1))(
        x, w
    ),
    "grad, last argument": lambda t, F, x, w: F.grad(lambda w, x: (w @ x).tanh().sum(), argnums=-1)(
        w, x
    ),
    "grad of a dict": lambda t, F, x, w: F.grad(lambda p: (p["w"] @ p["x"][0]).sin().sum())(
        {"w": w, "x": [x, x.cos()]}
    ),
    "grad and value with aux": lambda t, F, x, w: F.grad_and_value(
        lambda x: ((x * x).sum(), {"twice": 2 * x}), has_aux=True
    )(x),
    "grad of a constant": lambda t, F, x, w: F.grad(lambda x: w.sum())(x),
    "grad of grad": lambda t, F, x, w: F.grad(
        lambda x: F.grad(lambda x: ((w @ x).sin() * x).sum())(x).pow(2).sum()
    )(x),
    "grad of a branch": lambda t, F, x, w: F.grad(
        lambda x: x.sin().sum() if x.sum() > 0 else x.cos().sum()
    )(x),
    "grad with item": lambda t, F, x, w: F.grad(lambda x: x.sin().sum() * x.sum().item())(x),
    "grad of a mask": lambda t, F, x, w: F.grad(lambda x: x[x > 0].sin().sum())(x),
    "grad of softmax": lambda t, F, x, w: F.grad(
        lambda x: t.nn.functional.softmax(w @ x, 0)[2].log()
    )(x),
    "no_grad inside": lambda t, F, x, w: F.grad(lambda x: (x * squared(t, x)).sum())(x),
    "no_grad around": lambda t, F, x, w: without_grad(t, F.grad(lambda x: (x * x).sum()), x),
    "vjp": lambda t, F, x, w: F.vjp(lambda x, w: (w @ x).sin(), x, w)[1](x.cos()),
    "vjp with aux": lambda t, F, x, w: F.vjp(lambda x: (x.sin(), x * 2), x, has_aux=True)[2],
    "vjp of a dict": lambda t, F, x, w: F.vjp(lambda x: {"a": x.sin(), "b": w @ x}, x)[1](
        {"a": x, "b": x.cos()}
    ),
    "vmap of a vjp": lambda t, F, x, w: F.vmap(F.vjp(lambda x: (w @ x).sin(), x)[1])(
        t.eye(5, dtype=x.dtype)
    ),
    "jvp": lambda t, F, x, w: F.jvp(lambda x, w: (w @ x).sin(), (x, w), (x.cos(), w.sin())),
    "jvp of a constant": lambda t, F, x, w: F.jvp(lambda x: w * 1, (x,), (x,)),
    "jvp of a mask": lambda t, F, x, w: F.jvp(lambda x: x[x > 0].sin(), (x,), (x.cos(),)),
    "jvp of grad": lambda t, F, x, w: F.jvp(
        F.grad(lambda x: (w @ x).sin().sum()), (x,), (x.cos(),)
    ),
    "grad of jvp": lambda t, F, x, w: F.grad(
        lambda x: F.jvp(lambda x: (w @ x).sin(), (x,), (w[0],))[1].sum()
    )(x),
    "jacrev": lambda t, F, x, w: F.jacrev(lambda x: (w @ x).sin())(x),
    "jacrev in parts": lambda t, F, x, w: F.jacrev(lambda x: (w @ x).sin(), chunk_size=2)(x),
    "jacrev of several": lambda t, F, x, w: F.jacrev(
        lambda x, w: {"a": w @ x, "b": (w * x).sum(1)}, argnums=(0, 1)
    )(x, w),
    "jacfwd": lambda t, F, x, w: F.jacfwd(lambda x: (w @ x).sin())(x),
    "jacfwd of several": lambda t, F, x, w: F.jacfwd(
        lambda x, w: ((w @ x).sin(), w.sum(0)), argnums=(0, 1)
    )(x, w),
    "jacfwd with aux": lambda t, F, x, w: F.jacfwd(lambda x: (x.sin(), x.sum()), has_aux=True)(x),
    "hessian": lambda t, F, x, w: F.hessian(lambda x: ((w @ x).sin() * x).sum())(x),
    "hessian of several": lambda t, F, x, w: F.hessian(
        lambda x, w: (w @ x).sin().sum(), argnums=(0, 1)
    )(x, w),
    "jacrev of jacfwd": lambda t, F, x, w: F.jacrev(F.jacfwd(lambda x: (w @ x).sin()))(x),
    "vmap": lambda t, F, x, w: F.vmap(lambda row: row @ x)(w),
    "vmap, other dims": lambda t, F, x, w: F.vmap(lambda c, x: c * x, (1, None), 1)(w, x),
    "vmap, negative dims": lambda t, F, x, w: F.vmap(lambda c: c.sin(), -1, -1)(w),
    "vmap of a dict": lambda t, F, x, w: F.vmap(
        lambda p, y: {"sum": p["a"] + y, "y": (y * 2,)}, in_dims=({"a": 0}, None)
    )({"a": w}, x),
    "vmap in parts": lambda t, F, x, w: F.vmap(lambda row: row @ x, chunk_size=2)(w),
    "vmap of the identity": lambda t, F, x, w: F.vmap(lambda row: row)(w),
    "vmap of a shared result": lambda t, F, x, w: F.vmap(lambda row: x)(w),
    "vmap, out_dims None": lambda t, F, x, w: F.vmap(lambda row: (row, x), out_dims=(0, None))(w),
    "vmap of vmap": lambda t, F, x, w: F.vmap(lambda a: F.vmap(lambda b: a * b)(x))(x),
    "vmap of grad": lambda t, F, x, w: F.vmap(F.grad(lambda row: (row @ x).sin()))(w),
    "grad of vmap": lambda t, F, x, w: F.grad(lambda x: F.vmap(lambda row: row @ x)(w).sin().sum())(
        x
    ),
    "outer tracers in closures": lambda t, F, x, w: F.grad(
        lambda x: F.vmap(lambda row: F.grad(lambda y: (y * x * row).sum())(x).sum())(w).sum()
    )(x),
    "vmap with an index": lambda t, F, x, w: F.vmap(lambda i: w[i])(t.tensor([3, 0])),
    "vmap with a mask of what is shared": lambda t, F, x, w: F.vmap(
        lambda row: row[0] * x[x > 0] + x.nonzero().sum()
    )(w),
    "isinstance": lambda t, F, x, w: F.vmap(
        lambda row: row * 2 if isinstance(row, t.Tensor) else row
    )(w),
    "shapes": lambda t, F, x, w: F.vmap(
        lambda row: row.view(row.size(0), 1) * row.shape.numel() + row.shape[:1].numel()
    )(w),
    "creation": lambda t, F, x, w: F.vmap(
        lambda row: row.new_zeros(5) + t.full_like(row, 2) * row + t.arange(5)
    )(w),
    "two operands of max": lambda t, F, x, w: F.vmap(lambda row: t.max(row, x))(w),
    "complex": lambda t, F, x, w: F.grad(lambda x: (t.complex(x, x) * t.complex(x, -x)).real.sum())(
        x
    ),
    "indices of each example": lambda t, F, x, w: F.vmap(lambda row, i: row[i])(
        w, t.tensor([0, 1, 2, 3, 4])
    ),
    "elements in a loop": lambda t, F, x, w: F.grad(lambda x: sum(e * e for e in x))(x),
    "vmap of a loss": lambda t, F, x, w: F.vmap(
        F.grad(lambda row: t.nn.functional.cross_entropy(row @ w, t.tensor(1)))
    )(w),
}


def squared(t: Any, x: Any) -> Any:
    with t.no_grad():
        return x * x


def without_grad(t: Any, function: Any, x: Any) -> Any:
    with t.no_grad():
        return function(x)


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_values(name: str) -> None:
    compare(PROGRAMS[name], X, W)


# ---------------------------------------------------------------- errors

ERRORS = {
    "grad of a vector": lambda t, F, x: F.grad(lambda x: x * 2)(x),
    "grad of a number": lambda t, F, x: F.grad(lambda x: 2.0)(x),
    "grad of a tuple": lambda t, F, x: F.grad(lambda x: (x.sum(), x))(x),
    "grad of integers": lambda t, F, x: F.grad(lambda x: x.sum())(t.arange(3)),
    "grad of no tensor": lambda t, F, x: F.grad(lambda x: x)(2.0),
    "argnums too large": lambda t, F, x: F.grad(lambda x: x.sum(), argnums=1)(x),
    "aux missing": lambda t, F, x: F.grad(lambda x: x.sum(), has_aux=True)(x),
    "vjp of a number": lambda t, F, x: F.vjp(lambda x: 1.0, x),
    "cotangent of another structure": lambda t, F, x: F.vjp(lambda x: x, x)[1]({"a": x}),
    "cotangent of another shape": lambda t, F, x: F.vjp(lambda x: x * 2, x)[1](x[:2]),
    "jvp of lists": lambda t, F, x: F.jvp(lambda x: x, [x], [x]),
    "jvp of other structures": lambda t, F, x: F.jvp(lambda x: x, (x,), (x, x)),
    "jvp of a number": lambda t, F, x: F.jvp(lambda x: 1.0, (x,), (x,)),
    "tangent of another shape": lambda t, F, x: F.jvp(lambda x: x, (x,), (x[:2],)),
    "vmap without inputs": lambda t, F, x: F.vmap(lambda: x)(),
    "vmap over nothing": lambda t, F, x: F.vmap(lambda x: x, in_dims=None)(x),
    "vmap over a number": lambda t, F, x: F.vmap(lambda x: x)(1.0),
    "vmap of a number": lambda t, F, x: F.vmap(lambda x: 1.0)(x),
    "vmap of other sizes": lambda t, F, x: F.vmap(lambda x, y: x)(x, x[:2]),
    "vmap, dim too large": lambda t, F, x: F.vmap(lambda x: x, in_dims=1)(x),
    "vmap, dims of another structure": lambda t, F, x: F.vmap(lambda x: x, in_dims=(0, 0))(x),
    "vmap, batched result shared": lambda t, F, x: F.vmap(lambda x: x, out_dims=None)(x),
    "vmap, unknown randomness": lambda t, F, x: F.vmap(lambda x: x, randomness="any")(x),
    "vmap, empty chunks": lambda t, F, x: F.vmap(lambda x: x, chunk_size=0)(x),
    "vmap of random numbers": lambda t, F, x: F.vmap(lambda x: x + t.rand(2))(x),
    "vmap of item": lambda t, F, x: F.vmap(lambda x: x * x.item())(x),
    "vmap of a branch": lambda t, F, x: F.vmap(lambda x: x if x > 0 else -x)(x),
    "jacrev of integers": lambda t, F, x: F.jacrev(lambda x: x.argmax())(x),
    "vmap of numpy": lambda t, F, x: F.vmap(lambda x: x.numpy())(x),
    "vmap of nonzero": lambda t, F, x: F.vmap(lambda x: x.nonzero())(x),
}


@pytest.mark.parametrize("name", ERRORS)
def test_same_errors(name: str) -> None:
    same_error(ERRORS[name], X)


# ---------------------------------------------------------------- the tape around transforms


def test_transformed_functions_are_differentiable() -> None:
    def program(t: Any, F: Any, x: Any, w: Any) -> Any:
        x.requires_grad_()
        w.requires_grad_()
        results = [
            F.grad(lambda x: ((w @ x).sin() * x).sum())(x),
            F.vjp(lambda x: (w @ x).sin(), x)[1](w[0])[0],
            F.vjp(lambda x: (w @ x).sin(), x)[0],
            F.jvp(lambda x: (w @ x).sin(), (x,), (w[1],))[1],
            F.vmap(lambda row: row @ x)(w),
            F.jacrev(lambda x: (w @ x).sin())(x),
        ]
        return [t.autograd.grad(result.sin().sum(), (x, w)) for result in results]

    compare(program, X, W)


def test_captured_tensors_get_gradients() -> None:
    def program(t: Any, F: Any, x: Any, w: Any) -> Any:
        w.requires_grad_()
        output, vjp_fn = F.vjp(lambda x: (w @ x).sin(), x)
        return t.autograd.grad((output + vjp_fn(output)[0]).sum(), w)

    compare(program, X, W)
