"""Type stubs, written from the operator table and the live package.

Editors and type checkers cannot see operators, which are made when the package is imported; stubs
list them with types, defaults and docstrings. ``python -m rushlight.tools.stubs`` writes them; with
``--check`` it writes nothing and fails if a file is not what would be written.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import rushlight

from .. import _core
from .._core import Operator, Tensor
from ..dtypes import dtype as DType
from ..ops.record import FUNCTIONS, METHODS, Record
from . import stub_types as types

_ALIASES = """\
from builtins import bool as _bool, complex as _complex, float as _float, int as _int
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar, overload

from {root}device import device as _device
from {root}dtypes import dtype as _dtype
from {root}formats import layout as _layout, memory_format as _memory_format
"""
_CORE_ALIASES = """
_Number: TypeAlias = _bool | _int | _float | _complex
_T = TypeVar("_T", bound=Tensor)
_Generator: TypeAlias = Generator
"""
_ALIASES_FUNCTIONS = """\
from builtins import bool as _bool, float as _float, int as _int
from collections.abc import Sequence
from typing import Any

from {root}_core import Generator as _Generator, Tensor as Tensor, _Number
from {root}device import device as _device
from {root}dtypes import dtype as _dtype
from {root}formats import layout as _layout, memory_format as _memory_format
"""


# ---------------------------------------------------------------- functions


def function(
    name: str, parameters: Iterable[str], returns: str, doc: str | None, indent: str
) -> str:
    """The text of one function."""
    words = list(parameters)
    line = f"{indent}def {name}({', '.join(words)}) -> {returns}:"
    if len(line) > 100:
        inner = "".join(f"{indent}    {word},\n" for word in words)
        line = f"{indent}def {name}(\n{inner}{indent}) -> {returns}:"
    return line + body(doc, indent)


def body(doc: str | None, indent: str) -> str:
    """The rest of a definition after the colon."""
    if not doc:
        return " ...\n"
    inner = indent + "    "
    lines = inspect.cleandoc(doc).replace("\\", "\\\\").splitlines()
    text = "\n".join(inner + line if line else "" for line in lines)
    return f'\n{inner}"""{text.lstrip()}{"" if len(lines) == 1 else chr(10) + inner}"""\n'


def default(value: Any) -> str:
    """A default as it reads in a stub."""
    plain = value is None or isinstance(value, bool | int | str) or value == ()
    return (
        repr(value)
        if plain or (isinstance(value, float) and value == value and abs(value) < 1e300)
        else "..."
    )


def parameter_list(
    parameters: Sequence[inspect.Parameter], type_of: Any, untyped_first: bool
) -> list[str]:
    """Parameters with types and defaults; the first as ``self`` if it is a method's."""
    words: list[str] = []
    keyword_only = False
    for position, p in enumerate(parameters):
        if position == 0 and untyped_first:
            words.append("self")
            continue
        if p.kind is p.KEYWORD_ONLY and not keyword_only:
            words.append("*")
        keyword_only = keyword_only or p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        star = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
        end = "" if p.default is p.empty else f" = {default(p.default)}"
        words.append(f"{star}{p.name}: {type_of(p)}{end}")
        if p.kind is p.POSITIONAL_ONLY and (
            position + 1 == len(parameters)
            or parameters[position + 1].kind is not p.POSITIONAL_ONLY
        ):
            words.append("/")
    return words


def operator_text(record: Record, name: str, inplace: bool = False, method: bool = False) -> str:
    """An operator as a function, or as a method of Tensor."""
    parameters = list(record.signature.parameters.values())
    words = parameter_list(parameters, lambda p: types.operand_type(record, p), method)
    extra = ["out: Any = None"] if record.out and not (inplace or method) else []
    if extra and not any(p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL) for p in parameters):
        words.append("*")
    returns = "Tensor" if inplace or record.mutates else types.return_type(record)
    return function(name, words + extra, returns, record.__doc__, "    " if method else "")


def python_text(name: str, target: Any, indent: str = "") -> str:
    """A Python function, or (indented) a method that one implements."""
    signature = inspect.signature(target)
    words = parameter_list(
        list(signature.parameters.values()), lambda p: types.translated(p.annotation), bool(indent)
    )
    return function(
        name, words, types.translated(signature.return_annotation), target.__doc__, indent
    )


# ---------------------------------------------------------------- which record


def records_by_operator() -> dict[int, tuple[Record, bool]]:
    """The record of each operator, by the operator's id, and whether it is the in-place form."""
    table: dict[int, tuple[Record, bool]] = {}
    for record in (*FUNCTIONS.values(), *METHODS.values()):
        if isinstance(record, Record):
            table[id(record.operator)] = (record, False)
            for name in (*record.methods, *record.names):
                inplace = getattr(Tensor, f"{name}_", None) or getattr(rushlight, f"{name}_", None)
                if record.inplace and isinstance(inplace, Operator):
                    table.setdefault(id(inplace), (record, True))
    return table


def operator_stub(
    name: str, target: Any, table: dict[int, tuple[Record, bool]], method: bool
) -> str | None:
    """The text for an operator; None if the target is none."""
    if id(target) not in table:
        return None
    record, inplace = table[id(target)]
    return operator_text(record, name, inplace, method)


# ---------------------------------------------------------------- the core


def tensor_members(table: dict[int, tuple[Record, bool]]) -> Iterator[str]:
    """All attributes of Tensor. One of unknown type is an error: add it to ``stub_types``."""
    for name, value in sorted(Tensor.__dict__.items()):
        if name in types.SKIPPED or name.endswith("___") or isinstance(value, str | int):
            continue
        if name in types.SLOTS:
            yield slot(name, types.SLOTS[name])
        elif isinstance(value, property) or inspect.isgetsetdescriptor(value):
            yield from attribute(name, value)
        elif name in types.NATIVE_METHODS:
            yield from overloads(name, types.NATIVE_METHODS[name], value.__doc__)
        elif isinstance(value, classmethod):
            yield f"    @classmethod\n    def {name}{types.CLASS_METHODS[name]}: ...\n"
        elif isinstance(value, staticmethod):
            yield f"    @staticmethod\n    def {name}{types.STATIC_METHODS[name]}: ...\n"
        else:
            yield operator_stub(name, value, table, True) or python_text(name, value, "    ")


def slot(name: str, text: str) -> str:
    signature, _, comment = text.partition(":  #")
    return f"    def {name}{signature}: ...{'  #' + comment if comment else ''}\n"


def attribute(name: str, value: Any) -> Iterator[str]:
    """A property, with its setter if it has one."""
    if isinstance(value, property):
        annotation = inspect.signature(value.fget).return_annotation if value.fget else "Any"
        found = types.PROPERTIES.get(name) or types.translated(annotation)
    else:
        found = types.ATTRIBUTES[name]
    yield f"    @property\n    def {name}(self) -> {found}:" + body(value.__doc__, "    ")
    if name in types.WRITABLE:
        yield f"    @{name}.setter\n    def {name}(self, value: {found}) -> None: ...\n"


def overloads(name: str, signatures: Sequence[str], doc: str | None) -> Iterator[str]:
    for signature in signatures:
        decorator = "    @overload\n" if len(signatures) > 1 else ""
        yield f"{decorator}    def {name}{signature}:" + body(doc, "    ")


def other_class(name: str, cls: type) -> str:
    """A native class whose attributes' types are not told."""
    members = []
    for key, value in sorted(cls.__dict__.items()):
        if inspect.isgetsetdescriptor(value) or inspect.ismemberdescriptor(value):
            members.append(f"    {key}: Any\n" if not key.startswith("__") else "")
        elif inspect.ismethoddescriptor(value) and not key.startswith("__"):
            members.append(
                f"    def {key}(self, *args: Any, **kwargs: Any) -> Any:"
                + body(value.__doc__, "    ")
            )
    base = "(tuple[_int, ...])" if issubclass(cls, tuple) else ""
    constructor = "" if base else "    def __init__(self, *args: Any, **kwargs: Any) -> None: ...\n"
    call = (
        "    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...\n"
        if "__call__" in cls.__dict__
        else ""
    )
    parent = cls.__bases__[0]
    if getattr(_core, parent.__name__, None) is parent:
        base = f"({parent.__name__})"
    return f"class {name}{base}:\n" + (constructor + call + "".join(members) or "    ...\n")


def core_stub() -> str:
    """``_core.pyi``"""
    parts = [types.HEADER.format(doc="The native core."), _ALIASES.format(root=".")]
    parts.append(_CORE_ALIASES)
    members = "".join(tensor_members(records_by_operator()))
    tensor_doc = body(Tensor.__doc__, "")
    parts.append(
        f"class Tensor:{tensor_doc}    def __init__(self, *data: Any) -> None: ...\n{members}"
    )
    for name, value in sorted(vars(_core).items()):
        if name.startswith("__") or value is Tensor:
            continue
        if isinstance(value, type):
            parts.append(other_class(name, value))
        elif isinstance(value, BuiltinFunctionType):
            signature = types.NATIVE_FUNCTIONS.get(name, "(*args: Any, **kwargs: Any) -> Any")
            parts.append(f"def {name}{signature}:" + body(value.__doc__, ""))
    return "\n".join(parts)


# ---------------------------------------------------------------- modules


def module_stub(module: ModuleType, doc: str) -> str:
    """The stub of the package or of a module that holds operators."""
    table = records_by_operator()
    root = "." * max(module.__name__.count("."), 1)
    imports, texts = [], []
    for name, value in sorted(vars(module).items()):
        if (name.startswith("_") and name != "__version__") or type(
            value
        ).__module__ == "__future__":
            continue
        stub = operator_stub(name, value, table, False)
        if stub is not None:
            texts.append(stub)
        elif isinstance(value, ModuleType):
            if value.__name__ == f"{module.__name__}.{name}" and name not in types.INTERNAL_MODULES:
                imports.append(f"from . import {name} as {name}\n")
        elif name == "__version__":
            texts.append("__version__: str\n")
        elif value is None:
            texts.append(f"{name}: None\n")
        else:
            line, text = other_member(module, name, value)
            imports.append(line)
            texts.append(text)
    head = types.HEADER.format(doc=doc) + "\n" + _ALIASES_FUNCTIONS.format(root=root)
    return head + "".join(sorted(filter(None, imports))) + "\n" + "\n".join(filter(None, texts))


def other_member(module: ModuleType, name: str, value: Any) -> tuple[str, str]:
    """An import or a definition for what is no operator."""
    if isinstance(value, FunctionType) and value.__module__ == module.__name__:
        return "", python_text(name, value)
    if isinstance(value, DType) and value.name != name:
        return "", f"{name}: _dtype\n"
    origin = home(name, value)
    if origin is None or origin == module.__name__ or value is Tensor:
        return "", ""
    relative = origin.removeprefix("rushlight.")
    return f"from .{relative} import {name} as {name}\n", ""


def home(name: str, value: Any) -> str | None:
    """The module of the package that defines an object under this name."""
    own = getattr(value, "__module__", None)
    if own == "rushlight._core" or isinstance(value, BuiltinFunctionType):
        return "rushlight._core"
    candidates = [own] if isinstance(own, str) and own.startswith("rushlight.") else []
    candidates += [key for key in sorted(sys.modules) if key.startswith("rushlight.")]
    for candidate in candidates:
        found = sys.modules.get(candidate)
        if found is not None and vars(found).get(name) is value:
            return candidate
    return None


def stubs() -> dict[Path, str]:
    """All stub files by path, relative to the package."""
    files = {
        Path("_core.pyi"): core_stub(),
        Path("__init__.pyi"): module_stub(
            rushlight, "Rushlight: a deep-learning framework with PyTorch's API."
        ),
    }
    for path in sorted({name.rpartition(".")[0] for name in FUNCTIONS} - {""}):
        module = sys.modules[f"rushlight.{path}"]
        if hasattr(module, "__path__"):
            raise RuntimeError(
                f"rushlight.{path} is a package and holds operators: put them into a module"
            )
        files[Path(*path.split(".")).with_suffix(".pyi")] = module_stub(
            module, f"Operators under {path}."
        )
    return files


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the stubs; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m rushlight.tools.stubs", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if a file is not current"
    )
    options = parser.parse_args(arguments)
    folder = Path(rushlight.__file__).parent
    stale = []
    for path, text in stubs().items():
        target = folder / path
        if target.exists() and target.read_text(encoding="utf-8") == text:
            continue
        stale.append(path)
        if not options.check:
            target.write_text(text, encoding="utf-8")
    for path in stale:
        print(
            f"{path}: "
            + ("stale; run python -m rushlight.tools.stubs" if options.check else "written")
        )
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
