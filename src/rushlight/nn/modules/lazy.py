"""`LazyModuleMixin`: modules whose parameters get their shapes at the first call."""

from __future__ import annotations

import warnings
from typing import Any

from ..._core import Tensor
from ..parameter import MaterializedBuffer, is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """A module whose shapes follow from its first input.

    Subclasses derive from this and from the module that they become, name that module in
    `cls_to_become`, and define `initialize_parameters(*args)`, which gets the arguments of the
    first call.
    """

    cls_to_become: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        module: Any = self
        self._load_hook = module._register_load_state_dict_pre_hook(
            LazyModuleMixin._lazy_load_hook, with_module=True
        )
        self._initialize_hook = module.register_forward_pre_hook(
            LazyModuleMixin._infer_parameters, with_kwargs=True
        )
        warnings.warn(
            "Lazy modules are a new feature under heavy development so changes to the API or "
            "functionality can happen at any moment.",
            stacklevel=3,
        )

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give parameters the shapes that fit the arguments of a call; subclasses define this."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer has no shape yet."""
        own = self.__dict__
        return any(
            is_lazy(each) for each in (*own["_parameters"].values(), *own["_buffers"].values())
        )

    def _lazy_load_hook(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, *lists: Any
    ) -> None:
        """A state with shapes decides them before it is loaded."""
        own = self.__dict__
        for name, tensor in (*own["_parameters"].items(), *own["_buffers"].items()):
            given = state_dict.get(prefix + name)
            if is_lazy(tensor) and isinstance(given, Tensor) and not is_lazy(given):
                tensor.materialize(given.shape)
        self._replace_buffers()

    def _replace_buffers(self) -> None:
        """Plain tensors in the place of buffers that were made lazily."""
        buffers = self.__dict__["_buffers"]
        for name, buffer in buffers.items():
            if type(buffer) is MaterializedBuffer:
                buffers[name] = buffer.as_subclass(Tensor)

    def _infer_parameters(self, args: Any, kwargs: Any) -> None:
        """Called before the first call: gives shapes, and makes this an ordinary module."""
        module: Any = self
        module.initialize_parameters(*args, **kwargs)
        if module.has_uninitialized_params():
            raise RuntimeError(
                f"module {module._get_name()} has not been fully initialized: "
                "initialize_parameters() must give all parameters and buffers a shape"
            )
        self._replace_buffers()
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook
        del module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become
