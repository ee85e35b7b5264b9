"""Hooks of modules: called around `forward`, in backward passes and when parts are registered."""

from __future__ import annotations

import functools
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ... import _core
from ..._core import Tensor
from ...autograd.hooks import RemovableHandle
from .backward_hooks import BackwardHook, first_tensor

Hook = Callable[..., Any]

# Hooks of all modules.
buffer_registration_hooks: dict[int, Hook] = OrderedDict()
module_registration_hooks: dict[int, Hook] = OrderedDict()
parameter_registration_hooks: dict[int, Hook] = OrderedDict()
global_forward_pre_hooks: dict[int, Hook] = OrderedDict()
global_forward_hooks: dict[int, Hook] = OrderedDict()
global_forward_hooks_with_kwargs: dict[int, bool] = OrderedDict()
global_forward_hooks_always_called: dict[int, bool] = OrderedDict()
global_backward_pre_hooks: dict[int, Hook] = OrderedDict()
global_backward_hooks: dict[int, Hook] = OrderedDict()
_global_backward_hooks_are_full: bool | None = None


def _added(hooks: dict[int, Hook], hook: Hook, *flags: tuple[dict[int, bool], bool]) -> Any:
    """Add a hook, and its number to each dict of flags that holds for it."""
    handle = RemovableHandle(hooks, extra_dict=[flag for flag, _ in flags])
    hooks[handle.id] = hook
    for flag, is_set in flags:
        if is_set:
            flag[handle.id] = True
    return handle


def registered(hooks: dict[int, Hook], module: Any, name: str, value: Any) -> Any:
    """What registration hooks make of a new parameter, buffer or part."""
    for hook in hooks.values() if hooks else ():
        output = hook(module, name, value)
        if output is not None:
            value = output
    return value


# ---------------------------------------------------------------- hooks of all modules


def register_module_buffer_registration_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, name, buffer)` for each new buffer; it may return another."""
    return _added(buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, name, part)` for each new part of a module; it may return another."""
    return _added(module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, name, parameter)` for each new parameter; it may return another."""
    return _added(parameter_registration_hooks, hook)


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, args)` before each module's `forward`; it may return other arguments."""
    return _added(global_forward_pre_hooks, hook)


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call `hook(module, args, output)` after each module's `forward`; see
    `Module.register_forward_hook`.
    """
    return _added(
        global_forward_hooks,
        hook,
        (global_forward_hooks_with_kwargs, with_kwargs),
        (global_forward_hooks_always_called, always_call),
    )


def _backward_kind(is_full: bool) -> None:
    global _global_backward_hooks_are_full
    if _global_backward_hooks_are_full is not None and global_backward_hooks:
        if _global_backward_hooks_are_full != is_full:
            raise RuntimeError(
                "global backward hooks must all be regular or all be full, not of both kinds: "
                "remove the others first"
            )
    _global_backward_hooks_are_full = is_full


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """The old form of `register_module_full_backward_hook`: sees the gradients of the last
    operation of `forward` only.
    """
    _backward_kind(False)
    return _added(global_backward_hooks, hook)


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, gradients of outputs)` before each module's backward pass."""
    return _added(global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, gradients of inputs, gradients of outputs)` in backward passes."""
    _backward_kind(True)
    return _added(global_backward_hooks, hook)


# ---------------------------------------------------------------- hooks of one module


class _BoundHook:
    """A hook that gets a module first, if there is one; in copies of the module, the copy."""

    def __init__(self, hook: Hook, module: Any = None) -> None:
        self.hook = hook
        self.module = module
        functools.update_wrapper(self, hook, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.module is not None:
            return self.hook(self.module, *args, **kwargs)
        return self.hook(*args, **kwargs)


class HookedModule(_core.ModuleBase):
    """The part of `Module` that keeps hooks and runs calls of modules that have some."""

    _forward_hooks: dict[int, Hook]
    _forward_hooks_with_kwargs: dict[int, bool]
    _forward_hooks_always_called: dict[int, bool]
    _forward_pre_hooks: dict[int, Hook]
    _forward_pre_hooks_with_kwargs: dict[int, bool]
    _backward_hooks: dict[int, Hook]
    _backward_pre_hooks: dict[int, Hook]
    _is_full_backward_hook: bool | None
    forward: Callable[..., Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _core.use_native_lookup(cls)

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before `forward`; it may return other arguments.

        Args:
            hook: returns None, the arguments as a tuple, or the only argument.
            prepend: whether it is called before hooks that were registered earlier.
            with_kwargs: whether it is called as `hook(module, args, kwargs)`, to return None or
                `(args, kwargs)`.

        Returns:
            A handle: `handle.remove()` takes the hook away.
        """
        handle = _added(
            self._forward_pre_hooks, hook, (self._forward_pre_hooks_with_kwargs, with_kwargs)
        )
        if prepend:
            _to_front(self._forward_pre_hooks, handle)
        return handle

    def register_forward_hook(
        self,
        hook: Hook,
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after `forward`; it may return another output.

        Args:
            hook: returns None or the output.
            prepend: whether it is called before hooks that were registered earlier.
            with_kwargs: whether it is called as `hook(module, args, kwargs, output)`.
            always_call: whether it is called also when `forward` raised an exception.

        Returns:
            A handle: `handle.remove()` takes the hook away.
        """
        handle = _added(
            self._forward_hooks,
            hook,
            (self._forward_hooks_with_kwargs, with_kwargs),
            (self._forward_hooks_always_called, always_call),
        )
        if prepend:
            _to_front(self._forward_hooks, handle)
        return handle

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, gradients of outputs)` before the module's backward pass.

        Args:
            hook: returns None or other gradients, as a tuple.
            prepend: whether it is called before hooks that were registered earlier.

        Returns:
            A handle: `handle.remove()` takes the hook away.
        """
        handle = _added(self._backward_pre_hooks, hook)
        if prepend:
            _to_front(self._backward_pre_hooks, handle)
        return handle

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, gradients of inputs, gradients of outputs)` in backward passes.

        Args:
            hook: returns None or other gradients of the inputs, as a tuple.
            prepend: whether it is called before hooks that were registered earlier.

        Returns:
            A handle: `handle.remove()` takes the hook away.

        Raises:
            RuntimeError: if the module has hooks of the old form (`register_backward_hook`).
        """
        self._set_backward_kind(True)
        handle = _added(self._backward_hooks, hook)
        if prepend:
            _to_front(self._backward_hooks, handle)
        return handle

    def register_backward_hook(self, hook: Hook) -> RemovableHandle:
        """The old form of `register_full_backward_hook`: it sees the gradients of the last
        operation of `forward` only.
        """
        self._set_backward_kind(False)
        return _added(self._backward_hooks, hook)

    def _set_backward_kind(self, is_full: bool) -> None:
        if self._is_full_backward_hook not in (None, is_full):
            raise RuntimeError(
                "a module's backward hooks must all be regular or all be full, not of both "
                "kinds: remove the others first"
            )
        self._is_full_backward_hook = is_full

    # ------------------------------------------------------------ calls

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        """What calling the module does."""
        return _core.ModuleBase.__call__(self, *args, **kwargs)

    def _call_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """Run the hooks around `forward`."""
        if "_forward_hooks" not in self.__dict__:
            raise AttributeError(
                f"'{type(self).__name__}' object has no attribute '_forward_hooks': call "
                "super().__init__() in the module's __init__() before it is used"
            )
        called: set[int] = set()
        try:
            return self._run_hooks(called, args, kwargs)
        except Exception:
            self._run_remaining_hooks(called, args, kwargs)
            raise

    def _run_hooks(self, called: set[int], args: Any, kwargs: dict[str, Any]) -> Any:
        args, kwargs = self._before_forward(args, kwargs)
        backward = self._backward_hook()
        if backward is not None:
            args = backward.setup_input_hook(args)
        result = self.forward(*args, **kwargs)
        for number, hook, with_kwargs, always in self._all_forward_hooks():
            if always:
                called.add(number)
            changed = self._after_forward(hook, with_kwargs, args, kwargs, result)
            if changed is not None:
                result = changed
        if backward is not None:
            if not isinstance(result, Tensor | tuple):
                warnings.warn(
                    "backward hooks are not called for a module whose output is neither a "
                    f"tensor nor a tuple of tensors, but {type(result).__name__}",
                    stacklevel=4,
                )
            result = backward.setup_output_hook(result)
        self._hook_last_operation(result)
        return result

    def _before_forward(
        self, args: Any, kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Run the hooks before `forward`; returns the arguments that they leave."""
        hooks = [*global_forward_pre_hooks.items(), *self._forward_pre_hooks.items()]
        for number, hook in hooks:
            if number in self._forward_pre_hooks_with_kwargs:
                changed = hook(self, args, kwargs)
                if changed is None:
                    continue
                if not (isinstance(changed, tuple) and len(changed) == 2):
                    raise RuntimeError(
                        "a forward pre-hook with kwargs must return None or (new_args, "
                        f"new_kwargs), not {changed}"
                    )
                args, kwargs = changed
            else:
                changed = hook(self, args)
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)
        return args, kwargs

    def _all_forward_hooks(self) -> list[tuple[int, Hook, bool, bool]]:
        """Number, hook, whether it gets keyword arguments, whether it is always called."""
        found = []
        for hooks, with_kwargs, always in (
            (
                global_forward_hooks,
                global_forward_hooks_with_kwargs,
                global_forward_hooks_always_called,
            ),
            (
                self._forward_hooks,
                self._forward_hooks_with_kwargs,
                self._forward_hooks_always_called,
            ),
        ):
            for number, hook in hooks.items():
                found.append((number, hook, number in with_kwargs, number in always))
        return found

    def _after_forward(
        self, hook: Hook, with_kwargs: bool, args: Any, kwargs: dict[str, Any], result: Any
    ) -> Any:
        return hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)

    def _run_remaining_hooks(self, called: set[int], args: Any, kwargs: dict[str, Any]) -> None:
        """After an exception: those hooks that are always called and were not."""
        for number, hook, with_kwargs, always in self._all_forward_hooks():
            if not always or number in called:
                continue
            try:
                self._after_forward(hook, with_kwargs, args, kwargs, None)
            except Exception as error:
                warnings.warn(
                    "the error of a forward hook with always_call=True is silenced, as forward() "
                    f"raised one before: {error}",
                    stacklevel=4,
                )

    def _backward_hook(self) -> BackwardHook | None:
        """What runs the hooks of the backward pass, if there are any."""
        pre_hooks = [*global_backward_pre_hooks.values(), *self._backward_pre_hooks.values()]
        hooks: list[Hook] = []
        if _global_backward_hooks_are_full is True:
            hooks += global_backward_hooks.values()
        if self._is_full_backward_hook is True:
            hooks += self._backward_hooks.values()
        return BackwardHook(self, hooks, pre_hooks) if hooks or pre_hooks else None

    def _hook_last_operation(self, result: Any) -> None:
        """Attach backward hooks of the old form to the node that made the result."""
        hooks: list[Hook] = []
        if _global_backward_hooks_are_full is False:
            hooks += global_backward_hooks.values()
        if self._is_full_backward_hook is False:
            hooks += self._backward_hooks.values()
        if hooks:
            tensor = first_tensor(result)
            node = tensor.grad_fn if tensor is not None else None
            for hook in hooks if node is not None else ():
                node.register_hook(functools.partial(hook, self))  # type: ignore[union-attr]


def _to_front(hooks: Any, handle: RemovableHandle) -> None:
    hooks.move_to_end(handle.id, last=False)


def _describe_error(module: Any, error: BaseException) -> None:
    """Note in an exception that leaves a module's call in which part it was raised.

    Each enclosing module puts the name of its part in front; the innermost one is named by class.
    """
    place = getattr(error, "_module_place", None)
    if place is None:
        place = _Place(len(getattr(error, "__notes__", ())), type(module).__name__)
    elif place.inner() is not module:
        inner = place.inner()
        name = next((name for name, part in module.named_modules() if part is inner and name), None)
        if name is not None:
            place.path.insert(0, name)
    path = ".".join(place.path)
    note = f"in module {path} ({place.kind})" if path else f"in module {place.kind}"
    if place.inner() is None:
        error.add_note(note)
    else:
        error.__notes__[place.index] = note
    place.inner = weakref.ref(module)
    error._module_place = place


class _Place:
    """Where in the modules an exception was raised, as far as that is known."""

    def __init__(self, index: int, kind: str) -> None:
        self.index = index
        self.kind = kind
        self.inner: Callable[[], Any] = lambda: None
        self.path: list[str] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return _Place, (self.index, self.kind)  # exceptions travel between processes, modules stay


_core.set_module_callbacks(
    (
        global_forward_pre_hooks,
        global_forward_hooks,
        global_backward_pre_hooks,
        global_backward_hooks,
    ),
    _describe_error,
)
