"""Switches of this thread's grad and inference mode: context managers and decorators."""

from __future__ import annotations

import functools
import inspect
import threading
import warnings
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from .. import _core

__all__ = [
    "enable_grad",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

Function = TypeVar("Function", bound=Callable[..., Any])

is_grad_enabled = _core.is_grad_enabled
is_inference_mode_enabled = _core.is_inference_mode_enabled


class _Mode:
    """A context manager that also decorates functions: each call enters a fresh context."""

    __slots__ = ("previous",)

    def clone(self) -> Any:
        """A new context with the same setting: recursive calls must not share the saved state."""
        return type(self)()

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *exception: object) -> None:
        raise NotImplementedError

    def __call__(self, function: Function) -> Function:
        if inspect.isclass(function):
            warnings.warn(
                "Decorating classes is deprecated: it only affects construction. Decorate the "
                "functions or methods that compute, or `__init__` itself.",
                FutureWarning,
                stacklevel=2,
            )
            function.__init__ = self(function.__init__)  # type: ignore[method-assign]
            return function
        if inspect.isgeneratorfunction(function):
            return _decorate_generator(self, function)

        @functools.wraps(function)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return decorated  # type: ignore[return-value]


def _decorate_generator(mode: _Mode, function: Any) -> Any:
    """The mode holds while the generator's own code runs, not in its consumer."""

    @functools.wraps(function)
    def decorated(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        generator = function(*args, **kwargs)
        try:
            with mode.clone():
                value = generator.send(None)
            while True:
                try:
                    sent = yield value
                except GeneratorExit:
                    with mode.clone():
                        generator.close()
                    raise
                except BaseException as error:
                    with mode.clone():
                        value = generator.throw(error)
                else:
                    with mode.clone():
                        value = generator.send(sent)
        except StopIteration as stop:
            return stop.value

    return decorated


class _BareDecorator(_Mode):
    """Also a decorator without parentheses: `@no_grad`."""

    __slots__ = ()

    def __new__(cls, function: Any = None) -> Any:
        mode = super().__new__(cls)
        return mode if function is None else mode(function)


class no_grad(_BareDecorator):
    """Operators inside are not recorded for the backward pass."""

    __slots__ = ()

    def __enter__(self) -> None:
        self.previous = _core.set_grad_enabled(False)

    def __exit__(self, *exception: object) -> None:
        _core.set_grad_enabled(self.previous)


class enable_grad(_BareDecorator):
    """Operators inside are recorded, also within `no_grad`."""

    __slots__ = ()

    def __enter__(self) -> None:
        self.previous = _core.set_grad_enabled(True)

    def __exit__(self, *exception: object) -> None:
        _core.set_grad_enabled(self.previous)


class set_grad_enabled(_Mode):
    """Switches recording on or off: at once, and back at the end of a `with` statement."""

    __slots__ = ("mode",)

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not "
                f"{type(mode).__name__}"
            )
        self.previous = _core.set_grad_enabled(mode)
        self.mode = mode

    def clone(self) -> set_grad_enabled:
        return set_grad_enabled(self.mode)

    def __call__(self, function: Function) -> Function:
        _core.set_grad_enabled(self.previous)  # as a decorator it acts on calls only
        return super().__call__(function)

    def __enter__(self) -> None:
        _core.set_grad_enabled(self.mode)

    def __exit__(self, *exception: object) -> None:
        _core.set_grad_enabled(self.previous)


class inference_mode(_Mode):
    """As `no_grad`; besides, tensors made inside never take part in recorded computation."""

    __slots__ = ("mode", "previous_grad")

    def __new__(cls, mode: Any = True) -> Any:
        if isinstance(mode, bool):
            return super().__new__(cls)
        return cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def clone(self) -> inference_mode:
        return inference_mode(self.mode)

    def __enter__(self) -> None:
        self.previous = _core.set_inference_mode(self.mode)
        self.previous_grad = _core.set_grad_enabled(not self.mode)

    def __exit__(self, *exception: object) -> None:
        _core.set_inference_mode(self.previous)
        _core.set_grad_enabled(self.previous_grad)


class _Threads(threading.local):
    enabled = True


_threads = _Threads()


def is_multithreading_enabled() -> bool:
    """What ``set_multithreading_enabled`` set for this thread."""
    return _threads.enabled


class set_multithreading_enabled(_Mode):
    """Whether backward passes may use threads of their own: at once, and for a `with` statement.

    They run in the thread that asks for them in any case; operators share the pool of
    ``set_num_threads``.
    """

    __slots__ = ("mode",)

    def __init__(self, mode: bool) -> None:
        self.previous = _threads.enabled
        self.mode = _threads.enabled = mode

    def clone(self) -> set_multithreading_enabled:
        return set_multithreading_enabled(self.mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        _threads.enabled = self.previous
