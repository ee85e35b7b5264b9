"""Custom functions that programs over autograd apply, for either framework."""

from __future__ import annotations

from typing import Any


class Functions:
    """The custom functions of one framework, by name."""

    def __init__(self, module: Any) -> None:
        for make in (plain_functions, aliasing_functions, unusual_functions):
            for kind in make(module):
                setattr(self, kind.__name__, kind)


def plain_functions(module: Any) -> list[type]:
    """Functions that return new tensors."""
    base = module.autograd.Function
    found: list[type] = []
    add = found.append

    @add
    class Square(base):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return 2 * x * gradient

    @add
    class Tanh(base):
        @staticmethod
        def forward(x):
            return x.tanh()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, gradient):
            (result,) = ctx.saved_tensors
            return gradient * (1 - result * result)

    @add
    class Pair(base):
        """Two arguments and results; a result that nobody uses has no gradient."""

        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(False)
            ctx.save_for_backward(x)
            ctx.shape = y.shape
            return x * 2, y * 0.5

        @staticmethod
        def backward(ctx, first, second):
            (x,) = ctx.saved_tensors
            gradient = None if first is None else first * 2 + x * 0
            return gradient, None if second is None else second * 0.5

    @add
    class Part(base):
        """The second result has no gradient."""

        @staticmethod
        def forward(ctx, x):
            positive = (x > 0).to(x.dtype)
            ctx.mark_non_differentiable(positive)
            return x * positive, positive

        @staticmethod
        def backward(ctx, gradient, nothing):
            return gradient * 0.5 + nothing

    @add
    class Once(base):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @module.autograd.function.once_differentiable
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return 2 * x * gradient

    return found


def aliasing_functions(module: Any) -> list[type]:
    """Functions whose results share memory with their arguments."""
    base = module.autograd.Function
    found: list[type] = []
    add = found.append

    @add
    class Doubled(base):
        """Writes its argument."""

        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    @add
    class View(base):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 3

    @add
    class Same(base):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 3

    @add
    class Halves(base):
        """Two views of its argument."""

        @staticmethod
        def forward(ctx, x):
            return x.view_as(x), x.view_as(x)

        @staticmethod
        def backward(ctx, first, second):
            return first + second

    @add
    class Added(base):
        """Writes its first argument, and returns a new tensor besides."""

        @staticmethod
        def forward(ctx, x, y):
            ctx.mark_dirty(x)
            return x.add_(y.sum()), y * 2

        @staticmethod
        def backward(ctx, first, second):
            return first, second * 2 + first.sum()

    return found


def unusual_functions(module: Any) -> list[type]:
    """Functions whose backward pass does something particular."""
    base = module.autograd.Function
    found: list[type] = []
    add = found.append

    @add
    class Nothing(base):
        """Has no gradient to give."""

        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return None

    @add
    class Failing(base):
        @staticmethod
        def forward(ctx, x):
            return x + 1

        @staticmethod
        def backward(ctx, gradient):
            raise LookupError("no gradient")

    @add
    class Wide(base):
        """Its gradient has one more dim, which is summed."""

        @staticmethod
        def forward(ctx, x):
            return x + 1

        @staticmethod
        def backward(ctx, gradient):
            return gradient.expand(2, *gradient.shape)

    @add
    class Narrow(base):
        """Its gradient has too few elements."""

        @staticmethod
        def forward(ctx, x):
            return x + 1

        @staticmethod
        def backward(ctx, gradient):
            return gradient.sum()

    @add
    class Rerun(base):
        """Runs the forward pass again to differentiate it."""

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            with module.enable_grad():
                again = x.detach().requires_grad_()
                (result,) = module.autograd.grad(again.sin(), again, gradient, create_graph=True)
            return result

    @add
    class Nested(base):
        """Applies functions in both passes; takes a number besides."""

        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(x)
            ctx.factor = factor
            return module.sigmoid(x) * factor

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            if not ctx.needs_input_grad[0]:
                return None, None
            result = module.sigmoid(x)
            return gradient * ctx.factor * result * (1 - result), None

    return found
