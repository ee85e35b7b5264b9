"""`autograd.Function`: one test for each behaviour."""

from __future__ import annotations

import gc
import traceback
import warnings
import weakref

import pytest


def leaf(torch, *values):
    return torch.tensor(list(values), requires_grad=True)


def exp(torch, **attributes):
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x.exp())
            (result,) = ctx.to_save
            return result

        @staticmethod
        def backward(ctx, gradient):
            (result,) = ctx.saved_tensors
            return gradient * result

    for name, value in attributes.items():
        setattr(Exp, name, staticmethod(value))
    return Exp


def test_forward_and_backward(torch):
    x = leaf(torch, 1.0, 2.0)
    y = exp(torch).apply(x)
    assert not y.is_leaf and y.requires_grad
    y.sum().backward()
    assert torch.allclose(x.grad, x.detach().exp())


def test_the_node_is_ctx(torch):
    seen = []

    def forward(ctx, x):
        ctx.note = "kept"
        seen.append(ctx)
        return x * 2

    y = exp(torch, forward=forward).apply(leaf(torch, 1.0))
    assert y.grad_fn is seen[0]
    assert y.grad_fn.note == "kept"
    assert y.grad_fn.name() == type(y.grad_fn).__name__ == "ExpBackward"
    ((accumulate, index),) = y.grad_fn.next_functions
    assert accumulate.name().endswith("AccumulateGrad") and index == 0
    assert y.grad_fn.metadata == {}


def test_forward_is_not_recorded(torch):
    seen = []

    def forward(ctx, x):
        seen.extend([torch.is_grad_enabled(), (x * 2).requires_grad])
        return x * 2

    exp(torch, forward=forward).apply(leaf(torch, 1.0))
    assert seen == [False, False]
    assert torch.is_grad_enabled()


def test_nothing_is_recorded_without_need(torch):
    assert exp(torch).apply(torch.ones(2)).grad_fn is None
    with torch.no_grad():
        assert exp(torch).apply(leaf(torch, 1.0)).grad_fn is None


def test_other_arguments(torch):
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor, name="a", tensors=()):
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, gradient):
            return gradient * ctx.factor, None, None

    x = leaf(torch, 1.0)
    Scale.apply(x, 3, "b").backward()
    assert x.grad.tolist() == [3.0]


def test_needs_input_grad(torch):
    seen = []

    class Mul(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, n):
            seen.append(ctx.needs_input_grad)
            return x * y

        @staticmethod
        def backward(ctx, gradient):
            seen.append(ctx.needs_input_grad)
            return gradient, gradient, None

    Mul.apply(leaf(torch, 1.0), torch.ones(1), 3).backward()
    assert seen == [(True, False, False)] * 2


def test_several_outputs_and_undefined_gradients(torch):
    seen = []

    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, materialize):
            ctx.set_materialize_grads(materialize)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, *gradients):
            seen.append(gradients)
            return gradients[0], None

    x = leaf(torch, 1.0, 2.0)
    Two.apply(x, True)[0].sum().backward()
    Two.apply(x, False)[0].sum().backward()
    assert seen[0][1].tolist() == [0.0, 0.0]
    assert seen[1][1] is None


def test_outputs_that_are_no_tensors(torch):
    seen = []

    def forward(ctx, x):
        return x * 2, [1], "text", None

    def backward(ctx, *gradients):
        seen.append(gradients)
        return gradients[0]

    y, *others = exp(torch, forward=forward, backward=backward).apply(leaf(torch, 1.0))
    assert others == [[1], "text", None]
    y.backward()
    assert seen[0][1:] == (None, None, None)


def test_mark_non_differentiable(torch):
    def forward(ctx, x):
        order = x > 1
        floor = x.floor()
        ctx.mark_non_differentiable(floor)
        return x * 2, order, floor

    def backward(ctx, first, second, third):
        assert third.tolist() == [0.0, 0.0]
        return first * 2

    x = leaf(torch, 1.5, 0.5)
    y, order, floor = exp(torch, forward=forward, backward=backward).apply(x)
    assert (y.requires_grad, order.requires_grad, floor.requires_grad) == (True, False, False)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_mark_non_differentiable_input(torch):
    def forward(ctx, x):
        ctx.mark_non_differentiable(x)
        return x

    x = leaf(torch, 1.0)
    y = exp(torch, forward=forward).apply(x)
    assert y is not x and not y.requires_grad and x.requires_grad


def double_in_place(torch):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    return Double


def test_mark_dirty(torch):
    x = leaf(torch, 1.0, 2.0)
    y = x * 3
    z = double_in_place(torch).apply(y)
    assert z is y and z.grad_fn.name() == "DoubleBackward"
    z.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_mark_dirty_counts_a_write(torch):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x

    x = leaf(torch, 1.0) * 1
    exp(torch, forward=forward).apply(x)
    assert x._version == 1


def test_mark_dirty_view(torch):
    x = leaf(torch, 1.0, 2.0, 3.0)
    y = x * 1
    double_in_place(torch).apply(y[1:])
    assert y.tolist() == [1.0, 4.0, 6.0]
    (y * y).sum().backward()
    assert x.grad.tolist() == [2.0, 16.0, 24.0]


def test_mark_dirty_leaf_is_an_error(torch):
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        double_in_place(torch).apply(leaf(torch, 1.0))


def test_mark_dirty_view_of_a_leaf_is_an_error(torch):
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        double_in_place(torch).apply(leaf(torch, 1.0, 2.0)[:1])


def test_mark_dirty_must_be_returned(torch):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x * 2

    with pytest.raises(RuntimeError, match="marked as dirty"):
        exp(torch, forward=forward).apply(leaf(torch, 1.0) * 1)


def test_mark_dirty_view_with_two_outputs_is_an_error(torch):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2), x + 1

    base = leaf(torch, 1.0, 2.0) * 1
    with pytest.raises(RuntimeError, match="cannot return more than one Tensor"):
        exp(torch, forward=forward).apply(base[:1])


def test_input_returned_as_output(torch):
    def forward(ctx, x):
        return x

    def backward(ctx, gradient):
        return gradient * 5

    x = leaf(torch, 1.0)
    y = exp(torch, forward=forward, backward=backward).apply(x)
    assert y is not x and y.data_ptr() == x.data_ptr()
    y.backward()
    assert x.grad.tolist() == [5.0]
    assert exp(torch, forward=forward).apply(torch.ones(1)).grad_fn is None


def test_view_returned_as_output(torch):
    def forward(ctx, x):
        return x.view(-1)

    def backward(ctx, gradient):
        return gradient.view(2, 2) * 2

    x = torch.ones(2, 2, requires_grad=True)
    base = x * 1
    y = exp(torch, forward=forward, backward=backward).apply(base)
    assert y.grad_fn.name() == "ExpBackward"
    y.sum().backward()
    assert x.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]
    with pytest.raises(RuntimeError, match="created inside a custom Function"):
        y.mul_(2)


def test_base_of_a_returned_view_is_written(torch):
    base = leaf(torch, 1.0, 2.0) * 1
    for forward in (lambda ctx, x: x.view(2, 1), lambda ctx, x: x):
        y = exp(torch, forward=forward).apply(base)
        base.mul_(2)
        for use in (
            lambda y: y.sum(),
            lambda y: y.grad_fn,
            lambda y: y.is_leaf,
            lambda y: y.retain_grad(),
            lambda y: y.register_hook(print),
        ):
            with pytest.raises(
                RuntimeError, match="its base or (another view of its base|that base itself) has"
            ):
                use(y)
        assert "grad_fn=<Invalid>" in repr(y)


def test_several_views_returned_as_outputs(torch):
    def forward(ctx, x):
        return x[0], x[1]

    first, _ = exp(torch, forward=forward).apply(leaf(torch, 1.0, 2.0) * 1)
    with pytest.raises(RuntimeError, match="returns multiple views"):
        first.mul_(2)


def test_setup_context(torch):
    seen = []

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(x, factor=2.0):
            return x * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            seen.append((len(inputs), inputs[1], output.tolist()))
            ctx.factor = inputs[1]

        @staticmethod
        def backward(ctx, gradient):
            return gradient * ctx.factor, None

    x = leaf(torch, 1.0)
    Scale.apply(x).backward()
    Scale.apply(x, factor=5.0).backward()
    assert x.grad.tolist() == [7.0]
    assert seen == [(2, 2.0, [2.0]), (2, 5.0, [5.0])]


def test_setup_context_cannot_save_an_input_that_is_an_output(torch):
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    with pytest.raises(RuntimeError, match="returned as-is as output is being saved"):
        Same.apply(leaf(torch, 1.0))


def test_double_backward(torch):
    x = leaf(torch, 1.0)
    y = exp(torch).apply(x)
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x, create_graph=True)
    (third,) = torch.autograd.grad(second, x)
    for each in (first, second, third):
        assert torch.allclose(each, x.exp())


def test_double_backward_through_a_saved_input(torch):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return gradient * 2 * x

    x = leaf(torch, 3.0)
    (first,) = torch.autograd.grad(Square.apply(x), x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    assert (first.item(), second.item()) == (6.0, 2.0)


def test_once_differentiable(torch):
    once = torch.autograd.function.once_differentiable
    modes = []

    @once
    def backward(ctx, gradient):
        modes.append(torch.is_grad_enabled())
        return gradient * 3

    function = exp(torch, backward=backward)
    x = leaf(torch, 1.0)
    function.apply(x).backward()
    assert x.grad.tolist() == [3.0]
    weight = leaf(torch, 1.0)
    (gradient,) = torch.autograd.grad(function.apply(x), x, weight, create_graph=True)
    assert gradient.requires_grad
    with pytest.raises(RuntimeError, match="marked with @once_differentiable"):
        gradient.backward()
    assert modes == [False, False]


def test_saved_tensors_are_freed(torch):
    x = leaf(torch, 1.0)
    y = exp(torch).apply(x)
    assert torch.allclose(y.grad_fn.saved_tensors[0], y)
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        _ = y.grad_fn.saved_tensors


def test_saved_tensors_are_checked(torch):
    def forward(ctx, x, y):
        ctx.save_for_backward(y, None)
        return x * y

    def backward(ctx, gradient):
        y, none = ctx.saved_tensors
        assert none is None
        return gradient * y, None

    other = torch.ones(1)
    z = exp(torch, forward=forward, backward=backward).apply(leaf(torch, 1.0), other)
    other.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


@pytest.mark.parametrize("value", [3, [1, 2], "text"])
def test_only_tensors_can_be_saved(torch, value):
    def forward(ctx, x):
        ctx.save_for_backward(x, value)
        return x * 2

    with pytest.raises(TypeError, match="save_for_backward can only save variables.*argument 1"):
        exp(torch, forward=forward).apply(leaf(torch, 1.0))


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda g: (g,), r"returned an incorrect number of gradients \(expected 2, got 1\)"),
        (lambda g: (g, None, g), r"incorrect number of gradients \(expected 2, got 3\)"),
        (lambda g: (g, g), "returned a gradient different than None at position 2"),
        (lambda g: (3, None), r"expected Variable or None \(got int\)"),
        (lambda g: (g.new_ones(3), None), "returned an invalid gradient at index 0"),
    ],
)
def test_wrong_gradients(torch, result, message):
    def forward(ctx, x, n):
        return x * n

    def backward(ctx, gradient):
        return result(gradient)

    y = exp(torch, forward=forward, backward=backward).apply(leaf(torch, 1.0, 2.0), 2)
    with pytest.raises(RuntimeError, match=message):
        y.sum().backward()


def test_surplus_nones_are_dropped(torch):
    def backward(ctx, gradient):
        return gradient, None, None

    x = leaf(torch, 1.0)
    exp(torch, backward=backward).apply(x).backward()
    assert x.grad.tolist() == [1.0]


def test_exceptions_come_out_as_themselves(torch):
    class OwnError(Exception):
        pass

    def fail(ctx, *args):
        raise OwnError("here")

    with pytest.raises(OwnError, match="here") as caught:
        exp(torch, forward=fail).apply(leaf(torch, 1.0))
    assert torch.is_grad_enabled()
    y = exp(torch, backward=fail).apply(leaf(torch, 1.0))
    with pytest.raises(OwnError, match="here") as caught:
        y.backward()
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "fail"


def test_missing_methods(torch):
    class Nothing(torch.autograd.Function):
        pass

    class OnlyForward(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with pytest.raises(NotImplementedError, match="forward function"):
        Nothing.apply(leaf(torch, 1.0))
    with pytest.raises(NotImplementedError, match="either the backward or vjp"):
        OnlyForward.apply(leaf(torch, 1.0)).backward()


def test_vjp_is_another_name_of_backward(torch):
    def vjp(ctx, gradient):
        return gradient * 7

    class Seven(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 7

    Seven.vjp = staticmethod(vjp)
    x = leaf(torch, 1.0)
    Seven.apply(x).backward()
    assert x.grad.tolist() == [7.0]
    with pytest.raises(RuntimeError, match="both 'backward' and 'vjp'"):
        exp(torch, vjp=vjp).apply(x).backward()


def test_instances_are_of_no_use(torch):
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        instance = exp(torch)()
    with pytest.raises(RuntimeError, match="Legacy autograd function"):
        instance(leaf(torch, 1.0))


def test_hooks_on_the_node(torch):
    y = exp(torch).apply(leaf(torch, 0.0))
    calls = []
    y.grad_fn.register_prehook(lambda outputs: calls.append("before"))
    y.grad_fn.register_hook(lambda inputs, outputs: calls.append("after"))
    y.backward()
    assert calls == ["before", "after"]


def test_gradients_keep_leaving_through_the_input_of_before(torch):
    """Edges are those of the arguments when the function is called."""

    def forward(ctx, x):
        return x * 2

    def backward(ctx, gradient):
        return gradient * 2

    x = leaf(torch, 1.0)
    y = x * 3
    z = exp(torch, forward=forward, backward=backward).apply(y)
    y.mul_(100)
    z.backward()
    assert x.grad.tolist() == [6.0]


def test_functions_in_functions(torch):
    inner = exp(torch)

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return inner.apply(x)

    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            inner.apply(x).backward(gradient)
        return x.grad

    x = leaf(torch, 1.0)
    exp(torch, forward=forward, backward=backward).apply(x).backward()
    assert torch.allclose(x.grad, x.detach().exp())


def test_the_node_lives_as_long_as_the_output(torch):
    gc.disable()
    try:
        y = exp(torch).apply(leaf(torch, 1.0))
        gone = weakref.ref(y)
        node = y.grad_fn
        note = type("Note", (), {})()
        node.note = note
        node_gone = weakref.ref(note)
        del note, node, y
        assert gone() is None and node_gone() is None
    finally:
        gc.enable()


def test_cycles_through_ctx_are_collected(torch):
    def forward(ctx, x):
        ctx.itself = ctx
        ctx.note = type("Note", (), {})()
        gone.append(weakref.ref(ctx.note))
        return x * 2

    gone = []
    exp(torch, forward=forward).apply(leaf(torch, 1.0))
    gc.collect()
    assert gone[0]() is None


def test_long_chains_are_freed(torch):
    function = exp(torch, forward=lambda ctx, x: x + 0, backward=lambda ctx, g: g)
    x = leaf(torch, 1.0)
    y = x
    for _ in range(5000):
        y = function.apply(y)
    y.backward()
    assert x.grad.tolist() == [1.0]
    del y


def test_complex_gradients_of_real_inputs_are_errors(torch):
    def forward(ctx, x):
        return x * 2

    def backward(ctx, gradient):
        return gradient * (2 + 3j)

    x = leaf(torch, 1.0)
    y = exp(torch, forward=forward, backward=backward).apply(x)
    with pytest.raises(RuntimeError, match="input_is_complex == grad_is_complex"):
        y.backward()


def test_only_inputs_should_be_dirty(torch):
    def forward(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exp(torch, forward=forward).apply(leaf(torch, 1.0))
    assert any("Only input Tensors" in str(each.message) for each in caught)
