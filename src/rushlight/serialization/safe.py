"""An unpickler that makes only what files of weights need.

A pickle is a program: it can call any function that it can name. Here a name must be on a list, and
so must the type of every object that is made, called or written to.
"""

from __future__ import annotations

import pickle
import struct
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import IO, Any

from .._core import Size, Tensor
from ..device import device as Device
from ..tensor import Parameter
from . import names, rebuild

_Base: Any = pickle._Unpickler  # each step can be checked


def _bytes_of(text: Any, encoding: Any = "latin1") -> bytes:
    """``_codecs.encode``, by which old pickles write bytes."""
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise pickle.UnpicklingError("only text in latin1 is allowed to become bytes")
    return text.encode("latin1")


def _bytearray(*args: Any) -> bytearray:
    if args and not isinstance(args[0], str | bytes):
        raise pickle.UnpicklingError("only text and bytes are allowed to become a bytearray")
    return bytearray(*args)


def _from_type(function: Any, kind: Any, args: Any, state: Any) -> Any:
    if function not in (rebuild.tensor, rebuild.tensor_of_dtype, rebuild.meta_tensor):
        raise pickle.UnpicklingError("a tensor in the file is made in a way that is not allowed")
    return rebuild.from_type(function, kind, args, state)


def default_globals() -> dict[str, Any]:
    """What a safe file may name."""
    found = names.fixed_globals()
    found |= {
        "collections.OrderedDict": OrderedDict,
        "collections.Counter": Counter,
        "collections.defaultdict": defaultdict,
        "builtins.set": set,
        "builtins.frozenset": frozenset,
        "builtins.complex": complex,
        "builtins.bytearray": _bytearray,
        "builtins.int": int,
        "builtins.float": float,
        "builtins.list": list,
        "builtins.dict": dict,
        "_codecs.encode": _bytes_of,
        "torch._tensor._rebuild_from_type_v2": _from_type,
        "torch.Size": Size,
        "torch.device": Device,
        "torch.Tensor": Tensor,
        "torch.nn.parameter.Parameter": Parameter,
        "torch.nn.Parameter": Parameter,
    }
    # Pickles of protocols 0 to 2 use Python 2's name.
    found |= {
        name.replace("builtins", "__builtin__"): value
        for name, value in found.items()
        if name.startswith("builtins.")
    }
    return found


# ---------------------------------------------------------------- what the user allows

_allowed: dict[str, Any] = {}


def full_name(entry: Any) -> tuple[str, Any]:
    """An entry of `add_safe_globals` as a name in a file and an object."""
    if isinstance(entry, tuple):
        if len(entry) != 2 or not isinstance(entry[1], str):
            raise ValueError(
                f"Expected tuple of (global, str of callable full path), but got {entry!r}"
            )
        return entry[1], entry[0]
    if not f"{entry.__module__}.".startswith("rushlight."):
        return f"{entry.__module__}.{entry.__qualname__}", entry
    name = names.name_of(entry.__module__, entry.__qualname__)
    return f"{name.module}.{name.name}", entry


def add_safe_globals(safe_globals: Iterable[Any]) -> None:
    """Let files name these classes and functions with ``weights_only=True``.

    Args:
        safe_globals: classes and functions, or tuples of one and the full name it has in files.
            Loading may call them with any arguments.
    """
    _allowed.update(full_name(entry) for entry in safe_globals)


def get_safe_globals() -> list[Any]:
    """What `add_safe_globals` has allowed."""
    return list(_allowed.values())


def clear_safe_globals() -> None:
    """Take back what `add_safe_globals` has allowed."""
    _allowed.clear()


class safe_globals(AbstractContextManager[None]):
    """Lets files name classes and functions while a ``with`` block runs: see `add_safe_globals`."""

    def __init__(self, safe_globals: Iterable[Any]) -> None:
        self.entries = list(safe_globals)

    def __enter__(self) -> None:
        self.before = dict(_allowed)
        add_safe_globals(self.entries)

    def __exit__(self, *exception: object) -> None:
        _allowed.clear()
        _allowed.update(self.before)


# ---------------------------------------------------------------- the unpickler

_DAMAGE = (
    IndexError, KeyError, ValueError, TypeError, AttributeError, OverflowError, AssertionError,
    MemoryError, struct.error,
)  # fmt: skip
_DICTS = (dict, OrderedDict, Counter, defaultdict)


class SafeUnpickler(_Base):
    """Reads a pickle that makes nothing but tensors, numbers, text, containers, and what the user
    allows.

    Args:
        file: has methods ``read`` and ``readline``.
        load_storage: gives the storage for a persistent id.

    Raises:
        pickle.UnpicklingError: while loading, for anything else.
    """

    dispatch: dict[int, Callable[..., Any]] = {}

    def __init__(
        self, file: IO[bytes], load_storage: Callable[[Any], Any], *, encoding: str = "utf-8"
    ) -> None:
        super().__init__(file, encoding=encoding)
        self.persistent_load = load_storage
        self.user = dict(_allowed)
        self.known = default_globals()
        self.user_types = tuple(each for each in self.user.values() if isinstance(each, type))
        self.callable = {id(each) for each in [*self.known.values(), *self.user.values()]}

    def load(self) -> Any:
        """The object; what a damaged or hostile pickle causes is an UnpicklingError."""
        try:
            return super().load()
        except _DAMAGE as error:
            raise pickle.UnpicklingError(
                f"the file is damaged: {type(error).__name__}: {error}"
            ) from error

    def find_class(self, module: str, name: str) -> Any:
        path = f"{module}.{name}"
        if path in self.user:
            return self.user[path]
        if path in self.known:
            return self.known[path]
        raise pickle.UnpicklingError(
            f"Unsupported global: GLOBAL {path} was not an allowed global by default. If you trust "
            f"it, allow it with `torch.serialization.add_safe_globals([{name}])` or the "
            f"`torch.serialization.safe_globals([{name}])` context manager"
        )

    def require_callable(self, function: Any) -> None:
        if id(function) not in self.callable:
            raise pickle.UnpicklingError(f"the file calls {function!r}, which is not allowed")

    def load_reduce(self) -> None:
        arguments = self.stack.pop()
        function = self.stack[-1]
        self.require_callable(function)
        if not isinstance(arguments, tuple):
            raise pickle.UnpicklingError("the arguments of a call in the file are no tuple")
        self.stack[-1] = function(*arguments)

    def load_newobj(self) -> None:
        arguments = self.stack.pop()
        cls = self.stack.pop()
        if not isinstance(cls, type) or not isinstance(arguments, tuple):
            raise pickle.UnpicklingError("the file makes an object of what is no class")
        if cls not in (*_DICTS, set, frozenset) and cls not in self.user_types:
            raise pickle.UnpicklingError(f"the file makes a {cls!r}, which is not allowed")
        self.stack.append(cls.__new__(cls, *arguments))

    def load_build(self) -> None:
        state = self.stack.pop()
        instance = self.stack[-1]
        kind = type(instance)
        if kind in self.user_types:
            if hasattr(instance, "__setstate__"):
                instance.__setstate__(state)
                return
        elif kind is not OrderedDict:
            raise pickle.UnpicklingError(f"the file sets the state of a {kind}: not allowed")
        attributes, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
        if attributes:
            if not isinstance(attributes, dict):
                raise pickle.UnpicklingError("the state of an object in the file is no dict")
            vars(instance).update(attributes)
        for name, value in (slots or {}).items():
            setattr(instance, name, value)

    def require(self, *kinds: type, below: int) -> None:
        """UnpicklingError unless the container on the stack is of one of these very types."""
        if len(self.stack) < below or type(self.stack[-below]) not in kinds:
            raise pickle.UnpicklingError("the file adds elements to what is no plain container")

    def load_append(self) -> None:
        self.require(list, below=2)
        _Base.load_append(self)

    def load_appends(self) -> None:
        if not self.metastack or type(self.metastack[-1][-1]) is not list:
            raise pickle.UnpicklingError("the file adds elements to what is no list")
        _Base.load_appends(self)

    def load_setitem(self) -> None:
        self.require(*_DICTS, below=3)
        _Base.load_setitem(self)

    def load_setitems(self) -> None:
        if not self.metastack or type(self.metastack[-1][-1]) not in _DICTS:
            raise pickle.UnpicklingError("the file adds items to what is no dict")
        _Base.load_setitems(self)

    def load_additems(self) -> None:
        if not self.metastack or type(self.metastack[-1][-1]) is not set:
            raise pickle.UnpicklingError("the file adds elements to what is no set")
        _Base.load_additems(self)

    def load_unsupported(self) -> None:
        raise pickle.UnpicklingError("the file uses an instruction that weights do not need")


def _install() -> None:
    """Replace the instructions that make, call or change objects, and leave those out that do so in
    ways that weights do not need.
    """
    checked = {
        pickle.REDUCE: SafeUnpickler.load_reduce,
        pickle.NEWOBJ: SafeUnpickler.load_newobj,
        pickle.BUILD: SafeUnpickler.load_build,
        pickle.APPEND: SafeUnpickler.load_append,
        pickle.APPENDS: SafeUnpickler.load_appends,
        pickle.SETITEM: SafeUnpickler.load_setitem,
        pickle.SETITEMS: SafeUnpickler.load_setitems,
        pickle.ADDITEMS: SafeUnpickler.load_additems,
    }
    unsupported = (
        pickle.INST, pickle.OBJ, pickle.NEWOBJ_EX, pickle.EXT1, pickle.EXT2, pickle.EXT4,
        pickle.PERSID, pickle.NEXT_BUFFER, pickle.READONLY_BUFFER,
    )  # fmt: skip
    SafeUnpickler.dispatch = {
        **_Base.dispatch,
        **{code[0]: method for code, method in checked.items()},
        **{code[0]: SafeUnpickler.load_unsupported for code in unsupported},
    }


_install()
