"""Refuses arguments of wrong kinds before an operator's body sees them.

What a parameter takes is read from its annotation. This runs when a call is planned, not when a plan is replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..dtypes import dtype as DType
from ..graph.symbols import SymbolicInt
from ..graph.trace import Number, Traced

if TYPE_CHECKING:
    from .record import Parameter, Record


def is_tensor(argument: Any) -> bool:
    """A tensor or what stands for one while tracing."""
    return isinstance(argument, Traced) or hasattr(type(argument), "requires_grad")


def _is_operand(argument: Any) -> bool:
    return isinstance(argument, Number) or is_tensor(argument)


def _is_operands(argument: Any) -> bool:
    """Operands in lists of any depth, as indices are given."""
    if isinstance(argument, list | tuple):
        return all(each is None or _is_operands(each) for each in argument)
    return _is_operand(argument)


def _is_int(argument: Any) -> bool:
    return isinstance(argument, int | SymbolicInt | Traced) or hasattr(argument, "__index__")


def _is_ints(argument: Any) -> bool:
    """An int or ints in a list, themselves perhaps in a list where the parameter is variadic."""
    if isinstance(argument, list | tuple):
        return all(map(_is_ints, argument))
    return _is_int(argument)


# By an annotation's first word: what it takes, and how messages call that.
_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "": (_is_operand, "Tensor or a number"),
    "Tensor": (is_tensor, "Tensor"),
    "Operand": (_is_operand, "Tensor or a number"),
    "Mutated": (is_tensor, "Tensor"),
    "Tensors": (_is_operands, "tuple of Tensors"),
    "MutatedTensors": (_is_operands, "tuple of Tensors"),
    "float": (_is_operand, "float"),
    "int": (_is_int, "int"),
    "Dim": (_is_ints, "int or tuple of ints"),
    "Size": (_is_ints, "tuple of ints"),
    "bool": (lambda argument: isinstance(argument, bool | Traced), "bool"),
    "str": (lambda argument: isinstance(argument, str), "str"),
    "DType": (lambda argument: isinstance(argument, DType), "torch.dtype"),
}


def check_arguments(record: Record, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """TypeError, worded as PyTorch's, for the first argument of a wrong kind."""
    for position, argument in enumerate(args):
        if position < len(record.parameters):
            _check(record, record.parameters[position], argument)
    for name, argument in kwargs.items():
        parameter = record.parameter_at(name)
        if parameter is not None:
            _check(record, parameter, argument)
        elif name == "out" and not _is_operands(argument):
            raise _wrong_kind(record, "out", "Tensor", argument)


def _check(record: Record, parameter: Parameter, argument: Any) -> None:
    if parameter.kind not in _KINDS or (argument is None and parameter.optional):
        return
    fits, wanted = _KINDS[parameter.kind]
    if not fits(argument):
        raise _wrong_kind(record, parameter.name, wanted, argument)


def _wrong_kind(record: Record, name: str, wanted: str, argument: Any) -> TypeError:
    return TypeError(
        f"{record.name}(): argument '{name}' must be {wanted}, not {type(argument).__name__}"
    )
