"""Refuses arguments of wrong kinds before an operator's body sees them.

What a parameter takes is read from its annotation. This runs when a call is planned, not when a
plan is replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import TYPE_CHECKING, Any

from ..dtypes import dtype as DType
from ..formats import memory_format
from ..graph.symbols import SymbolicInt
from ..graph.trace import Number, Traced

if TYPE_CHECKING:
    from .parameters import Parameter
    from .record import Record


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


def _is_tensors(argument: Any) -> bool:
    if isinstance(argument, list | tuple):
        return all(map(is_tensor, argument))
    return is_tensor(argument)


def _is_int(argument: Any) -> bool:
    if hasattr(argument, "dtype") and not is_tensor(argument):  # a NumPy array
        return False
    return isinstance(argument, int | SymbolicInt | Traced) or hasattr(argument, "__index__")


def _is_ints(argument: Any) -> bool:
    """An int or ints in a list, themselves perhaps in a list where the parameter is variadic."""
    if isinstance(argument, list | tuple):
        return all(map(_is_ints, argument))
    return _is_int(argument)


def _is_bound(argument: Any) -> bool:
    return isinstance(argument, SymbolicInt | Traced) or hasattr(type(argument), "__float__")


# By an annotation's first word: what it takes, and how messages call that.
_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "": (_is_operand, "Tensor or a number"),
    "Tensor": (is_tensor, "Tensor"),
    "Operand": (_is_operand, "Tensor or a number"),
    "Mutated": (is_tensor, "Tensor"),
    "Tensors": (_is_operands, "tuple of Tensors"),
    "Operands": (_is_operands, "Tensor or tuple of numbers"),
    "MutatedTensors": (_is_operands, "tuple of Tensors"),
    "float": (_is_operand, "float"),
    "int": (_is_int, "int"),
    "Dim": (_is_ints, "int or tuple of ints"),
    "Size": (_is_ints, "tuple of ints"),
    "Bound": (_is_bound, "Number"),
    "bool": (lambda argument: isinstance(argument, bool | Traced), "bool"),
    "str": (lambda argument: isinstance(argument, str), "str"),
    "Generator": (lambda argument: hasattr(argument, "initial_seed"), "torch.Generator"),
    "MemoryFormat": (
        lambda argument: isinstance(argument, memory_format),
        "torch.memory_format",
    ),
    "DType": (lambda argument: isinstance(argument, DType), "torch.dtype"),
}


def check_arguments(record: Record, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """TypeError, worded as PyTorch's, for the first argument of a wrong kind."""
    given: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
    for place, argument in given:
        parameter = record.parameter_at(place)
        if parameter is not None:
            _check(record, parameter, argument)
        elif place == "out" and record.out:
            if argument is not None and not _is_tensors(argument):
                raise _wrong_kind(record, "out", "Tensor", argument)
        elif isinstance(place, str):
            raise TypeError(f"{record.name}() got an unexpected keyword argument '{place}'")


def check_tensors(record: Record, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """TypeError if a user's call has numbers where PyTorch wants tensors."""
    operands = 0
    given: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
    for place, argument in given:
        if record.mode(place) not in ("T", "T!") or place == "out":
            continue
        is_number = isinstance(argument, Number)
        operands += not is_number and argument is not None
        parameter = record.parameter_at(place)
        if is_number and parameter is not None and parameter.tensor:
            raise _wrong_kind(record, parameter.name, "Tensor", argument)
        if parameter is not None and parameter.kind == "Tensors":
            _check_elements(record, parameter, argument, place)
    if given and not operands and record.needs_tensor:
        raise _wrong_kind(record, record.parameters[0].name, "Tensor", given[0][1])


def _check_elements(record: Record, parameter: Parameter, argument: Any, place: int | str) -> None:
    """TypeError if a list of tensors, or one of many arguments, is a number."""
    elements = argument if isinstance(argument, list | tuple) else [argument]
    first = place - (record.variadic or 0) if parameter.variadic and isinstance(place, int) else 0
    for i, each in enumerate(elements, first):
        if isinstance(each, (*Number, list, tuple)):
            raise TypeError(
                f"{record.name}(): expected Tensor as element {i} of argument "
                f"'{parameter.name}', but got {type(each).__name__}"
            )


def with_numbers(
    record: Record, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """The arguments with numbers for the tensors of one number where numbers are wanted; None if
    there are no such tensors.
    """
    found = False

    def as_number(argument: Any, kind: str) -> Any:
        nonlocal found
        if isinstance(argument, list | tuple):
            return type(argument)([as_number(each, kind) for each in argument])
        if isinstance(argument, Traced) or not is_tensor(argument):
            return argument
        if kind == "Bound" and (argument.ndim or argument.requires_grad):
            return argument
        found = True
        return argument.item() if kind == "Bound" else index(argument)

    def replace(place: int | str, argument: Any) -> Any:
        parameter = record.parameter_at(place)
        if parameter is None or parameter.kind not in ("int", "Dim", "Size", "Bound"):
            return argument
        return as_number(argument, parameter.kind)

    new_args = tuple(replace(place, argument) for place, argument in enumerate(args))
    new_kwargs = {name: replace(name, argument) for name, argument in kwargs.items()}
    return (new_args, new_kwargs) if found else None


def check_range(name: str, argument: Any) -> None:
    """RuntimeError for an int, however deep in lists, that no tensor and no size can hold."""
    if isinstance(argument, list | tuple):
        for each in argument:
            check_range(name, each)
    elif isinstance(argument, int) and not -(2**63) <= argument < 2**63:
        raise RuntimeError(f"{name}(): {argument} cannot be converted to int64 without overflow")


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
