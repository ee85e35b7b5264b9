"""What PyTorch's note on extending says of functions, modules and tensor-like types."""

from __future__ import annotations

import gc
import weakref

import numpy
import pytest


def leaf(torch, *shape):
    generator = numpy.random.default_rng(len(shape))
    return torch.tensor(generator.normal(size=shape).tolist(), dtype=torch.float64).requires_grad_()


def linear_function(torch):
    class Linear(torch.autograd.Function):
        @staticmethod
        def forward(x, weight, bias):
            result = x.mm(weight.t())
            if bias is not None:
                result += bias.unsqueeze(0).expand_as(result)
            return result

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, gradient):
            x, weight, bias = ctx.saved_tensors
            needed = ctx.needs_input_grad
            return (
                gradient.mm(weight) if needed[0] else None,
                gradient.t().mm(x) if needed[1] else None,
                gradient.sum(0) if bias is not None and needed[2] else None,
            )

    return Linear


# ---------------------------------------------------------------- functions


def test_an_operator_with_an_optional_argument(torch):
    def linear(x, weight, bias=None):
        return linear_function(torch).apply(x, weight, bias)

    x, weight, bias = leaf(torch, 4, 3), leaf(torch, 2, 3), leaf(torch, 2)
    for arguments in ((x, weight), (x, weight, bias), (x.detach(), weight, bias)):
        assert torch.autograd.gradcheck(linear, arguments)
        assert torch.autograd.gradgradcheck(linear, arguments)
        expected = torch.nn.functional.linear(*arguments)
        assert torch.allclose(linear(*arguments), expected)


def test_gradcheck_finds_a_wrong_formula(torch):
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 3

    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(Wrong.apply, (leaf(torch, 3),))


def test_arguments_do_not_track_history_inside(torch):
    seen = []

    class Look(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, other, plain):
            seen.extend([(x * 2).requires_grad, (other * x).grad_fn, type(plain)])
            return x * other

        @staticmethod
        def backward(ctx, gradient):
            return gradient, None, None

    x = leaf(torch, 3)
    assert Look.apply(x, x.detach(), {"any": "object"}).requires_grad
    assert seen == [False, None, dict]


def test_tensors_in_lists_are_no_arguments(torch):
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, tensors, y):
            return tensors[0].detach() * y

        @staticmethod
        def backward(ctx, gradient):
            return None, gradient

    x, y = leaf(torch, 3), leaf(torch, 3)
    assert not Scale.apply([x], y.detach()).requires_grad
    Scale.apply([x], y).sum().backward()
    assert x.grad is None and y.grad is not None


def test_outputs_require_gradients_by_their_dtype(torch):
    class Parts(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x.round().to(torch.int64), x > 0

        @staticmethod
        def backward(ctx, *gradients):
            assert len(gradients) == 3
            return gradients[0] * 2

    double, whole, positive = Parts.apply(leaf(torch, 3))
    assert [each.requires_grad for each in (double, whole, positive)] == [True, False, False]


class Holder:
    """Weakly referenced instead of tensors."""


@pytest.mark.parametrize("how", ["saved", "attribute"])
def test_what_is_saved_goes_with_the_backward_pass(torch, how):
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, other):
            if how == "saved":
                ctx.save_for_backward(other)
            else:
                ctx.other = other
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2, None

    other = torch.ones(3)
    other.note = holder = Holder()
    gone = weakref.ref(holder)
    y = Keep.apply(leaf(torch, 3), other)
    del other, holder
    y.sum().backward()
    gc.collect()
    assert (gone() is None) == (how == "saved")
    del y
    gc.collect()
    assert gone() is None


def test_intermediate_values_as_outputs_can_be_differentiated_again(torch):
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x**3, 3 * x**2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0], output[1])

        @staticmethod
        def backward(ctx, gradient, gradient_of_slope):
            x, slope = ctx.saved_tensors
            return gradient * slope + gradient_of_slope * 6 * x

    x = leaf(torch, 3)
    assert torch.autograd.gradcheck(lambda x: Cube.apply(x)[0], (x,))
    assert torch.autograd.gradgradcheck(lambda x: Cube.apply(x)[0], (x,))


@pytest.mark.parametrize("how", ["saved", "attribute"])
def test_gradients_flow_through_saved_tensors_only(torch, how):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.x = x.detach()
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors if how == "saved" else (ctx.x,)
            return 2 * x * gradient

    x = leaf(torch, 3)
    (first,) = torch.autograd.grad((Square.apply(x) + x**2).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert second.tolist() == [4.0 if how == "saved" else 2.0] * 3


def test_undefined_gradients_may_be_skipped(torch):
    class Skip(torch.autograd.Function):
        @staticmethod
        def forward(tensor, constant):
            return tensor * constant, tensor + constant

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.set_materialize_grads(False)
            ctx.constant = inputs[1]

        @staticmethod
        def backward(ctx, first, second):
            if first is None:
                return None, None
            assert second is None
            return first * ctx.constant, None

    x = leaf(torch, 3)
    product, total = Skip.apply(x, 4.0)
    assert torch.autograd.grad(product.sum(), x)[0].tolist() == [4.0] * 3
    assert torch.autograd.grad(total.sum() * 0 + 1, x, allow_unused=True)[0] is None


def boxed_function(torch, **attributes):
    class Boxed(torch.autograd.Function):
        boxed_grads_call = True
        seen: list = []

        @staticmethod
        def forward(x):
            return x * 2, x * 3

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, gradients):
            assert type(gradients) is list
            Boxed.seen.append([each is not None for each in gradients])
            result = gradients[0] * 2
            gradients[0] = None
            result = result + gradients.pop() * 3
            return result

    return Boxed


def test_gradients_in_a_list_that_backward_may_empty(torch):
    function, x = boxed_function(torch), leaf(torch, 3)
    first, second = function.apply(x)
    (first + second).sum().backward()
    assert x.grad.tolist() == [5.0] * 3
    first, _ = function.apply(x)
    assert torch.autograd.grad(first.sum(), x)[0].tolist() == [2.0] * 3
    assert function.seen == [[True, True]] * 2
    if torch.__name__ == "rushlight":  # PyTorch's transforms hand them over one by one
        gradient = torch.func.grad(lambda x: function.apply(x)[0].sum())(x.detach())
        assert gradient.tolist() == [2.0] * 3


def test_saved_tensors_that_go_when_they_are_read(torch):
    gone = []

    class Once(torch.autograd.Function):
        clear_saved_tensors_on_access = True

        @staticmethod
        def forward(ctx, x):
            kept = x.detach() * 2
            kept.note = holder = Holder()
            gone.append(weakref.ref(holder))
            ctx.save_for_backward(kept, None)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            kept, nothing = ctx.saved_tensors
            assert nothing is None and gone[0]() is not None
            result = gradient * kept
            del kept
            gc.collect()
            assert gone[0]() is None
            return result

    x = leaf(torch, 3)
    y = Once.apply(x)
    y.sum().backward(retain_graph=True)
    assert torch.equal(x.grad, 2 * x.detach())
    with pytest.raises(RuntimeError, match="can only be accessed once"):
        y.sum().backward()


def test_numpy_inside_of_a_function(torch):
    class Sine(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return torch.from_numpy(numpy.sin(x.numpy()))

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return gradient * torch.from_numpy(numpy.cos(x.numpy()))

    x = leaf(torch, 3)
    assert torch.autograd.gradcheck(Sine.apply, (x,))
    weight = leaf(torch, 3)
    (first,) = torch.autograd.grad((Sine.apply(x) * weight).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


# ---------------------------------------------------------------- forward mode


def test_jvp_runs_after_forward_and_before_apply_returns(torch):
    order = []

    class Note(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            order.append("forward")
            ctx.slope = 3
            return x * 3

        @staticmethod
        def jvp(ctx, tangent):
            order.append("jvp")
            slope = ctx.slope
            del ctx.slope  # backward needs it no more
            return tangent * slope

    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(2), torch.tensor([1.0, 2.0]))
        result = Note.apply(dual)
        order.append("returned")
        assert forward_ad.unpack_dual(result).tangent.tolist() == [3.0, 6.0]
    assert order == ["forward", "jvp", "returned"]


def test_jvp_gets_none_where_tangents_are_not_made(torch):
    given = []

    class Add(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(False)
            return x + y

        @staticmethod
        def jvp(ctx, first, second):
            given.extend([first is None, second is None])
            return first

    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(2), torch.ones(2))
        Add.apply(dual, torch.ones(2))
    assert given == [False, True]


def test_jvp_of_a_view_is_a_view_of_the_tangent(torch):
    class Flat(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(-1)

        @staticmethod
        def jvp(ctx, tangent):
            return tangent.view(-1)

    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        tangent = torch.ones(2, 2)
        flat = Flat.apply(forward_ad.make_dual(torch.zeros(2, 2), tangent))
        tangent.mul_(5)
        assert forward_ad.unpack_dual(flat).tangent.tolist() == [5.0] * 4


# ---------------------------------------------------------------- modules


def test_a_module_on_a_function(torch):
    function = linear_function(torch)

    class Layer(torch.nn.Module):
        def __init__(self, inputs, outputs, bias=True):
            super().__init__()
            self.inputs, self.outputs = inputs, outputs
            self.weight = torch.nn.Parameter(torch.empty(outputs, inputs))
            if bias:
                self.bias = torch.nn.Parameter(torch.empty(outputs))
            else:
                self.register_parameter("bias", None)
            torch.nn.init.uniform_(self.weight, -0.1, 0.1)
            if self.bias is not None:
                torch.nn.init.uniform_(self.bias, -0.1, 0.1)

        def forward(self, x):
            return function.apply(x, self.weight, self.bias)

        def extra_repr(self):
            return f"inputs={self.inputs}, bias={self.bias is not None}"

    for bias in (True, False):
        layer = Layer(3, 2, bias)
        assert repr(layer) == f"Layer(inputs=3, bias={bias})"
        assert [name for name, _ in layer.named_parameters()] == ["weight", "bias"][: 1 + bias]
        layer(torch.ones(4, 3)).sum().backward()
        assert all(each.grad is not None for each in layer.parameters())
        assert layer.weight.grad.tolist() == [[4.0] * 3] * 2
    layer.requires_grad_(False)
    assert not layer(torch.ones(4, 3)).requires_grad


# ---------------------------------------------------------------- types like tensors


def diagonal_type(torch, permissive):
    handled = {}

    class Diagonal:
        """value times the identity of size n; no tensor."""

        def __init__(self, n, value):
            self.n, self.value = n, value

        def tensor(self):
            return self.value * torch.eye(self.n)

        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            known = all(issubclass(each, (torch.Tensor, Diagonal)) for each in types)
            if function in handled and known:
                return handled[function](*args, **(kwargs or {}))
            if not permissive:
                return NotImplemented
            plain = [each.tensor() if isinstance(each, Diagonal) else each for each in args]
            return function(*plain, **(kwargs or {}))

    def add(input, other):
        if isinstance(input, Diagonal) and isinstance(other, Diagonal):
            return Diagonal(input.n, input.value + other.value)
        return torch.add(*(x.tensor() if isinstance(x, Diagonal) else x for x in (input, other)))

    handled[torch.mean] = lambda input: float(input.value) / input.n
    handled[torch.add] = add
    return Diagonal


def test_own_types_in_functions(torch):
    diagonal = diagonal_type(torch, False)
    two = diagonal(2, 2)
    assert torch.mean(diagonal(5, 2)) == 0.4
    assert torch.add(two, two).value == 4
    assert torch.add(two, torch.ones(2, 2)).tolist() == [[3.0, 1.0], [1.0, 3.0]]
    with pytest.raises(TypeError, match="alpha"):
        torch.add(two, two, alpha=2)
    with pytest.raises(TypeError, match="__torch_function__"):
        torch.mul(two, 3)


def test_own_types_that_fall_back_on_tensors(torch):
    two = diagonal_type(torch, True)(2, 2)
    assert torch.mul(two, two).tolist() == [[4.0, 0.0], [0.0, 4.0]]
    assert torch.mul(torch.ones(2, 2), two).tolist() == [[2.0, 0.0], [0.0, 2.0]]


def test_wrapped_tensors_carry_their_notes_along(torch):
    class Noted:
        def __init__(self, data, note):
            self.data, self.note = torch.as_tensor(data), note

        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            notes = [each.note for each in args if isinstance(each, Noted)]
            plain = [each.data if isinstance(each, Noted) else each for each in args]
            return Noted(function(*plain, **(kwargs or {})), notes[0])

    noted, plain = Noted([[1, 2], [3, 4]], "mine"), torch.tensor([[1, 2], [1, 2]])
    for function, expected in ((torch.add, [[2, 4], [4, 6]]), (torch.mul, [[1, 4], [3, 8]])):
        result = function(plain, noted)
        assert result.note == "mine" and result.data.tolist() == expected


def test_subclasses_stay_what_they_are(torch):
    class Sub(torch.Tensor):
        pass

    class Lower(Sub):
        pass

    class Other(torch.Tensor):
        pass

    assert type(torch.add(Sub([0]), Sub([1]))) is Sub
    assert type(torch.add(Sub([0]), torch.tensor([1]))) is Sub
    assert type(torch.add(Lower([0]), Sub([1]))) is Lower
    assert type(torch.add(Sub([0]), Lower([1]))) is Lower
    with pytest.raises(TypeError):
        torch.add(Sub([0]), Other([1]))
    x = Sub([[1.0, 2.0], [3.0, 4.0]])
    results = (x[0], x[0, 1], x[x > 1], x[[0]], x.view(-1), x.T, 1 - x, x.max(0)[0], x.split(1)[1])
    assert {type(each) for each in results} == {Sub}
    assert x.add_(1) is x
    x[0] = 5
    x[[1]] = torch.zeros(2)
    assert x.tolist() == [[5.0, 5.0], [0.0, 0.0]]


def test_parameters_of_an_own_class_compute_plain_tensors(torch):
    class Own(torch.nn.Parameter):
        pass

    x = Own(torch.ones(2, 2))
    assert type(x) is Own
    assert {type(each) for each in (x * 2, x[0], x[[0]], x.sum())} == {torch.Tensor}
    with torch.no_grad():
        x[0] = 3
        x[[1]] = 4.0
    (x * x)[0].sum().backward()
    assert x.grad.tolist() == [[6.0, 6.0], [0.0, 0.0]]


def test_gradients_through_subclasses(torch):
    class Sub(torch.Tensor):
        pass

    x = torch.ones(2, 2).as_subclass(Sub).requires_grad_()
    y = x * 2
    y[0].mul_(3)
    (y[1] * y[0]).sum().backward()
    assert type(y) is Sub and type(y[0]) is Sub
    assert x.grad.tolist() == [[12.0, 12.0], [12.0, 12.0]]


def test_subclasses_see_functions_and_methods(torch):
    seen = []

    class Logging(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            seen.append(function.__name__)
            return super().__torch_function__(function, types, args, kwargs or {})

    x = Logging([1.0, 2.0])
    seen.clear()
    assert type(torch.exp(x)) is Logging
    assert type(x.exp()) is Logging
    assert seen == ["exp", "exp"]


def test_the_first_that_knows_decides(torch):
    asked = []

    def kind(name, answer, base=object):
        class Kind(base):
            @classmethod
            def __torch_function__(cls, function, types, args=(), kwargs=None):
                asked.append(name)
                return answer

        return Kind

    unknowing = kind("unknowing", NotImplemented)
    knowing = kind("knowing", "result")
    lower = kind("lower", NotImplemented, knowing)
    assert torch.add(unknowing(), knowing()) == "result"
    assert asked == ["unknowing", "knowing"]
    asked.clear()
    assert torch.add(knowing(), lower()) == "result"
    assert asked == ["lower", "knowing"]
    with pytest.raises(TypeError):
        torch.add(unknowing(), unknowing())
