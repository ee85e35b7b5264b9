"""`Function`: operators whose gradients the user states."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from .. import _core
from .._core import Tensor
from ..graph.trace import captures
from . import dual_calls, forward_ad

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "once_differentiable",
]


class FunctionCtx:
    """What a `Function`'s static methods get as `ctx`: carries values to the backward pass."""

    needs_input_grad: tuple[bool, ...] = ()
    to_save: tuple[Tensor | None, ...] | None = None
    saved_for_forward: tuple[Tensor | None, ...] | None = None
    dirty_tensors: tuple[Tensor, ...] | None = None
    non_differentiable: tuple[Tensor, ...] | None = None
    materialize_grads: bool = True

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep inputs or outputs for `backward`, which finds them in `ctx.saved_tensors`.

        Call it at most once. Other tensors than inputs and outputs may be saved too, but gradients
        of the backward pass do not reach them.
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep inputs or outputs for `jvp`, which finds them in `ctx.saved_tensors`."""
        for tensor in tensors:
            if not (tensor is None or isinstance(tensor, Tensor)):
                raise AssertionError(
                    f"save_for_forward takes tensors or None, got {type(tensor).__name__}; "
                    "keep other values as attributes of ctx."
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """State which inputs `forward` changes in place; each must be among the outputs."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """State which outputs have no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros (the default) or None for outputs without gradient."""
        self.materialize_grads = value


class BackwardCFunction(_core.FunctionNode, FunctionCtx):
    """The node of one call of a `Function`, which is also its `ctx`."""

    _forward_cls: type[Function]
    _tensor_arguments: tuple[bool, ...] = ()

    @property
    def saved_variables(self) -> tuple[Tensor | None, ...]:
        """The old name of `saved_tensors`."""
        warnings.warn(
            "'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2
        )
        return self.saved_tensors

    def apply(self, *args: Any) -> Any:
        """What the user's `backward` (or `vjp`) makes of the gradients of the outputs."""
        function = self._forward_cls
        if function.boxed_grads_call:
            args = (list(args),)
        if function.vjp is Function.vjp:
            return function.backward(self, *args)
        if function.backward is not Function.backward:
            raise RuntimeError(
                f"{function.__name__} defines both 'backward' and 'vjp', which are two names of "
                "one method; keep one."
            )
        return function.vjp(self, *args)

    def _backward(self, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        """Gradients of the tensors among the arguments; called by the tape."""
        given: Iterable[Tensor | None] = gradients
        if self.materialize_grads:
            given = [self._zeros(i) if g is None else g for i, g in enumerate(gradients)]
        results = self.apply(*given)
        if not isinstance(results, tuple):
            results = (results,)
        kinds = self._tensor_arguments
        if all(surplus is None for surplus in results[len(kinds) :]):
            results = results[: len(kinds)]
        if len(results) != len(kinds):
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected "
                f"{len(kinds)}, got {len(results)})"
            )
        wanted = []
        for position, (result, is_tensor) in enumerate(zip(results, kinds), 1):
            if is_tensor:
                if result is not None and not isinstance(result, Tensor):
                    raise RuntimeError(f"expected Variable or None (got {type(result).__name__})")
                wanted.append(result)
            elif result is not None:
                raise RuntimeError(
                    f"function {self.name()} returned a gradient different than None at position "
                    f"{position}, where apply() was given no tensor; return None there"
                )
        return tuple(wanted)


class _ClearedOnAccess(BackwardCFunction):
    """Gives what it saved away when it is first asked for it."""

    _given_away = False

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """What `save_for_backward` was given; to be read once."""
        if self._given_away:
            raise RuntimeError(
                "saved_tensors can only be accessed once with clear_saved_tensors_on_access=True, "
                f"and {self.name()} has read them already. Keep what the first access returns, or "
                "set clear_saved_tensors_on_access=False."
            )
        tensors = super().saved_tensors
        self._given_away = True
        self._drop_saved()
        return tensors


class FunctionMeta(type):
    """Makes the class of nodes of each `Function`."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        clears = getattr(cls, "clear_saved_tensors_on_access", False)
        base = _ClearedOnAccess if clears else BackwardCFunction
        cls._backward_cls = type(f"{name}Backward", (base,), {"_forward_cls": cls})


class Function(metaclass=FunctionMeta):
    """Base class of operators with gradients of their own.

    Subclasses define static methods: `forward(ctx, *args)` (or `forward(*args)` together with
    `setup_context(ctx, inputs, output)`) and `backward(ctx, *gradients of outputs)`, which returns
    a gradient or None for each argument. Call the operator with `apply`.

    With the class attribute `boxed_grads_call`, `backward(ctx, gradients)` gets a list that it may
    empty; with `clear_saved_tensors_on_access`, `ctx.saved_tensors` can be read once and keeps
    nothing alive afterwards.

    Example:
        >>> class Exp(Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         result = x.exp()
        ...         ctx.save_for_backward(result)
        ...         return result
        ...     @staticmethod
        ...     def backward(ctx, gradient):
        ...         (result,) = ctx.saved_tensors
        ...         return gradient * result
        >>> Exp.apply(rushlight.zeros(2))
        tensor([1., 1.])
    """

    _backward_cls: type[BackwardCFunction]
    generate_vmap_rule = False
    boxed_grads_call = False
    clear_saved_tensors_on_access = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{self.__class__} should not be instantiated: its methods are static, and operators "
            f"are called with {type(self).__name__}.apply(...). An instance does nothing, and "
            "will be an error.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function: instances cannot be called. Make forward and backward "
            "static methods that take ctx first, and call the operator with "
            f"{type(self).__name__}.apply(...)."
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; nothing in it is recorded."""
        raise NotImplementedError(
            "This autograd.Function lacks its forward function: a static method forward(ctx, "
            "*args)."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Note on `ctx` what `backward` needs; for a `forward` without the parameter `ctx`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Turn gradients of outputs into gradients of arguments."""
        raise NotImplementedError(
            "Gradients are asked of an autograd.Function that defines none: it needs either the "
            "backward or vjp static method."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Turn tangents of arguments into tangents of outputs (forward mode)."""
        raise NotImplementedError(
            "Forward mode is asked of an autograd.Function that lacks its jvp function: a static "
            "method jvp(ctx, *tangents)."
        )

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> Any:
        """Compute a batch of calls at once; returns outputs and their batch dims."""
        raise NotImplementedError(
            "vmap over an autograd.Function needs its vmap static method, or the class attribute "
            "generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the operator."""
        if captures() is not None:
            from ..func.custom import apply_function

            separate = cls.setup_context is not Function.setup_context
            return apply_function(cls, _bound(cls.forward, separate, args, kwargs))
        if _core.dual_levels() and forward_ad.active():
            tangents = [_core.tangent(each) for each in (*args, *kwargs.values())]
            if any(tangent is not None for tangent in tangents):
                return cls._apply_to_duals(args, kwargs)
        return cls._apply(args, kwargs)[0]

    @classmethod
    def _apply_to_duals(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the operator, and its jvp for the tangents of the outputs."""
        if kwargs:
            separate = cls.setup_context is not Function.setup_context
            args = _bound(cls.forward, separate, args, kwargs)
        tangents = [_core.tangent(each) for each in args]
        with dual_calls.hidden(args):
            result, ctx, saved = cls._apply(args, {})
        if not forward_ad._is_fwd_grad_enabled():
            return result
        if ctx.materialize_grads:
            zeros_like = _core.registered("zeros_like")
            tangents = [
                zeros_like(arg)
                if tangent is None and isinstance(arg, Tensor) and arg.dtype.is_differentiable
                else tangent
                for arg, tangent in zip(args, tangents, strict=True)
            ]
        jvp = functools.partial(cls.jvp, _ForwardContext(ctx, saved))
        dual_calls.function_tangents(jvp, cls.__name__, result, tangents)
        return result

    @classmethod
    def _apply(
        cls, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, BackwardCFunction, tuple[Tensor | None, ...]]:
        """The outputs, the context, and what it was asked to keep for `jvp`."""
        separate = cls.setup_context is not Function.setup_context
        if separate or kwargs:
            args = _bound(cls.forward, separate, args, kwargs)
        ctx = cls._backward_cls()
        ctx._tensor_arguments = tuple([isinstance(arg, Tensor) for arg in args])
        tensors = tuple([arg for arg in args if isinstance(arg, Tensor)])
        needed = tuple([isinstance(arg, Tensor) and arg.requires_grad for arg in args])
        ctx.needs_input_grad = needed
        recorded = _core.is_grad_enabled() and any(needed)
        if recorded:
            ctx._connect(tensors)
        enabled = _core.set_grad_enabled(False)
        try:
            if separate:
                output = cls.forward(*args)
                cls.setup_context(ctx, args, output)
            else:
                output = cls.forward(ctx, *args)
        finally:
            _core.set_grad_enabled(enabled)
        saved = ctx.saved_for_forward or ()
        return _Outputs(ctx, tensors, recorded, separate).finish(output), ctx, saved


class _ForwardContext:
    """The context of a call as `jvp` sees it: its saved tensors are those of `save_for_forward`."""

    def __init__(self, ctx: BackwardCFunction, saved: tuple[Tensor | None, ...]) -> None:
        object.__setattr__(self, "_ctx", ctx)
        object.__setattr__(self, "saved_tensors", saved)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._ctx, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._ctx, name)


def _bound(
    forward: Callable[..., Any], separate: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """All arguments by position, defaults included."""
    leading = () if separate else (None,)
    bound = inspect.signature(forward).bind(*leading, *args, **kwargs)
    bound.apply_defaults()
    return bound.args[len(leading) :]


def _ids(tensors: Any, method: str) -> set[int]:
    for tensor in tensors or ():
        if not isinstance(tensor, Tensor):
            raise RuntimeError(f"{method}, but got an object of type {type(tensor).__name__}")
    return {id(tensor) for tensor in tensors or ()}


def _alias(tensor: Tensor) -> Tensor:
    """A view of the whole tensor that has no history."""
    enabled = _core.set_grad_enabled(False)
    try:
        return tensor.view_as(tensor)
    finally:
        _core.set_grad_enabled(enabled)


class _Outputs:
    """Gives the outputs of one call their place in the graph."""

    def __init__(
        self, ctx: BackwardCFunction, tensors: tuple[Tensor, ...], recorded: bool, separate: bool
    ) -> None:
        self.ctx = ctx
        self.recorded = recorded
        self.edges = {id(tensor): i for i, tensor in reversed(list(enumerate(tensors)))}
        self.dirty = _ids(ctx.dirty_tensors, "mark_dirty can only accept variables")
        self.constant = _ids(
            ctx.non_differentiable, "mark_non_differentiable only accepts variable arguments"
        )
        self.saved = {id(t) for t in ctx.to_save or ()} if separate else set()

    def finish(self, output: Any) -> Any:
        """What `apply` returns for what `forward` returned."""
        ctx = self.ctx
        outputs = output if isinstance(output, tuple) else (output,)
        if not self.dirty <= {id(each) for each in outputs}:
            raise RuntimeError(
                "An input marked as dirty is missing from the outputs: forward() has to return "
                "every tensor that it gave to ctx.mark_dirty()."
            )
        for tensor in ctx.dirty_tensors or ():
            _core.increment_version(tensor)
        if self.recorded:
            ctx._describe_outputs(outputs)
        results = tuple(
            [
                self.place(i, each, len(outputs)) if isinstance(each, Tensor) else each
                for i, each in enumerate(outputs)
            ]
        )
        if self.recorded and ctx.to_save:
            ctx._save(ctx.to_save)
        ctx.to_save = ctx.saved_for_forward = ctx.dirty_tensors = ctx.non_differentiable = None
        return results if isinstance(output, tuple) else results[0]

    def place(self, index: int, tensor: Tensor, count: int) -> Tensor:
        """The output as the caller gets it: attached to the graph where it is differentiable."""
        is_input, is_written = id(tensor) in self.edges, id(tensor) in self.dirty
        differentiable = tensor.dtype.is_floating_point or tensor.dtype.is_complex
        if not self.recorded or not differentiable or id(tensor) in self.constant:
            return self.without_gradient(tensor, is_input, is_written)
        if is_written:
            self.check_written(tensor, is_input, count)
            self.ctx._attach(tensor, index, True, self.edges.get(id(tensor), -1))
            return tensor
        if is_input:
            if id(tensor) in self.saved:
                raise RuntimeError(
                    "An input that was returned as-is as output is being saved in "
                    "setup_context(), which cannot tell the two apart. Return x.view_as(x) from "
                    "forward() and save that, or give forward() the parameter ctx and save there."
                )
            tensor = _alias(tensor)
        self.ctx._attach(tensor, index, False, -1)
        return tensor

    def without_gradient(self, tensor: Tensor, is_input: bool, is_written: bool) -> Tensor:
        """An output that does not depend differentiably on the arguments."""
        if not tensor.requires_grad:
            return _alias(tensor) if is_input and not is_written else tensor
        if is_input:
            return tensor.detach()
        if _core.is_differentiable_view(tensor):
            return tensor
        return tensor.requires_grad_(False) if tensor.is_leaf else tensor.detach()

    def check_written(self, tensor: Tensor, is_input: bool, count: int) -> None:
        """Raise if the graph cannot express that this tensor was changed in place."""
        if not is_input:
            warnings.warn(
                "Only input Tensors are for ctx.mark_dirty(), which got another one. A tensor that "
                "forward() makes may be written unmarked.",
                stacklevel=5,
            )
        if _core.is_differentiable_view(tensor) and count > 1:
            raise RuntimeError(
                "A Function that writes a view in place cannot return more than one Tensor, but "
                f"this one returns {count}. Give it a copy of the view, as x.clone(), or let one "
                "Function do the writing and another compute the other outputs."
            )


class InplaceFunction(Function):
    """A `Function` with a flag that says whether it works in place; kept for old programs."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


def once_differentiable(
    fn: Callable[..., Any],
) -> Callable[..., Any]:
    """Decorator of a `backward` that cannot be differentiated again: doing so raises an error."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        enabled = _core.set_grad_enabled(False)
        try:
            outputs = fn(ctx, *args)
        finally:
            _core.set_grad_enabled(enabled)
        if not enabled or not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            return outputs
        results = outputs if isinstance(outputs, tuple) else (outputs,)
        results = tuple([x.detach() if isinstance(x, Tensor) else x for x in results])
        tensors = tuple([x for x in results if isinstance(x, Tensor)])
        parents = tuple([x.detach().requires_grad_() for x in tensors])
        _core.attach_node(_refuse, "Error", parents, tensors)
        return results

    return wrapper


def _refuse(*gradients: Any) -> Any:
    raise RuntimeError(
        "a second derivative is asked through a backward marked with @once_differentiable; remove "
        "the decorator if its operators can be differentiated"
    )
