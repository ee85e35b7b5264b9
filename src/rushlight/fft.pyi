"""Operators under fft.

Written by ``python -m rushlight.tools.stubs``; do not edit.
"""

# ruff: noqa

from builtins import bool as _bool, float as _float, int as _int
from collections.abc import Sequence
from typing import Any

from ._core import Generator as _Generator, Tensor as Tensor, _Number
from .device import device as _device
from .dtypes import dtype as _dtype
from .formats import layout as _layout, memory_format as _memory_format

def fft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The Fourier transform over one dim.

    Args:
        n: to how many elements the dim is cut or padded with zeros first; of a real result, how
            many it has.
        dim: which.
        norm: "backward" (or None) divides the inverse transform by the number of elements,
        "forward" the forward one, "ortho" each by its root.
    """

def fft2(
    input: Tensor,
    s: _int | None = None,
    dim: _int | Sequence[_int] | None = ...,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The Fourier transform over two dims.

    Args:
        s: to which sizes the dims are cut or padded with zeros first (-1: not at all); of a
            real result, the sizes.
        dim: which; by default the last two.
        norm: "backward" (or None) divides the inverse transform by the number of elements,
        "forward" the forward one, "ortho" each by its root.
    """

def fftfreq(
    n: _int,
    d: Tensor | _Number = 1.0,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
    out: Any = None,
) -> Tensor:
    """The frequencies of the elements of a transform of n samples that lie d apart."""

def fftn(
    input: Tensor,
    s: _int | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The Fourier transform over several dims.

    Args:
        s: to which sizes the dims are cut or padded with zeros first (-1: not at all); of a
            real result, the sizes.
        dim: which; by default as many as s has sizes, or all.
        norm: "backward" (or None) divides the inverse transform by the number of elements,
        "forward" the forward one, "ortho" each by its root.
    """

def fftshift(input: Tensor, dim: _int | Sequence[_int] | None = None) -> Tensor:
    """The zero frequency moved to the middle of each dim: negative frequencies come first."""

def hfft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The real transform of the first half of a Hermitian signal over one dim.

    Args:
        n: to how many elements the dim is cut or padded with zeros first; of a real result, how
            many it has.
        dim: which.
        norm: "backward" (or None) divides the inverse transform by the number of elements,
        "forward" the forward one, "ortho" each by its root.
    """

def hfft2(
    input: Tensor,
    s: _int | None = None,
    dim: _int | Sequence[_int] | None = ...,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The real transform of the first half of a Hermitian signal over two dims.

    Args:
        s: to which sizes the dims are cut or padded with zeros first (-1: not at all); of a
            real result, the sizes.
        dim: which; by default the last two.
        norm: "backward" (or None) divides the inverse transform by the number of elements,
        "forward" the forward one, "ortho" each by its root.
    """

def hfftn(
    input: Tensor,
    s: _int | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The real transform of the first half of a Hermitian signal over several dims.

    Args:
        s: to which sizes the dims are cut or padded with zeros first (-1: not at all); of a
            real result, the sizes.
        dim: which; by default as many as s has sizes, or all.
        norm: "backward" (or None) divides the inverse transform by the number of elements,
        "forward" the forward one, "ortho" each by its root.
    """

def ifft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The inverse Fourier transform over one dim.

    Args:
        n: to how many elements the dim is cut or padded with zeros first; of a real result, how
            many it has.
        dim: which.
        norm: "backward" (or None) divides the inverse transform by the number of elements,
        "forward" the forward one, "ortho" each by its root.
    """

def ifft2(
    input: Tensor,
    s: _int | None = None,
    dim: _int | Sequence[_int] | None = ...,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The inverse Fourier transform over two dims.

    Args:
        s: to which sizes the dims are cut or padded with zeros first (-1: not at all); of a
            real result, the sizes.
        dim: which; by default the last two.
        norm: "backward" (or None) divides the inverse transform by the number of elements,
        "forward" the forward one, "ortho" each by its root.
    """

def ifftn(
    input: Tensor,
    s: _int | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The inverse Fourier transform over several dims.

    Args:
        s: to which sizes the dims are cut or padded with zeros first (-1: not at all); of a
            real result, the sizes.
        dim: which; by default as many as s has sizes, or all.
        norm: "backward" (or None) divides the inverse transform by the number of elements,
        "forward" the forward one, "ortho" each by its root.
    """

def ifftshift(input: Tensor, dim: _int | Sequence[_int] | None = None) -> Tensor:
    """The inverse of fftshift."""

def ihfft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The first half of real numbers' inverse transform over one dim.

    Args:
        n: to how many elements the dim is cut or padded with zeros first; of a real result, how
            many it has.
        dim: which.
        norm: "backward" (or None) divides the inverse transform by the number of elements,
        "forward" the forward one, "ortho" each by its root.
    """

def ihfft2(
    input: Tensor,
    s: _int | None = None,
    dim: _int | Sequence[_int] | None = ...,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The first half of real numbers' inverse transform over two dims.

    Args:
        s: to which sizes the dims are cut or padded with zeros first (-1: not at all); of a
            real result, the sizes.
        dim: which; by default the last two.
        norm: "backward" (or None) divides the inverse transform by the number of elements,
        "forward" the forward one, "ortho" each by its root.
    """

def ihfftn(
    input: Tensor,
    s: _int | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The first half of real numbers' inverse transform over several dims.

    Args:
        s: to which sizes the dims are cut or padded with zeros first (-1: not at all); of a
            real result, the sizes.
        dim: which; by default as many as s has sizes, or all.
        norm: "backward" (or None) divides the inverse transform by the number of elements,
        "forward" the forward one, "ortho" each by its root.
    """

def irfft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The real inverse transform of the first half of a spectrum over one dim.

    Args:
        n: to how many elements the dim is cut or padded with zeros first; of a real result, how
            many it has.
        dim: which.
        norm: "backward" (or None) divides the inverse transform by the number of elements,
        "forward" the forward one, "ortho" each by its root.
    """

def irfft2(
    input: Tensor,
    s: _int | None = None,
    dim: _int | Sequence[_int] | None = ...,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The real inverse transform of the first half of a spectrum over two dims.

    Args:
        s: to which sizes the dims are cut or padded with zeros first (-1: not at all); of a
            real result, the sizes.
        dim: which; by default the last two.
        norm: "backward" (or None) divides the inverse transform by the number of elements,
        "forward" the forward one, "ortho" each by its root.
    """

def irfftn(
    input: Tensor,
    s: _int | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The real inverse transform of the first half of a spectrum over several dims.

    Args:
        s: to which sizes the dims are cut or padded with zeros first (-1: not at all); of a
            real result, the sizes.
        dim: which; by default as many as s has sizes, or all.
        norm: "backward" (or None) divides the inverse transform by the number of elements,
        "forward" the forward one, "ortho" each by its root.
    """

def rfft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The first half (along the last dim) of real numbers' transform over one dim.

    Args:
        n: to how many elements the dim is cut or padded with zeros first; of a real result, how
            many it has.
        dim: which.
        norm: "backward" (or None) divides the inverse transform by the number of elements,
        "forward" the forward one, "ortho" each by its root.
    """

def rfft2(
    input: Tensor,
    s: _int | None = None,
    dim: _int | Sequence[_int] | None = ...,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The first half (along the last dim) of real numbers' transform over two dims.

    Args:
        s: to which sizes the dims are cut or padded with zeros first (-1: not at all); of a
            real result, the sizes.
        dim: which; by default the last two.
        norm: "backward" (or None) divides the inverse transform by the number of elements,
        "forward" the forward one, "ortho" each by its root.
    """

def rfftfreq(
    n: _int,
    d: Tensor | _Number = 1.0,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
    out: Any = None,
) -> Tensor:
    """The frequencies of the elements of rfft of n samples that lie d apart."""

def rfftn(
    input: Tensor,
    s: _int | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: str | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The first half (along the last dim) of real numbers' transform over several dims.

    Args:
        s: to which sizes the dims are cut or padded with zeros first (-1: not at all); of a
            real result, the sizes.
        dim: which; by default as many as s has sizes, or all.
        norm: "backward" (or None) divides the inverse transform by the number of elements,
        "forward" the forward one, "ortho" each by its root.
    """
