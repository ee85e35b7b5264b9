"""Fourier transforms of the parts of a signal (Griffin and Lim 1984), and the signal back."""

from __future__ import annotations

from typing import Any

from ..graph.trace import Traced, warn_user
from . import build
from .fourier import as_complex, complex_transform, half_transform, real_transform, transformable
from .record import Size, Tensor, composite, op
from .samples import Draw, Samples, calls, is_precise, only
from .statistics import require_range
from .windows import overlap_add_primitive

_LEAST = 1e-11  # the least sum of squares of windows that is divided by


def _steps(name: str, n_fft: int, hop_length: Any, win_length: Any, window: Any) -> tuple[int, int]:
    """The distance of neighbouring parts and the length of the window."""
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    if hop <= 0:
        raise RuntimeError(f"{name}: expected hop_length > 0, but got hop_length={hop}")
    if not 0 < length <= n_fft:
        raise RuntimeError(f"{name}: win_length must be from 1 to n_fft={n_fft}, not {length}")
    if window is None:
        warn_user(
            f"{name}: no window is given, so a rectangular one is taken; give window= to "
            "reduce spectral leakage",
        )
    elif window.ndim != 1 or window.shape[0] != length:
        raise RuntimeError(
            f"{name}: window must be a vector of win_length={length} elements, but its shape "
            f"is {list(window.shape)}"
        )
    return hop, length


def _whole_window(window: Any, length: int, n_fft: int, dtype: Any) -> Traced:
    """The window in the middle of n_fft places, zero around it."""
    whole = build.full((length,), 1, dtype) if window is None else window
    return whole if length == n_fft else build.pad(whole, 0, (n_fft - length) // 2, n_fft)


def _framed(x: Traced, count: Any, hop: int, n_fft: int) -> Traced:
    """The parts of a batch of signals: ``[batch, count, n_fft]``."""
    return build.window(x, 1, count, hop, n_fft, 1)


def _signal(
    input: Traced, n_fft: int, length: int, center: bool, pad_mode: str, align: bool
) -> Traced:
    """A batch of signals with what is added at their ends."""
    x = input if input.ndim == 2 else build.insert_dim(input, 0)
    if center:
        around = n_fft // 2
        padded = getattr(op, "nn.functional.pad")(
            build.insert_dim(x, 0), (around, around), mode=pad_mode
        )
        return build.drop_dims(padded, (0,))
    around = (n_fft - length) // 2
    return build.pad(x, 1, around, x.shape[1] + 2 * around) if align and around else x


def _check_signal(input: Traced, center: bool, align: Any) -> None:
    if not input.dtype.is_differentiable:
        raise RuntimeError(
            f"stft: expected a tensor of floating point or complex values, but got {input.dtype}"
        )
    if input.ndim not in (1, 2):
        raise RuntimeError(
            f"stft: expected a 1D or 2D tensor, but got one of shape {list(input.shape)}"
        )
    if center and align is not None:
        raise RuntimeError("stft: align_to_window goes with center=False only")


def _complex_result(input: Traced, window: Any, return_complex: bool | None) -> bool:
    if return_complex is not None:
        if not return_complex:
            warn_user(
                "stft with return_complex=False is deprecated; use view_as_real on the complex "
                "result",
            )
        return return_complex
    if input.dtype.is_complex or (window is not None and window.dtype.is_complex):
        return True
    raise RuntimeError("stft: real inputs need return_complex=True")


def _stft_samples() -> Samples:
    window = Draw((6,), 0.5, 1)
    return only(
        is_precise,
        calls(
            ((Draw((2, 20)), 6), {"window": window, "return_complex": True}),
            ((Draw((20,)), 8, 3, 6, window), {"center": False, "return_complex": True}),
            (
                (Draw((20,)), 6, 2),
                {"window": window, "onesided": False, "normalized": True, "return_complex": True},
            ),
        ),
    )


@composite(names=["stft"], samples=_stft_samples())
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window=None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
):
    """The Fourier transforms of overlapping parts of a signal, each multiplied by a window.

    Args:
        input: ``[time]`` or ``[batch, time]``.
        n_fft: how many elements a part has.
        hop_length: the distance of neighbouring parts; None: ``n_fft // 4``.
        win_length: the size of the window; None: n_fft.
        window: by what parts are multiplied, in their middle; None: ones.
        center: whether ``n_fft // 2`` elements are added at both ends first.
        pad_mode: how; see ``nn.functional.pad``.
        normalized: whether results are divided by the root of n_fft.
        onesided: only the first half of each spectrum; None: for real numbers.
        return_complex: False: real and imaginary parts along a new last dim.
        align_to_window: without center, whether the window of the first part, rather than the part,
            begins at time 0.

    Returns:
        ``[batch, frequencies, parts]``.
    """
    _check_signal(input, center, align_to_window)
    is_complex = _complex_result(input, window, return_complex)
    hop, length = _steps("stft", n_fft, hop_length, win_length, window)
    x = _signal(
        transformable("stft", input, False), n_fft, length, center, pad_mode, bool(align_to_window)
    )
    if n_fft <= 0 or n_fft > x.shape[1]:
        raise RuntimeError(
            f"stft: expected 0 < n_fft <= {x.shape[1]}, the length of the signal, but got "
            f"n_fft={n_fft}"
        )
    real = not x.dtype.is_complex and (window is None or not window.dtype.is_complex)
    onesided = real if onesided is None else onesided
    if onesided and not real:
        raise RuntimeError("stft: onesided=True needs a real input and window; give onesided=False")
    frames = _framed(x, (x.shape[1] - n_fft) // hop + 1, hop, n_fft)
    if window is not None or length < n_fft:
        frames = frames * _whole_window(window, length, n_fft, x.dtype.to_real())
    divisor = "root" if normalized else "none"
    if onesided:
        result = half_transform.apply(frames, dims=(2,), divisor=divisor)
    else:
        result = complex_transform.apply(
            as_complex(frames), dims=(2,), forward=True, divisor=divisor
        )
    result = build.permute(result, (0, 2, 1))
    result = result if input.ndim == 2 else build.drop_dims(result, (0,))
    return result if is_complex else op.view_as_real(result)


def _check_spectra(input: Traced, n_fft: int, hop: int, length: int, onesided: bool) -> None:
    if not input.dtype.is_complex:
        raise RuntimeError(
            "istft: input must be complex, as stft returns it with return_complex=True, not "
            f"{input.dtype}"
        )
    if input.ndim not in (2, 3):
        raise RuntimeError(f"istft: input must have 2 or 3 dimensions, not {input.ndim}")
    if any(size == 0 for size in input.shape):
        raise RuntimeError("istft: input tensor cannot be empty.")
    expected = n_fft // 2 + 1 if onesided else n_fft
    if input.shape[-2] != expected:
        raise RuntimeError(
            f"istft: expected the frequency dimension (2nd to the last) of the input tensor to be "
            f"{expected} for n_fft={n_fft} with onesided={onesided}, but got {input.shape[-2]}"
        )
    if hop > length:
        raise RuntimeError(
            f"istft: expected 0 < hop_length <= win_length={length}, but got hop_length={hop}"
        )


@composite(
    names=["istft"],
    samples=lambda dtype: (
        iter([((Draw((2, 4, 7)), 6), {"window": Draw((6,), 0.5, 1, dtype=dtype.to_real())})])
        if dtype.is_complex and dtype.itemsize > 4
        else iter(())
    ),
)
def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window=None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: Size = None,
    return_complex: bool = False,
):
    """The signal of which stft gives the transforms: the one that is nearest in the mean.

    Args:
        input: ``[frequencies, parts]`` or ``[batch, frequencies, parts]``.
        n_fft, hop_length, win_length, window, center, normalized, onesided: as in ``stft``.
        length: of the signal; None: as far as the parts reach.
        return_complex: whether the signal is complex; onesided is False then.

    Returns:
        ``[time]`` or ``[batch, time]``.
    """
    hop, width = _steps("istft", n_fft, hop_length, win_length, window)
    complex_window = window is not None and window.dtype.is_complex
    if onesided is None:
        onesided = input.ndim >= 2 and not input.shape[-2] == n_fft
    if return_complex and onesided:
        raise RuntimeError(
            "istft: onesided=True gives real results; give onesided=False or return_complex=False"
        )
    if complex_window and not return_complex:
        raise RuntimeError("istft: Complex windows are incompatible with return_complex=False")
    _check_spectra(input, n_fft, hop, width, onesided)
    x = transformable("istft", input, False)
    x = build.permute(x if x.ndim == 3 else build.insert_dim(x, 0), (0, 2, 1))
    divisor = "root" if normalized else "whole"
    if return_complex:
        frames = complex_transform.apply(x, dims=(2,), forward=False, divisor=divisor)
    else:
        half = x if onesided else build.slice_(x, 2, 0, 1, n_fft // 2 + 1)
        frames = real_transform.apply(half, dims=(2,), size=n_fft, divisor=divisor)
    whole = _whole_window(window, width, n_fft, x.dtype.to_real())
    frames = frames * whole
    count = x.shape[1]
    reach = n_fft + hop * (count - 1)
    signal = overlap_add_primitive.apply(frames, dim=1, size=reach, step=hop, spacing=1)
    squares = build.expand(whole * whole, (1, count, n_fft))
    weight = overlap_add_primitive.apply(squares, dim=1, size=reach, step=hop, spacing=1)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else reach - start
    if end <= start:
        raise RuntimeError(f"istft: no signal of length {end - start} can be given")
    known = end if end <= reach else reach
    signal, weight = (build.slice_(each, 1, start, 1, known - start) for each in (signal, weight))
    least = require_range(
        op.abs(weight),
        _LEAST,
        float("inf"),
        "istft: window overlap add min: the windows are zero at some time, so the signal there is "
        "not known; use another window or hop_length",
    )
    signal = signal / (weight + 0 * least)
    if end > reach:
        warn_user(
            "istft: the length of the signal is shorter than the length parameter; zeros are added "
            "at the end",
        )
        signal = build.pad(signal, 1, 0, end - start)
    return signal if input.ndim == 3 else build.drop_dims(signal, (0,))
