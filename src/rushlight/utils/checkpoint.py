"""Checkpointing: trade time for memory by computing parts of the forward pass again when needed."""

from __future__ import annotations

import contextlib
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy

from .. import _core, random
from .._core import Tensor
from ..autograd.engine import backward
from ..autograd.function import Function
from ..autograd.grad_mode import enable_grad
from ..autograd.graph import saved_tensors_hooks

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "checkpoint",
    "checkpoint_sequential",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]


class CheckpointError(RuntimeError):
    """Computing a checkpointed function again did not give what its first run gave."""


class _StopRecomputationError(Exception):
    """All tensors that are needed have been computed again."""


class _Settings:
    early_stop = True
    debug: bool | None = None


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Whether recomputation stops as soon as all saved tensors are there (the default)."""
    before = _Settings.early_stop
    _Settings.early_stop = enable
    try:
        yield
    finally:
        _Settings.early_stop = before


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Overrides the argument `debug` of `checkpoint`."""
    before = _Settings.debug
    _Settings.debug = enabled
    try:
        yield
    finally:
        _Settings.debug = before


def noop_context_fn() -> Contexts:
    """Contexts that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


@contextlib.contextmanager
def _random_state(state: Tensor | None) -> Iterator[None]:
    """The default generator in this state, and back in its own afterwards."""
    if state is None:
        yield
        return
    before = random.get_rng_state()
    random.set_rng_state(state)
    try:
        yield
    finally:
        random.set_rng_state(before)


def _save_arguments(ctx: Any, args: tuple[Any, ...]) -> None:
    """Keep arguments of which the tensors are saved as any node saves them."""
    ctx.others = [None if isinstance(arg, Tensor) else arg for arg in args]
    ctx.places = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
    ctx.save_for_backward(*[arg for arg in args if isinstance(arg, Tensor)])


def _saved_arguments(ctx: Any) -> tuple[Any, ...]:
    """The arguments that were kept."""
    args = list(ctx.others)
    for place, tensor in zip(ctx.places, ctx.saved_tensors):
        args[place] = tensor
    return tuple(args)


# ---------------------------------------------------------------- re-entrant


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs, tensors detached but with their `requires_grad`."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"detach_variable takes a tuple of tensors, got {type(inputs).__name__}")
    return tuple(
        [x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs]
    )


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no gradient can come out of a re-entrant checkpoint."""
    if not any(isinstance(x, Tensor) and x.requires_grad for x in inputs):
        warnings.warn(
            "None of the inputs have requires_grad=True, so no gradients come out of this "
            "checkpoint. Pass use_reentrant=False if parameters inside it need theirs.",
            stacklevel=2,
        )


class CheckpointFunction(Function):
    """Runs the function without recording, and again in a backward pass of its own."""

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.state = random.get_rng_state() if preserve_rng_state else None
        _save_arguments(ctx, args)
        return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        if not _core.accumulates():
            raise RuntimeError(
                "checkpoint with use_reentrant=True runs a backward pass of its own, which is "
                "incompatible with .grad() and with inputs= of .backward(). Pass "
                "use_reentrant=False."
            )
        detached = detach_variable(_saved_arguments(ctx))
        with _random_state(ctx.state), enable_grad():
            outputs = ctx.run_function(*detached)
        pairs = [
            (out, gradient)
            for out, gradient in zip(_as_tuple(outputs), gradients)
            if isinstance(out, Tensor) and out.requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "checkpoint: none of the outputs of the function requires gradients, so there is "
                "nothing to recompute; call the function directly"
            )
        backward([out for out, _ in pairs], [gradient for _, gradient in pairs])
        found = [x.grad if isinstance(x, Tensor) else None for x in detached]
        return None, None, *found


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


# ---------------------------------------------------------------- by hooks for saved tensors


class _Holder:
    """Stands in the graph for a tensor that will be computed again."""

    __slots__ = ("__weakref__", "values")

    def __init__(self) -> None:
        self.values: dict[int, Tensor] = {}  # by backward pass


class _Frame:
    """One call of a checkpointed function."""

    def __init__(self, recompute: Callable[[], Any], early_stop: bool, check: Any) -> None:
        self.recompute = recompute
        self.early_stop = early_stop
        self.check = check
        self.holders: list[weakref.ref[_Holder]] = []
        self.described: list[Any] = []
        self.done: set[int] = set()
        self.outside = 0

    def hooks(self) -> saved_tensors_hooks:
        """What the forward pass runs under."""
        return saved_tensors_hooks(self.pack, self.unpack)

    def pack(self, tensor: Tensor) -> _Holder:
        holder = _Holder()
        self.holders.append(weakref.ref(holder))
        if self.check is not None:
            self.described.append(self.check(tensor))
        return holder

    def unpack(self, holder: _Holder) -> Tensor:
        number = _core.backward_number()
        if number == -1:  # outside of a backward pass: each time anew
            self.outside -= 1
            number = self.outside - 1
        if number not in self.done:
            self.done.add(number)
            self.run_again(number)
        value = holder.values.pop(number, None)
        if value is None:
            raise CheckpointError(
                "checkpoint: a tensor saved in the checkpointed region was asked for twice in one "
                "backward pass. Read ctx.saved_tensors once and keep what it returns."
            )
        return value

    def run_again(self, number: int) -> None:
        again = _Recomputation(self, number)
        try:
            with saved_tensors_hooks(again.pack, again.unpack), enable_grad():
                self.recompute()
        except _StopRecomputationError as stop:
            if stop.args[0] is not again:
                raise
        again.compare()


class _Recomputation:
    """Fills the holders of a frame for one backward pass."""

    def __init__(self, frame: _Frame, number: int) -> None:
        self.frame = frame
        self.number = number
        self.count = 0
        self.described: list[Any] = []

    def pack(self, tensor: Tensor) -> Tensor:
        frame = self.frame
        index, self.count = self.count, self.count + 1
        if frame.check is not None:
            self.described.append(frame.check(tensor))
        kept = tensor.detach()
        if index < len(frame.holders):
            holder = frame.holders[index]()
            if holder is not None:
                holder.values[self.number] = kept
        if frame.early_stop and self.count == len(frame.holders):
            raise _StopRecomputationError(self)
        return kept

    def unpack(self, tensor: Tensor) -> Tensor:
        """A backward pass inside of the function uses its own tensors."""
        return tensor

    def compare(self) -> None:
        """Raise if the two runs saved different tensors."""
        expected = len(self.frame.holders)
        if self.count != expected:
            raise CheckpointError(
                "checkpoint: A different number of tensors was saved by the function in its two "
                "runs: "
                f"{expected} in the forward pass and {self.count} when it ran again in the "
                "backward pass. The function has to do the same both times."
            )
        different = [
            f"tensor at position {i}:\nsaved metadata: {was}\nrecomputed metadata: {now}"
            for i, (was, now) in enumerate(zip(self.frame.described, self.described))
            if was != now
        ]
        if different:
            raise CheckpointError(
                "checkpoint: Recomputed values have different metadata than those of the forward "
                "pass:\n" + "\n".join(different)
            )


def _describe(tensor: Tensor) -> dict[str, Any]:
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


_CHECKS: dict[str, Any] = {"default": _describe, "none": None}


class _Arguments(Function):
    """Its node keeps the arguments as any node keeps what it saved: hooks for saved tensors take
    part, and a later write is an error.
    """

    @staticmethod
    def forward(ctx: Any, root: Tensor, *args: Any) -> Tensor:
        _save_arguments(ctx, args)
        return root.detach()

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise AssertionError("nothing is computed from what the arguments are kept by")


def _keep(args: tuple[Any, ...]) -> Any:
    """A node that keeps the arguments."""
    root = _core.from_numpy(numpy.empty(0)).requires_grad_()
    return _Arguments.apply(root, *args).grad_fn


def _checkpoint_by_hooks(
    function: Callable[..., Any],
    preserve_rng_state: bool,
    contexts: Contexts,
    check: Any,
    early_stop: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    forward_context, recompute_context = contexts
    if not _core.is_grad_enabled():
        with forward_context:
            return function(*args, **kwargs)
    state = random.get_rng_state() if preserve_rng_state else None
    node = _keep(args)

    def recompute() -> None:
        given = _saved_arguments(node)
        with _random_state(state), recompute_context:
            function(*given, **kwargs)

    frame = _Frame(recompute, early_stop, check)
    with frame.hooks(), forward_context:
        return function(*args, **kwargs)


# ---------------------------------------------------------------- entry points


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """`function(*args, **kwargs)`, of which only the arguments are kept for the backward pass.

    The backward pass computes the function again.

    Args:
        function: must give the same results when called again.
        use_reentrant: True computes again in a backward pass inside of the backward pass (as old
            programs expect); False replaces saved tensors one by one, which also works with
            `autograd.grad`, keyword arguments and nested structures. State it.
        preserve_rng_state: whether random numbers are the same in both runs (default: yes).
        context_fn: returns two contexts, for the first run and for the second.
        determinism_check: "default" compares shapes, dtypes and devices of what both runs save;
            "none" does not.
        debug: accepted; messages are as with the default.
        early_stop: whether the second run stops once all saved tensors are there.
    """
    if use_reentrant is None:
        warnings.warn(
            "checkpoint: the use_reentrant parameter should be passed, as leaving it out will "
            "become an error. The default is True for now; use_reentrant=False has fewer "
            "restrictions and suits most programs.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError(
                "checkpoint: context_fn and debug are only supported when use_reentrant=False."
            )
        return CheckpointFunction.apply(function, preserve, *args)
    if determinism_check not in _CHECKS:
        raise ValueError(
            f"determinism_check should be one of {list(_CHECKS)}, but got {determinism_check}"
        )
    return _checkpoint_by_hooks(
        function,
        preserve,
        context_fn(),
        _CHECKS[determinism_check],
        early_stop and _Settings.early_stop,
        args,
        kwargs,
    )


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Apply functions one after the other, in segments of which all but the last are checkpointed.

    Args:
        functions: a list of functions or modules, or a `Sequential`.
        segments: how many.
        input: what the first function is given.
        use_reentrant: as of `checkpoint`.
        preserve_rng_state: as of `checkpoint`.
    """
    if use_reentrant is None:
        warnings.warn(
            "checkpoint_sequential: the use_reentrant parameter should be passed, as leaving it "
            "out will become an error. The default is True for now; use_reentrant=False has "
            "fewer restrictions and suits most programs.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(steps) // segments
    end = -1
    for start in range(0, size * (segments - 1), size):
        end = start + size - 1
        input = checkpoint(
            _run_steps(steps[start : end + 1]),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve,
        )
    return _run_steps(steps[end + 1 :])(input)


def _run_steps(steps: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def run(value: Any) -> Any:
        for step in steps:
            value = step(value)
        return value

    return run
