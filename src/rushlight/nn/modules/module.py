"""`Module`: the base class of everything that has parameters."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ..._core import Tensor
from ..parameter import Buffer, Parameter
from . import hooks
from .conversion import ModuleConversion
from .hooks import (
    HookedModule,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from .state import ModuleState
from .tree import ModuleTree

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

# What every module has, and how it starts. Modules that were pickled without some of them get them
# when they are loaded.
_STATE: dict[str, Callable[[], Any]] = {
    "training": lambda: True,
    "_parameters": dict,
    "_buffers": dict,
    "_non_persistent_buffers_set": set,
    "_backward_pre_hooks": OrderedDict,
    "_backward_hooks": OrderedDict,
    "_is_full_backward_hook": lambda: None,
    "_forward_hooks": OrderedDict,
    "_forward_hooks_with_kwargs": OrderedDict,
    "_forward_hooks_always_called": OrderedDict,
    "_forward_pre_hooks": OrderedDict,
    "_forward_pre_hooks_with_kwargs": OrderedDict,
    "_state_dict_hooks": OrderedDict,
    "_state_dict_pre_hooks": OrderedDict,
    "_load_state_dict_pre_hooks": OrderedDict,
    "_load_state_dict_post_hooks": OrderedDict,
    "_modules": dict,
}


# A class in plain Python comes first: it decides the layout, so that a module may become an
# instance of another class by assignment, as in PyTorch.
class Module(ModuleTree, ModuleState, ModuleConversion, HookedModule):
    """Base class of neural networks and their parts.

    Parameters, buffers and further modules that are assigned as attributes belong to the module:
    `parameters()`, `state_dict()`, `to()` and the like reach them. Calling the module runs
    `forward`, which subclasses define, and the hooks.

    Example:
        >>> class Model(rushlight.nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.inner = rushlight.nn.Linear(4, 8)
        ...         self.outer = rushlight.nn.Linear(8, 1)
        ...     def forward(self, x):
        ...         return self.outer(rushlight.relu(self.inner(x)))
        >>> Model()(rushlight.ones(2, 4)).shape
        torch.Size([2, 1])
    """

    call_super_init: ClassVar[bool] = False
    dump_patches: ClassVar[bool] = False
    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _non_persistent_buffers_set: set[str]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and (args or kwargs):
            given = (
                f"an unexpected keyword argument '{next(iter(kwargs))}'"
                if kwargs
                else f"{len(args)} positional arguments"
            )
            raise TypeError(
                f"{type(self).__name__}: Module.__init__() takes no arguments but got {given}"
            )
        for name, make in _STATE.items():
            object.__setattr__(self, name, make())
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the result of a call; subclasses define this.

        Raises:
            NotImplementedError: if they do not.
        """
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Prepare faster calls: nothing is to be done, since operators compile as they are used."""

    # ------------------------------------------------------------ registration

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a buffer: a tensor that is state of the module but no parameter.

        Args:
            name: the buffer becomes an attribute of this name.
            tensor: the buffer; None: there is none, but the name is taken.
            persistent: whether `state_dict` has it.

        Raises:
            KeyError: for names that are taken, empty or contain a dot.
            TypeError: if the name is no string or the buffer no tensor.
        """
        self._check_name("buffer", name, self.__dict__.get("_buffers"))
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{_type_name(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        tensor = hooks.registered(hooks.buffer_registration_hooks, self, name, tensor)
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter.

        Args:
            name: the parameter becomes an attribute of this name.
            param: the parameter; None: there is none, but the name is taken.

        Raises:
            KeyError: for names that are taken, empty or contain a dot.
            TypeError: if the name is no string or the parameter no `Parameter`.
            ValueError: if it was computed from other tensors.
        """
        self._check_name("parameter", name, self.__dict__.get("_parameters"))
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"cannot assign '{_type_name(param)}' object to parameter '{name}' "
                    "(torch.nn.Parameter or None required)"
                )
            if param.grad_fn:
                raise ValueError(
                    f"cannot assign a tensor that was computed from others to parameter '{name}'; "
                    "parameters are leaves of the graph: compute the value in forward()"
                )
            param = hooks.registered(hooks.parameter_registration_hooks, self, name, param)
        self._parameters[name] = param

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a module as a part of this one.

        Args:
            name: the part becomes an attribute of this name.
            module: the part; None: there is none, but the name is taken.

        Raises:
            KeyError: for names that are taken, empty or contain a dot.
            TypeError: if the name is no string or the part no module.
        """
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{_type_name(module)} is not a Module subclass")
        self._check_name("module", name, self.__dict__.get("_modules"))
        self._modules[name] = hooks.registered(hooks.module_registration_hooks, self, name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """Another name of `add_module`."""
        self.add_module(name, module)

    def _check_name(self, kind: str, name: str, holder: dict[str, Any] | None) -> None:
        """Raise if something cannot be added under a name."""
        if holder is None:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {_type_name(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in holder:
            raise KeyError(f"attribute '{name}' already exists")

    # ------------------------------------------------------------ attributes

    if TYPE_CHECKING:  # natively: parameters, buffers and parts

        def __getattr__(self, name: str) -> Any: ...

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        parameters = own.get("_parameters")
        is_tensor = isinstance(value, Tensor)  # quicker than the checks for its kinds
        if is_tensor and isinstance(value, Parameter):
            if parameters is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            _discard(name, own, self._buffers, self._modules, self._non_persistent_buffers_set)
            self.register_parameter(name, value)
        elif parameters is not None and name in parameters:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as parameter '{name}' "
                    "(torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if own.get("_modules") is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            _discard(name, own, self._parameters, self._buffers, self._non_persistent_buffers_set)
            self._set_part(name, value)
        elif name in (own.get("_modules") or ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as child module '{name}' "
                    "(torch.nn.Module or None expected)"
                )
            self._set_part(name, value)
        elif name in (own.get("_buffers") or ()) or (is_tensor and isinstance(value, Buffer)):
            self._set_buffer(name, value)
        else:
            object.__setattr__(self, name, value)

    def _set_part(self, name: str, module: Module | None) -> None:
        self._modules[name] = hooks.registered(hooks.module_registration_hooks, self, name, module)

    def _set_buffer(self, name: str, value: Any) -> None:
        own = self.__dict__
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"cannot assign '{_type_name(value)}' as buffer '{name}' "
                "(torch.nn.Buffer, torch.Tensor or None expected)"
            )
        if own.get("_buffers") is None:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        if isinstance(value, Buffer):
            _discard(name, own, self._parameters, self._modules, self._non_persistent_buffers_set)
            self.register_buffer(name, value, value.persistent)
        else:
            value = hooks.registered(hooks.buffer_registration_hooks, self, name, value)
            self._buffers[name] = value

    def __delattr__(self, name: str) -> None:
        own = self.__dict__
        if name in own.get("_parameters", ()):
            del self._parameters[name]
        elif name in own.get("_buffers", ()):
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in own.get("_modules", ()):
            del self._modules[name]
        else:
            super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = [*dir(type(self)), *self.__dict__]
        names += [*self._parameters, *self._modules, *self._buffers]
        return sorted({name for name in names if not name[0].isdigit()})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name, make in _STATE.items():
            self.__dict__.setdefault(name, make())

    def _replicate_for_data_parallel(self) -> Self:
        """A copy that shares parameters, for further changes."""
        replica = self.__new__(type(self))
        replica.__dict__ = self.__dict__.copy()
        replica._parameters = {}
        replica._buffers = self._buffers.copy()
        replica._modules = self._modules.copy()
        return replica

    # ------------------------------------------------------------ modes

    def train(self, mode: bool = True) -> Self:
        """Put the module and its parts into training mode (or, with False, evaluation mode).

        Raises:
            ValueError: if the mode is no bool.
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for part in self.children():
            part.train(mode)
        return self

    def eval(self) -> Self:
        """Put the module and its parts into evaluation mode: `train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Say whether gradients of all parameters are wanted."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or with ``set_to_none=False`` set them to zero."""
        for parameter in self.parameters():
            if parameter.grad is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                parameter.grad.requires_grad_(False) if parameter.grad.grad_fn is None else (
                    parameter.grad.detach_()
                )
                parameter.grad.zero_()

    # ------------------------------------------------------------ text

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What the text of this module says about its options; subclasses define this."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        parts = [f"({name}): {_indented(repr(part))}" for name, part in self._modules.items()]
        if len(lines) == 1 and not parts:
            return f"{self._get_name()}({extra})"
        if not (lines or parts):
            return f"{self._get_name()}()"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines + parts) + "\n)"


def _discard(name: str, *holders: Any) -> None:
    """Forget what else has a name that is assigned to."""
    for holder in holders:
        if name in holder:
            if isinstance(holder, dict):
                del holder[name]
            else:
                holder.discard(name)


def _type_name(value: Any) -> str:
    cls = type(value)
    return cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__name__}"


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")
