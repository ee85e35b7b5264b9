"""Questions about classes that decide what operators do with them, by ``__torch_function__``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import rushlight

from . import nn
from ._core import Tensor
from .ops.record import FUNCTIONS

__all__ = [
    "get_overridable_functions", "handle_torch_function", "has_torch_function", "is_tensor_like",
    "is_tensor_method_or_property", "resolve_name", "wrap_torch_function",
]  # fmt: skip


def is_tensor_like(inp: Any) -> bool:
    """Whether an object is a tensor or has a ``__torch_function__``.

    Example:
        >>> is_tensor_like(rushlight.zeros(2)), is_tensor_like([0, 0])
        (True, False)
    """
    return isinstance(inp, Tensor) or hasattr(type(inp), "__torch_function__")


def _overloaded(arguments: Iterable[Any]) -> list[Any]:
    """The arguments that decide, one of each class, subclasses first."""
    found: list[Any] = []
    for argument in arguments:
        kind = type(argument)
        if not hasattr(kind, "__torch_function__") or any(type(each) is kind for each in found):
            continue
        place = next((i for i, each in enumerate(found) if issubclass(kind, type(each))), None)
        found.insert(len(found) if place is None else place, argument)
    return found


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether any of these arguments has a ``__torch_function__``."""
    return any(hasattr(type(each), "__torch_function__") for each in relevant_args)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Let the classes of the relevant arguments run a call of a function.

    Args:
        public_api: the function.
        relevant_args: the arguments that may decide.
        args, kwargs: all arguments of the call.

    Raises:
        TypeError: if all of them return NotImplemented.
    """
    overloaded = _overloaded(relevant_args)
    types = tuple(map(type, overloaded))
    for each in overloaded:
        result = type(each).__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    names = [kind.__name__ for kind in types]
    raise TypeError(
        f"no implementation found for {resolve_name(public_api) or public_api} on types that "
        f"implement __torch_function__: {names}"
    )


def wrap_torch_function(
    dispatcher: Callable[..., Iterable[Any]],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator for functions whose calls classes may run.

    Args:
        dispatcher: gives the relevant arguments of a call.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorate


def get_overridable_functions() -> dict[Any, list[Any]]:
    """The operators whose calls classes may run, by the namespace they are in."""
    found: dict[Any, list[Any]] = {}
    for path in FUNCTIONS:
        space: Any = rushlight
        *modules, name = path.split(".")
        for module in modules:
            space = getattr(space, module)
        if not name.startswith("_"):
            found.setdefault(space, []).append(getattr(space, name))
    methods = [getattr(Tensor, name) for name in dir(Tensor) if not name.startswith("__")]
    found[Tensor] = [each for each in methods if callable(each)]
    return found


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether a function is a method of Tensor, or gets one of its properties."""
    name = getattr(func, "__name__", "")
    if name == "__get__":
        return True
    return getattr(Tensor, name, None) is func


def resolve_name(f: Callable[..., Any]) -> str | None:
    """The path of an operator, such as ``torch.nn.functional.relu``; None for other functions."""
    name = getattr(f, "__name__", None)
    if name is None:
        return None
    for prefix, space in (
        ("torch", rushlight),
        ("torch.nn.functional", nn.functional),
        ("torch.Tensor", Tensor),
    ):
        if getattr(space, name, None) is f:
            return f"{prefix}.{name}"
    record = getattr(f, "record", None)
    return f"torch.{record.names[0]}" if record is not None and record.names else None
