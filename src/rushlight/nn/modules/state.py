"""The state of modules: `state_dict` and `load_state_dict`."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

from ..._core import Tensor
from ...autograd import no_grad
from ..parameter import Parameter, is_lazy
from .hooks import Hook, RemovableHandle, _added, _BoundHook

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(NamedTuple):
    """What `load_state_dict` returns: keys that were not given, and keys that fit nothing."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


class ModuleState:
    """The part of `Module` that gives its state as a dict and takes it back."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: dict[int, Hook]
    _state_dict_pre_hooks: dict[int, Hook]
    _load_state_dict_pre_hooks: dict[int, Hook]
    _load_state_dict_post_hooks: dict[int, Hook]
    _version: ClassVar[Any] = 1

    # ------------------------------------------------------------ state that is no tensor

    def get_extra_state(self) -> Any:
        """State besides parameters and buffers, for `state_dict`; subclasses define this."""
        raise RuntimeError(
            f"{type(self).__name__} has no extra state: define get_extra_state() and "
            "set_extra_state()"
        )

    def set_extra_state(self, state: Any) -> None:
        """Take over what `get_extra_state` gave; subclasses that define that define this too."""
        raise RuntimeError(
            f"{type(self).__name__} has no extra state: define get_extra_state() and "
            "set_extra_state()"
        )

    # ------------------------------------------------------------ saving

    def register_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before `state_dict` collects the state."""
        return _added(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after `state_dict` collected the
        state; it may change the dict, and must return None.
        """
        hook._from_public_api = True
        return _added(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Hook) -> RemovableHandle:
        """As `register_state_dict_post_hook`, for hooks that may return another dict."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "this hook was added by register_state_dict_post_hook, so it returns nothing "
                "and cannot be one that may return a dict"
            )
        return _added(self._state_dict_hooks, hook)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put the state of this module, without its parts, into a dict."""
        for name, parameter in self._parameters.items():
            if parameter is not None:
                destination[prefix + name] = _saved(parameter, keep_vars)
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = _saved(buffer, keep_vars)
        if _has_extra_state(self, "get_extra_state"):
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Parameters and persistent buffers of this module and its parts, by name.

        Args:
            destination: the dict to put them in, or None for a new one.
            prefix: what names begin with.
            keep_vars: whether they are the parameters themselves; else they are detached, but
                share their memory.
        """
        if args:
            warnings.warn(
                "state_dict(): positional arguments are deprecated, give destination, prefix and "
                "keep_vars by name",
                FutureWarning,
                stacklevel=2,
            )
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and prefix == "" else prefix
            keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, part in self._modules.items():
            if part is not None:
                part.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in self._state_dict_hooks.values():
            result = hook(self, destination, prefix, local_metadata)
            if not getattr(hook, "_from_public_api", False):
                destination = destination if result is None else result
            elif result is not None:
                raise RuntimeError("state_dict post-hook must return None")
        return destination

    # ------------------------------------------------------------ loading

    def _register_load_state_dict_pre_hook(
        self, hook: Hook, with_module: bool = False
    ) -> RemovableHandle:
        """See `register_load_state_dict_pre_hook`; the hook gets the module if `with_module`."""
        bound = _BoundHook(hook, self if with_module else None)
        return _added(self._load_state_dict_pre_hooks, bound)

    def register_load_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
        unexpected_keys, error_msgs)` before this module takes over its state.
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after this module took over its state; it may
        change the lists of missing and unexpected keys, and must return None.
        """
        return _added(self._load_state_dict_post_hooks, hook)

    def _load_from_state_dict(
        self,
        state_dict: Mapping[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Take over the state of this module, without its parts.

        Subclasses may extend it, for example to translate older versions of the state.
        """
        for hook in self._load_state_dict_pre_hooks.values():
            hook(
                state_dict,
                prefix,
                local_metadata,
                strict,
                missing_keys,
                unexpected_keys,
                error_msgs,
            )
        assign = local_metadata.get("assign_to_params_buffers", False)
        local = {**self._parameters, **self._buffers}
        local = {
            name: tensor
            for name, tensor in local.items()
            if tensor is not None and name not in self._non_persistent_buffers_set
        }
        for name, tensor in local.items():
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            message = self._load_tensor(name, tensor, key, state_dict[key], assign)
            if message:
                error_msgs.append(message)
        extra_key = prefix + _EXTRA_STATE_KEY_SUFFIX
        if _has_extra_state(self, "set_extra_state"):
            if extra_key in state_dict:
                self.set_extra_state(state_dict[extra_key])
            elif strict:
                missing_keys.append(extra_key)
        elif strict and extra_key in state_dict:
            unexpected_keys.append(extra_key)
        if strict:
            unexpected_keys += self._unexpected(state_dict, prefix, local)

    def _load_tensor(
        self, name: str, tensor: Any, key: str, given: Any, assign: bool
    ) -> str | None:
        """Take over a parameter or buffer; returns what is wrong, if anything is."""
        if not isinstance(given, Tensor):
            return (
                f'While copying the parameter named "{key}": the state holds '
                f"{type(given).__name__} in place of a tensor"
            )
        lazy = is_lazy(tensor)
        if not lazy and not is_lazy(given):
            if tensor.ndim == 0 and given.ndim == 1 and len(given) > 0:
                given = given[0]  # old checkpoints store numbers as vectors of one element
            if given.shape != tensor.shape:
                return (
                    f"size mismatch for {key}: copying a param with shape {given.shape} from "
                    f"checkpoint, the shape in current model is {tensor.shape}."
                )
        elif lazy and is_lazy(given):
            return None
        elif is_lazy(given):
            return (
                f"{key}: the checkpoint's parameter is uninitialized, the model's is initialized: "
                "run the model that was saved once before saving it"
            )
        if not lazy and tensor.device.type == "meta" and given.device.type != "meta" and not assign:
            warnings.warn(
                f"for {key}: copying data into a parameter on the meta device is a no-op; pass "
                "assign=True to take the tensor of the state itself",
                stacklevel=5,
            )
        try:
            with no_grad():
                if assign:
                    if isinstance(tensor, Parameter) and not isinstance(given, Parameter):
                        given = Parameter(given, requires_grad=tensor.requires_grad)
                    setattr(self, name, given)
                else:
                    tensor.copy_(given)
        except Exception as error:
            return (
                f'While copying the parameter named "{key}", whose dimensions in the model are '
                f"{tensor.shape} and whose dimensions in the checkpoint are {given.shape}, an "
                f"exception occurred : {error.args}."
            )
        return None

    def _unexpected(
        self, state_dict: Mapping[str, Any], prefix: str, local: dict[str, Any]
    ) -> list[str]:
        """The keys under a prefix that fit nothing in this module."""
        found = []
        for key in state_dict:
            if not key.startswith(prefix) or key == prefix + _EXTRA_STATE_KEY_SUFFIX:
                continue
            first, dot, _ = key[len(prefix) :].partition(".")
            if first not in (self._modules if dot else local):
                found.append(key)
        return found

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Any:
        """Take over parameters and buffers from a dict that `state_dict` gave.

        Args:
            state_dict: tensors by name; their values are copied.
            strict: whether exactly this module's keys must be there.
            assign: whether the given tensors become the parameters and buffers, instead of being
                copied into them.

        Returns:
            The `missing_keys` and `unexpected_keys`.

        Raises:
            TypeError: if the state is no mapping.
            RuntimeError: for other shapes, and, if strict, missing and unexpected keys.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        keys = _IncompatibleKeys([], [])
        messages: list[str] = []
        metadata = getattr(state_dict, "_metadata", None)
        state = OrderedDict(state_dict)
        if metadata is not None:
            state._metadata = metadata
        _load(self, state, "", metadata, assign, keys, messages)
        if strict:
            for kind, names in (
                ("Unexpected", keys.unexpected_keys),
                ("Missing", keys.missing_keys),
            ):
                if names:
                    quoted = ", ".join(f'"{name}"' for name in names)
                    messages.insert(0, f"{kind} key(s) in state_dict: {quoted}. ")
        if messages:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t"
                + "\n\t".join(messages)
            )
        return keys


def _load(
    module: Any,
    state: Any,
    prefix: str,
    metadata: Any,
    assign: bool,
    keys: _IncompatibleKeys,
    messages: list[str],
) -> None:
    """Load a module and its parts from the part of the state that concerns it."""
    local_metadata = {} if metadata is None else dict(metadata.get(prefix[:-1], {}))
    if assign:
        local_metadata["assign_to_params_buffers"] = True
    missing, unexpected = keys.missing_keys, keys.unexpected_keys
    # Always strict here: whether the keys that are collected matter is decided at the end.
    module._load_from_state_dict(state, prefix, local_metadata, True, missing, unexpected, messages)
    states: dict[str, Any] = {}  # by the name of the part
    for key, value in state.items():
        if key.startswith(prefix):
            name, dot, _ = key[len(prefix) :].partition(".")
            if dot:
                states.setdefault(name, OrderedDict())[key] = value
    for name, part in module._modules.items():
        if part is not None:
            own = states.get(name, OrderedDict())
            _load(part, own, f"{prefix}{name}.", metadata, assign, keys, messages)
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, keys) is not None:
            raise AssertionError(
                "a load_state_dict post-hook must return None; change incompatible_keys in place"
            )


def _saved(tensor: Any, keep_vars: bool) -> Any:
    """A parameter or buffer as it is in a state; one without a shape stays itself."""
    return tensor if keep_vars or is_lazy(tensor) else tensor.detach()


def _has_extra_state(module: Any, method: str) -> bool:
    """Whether a module's class defines its own method for extra state."""
    own: Callable = getattr(type(module), method, getattr(ModuleState, method))
    return own is not getattr(ModuleState, method)
