"""Which calls of transforms need no new trace.

A function is called each time unless it is known that all it could do again is what the trace
holds. That is known of a function whose code reads nothing but its arguments, tensors, Python
numbers and strings, operators, and other functions of this kind, and that stores nothing outside
of itself. What it reads is part of the key of its trace; tensors are inputs of the graph.
"""

from __future__ import annotations

import builtins
import dis
import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from .. import _core
from .._core import Tensor
from ..autograd.grad_mode import enable_grad, no_grad
from ..device import device as Device
from ..dtypes import dtype as DType
from ..dtypes import get_default_dtype
from ..formats import memory_format
from .trees import Structure

_PACKAGE = __name__.partition(".")[0]

# Built-in functions whose result depends on their arguments only, and that change nothing.
PURE = {
    getattr(builtins, name)
    for name in (
        "abs all any dict divmod enumerate isinstance len list map max min pow range reversed "
        "round slice sorted sum tuple zip ValueError RuntimeError TypeError"
    ).split()
}
PURE |= {no_grad, enable_grad}
# Attributes by which more of a tensor than the key holds reaches Python unseen, or that change it.
_UNSEEN = {
    "__array__", "_base", "_version", "apply_", "backward", "data_ptr", "dim_order", "grad",
    "grad_fn", "is_contiguous", "is_leaf", "is_set_to", "map_", "numpy", "register_hook",
    "requires_grad_", "retain_grad", "retains_grad", "storage", "storage_offset", "stride",
    "tolist", "untyped_storage",
}  # fmt: skip
_STORES = {
    "DELETE_ATTR", "DELETE_GLOBAL", "DELETE_SUBSCR", "IMPORT_FROM", "IMPORT_NAME", "IMPORT_STAR",
    "STORE_ATTR", "STORE_GLOBAL", "LOAD_NAME", "STORE_NAME", "LOAD_CLASSDEREF",
    "LOAD_BUILD_CLASS", "LOAD_FROM_DICT_OR_GLOBALS", "LOAD_SUPER_ATTR",
}  # fmt: skip


class NotKnown(Exception):
    """A function does what a trace may not hold."""


# ---------------------------------------------------------------- what code reads


@dataclass(frozen=True)
class Read:
    """A global or a variable of an enclosing function, and the attributes taken of it."""

    is_global: bool
    name: str
    attributes: tuple[str, ...]


_reads: dict[CodeType, tuple[Read, ...] | None] = {}


def reads_of(code: CodeType) -> tuple[Read, ...]:
    """What a function's code reads from outside.

    Raises:
        NotKnown: if it stores something there, or does what cannot be told.
    """
    if code not in _reads:
        try:
            _reads[code] = tuple(dict.fromkeys(_find_reads(code, set())))
        except NotKnown:
            _reads[code] = None
    found = _reads[code]
    if found is None:
        raise NotKnown
    return found


def _find_reads(code: CodeType, own: set[str]) -> list[Read]:
    """own: variables of enclosing functions that are part of what is examined."""
    own = own | set(code.co_cellvars)
    found: list[Read] = []
    current: list[Any] | None = None  # a read whose attributes follow
    for instruction in dis.get_instructions(code):
        name, argument = instruction.opname, instruction.argval
        if name in _STORES:
            raise NotKnown
        if current is not None and name in ("LOAD_ATTR", "LOAD_METHOD"):
            current[2].append(argument)
            continue
        if current is not None:
            found.append(Read(current[0], current[1], tuple(current[2])))
            current = None
        if name in ("LOAD_ATTR", "LOAD_METHOD") and argument in _UNSEEN:
            raise NotKnown
        if name == "LOAD_GLOBAL":
            current = [True, argument, []]
        elif name == "LOAD_DEREF" and argument not in own:
            current = [False, argument, []]
        elif name in ("STORE_DEREF", "DELETE_DEREF") and argument not in own:
            raise NotKnown
        elif name == "LOAD_CONST" and isinstance(argument, CodeType):
            found += _find_reads(argument, own)
    return found


# ---------------------------------------------------------------- keys


class Key:
    """Builds what identifies a call, and collects the tensors that it reads, in order."""

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []
        self._functions: list[FunctionType] = []  # being examined

    def function(self, function: Any) -> Any:
        """What identifies a function and all that it reads."""
        if type(function) is FunctionType:
            if function in PURE:
                return function
            transform = getattr(function, "_transform", None)
            if transform is not None:
                name, parameters, inner = transform
                return name, parameters, self.function(inner)
            return self._python(function)
        if isinstance(function, _core.Operator):
            return ("operator", function)
        raise NotKnown

    def _python(self, function: FunctionType) -> Any:
        if (function.__module__ or "").partition(".")[0] == _PACKAGE:
            raise NotKnown  # seed() and the like: what is in the package is not examined
        if function in self._functions:
            return ("itself", self._functions.index(function))
        self._functions.append(function)
        defaults = (function.__defaults__, tuple((function.__kwdefaults__ or {}).items()))
        reads = [
            self._follow(resolve(function, read), read.attributes)
            for read in reads_of(function.__code__)
        ]
        self._functions.pop()
        return function.__code__, self.value(defaults), tuple(reads)

    def _follow(self, value: Any, attributes: Sequence[str]) -> Any:
        for position, attribute in enumerate(attributes):
            if not isinstance(value, ModuleType):
                if not _UNSEEN.isdisjoint(attributes[position:]):
                    raise NotKnown
                break  # of a tensor or a number: what it gives follows from the value
            name = value.__name__
            if name.partition(".")[0] != _PACKAGE and value is not math:
                raise NotKnown
            value = getattr(value, attribute, None)
        return self.value(value)

    def value(self, value: Any) -> Any:
        """What identifies a value that a function reads."""
        kind = type(value)
        if isinstance(value, Tensor):
            if value.numel() == 1:
                raise NotKnown  # Python can read its element unseen: float(x), if x
            return self.tensor(value)
        if kind is float or kind is complex:
            return kind, repr(value)
        if value is None or kind in (int, bool, str, bytes):
            return kind, value
        if kind is tuple:
            return kind, tuple(map(self.value, value))
        if isinstance(value, DType | Device | memory_format):
            return value
        if kind is BuiltinFunctionType and value.__module__ == "math":
            return value
        if isinstance(value, type | BuiltinFunctionType) and value in PURE:
            return value
        return self.function(value)

    def tensor(self, tensor: Tensor) -> Any:
        for position, known in enumerate(self.tensors):
            if known is tensor:
                return position
        self.tensors.append(tensor)
        return tensor.dtype, tuple(tensor.shape), tensor.requires_grad, tensor.device

    def argument(self, leaf: Any) -> Any:
        """What identifies an argument of a call."""
        if isinstance(leaf, Tensor):
            return self.tensor(leaf)
        if isinstance(leaf, slice):
            return "slice", self.value((leaf.start, leaf.stop, leaf.step))
        return "..." if leaf is ... else self.value(leaf)


def resolve(function: FunctionType, read: Read) -> Any:
    """The value of a variable that a function reads from outside."""
    if not read.is_global:
        position = function.__code__.co_freevars.index(read.name)
        try:
            return function.__closure__[position].cell_contents  # type: ignore[index]
        except ValueError:
            raise NotKnown from None
    known = function.__globals__
    return known[read.name] if read.name in known else getattr(builtins, read.name, None)


def call_key(
    transform: tuple[Any, ...],
    function: Callable[..., Any],
    leaves: Sequence[Any],
    structure: Structure,
) -> tuple[Any, list[Tensor]] | None:
    """The key of a call's trace and the tensors that it reads; None if it is to be traced anew."""
    key = Key()
    try:
        given = tuple(map(key.argument, leaves))
        identity = (
            transform,
            key.function(function),
            given,
            structure.key(),
            get_default_dtype(),
            _core.get_mode_bits(),
        )
        hash(identity)
    except (NotKnown, TypeError):
        return None
    return identity, key.tensors


# ---------------------------------------------------------------- traces that are kept


@dataclass
class Trace:
    """A finished trace: how to run it again.

    inputs: for each input of the graph, its position among the tensors of the key; leaves: the
    result's leaves that are no results of the graph, None in the place of those.
    """

    run: Callable[[list[Tensor]], tuple[Tensor, ...]]
    inputs: list[int]
    leaves: list[Any]
    positions: list[int]
    structure: Structure


_KEPT = 1024
_traces: OrderedDict[Any, Trace] = OrderedDict()


def find(key: Any) -> Trace | None:
    """The trace that is kept for a key."""
    return _traces.get(key)


def keep(key: Any, trace: Trace) -> None:
    """Keep a trace; the one that was made first goes if there are too many."""
    _traces[key] = trace
    while len(_traces) > _KEPT:
        try:
            _traces.popitem(last=False)
        except KeyError:  # another thread took the last one
            break
