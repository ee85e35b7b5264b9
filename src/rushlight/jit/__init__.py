"""TorchScript's decorators. Functions and modules stay Python and run eagerly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = [
    "annotate", "export", "freeze", "ignore", "interface", "is_scripting", "is_tracing",
    "isinstance", "optimize_for_inference", "script", "script_if_tracing", "trace", "trace_module",
    "unused",
]  # fmt: skip

_isinstance = isinstance


def script(
    obj: Any,
    optimize: Any = None,
    _frames_up: int = 0,
    _rcb: Any = None,
    example_inputs: Any = None,
) -> Any:
    """A function, class or module as it is: it runs eagerly."""
    return obj


def trace(
    func: Any,
    example_inputs: Any = None,
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_kwarg_inputs: Any = None,
    _store_inputs: bool = True,
) -> Any:
    """A function or module as it is, after one call with the example.

    Args:
        func: the function or module.
        example_inputs: a tensor, or a tuple of arguments.
        example_kwarg_inputs: arguments by name.
        optimize, check_trace, check_inputs, check_tolerance, strict: accepted.
    """
    if example_kwarg_inputs is not None:
        func(**example_kwarg_inputs)
    elif example_inputs is not None:
        func(*_arguments(example_inputs))
    return func


def trace_module(
    mod: Any,
    inputs: dict[str, Any],
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_inputs_is_kwarg: bool = False,
    _store_inputs: bool = True,
) -> Any:
    """A module as it is, after one call of each method with its example."""
    for name, given in inputs.items():
        getattr(mod, name)(*_arguments(given))
    return mod


def _arguments(example: Any) -> Any:
    """The arguments that an example stands for: itself, unless it is a sequence of them."""
    return example if _isinstance(example, tuple | list) else (example,)


def script_if_tracing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function as it is."""
    return fn


def export(fn: Any) -> Any:
    """Mark a method that is to be compiled: it stays as it is."""
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Mark a function that stays Python, as all do. Works with and without arguments."""
    return drop if callable(drop) else lambda fn: fn


def unused(fn: Any) -> Any:
    """Mark a function that is not called: it stays as it is."""
    return fn


def interface(obj: Any) -> Any:
    """Mark a class that others implement: it stays as it is."""
    return obj


def annotate(the_type: Any, the_value: Any) -> Any:
    """A value, whose type is told."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether an object is of a type, or of one of several; containers by their own type."""
    kinds = target_type if _isinstance(target_type, tuple) else (target_type,)
    return any(_isinstance(obj, getattr(kind, "__origin__", None) or kind) for kind in kinds)


def freeze(
    mod: Any,
    preserved_attrs: Any = None,
    optimize_numerics: bool = True,
    preserve_parameters: bool = False,
) -> Any:
    """A module as it is.

    Raises:
        RuntimeError: if it is in training mode.
    """
    if getattr(mod, "training", False):
        raise RuntimeError(
            "Freezing is only implemented for modules in eval mode: call .eval() first"
        )
    return mod


def optimize_for_inference(mod: Any, other_methods: Any = None) -> Any:
    """A module as it is."""
    return mod


def is_scripting() -> bool:
    """Whether code runs as TorchScript: never."""
    return False


def is_tracing() -> bool:
    """Whether a function is being traced: never."""
    return False
