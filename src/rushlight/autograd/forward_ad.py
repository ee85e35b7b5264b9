"""Forward mode on tensors: a *dual tensor* has a tangent, which operators pass on.

Inside a level, the core hands calls with dual tensors to Python (``autograd/dual_calls.py``).
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from .. import _core
from .._core import Tensor

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]


class _State(threading.local):
    level = -1  # the one that was entered; -1: none
    enabled = True
    duals: list[weakref.ref[Tensor]] = []  # of the level; each level has a list of its own


_state = _State()


# ---------------------------------------------------------------- levels


def enter_dual_level() -> int:
    """Enter forward mode in this thread; ``dual_level`` is the context manager.

    Raises:
        RuntimeError: if it was entered before: levels do not nest, as in PyTorch.
    """
    if _state.level >= 0:
        raise RuntimeError(
            "Nested forward mode AD is not supported: leave the open dual level first, or use "
            "rushlight.func.jvp, which nests"
        )
    _core.dual_levels(1)
    _state.level, _state.duals = 0, []
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Leave forward mode: dual tensors become plain tensors.

    Raises:
        RuntimeError: if the level is not the one that was entered last.
    """
    level = _state.level if level is None else level
    if level < 0:
        raise RuntimeError("Dual level must be a positive number; no level was entered.")
    if level != _state.level:
        raise RuntimeError(
            f"Dual levels are left in the reverse order of entering: level {level} cannot exit "
            f"while the innermost level is {_state.level}."
        )
    duals, _state.level, _state.duals = _state.duals, -1, []
    for reference in duals:
        dual = reference()
        if dual is not None:
            _core.set_tangent(dual, None)
    _core.dual_levels(-1)


class dual_level:
    """A context manager in which dual tensors can be made and have tangents.

    Example:
        >>> with dual_level():
        ...     x = make_dual(rushlight.ones(2), rushlight.ones(2))
        ...     unpack_dual(x * x).tangent
        tensor([2., 2.])
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exception: object) -> None:
        exit_dual_level()


def _is_fwd_grad_enabled() -> bool:
    """Whether operators pass tangents on."""
    return _state.enabled and not _core.is_inference_mode_enabled()


class _set_fwd_grad_enabled:
    """Sets whether operators pass tangents on: a function, a context manager or a decorator."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self.previous = _state.enabled
        _state.enabled = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        _state.enabled = self.previous

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        _state.enabled = self.previous  # the decorator itself sets nothing

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with _set_fwd_grad_enabled(self.mode):
                return function(*args, **kwargs)

        return wrapper


# ---------------------------------------------------------------- dual tensors


class UnpackedDualTensor(NamedTuple):
    """A tensor and its tangent, None if it has none."""

    primal: Tensor
    tangent: Tensor | None


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of ``tensor`` that has ``tangent`` as its derivative along a direction.

    Args:
        tensor: of a floating-point or complex dtype.
        tangent: of the same shape.
        level: the level that was entered, which is the default.

    Raises:
        RuntimeError: outside of ``dual_level``, if the tangent's shape or dtype is another, or if
            one of them has a tangent already.
        ValueError: if one is of an integer dtype.
    """
    from ..func.forward import check_tangent

    check_level(level, "make_dual")
    if _state.level < 0:
        raise RuntimeError(
            "A dual tensor belongs to a level, but no level exists: call make_dual() inside `with "
            "dual_level():`."
        )
    check_tangent(tensor, tangent)
    if _core.tangent(tensor) is not None:
        raise RuntimeError(
            "The tensor already has a forward gradient at this level; call unpack_dual() and give "
            "make_dual() the primal"
        )
    if _core.tangent(tangent) is not None:
        raise RuntimeError(
            "The tangent itself has a forward gradient at this level, which would be a second "
            "derivative; use rushlight.func.jvp, which nests"
        )
    dual = _core.alias_as(Tensor, tensor)
    set_tangent(dual, tangent)
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The tensor without its tangent, and the tangent; None if there is none or no level."""
    if not isinstance(tensor, Tensor):
        raise TypeError(
            "unpack_dual(): argument 'tensor' (position 1) must be Tensor, not "
            f"{type(tensor).__name__}"
        )
    check_level(level, "unpack_dual")
    tangent = _core.tangent(tensor) if _state.level >= 0 else None
    if tangent is None:
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(_core.alias_as(Tensor, tensor), tangent)


def check_level(level: int | None, function: str) -> None:
    """RuntimeError for a level that does not exist."""
    if level is not None and _state.level >= 0 and level != _state.level:
        raise RuntimeError(f"Invalid level given to {function}(): {level}, not {_state.level}")


def set_tangent(tensor: Tensor, tangent: Tensor) -> None:
    """Make a tensor dual. Its views' tangents are views of its tangent: the strides must agree."""
    _state.duals.append(weakref.ref(tensor))
    _core.set_tangent(tensor, as_laid_out(tangent, tensor))


def as_laid_out(tangent: Tensor, tensor: Tensor) -> Tensor:
    """The tangent, or a copy of it, with the strides of the tensor."""
    strides, overlaps = tensor.stride(), False
    fits = True
    for size, wanted, given in zip(tensor.shape, strides, tangent.stride(), strict=True):
        fits &= size == 1 or wanted == given
        overlaps |= size > 1 and wanted == 0
    if fits or overlaps or not tensor.numel():
        return tangent
    return empty_like_strided(tensor).copy_(tangent)


def empty_like_strided(tensor: Tensor) -> Tensor:
    """Memory of its own with a tensor's sizes and strides."""
    device = int(tensor.is_meta)
    return _core.empty_strided(tuple(tensor.shape), tensor.stride(), tensor.dtype.code, device)


def active() -> bool:
    """Whether this thread is inside a level."""
    return _state.level >= 0
