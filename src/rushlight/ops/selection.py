"""Choosing between values by a condition."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from ..limits import finfo
from . import build
from .arithmetic import computed_dtype
from .checks import require_mask, require_same_dtype, require_single_value
from .expanded_writes import fill_places, places_of, unchanged_if, warn_expanded
from .kinds import Elementwise, everything, floating, integers
from .record import Operand, Tensor, composite, op, primitive
from .samples import Draw, calls, unary

_MASK = Draw((2, 3), 0, 2, dtype=dtypes.bool)


@primitive(
    Elementwise(everything),
    name="where",
    reference=numpy.where,
    derivative=lambda out, condition, x, y: (None, condition, ~condition),
)
def chosen(condition, x, y):
    """x where the condition holds, else y."""


@composite(
    names=["where"],
    methods=[],
    out="same dtype",
    onnx="Where",
    samples=calls(
        (_MASK, Draw((2, 3)), Draw((3,))), (_MASK, Draw(()), 2.0), (_MASK, 1, Draw((2, 1)))
    ),
)
def where(condition, input=None, other=None):
    """input where the condition holds, else other. With the condition alone: the indices where it
    holds.
    """
    if input is None and other is None:
        return op.nonzero(condition, as_tuple=True)
    if condition.dtype is dtypes.uint8:
        condition = build.convert(condition, dtypes.bool)
    if condition.dtype is not dtypes.bool:
        raise RuntimeError(
            f"where: condition must be a boolean tensor, not {condition.dtype}; compare it with 0"
        )
    dtype = computed_dtype(input, other)
    input, other = (
        build.filling(each, dtype, condition.context) if build.is_number(each) else each
        for each in (input, other)
    )
    return build.select_where(condition, input, other, dtype)


@composite(name="where_method", methods=["where"])
def where_method(self, condition, other):
    """This tensor where the condition holds, else other."""
    return where(condition, self, other)


def _masked_fill_expanded(self: Any, mask: Any, value: Any) -> Any:
    if getattr(mask, "dtype", None) is not dtypes.bool:
        return places_of(self)[0].masked_fill_(mask, value)  # which refuses it
    warn_expanded("masked_fill_")
    return fill_places(self, mask, value)


@composite(
    names=["masked_fill"],
    inplace=True,
    expanded=_masked_fill_expanded,
    samples=calls(
        (Draw((2, 3)), _MASK, 2), (Draw((3,)), _MASK, 0.0), (Draw((2, 3)), _MASK, Draw(()))
    ),
)
def masked_fill(input, mask, value):
    """The input with value where the mask is true."""
    require_mask("masked_fill_", mask)
    require_single_value("masked_fill_", value)
    kind = build.lift(value, input.context, "masked_fill").dtype
    if kind.is_complex and not (input.dtype.is_complex or input.dtype is dtypes.bool):
        raise RuntimeError(f"value cannot be converted to type {input.dtype} without overflow")
    value = build.fitting(value, input.dtype, input.context)
    return build.row_major(build.select_where(mask, value, input, input.dtype))


@primitive(
    Elementwise(integers | floating),
    names=["relu"],
    derivative=lambda out, x: ~(out <= 0),  # NaN passes
    scalar=lambda s, x: s.maximum(x, 0),
    reference=lambda x: numpy.maximum(x, 0),
    onnx="Relu",
    samples=unary(special=[float("inf"), -float("inf"), float("nan"), 0.0]),
)
def relu(input):
    """The input where it is positive, else 0."""


@composite(
    name="functional_relu",
    names=["nn.functional.relu"],
    methods=[],
    samples=unary(special=[float("inf"), -float("inf"), float("nan"), 0.0]),
)
def functional_relu(input, inplace: bool = False):
    """The input where it is positive, else 0."""
    return op.relu(input)


@composite(
    names=["nan_to_num"],
    inplace=True,
    out="same dtype",
    expanded=unchanged_if("nan_to_num_", lambda x: x.dtype.is_integral),
    samples=unary(special=[float("nan")]),
)
def nan_to_num(input: Tensor, nan: Operand = None, posinf: Operand = None, neginf: Operand = None):
    """Numbers in the place of NaN (by default 0) and the infinities (the dtype's extremes)."""
    for name, number in (("nan", nan), ("posinf", posinf), ("neginf", neginf)):
        if number is not None and build.lift(number, input.context).dtype.is_complex:
            raise TypeError(f"nan_to_num(): argument '{name}' must be float, not complex")
    if input.dtype.is_complex:
        parts = (nan_to_num(part, nan, posinf, neginf) for part in (op.real(input), op.imag(input)))
        return op.complex(*parts)
    if not input.dtype.is_floating_point:
        return input
    limits = finfo(input.dtype)
    above = limits.max if posinf is None else posinf
    below = limits.min if neginf is None else neginf
    result = build.select_where(input == float("inf"), above, input, input.dtype)
    result = build.select_where(input == float("-inf"), below, result, input.dtype)
    return build.select_where(op.isnan(input), 0 if nan is None else nan, result, input.dtype)


@composite(names=["heaviside"], inplace=True, out=True)
def heaviside(input: Tensor, values: Tensor):
    """0 for negative numbers, 1 for positive ones, and values at zero."""
    require_same_dtype("heaviside", input=input, values=values)
    if input.dtype.is_complex:
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    return op.where(input == 0, values, build.convert(input > 0, input.dtype))
