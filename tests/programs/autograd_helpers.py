"""What programs over autograd call: hooks that keep a log, weighted sums."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy
from autograd_functions import Functions
from memory import dtype_name, numbers
from program import new


@functools.cache
def functions(module: Any) -> Functions:
    return Functions(module)


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
