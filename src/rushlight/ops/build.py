"""Short ways to apply the primitives that other rules are built from. Inputs are ``Traced``; dims
are non-negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.node import Channels, Order, Value
from ..graph.symbols import SymbolicInt, same, same_shape
from ..graph.trace import PRIMITIVES, Context, Number, Traced, current_context
from ..layout import normalize_dims
from ..limits import finfo, iinfo
from ..promotion import DIMENSIONED, NUMBER, ZERO_DIM


def context_of(operands: Sequence[Any]) -> Context:
    """The context in which an operator with these operands is applied."""
    contexts = [x.context for x in operands if isinstance(x, Traced)]
    context = max(contexts, key=lambda each: each.level, default=None) or current_context()
    if context is None:
        raise RuntimeError("no graph is being traced")
    return context


def lift(operand: Any, context: Context, operator: str = "") -> Traced:
    """A tensor as it is; a number as a weak value."""
    if isinstance(operand, Traced):
        return operand
    if isinstance(operand, Number):
        return context.number(operand)
    raise TypeError(f"{operator}(): expected a Tensor or a number, not {type(operand).__name__}")


def is_number(operand: Any) -> bool:
    """Whether an operand is a Python number, known or not, rather than a tensor."""
    return not isinstance(operand, Traced) or operand.weak


def category(x: Traced) -> int:
    """How much an operand says in type promotion."""
    if x.weak:
        return NUMBER
    return DIMENSIONED if x.shape else ZERO_DIM


def scaled(x: Traced, factor: Any) -> Traced:
    """x times a number in x's dtype: integers are multiplied by the number's integer part."""
    if not isinstance(factor, Traced) and factor == 1:
        return x
    return x * convert(lift(factor, x.context), x.dtype)


def is_zero(number: Any) -> bool:
    """Whether an operand number is zero; a complex one, which no guard tells, counts as not."""
    return not (isinstance(number, Traced) and number.dtype.is_complex) and number == 0


def kept(x: Traced) -> Traced:
    """x, of which a backward pass keeps the elements: what they are computed from may be changed in
    place before.
    """
    if isinstance(x.value, Value):
        x.value.kept = True
    return x


def convert(x: Traced, dtype: DType) -> Traced:
    return PRIMITIVES["convert"].apply(x, dtype=dtype)


def expand(x: Traced, shape: Sequence[Any]) -> Traced:
    return PRIMITIVES["expand"].apply(x, shape=tuple(shape))


def reshape(x: Traced, shape: Sequence[Any]) -> Traced:
    return PRIMITIVES["reshape"].apply(x, shape=tuple(shape))


def permute(x: Traced, dims: Sequence[int]) -> Traced:
    return PRIMITIVES["permute"].apply(x, dims=tuple(dims))


def slice_(x: Traced, dim: int, start: Any, step: Any, length: Any) -> Traced:
    return PRIMITIVES["slice"].apply(x, dim=dim, start=start, step=step, length=length)


def pad(x: Traced, dim: int, before: Any, size: Any, step: Any = 1) -> Traced:
    return PRIMITIVES["pad"].apply(x, dim=dim, before=before, size=size, step=step)


def window(x: Traced, dim: int, length: Any, step: Any, taps: Any, spacing: Any) -> Traced:
    """``length`` windows of ``taps`` elements each along dim, which becomes two dims."""
    return PRIMITIVES["window"].apply(
        x, dim=dim, length=length, step=step, taps=taps, spacing=spacing
    )


def reduce_sum(x: Traced, dims: Sequence[int]) -> Traced:
    """The sum over dims, which stay with size 1."""
    return PRIMITIVES["sum"].apply(x, dims=tuple(sorted(dims)))


def iota(length: Any) -> Traced:
    return PRIMITIVES["iota"].apply(length=length)


def full(shape: Sequence[Any], value: Any, dtype: DType) -> Traced:
    """A tensor with one value everywhere; value is a number or a 0-d tensor."""
    scalar = value if isinstance(value, Traced) else context_of(()).number(value)
    return _filled(tuple(shape), scalar, dtype)


def full_like(x: Traced, value: Any, dtype: DType | None = None) -> Traced:
    dtype = dtype or x.dtype
    return _filled(tuple(x.shape), lift(value, x.context), dtype)


def _filled(shape: tuple[Any, ...], scalar: Traced, dtype: DType) -> Traced:
    if scalar.shape:
        raise RuntimeError(
            "a tensor is filled with a number or a 0-dimensional tensor, not with one of shape "
            f"{list(scalar.shape)}"
        )
    return PRIMITIVES["full"].apply(convert(scalar, dtype), shape=shape, dtype=dtype)


def zeros_like(x: Traced) -> Traced:
    return full_like(x, 0)


_RANKS = {"channels_last": 4, "channels_last_3d": 5}


def laid_out_like(result: Traced, x: Traced) -> Traced:
    """The result of x's shape; if the operator returns it, its dims lie in memory as x's do."""
    result.value.like = x.value
    return result


def laid_out_by(result: Traced, operands: Sequence[Traced]) -> Traced:
    """As ``laid_out_like``: as the result of an elementwise operator on these views of arguments;
    those that are not views of arguments do not count.
    """
    if isinstance(result.value, Value):  # not in a transform
        result.value.like = tuple(each.value for each in operands)
    return result


def channels_as(result: Traced, operands: Sequence[Traced]) -> Traced:
    """A result that was computed here; if the operator returns it, its channels are last in memory
    if they are in one of the operands, views of arguments; else it lies in row-major order.
    """
    if isinstance(result.value, Value):  # not in a transform
        result.value.like = Channels(tuple(each.value for each in operands))
    return result


def in_format(result: Traced, format: Any, operator: str) -> Traced:
    """A result that was computed here; if the operator returns it, its dims lie in memory in the
    order of the memory format. RuntimeError if the format is for another rank.
    """
    if format.name == "contiguous_format":
        return row_major(result)
    if format.name not in _RANKS:
        raise RuntimeError(f"{operator}(): {format} says no order of dims")
    rank = _RANKS[format.name]
    if result.ndim != rank:
        raise RuntimeError(
            f"{operator}(): required rank {rank} tensor to use {format.name} format, but got shape "
            f"{list(result.shape)}"
        )
    if isinstance(result.value, Value):  # not in a transform
        result.value.like = Order((0, *range(2, rank), 1))
    return result


def row_major(result: Traced) -> Traced:
    """A result that was computed here; if the operator returns it, it lies in row-major order."""
    result.value.like = "contiguous"
    return result


def contiguous(x: Traced) -> Traced:
    """x as a value of its own that lies in row-major order if the operator returns it."""
    return row_major(PRIMITIVES["convert"].apply(x, dtype=x.dtype, copy=True))


def fitting(number: Any, dtype: DType, context: Context) -> Traced:
    """An operand as a value of the dtype; RuntimeError for a number beyond the dtype's range."""
    operand = lift(number, context)
    if is_known_number(operand) and not _fits(operand, dtype):
        raise RuntimeError(f"value cannot be converted to type {dtype} without overflow")
    return convert(operand, dtype)


def filling(number: Any, dtype: DType, context: Context) -> Traced:
    """As ``fitting``, but in 16 bits numbers may become infinite, as where PyTorch makes a tensor
    of the number first.
    """
    operand = lift(number, context)
    if is_half(dtype) and not operand.dtype.is_complex:
        return convert(operand, dtype)
    return fitting(operand, dtype, context)


def everywhere(number: Any, dtype: DType, shape: Sequence[Any], context: Context) -> Traced:
    """A number to fill a whole tensor with: PyTorch checks it as ``filling`` if that has one
    element, else as ``fitting``.
    """
    return (filling if all(size == 1 for size in shape) else fitting)(number, dtype, context)


def is_half(dtype: DType) -> bool:
    """Whether it is a 16-bit floating-point type, which is computed in float32."""
    return dtype.is_floating_point and dtype.itemsize == 2


def widened(x: Traced) -> Traced:
    """Half-precision numbers in single precision: what is computed of them in several steps is
    rounded once.
    """
    return convert(x, dtypes.float32) if is_half(x.dtype) else x


def is_known_number(operand: Traced) -> bool:
    """Whether it is a number that may be compared: one of the call's or a constant."""
    node = operand.value.node
    return operand.weak and (node is None or node.name == "constant")


def _fits(number: Any, dtype: DType) -> bool:
    node = number.value.node
    if node is not None and isinstance(node.attributes["value"], SymbolicInt):
        return True  # a size
    if dtype is dtypes.bool or dtype.is_complex and number.dtype.is_complex:
        return True
    if number.dtype.is_complex:
        return False
    dtype = dtype.to_real() if dtype.is_complex else dtype
    if dtype.is_integral:
        limits = iinfo(dtype)
        high = min(limits.max, 2**63 - 1)
        wraps = not dtype.is_signed and not number.dtype.is_floating_point  # a negative int
        low = -high if wraps else limits.min
        return number >= low and number <= high
    infinite, largest = float("inf"), finfo(dtype).max
    return not (number > largest and number < infinite or number < -largest and number > -infinite)


def drop_dims(x: Traced, dims: Sequence[int]) -> Traced:
    """Without these dims, which have size 1."""
    return reshape(x, [size for dim, size in enumerate(x.shape) if dim not in dims])


def insert_dim(x: Traced, dim: int) -> Traced:
    """With a dim of size 1 at ``dim``."""
    return reshape(x, (*x.shape[:dim], 1, *x.shape[dim:]))


def sum_to(x: Traced, shape: Sequence[Any]) -> Traced:
    """The transpose of broadcasting: sum over the dims that an expansion of ``shape`` added or
    stretched.
    """
    if same_shape(tuple(x.shape), tuple(shape)):
        return x
    lead = x.ndim - len(shape)
    stretched = [
        dim
        for dim in range(lead, x.ndim)
        if not same(shape[dim - lead], x.shape[dim]) and shape[dim - lead] == 1
    ]
    return reshape(reduce_sum(x, [*range(lead), *stretched]), shape)


def move_dim(x: Traced, source: int, target: int) -> Traced:
    """With one dim moved to another place, the others in their order."""
    dims = [dim for dim in range(x.ndim) if dim != source]
    dims.insert(target, source)
    return permute(x, dims)


def conjugate(x: Traced) -> Traced:
    return PRIMITIVES["conj"].apply(x) if x.dtype.is_complex else x


def select_where(condition: Traced, x: Any, y: Any, dtype: DType) -> Traced:
    """``where`` on operands of any shapes, which are tensors or numbers, in a given dtype."""
    from ..layout import broadcast_shapes

    context = context_of((condition, x, y))
    values = [condition, *(convert(lift(each, context, "where"), dtype) for each in (x, y))]
    shape = broadcast_shapes([each.shape for each in values], "where")
    return PRIMITIVES["where"].apply(
        *(expand(each, shape) if each.shape else each for each in values)
    )


def dims_of(dims: Any, rank: int) -> tuple[int, ...]:
    return normalize_dims(dims, rank)


BOOL = dtypes.bool
FLOAT32 = dtypes.float32
FLOAT64 = dtypes.float64
INT64 = dtypes.int64
