"""Modules that hold other modules: `Sequential`, `ModuleList`, `ModuleDict`."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self, overload

from .module import Module, _indented
from .parameter_container import ParameterDict, ParameterList

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


class Container(Module):
    """A module with parts that are given by name; kept for old programs."""

    def __init__(self, **kwargs: Module) -> None:
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


class _ModuleSequence(Module):
    """What `Sequential` and `ModuleList` have in common: parts by position.

    Parts are kept by name, ``"0"``, ``"1"`` and so on where they were given without names.
    """

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def _name_at(self, index: Any) -> str:
        """The name of the part at a position.

        Raises:
            IndexError: if there is none.
        """
        position = operator.index(index)
        if not -len(self) <= position < len(self):
            raise IndexError(f"index {position} is out of range")
        return list(self._modules)[position]

    @overload
    def __getitem__(self, idx: int) -> Any: ...
    @overload
    def __getitem__(self, idx: slice) -> Self: ...
    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return self._like(list(self._modules.items())[idx])
        return self._modules[self._name_at(idx)]

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, self._name_at(idx), module)

    def __delitem__(self, idx: int | slice) -> None:
        if isinstance(idx, slice):
            names = list(self._modules)[idx]
        else:
            names = [self._name_at(idx)]
        for name in names:
            delattr(self, name)
        self._number(list(self._modules.values()))

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def _like(self, items: list[tuple[str, Any]]) -> Any:
        """A sequence of the same class with other parts."""
        raise NotImplementedError

    def _number(self, modules: list[Any]) -> None:
        """Hold these parts, numbered from 0."""
        self._modules = {str(i): module for i, module in enumerate(modules)}

    def append(self, module: Module) -> Self:
        """Add a part at the end."""
        self.add_module(str(len(self)), module)
        return self

    def _extended(self, modules: Any) -> Self:
        for module in modules:
            self.append(module)
        return self

    def pop(self, key: int | slice) -> Any:
        """Take a part away and return it."""
        module = self[key]
        del self[key]
        return module

    def _inserted(self, index: int, module: Module) -> None:
        modules = list(self._modules.values())
        modules.insert(index, module)
        self.add_module(str(len(self)), module)  # checks the part and calls registration hooks
        self._number(modules)


class Sequential(_ModuleSequence):
    """Calls its parts one after the other, each with the result of the one before.

    Args:
        args: the parts, or one `OrderedDict` of parts by name.

    Example:
        >>> model = Sequential(rushlight.nn.Linear(2, 3), rushlight.nn.ReLU())
        >>> model(rushlight.ones(4, 2)).shape
        torch.Size([4, 3])
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)  # type: ignore[misc]
        return input

    def _like(self, items: list[tuple[str, Any]]) -> Any:
        return type(self)(OrderedDict(items))

    def __add__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"Sequential + other: other must be a Sequential, not {type(other).__name__}"
            )
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Self:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"Sequential += other: other must be a Sequential, not {type(other).__name__}"
            )
        return self._extended(list(other))

    def __mul__(self, other: Any) -> Sequential:
        return Sequential(*list(self) * self._factor(other))

    __rmul__ = __mul__

    def __imul__(self, other: Any) -> Self:
        return self._extended(list(self) * (self._factor(other) - 1))

    def _factor(self, other: Any) -> int:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        return other

    def insert(self, index: int, module: Module) -> Self:
        """Add a part before a position.

        Raises:
            AssertionError: if it is no module.
            IndexError: for positions that are out of range.
        """
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        self._inserted(index, module)
        return self

    def extend(self, sequential: Iterable[Module]) -> Self:
        """Add the parts of another sequence at the end."""
        return self._extended(list(sequential))


class ModuleList(_ModuleSequence):
    """A list of modules, which belong to the module that the list belongs to.

    Args:
        modules: the modules.

    Example:
        >>> layers = ModuleList([rushlight.nn.Linear(2, 2) for _ in range(3)])
        >>> len(layers), layers[1].out_features
        (3, 2)
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self += modules

    def _like(self, items: list[tuple[str, Any]]) -> Any:
        return type(self)([module for _, module in items])

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        combined = ModuleList()
        for module in (*self, *other):
            combined.append(module)
        return combined

    def insert(self, index: int, module: Module) -> None:
        """Add a module before a position."""
        self._inserted(index, module)

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end.

        Raises:
            TypeError: if they are not iterable.
        """
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"ModuleList.extend: modules must be an iterable, not {type(modules).__name__}"
            )
        return self._extended(list(modules))

    def __repr__(self) -> str:
        """Equal modules that follow each other are shown once."""
        lines: list[str] = []
        start = 0
        texts = [repr(module) for module in self]
        for i, text in enumerate(texts):
            if i + 1 < len(texts) and texts[i + 1] == text:
                continue
            count = i + 1 - start
            name = f"({start})" if count == 1 else f"({start}-{i}): {count} x"
            separator = ": " if count == 1 else " "
            lines.append(_indented(f"{name}{separator}{text}"))
            start = i + 1
        if not lines:
            return f"{self._get_name()}()"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """A dict of modules, which belong to the module that the dict belongs to.

    Args:
        modules: modules by name, as a mapping or as pairs.

    Example:
        >>> choices = ModuleDict({"relu": rushlight.nn.ReLU(), "tanh": rushlight.nn.Tanh()})
        >>> choices["relu"]
        ReLU()
    """

    def __init__(
        self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None
    ) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Take all modules away."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Take a module away and return it."""
        module = self[key]
        del self[key]
        return module

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def items(self) -> Any:
        """Names and modules."""
        return self._modules.items()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Add modules, in the place of those of the same names.

        Raises:
            TypeError: if they are neither a mapping nor iterable.
            ValueError: for elements that are no pairs.
        """
        for key, module in pairs_of(modules, type(self).__name__):
            self[key] = module


def pairs_of(values: Any, name: str) -> list[tuple[Any, Any]]:
    """A mapping or an iterable of pairs as pairs."""
    if not isinstance(values, Iterable):
        raise TypeError(
            f"{name}.update: values must be a mapping or an iterable of pairs, not "
            f"{type(values).__name__}"
        )
    if isinstance(values, Mapping | ModuleDict | ParameterDict):
        return list(values.items())
    pairs = []
    for i, pair in enumerate(values):
        if not isinstance(pair, Iterable):
            raise TypeError(
                f"{name} update sequence element #{i} should be Iterable; is{type(pair).__name__}"
            )
        pair = tuple(pair)
        if len(pair) != 2:
            raise ValueError(
                f"{name} update sequence element #{i} has length {len(pair)}; 2 is required"
            )
        pairs.append(pair)
    return pairs
