"""What stands for tensors and numbers while a program is traced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..dtypes import dtype as DType
from .context import Context, captures, lifted
from .symbols import SymbolicInt

# The methods and number slots of tensors; filled by ops/record.py.
METHODS: dict[str, Callable[..., Any]] = {}

Number = (bool, int, float, complex, SymbolicInt)

_GUARD_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
_GUARD_NEGATED = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}


class Traced:
    """A tensor while a graph is traced. ``value`` is what the context makes of it: in a graph, the
    ``Value``.
    """

    __slots__ = ("context", "value")
    if TYPE_CHECKING:  # set by _install_slots
        __add__: Any
        __radd__: Any
        __sub__: Any
        __rsub__: Any
        __mul__: Any
        __matmul__: Any
        __rmul__: Any
        __truediv__: Any
        __rtruediv__: Any
        __mod__: Any
        __pow__: Any
        __and__: Any
        __or__: Any
        __lt__: Any
        __le__: Any
        __gt__: Any
        __ge__: Any
        __neg__: Any
        __abs__: Any
        __invert__: Any
        __getitem__: Any
    __array_priority__ = 1000  # NumPy arrays leave mixed operations to us

    def __init__(self, context: Context, value: Any) -> None:
        self.context = context
        self.value = value

    @property
    def __class__(self) -> Any:
        """What ``isinstance`` sees besides the type: a tensor, for a function being transformed."""
        taking = captures()
        return type(self) if taking is None else taking.tensor_type

    @__class__.setter
    def __class__(self, new: Any) -> None:
        raise TypeError("the class of a traced tensor cannot be changed")

    @property
    def dtype(self) -> DType:
        return self.value.dtype

    @property
    def shape(self) -> tuple[Any, ...]:
        taking = captures()
        return self.value.shape if taking is None else taking.size_type(self.value.shape)

    @property
    def weak(self) -> bool:
        return self.value.weak

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def dim(self) -> int:
        return len(self.shape)

    def size(self, dim: int | None = None) -> Any:
        if dim is None:
            return self.shape
        from ..layout import normalize_dim

        return self.shape[normalize_dim(dim, self.ndim)]

    def numel(self) -> Any:
        result: Any = 1
        for size in self.shape:
            result = result * size
        return result

    nelement = numel

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        return self.dtype.is_complex

    def element_size(self) -> int:
        return self.dtype.itemsize

    @property
    def T(self) -> Any:
        return METHODS["permute"](self, tuple(reversed(range(self.ndim))))

    @property
    def mT(self) -> Any:
        return METHODS["transpose"](self, -2, -1)

    def __getattr__(self, name: str) -> Any:
        method, taking = METHODS.get(name), captures()
        if taking is not None and (method is None or bool(getattr(method, "mutates", False))):
            return taking.attribute(self, name)
        if method is None or name.startswith("__"):
            raise AttributeError(
                f"'Tensor' object has no attribute '{name}' while an operator is traced"
            )
        if taking is None:
            return lambda *args, **kwargs: method(self, *args, **kwargs)
        return lambda *args, **kwargs: method(self, *lifted(args), **lifted(kwargs))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.dtype.name}{list(self.shape)})"

    def __len__(self) -> Any:
        if not self.shape:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("iteration over a 0-d tensor")
        return iter([self[position] for position in range(self.shape[0])])

    def __bool__(self) -> bool:
        return bool(self.context.concrete(self, "bool"))

    def __int__(self) -> int:
        return int(self.context.concrete(self, "int"))

    def __float__(self) -> float:
        return float(self.context.concrete(self, "float"))

    def __complex__(self) -> complex:
        return complex(self.context.concrete(self, "complex"))

    def __index__(self) -> int:
        return self.context.concrete(self, "int").__index__()

    def item(self) -> Any:
        return self.context.concrete(self, "item").item()

    def tolist(self) -> Any:
        return self.context.concrete(self, "tolist").tolist()

    if TYPE_CHECKING:  # elementwise, as all number slots, which are installed below

        def __eq__(self, other: object) -> Any: ...

        def __ne__(self, other: object) -> Any: ...

    def __hash__(self) -> int:
        return id(self)


class TracedNumber(Traced):
    """A run-time number.

    Comparing one with a number answers by its value in this call and records a guard.
    """

    __slots__ = ()

    def _compare(self, operation: str, other: Any) -> Any:
        if not isinstance(other, bool | int | float | complex):
            return METHODS[operation](self, other)
        hints = getattr(self.context, "hints", {})
        if self.value not in hints:
            if self.value.node is not None and self.value.node.name == "constant":
                return _GUARD_COMPARE[operation](self.value.node.attributes["value"], other)
            raise TypeError(
                "only a number that was passed as an argument can be compared while an operator "
                "is traced, not one computed "
                "from it; compare before computing"
            )
        hint = hints[self.value]
        answer = _GUARD_COMPARE[operation](hint, other)
        holds = operation if answer else _GUARD_NEGATED[operation]
        guard = ("isnan", self.value, 0) if hint != hint else (holds, self.value, other)
        if guard not in self.context.graph.scalar_guards:  # type: ignore[attr-defined]
            self.context.graph.scalar_guards.append(guard)  # type: ignore[attr-defined]
        return answer

    def __bool__(self) -> bool:
        return self._compare("ne", 0)

    def __str__(self) -> str:
        """The number in this call, for messages; they are of no plan, so no guard is recorded."""
        hints = getattr(self.context, "hints", {})
        return str(hints[self.value]) if self.value in hints else repr(self)

    __hash__ = Traced.__hash__


def _install_slots() -> None:
    """The number slots: each calls the method's operator."""
    binary = {
        "add": "add",
        "sub": "sub",
        "mul": "mul",
        "truediv": "div",
        "floordiv": "floor_divide",
        "mod": "remainder",
        "pow": "pow",
        "and": "bitwise_and",
        "or": "bitwise_or",
        "xor": "bitwise_xor",
        "matmul": "matmul",
        "lshift": "bitwise_left_shift",
        "rshift": "bitwise_right_shift",
    }
    for slot, method in binary.items():
        setattr(Traced, f"__{slot}__", _binary_slot(method))
        setattr(Traced, f"__r{slot}__", _reflected_slot(method))
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(Traced, f"__{name}__", _binary_slot(name))
        setattr(TracedNumber, f"__{name}__", _number_comparison(name))
    for slot, method in {
        "neg": "neg",
        "abs": "abs",
        "invert": "bitwise_not",
        "pos": "positive",
    }.items():
        setattr(Traced, f"__{slot}__", _unary_slot(method))
    Traced.__getitem__ = lambda self, index: METHODS["getitem"](self, lifted(index))
    TracedNumber.__hash__ = Traced.__hash__  # type: ignore[assignment]


def _binary_slot(name: str) -> Callable[..., Any]:
    def slot(self: Traced, other: Any) -> Any:
        if not isinstance(other, (Traced, *Number)):
            other = lifted(other)
            if not isinstance(other, Traced):
                return NotImplemented
        return METHODS[name](self, other)

    return slot


def _reflected_slot(name: str) -> Callable[..., Any]:
    def slot(self: Traced, other: Any) -> Any:
        if not isinstance(other, (Traced, *Number)):
            other = lifted(other)
            if not isinstance(other, Traced):
                return NotImplemented
        return METHODS[name](other, self)

    return slot


def _unary_slot(name: str) -> Callable[..., Any]:
    return lambda self: METHODS[name](self)


def _number_comparison(name: str) -> Callable[..., Any]:
    return lambda self, other: self._compare(name, other)


_install_slots()


def contains_traced(argument: Any) -> bool:
    """Whether an argument is, or is a list with, a traced value."""
    if isinstance(argument, list | tuple):
        return any(map(contains_traced, argument))
    return isinstance(argument, Traced)
