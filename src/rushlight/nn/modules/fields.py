"""`module_fields`: constructors of modules that hold the arguments of a function."""

from __future__ import annotations

import inspect
from dataclasses import InitVar
from typing import Any, TypeVar, dataclass_transform

from .module import Module

__all__ = ["InitVar", "module_fields"]

Class = TypeVar("Class", bound=type[Module])


@dataclass_transform(eq_default=False)
def module_fields(cls: Class) -> Class:
    """Decorator that writes a module's constructor, as `dataclasses.dataclass` does.

    The class's annotations are the constructor's parameters, in their order; each becomes an
    attribute. Values of `InitVar`s go to the method `setup` instead, which is called at the end if
    there is one. The text of the module (`extra_repr`) shows all fields; `inplace` only if it is
    set.

    Example:
        >>> @module_fields
        ... class Scale(Module):
        ...     factor: float = 2.0
        ...     def forward(self, input):
        ...         return input * self.factor
        >>> Scale(3.0)
        Scale(factor=3.0)
    """
    annotations = inspect.get_annotations(cls)
    fields = [name for name, kind in annotations.items() if not str(kind).startswith("InitVar")]
    parameters, defaults = ["self"], {}
    for name in annotations:
        if name in cls.__dict__:
            defaults[name] = cls.__dict__[name]
            delattr(cls, name)
            parameters.append(f"{name}=defaults[{name!r}]")
        else:
            parameters.append(name)
    lines = [f"def __init__({', '.join(parameters)}):", "    init(self)"]
    lines += [f"    set_attribute(self, {name!r}, {name})" for name in fields]
    if hasattr(cls, "setup"):
        init_only = [f"{name}={name}" for name in annotations if name not in fields]
        lines.append(f"    self.setup({', '.join(init_only)})")
    scope: dict[str, Any] = {
        "init": Module.__init__,
        "set_attribute": object.__setattr__,
        "defaults": defaults,
    }
    exec("\n".join(lines), scope)
    constructor = scope["__init__"]
    constructor.__qualname__ = f"{cls.__qualname__}.__init__"
    constructor.__module__ = cls.__module__
    constructor.__annotations__ = {**annotations, "return": None}
    cls.__init__ = constructor  # type: ignore[method-assign]
    if "__constants__" not in cls.__dict__:
        cls.__constants__ = fields
    if cls.extra_repr is Module.extra_repr:
        cls.extra_repr = fields_text(fields)  # type: ignore[method-assign]
    return cls


def fields_text(fields: list[str]) -> Any:
    """An `extra_repr` that shows fields."""

    def extra_repr(self: Any) -> str:
        """The options with their values."""
        shown = [name for name in fields if name != "inplace" or self.inplace]
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)

    return extra_repr
