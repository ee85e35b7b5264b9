"""Handles of hooks, at the place where programs import them from."""

from __future__ import annotations

from ..autograd.hooks import RemovableHandle
from ..nn.modules.backward_hooks import BackwardHook

__all__ = ["BackwardHook", "RemovableHandle"]
