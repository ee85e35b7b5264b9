"""The base of all optimizers: parameter groups, state, hooks, and their serialization."""

from __future__ import annotations

import functools
import math
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from .. import autograd, dtypes
from .._core import Tensor
from ..autograd.hooks import RemovableHandle
from ..ops.creation import zeros
from .state import load_state, pack_state

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]


class _Required:
    """The default of an option that each group has to state."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()

Hooks: TypeAlias = OrderedDict[int, Callable[..., Any]]

_step_pre_hooks: Hooks = OrderedDict()
_step_post_hooks: Hooks = OrderedDict()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before each step of every optimizer."""
    return registered(_step_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after each step of every optimizer."""
    return registered(_step_post_hooks, hook)


def registered(hooks: Hooks, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def hooked(step: Callable[..., Any]) -> Callable[..., Any]:
    """A class's `step` with the hooks around it; a step that calls another's runs them once.

    It also notes that there was a step, which schedulers want to know.
    """

    @functools.wraps(step)
    def wrapper(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        self._opt_called = True
        if self._stepping or not (
            _step_pre_hooks
            or _step_post_hooks
            or self._optimizer_step_pre_hooks
            or self._optimizer_step_post_hooks
        ):
            return step(self, *args, **kwargs)
        self._stepping = True
        try:
            return self._step_with_hooks(step, args, kwargs)
        finally:
            self._stepping = False

    return wrapper


class Optimizer:
    """Updates tensors from their gradients.

    A subclass overrides `step`, or `initial_state` and `update`.

    Args:
        params: tensors to optimize, ``(name, tensor)`` pairs, or dicts with key ``"params"`` and
            options of their own.
        defaults: options for groups that do not state them.

    Raises:
        TypeError: if params is a single tensor or holds something else than tensors.
        ValueError: for an empty list, a non-leaf tensor, or a tensor in two groups.
    """

    _opt_called: bool
    _stepping: bool
    _optimizer_step_pre_hooks: Hooks
    _optimizer_step_post_hooks: Hooks
    _optimizer_state_dict_pre_hooks: Hooks
    _optimizer_state_dict_post_hooks: Hooks
    _optimizer_load_state_dict_pre_hooks: Hooks
    _optimizer_load_state_dict_post_hooks: Hooks

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = hooked(cls.step)  # type: ignore[method-assign]

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        self._make_hooks()
        if isinstance(params, Tensor):
            raise TypeError(
                "the optimizer takes an iterable of Tensors or of dicts, not one "
                f"{type(params).__name__}; pass a list: [tensor]"
            )
        self.defaults = defaults
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _make_hooks(self) -> None:
        self._stepping = False
        for name in (
            "_optimizer_step_pre_hooks",
            "_optimizer_step_post_hooks",
            "_optimizer_state_dict_pre_hooks",
            "_optimizer_state_dict_post_hooks",
            "_optimizer_load_state_dict_pre_hooks",
            "_optimizer_load_state_dict_post_hooks",
        ):
            self.__dict__.setdefault(name, OrderedDict())

    def __getstate__(self) -> dict[str, Any]:
        return {
            "defaults": self.defaults,
            "state": self.state,
            "param_groups": self.param_groups,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_hooks()
        self.defaults = self.__dict__.get("defaults", {})
        self.complete_state()

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])

    # ------------------------------------------------------------ groups

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group with options of its own, for example a layer that is unfrozen later.

        Args:
            param_group: a dict with key ``"params"``, and the options that differ.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError(
                "parameters are told apart by their order, which a set does not keep between "
                "runs; pass a list"
            )
        members = [params] if isinstance(params, Tensor) else list(params)
        named = [isinstance(member, tuple) for member in members]
        if any(named) and not all(named):
            raise ValueError(
                "either all parameters come with names or none does, but some param names are "
                "missing"
            )
        group = dict(param_group)
        if any(named):
            group["param_names"] = [name for name, _ in members]
            members = [member for _, member in members]
        self._check_members(members)
        group["params"] = members
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ValueError(
                    f"a parameter group lacks {name!r}, which has no default; give it to the group "
                    "or to the optimizer"
                )
            group.setdefault(name, default)
        if len({id(member) for member in members}) < len(members):
            warnings.warn(
                "a parameter group has duplicate parameters, which are updated more than once "
                "each step; this will become an error",
                stacklevel=3,
            )
        for other in self.param_groups:
            if ("param_names" in other) != ("param_names" in group):
                have, lack = ("without", "with") if "param_names" in group else ("with", "without")
                raise ValueError(
                    f"groups must be alike with/without names, but a group {lack} names was given "
                    f"to an optimizer whose groups are {have} names"
                )
        known = {id(p) for other in self.param_groups for p in other["params"]}
        if known & {id(member) for member in members}:
            raise ValueError("a parameter can belong to no more than one parameter group")
        self.param_groups.append(group)

    def _check_members(self, members: Sequence[Any]) -> None:
        for member in members:
            if not isinstance(member, Tensor):
                raise TypeError(
                    "an optimizer can only optimize Tensors, but one parameter is a "
                    f"{type(member).__name__}"
                )
            if not (self.defaults.get("differentiable") or member.is_leaf or member.retains_grad):
                raise ValueError(
                    "can't optimize a non-leaf Tensor; optimize the tensor it was computed from"
                )

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients, or with ``set_to_none=False`` set them to zero."""
        for group in self.param_groups:
            for parameter in group["params"]:
                gradient = parameter.grad
                if gradient is None:
                    continue
                if set_to_none:
                    parameter.grad = None
                elif gradient.grad_fn is not None:
                    parameter.grad = gradient.detach().zero_()
                else:
                    gradient.requires_grad_(False).zero_()

    # ------------------------------------------------------------ steps

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update all parameters.

        Args:
            closure: computes the loss again and returns it.

        Returns:
            What closure returned, or None.
        """
        loss = None
        if closure is not None:
            with autograd.enable_grad():
                loss = closure()
        with autograd.set_grad_enabled(bool(self.defaults.get("differentiable", False))):
            for group in self.param_groups:
                parameters = [p for p in group["params"] if p.grad is not None]
                if parameters:
                    self.update_group(group, parameters)
        return loss

    def update_group(self, group: dict[str, Any], parameters: list[Tensor]) -> None:
        """Update the parameters of a group that have gradients: those together that have been
        updated equally often.
        """
        by_count: defaultdict[float, list[Tensor]] = defaultdict(list)
        for parameter in parameters:
            state = self.state[parameter]
            if not state:
                state["step"] = count_zero()
                state.update(self.initial_state(group, parameter))
            elif group.get("differentiable"):  # the last step's record keeps the old state
                state.update({key: value.clone() for key, value in state.items()})
            by_count[state["step"].item()].append(parameter)
        for count, members in by_count.items():
            states = [self.state[parameter] for parameter in members]
            self.update(group, members, states, count + 1)

    def initial_state(self, group: dict[str, Any], parameter: Tensor) -> dict[str, Any]:
        """What is kept for a parameter, besides the number of its updates."""
        return {}

    def update(
        self,
        group: dict[str, Any],
        parameters: list[Tensor],
        states: list[dict[str, Any]],
        step: float,
    ) -> None:
        """Update parameters and states in place; it is the step-th time, counted from one."""
        raise NotImplementedError

    # ------------------------------------------------------------ serialization

    def state_dict(self) -> dict[str, Any]:
        """Options and state, with parameters as numbers: what `load_state_dict` takes.

        Returns:
            ``{"state": {number: {...}}, "param_groups": [{..., "params": [numbers]}]}``; the
            tensors are the optimizer's own, not copies.
        """
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        result = pack_state(self.param_groups, self.state)
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, result)
            result = result if changed is None else changed
        return result

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave, also one of PyTorch's.

        State tensors get the dtype of their parameter; they are copied only where that differs.

        Raises:
            ValueError: if the groups do not match those of this optimizer.
        """
        state_dict = dict(state_dict)
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        self.param_groups, self.state = load_state(self.param_groups, state_dict)
        self.complete_state()
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def complete_state(self) -> None:
        """Give groups the options, and counts the form, that files of older versions lack."""
        for group in self.param_groups:
            for name, default in self.defaults.items():
                group.setdefault(name, default)
        for state in self.state.values():
            if isinstance(state.get("step"), int | float):
                state["step"] = count_zero().fill_(state["step"])

    # ------------------------------------------------------------ hooks

    def _step_with_hooks(
        self, step: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        for hook in [*_step_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()]:
            changed = hook(self, args, kwargs)
            if changed is None:
                continue
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise RuntimeError(
                    "a step pre-hook must return None or a tuple of new args and kwargs, but got "
                    f"{changed}"
                )
            args, kwargs = changed
        result = step(self, *args, **kwargs)
        for hook in [*self._optimizer_step_post_hooks.values(), *_step_post_hooks.values()]:
            hook(self, args, kwargs)
        return result

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step; it may return new arguments."""
        return registered(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return registered(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` before `state_dict` reads the state."""
        return registered(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` on the result of `state_dict`, which it may change
        or replace by what it returns.
        """
        return registered(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before `load_state_dict`; it may return another."""
        return registered(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` after `load_state_dict`."""
        return registered(self._optimizer_load_state_dict_post_hooks, hook, prepend)


Optimizer.step = hooked(Optimizer.step)  # type: ignore[method-assign]


# ---------------------------------------------------------------- for subclasses


def count_zero() -> Tensor:
    """A count of no updates."""
    is_double = dtypes.get_default_dtype() is dtypes.float64
    return zeros((), dtype=dtypes.float64 if is_double else dtypes.float32)


def column(states: Iterable[dict[str, Any]], name: str) -> list[Any]:
    """One entry of each state."""
    return [state[name] for state in states]


def gradients(parameters: Iterable[Tensor]) -> list[Any]:
    return [parameter.grad for parameter in parameters]


def square_root(number: Any) -> Any:
    """The root of a number, or of a tensor that is used as one."""
    return number.sqrt() if isinstance(number, Tensor) else math.sqrt(number)


def check_options(lr: Any = 0.0, betas: Sequence[Any] = (), **values: Any) -> None:
    """ValueError unless all options are non-negative, and betas are below one.

    Args:
        lr: a number, or a tensor of one element.
        betas: the factors of moving averages.
        values: other options by their names; those that are None are not checked.
    """
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError(f"Tensor lr must be 1-element, but its shape is {tuple(lr.shape)}")
    if not lr >= 0.0:
        raise ValueError(f"Invalid learning rate: {lr}")
    for name, value in values.items():
        if value is not None and not value >= 0.0:
            raise ValueError(f"Invalid {name} value: {value}")
    for index, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {index}: {beta}")


def check_implementation(
    foreach: bool | None, fused: bool | None = None, differentiable: bool = False
) -> None:
    """RuntimeError for flags that exclude each other. None of them changes what is computed: a step
    is one native call in any case.
    """
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
