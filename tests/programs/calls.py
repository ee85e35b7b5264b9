"""Calls that run in either framework and print as Python."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

import rushlight

MODULES = (rushlight, torch)


@dataclass(frozen=True)
class Ref:
    """The value of this number in the program."""

    index: int

    def __repr__(self) -> str:
        return f"t{self.index}"


@dataclass(frozen=True)
class Dtype:
    name: str

    def __repr__(self) -> str:
        return f"m.{self.name}"


@dataclass
class Call:
    """path: ``"exp"`` is a function, ``".exp"`` a method, ``"[]"`` and ``"[]="`` subscripts."""

    path: str
    args: list[Any]
    kwargs: dict[str, Any] = field(default_factory=dict)

    def run(self, values: list[Any], module: Any) -> Any:
        args = [resolve(argument, values, module) for argument in self.args]
        kwargs = {name: resolve(each, values, module) for name, each in self.kwargs.items()}
        if self.path == "[]":
            return args[0][args[1]]
        if self.path == "[]=":
            args[0][args[1]] = args[2]
            return None
        if self.path.startswith("."):
            return getattr(args[0], self.path[1:])(*args[1:], **kwargs)
        function = module
        for part in self.path.split("."):
            function = getattr(function, part)
        return function(*args, **kwargs)

    def __repr__(self) -> str:
        args = list(map(repr, self.args))
        if self.path == "[]":
            return f"{args[0]}[{args[1]}]"
        if self.path == "[]=":
            return f"{args[0]}[{args[1]}] = {args[2]}"
        named = [f"{name}={value!r}" for name, value in self.kwargs.items()]
        if self.path.startswith("."):
            return f"{args[0]}{self.path}({', '.join(args[1:] + named)})"
        return f"m.{self.path}({', '.join(args + named)})"

    def tensors(self) -> list[int]:
        """The numbers of the values that it uses."""
        return list(dict.fromkeys(_refs([*self.args, *self.kwargs.values()])))


def _refs(argument: Any) -> list[int]:
    if isinstance(argument, Ref):
        return [argument.index]
    if isinstance(argument, list | tuple):
        return [index for each in argument for index in _refs(each)]
    return []


def resolve(argument: Any, values: list[Any], module: Any) -> Any:
    if isinstance(argument, Ref):
        return values[argument.index]
    if isinstance(argument, Dtype):
        return getattr(module, argument.name)
    if isinstance(argument, list | tuple):
        return type(argument)(resolve(each, values, module) for each in argument)
    return argument
