"""What every kind of primitive derives, and the rules that most of them share."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import BoundArguments
from typing import TYPE_CHECKING, Any

from ..dtypes import dtype as DType
from ..graph.trace import Traced
from . import build

if TYPE_CHECKING:
    from .record import Primitive

Output = tuple[DType, tuple[Any, ...], bool]


class Kind:
    """What a primitive of this kind has in common with others."""

    impure = False  # nodes are never merged or removed
    has_forms = False  # operators get in-place and out= forms

    def infer(
        self, primitive: Primitive, inputs: Sequence, attributes: dict[str, Any], environment: Any
    ) -> list[Output]:
        raise NotImplementedError

    def missing(self, primitive: Primitive) -> list[str]:
        """The rules that the record must state and does not."""
        missing = [] if primitive.reference is not None else ["a reference"]
        has_derivative = any(
            rule is not None
            for rule in (primitive.derivative, primitive.transpose, primitive.own_vjp)
        )
        if not has_derivative:
            missing.append("a derivative (or transpose, or NONE)")
        elif (
            primitive.own_vjp is not None
            and primitive.own_jvp is None
            and primitive.transpose is None
        ):
            missing.append("a jvp rule to go with its vjp rule")
        return missing

    def trace(self, primitive: Primitive, bound: BoundArguments) -> Any:
        raise NotImplementedError(
            f"{primitive.name} is no operator: it is applied to prepared inputs only"
        )

    def vjp(
        self,
        primitive: Primitive,
        inputs: Sequence,
        outputs: Sequence,
        gradients: Sequence,
        attributes: dict,
    ) -> list:
        """Each input's gradient by the record's transpose of it."""
        (g,) = gradients
        rules = (
            primitive.transpose
            if isinstance(primitive.transpose, tuple)
            else (primitive.transpose,)
        )
        return [
            rule(g, *inputs, **attributes)
            if rule is not None and x.dtype.is_differentiable
            else None
            for rule, x in zip(rules, inputs, strict=True)
        ]

    def jvp(
        self,
        primitive: Primitive,
        inputs: Sequence,
        outputs: Sequence,
        tangents: Sequence,
        attributes: dict,
    ) -> list:
        """Linear in all differentiable inputs together: apply the primitive to the tangents."""
        tangents = [
            tangent
            if tangent is not None
            else build.zeros_like(x)
            if x.dtype.is_differentiable
            else x
            for tangent, x in zip(tangents, inputs, strict=True)
        ]
        return [primitive.apply(*tangents, **attributes)]

    def batch(
        self,
        primitive: Primitive,
        inputs: Sequence,
        batched: Sequence[bool],
        size: Any,
        attributes: dict,
    ) -> list:
        raise NotImplementedError(f"{primitive.name} has no batching rule")


def with_batch(x: Traced, batched: bool, size: Any) -> Traced:
    """With the batch dim in front, expanded if need be."""
    return x if batched else build.expand(x, (size, *x.shape))


def shifted(dims: Any) -> Any:
    """Dims behind a new first dim."""
    return tuple(dim + 1 for dim in dims) if isinstance(dims, tuple) else dims + 1
