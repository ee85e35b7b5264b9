"""Copies of views: forms of the view operators whose results share no memory, and views as complex
numbers.
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..graph.trace import METHODS
from ..promotion import scalar_type_name
from . import build
from .record import FUNCTIONS, Size, Tensor, composite, op
from .samples import Draw, calls


def _copies(result: Any) -> Any:
    if isinstance(result, tuple | list):
        return tuple(build.contiguous(each) for each in result)
    return build.contiguous(result)


# What ``out=`` takes where there are several results.
_PARTS = {
    "split": "parts",
    "split_with_sizes": "parts, same dtype",
    "unbind": "parts, same dtype",
}


def _copy(view: str) -> None:
    record: Any = FUNCTIONS.get(view) or METHODS[view]

    def body(*args: Any, **kwargs: Any) -> Any:
        return _copies(record(*args, **kwargs))

    body.__signature__ = record.signature  # type: ignore[attr-defined]
    body.__doc__ = f"``{view}`` with results of their own memory."
    out = _PARTS.get(view, True)
    composite(names=[f"{view}_copy"], methods=[], out=out)(body)


for _view in (
    "as_strided",
    "detach",
    "diagonal",
    "expand",
    "permute",
    "select",
    "split",
    "split_with_sizes",
    "squeeze",
    "t",
    "transpose",
    "unbind",
    "unfold",
    "unsqueeze",
    "view",
):
    _copy(_view)


@composite(names=["narrow_copy"], out=True, samples=calls((Draw((5, 3)), 0, 1, 3)))
def narrow_copy(input: Tensor, dim: int, start: Size, length: Size):
    """``narrow`` with a result of its own memory."""
    if input.ndim and dim >= input.ndim:
        raise RuntimeError(
            f"narrow_copy: Expected dim < {input.ndim}, the number of dims of the input, but got "
            f"dim {dim}"
        )
    return _copies(op.narrow(input, dim, start, length))


@composite(names=["alias_copy"], methods=[], out="same dtype", samples=calls((Draw((2, 3)),)))
def alias_copy(input: Tensor):
    """A copy."""
    return build.contiguous(input)


@composite(names=["unsafe_split"], samples=calls((Draw((5, 2)), 2)))
def unsafe_split(tensor: Tensor, split_size: int, dim: int = 0):
    """``split`` with results of their own memory."""
    return _copies(op.split(tensor, split_size, dim))


@composite(names=["unsafe_split_with_sizes"], samples=calls((Draw((5, 2)), (1, 4))))
def unsafe_split_with_sizes(input: Tensor, split_sizes: tuple, dim: int = 0):
    """``split`` by sizes with results of their own memory."""
    return _copies(op.split(input, split_sizes, dim))


@composite(names=["unsafe_chunk"], samples=calls((Draw((5, 2)), 3)))
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0):
    """``chunk`` with results of their own memory."""
    return _copies(op.chunk(input, chunks, dim))


# ---------------------------------------------------------------- complex numbers as pairs


@composite(
    names=["view_as_real"],
    methods=[],
    views="input",
    samples=calls((Draw((2, 3), dtype=dtypes.complex128),), (Draw((), dtype=dtypes.complex64),)),
)
def view_as_real(input: Tensor):
    """The real and imaginary parts along a new last dim of size 2."""
    if not input.dtype.is_complex:
        raise RuntimeError(f"view_as_real is only supported for complex tensors, not {input.dtype}")
    return op.stack([op.real(input), op.imag(input)], -1)


@composite(
    names=["view_as_complex"],
    methods=[],
    views="input",
    samples=calls((Draw((3, 2)),), (Draw((2,)),)),
)
def view_as_complex(input: Tensor):
    """Complex numbers from the pairs along the last dim, which has size 2 and stride 1."""
    if input.dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
        raise RuntimeError(
            "view_as_complex: input must be float16, float32 or float64, not "
            f"{scalar_type_name(input.dtype)}"
        )
    if not input.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions (in view_as_complex)")
    if input.shape[-1] != 2:
        raise RuntimeError(
            f"Tensor must have a last dimension of size 2, not {input.shape[-1]} (in "
            "view_as_complex)"
        )
    return op.complex(op.select(input, -1, 0), op.select(input, -1, 1))


for _view in ("view_as_real", "view_as_complex"):
    _copy(_view)
