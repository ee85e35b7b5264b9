"""Hooks under PyTorch's name."""

from __future__ import annotations

import warnings
from typing import Any

from ..autograd.hooks import RemovableHandle
from ..nn.modules.backward_hooks import BackwardHook

__all__ = ["BackwardHook", "RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f: Any) -> Any:
    """Mark a hook that is left out, with a warning, when what it hangs on is saved."""
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn if a tensor has hooks, which are not saved with it."""
    for hook in (getattr(tensor, "_backward_hooks", None) or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} of a tensor is left out when it is saved. Decorate the "
                "hook with @torch.utils.hooks.unserializable_hook if that is as you want it.",
                stacklevel=2,
            )
