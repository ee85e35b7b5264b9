"""Tensors from nothing: constants and ranges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.symbols import SymbolicInt
from ..graph.trace import Traced
from ..layout import flatten_sizes
from ..promotion import number_dtype
from . import build
from .checks import require_single_value
from .conversion import overwritten, require_dtype
from .expanded_writes import fill_places
from .kind import Kind, Output
from .kinds import Source
from .record import (
    NONE,
    MemoryFormat,
    Mutated,
    Operand,
    Size,
    composite,
    constructor,
    op,
    primitive,
)
from .samples import Draw, calls
from .shapes import expanded_shape


class _Full(Kind):
    """One 0-d value at every place."""

    def infer(
        self, primitive: Any, inputs: Any, attributes: dict[str, Any], environment: Any
    ) -> list[Output]:
        return [(attributes["dtype"], tuple(attributes["shape"]), False)]

    def jvp(
        self, primitive: Any, inputs: Any, outputs: Any, tangents: Any, attributes: dict[str, Any]
    ) -> list:
        return [build.expand(tangents[0], attributes["shape"])]

    def batch(
        self, primitive: Any, inputs: Any, batched: Any, size: Any, attributes: dict[str, Any]
    ) -> list:
        (x,), shape = inputs, attributes["shape"]
        return [build.expand(build.reshape(x, (size, *[1] * len(shape))), (size, *shape))]


@primitive(
    _Full(),
    name="full",
    transpose=lambda g, x, shape, dtype: build.sum_to(g, ()),
    reference=lambda x, shape, dtype: numpy.broadcast_to(x, shape),
)
def full_primitive(x, shape, dtype):
    """A 0-d value everywhere."""


@primitive(
    Source(lambda length: (dtypes.int64, (length,), False)),
    derivative=NONE,
    reference=lambda length: numpy.arange(length, dtype=numpy.int64),
)
def iota(length):
    """0, 1, ... length - 1."""


def check_sizes(size: Sequence[Any], name: str) -> tuple[Any, ...]:
    """Sizes given as arguments or as one sequence."""
    if not size:
        raise TypeError(f"{name}() missing 1 required positional argument: 'size'; () makes it 0-d")
    shape = flatten_sizes(size)
    for each in shape:
        if isinstance(each, bool) or not (
            isinstance(each, SymbolicInt) or hasattr(each, "__index__")
        ):
            raise TypeError(
                f"{name}(): argument 'size' must be tuple of ints, but found element of type "
                f"{type(each).__name__}"
            )
        if each < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {each}: {list(shape)} (in {name})"
            )
    return shape


def _filled(size: Sequence[Any], value: Any, dtype: DType | None, name: str) -> Traced:
    dtype = dtypes.get_default_dtype() if dtype is None else require_dtype(dtype, name)
    return build.full(check_sizes(size, name), value, dtype)


_SIZE_SAMPLES = calls((2, 3), ((2, 3),), ((),), ((0, 2),), ((2, 3), {"dtype": dtypes.int64}))


@constructor(
    names=["full"],
    out=True,
    fills=True,
    samples=calls(((2, 3), 1.5), ((2,), 3), ((), True), ((0,), 2.0)),
)
def full(size: Size, fill_value: Operand, *, dtype: DType | None = None):
    """A tensor with one value everywhere."""
    value = (
        fill_value if isinstance(fill_value, Traced) else build.context_of(()).number(fill_value)
    )
    if dtype is None:
        dtype = number_dtype(value.dtype) if value.weak else value.dtype
    sizes = check_sizes((tuple(size),), "full")
    value = build.everywhere(value, require_dtype(dtype, "full"), sizes, value.context)
    return build.full(sizes, value, dtype)


@constructor(names=["zeros"], out=True, fills=True, samples=_SIZE_SAMPLES)
def zeros(*size: Size, dtype: DType | None = None):
    """Zeros."""
    return _filled(size, 0, dtype, "zeros")


@constructor(names=["ones"], out=True, fills=True, samples=_SIZE_SAMPLES)
def ones(*size: Size, dtype: DType | None = None):
    """Ones."""
    return _filled(size, 1, dtype, "ones")


@constructor(names=["empty"], out=True)
def empty(*size: Size, dtype: DType | None = None, memory_format: MemoryFormat = None):
    """A tensor whose elements are not set; inside a graph they are zeros."""
    result = _filled(size, 0, dtype, "empty")
    return result if memory_format is None else build.in_format(result, memory_format, "empty")


def _shaped_like(
    input: Traced, value: Any, dtype: DType | None, memory_format: Any, operator: str
) -> Traced:
    dtype = dtype or input.dtype
    value = build.everywhere(value, dtype, input.shape, input.context)
    result = build.full_like(input, value, dtype)
    if memory_format is None or memory_format.name == "preserve_format":
        return build.laid_out_like(result, input)
    return build.in_format(result, memory_format, operator)


def _like(name: str, value: int, doc: str) -> Any:
    def body(input, *, dtype: DType | None = None, memory_format: MemoryFormat = None):
        return _shaped_like(input, value, dtype, memory_format, name)

    body.__doc__ = doc
    return constructor(
        names=[name], samples=calls((Draw((2, 3)),), ((Draw(()),), {"dtype": dtypes.int32}))
    )(body)


zeros_like = _like("zeros_like", 0, "Zeros in the shape of another tensor.")
ones_like = _like("ones_like", 1, "Ones in the shape of another tensor.")


@constructor(names=["empty_like"])
def empty_like(input, *, dtype: DType | None = None, memory_format: MemoryFormat = None):
    """A tensor shaped like another, its elements not set; inside a graph they are zeros."""
    return _shaped_like(input, 0, dtype, memory_format, "empty_like")


@constructor(names=["full_like"], samples=calls((Draw((2, 3)), 2), (Draw((2,)), 2.5)))
def full_like(
    input, fill_value: Operand, *, dtype: DType | None = None, memory_format: MemoryFormat = None
):
    """One value everywhere, in the shape of another tensor."""
    return _shaped_like(input, fill_value, dtype, memory_format, "full_like")


def _new(name: str, value: int, doc: str) -> Any:
    def body(self, *size: Size, dtype: DType | None = None):
        return _filled(size, value, dtype or self.dtype, name)

    body.__doc__ = doc
    return constructor(
        name=name, methods=[name], samples=calls((Draw((2, 3)), (4,)), (Draw(()), 2, 3))
    )(body)


new_zeros = _new("new_zeros", 0, "Zeros of this tensor's dtype.")
new_ones = _new("new_ones", 1, "Ones of this tensor's dtype.")


@constructor(name="new_empty", methods=["new_empty"])
def new_empty(self, *size: Size, dtype: DType | None = None):
    """A tensor of this one's dtype whose elements are not set; inside a graph they are zeros."""
    return _filled(size, 0, dtype or self.dtype, "new_empty")


@constructor(name="new_full", methods=["new_full"], samples=calls((Draw((2, 3)), (4,), 2)))
def new_full(self, size: Size, fill_value: Operand, *, dtype: DType | None = None):
    """One value everywhere, of this tensor's dtype."""
    dtype = dtype or self.dtype
    sizes = check_sizes((tuple(size),), "new_full")
    dtype = require_dtype(dtype, "new_full")
    return build.full(sizes, build.everywhere(fill_value, dtype, sizes, self.context), dtype)


@constructor(names=["eye"], out=True, samples=calls((3,), (2, 4), (3, 2), (0,)))
def eye(n: Size, m: Size = None, *, dtype: DType | None = None):
    """The identity matrix."""
    rows, columns = check_sizes((n, n if m is None else m), "eye")
    dtype = dtypes.get_default_dtype() if dtype is None else require_dtype(dtype, "eye")
    return build.convert(build.reshape(build.iota(rows), (rows, 1)) == build.iota(columns), dtype)


def _triangle(input: Traced, diagonal: Any, lower: bool, name: str) -> Traced:
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    rows, columns = input.shape[-2:]
    distance = build.iota(columns) - build.reshape(build.iota(rows), (rows, 1))
    return build.select_where(
        distance <= diagonal if lower else distance >= diagonal, input, 0, input.dtype
    )


def _triangle_expanded(lower: bool) -> Callable[..., Any]:
    def rule(self: Any, diagonal: int) -> Any:
        kept = op.ones(self.shape[-2:], dtype=dtypes.bool)
        kept = (op.tril if lower else op.triu)(kept, diagonal)
        return fill_places(self, op.logical_not(kept), 0)

    return rule


@composite(
    names=["tril"],
    inplace=True,
    out="same dtype",
    expanded=_triangle_expanded(True),
    samples=calls((Draw((3, 4)),), (Draw((2, 3, 3)), 1), (Draw((3, 4)), -1)),
)
def tril(input, diagonal: Operand = 0):
    """The part of matrices on and below a diagonal; zero above."""
    return _triangle(input, diagonal, True, "tril")


@composite(
    names=["triu"],
    inplace=True,
    out="same dtype",
    expanded=_triangle_expanded(False),
    samples=calls((Draw((3, 4)),), (Draw((2, 3, 3)), 1), (Draw((3, 4)), -1)),
)
def triu(input, diagonal: Operand = 0):
    """The part of matrices on and above a diagonal; zero below."""
    return _triangle(input, diagonal, False, "triu")


def _filled_like(input: Traced, value: Any) -> Traced:
    require_single_value("fill_", value)
    value = build.everywhere(value, input.dtype, input.shape, input.context)
    return build.full_like(input, value)


@composite(name="fill_", names=["fill_"], methods=["fill_"], fills=True)
def fill_(self: Mutated, value):
    """Set every element to a number or 0-d tensor."""
    return _filled_like(self, value)


@composite(name="set_to")
def set_to(self: Mutated, value):
    """What ``x[...] = number`` does to the part of x."""
    return build.full_like(self, build.filling(value, self.dtype, self.context))


@composite(name="fill", names=["fill"], methods=[], samples=calls((Draw((2, 3)), 2)))
def fill(input, value):
    """One value everywhere, in the shape of another tensor."""
    return overwritten.apply(input, _filled_like(input, value))


@composite(name="zero_", names=["zero_"], methods=["zero_"], fills=True)
def zero_(self: Mutated):
    """Set every element to zero."""
    return build.zeros_like(self)


@composite(name="copy_", methods=["copy_"])
def copy_(self: Mutated, src, non_blocking: bool = False):
    """Take over the elements of another tensor, converted and broadcast."""
    source = build.convert(build.lift(src, self.context, "copy_"), self.dtype)
    return build.expand(source, expanded_shape(source, self.shape, "copy_"))
