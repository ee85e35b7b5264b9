"""Operator records: the one place where an operator is defined.

A *primitive* is what a graph's nodes apply: its inputs have been converted and broadcast, its dims
are non-negative. A *composite* is plain Python over operators. Both are ``Record``; one with
``names`` is an operator that users call.

What transforms read from a primitive (all values below are ``Traced``; write the rules with
ordinary operators):

- ``infer(inputs, attributes, environment)``: ``(dtype, shape, weak)`` of each output.
- ``vjp(inputs, outputs, gradients, attributes)``: the gradient of each input; None where there is
  none. ``gradients`` has one entry per output, None where it is undefined. Complex gradients are
  conjugate as in PyTorch.
- ``jvp(inputs, outputs, tangents, attributes)``: the tangent of each output; tangents may be None
  (zero).
- ``batch(inputs, batched, size, attributes)``: the outputs for inputs that have one more dim, in
  front, where ``batched`` says so; all outputs have that dim in front.
- ``evaluate(arrays, attributes)``: NumPy arrays in and out; see ``devices/reference.py``.

Each follows from the kind (``ops/kinds.py``) and the record's own rules:

- ``derivative`` (elementwise): ``f(out, *inputs)`` gives one partial derivative per input, a tuple
  if there are several. A bool partial is a mask: the gradient passes where it is true. A
  ``kinds.Where`` is a mask and the partial under it. None: no gradient.
- ``transpose`` (linear kinds): ``f(g, *inputs, **attributes)`` gives the gradient of the input; a
  tuple of such functions if several inputs have one (None for an input such as an index).
- ``vjp``, ``jvp``, ``batch``: rules that replace the derived ones, with the signatures above.
- ``NONE`` as derivative: the outputs never have gradients. ``unsupported("why")``: an error when it
  is needed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ..graph.trace import (
    METHODS,
    PRIMITIVES,
    Number,
    Traced,
    apply,
    contains_traced,
    current_context,
)
from .parameters import ARGUMENT_ALIASES, Parameter, map_nested, parse, with_options

if TYPE_CHECKING:
    from .kind import Kind

# All operators by the path under which users find them ("exp", "special.exp"); all records by name.
FUNCTIONS: dict[str, Record] = {}
COMPOSITES: dict[str, Composite] = {}

# Annotations that tell the modes of parameters; one without annotation takes tensors and numbers.
# If the first parameter has none, a call needs a tensor among its operands.
Tensor: TypeAlias = Any
Operand: TypeAlias = Any
Mutated: TypeAlias = Any
Tensors: TypeAlias = Any
Operands: TypeAlias = Any  # a tensor, or a list of numbers
MutatedTensors: TypeAlias = Any
Selector: TypeAlias = Any
Generator: TypeAlias = Any
MemoryFormat: TypeAlias = Any
Dim: TypeAlias = Any
Size: TypeAlias = Any
Bound: TypeAlias = Any  # a size, or a number of another type by which the plan is specialised


class _Operators:
    """The operators by name, so that a file can use those of any other file: ``op.where(...)``."""

    def __getattr__(self, name: str) -> Record:
        try:
            return FUNCTIONS[name]
        except KeyError:
            raise AttributeError(f"there is no operator {name!r}") from None


op = _Operators()


class Unsupported:
    """A rule that does not exist, and why."""

    def __init__(self, why: str) -> None:
        self.why = why

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(self.why)


def unsupported(why: str) -> Unsupported:
    """State that a rule is missing on purpose."""
    return Unsupported(why)


class _NoDerivative:
    """The outputs never have gradients."""

    def __repr__(self) -> str:
        return "NONE"


NONE = _NoDerivative()


class RecordError(Exception):
    """A record lacks a rule."""


@dataclass(frozen=True)
class Update:
    """What a body returns that gives a result and also writes arguments.

    contents: the new content of each ``Mutated`` argument that is not None, in their order; the
    argument itself if it stays as it is.
    """

    result: Any
    contents: tuple[Any, ...]


class Record:
    """What is common to primitives and composites.

    names: the paths of the functions; methods: the names of the Tensor methods; inplace: whether a
    form that writes its first argument exists (``exp_``); out: whether ``out=`` is accepted
    (``"apart"``: sharing no memory with an argument; ``"same dtype"``: of no other dtype than the
    result; ``"exact"``: both; ``"any dtype"``; ``"parts"`` and ``"parts, same dtype"``: a list of
    tensors, and the call then returns None; a function of the arguments gives one of these), and
    the in-place form likewise; views: the parameter the result may be a view of; itself: whether
    the result may be the very argument;
    moves: whether the result may be on another device; random: whether it draws random numbers;
    fills: whether each element of the written tensor gets one number, so that elements may share
    memory; expanded: ``f(*arguments)`` is the in-place form on a tensor whose elements share memory
    (``ops/expanded_writes.py``); channels_as: the arguments of which one with channels last in
    memory makes results lie so; laid_out_as: those whose order of dims in memory results take over,
    as elementwise ones do; factory: whether it makes a new tensor, for which it takes ``layout=``,
    ``device=``, ``pin_memory=`` and ``requires_grad=``: the runtime sees to those that the body
    does not name; overload: ``f(*arguments)`` runs calls that have a tensor in the place of a
    selector or size (``max(x, y)``); samples: ``f(dtype, generator)`` gives test calls
    (``ops/samples.py``); operator: the native operator, set when the runtime loads.

    A parameter ``inplace`` asks a call to write its first argument.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        names: Sequence[str] = (),
        methods: Sequence[str] | None = None,
        inplace: bool = False,
        out: bool | str | Callable[..., bool | str] = False,
        views: str | None = None,
        itself: bool = False,
        moves: bool = False,
        random: bool = False,
        fills: bool = False,
        expanded: Callable[..., Any] | None = None,
        channels_as: Sequence[str] = (),
        laid_out_as: Sequence[str] = (),
        factory: bool = False,
        overload: Callable[..., Any] | None = None,
        reference: Callable[..., Any] | None = None,
        samples: Callable[..., Any] | None = None,
        tolerance: Any = None,
        onnx: Any = None,
    ) -> None:
        self.function = function
        self.name = name or (
            names[0].rpartition(".")[2] if names else function.__name__.rstrip("_")
        )
        self.names = tuple(names)
        self.signature = inspect.signature(function)
        self.factory = factory
        self.options: tuple[str, ...] = ()
        if factory:
            self.options, self.signature = with_options(self.signature)
        self.parameters = tuple(map(parse, self.signature.parameters.values()))
        first = self.parameters[0] if self.parameters else None
        self.variadic = next((i for i, p in enumerate(self.parameters) if p.variadic), None)
        annotations = [p.annotation for p in self.signature.parameters.values()]
        self.needs_tensor = (
            first is not None
            and first.mode == "T"
            and not first.variadic
            and annotations[0] is inspect.Parameter.empty
        )
        if methods is None:
            is_method = first is not None and first.mode in ("T", "T!") and not first.variadic
            methods = [path for path in names if "." not in path] if is_method else []
        self.methods = tuple(methods)
        self.inplace = inplace
        self.out = out
        self.views = views
        self.itself = itself
        self.moves = moves
        self.random = random
        self.fills = fills
        self.expanded = expanded
        self.channels_as = tuple(channels_as)
        self.laid_out_as = tuple(laid_out_as)
        self.overload = overload
        self.mutates = tuple(p.name for p in self.parameters if p.mode == "T!")
        self.reference = reference
        self.samples = samples
        self.tolerance = tolerance
        self.onnx = onnx
        self.operator: Any = None
        self.__doc__ = function.__doc__
        self.__name__ = self.name
        self._register()

    def _register(self) -> None:
        for path in self.names:
            if path in FUNCTIONS:
                raise RecordError(f"two records are named {path!r}")
            FUNCTIONS[path] = self
        for method in self.methods:
            METHODS[method] = self

    @property
    def is_operator(self) -> bool:
        """Whether users can call it, as a function or as a method."""
        return bool(self.names or self.methods)

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} {self.name}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Trace if an argument is traced or a graph is being traced; else run the operator."""
        if (
            contains_traced(args)
            or contains_traced(tuple(kwargs.values()))
            or current_context() is not None
        ):
            return self.trace(*args, **kwargs)
        if self.operator is None:
            raise RuntimeError(f"{self.name}: the runtime is not loaded; import rushlight")
        return self.operator(*args, **kwargs)

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        """Append the operator's nodes to the graph being traced; returns the result."""
        return self.trace_bound(self.bind(*args, **kwargs))[0]

    def trace_bound(self, bound: inspect.BoundArguments) -> tuple[Any, tuple[Any, ...]]:
        """Like ``trace``; also what an ``Update`` writes into arguments."""
        raise NotImplementedError

    def out_rule(self, args: Sequence[Any], kwargs: dict[str, Any]) -> bool | str:
        """What ``out`` says about the targets of this call."""
        return self.out(*args, **kwargs) if callable(self.out) else self.out

    def bind(self, *args: Any, **kwargs: Any) -> inspect.BoundArguments:
        """The arguments by parameter, with defaults; TypeError as PyTorch's for a wrong call."""
        if self.variadic is not None and self.parameters[self.variadic].name in kwargs:
            args, kwargs = self._positional(args, kwargs)
        for alias in ARGUMENT_ALIASES.keys() & kwargs.keys() - self.signature.parameters.keys():
            target = ARGUMENT_ALIASES[alias]
            if target in self.signature.parameters and target not in kwargs:
                kwargs[target] = kwargs.pop(alias)
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(
                f"{self.name}(): {error}; the arguments are {self.name}{self.signature}"
            ) from None
        bound.apply_defaults()
        for option in self.options:
            del bound.arguments[option]
        return bound

    def _positional(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """A call that gives the variadic parameter by its name (``permute(dims=...)``), without."""
        assert self.variadic is not None
        kwargs = dict(kwargs)
        missing = self.parameters[len(args) : self.variadic + 1]
        if not all(parameter.name in kwargs for parameter in missing):
            return args, kwargs
        return (*args, *(kwargs.pop(parameter.name) for parameter in missing)), kwargs

    def parameter_at(self, place: int | str) -> Parameter | None:
        if isinstance(place, int):
            if self.variadic is not None:
                place = min(place, self.variadic)
            return self.parameters[place] if place < len(self.parameters) else None
        name = ARGUMENT_ALIASES.get(place, place)
        return next((p for p in self.parameters if p.name in (place, name)), None)

    def mode(self, position: int | str) -> str:
        """The mode of a positional argument (by its position) or of a keyword argument (by its
        name; ``out`` is a tensor).
        """
        if isinstance(position, str):
            name = (
                position
                if position in self.signature.parameters
                else ARGUMENT_ALIASES.get(position, position)
            )
            return next((p.mode for p in self.parameters if p.name == name), "T")
        for parameter in self.parameters[: position + 1]:
            if parameter.variadic:
                return parameter.mode
        return self.parameters[position].mode if position < len(self.parameters) else "S"

    def map_arguments(
        self,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        tensor: Callable[[Any], Any],
        number: Callable[[Any], Any],
        size: Callable[[Any], Any],
    ) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call with tensors, operand numbers and sizes replaced, in the order of
        the call.

        In mode T everything that is neither None nor a number nor a list is a tensor.
        """

        def replace(argument: Any, mode: str) -> Any:
            if argument is None or mode == "S":
                return argument
            if mode == "Z":
                is_size = isinstance(argument, int) and not isinstance(argument, bool)
                return size(argument) if is_size else argument
            if isinstance(argument, Number):
                return number(argument)
            if not hasattr(argument, "dtype"):
                raise TypeError(
                    f"{self.name}(): expected a Tensor or a number, not {type(argument).__name__}"
                )
            return tensor(argument)

        # No closure here refers to itself: such a cycle would keep the tensors alive.
        mapped = [
            map_nested(argument, replace, self.mode(position))
            for position, argument in enumerate(args)
        ]
        return mapped, {
            name: map_nested(argument, replace, self.mode(name))
            for name, argument in kwargs.items()
        }


class Primitive(Record):
    """What a node applies. As an operator it is called with any dtypes and shapes; the kind makes
    them fit.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        kind: Kind,
        *,
        scalar: str | Callable[..., Any] | None = None,
        derivative: Any = None,
        transpose: Any = None,
        vjp: Callable[..., Any] | None = None,
        jvp: Callable[..., Any] | None = None,
        batch: Callable[..., Any] | None = None,
        **common: Any,
    ) -> None:
        for form in ("inplace", "out"):
            common.setdefault(form, kind.has_forms and bool(common.get("names")))
        super().__init__(function, **common)
        self.kind = kind
        self.scalar = scalar or self.name
        self.derivative = derivative
        self.transpose = transpose
        self.own_vjp, self.own_jvp, self.own_batch = vjp, jvp, batch
        self.impure = self.random or kind.impure
        missing = kind.missing(self)
        if missing:
            raise RecordError(
                f"primitive {self.name} lacks {', '.join(missing)}; say unsupported('why') if it "
                "cannot have it"
            )
        if PRIMITIVES.setdefault(self.name, self) is not self:
            raise RecordError(f"two primitives are named {self.name!r}")

    @property
    def differentiable(self) -> bool:
        """Whether outputs can have gradients (their dtype permitting)."""
        return self.derivative is not NONE

    def trace_bound(self, bound: inspect.BoundArguments) -> tuple[Any, tuple[Any, ...]]:
        return self.kind.trace(self, bound), ()

    def apply(self, *inputs: Traced, **attributes: Any) -> Any:
        """Apply to inputs that fit already: one result, or a tuple of several."""
        results = apply(self, inputs, attributes)
        return results[0] if len(results) == 1 else results

    def infer(
        self, inputs: Sequence[Any], attributes: dict[str, Any], environment: Any
    ) -> list[tuple]:
        return self.kind.infer(self, inputs, attributes, environment)

    def vjp(
        self, inputs: Sequence, outputs: Sequence, gradients: Sequence, attributes: dict[str, Any]
    ) -> list:
        if not self.differentiable:
            return [None] * len(inputs)
        if self.own_vjp is None:
            return list(self.kind.vjp(self, inputs, outputs, gradients, attributes))
        return list(self.own_vjp(inputs, outputs, gradients, attributes))

    def jvp(
        self, inputs: Sequence, outputs: Sequence, tangents: Sequence, attributes: dict[str, Any]
    ) -> list:
        if not self.differentiable or all(tangent is None for tangent in tangents):
            return [None] * len(outputs)
        if self.own_jvp is None:
            return list(self.kind.jvp(self, inputs, outputs, tangents, attributes))
        return list(self.own_jvp(inputs, outputs, tangents, attributes))

    def batch(
        self, inputs: Sequence, batched: Sequence[bool], size: Any, attributes: dict[str, Any]
    ) -> list:
        if self.own_batch is None:
            return list(self.kind.batch(self, inputs, batched, size, attributes))
        return list(self.own_batch(inputs, batched, size, attributes))

    def evaluate(self, arrays: Sequence[Any], attributes: dict[str, Any]) -> Any:
        assert self.reference is not None
        return self.reference(*arrays, **attributes)


class Composite(Record):
    """Plain Python over operators.

    derivative: optional, ``f(g, out, *arguments)`` gives the gradients of the tensor arguments (a
    tuple if there are several; ``g`` and ``out`` are tuples if there are several outputs); a
    checked alternative to the derived one.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        derivative: Callable[..., Any] | None = None,
        **common: Any,
    ) -> None:
        super().__init__(function, **common)
        self.derivative = derivative
        if COMPOSITES.setdefault(self.name, self) is not self:
            raise RecordError(f"two composites are named {self.name!r}")

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """The body, without a plan: each of its operators runs by itself."""
        bound = self.bind(*args, **kwargs)
        return self.function(*bound.args, **bound.kwargs)

    def trace_bound(self, bound: inspect.BoundArguments) -> tuple[Any, tuple[Any, ...]]:
        context = current_context()
        if self.derivative is None:
            context = None
        token = None if context is None else context.enter(self, bound.arguments)
        result = self.function(*bound.args, **bound.kwargs)
        contents: tuple[Any, ...] = ()
        if isinstance(result, Update):
            result, contents = result.result, result.contents
        if context is not None:
            context.leave(token, result)
        return result, contents


def primitive(kind: Kind, **fields: Any) -> Callable[[Callable[..., Any]], Primitive]:
    """Define a primitive; the decorated function's signature and docstring count, its body is not
    run.
    """
    return lambda function: Primitive(function, kind, **fields)


def composite(**fields: Any) -> Callable[[Callable[..., Any]], Composite]:
    """Define a composite operator by its body."""
    return lambda function: Composite(function, **fields)


def constructor(**fields: Any) -> Callable[[Callable[..., Any]], Composite]:
    """Define a composite operator that makes a new tensor (``factory``), no method by default."""
    return composite(**{"methods": [], "factory": True, **fields})
