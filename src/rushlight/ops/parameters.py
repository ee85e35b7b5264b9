"""Parameters of operators: what their annotations say about the arguments they take."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# Other names that NumPy users may give arguments by.
ARGUMENT_ALIASES = {
    "axis": "dim",
    "keepdims": "keepdim",
    "x": "input",
    "a": "input",
    "x1": "input",
    "x2": "other",
}

_SELECTORS = (
    "int", "bool", "str", "DType", "Dim", "Generator", "MemoryFormat", "Selector", "tuple",
)  # fmt: skip
_MODES = {
    "Tensor": "T",
    "Operand": "T",
    "Tensors": "T",
    "Operands": "T",
    "Mutated": "T!",
    "MutatedTensors": "T!",
    "Size": "Z",
    "Bound": "Z",
}


@dataclass(frozen=True)
class Parameter:
    """A parameter of an operator. mode: T (tensor or operand number), T! (mutated), S (selector) or
    Z (size); tensor: whether numbers are refused; kind: the annotation's first word; optional:
    whether None is an argument.
    """

    name: str
    mode: str
    variadic: bool = False
    tensor: bool = False
    kind: str = ""
    optional: bool = False


def parse(parameter: inspect.Parameter) -> Parameter:
    """What the annotation and the default of one parameter say."""
    annotation = parameter.annotation
    text = (
        ""
        if annotation is parameter.empty
        else annotation
        if isinstance(annotation, str)
        else annotation.__name__
    )
    word = text.split("|")[0].split("[")[0].strip()
    mode = _MODES.get(word) or ("S" if word in _SELECTORS else "T")
    variadic = parameter.kind is parameter.VAR_POSITIONAL
    optional = parameter.default is None or "None" in text
    return Parameter(parameter.name, mode, variadic, word == "Tensor", word, optional)


# What every operator that makes a new tensor takes.
_OPTIONS = tuple(
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
    for name, default, annotation in (
        ("layout", None, "Selector"),
        ("device", None, "Selector"),
        ("pin_memory", False, "bool | None"),
        ("requires_grad", False, "bool | None"),
    )
)


def with_options(signature: inspect.Signature) -> tuple[tuple[str, ...], inspect.Signature]:
    """The options of a constructor that a signature lacks, and the signature with them."""
    parameters = signature.parameters
    missing = [option for option in _OPTIONS if option.name not in parameters]
    return (
        tuple(option.name for option in missing),
        signature.replace(parameters=[*parameters.values(), *missing]),
    )


def map_nested(argument: Any, function: Callable[[Any, str], Any], mode: str) -> Any:
    """Apply ``function(element, mode)`` to every element of nested lists and tuples."""
    if mode != "S" and isinstance(argument, list | tuple):
        kind = list if isinstance(argument, list) else tuple
        return kind(map_nested(each, function, mode) for each in argument)
    return function(argument, mode)
