"""What programs over autograd call: custom functions, hooks that keep a log, weighted sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from memory import dtype_name, numbers
from program import new


def namespace(module: Any) -> dict[str, Any]:
    """The names that a program's lines use in this framework."""
    log: list[Any] = []
    return {
        "m": module,
        "F": functions(module),
        "log": log,
        "grad": lambda *args, **options: copies(module.autograd.grad(*args, **options)),
        "weighted": lambda *tensors: weighted(module, tensors),
        **hooks(module, log),
    }


def copies(gradients: Any) -> Any:
    """What shares memory among gradients, and their strides, are not promised."""
    return [None if each is None else each.contiguous().clone() for each in gradients]


def weighted(module: Any, tensors: Any) -> Any:
    """One number that depends on each element of each tensor by its own factor."""
    total = None
    for tensor in tensors:
        shape = tuple(tensor.shape)
        factors = numpy.cos(numpy.arange(int(numpy.prod(shape)))).reshape(shape)
        term = (tensor * new(module, factors, dtype_name(tensor))).sum().to(module.float64)
        total = term if total is None else total + term
    return total


def hooks(module: Any, log: list[Any]) -> dict[str, Callable[..., Any]]:
    """Hooks for tensors, nodes and leaves; each notes its name and the gradients it is given."""

    def content(gradient: Any) -> Any:
        return None if gradient is None else numbers(gradient.detach())

    def watch(name: str) -> Callable[[Any], None]:
        return lambda gradient: log.append((name, [content(gradient)]))

    def scale(name: str, factor: float) -> Callable[[Any], Any]:
        def hook(gradient: Any) -> Any:
            log.append((name, [content(gradient)]))
            return gradient * factor

        return hook

    def node_watch(name: str) -> Callable[[Any, Any], None]:
        return lambda inputs, outputs: log.append((name, list(map(content, outputs))))

    def node_scale(name: str, factor: float) -> Callable[[Any], Any]:
        def hook(outputs: Any) -> Any:
            log.append((name, list(map(content, outputs))))
            return tuple(None if each is None else each * factor for each in outputs)

        return hook

    def leaf_watch(name: str) -> Callable[[Any], None]:
        return lambda leaf: log.append((name, [content(leaf.grad)]))

    def pack(tensor: Any) -> Any:
        return tensor.detach().clone()

    return {
        "watch": watch,
        "scale": scale,
        "node_watch": node_watch,
        "node_scale": node_scale,
        "leaf_watch": leaf_watch,
        "kept": lambda: module.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed),
    }


class Functions:
    """The custom functions of one framework, by name."""


def functions(module: Any) -> Functions:
    """Functions with each of the ways that a ``Context`` offers."""
    base = module.autograd.Function
    found = Functions()

    def add(kind: type) -> None:
        setattr(found, kind.__name__, kind)

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

    @add
    class Halves(base):
        """Two views of its argument."""

        @staticmethod
        def forward(ctx, x):
            return x.view_as(x), x.view_as(x)

        @staticmethod
        def backward(ctx, first, second):
            return first + second

    return found
