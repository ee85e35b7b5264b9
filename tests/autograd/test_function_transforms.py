"""Users' functions in forward mode, vmap, grad and their nestings: a rule that is wrong on purpose
shows that it, and nothing derived from the forward pass, was used."""

from __future__ import annotations

import pytest


def cube(torch, *, generate=True):
    """x**3 whose derivative claims to be 10 times as large in reverse, 100 times in forward mode.

    The factors apply at each level, so second derivatives show which rules were used.
    """

    class Cube(torch.autograd.Function):
        generate_vmap_rule = generate

        @staticmethod
        def forward(x):
            return x**3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return gradient * 30 * x**2

        @staticmethod
        def jvp(ctx, tangent):
            (x,) = ctx.saved_tensors
            return tangent * 300 * x**2

    return Cube.apply


def numbers(torch):
    return torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def same(torch, result, expected):
    assert result.shape == expected.shape
    assert torch.allclose(result, expected), (result, expected)


def test_grad(torch):
    f = cube(torch)
    x = numbers(torch)
    same(torch, torch.func.grad(lambda x: f(x).sum())(x), 30 * x**2)


def test_grad_of_grad(torch):
    f = cube(torch)
    x = numbers(torch)
    inner = torch.func.grad(lambda x: f(x).sum())
    same(torch, torch.func.grad(lambda x: inner(x).sum())(x), 60 * x)


def test_jvp(torch):
    f = cube(torch)
    x = numbers(torch)
    value, tangent = torch.func.jvp(f, (x,), (torch.full_like(x, 2),))
    same(torch, value, x**3)
    same(torch, tangent, 600 * x**2)


def test_jvp_of_grad_differentiates_the_backward_rule(torch):
    f = cube(torch)
    x = numbers(torch)
    inner = torch.func.grad(lambda x: f(x).sum())
    _, tangent = torch.func.jvp(inner, (x,), (torch.ones_like(x),))
    same(torch, tangent, 60 * x)


def test_grad_of_jvp_differentiates_the_forward_rule(torch):
    f = cube(torch)
    x = numbers(torch)
    slope = lambda x: torch.func.jvp(f, (x,), (torch.ones_like(x),))[1].sum()  # noqa: E731
    same(torch, torch.func.grad(slope)(x), 600 * x)


def test_vmap(torch):
    f = cube(torch)
    x = numbers(torch)
    same(torch, torch.func.vmap(f)(x), x**3)
    same(torch, torch.func.vmap(f, 1, 1)(x), x**3)


def test_vmap_of_grad(torch):
    f = cube(torch)
    x = numbers(torch)
    same(torch, torch.func.vmap(torch.func.grad(lambda x: f(x).sum()))(x), 30 * x**2)


def test_grad_of_vmap(torch):
    f = cube(torch)
    x = numbers(torch)
    same(torch, torch.func.grad(lambda x: torch.func.vmap(f)(x).sum())(x), 30 * x**2)


def test_jvp_of_vmap(torch):
    f = cube(torch)
    x = numbers(torch)
    _, tangent = torch.func.jvp(torch.func.vmap(f), (x,), (torch.ones_like(x),))
    same(torch, tangent, 300 * x**2)


def test_vmap_of_vmap(torch):
    f = cube(torch)
    x = numbers(torch)
    twice = torch.func.vmap(torch.func.vmap(f))
    same(torch, twice(x), x**3)
    same(torch, torch.func.grad(lambda x: twice(x).sum())(x), 30 * x**2)


def test_jacobians(torch):
    f = cube(torch)
    x = torch.tensor([1.0, 2.0])
    same(torch, torch.func.jacrev(f)(x), torch.eye(2) * 30 * x**2)
    same(torch, torch.func.jacfwd(f)(x), torch.eye(2) * 300 * x**2)


def test_gradients_through_the_tape_outside(torch):
    f = cube(torch)
    x = numbers(torch).requires_grad_()
    torch.func.vmap(f)(x).sum().backward()
    same(torch, x.grad, 30 * x.detach() ** 2)


def test_arguments_that_all_examples_share(torch):
    class Scaled(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x, scale, power):
            return x**power * scale

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, scale, ctx.power = inputs
            ctx.save_for_backward(x, scale)

        @staticmethod
        def backward(ctx, gradient):
            x, scale = ctx.saved_tensors
            return gradient * scale * ctx.power * x, (gradient * x**ctx.power).sum(), None

    x, scale = numbers(torch), torch.tensor(3.0)

    def total(x, scale):
        return torch.func.vmap(Scaled.apply, (0, None, None))(x, scale, 2).sum()

    by_x, by_scale = torch.func.grad(total, (0, 1))(x, scale)
    same(torch, by_x, 6 * x)
    same(torch, by_scale, (x**2).sum())


def test_several_outputs_and_no_gradient(torch):
    class Parts(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x * 2, x > 2, x * 5

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_non_differentiable(output[1], output[2])
            ctx.set_materialize_grads(False)

        @staticmethod
        def backward(ctx, gradient, mask, constant):
            assert mask is None and constant is None
            return gradient * 7

    x = numbers(torch)

    def total(x):
        doubled, mask, constant = Parts.apply(x)
        return torch.where(mask, doubled, doubled * 2).sum() + constant.sum()

    same(torch, torch.func.grad(total)(x), torch.where(x > 2, 7.0, 14.0))


def test_missing_gradients_are_zeros(torch):
    seen = []

    class Two(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2, x * 3

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, first, second):
            seen.append(second is None)
            return first * 2 + second * 3

    x = numbers(torch)
    same(torch, torch.func.grad(lambda x: Two.apply(x)[0].sum())(x), torch.full_like(x, 2))
    assert seen == [False]


def test_own_vmap(torch):
    seen = []

    class Own(torch.autograd.Function):
        @staticmethod
        def forward(x, power):
            return x**power

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x, power):
            seen.append((info.batch_size, info.randomness, in_dims[1]))
            return Own.apply(x, power) * 100, in_dims[0]

    x = numbers(torch)
    same(torch, torch.func.vmap(Own.apply, (0, None))(x, 2), x**2 * 100)
    assert seen == [(2, "error", None)]


def test_errors(torch):
    class Combined(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    x = numbers(torch)
    with pytest.raises(RuntimeError, match="override the setup_context staticmethod"):
        torch.func.grad(lambda x: Combined.apply(x).sum())(x)
    with pytest.raises(RuntimeError, match="does not have vmap support"):
        torch.func.vmap(cube(torch, generate=False))(x)

    class Both(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x):
            return x, 0

    with pytest.raises(RuntimeError, match="has both generate_vmap_rule=True"):
        torch.func.vmap(Both.apply)(x)
    with pytest.raises(NotImplementedError, match="jvp function"):
        torch.func.jvp(Both.apply, (x,), (x,))
    with pytest.raises(NotImplementedError, match="either the backward or vjp"):
        torch.func.grad(lambda x: Both.apply(x).sum())(x)


def test_exceptions_of_rules_come_out_as_themselves(torch):
    class Failing(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, gradient):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        torch.func.grad(lambda x: Failing.apply(x).sum())(numbers(torch))


# ---------------------------------------------------------------- dual tensors


def dual_result(torch, function, *primals_and_tangents):
    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        arguments = [
            each if not isinstance(each, tuple) else forward_ad.make_dual(*each)
            for each in primals_and_tangents
        ]
        result = function(*arguments)
        results = result if isinstance(result, tuple) else (result,)
        return [tuple(forward_ad.unpack_dual(each)) for each in results]


def test_dual_tensors(torch):
    x = numbers(torch)
    [(value, tangent)] = dual_result(torch, cube(torch), (x, torch.ones_like(x)))
    same(torch, value, x**3)
    same(torch, tangent, 300 * x**2)


def test_ctx_carries_values_to_jvp(torch):
    seen = []

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, note):
            ctx.y = y
            return x * y

        @staticmethod
        def jvp(ctx, x, y, note):
            seen.append((y is not None and y.sum().item(), note))
            return x * ctx.y * 2

    x, y = numbers(torch), torch.tensor(3.0)
    [(_, tangent)] = dual_result(torch, Product.apply, (x, torch.ones_like(x)), y, "note")
    same(torch, tangent, torch.full_like(x, 6))
    assert seen == [(0.0, None)]


def test_functions_without_jvp(torch):
    class Backward(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    x = numbers(torch)
    with pytest.raises(NotImplementedError, match="jvp function"):
        dual_result(torch, Backward.apply, (x, x))
    same(torch, Backward.apply(x), x * 2)


def test_numbers_of_tangents(torch):
    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def jvp(ctx, tangent):
            return tangent * 2

    x = numbers(torch)
    with pytest.raises(RuntimeError, match="number of forward gradients .expected 2 but got 1"):
        dual_result(torch, Two.apply, (x, x))


def test_in_place_functions_change_the_tangent(torch):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def jvp(ctx, tangent):
            tangent.mul_(2)
            return tangent

    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(2), torch.full((2,), 3.0))
        result = Double.apply(dual)
        assert result is dual
        value, tangent = forward_ad.unpack_dual(dual)
        assert value.tolist() == [2.0, 2.0] and tangent.tolist() == [6.0, 6.0]


def test_dual_tensors_that_require_gradients(torch):
    x = numbers(torch).requires_grad_()
    [(value, tangent)] = dual_result(torch, cube(torch), (x, torch.ones_like(x)))
    value.sum().backward(retain_graph=True)
    same(torch, x.grad, 30 * x.detach() ** 2)
    x.grad = None
    tangent.sum().backward()
    same(torch, x.grad, 600 * x.detach())
