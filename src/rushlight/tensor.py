"""Fits the operator table onto the native tensor: functions, methods, number slots, subclasses."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from types import ModuleType
from typing import Any

from . import _core, dtypes
from ._core import Tensor
from .device import cpu, meta
from .formats import channels_last, channels_last_3d, contiguous_format
from .graph.trace import Traced, show_warning
from .operators import record_operator
from .ops import subscripts
from .ops.complex import from_imag, from_real, real_copy
from .ops.creation import set_to
from .ops.record import COMPOSITES, FUNCTIONS, METHODS, Record

# Methods that the core answers by layout arithmetic when the argument is a plain tensor.
NATIVE_VIEWS = {
    "view",
    "reshape",
    "permute",
    "transpose",
    "t",
    "swapaxes",
    "expand",
    "unsqueeze",
    "squeeze",
    "narrow",
    "select",
    "unbind",
    "flatten",
    "as_strided",
    "detach",
    "view_as",
    "alias",
    "contiguous",
    "to",
    "movedim",
    "moveaxis",
    "expand_as",
    "diagonal",
    "unfold",
    "swapdims",
    "real",
    "imag",
    "view_as_real",
    "view_as_complex",
}
# Operators that the core calls by name: number slots, and arithmetic on gradients.
CORE_OPERATORS = (
    "add",
    "sub",
    "mul",
    "div",
    "floor_divide",
    "remainder",
    "pow",
    "matmul",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "neg",
    "bitwise_not",
    "abs",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "clone",
    "reshape",
    "permute",
    "sum_to_size",
    "slice_backward",
    "as_strided",
    "gather",
    "scatter",
    "scatter_add",
    "to",
    "zeros",
    "zeros_like",
    "copy_",
    "unbind",
    "ones_like",
    "stack",
)


class OutOfMemoryError(RuntimeError):
    """Memory for a tensor could not be had: the limit or the machine's memory is exhausted."""


class _ParameterMeta(type(Tensor)):  # type: ignore[misc]
    """Counts tensors of other classes that were made parameters as instances of Parameter."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is Parameter and type(instance) is not Tensor and isinstance(instance, Tensor):
            return issubclass(type(instance), Parameter) or getattr(instance, "_is_param", False)
        return super().__instancecheck__(instance)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that a module counts among its parameters when it is assigned as an attribute.

    Args:
        data: the values; shared, not copied. A tensor of a class of its own stays of that class and
            counts as a parameter. None: an empty tensor.
        requires_grad: whether gradients are wanted.

    Raises:
        TypeError: if the data are no tensor.
        RuntimeError: if gradients are wanted of integers.

    Example:
        >>> Parameter(rushlight.zeros(2))
        Parameter containing:
        tensor([0., 0.], requires_grad=True)
    """

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        if data is None:
            data = _core.empty((0,), dtypes.get_default_dtype().code, 0)
        elif not isinstance(data, Tensor):
            raise TypeError(
                f"Parameter(): argument 'data' must be a Tensor or None, not {type(data).__name__}"
            )
        if type(data) is Tensor or type(data) is Parameter:
            return cls._make_subclass(cls, data, requires_grad)
        result: Any = _core.alias_as(type(data), data.detach()).requires_grad_(requires_grad)
        result._is_param = True
        return result

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Results of parameters are plain tensors: this is never called."""
        return NotImplemented

    def __repr__(self) -> str:
        return "Parameter containing:\n" + Tensor.__repr__(self)

    __str__ = __repr__

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self.__dict__:
            return _rebuild_parameter_with_state, (
                self.detach(),
                self.requires_grad,
                OrderedDict(),
                self.__dict__,
            )
        return _rebuild_parameter, (self.detach(), self.requires_grad, OrderedDict())


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Parameter:
    """The parameter that was pickled; hooks of its backward pass are not."""
    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(
    data: Tensor, requires_grad: bool, backward_hooks: Any, state: dict[str, Any]
) -> Parameter:
    """The parameter that was pickled, with its attributes."""
    result = Parameter(data, requires_grad)
    result.__dict__.update(state)
    return result


def install(namespace: ModuleType, resolve: Callable[[str], ModuleType]) -> None:
    """Create the operators of all records and put them where users look for them.

    Args:
        namespace: the package, for functions without a dot in their path.
        resolve: gives the module for a path such as ``nn.functional``.
    """
    _core.set_dtypes(list(dtypes.ALL))
    _core.register("device_cpu", cpu)
    _core.register("device_meta", meta)
    for format in (contiguous_format, channels_last, channels_last_3d):
        _core.register(format.name, format)
    _core.register("OutOfMemoryError", OutOfMemoryError)
    _core.register("show_warning", show_warning)
    _core.set_parameter_type(Parameter)
    done: set[int] = set()
    for record in [*FUNCTIONS.values(), *METHODS.values(), *COMPOSITES.values()]:
        if (
            isinstance(record, Record)
            and record.name not in ("getitem", "setitem")
            and id(record) not in done
        ):
            done.add(id(record))
            install_record(record, namespace, resolve)
    from . import indexing, inplace_views

    setattr(Tensor, "__torch_function__", classmethod(as_subclass_result))  # noqa: B010
    inplace_views.install()
    _core.register("getitem", indexing.getitem)
    _core.register("setitem", indexing.setitem)
    _core.register("index", subscripts.index.operator)
    _core.register("set_to", set_to.operator)
    for name in ("view_as_real_copy", "view_as_complex_copy"):
        _core.register(name, FUNCTIONS[name].operator)
    _core.register("real", real_copy.operator)
    _core.register("from_real", from_real.operator)
    _core.register("from_imag", from_imag.operator)
    for name in CORE_OPERATORS:
        for form in (name, f"{name}_"):
            operator = getattr(Tensor, form, None) or getattr(namespace, form, None)
            if operator is not None:
                _core.register(form, operator)


def install_record(
    record: Record, namespace: ModuleType, resolve: Callable[[str], ModuleType]
) -> None:
    paths = (*record.methods, *record.names)
    native = next((name for name in paths if name in NATIVE_VIEWS), None)
    record.operator = record_operator(record, native=native)
    for path in record.names:
        prefix, _, name = path.rpartition(".")
        setattr(resolve(prefix) if prefix else namespace, name, record.operator)
    for name in record.methods:
        if not (name.startswith("__") and hasattr(Tensor, name)):  # number slots are native
            setattr(Tensor, name, record.operator)
    if record.inplace:
        inplace = record_operator(record, inplace=True)
        for name in record.methods:
            setattr(Tensor, f"{name}_", inplace)
            if name in record.names:
                setattr(namespace, f"{name}_", inplace)


def plain_arguments(operator: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Call an operator that was given foreign arguments; NotImplemented if there is no other way
    than tracing.

    Types with ``__torch_function__``, as all subclasses of tensors but parameters, decide
    themselves; NumPy scalars become numbers.
    """
    result = overridden(operator, operator.name, args, kwargs)
    if result is not NotImplemented:
        return result
    changed, new_args = as_plain(args)
    changed_too, new_kwargs = as_plain(kwargs)
    return operator(*new_args, **new_kwargs) if changed or changed_too else NotImplemented


def overridden(function: Any, name: str, args: tuple, kwargs: dict[str, Any]) -> Any:
    """What the arguments' types make of a call of the function; NotImplemented if none decides."""
    types: list[Any] = []
    find_overloaded((args, tuple(kwargs.values())), types)
    for kind in types:
        result = kind.__torch_function__(function, tuple(types), args, kwargs)
        if result is not NotImplemented:
            return result
    if types:
        names = ", ".join(each.__name__ for each in types)
        raise TypeError(
            f"no implementation found for '{name}': every __torch_function__ of its arguments' "
            f"types ({names}) returned NotImplemented"
        )
    return NotImplemented


def find_overloaded(argument: Any, types: list[Any]) -> None:
    """Add the types that decide about calls, subclasses before the classes they extend."""
    if isinstance(argument, tuple | list):
        for each in argument:
            find_overloaded(each, types)
        return
    kind = type(argument)
    rule = getattr(kind, "__torch_function__", None)
    plain = kind is Tensor or getattr(rule, "__func__", None) is _OF_PARAMETERS
    if rule is None or plain or kind in types:
        return
    places = (place for place, each in enumerate(types) if issubclass(kind, each))
    types.insert(next(places, len(types)), kind)


_OF_PARAMETERS = getattr(Parameter.__torch_function__, "__func__")  # noqa: B009


def as_subclass_result(
    cls: type, function: Any, types: Any, args: tuple = (), kwargs: Any = None
) -> Any:
    """The function of plain tensors, with new tensors as instances of the class. (What
    ``__torch_function__`` does by default; subclasses that override it call it by ``super()``.)
    """
    if not all(issubclass(cls, each) for each in types):
        return NotImplemented
    kwargs = kwargs or {}
    _, new_args = as_plain(args)
    _, new_kwargs = as_plain(kwargs)
    given = zip((*args, *kwargs.values()), (*new_args, *new_kwargs.values()), strict=True)
    return _as_instances(function(*new_args, **new_kwargs), cls, list(given))


def _as_instances(result: Any, cls: type, given: list[tuple[Any, Any]]) -> Any:
    if isinstance(result, tuple | list):
        parts = [_as_instances(each, cls, given) for each in result]
        return result._make(parts) if hasattr(result, "_make") else type(result)(parts)
    if type(result) is not Tensor:
        return result
    same = (original for original, plain in given if plain is result)  # what was written
    found = next(same, None)
    return _core.alias_as(cls, result) if found is None else found


def as_plain(argument: Any) -> tuple[bool, Any]:
    """The argument with subclasses as plain tensors and NumPy scalars as numbers; whether anything
    changed.
    """
    if isinstance(argument, dict):
        parts = {key: as_plain(each) for key, each in argument.items()}
        return any(changed for changed, _ in parts.values()), {
            key: each for key, (_, each) in parts.items()
        }
    if isinstance(argument, tuple | list):
        parts_list = [as_plain(each) for each in argument]
        return any(changed for changed, _ in parts_list), type(argument)(
            each for _, each in parts_list
        )
    if isinstance(argument, Traced):  # before tensors: a traced value passes for one
        return False, argument
    if isinstance(argument, Tensor) and type(argument) not in (Tensor, Parameter):
        return True, _core.alias_as(Tensor, argument)
    if (
        type(argument).__module__ == "numpy"
        and hasattr(argument, "item")
        and not getattr(argument, "shape", (1,))
    ):
        return True, argument.item()
    return False, argument
