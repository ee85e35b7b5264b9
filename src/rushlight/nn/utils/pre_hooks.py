"""Finding and removing the forward pre-hooks that compute parameters anew at each call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..modules.module import Module


def find_pre_hook(module: Module, matches: Callable[[Any], bool]) -> tuple[int, Any] | None:
    """The first forward pre-hook that matches, with its number; None if there is none."""
    hooks = module._forward_pre_hooks.items()
    return next(((number, hook) for number, hook in hooks if matches(hook)), None)


def remove_pre_hook(module: Module, matches: Callable[[Any], bool]) -> bool:
    """Undo what the first matching hook did and take it away; False if none matches."""
    found = find_pre_hook(module, matches)
    if found is None:
        return False
    number, hook = found
    hook.remove(module)
    del module._forward_pre_hooks[number]
    return True
