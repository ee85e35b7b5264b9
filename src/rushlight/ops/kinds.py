"""Kinds of primitives: what a record need not say because others of its kind do the same.

A kind derives the outputs' dtypes and shapes (``infer``), gradient and tangent rules from the
record's partial derivatives or transposes, the batching rule, and for elementwise operators
everything about a call: promotion and broadcasting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import BoundArguments
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.symbols import same_shape
from ..graph.trace import PRIMITIVES, Traced, apply
from ..layout import broadcast_shapes
from ..promotion import promote_types, result_type, scalar_type_name
from . import build
from .kind import Kind, Output, shifted, with_batch

if TYPE_CHECKING:
    from .record import Primitive

# Sets of dtypes for ``accepts``.
boolean = frozenset((dtypes.bool,))
integers = frozenset(each for each in dtypes.ALL if each.kind in "ui")
floating = frozenset(each for each in dtypes.ALL if each.kind == "f")
precise = frozenset((dtypes.float32, dtypes.float64))
complexes = frozenset(each for each in dtypes.ALL if each.kind == "c")
real = boolean | integers | floating
numeric = integers | floating | complexes
everything = real | complexes


def same_type(dtype: DType) -> DType:
    """Compute in the promoted type."""
    return dtype


def int_to_float(dtype: DType) -> DType:
    """Integers and bools are computed as the default floating-point type."""
    return dtypes.get_default_dtype() if dtype.is_integral else dtype


class Where(NamedTuple):
    """A partial derivative that is 0 except where the condition holds: no gradient comes through
    there, not even one that is not finite.
    """

    condition: Traced
    partial: Any


class Elementwise(Kind):
    """One scalar instruction at every point.

    accepts: the types it is computed in; promote: from the promoted type of the operands to the
    type it is computed in; output: the result's type, if it is another: a dtype or a function of
    the type of computation.
    """

    has_forms = True

    def __init__(
        self,
        accepts: frozenset[DType] = everything,
        promote: Callable[[DType], DType] = same_type,
        output: DType | Callable[[DType], DType] | None = None,
    ) -> None:
        self.accepts = accepts
        self.promote = promote
        self.output = output

    def infer(
        self, primitive: Primitive, inputs: Sequence, attributes: dict[str, Any], environment: Any
    ) -> list[Output]:
        shape: tuple = ()
        for x in inputs:
            if x.shape:
                if shape and not same_shape(shape, x.shape):
                    raise AssertionError(
                        f"{primitive.name}: inputs of shapes {shape} and {x.shape} were not "
                        "broadcast"
                    )
                shape = x.shape
        return [(self.output_dtype(inputs[-1].dtype), shape, all(x.weak for x in inputs))]

    def output_dtype(self, compute: DType) -> DType:
        if self.output is None:
            return compute
        return self.output if isinstance(self.output, DType) else self.output(compute)

    # ---- a call

    def trace(self, primitive: Primitive, bound: BoundArguments) -> Any:
        return primitive.apply(*self.prepare(primitive, list(bound.arguments.values())))

    def prepare(
        self, primitive: Primitive, operands: Sequence[Any], compute: DType | None = None
    ) -> list[Traced]:
        """The operands converted to the type of computation and broadcast."""
        context = build.context_of(operands)
        values = [build.lift(each, context, primitive.name) for each in operands]
        if all(x.weak for x in values):
            return self._prepare_numbers(values, compute)
        if compute is None:
            compute = self.promote(result_type((x.dtype, build.category(x)) for x in values))
        self.check(primitive.name, compute)
        shape = broadcast_shapes([x.shape for x in values], primitive.name)
        values = [build.convert(x, compute) for x in values]
        return [build.expand(x, shape) if x.shape else x for x in values]

    def _prepare_numbers(self, values: list[Traced], compute: DType | None) -> list[Traced]:
        """Numbers stay numbers: in double precision, without promotion by tensors."""
        common = values[0].dtype
        for x in values[1:]:
            common = promote_types(common, x.dtype)
        if compute is None and self.promote is int_to_float and common.is_integral:
            common = dtypes.float64
        if all(x.dtype is common for x in values):
            return values
        return [
            x if x.dtype is common else PRIMITIVES["convert"].apply(x, dtype=common, weak=True)
            for x in values
        ]

    def check(self, name: str, dtype: DType) -> None:
        if dtype not in self.accepts:
            raise NotImplementedError(f"\"{name}\" not implemented for '{scalar_type_name(dtype)}'")

    # ---- derivatives

    def partials(self, primitive: Primitive, inputs: Sequence, outputs: Sequence) -> tuple:
        result = primitive.derivative(outputs[0], *inputs)
        return result if isinstance(result, tuple) else (result,)

    def vjp(
        self,
        primitive: Primitive,
        inputs: Sequence,
        outputs: Sequence,
        gradients: Sequence,
        attributes: dict,
    ) -> list:
        (g,) = gradients
        partials = self.partials(primitive, inputs, outputs)
        return [
            build.sum_to(self.times(g, partial, True), x.shape)
            if partial is not None and x.dtype.is_differentiable and not x.weak
            else None
            for partial, x in zip(partials, inputs, strict=True)
        ]

    def jvp(
        self,
        primitive: Primitive,
        inputs: Sequence,
        outputs: Sequence,
        tangents: Sequence,
        attributes: dict,
    ) -> list:
        total = None
        for partial, tangent in zip(
            self.partials(primitive, inputs, outputs), tangents, strict=True
        ):
            if partial is not None and tangent is not None:
                term = self.times(tangent, partial, False)
                total = term if total is None else total + term
        if total is None:
            return [None]
        return [build.expand(total, outputs[0].shape)]

    @staticmethod
    def times(g: Traced, partial: Any, conjugate: bool) -> Traced:
        if isinstance(partial, Where):
            term = Elementwise.times(g, partial.partial, conjugate)
            return build.select_where(partial.condition, term, 0, g.dtype)
        if not isinstance(partial, Traced):
            if partial == 0:
                return build.zeros_like(g)
            return g if partial == 1 else -g if partial == -1 else g * partial
        if partial.dtype is dtypes.bool:
            return build.select_where(partial, g, 0, g.dtype)
        if partial.dtype.is_complex == g.dtype.is_complex:
            partial = build.convert(partial, g.dtype)  # promotion would let the shapes decide
        return g * (build.conjugate(partial) if conjugate else partial)

    def batch(
        self,
        primitive: Primitive,
        inputs: Sequence,
        batched: Sequence[bool],
        size: Any,
        attributes: dict,
    ) -> list:
        rank = max(x.ndim - is_batched for x, is_batched in zip(inputs, batched, strict=True))
        shape = next(
            x.shape[is_batched:]
            for x, is_batched in zip(inputs, batched)
            if x.ndim - is_batched == rank
        )
        full_shape = (size, *shape)
        aligned = []
        for x, is_batched in zip(inputs, batched, strict=True):
            if is_batched and x.ndim == 1:
                x = build.reshape(x, (size, *[1] * rank))
            aligned.append(build.expand(x, full_shape) if x.shape else x)
        return [primitive.apply(*aligned, **attributes)]


class View(Kind):
    """Another arrangement of one input's elements: linear, of the same dtype.

    shape: ``f(x, **attributes)`` gives the result's shape; shift: ``f(x, size, **attributes)``
    gives the attributes for an input with a batch dim in front (``x`` has it already).
    """

    def __init__(self, shape: Callable[..., tuple], shift: Callable[..., dict[str, Any]]) -> None:
        self.shape = shape
        self.shift = shift

    def infer(
        self, primitive: Primitive, inputs: Sequence, attributes: dict[str, Any], environment: Any
    ) -> list[Output]:
        (x,) = inputs
        return [(x.dtype, tuple(self.shape(x, **attributes)), False)]

    def batch(
        self,
        primitive: Primitive,
        inputs: Sequence,
        batched: Sequence[bool],
        size: Any,
        attributes: dict,
    ) -> list:
        (x,) = inputs
        return [primitive.apply(x, **self.shift(x, size, **attributes))]


class Reduction(Kind):
    """Over the dims of attribute ``dims`` (a sorted tuple) or ``dim``, which stay with size 1.

    output: the result's dtype.
    """

    def __init__(self, output: DType | None = None) -> None:
        self.output = output

    def infer(
        self, primitive: Primitive, inputs: Sequence, attributes: dict[str, Any], environment: Any
    ) -> list[Output]:
        (x,) = inputs
        dims = attributes["dims"] if "dims" in attributes else (attributes["dim"],)
        shape = tuple(1 if dim in dims else size for dim, size in enumerate(x.shape))
        return [(self.output or x.dtype, shape, False)]

    def batch(
        self,
        primitive: Primitive,
        inputs: Sequence,
        batched: Sequence[bool],
        size: Any,
        attributes: dict,
    ) -> list:
        return [
            primitive.apply(*inputs, **{name: shifted(dims) for name, dims in attributes.items()})
        ]


class Scan(Reduction):
    """Along ``dim``; the result has the input's shape."""

    def infer(
        self, primitive: Primitive, inputs: Sequence, attributes: dict[str, Any], environment: Any
    ) -> list[Output]:
        (x,) = inputs
        return [(x.dtype, tuple(x.shape), False)]


class Together(Kind):
    """Inputs that all get the batch dim if any has it; attribute ``dim``, if there is one, counts
    the dims of them all.
    """

    def batch(
        self,
        primitive: Primitive,
        inputs: Sequence,
        batched: Sequence[bool],
        size: Any,
        attributes: dict,
    ) -> list:
        inputs = [
            with_batch(x, is_batched, size) for x, is_batched in zip(inputs, batched, strict=True)
        ]
        moved = {name: shifted(dim) for name, dim in attributes.items() if name == "dim"}
        return list(apply(primitive, inputs, {**attributes, **moved}))


class Contraction(Together):
    """``a [..., m, k]`` by ``b [..., k, n]`` with equal batch sizes; linear in each."""

    def infer(
        self, primitive: Primitive, inputs: Sequence, attributes: dict[str, Any], environment: Any
    ) -> list[Output]:
        a, b = inputs
        if len(a.shape) != len(b.shape) or not same_shape(a.shape[:-2], b.shape[:-2]):
            raise AssertionError(
                f"{primitive.name}: batch sizes of {a.shape} and {b.shape} were not made equal"
            )
        return [(a.dtype, (*a.shape[:-1], b.shape[-1]), False)]

    def jvp(
        self,
        primitive: Primitive,
        inputs: Sequence,
        outputs: Sequence,
        tangents: Sequence,
        attributes: dict,
    ) -> list:
        total = None
        for position, tangent in enumerate(tangents):
            if tangent is not None:
                term = primitive.apply(
                    *(tangent if i == position else x for i, x in enumerate(inputs)), **attributes
                )
                total = term if total is None else total + term
        return [total]


class Indexing(Together):
    """Elements at computed places along ``dim``. shape_of: the input whose shape and dtype position
    0 gives: see gather.
    """

    def __init__(self, shape_of: int) -> None:
        self.shape_of = shape_of

    def infer(
        self, primitive: Primitive, inputs: Sequence, attributes: dict[str, Any], environment: Any
    ) -> list[Output]:
        return [(inputs[0].dtype, tuple(inputs[self.shape_of].shape), False)]


class Join(Together):
    """Several tensors of one dtype one after another along ``dim``."""

    def infer(
        self, primitive: Primitive, inputs: Sequence, attributes: dict[str, Any], environment: Any
    ) -> list[Output]:
        dim, total = attributes["dim"], 0
        for x in inputs:
            total = total + x.shape[dim]
        shape = inputs[0].shape
        return [(inputs[0].dtype, (*shape[:dim], total, *shape[dim + 1 :]), False)]

    def vjp(
        self,
        primitive: Primitive,
        inputs: Sequence,
        outputs: Sequence,
        gradients: Sequence,
        attributes: dict,
    ) -> list:
        (g,), dim = gradients, attributes["dim"]
        start, pieces = 0, []
        for x in inputs:
            pieces.append(build.slice_(g, dim, start, 1, x.shape[dim]))
            start = start + x.shape[dim]
        return pieces

    def missing(self, primitive: Primitive) -> list[str]:
        return [] if primitive.reference is not None else ["a reference"]


class Source(Kind):
    """No tensor input: the shape and dtype come from attributes by ``outputs(**attributes)``."""

    def __init__(self, outputs: Callable[..., Output]) -> None:
        self.outputs = outputs

    def infer(
        self, primitive: Primitive, inputs: Sequence, attributes: dict[str, Any], environment: Any
    ) -> list[Output]:
        return [self.outputs(**attributes)]

    def batch(
        self,
        primitive: Primitive,
        inputs: Sequence,
        batched: Sequence[bool],
        size: Any,
        attributes: dict,
    ) -> list:
        result = primitive.apply(*inputs, **attributes)
        return [build.expand(result, (size, *result.shape))]


class Random(Source):
    """Draws from a generator: never merged, removed or reordered.

    Batching decides by vmap's ``randomness``.
    """

    impure = True


class Host(Kind):
    """A Python function over whole tensors. outputs: ``f(environment, *inputs, **attributes)``
    gives the list of outputs.
    """

    def __init__(self, outputs: Callable[..., list[Output]], impure: bool = False) -> None:
        self.outputs = outputs
        self.impure = impure

    def infer(
        self, primitive: Primitive, inputs: Sequence, attributes: dict[str, Any], environment: Any
    ) -> list[Output]:
        return self.outputs(environment, *inputs, **attributes)

    def trace(self, primitive: Primitive, bound: BoundArguments) -> Any:
        inputs: list[Any] = []
        tensors = set()
        for parameter in primitive.parameters:
            if parameter.mode == "T":
                tensors.add(parameter.name)
                given = bound.arguments[parameter.name]
                inputs.extend(given if parameter.variadic else [given])
        return primitive.apply(
            *inputs, **{k: each for k, each in bound.arguments.items() if k not in tensors}
        )
