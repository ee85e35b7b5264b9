"""`allow_mutation_on_saved_tensors`: saved tensors are cloned before something writes to them."""

from __future__ import annotations

import weakref

from .. import _core
from .._core import Tensor


class _Handle:
    """What stands for a saved tensor in the graph."""

    __slots__ = ("__weakref__",)


class _AllowMutationOnSavedContext:
    """The saved tensors of one `allow_mutation_on_saved_tensors`, by the handles in the graph."""

    def __init__(self) -> None:
        self.original: weakref.WeakKeyDictionary[_Handle, Tensor] = weakref.WeakKeyDictionary()
        self.cloned: weakref.WeakKeyDictionary[_Handle, Tensor] = weakref.WeakKeyDictionary()
        # handles by where the memory of their tensors begins
        self._in_memory: dict[int, weakref.WeakSet[_Handle]] = {}

    def clear(self) -> None:
        """Forget everything: the graph can no longer be run."""
        self.original.clear()
        self.cloned.clear()
        self._in_memory.clear()

    def pack(self, tensor: Tensor) -> _Handle:
        """Keep a tensor that an operator saves."""
        handle = _Handle()
        self.original[handle] = tensor.detach()
        memory = tensor.untyped_storage().data_ptr()
        self._in_memory.setdefault(memory, weakref.WeakSet()).add(handle)
        return handle

    def unpack(self, handle: _Handle) -> Tensor:
        """The tensor as it was when it was saved."""
        kept = self.cloned.get(handle)
        if kept is None:
            kept = self.original.get(handle)
        if kept is None:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in "
                "which the graph was originally recorded."
            )
        return kept

    def before_write(self, tensor: Tensor) -> None:
        """Clone what is saved of the memory that is about to be written."""
        for handle in self._in_memory.pop(tensor.untyped_storage().data_ptr(), ()):
            original = self.original.pop(handle, None)
            if original is None:
                continue
            enabled = _core.set_grad_enabled(False)
            try:
                self.cloned[handle] = original.clone()
            finally:
                _core.set_grad_enabled(enabled)


class allow_mutation_on_saved_tensors:
    """Context manager in which tensors that the graph saved may be written in place.

    They are cloned before the first write, so the backward pass, which must run inside as well,
    sees the former elements.

    Raises:
        RuntimeError: when nested.

    Example:
        >>> x = rushlight.ones(2, requires_grad=True).clone()
        >>> with allow_mutation_on_saved_tensors():
        ...     y = x.sin()
        ...     _ = x.zero_()
        ...     y.sum().backward()
    """

    def __init__(self) -> None:
        self._context = _AllowMutationOnSavedContext()

    def __enter__(self) -> _AllowMutationOnSavedContext:
        context = self._context
        previous = _core.observe_writes(context.before_write)
        if previous is not None:
            _core.observe_writes(previous)
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        try:
            from .graph import enter_saved_hooks

            enter_saved_hooks(context.pack, context.unpack)
        except BaseException:
            _core.observe_writes(None)
            raise
        return context

    def __exit__(self, *exception: object) -> None:
        _core.pop_saved_hooks()
        _core.observe_writes(None)
        self._context.clear()
