"""The types that stubs state: of parameters of records and functions, and of native attributes."""

from __future__ import annotations

import inspect
import re
from typing import Any

from ..ops.record import Record
from .table import result_kind

HEADER = '''"""{doc}

Written by ``python -m rushlight.tools.stubs``; do not edit.
"""

# ruff: noqa
'''

# Builtins get names with an underscore: package and Tensor have attributes named float, int, bool.
NUMBER = "Tensor | _Number"
_OPTIONAL = " | None"

# Types of parameters that the annotation alone does not tell.
_BY_NAME = {
    "device": "_device | str | None",
    "dtype": "_dtype | None",
    "layout": "_layout | None",
    "memory_format": "_memory_format | None",
    "generator": "_Generator | None",
    "tensors": "Sequence[Tensor]",
    "indices": "Any",
    "dims": "_int | Sequence[_int]",
    "start": "_float",
    "end": "_float",
    "step": "_float",
    "split_size_or_sections": "_int | Sequence[_int]",
}
# Sizes that may be a sequence.
_SHAPES = (
    "bounds_and_size", "dims", "normalized_shape", "repeats", "shape", "size", "sizes",
)  # fmt: skip
_BY_ANNOTATION = {
    "Operand": NUMBER,
    "Number": NUMBER,
    "Tensor": "Tensor",
    "Mutated": "Tensor",
    "Tensors": "Sequence[Tensor]",
    "Operands": f"{NUMBER} | Sequence[_Number] | Sequence[Tensor]",
    "MutatedTensors": "Sequence[Tensor]",
    "Selector": "Any",
    "Generator": "_Generator",
    "MemoryFormat": "_memory_format",
    "Dim": "_int | Sequence[_int] | None",
    "DType": "_dtype",
    "tuple": "Sequence[Any]",
}
# How the annotations of Python functions read in stubs. All other names must be known there.
_NAMES = {
    "bool": "_bool",
    "int": "_int",
    "float": "_float",
    "complex": "_complex",
    "DType": "_dtype",
    "Device": "_device",
    "Tensors": "Tensor | Sequence[Tensor]",
    "RemovableHandle": "Any",
}
_KNOWN = {
    "Any",
    "None",
    "Tensor",
    "Callable",
    "Sequence",
    "str",
    "tuple",
    "list",
    "Size",
    "Iterator",
}


def translated(annotation: Any) -> str:
    """An annotation of a Python function as it reads in a stub."""
    if annotation in (inspect.Parameter.empty, None):
        return "Any"
    text = annotation if isinstance(annotation, str) else annotation.__name__

    def name(match: re.Match[str]) -> str:
        word = match.group()
        return word if word in _KNOWN else _NAMES.get(word, "Any")

    return re.sub(r"[A-Za-z_]\w*", name, text)


def operand_type(record: Record, parameter: inspect.Parameter) -> str:
    """The type of a record's parameter."""
    annotation = str(parameter.annotation) if parameter.annotation is not parameter.empty else ""
    base = annotation.removesuffix(_OPTIONAL)
    if parameter.name in _BY_NAME:
        found = _BY_NAME[parameter.name]
    elif base == "Size":
        found = "_int | Sequence[_int]" if parameter.name in _SHAPES else "_int"
    elif not base:
        first = next(iter(record.signature.parameters.values()))
        operands = [p for p in record.parameters if p.mode == "T"]
        found = (
            "Tensor"
            if parameter is first and (len(operands) == 1 or parameter.name == "self")
            else NUMBER
        )
    else:
        found = _BY_ANNOTATION.get(base) or translated(base)
    optional = annotation.endswith(_OPTIONAL) or parameter.default is None
    return (
        found if not optional or found == "Any" or found.endswith(_OPTIONAL) else found + _OPTIONAL
    )


_RETURNS = {"tensor": "Tensor", "tuple": "tuple[Tensor, ...]", "list": "list[Tensor]", "any": "Any"}


def return_type(record: Record) -> str:
    """The type of what a record's operator returns."""
    return _RETURNS[result_kind(record)]


# ---------------------------------------------------------------- attributes of native types

ATTRIBUTES = {
    "shape": "Size",
    "dtype": "_dtype",
    "device": "_device",
    "ndim": "_int",
    "itemsize": "_int",
    "nbytes": "_int",
    "T": "Tensor",
    "mT": "Tensor",
    "is_leaf": "_bool",
    "grad_fn": "Node | None",
    "output_nr": "_int",
    "retains_grad": "_bool",
    "_base": "Tensor | None",
    "grad_dtype": "_dtype | None",
    "_backward_hooks": "Any",
    "_version": "_int",
    # may be set
    "requires_grad": "_bool",
    "grad": "Tensor | None",
    "data": "Tensor",
}
# Properties written in Python whose getters carry no annotation.
PROPERTIES = {
    "is_cpu": "_bool",
    "is_cuda": "_bool",
    "is_meta": "_bool",
    "is_sparse": "_bool",
    "is_quantized": "_bool",
    "layout": "_layout",
}
WRITABLE = ("requires_grad", "grad", "grad_dtype", "data")

# Arguments and result of native methods; several for overloads.
NATIVE_METHODS: dict[str, tuple[str, ...]] = {
    "size": ("(self, dim: None = None) -> Size", "(self, dim: _int) -> _int"),
    "stride": ("(self, dim: None = None) -> tuple[_int, ...]", "(self, dim: _int) -> _int"),
    "resize_": ("(self, *size: Any) -> Tensor",),
    "dim": ("(self) -> _int",),
    "ndimension": ("(self) -> _int",),
    "numel": ("(self) -> _int",),
    "nelement": ("(self) -> _int",),
    "element_size": ("(self) -> _int",),
    "storage_offset": ("(self) -> _int",),
    "data_ptr": ("(self) -> _int",),
    "untyped_storage": ("(self) -> Any",),
    "is_floating_point": ("(self) -> _bool",),
    "is_complex": ("(self) -> _bool",),
    "is_signed": ("(self) -> _bool",),
    "is_contiguous": ("(self, memory_format: _memory_format = ...) -> _bool",),
    "requires_grad_": ("(self, requires_grad: _bool = True) -> Tensor",),
    "item": ("(self) -> Any",),
    "tolist": ("(self) -> Any",),
    "as_subclass": ("(self, cls: type[_T]) -> _T",),
    "__complex__": ("(self) -> _complex",),
}

CLASS_METHODS = {
    "__torch_function__": "(cls, function: Any, types: Any, args: Any = ..., kwargs: Any = ...)"
    " -> Any"
}
STATIC_METHODS = {
    "_make_subclass": "(cls: type[_T], data: Tensor, require_grad: _bool = False) -> _T",
}
_BINARY = (
    "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift "
    "radd rsub rmul rtruediv rfloordiv rmod rpow rmatmul rand ror rxor rlshift rrshift "
    "iadd isub imul itruediv ifloordiv imod ipow imatmul iand ior ixor ilshift irshift lt le gt ge"
).split()
# Number slots and the like.
SLOTS: dict[str, str] = {
    **{f"__{name}__": f"(self, other: {NUMBER}) -> Tensor" for name in _BINARY},
    "__eq__": f"(self, other: {NUMBER}) -> Tensor:  # type: ignore[override]",
    "__ne__": f"(self, other: {NUMBER}) -> Tensor:  # type: ignore[override]",
    "__neg__": "(self) -> Tensor",
    "__pos__": "(self) -> Tensor",
    "__abs__": "(self) -> Tensor",
    "__invert__": "(self) -> Tensor",
    "__bool__": "(self) -> _bool",
    "__int__": "(self) -> _int",
    "__float__": "(self) -> _float",
    "__index__": "(self) -> _int",
    "__hash__": "(self) -> _int",
    "__len__": "(self) -> _int",
    "__iter__": "(self) -> Iterator[Tensor]",
    "__getitem__": "(self, index: Any) -> Tensor",
    "__setitem__": "(self, index: Any, value: Any) -> None",
    "__contains__": "(self, element: Any) -> _bool",
}
# Slots that exist only to raise.
SKIPPED = ("__delitem__", "__repr__", "__str__", "__format__", "__new__", "__dict__")

# Modules of the package that are no part of its API.
INTERNAL_MODULES = frozenset(
    "check codegen copying creation device devices demos doctor formats graph indexing layout "
    "limits ops plan printing promotion stages tensor tensor_methods tolerance tools "
    "transform".split()
)

# Functions of the core that users call under the package's name.
NATIVE_FUNCTIONS = {
    "from_numpy": "(array: Any) -> Tensor",
    "get_num_threads": "() -> _int",
    "set_num_threads": "(count: _int) -> None",
    "is_grad_enabled": "() -> _bool",
    "is_inference_mode_enabled": "() -> _bool",
}
