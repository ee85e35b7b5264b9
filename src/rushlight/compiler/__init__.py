"""`compile` and what goes with it. Functions run eagerly: every operator is compiled already, when
it is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = [
    "allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin", "disable",
    "is_compiling", "is_dynamo_compiling", "is_exporting", "list_backends", "reset", "set_stance",
]  # fmt: skip


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] | None = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    name: str | None = None,
    disable: bool = False,
    recompile_limit: int | None = None,
    isolate_recompiles: bool = False,
    shapes_spec: Any = None,
) -> Any:
    """A function or module as it is: it runs eagerly, operator by operator.

    Args:
        model: the function or module; None: a decorator is returned.
        fullgraph, dynamic, backend, mode, options, name, disable, recompile_limit,
            isolate_recompiles, shapes_spec: accepted.

    Raises:
        RuntimeError: if both mode and options are given, or model cannot be called.
    """
    if mode is not None and options is not None:
        raise RuntimeError(
            f"compile: mode={mode!r} stands for a set of options, so options cannot be given with "
            "it"
        )
    if model is None:
        return _itself
    return _itself(model)


def _itself(function: Any) -> Any:
    if not callable(function):
        raise RuntimeError("torch.compile requires a callable or module argument")
    return function


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Keep a function from being compiled: it runs eagerly in any case."""
    return _itself if fn is None else _itself(fn)


def allow_in_graph(fn: Any) -> Any:
    """Let compiled functions call this one without looking inside."""
    return [_itself(each) for each in fn] if isinstance(fn, list | tuple) else _itself(fn)


def assume_constant_result(fn: Any) -> Any:
    """Declare that a function gives the same each time."""
    return _itself(fn)


def is_compiling() -> bool:
    """Whether a function is being compiled: never."""
    return False


def is_dynamo_compiling() -> bool:
    """Whether a function is being compiled: never."""
    return False


def is_exporting() -> bool:
    """Whether a function is being exported: never."""
    return False


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """The names of compilers: none."""
    return []


def reset() -> None:
    """Forget what was compiled by `compile`: nothing."""


def cudagraph_mark_step_begin() -> None:
    """Mark the start of a step; nothing happens without a GPU."""


class set_stance:
    """Choose whether functions are compiled; none is. A call, a context and a decorator."""

    def __init__(
        self,
        stance: str = "default",
        *,
        skip_guard_eval_unsafe: bool = False,
        force_backend: Any = None,
    ) -> None:
        self.stance = stance

    def __call__(self, fn: Any) -> Any:
        return _itself(fn)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        pass
