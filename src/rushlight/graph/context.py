"""Contexts of a trace: where primitives are applied, and what takes tensors into a trace."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..dtypes import dtype as DType

if TYPE_CHECKING:
    from ..ops.record import Composite, Primitive
    from .traced import Traced


class _Active(threading.local):
    stack: list[Context]
    captures: Captures | None

    def __init__(self) -> None:
        self.stack = []
        self.captures = None


_active = _Active()


def current_context() -> Context | None:
    """The innermost context that is tracing in this thread."""
    return _active.stack[-1] if _active.stack else None


def tracing_contexts() -> Sequence[Context]:
    """The contexts that are tracing in this thread, the innermost last."""
    return _active.stack


class Captures:
    """What turns tensors into traced values while a function transform traces in this thread."""

    tensor_type: type  # what traced values pass for
    size_type: type  # of their shapes

    def lift(self, argument: Any) -> Any:
        """The argument, a list or a tuple, with tensors as traced values; others as they are."""
        raise NotImplementedError

    def attribute(self, x: Traced, name: str) -> Any:
        """An attribute of a traced value that no operator is; AttributeError if there is none."""
        raise NotImplementedError


def captures() -> Captures | None:
    """What takes tensors into the trace of this thread; None if a function is not being traced."""
    return _active.captures


def set_captures(new: Captures | None) -> Captures | None:
    """Choose what takes tensors into this thread's trace; returns what did before."""
    previous, _active.captures = _active.captures, new
    return previous


def lifted(argument: Any) -> Any:
    """The argument with the tensors in it as traced values, if a function is being traced."""
    return argument if _active.captures is None else _active.captures.lift(argument)


class Context:
    """Where primitives are applied. ``level``: of the inputs' contexts, the one with the highest
    level decides.
    """

    level = 0

    @contextmanager
    def active(self) -> Iterator[Context]:
        """Trace in this context: operators that have no traced input are applied here."""
        _active.stack.append(self)
        try:
            yield self
        finally:
            _active.stack.pop()

    def apply(
        self, primitive: Primitive, inputs: Sequence[Traced], attributes: dict[str, Any]
    ) -> tuple[Traced, ...]:
        """Apply a primitive to inputs of this context or of lower ones."""
        raise NotImplementedError

    def number(self, value: Any) -> Traced:
        """A Python number or symbolic int as a weak 0-d value."""
        raise NotImplementedError

    def enter(self, composite: Composite, arguments: dict[str, Any]) -> Any:
        """A composite that carries a derivative of its own is about to run; the result goes to
        ``leave``.
        """

    def leave(self, token: Any, result: Any) -> None:
        """The composite is done."""

    def concrete(self, x: Traced, what: str) -> Any:
        """A tensor that holds what a value of this context is in the call being traced.

        Raises:
            TypeError: if only running the program tells. what: the method that asks.
        """
        raise TypeError(
            f"{what}() of a traced {'number' if x.weak else 'tensor'}: its value is known only "
            "when the program runs; use operators (where, maximum, ...) instead"
        )


def apply(
    primitive: Primitive, inputs: Sequence[Traced], attributes: dict[str, Any]
) -> tuple[Traced, ...]:
    """Apply a primitive in the highest context among its inputs, else in the current one."""
    context = (
        max((x.context for x in inputs), key=lambda each: each.level, default=None)
        or current_context()
    )
    if context is None:
        raise RuntimeError(f"{primitive.name}: no graph is being traced")
    return context.apply(primitive, inputs, attributes)


# ---------------------------------------------------------------- contexts above others


class NestedValue:
    """What the context of a transform makes of a value of the context below."""

    def __init__(self, primal: Traced) -> None:
        self.primal = primal
        self.like: Any = None  # as of a graph's ``Value``

    @property
    def dtype(self) -> DType:
        return self.primal.dtype

    @property
    def shape(self) -> tuple[Any, ...]:
        return self.primal.shape

    @property
    def weak(self) -> bool:
        return self.primal.weak


class NestedContext(Context):
    """The context of a transform, whose values are ``NestedValue``: works primitives out with
    others, which are applied in the context below.
    """

    def __init__(self, below: Context) -> None:
        self.below = below
        self.level = below.level + 1

    def number(self, value: Any) -> Traced:
        return self.below.number(value)

    def concrete(self, x: Traced, what: str) -> Any:
        primal = x.value.primal
        return primal.context.concrete(primal, what)
