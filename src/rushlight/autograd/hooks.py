"""Handles that remove hooks again."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import MutableMapping
from typing import Any

from .. import _core


class RemovableHandle:
    """What registering a hook returns: `remove()` or leaving a `with` block unregisters it.

    It refers to the dictionary of hooks weakly: neither hooks nor their owner stay alive by it.
    """

    __slots__ = ("__weakref__", "_hooks", "_extra", "id")
    _ids = itertools.count()

    def __init__(self, hooks_dict: MutableMapping[int, Any], *, extra_dict: Any = None) -> None:
        self._hooks = weakref.ref(hooks_dict)
        self.id = next(RemovableHandle._ids)
        extras = extra_dict if isinstance(extra_dict, (list, tuple)) else [extra_dict]
        self._extra = tuple(weakref.ref(extra) for extra in extras if extra is not None)

    def remove(self) -> None:
        """Unregister the hook; nothing happens if that was done before."""
        for reference in (self._hooks, *self._extra):
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}>"


_core.register("RemovableHandle", RemovableHandle)
