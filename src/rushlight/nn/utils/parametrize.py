"""Parameters that are computed from others, by modules: parametrizations."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..._core import Tensor
from ...autograd import no_grad
from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization",
    "remove_parametrizations", "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]  # fmt: skip

_cache_depth = 0
_cache: dict[tuple[int, str], Tensor] = {}


@contextmanager
def cached() -> Iterator[None]:
    """In this context a parametrized tensor is computed once, however often it is used."""
    global _cache_depth
    _cache_depth += 1
    try:
        yield
    finally:
        _cache_depth -= 1
        if not _cache_depth:
            _cache.clear()


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


class ParametrizationList(ModuleList):
    """The modules that compute a tensor one after the other, and what they compute it from.

    Args:
        modules: the parametrizations.
        original: the tensor as it was: the parametrizations are inverted so that it stays equal,
            if they have a method `right_inverse`.
        unsafe: whether checks of shapes and dtypes are left out.

    Raises:
        ValueError: if dtype or shape would change.
    """

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        value: Any = original
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        value = module.right_inverse(value)
                    except NotImplementedError:
                        pass
        if not isinstance(value, Tensor | Sequence):
            raise ValueError(
                "right_inverse must return a tensor or a sequence of tensors, not "
                f"{type(value).__name__}"
            )
        self.is_tensor = isinstance(value, Tensor)
        self.ntensors = 1 if self.is_tensor else len(value)
        if isinstance(value, Tensor):
            self._keep_single(original, value)
        else:
            self._keep_several(original, value)
        if not unsafe:
            _check_same(self(), original, "Registering a parametrization may not change the")

    def _keep_single(self, original: Tensor, value: Tensor) -> None:
        if original.dtype != value.dtype:
            raise ValueError(
                f"right_inverse must keep the dtype of a single tensor, {original.dtype}, but "
                f"gives {value.dtype}"
            )
        if value is not original:
            original.data = value.detach()
        _register(self, "original", original)

    def _keep_several(self, original: Tensor, values: Sequence[Tensor]) -> None:
        for i, value in enumerate(values):
            if not isinstance(value, Tensor):
                raise ValueError(
                    f"right_inverse must return tensors, but element {i} of its sequence is "
                    f"{type(value).__name__}"
                )
            if isinstance(original, Parameter):
                value = Parameter(value.detach(), original.requires_grad)
            _register(self, f"original{i}", value)

    def _originals(self) -> list[Tensor]:
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    @no_grad()
    def right_inverse(self, value: Tensor) -> None:
        """Change the originals so that the computed tensor becomes a value.

        Raises:
            RuntimeError: if a parametrization has no inverse.
            ValueError: for other shapes and dtypes.
        """
        inverted: Any = value
        for module in reversed(list(self)):
            if not hasattr(module, "right_inverse"):
                raise RuntimeError(
                    f"parametrization {type(module).__name__} does not implement right_inverse."
                )
            inverted = module.right_inverse(inverted)
        if self.is_tensor:
            if not isinstance(inverted, Tensor):
                raise ValueError(
                    f"`right_inverse` should return a tensor. Got {type(inverted).__name__}"
                )
            self._set("original", inverted)
            return
        if not isinstance(inverted, Sequence) or len(inverted) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of {self.ntensors} tensors. Got "
                f"{type(inverted).__name__}."
            )
        for i, part in enumerate(inverted):
            self._set(f"original{i}", part)

    def _set(self, name: str, value: Tensor) -> None:
        original = getattr(self, name)
        if original.dtype != value.dtype:
            raise ValueError(
                f"The tensor `{name}` that `right_inverse` returned has dtype {value.dtype}, while "
                f"it has dtype {original.dtype}"
            )
        original.data = value.detach()

    def forward(self) -> Tensor:
        """Compute the tensor."""
        modules = list(self)
        result = modules[0](self.original) if self.is_tensor else modules[0](*self._originals())
        for module in modules[1:]:
            result = module(result)
        return result


def _check_same(result: Any, expected: Tensor, message: str) -> None:
    if not isinstance(result, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
    if result.dtype != expected.dtype:
        raise ValueError(
            f"{message} dtype of the tensor: it was {expected.dtype} and becomes {result.dtype}; "
            "unsafe=True leaves this check out"
        )
    if result.shape != expected.shape:
        raise ValueError(
            f"{message} shape of the tensor: it was {expected.shape} and becomes {result.shape}; "
            "unsafe=True leaves this check out"
        )


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    if id(self) not in memo:
        memo[id(self)] = replica = self.__new__(type(self))
        replica.__dict__ = copy.deepcopy(self.__dict__, memo)
    return memo[id(self)]


def _refuse_pickle(self: Any) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(): save that, "
        "or remove the parametrizations first"
    )


def _inject_class(module: Module) -> None:
    """Make a module the only instance of a new class, which can have properties of its own."""
    base = type(module)
    members: dict[str, Any] = {"__getstate__": _refuse_pickle}
    if not hasattr(base, "__deepcopy__"):
        members["__deepcopy__"] = _deepcopy
    module.__class__ = type(f"Parametrized{base.__name__}", (base,), members)


def _inject_property(module: Module, name: str) -> None:
    """Let an attribute be computed by the parametrizations of this name."""

    def get(self: Any) -> Tensor:
        parametrization = self.parametrizations[name]
        if not _cache_depth:
            return parametrization()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = parametrization()
        return _cache[key]

    def assign(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, assign))


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Let a parameter or buffer of a module be computed by a parametrization.

    Args:
        module: the module, which becomes an instance of a class of its own.
        tensor_name: the name of the parameter or buffer.
        parametrization: called with the original, gives the tensor; a method `right_inverse`
            gives the original, or originals, for a tensor.
        unsafe: whether checks of shapes and dtypes are left out.

    Returns:
        The module.

    Raises:
        ValueError: if there is no such parameter or buffer, or dtype or shape would change.

    Example:
        >>> class Symmetric(Module):
        ...     def forward(self, x):
        ...         return x.triu() + x.triu(1).mT
        >>> linear = register_parametrization(rushlight.nn.Linear(2, 2), "weight", Symmetric())
        >>> bool((linear.weight == linear.weight.mT).all())
        True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        _append(module, tensor_name, parametrization, unsafe)
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        parametrizations = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(
            f"module '{module}' has no parameter, buffer or parametrized tensor named "
            f"'{tensor_name}'"
        )
    return module


def _append(module: Module, name: str, parametrization: Module, unsafe: bool) -> None:
    """Add one to the parametrizations that a tensor has."""
    parametrizations = module.parametrizations[name]
    if not unsafe:
        current = getattr(module, name)
        message = "A parametrization may not change the"
        _check_same(parametrization(current), current, message)
        if hasattr(parametrization, "right_inverse"):
            try:
                _check_same(parametrization.right_inverse(current), current, message)
            except NotImplementedError:
                pass
    with no_grad():
        current = getattr(module, name)
        parametrizations.append(parametrization)
        parametrizations.unsafe = parametrizations.unsafe or unsafe
        if all(hasattr(each, "right_inverse") for each in parametrizations):
            try:
                parametrizations.right_inverse(current)
            except NotImplementedError:
                pass


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has parametrizations, of a certain tensor if that is given."""
    parametrizations = module._modules.get("parametrizations")
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Make a tensor an ordinary parameter or buffer again.

    Args:
        module: the module.
        tensor_name: the name of the tensor.
        leave_parametrized: whether it keeps the computed value; else it gets the original's.

    Returns:
        The module.

    Raises:
        ValueError: if it is not parametrized, or has several originals and shall get theirs.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    first = (
        parametrizations.original if parametrizations.is_tensor else (parametrizations.original0)
    )
    if leave_parametrized:
        with no_grad():
            value = getattr(module, tensor_name).detach()
        if parametrizations.is_tensor:
            first.data = value
            result = first
        else:
            is_parameter = isinstance(first, Parameter)
            result = Parameter(value, first.requires_grad) if is_parameter else value
    elif parametrizations.is_tensor:
        result = first
    else:
        raise ValueError(
            "a tensor computed from several others cannot be left unparametrized; remove it "
            "with leave_parametrized=True"
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, result)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class that a module had before it got parametrizations."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Give a module copies of another's parametrizations, and their originals themselves.

    Args:
        from_module: the module that has them.
        to_module: the module that gets them.
        tensor_name: the tensor, or None for all.

    Returns:
        The module that got them.
    """
    if not is_parametrized(from_module):
        return to_module
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        source = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, copy.deepcopy(getattr(from_module, name).detach()))
            if isinstance(
                source._originals()[0] if not source.is_tensor else source.original, Parameter
            ):
                value = getattr(to_module, name)
                delattr(to_module, name)
                to_module.register_parameter(name, Parameter(value))
        for parametrization in source:
            register_parametrization(to_module, name, copy.deepcopy(parametrization), unsafe=True)
        target = to_module.parametrizations[name]
        if source.is_tensor:
            target.original = source.original
        else:
            for i in range(source.ntensors):
                setattr(target, f"original{i}", getattr(source, f"original{i}"))
    return to_module
