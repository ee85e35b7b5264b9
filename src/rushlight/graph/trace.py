"""The tracer: Python code over ``Traced`` values appends nodes to a graph.

Operators are applied through a *context*. A ``GraphContext`` appends a node; a transform (batching,
forward mode) is a context of its own whose values are ``Traced`` too: it works a primitive out with
others, applied in the context below it.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .. import dtypes
from ..dtypes import dtype as DType
from .node import Graph, Node, Region, Value
from .rewrite import node_key, remove_dead, simplify
from .symbols import ShapeEnvironment, SymbolicInt, same_shape

if TYPE_CHECKING:
    from ..ops.record import Composite, Primitive

# Filled by ops/record.py: the primitives by name, and the methods and number slots of tensors.
PRIMITIVES: dict[str, Primitive] = {}
METHODS: dict[str, Callable[..., Any]] = {}

Number = (bool, int, float, complex, SymbolicInt)

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_NUMBER_DTYPES = {"b": dtypes.bool, "i": dtypes.int64, "f": dtypes.float64, "c": dtypes.complex128}
_GUARD_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
_GUARD_NEGATED = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}


# ---------------------------------------------------------------- contexts


class _Active(threading.local):
    stack: list[Context]
    captures: Captures | None

    def __init__(self) -> None:
        self.stack = []
        self.captures = None


_active = _Active()


def current_context() -> Context | None:
    """The innermost context that is tracing in this thread."""
    return _active.stack[-1] if _active.stack else None


class Captures:
    """What turns tensors into traced values while a function transform traces in this thread."""

    tensor_type: type  # what traced values pass for
    size_type: type  # of their shapes

    def lift(self, argument: Any) -> Any:
        """The argument, a list or a tuple, with tensors as traced values; others as they are."""
        raise NotImplementedError

    def attribute(self, x: Traced, name: str) -> Any:
        """An attribute of a traced value that no operator is; AttributeError if there is none."""
        raise NotImplementedError


def captures() -> Captures | None:
    """What takes tensors into the trace of this thread; None if a function is not being traced."""
    return _active.captures


def set_captures(new: Captures | None) -> Captures | None:
    """Choose what takes tensors into this thread's trace; returns what did before."""
    previous, _active.captures = _active.captures, new
    return previous


def lifted(argument: Any) -> Any:
    """The argument with the tensors in it as traced values, if a function is being traced."""
    return argument if _active.captures is None else _active.captures.lift(argument)


class Context:
    """Where primitives are applied. ``level``: of the inputs' contexts, the one with the highest
    level decides.
    """

    level = 0

    @contextmanager
    def active(self) -> Iterator[Context]:
        """Trace in this context: operators that have no traced input are applied here."""
        _active.stack.append(self)
        try:
            yield self
        finally:
            _active.stack.pop()

    def apply(
        self, primitive: Primitive, inputs: Sequence[Traced], attributes: dict[str, Any]
    ) -> tuple[Traced, ...]:
        """Apply a primitive to inputs of this context or of lower ones."""
        raise NotImplementedError

    def number(self, value: Any) -> Traced:
        """A Python number or symbolic int as a weak 0-d value."""
        raise NotImplementedError

    def enter(self, composite: Composite, arguments: dict[str, Any]) -> Any:
        """A composite that carries a derivative of its own is about to run; the result goes to
        ``leave``.
        """

    def leave(self, token: Any, result: Any) -> None:
        """The composite is done."""

    def concrete(self, x: Traced, what: str) -> Any:
        """A tensor that holds what a value of this context is in the call being traced.

        Raises:
            TypeError: if only running the program tells. what: the method that asks.
        """
        raise TypeError(
            f"{what}() of a traced {'number' if x.weak else 'tensor'}: its value is known only "
            "when the program runs; use operators (where, maximum, ...) instead"
        )


def apply(
    primitive: Primitive, inputs: Sequence[Traced], attributes: dict[str, Any]
) -> tuple[Traced, ...]:
    """Apply a primitive in the highest context among its inputs, else in the current one."""
    context = (
        max((x.context for x in inputs), key=lambda each: each.level, default=None)
        or current_context()
    )
    if context is None:
        raise RuntimeError(f"{primitive.name}: no graph is being traced")
    return context.apply(primitive, inputs, attributes)


class GraphContext(Context):
    """Appends nodes to a graph."""

    def __init__(self, environment: ShapeEnvironment | None = None) -> None:
        self.environment = environment or ShapeEnvironment()
        self.environment.lift = self.number
        self.graph = Graph(self.environment)
        self.hints: dict[Value, Any] = {}  # run-time numbers: their values in the call being traced
        self._known: dict[Any, Node] = {}

    # ---- inputs

    def input(
        self, dtype: DType, shape: Sequence[Any], name: str = "", weak: bool = False
    ) -> Traced:
        """A tensor that the graph takes, or a number (weak) of which only the type is known."""
        return self.wrap(self._new_input(Value(dtype, tuple(shape), weak=weak, name=name)))

    def number_input(self, value: Any, name: str = "") -> Traced:
        """A run-time number that the graph takes; ``value`` is what it is in this call."""
        result = self._new_input(Value(number_type(value), (), weak=True, name=name))
        self.hints[result] = value
        return TracedNumber(self, result)

    def _new_input(self, value: Value) -> Value:
        value.index = len(self.graph.inputs)
        self.graph.inputs.append(value)
        return value

    # ---- nodes

    def number(self, value: Any) -> Traced:
        return apply_one(
            self,
            PRIMITIVES["constant"],
            (),
            {"value": value, "dtype": number_type(value), "weak": True},
        )

    def apply(
        self, primitive: Primitive, inputs: Sequence[Traced], attributes: dict[str, Any]
    ) -> tuple[Traced, ...]:
        for x in inputs:
            if x.context is not self:
                raise RuntimeError(
                    f"{primitive.name}: a tensor of another trace is used here; pass it as an "
                    "argument instead"
                )
        return tuple(
            map(self.wrap, self.append(primitive, tuple(x.value for x in inputs), attributes))
        )

    def wrap(self, value: Value) -> Traced:
        return (TracedNumber if value.weak else Traced)(self, value)

    def append(
        self, primitive: Primitive, inputs: tuple[Value, ...], attributes: dict[str, Any]
    ) -> tuple[Value, ...]:
        """The outputs of a primitive: of an equal earlier node, or of a new one."""
        while (simpler := simplify(primitive, inputs, attributes)) is not None:
            if isinstance(simpler, Value):
                return (simpler,)
            primitive, inputs, attributes = PRIMITIVES[simpler[0]], simpler[1], simpler[2]
        key = None if primitive.impure else node_key(primitive, inputs, attributes)
        if key is not None and key in self._known:
            return self._known[key].outputs
        node = Node(primitive, inputs, attributes, source=user_source())
        node.outputs = tuple(
            Value(dtype, tuple(shape), node, index, weak)
            for index, (dtype, shape, weak) in enumerate(
                primitive.infer(inputs, attributes, self.environment)
            )
        )
        self.graph.nodes.append(node)
        if key is not None:
            self._known[key] = node
        return node.outputs

    # ---- composites with derivatives of their own

    def enter(self, composite: Composite, arguments: dict[str, Any]) -> Any:
        return Region(composite, unwrap(arguments), ())

    def leave(self, token: Region, result: Any) -> None:
        results = result if isinstance(result, tuple | list) else (result,)
        token.outputs = tuple(each.value for each in results if isinstance(each, Traced))
        self.graph.regions.append(token)

    # ---- the end

    def finish(self, outputs: Sequence[Traced | Value | None]) -> Graph:
        """Set the outputs and drop the nodes that nothing needs.

        Numbers become tensors of their default dtype.
        """
        self.graph.outputs = [self._output(each) for each in outputs]
        remove_dead(self.graph)
        return self.graph

    def _output(self, output: Any) -> Value | None:
        if output is None:
            return None
        if isinstance(output, Number):
            output = self.number(output)
        value = output.value if isinstance(output, Traced) else output
        if value.weak:
            target = _NUMBER_DTYPES_AS_TENSOR(value.dtype)
            (value,) = self.append(PRIMITIVES["convert"], (value,), {"dtype": target})
        return value


def _NUMBER_DTYPES_AS_TENSOR(dtype: DType) -> DType:
    if dtype.is_floating_point:
        return dtypes.get_default_dtype()
    return dtypes.get_default_dtype().to_complex() if dtype.is_complex else dtype


def apply_one(
    context: Context, primitive: Primitive, inputs: Sequence[Traced], attributes: dict[str, Any]
) -> Traced:
    (result,) = context.apply(primitive, inputs, attributes)
    return result


def number_type(value: Any) -> DType:
    """The dtype of a weak value for a Python number: bool, int64, float64 or complex128."""
    if isinstance(value, bool):
        return dtypes.bool
    if isinstance(value, int | SymbolicInt):
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise RuntimeError(
                f"value cannot be converted to type int64_t without overflow: {value}"
            )
        return dtypes.int64
    return dtypes.complex128 if isinstance(value, complex) else dtypes.float64


def unwrap(argument: Any) -> Any:
    """Arguments with values in the place of traced tensors."""
    if isinstance(argument, Traced):
        return argument.value
    if isinstance(argument, dict):
        return {name: unwrap(each) for name, each in argument.items()}
    if isinstance(argument, list | tuple):
        return type(argument)(map(unwrap, argument))
    return argument


def contains_traced(argument: Any) -> bool:
    """Whether an argument is, or is a list with, a traced value."""
    if isinstance(argument, list | tuple):
        return any(map(contains_traced, argument))
    return isinstance(argument, Traced)


def user_source() -> tuple[str, int] | None:
    """File and line of the innermost frame outside this package."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def warn_user(message: str) -> None:
    """A UserWarning at the line that called the operator that runs; of one that is being traced at
    each call of the plan that comes out.
    """
    for context in reversed(_active.stack):
        if isinstance(context, GraphContext):
            context.graph.warnings.append(message)
            return
    show_warning(message)


def show_warning(message: str) -> None:
    """A UserWarning at the innermost line outside this package."""
    filename, line = user_source() or ("<unknown>", 1)
    warnings.warn_explicit(message, UserWarning, filename, line)


# ---------------------------------------------------------------- values


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
        return type(self) if _active.captures is None else _active.captures.tensor_type

    @__class__.setter
    def __class__(self, new: Any) -> None:
        raise TypeError("the class of a traced tensor cannot be changed")

    @property
    def dtype(self) -> DType:
        return self.value.dtype

    @property
    def shape(self) -> tuple[Any, ...]:
        captures = _active.captures
        return self.value.shape if captures is None else captures.size_type(self.value.shape)

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
        method = METHODS.get(name)
        if _active.captures is not None and (
            method is None or bool(getattr(method, "mutates", False))
        ):
            return _active.captures.attribute(self, name)
        if method is None or name.startswith("__"):
            raise AttributeError(
                f"'Tensor' object has no attribute '{name}' while an operator is traced"
            )
        if _active.captures is None:
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

__all__ = [
    "METHODS",
    "PRIMITIVES",
    "Captures",
    "Context",
    "GraphContext",
    "Number",
    "Traced",
    "TracedNumber",
    "apply",
    "captures",
    "contains_traced",
    "current_context",
    "lifted",
    "number_type",
    "same_shape",
    "set_captures",
    "user_source",
]
