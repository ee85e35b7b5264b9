"""Discrete Fourier transforms, by SciPy's pocketfft.

Three linear maps are host steps: complex to complex numbers, real numbers to the first half of
their (Hermitian) spectrum, and back. Their transposes are made of them, so derivatives of any
order follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.trace import Traced
from ..layout import normalize_dim, normalize_dims
from ..promotion import scalar_type_name
from . import build
from .complex import real_part
from .kind import shifted
from .kinds import Host
from .record import Dim, Operand, Size, Tensor, composite, constructor, op, primitive
from .samples import Draw, Samples, calls

# SciPy's names for dividing by nothing, by the root of the number of elements, or by that number.
_SCIPY_NORMS = {
    True: {"none": "backward", "root": "ortho", "whole": "forward"},
    False: {"none": "forward", "root": "ortho", "whole": "backward"},
}
# What a transform is divided by, for each of PyTorch's modes: forward and inverse.
_DIVISORS: dict[str | None, tuple[str, str]] = {
    None: ("none", "whole"),
    "backward": ("none", "whole"),
    "ortho": ("root", "root"),
    "forward": ("whole", "none"),
}


class _Transform(Host):
    """Along attribute ``dims``, for each place in the other dims apart."""

    def batch(
        self,
        primitive: Any,
        inputs: Sequence,
        batched: Sequence[bool],
        size: Any,
        attributes: dict[str, Any],
    ) -> list:
        moved = {**attributes, "dims": shifted(attributes["dims"])}
        return [primitive.apply(*inputs, **moved)]


def _with_size(x: Any, dims: tuple[int, ...], size: Any) -> tuple[Any, ...]:
    (dim,) = dims
    return (*x.shape[:dim], size, *x.shape[dim + 1 :])


# ---------------------------------------------------------------- the linear maps


def _complex_arrays(x: Any, dims: tuple[int, ...], forward: bool, divisor: str) -> Any:
    from scipy import fft

    if not x.size or not dims:
        return x
    transform = fft.fftn if forward else fft.ifftn
    return transform(x, axes=dims, norm=_SCIPY_NORMS[forward][divisor])


@primitive(
    _Transform(lambda environment, x, dims, forward, divisor: [(x.dtype, tuple(x.shape), False)]),
    name="fourier_complex",
    transpose=lambda g, x, dims, forward, divisor: complex_transform.apply(
        g, dims=dims, forward=not forward, divisor=divisor
    ),
    reference=_complex_arrays,
)
def complex_transform(x, dims, forward, divisor):
    """The forward or inverse transform of complex numbers over dims, divided by ``divisor``."""


def _half_arrays(x: Any, dims: tuple[int, ...], divisor: str) -> Any:
    from scipy import fft

    if not x.size:
        shape = _with_size(x, dims, x.shape[dims[0]] // 2 + 1)
        return numpy.zeros(shape, numpy.result_type(x, numpy.complex64))
    return fft.rfft(x, axis=dims[0], norm=_SCIPY_NORMS[True][divisor])


def _half_transpose(g: Traced, x: Traced, dims: tuple[int, ...], divisor: str) -> Traced:
    whole = build.pad(g, dims[0], 0, x.shape[dims[0]])
    return real_part(complex_transform.apply(whole, dims=dims, forward=False, divisor=divisor))


@primitive(
    _Transform(
        lambda environment, x, dims, divisor: [
            (x.dtype.to_complex(), _with_size(x, dims, x.shape[dims[0]] // 2 + 1), False)
        ]
    ),
    name="fourier_half",
    transpose=_half_transpose,
    reference=_half_arrays,
)
def half_transform(x, dims, divisor):
    """The first half of the forward transform of real numbers over one dim; the other half is its
    mirror image, conjugated.
    """


def _real_arrays(x: Any, dims: tuple[int, ...], size: int, divisor: str) -> Any:
    from scipy import fft

    if not x.size:
        return numpy.zeros(_with_size(x, dims, size), x.real.dtype)
    return fft.irfft(x, size, axis=dims[0], norm=_SCIPY_NORMS[False][divisor])


def _real_transpose(g: Traced, x: Traced, dims: tuple[int, ...], size: Any, divisor: str) -> Traced:
    half = half_transform.apply(g, dims=dims, divisor=divisor)
    place = build.iota(x.shape[dims[0]])
    mirrored = (place >= 1) & (place <= (size - 1) // 2)
    factor = build.select_where(mirrored, 2, 1, g.dtype)
    along = [1 if dim != dims[0] else size for dim, size in enumerate(x.shape)]
    return half * build.reshape(factor, along)


@primitive(
    _Transform(
        lambda environment, x, dims, size, divisor: [
            (x.dtype.to_real(), _with_size(x, dims, size), False)
        ]
    ),
    name="fourier_real",
    transpose=_real_transpose,
    reference=_real_arrays,
)
def real_transform(x, dims, size, divisor):
    """The inverse transform over one dim of a spectrum of which the first half is given: ``size``
    real numbers.
    """


# ---------------------------------------------------------------- arguments


def transformable(name: str, input: Traced, real: bool) -> Traced:
    """The input in single or double precision."""
    if real and input.dtype.is_complex:
        raise RuntimeError(
            f"{name} expects a real input tensor, but got {scalar_type_name(input.dtype)}"
        )
    if input.dtype.is_integral:
        input = build.convert(input, dtypes.get_default_dtype())
    if input.dtype.itemsize == (4 if input.dtype.is_complex else 2):
        raise RuntimeError(
            f"{name}: Unsupported dtype {scalar_type_name(input.dtype)}; convert the input"
        )
    return input


def as_complex(x: Traced) -> Traced:
    return x if x.dtype.is_complex else build.convert(x, x.dtype.to_complex())


def _divisor(norm: str | None, forward: bool, name: str) -> str:
    if norm not in _DIVISORS:
        raise RuntimeError(f'{name}: Invalid normalization mode: "{norm}"')
    return _DIVISORS[norm][0 if forward else 1]


def _dims_and_sizes(
    name: str, input: Traced, s: Any, dim: Any
) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """The dims to transform, and to which size each is cut or padded (None: its own)."""
    sizes = None if s is None else tuple(s) if isinstance(s, list | tuple) else (s,)
    if dim is not None:
        if not input.ndim and dim != ():
            raise IndexError(f"{name}: Dimension specified as {dim} but tensor has no dimensions")
        dims = normalize_dims(dim, input.ndim)
        if len(set(dims)) < len(dims):
            raise RuntimeError(f"{name}: FFT dims must be unique, but they are {dim}")
        if sizes is not None and len(sizes) != len(dims):
            raise RuntimeError(
                f"{name}: dim and the sizes must have the same length, not {len(dims)} and "
                f"{len(sizes)}"
            )
    elif sizes is not None and len(sizes) > input.ndim:
        raise RuntimeError(
            f"{name}: Got shape with {len(sizes)} values but input tensor only has {input.ndim} "
            "dimensions."
        )
    else:
        count = input.ndim if sizes is None else len(sizes)
        dims = tuple(range(input.ndim - count, input.ndim))
    if sizes is None:
        return dims, (None,) * len(dims)
    return dims, tuple(None if isinstance(n, int) and n == -1 else n for n in sizes)


def _resized(name: str, x: Traced, dims: Sequence[int], sizes: Sequence[Any]) -> Traced:
    """The input cut or padded with zeros along dims."""
    for dim, size in zip(dims, sizes, strict=True):
        old = x.shape[dim]
        if (old if size is None else size) < 1:
            wanted = old if size is None else size
            raise RuntimeError(f"{name}: Invalid number of data points ({wanted}) specified")
        if size is not None and size < old:
            x = build.slice_(x, dim, 0, 1, size)
        elif size is not None and size > old:
            x = build.pad(x, dim, 0, size)
    return x


# ---------------------------------------------------------------- transforms of any dims

_Transformer = Callable[[str, Traced, Any, Any, "str | None", bool], Traced]


def _to_complex(name: str, input: Any, dims: Any, sizes: Any, norm: Any, forward: bool) -> Traced:
    divisor = _divisor(norm, forward, name)
    x = _resized(name, as_complex(transformable(name, input, False)), dims, sizes)
    if not dims:
        return build.contiguous(x) if x is input else x
    return complex_transform.apply(x, dims=tuple(sorted(dims)), forward=forward, divisor=divisor)


def _to_half(name: str, input: Any, dims: Any, sizes: Any, norm: Any, forward: bool) -> Traced:
    divisor = _divisor(norm, forward, name)
    x = transformable(name, input, True)
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    x = _resized(name, x, dims, sizes)
    half = half_transform.apply(x, dims=(dims[-1],), divisor=divisor)
    half = half if forward else build.conjugate(half)
    rest = tuple(sorted(dims[:-1]))
    if not rest:
        return half
    return complex_transform.apply(half, dims=rest, forward=forward, divisor=divisor)


def _to_real(name: str, input: Any, dims: Any, sizes: Any, norm: Any, forward: bool) -> Traced:
    divisor = _divisor(norm, forward, name)
    x = as_complex(transformable(name, input, False))
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    last = dims[-1]
    size = 2 * (x.shape[last] - 1) if sizes[-1] is None else sizes[-1]
    if size < 1:
        raise RuntimeError(f"{name}: Invalid number of data points ({size}) specified")
    x = _resized(name, x, dims, (*sizes[:-1], size // 2 + 1))
    rest = tuple(sorted(dims[:-1]))
    if rest:
        x = complex_transform.apply(x, dims=rest, forward=forward, divisor=divisor)
    x = build.conjugate(x) if forward else x
    return real_transform.apply(x, dims=(last,), size=size, divisor=divisor)


# ---------------------------------------------------------------- records

_NORM_TEXT = """norm: "backward" (or None) divides the inverse transform by the number of elements,
            "forward" the forward one, "ortho" each by its root."""


def _is_single(dtype: Any) -> bool:
    return dtype.is_differentiable and dtype.itemsize > (4 if dtype.is_complex else 2)


def _samples(real: bool, *all_calls: Any) -> Samples:
    samples = calls(*all_calls)
    return lambda dtype: (
        samples(dtype) if _is_single(dtype) and not (real and dtype.is_complex) else iter(())
    )


def _one_dim(name: str, text: str, transform: _Transformer, forward: bool) -> None:
    def body(input: Tensor, n: Size = None, dim: int = -1, norm: str | None = None):
        if not input.ndim:
            raise IndexError(f"{name}: Dimension specified as {dim} but tensor has no dimensions")
        dims = (normalize_dim(dim, input.ndim),)
        return transform(name, input, dims, (n,), norm, forward)

    body.__doc__ = f"""{text} over one dim.

        Args:
            n: to how many elements the dim is cut or padded with zeros first; of a real result, how
                many it has.
            dim: which.
            {_NORM_TEXT}
        """
    composite(
        name=f"fft_{name}",
        names=[f"fft.{name}"],
        methods=[],
        out=True,
        samples=_samples(
            transform is _to_half,
            (Draw((3, 5)),),
            (Draw((3, 4)), 6, 0, "ortho"),
            ((Draw((6,)), 5), {"norm": "forward"}),
        ),
    )(body)


def _many_dims(name: str, text: str, transform: _Transformer, forward: bool) -> None:
    def pair(input: Tensor, s: Size = None, dim: Dim = (-2, -1), norm: str | None = None):
        if not input.ndim:
            raise IndexError(f"{name}2: Dimension specified as -2 but tensor has no dimensions")
        dims, sizes = _dims_and_sizes(f"{name}2", input, s, dim)
        return transform(f"{name}2", input, dims, sizes, norm, forward)

    def several(input: Tensor, s: Size = None, dim: Dim = None, norm: str | None = None):
        dims, sizes = _dims_and_sizes(f"{name}n", input, s, dim)
        return transform(f"{name}n", input, dims, sizes, norm, forward)

    for suffix, body, over, default in (
        ("2", pair, "two dims", "the last two"),
        ("n", several, "several dims", "as many as s has sizes, or all"),
    ):
        body.__doc__ = f"""{text} over {over}.

        Args:
            s: to which sizes the dims are cut or padded with zeros first (-1: not at all); of a
                real result, the sizes.
            dim: which; by default {default}.
            {_NORM_TEXT}
        """
        composite(
            name=f"fft_{name}{suffix}",
            names=[f"fft.{name}{suffix}"],
            methods=[],
            out=True,
            samples=_samples(
                transform is _to_half,
                (Draw((2, 3, 4)),),
                ((Draw((3, 4)), (4, 3)), {"norm": "ortho"}),
                ((Draw((3, 4, 2)),), {"dim": (0, 1), "norm": "forward"}),
            ),
        )(body)


for _name, _text, _transform, _forward in (
    ("fft", "The Fourier transform", _to_complex, True),
    ("ifft", "The inverse Fourier transform", _to_complex, False),
    ("rfft", "The first half (along the last dim) of real numbers' transform", _to_half, True),
    ("irfft", "The real inverse transform of the first half of a spectrum", _to_real, False),
    ("hfft", "The real transform of the first half of a Hermitian signal", _to_real, True),
    ("ihfft", "The first half of real numbers' inverse transform", _to_half, False),
):
    _one_dim(_name, _text, _transform, _forward)
    _many_dims(_name, _text, _transform, _forward)


def _shift(name: str, text: str, start: Callable[[Any], Any]) -> None:
    def body(input: Tensor, dim: Dim = None):
        dims = range(input.ndim) if dim is None else dim
        dims = tuple(dims) if not isinstance(dims, int) else (dims,)
        places = [normalize_dim(each, input.ndim) for each in dims]
        if not places:
            return build.contiguous(input)
        return op.roll(input, tuple(start(input.shape[place]) for place in places), tuple(places))

    body.__doc__ = text
    composite(
        name=name,
        names=[f"fft.{name}"],
        methods=[],
        samples=calls((Draw((5,)),), (Draw((3, 4)),), (Draw((3, 4)), 1), (Draw((2, 3)), (0, 1))),
    )(body)


_shift(
    "fftshift",
    "The zero frequency moved to the middle of each dim: negative frequencies come first.",
    lambda size: size // 2,
)
_shift("ifftshift", "The inverse of fftshift.", lambda size: (size + 1) // 2)


def _frequencies(name: str, n: Any, d: Any, dtype: Any, halves: bool) -> Traced:
    dtype = dtypes.get_default_dtype() if dtype is None else dtype
    if not dtype.is_differentiable:
        raise RuntimeError(f"{name} requires a floating point or complex dtype, not {dtype}")
    if n < 0:
        raise RuntimeError(f"{name}: Trying to create tensor with negative dimension {n}: [{n}]")
    count = n // 2 + 1 if halves else n
    place = build.iota(count)
    if not halves:
        place = build.select_where(place < (n + 1) // 2, place, place - n, build.INT64)
    step = float("inf") if n == 0 else 1.0 / (n * d)
    return build.convert(build.convert(place, dtypes.float64) * step, dtype)


@constructor(name="fft_fftfreq", names=["fft.fftfreq"], out=True, samples=calls((5,), (4, 0.5)))
def fftfreq(n: Size, d: Operand = 1.0, *, dtype: DType | None = None):
    """The frequencies of the elements of a transform of n samples that lie d apart."""
    return _frequencies("fftfreq", n, d, dtype, False)


@constructor(name="fft_rfftfreq", names=["fft.rfftfreq"], out=True, samples=calls((5,), (4, 0.5)))
def rfftfreq(n: Size, d: Operand = 1.0, *, dtype: DType | None = None):
    """The frequencies of the elements of rfft of n samples that lie d apart."""
    return _frequencies("rfftfreq", n, d, dtype, True)
