"""The graph that the backward pass walks: its nodes and edges, hooks, and what nodes save."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

from .. import _core
from .._core import Tensor
from .hooks import RemovableHandle
from .saved_mutation import allow_mutation_on_saved_tensors

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
    "set_warn_on_accumulate_grad_stream_mismatch",
]

Node = _core.Node


class GradientEdge(NamedTuple):
    """A place in the graph that gradients go through: output `output_nr` of `node`.

    It stands for a tensor as an input or output of `backward` and `grad`.
    """

    node: Any
    output_nr: int
    ownership_token: Any = None


def _node_of(tensor: Tensor) -> Any:
    """The tensor's `grad_fn`, or the node that adds to a leaf's `.grad`."""
    node: Any = tensor.grad_fn
    if node is not None:
        return node
    previous = _core.set_grad_enabled(True)
    try:
        view: Any = tensor.view_as(tensor)
        return view.grad_fn.next_functions[0][0]
    finally:
        _core.set_grad_enabled(previous)


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge that gradients of the tensor take."""
    if not tensor.requires_grad:
        raise RuntimeError(
            "A gradient edge leads to where a tensor's gradient goes, but this tensor does not "
            "require gradients"
        )
    return GradientEdge(_node_of(tensor), tensor.output_nr)


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Accepted for PyTorch's programs: there are no streams here whose order could differ."""


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a write that Rushlight did not see, so that the backward pass notices it."""
    for each in (tensor,) if isinstance(tensor, Tensor) else tensor:
        _core.increment_version(each)


# ---------------------------------------------------------------- saved tensors


class _Refused(threading.local):
    """Why this thread may not have hooks for saved tensors."""

    message: str | None = None


_refused = _Refused()


def enter_saved_hooks(pack: Callable[[Tensor], Any], unpack: Callable[[Any], Tensor]) -> None:
    """Put hooks for saved tensors in force, unless this thread may not have any."""
    if _refused.message is not None:
        raise RuntimeError(_refused.message)
    _core.push_saved_hooks(pack, unpack)


class saved_tensors_hooks:
    """Context manager that decides how tensors are kept for the backward pass.

    Args:
        pack_hook: called with each tensor that an operation saves; what it returns is kept instead.
        unpack_hook: called with that in the backward pass; must return a tensor with the same
            elements.

    Only the innermost pair of hooks is used. A pack hook must not change its argument.
    """

    def __init__(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        enter_saved_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *exception: object) -> None:
        _core.pop_saved_hooks()


class save_on_cpu(saved_tensors_hooks):
    """Context manager that keeps saved tensors in the host's memory until they are needed.

    Args:
        pin_memory: keep them in pinned memory, from which accelerators copy faster.
        device_type: the accelerator whose memory is saved.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Tensor) -> tuple[Any, Tensor]:
            kept = tensor.cpu()
            return tensor.device, kept.pin_memory() if pin_memory else kept

        def unpack(packed: tuple[Any, Tensor]) -> Tensor:
            device, tensor = packed
            return tensor.to(device)

        super().__init__(pack, unpack)


class disable_saved_tensors_hooks:
    """Context manager and decorator in which `saved_tensors_hooks` raises `error_message`."""

    def __init__(self, error_message: str) -> None:
        self.error_message = error_message
        self._before: list[str | None] = []

    def __enter__(self) -> None:
        if _core.has_saved_hooks():
            raise RuntimeError(self.error_message)
        self._before.append(_refused.message)
        _refused.message = self.error_message

    def __exit__(self, *exception: object) -> None:
        _refused.message = self._before.pop()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with disable_saved_tensors_hooks(self.error_message):
                return function(*args, **kwargs)

        return decorated


# ---------------------------------------------------------------- hooks of several tensors


class _MultiHandle(RemovableHandle):
    """Removes the hook from all of its tensors."""

    __slots__ = ("handles",)

    def __init__(self, handles: tuple[Any, ...]) -> None:
        self.handles = handles
        self.id = handles[0].id if handles else -1

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


class _Gathered:
    """Gradients of one backward pass, until all that will come are there."""

    def __init__(self, nodes: Sequence[Any]) -> None:
        self.gradients: list[Tensor | None] = [None] * len(nodes)
        self.waiting = sum(_core.will_run(node) for node in nodes)


def register_multi_grad_hook(
    tensors: Sequence[Tensor],
    fn: Callable[[Any], None],
    *,
    mode: Literal["all", "any"] = "all",
) -> RemovableHandle:
    """Call `fn` in each backward pass when gradients of several tensors are known.

    Args:
        tensors: each must require a gradient.
        fn: `fn(gradients)` with None for tensors that get none; with mode "any", `fn(gradient)`
            for the first gradient that arrives.
        mode: "all" waits for all gradients that the pass computes.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    for tensor in tensors:
        if not tensor.requires_grad:
            raise AssertionError("Expected gradient function to be set: a tensor needs no gradient")
    lock = threading.Lock()
    if mode == "any":
        handles = _register_any(tensors, fn, lock)
    else:
        handles = _register_all(tensors, fn, lock)
    return _MultiHandle(handles)


def _register_all(tensors: Sequence[Tensor], fn: Callable[[Any], None], lock: Any) -> Any:
    nodes = [_node_of(tensor) for tensor in tensors]
    passes: dict[int, _Gathered] = {}

    def hook_for(index: int) -> Callable[[Tensor], None]:
        def hook(gradient: Tensor) -> None:
            number = _core.backward_number()
            with lock:
                if number not in passes:
                    passes[number] = _Gathered(nodes)
                gathered = passes[number]
                gathered.gradients[index] = gradient
                gathered.waiting -= 1
                complete = gathered.waiting == 0
                if complete:
                    del passes[number]
            if complete:
                fn(gathered.gradients)

        return hook

    return tuple([t.register_hook(hook_for(i)) for i, t in enumerate(tensors)])


def _register_any(tensors: Sequence[Tensor], fn: Callable[[Any], None], lock: Any) -> Any:
    last: list[int] = []

    def hook(gradient: Tensor) -> None:
        number = _core.backward_number()
        with lock:
            if number in last:
                return
            last[:] = [*last[-15:], number]  # several threads may run passes at once
        fn(gradient)

    return tuple([t.register_hook(hook) for t in tensors])
