"""Anomaly mode: failures of the backward pass name the forward line, and NaNs are failures."""

from __future__ import annotations

import traceback
import warnings
from typing import Any

from .. import _core
from .._core import Tensor

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class _State:
    enabled = False
    check_nan = True


def is_anomaly_enabled() -> bool:
    """Is anomaly mode on?"""
    return _State.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Does anomaly mode look for NaNs?"""
    return _State.check_nan


def _set(enabled: bool, check_nan: bool) -> tuple[bool, bool]:
    """Switch the mode; what it was before."""
    if not isinstance(enabled, bool) or not isinstance(check_nan, bool):
        raise TypeError("set_anomaly_enabled(): mode and check_nan must be bool")
    before = _State.enabled, _State.check_nan
    _State.enabled, _State.check_nan = enabled, check_nan
    _core.set_anomaly_mode(enabled)
    return before


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Switch anomaly mode.

    Args:
        mode: whether backward passes report where their failures come from.
        check_nan: whether NaN counts as a failure.
    """
    _set(mode, check_nan)


class detect_anomaly:
    """Context manager in which the backward pass reports where its failures come from.

    A forward pass inside notes the stack of each operation. When the backward pass fails there, or
    (with `check_nan`) computes a NaN, a warning shows the stack of the operation's forward call.
    All of this is slow: use it for debugging only.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        self._before = (False, True)
        warnings.warn(
            "Anomaly Detection has been enabled: the backward pass runs slower, so switch it on "
            "only while looking for a bug.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._before = _set(True, self.check_nan)

    def __exit__(self, *exception: object) -> None:
        _set(*self._before)


class set_detect_anomaly:
    """Switches anomaly mode at once, and back at the end of a `with` statement."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = _set(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        _set(*self._before)


# ---------------------------------------------------------------- called by the tape


def _stack() -> list[str]:
    """Where the node that is being made was asked for."""
    return traceback.format_stack()[:-1]


def _has_nan(gradient: Tensor) -> bool:
    if not _State.check_nan or not (gradient.is_floating_point() or gradient.is_complex()):
        return False
    return bool(gradient.isnan().any())


def _report(node: Any) -> None:
    """Warn with the stack of the node, and of those in whose backward pass it was made."""
    stack = node.metadata.get("traceback_")
    if stack is None:
        text = (
            f"Error detected in {node.name()}. No forward pass information available: anomaly "
            "detection was off when the operator was called. Turn it on around the forward pass "
            "too, to see the line."
        )
    else:
        text = (
            f"Error detected in {node.name()}. Traceback of forward call that caused the "
            f"error:\n{''.join(stack)}"
        )
    warnings.warn(text, stacklevel=2)
    seen = {id(node)}
    parent = node.metadata.get("parent_")
    while parent is not None and id(parent) not in seen:
        seen.add(id(parent))
        stack = parent.metadata.get("traceback_")
        detail = (
            "No forward pass information available: anomaly detection was off when the operator "
            "was called."
        )
        if stack is not None:
            detail = "That operator was in turn recorded by this call:\n"
            detail += "".join(stack)
        warnings.warn(
            f"\n\nPrevious calculation was induced by {parent.name()}. {detail}", stacklevel=2
        )
        parent = parent.metadata.get("parent_")


_core.register("anomaly_stack", _stack)
_core.register("anomaly_has_nan", _has_nan)
_core.register("anomaly_report", _report)
