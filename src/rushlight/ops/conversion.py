"""Constants, casts and copies."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.trace import PRIMITIVES, Traced
from . import build
from .kind import Output
from .kinds import Elementwise, Source, everything
from .record import NONE, Composite, MemoryFormat, Selector, Tensor, composite, primitive
from .samples import Draw, calls, unary


class _Convert(Elementwise):
    """Elementwise, to the dtype that an attribute says."""

    has_forms = False

    def infer(
        self, primitive: Any, inputs: Any, attributes: dict[str, Any], environment: Any
    ) -> list[Output]:
        (x,) = inputs
        return [(attributes["dtype"], tuple(x.shape), attributes.get("weak", False))]

    def vjp(
        self, primitive: Any, inputs: Any, outputs: Any, gradients: Any, attributes: dict[str, Any]
    ) -> list:
        (x,), (g,) = inputs, gradients
        return [build.convert(g, x.dtype) if x.dtype.is_differentiable and not x.weak else None]

    def jvp(
        self, primitive: Any, inputs: Any, outputs: Any, tangents: Any, attributes: dict[str, Any]
    ) -> list:
        differentiable = attributes["dtype"].is_differentiable and tangents[0] is not None
        return [build.convert(tangents[0], attributes["dtype"]) if differentiable else None]


@primitive(
    Source(lambda value, dtype, weak: (dtype, (), weak)),
    derivative=NONE,
    reference=lambda value, dtype, weak: value,
)
def constant(value, dtype, weak):
    """A 0-d number: known, or a symbolic int. Weak: a Python number that takes no part in
    promotion.
    """


@primitive(
    _Convert(everything),
    derivative=lambda out, x: 1,
    reference=lambda x, dtype, weak=False, copy=False: cast(x, dtype),
)
def convert(x, dtype):
    """Cast to a dtype. Complex to real keeps the real part; floating to integer truncates. With the
    attribute copy it stays even if the dtype is x's.
    """


@primitive(
    Elementwise(everything),
    names=["detach"],
    views="input",
    scalar=lambda s, x: x,
    inplace=False,
    out=False,
    derivative=NONE,
    reference=lambda x: x,
    samples=unary(),
)
def detach(input):
    """The same values without a gradient."""


@primitive(
    Elementwise(everything),
    scalar=lambda s, x, y: y,
    derivative=lambda out, x, y: (0, 1),
    reference=lambda x, y: numpy.broadcast_to(y, numpy.broadcast_shapes(x.shape, y.shape)),
)
def overwritten(x, y):
    """y in the place of x, whose gradient is zero."""


@primitive(
    Elementwise(everything),
    scalar=lambda s, x, y: x,
    derivative=lambda out, x, y: (0, 1),
    reference=lambda x, y: numpy.broadcast_to(x, numpy.broadcast_shapes(x.shape, y.shape)),
)
def with_gradient_of(x, y):
    """x, whose gradient goes to y."""


def cast(x: Any, dtype: DType) -> Any:
    """The reference's cast of a NumPy array."""
    if dtype.is_integral and x.dtype.kind == "c":
        x = x.real
    if dtype is dtypes.bool:
        return x != 0
    if dtype.is_integral and x.dtype.kind == "f":
        return x.astype(dtype.numpy if dtype.itemsize >= 4 else numpy.int32).astype(dtype.numpy)
    if dtype.is_integral:
        return x.astype(dtype.numpy)
    return x.real if x.dtype.kind == "c" and not dtype.is_complex else x


def require_dtype(dtype: Any, operator: str) -> DType:
    """The dtype, or TypeError."""
    if not isinstance(dtype, DType):
        raise TypeError(
            f"{operator}(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}"
        )
    return dtype


def as_tensor(x: Any, context: Any, operator: str) -> Traced:
    """A tensor operand; a number becomes a 0-d tensor of its default dtype."""
    x = build.lift(x, context, operator)
    if not x.weak:
        return x
    from ..promotion import number_dtype

    return build.convert(x, number_dtype(x.dtype))


_DRAWS = (Draw((3,), -4, 4), Draw((), 0, 100), Draw((2, 0)))
_TARGETS = tuple(
    each for each in dtypes.ALL if each.name not in ("complex32", "uint16", "uint32", "uint64")
)


def _to_tensors_type(input: Any, *args: Any, **kwargs: Any) -> Any:
    """``x.to(other)``: the dtype and device of the tensor among the arguments."""
    other = kwargs.pop("other", None)
    if other is None and not any(hasattr(each, "dtype") for each in args):
        kinds = ", ".join(type(each).__name__ for each in (*args, *kwargs.values()))
        raise TypeError(f"to(): expected a dtype, a device or a tensor, got {kinds}")
    if other is None:
        place = next(i for i, each in enumerate(args) if hasattr(each, "dtype"))
        other, args = args[place], (*args[:place], *args[place + 1 :])
    return to(input, *args, dtype=other.dtype, device=other.device, **kwargs)


@composite(
    name="to",
    methods=["to"],
    views="input",
    itself=True,
    moves=True,
    overload=_to_tensors_type,
    samples=calls(*((draw, target) for draw in _DRAWS for target in _TARGETS)),
)
def to(
    input,
    *args: Selector,
    dtype: DType | None = None,
    device: Selector = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: MemoryFormat = None,
):
    """Convert to the dtype and device given in any order, or to those of another tensor."""
    for argument in args:
        if isinstance(argument, DType):
            dtype = argument
        elif isinstance(argument, Traced):
            dtype = argument.dtype
    dtype = input.dtype if dtype is None else require_dtype(dtype, "to")
    if memory_format is not None and memory_format.name != "preserve_format":
        return _formatted(input, dtype, memory_format, "to")
    if copy and dtype is input.dtype:
        return PRIMITIVES["convert"].apply(input, dtype=dtype, copy=True)
    return build.convert(input, dtype)


def _formatted(input: Traced, dtype: DType, format: Any, operator: str) -> Traced:
    """A copy whose dims lie in memory in the order of the format. (The native core returns a tensor
    that already has it.)
    """
    copy = PRIMITIVES["convert"].apply(input, dtype=dtype, copy=True)
    return build.in_format(copy, format, operator)


@composite(name="type_as", methods=["type_as"], views="input", itself=True)
def type_as(input: Tensor, other: Tensor):
    """Convert to the dtype of another tensor."""
    return build.convert(input, other.dtype)


@composite(names=["clone"], samples=unary())
def clone(input, *, memory_format: MemoryFormat = None):
    """A copy. (In a graph values are immutable; the planner sees to it that a result has memory of
    its own.)
    """
    if memory_format is not None and memory_format.name != "preserve_format":
        return _formatted(input, input.dtype, memory_format, "clone")
    return input


@composite(name="contiguous", methods=["contiguous"], samples=unary())
def contiguous(input, memory_format: MemoryFormat = None):
    """A tensor without gaps whose dims lie in memory in the order of the format, by default
    row-major. (The native core returns a tensor that already is one.)
    """
    if memory_format is None:
        return build.contiguous(input)
    return _formatted(input, input.dtype, memory_format, "contiguous")


def _cast_method(name: str, dtype: DType) -> Composite:
    def body(input, memory_format: MemoryFormat = None):
        if memory_format is not None and memory_format.name != "preserve_format":
            return _formatted(input, dtype, memory_format, name)
        return build.convert(input, dtype)

    body.__doc__ = f"Convert to {dtype.name}."
    return composite(name=name, methods=[name], views="input", itself=True, samples=unary())(body)


CASTS = {
    name: _cast_method(name, dtype)
    for name, dtype in (
        ("float", dtypes.float32),
        ("double", dtypes.float64),
        ("half", dtypes.float16),
        ("bfloat16", dtypes.bfloat16),
        ("int", dtypes.int32),
        ("long", dtypes.int64),
        ("short", dtypes.int16),
        ("char", dtypes.int8),
        ("byte", dtypes.uint8),
        ("bool", dtypes.bool),
        ("cfloat", dtypes.complex64),
        ("cdouble", dtypes.complex128),
        ("chalf", dtypes.complex32),
    )
}
