"""Hooks of a module's backward pass: identities around `forward` whose nodes see the gradients."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ... import _core
from ..._core import Tensor
from ...autograd.function import Function


class BackwardHookFunction(Function):
    """Returns its arguments; its node marks the place in the graph."""

    @staticmethod
    def forward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *args: Any) -> tuple[Any, ...]:
        return args


class BackwardHook:
    """Runs a module's backward hooks for one call.

    An identity around the inputs sees the gradients of the inputs after everything in the module
    ran, one around the outputs their gradients before.

    Args:
        module: what hooks get as first argument.
        user_hooks: called with the gradients of inputs and outputs.
        user_pre_hooks: called with the gradients of outputs.
    """

    def __init__(
        self, module: Any, user_hooks: list[Callable], user_pre_hooks: list[Callable]
    ) -> None:
        self.module = module
        self.user_hooks = user_hooks
        self.user_pre_hooks = user_pre_hooks
        self.grad_outputs: tuple[Any, ...] | None = None
        self.n_inputs = -1
        self.n_outputs = -1
        self.input_tensors_index: list[int] | None = None
        self.output_tensors_index: list[int] | None = None

    def setup_input_hook(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, seen by the hooks when their gradients are known."""
        result, self.input_tensors_index, node = self._through_identity(args)
        self.n_inputs = len(args)
        if node is not None:
            node.register_hook(self._after_inputs)
        return result

    def setup_output_hook(self, output: Any) -> Any:
        """The output, seen by the hooks when its gradient is known."""
        is_single = not isinstance(output, tuple)
        outputs = (output,) if is_single else output
        result, self.output_tensors_index, node = self._through_identity(outputs)
        self.n_outputs = len(outputs)
        if node is not None:
            node.register_prehook(self._before_outputs)
        return result[0] if is_single else result

    def _through_identity(
        self, values: tuple[Any, ...]
    ) -> tuple[tuple[Any, ...], list[int] | None, Any]:
        """The values, where among them tensors are, and the identity's node if gradients pass."""
        places = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
        tensors = [values[i] for i in places]
        if not (_core.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)):
            return values, None, None
        passed = BackwardHookFunction.apply(*tensors)
        nodes = [each.grad_fn for each in passed if each.grad_fn is not None]
        result = list(values)
        for place, tensor in zip(places, passed):
            result[place] = tensor
        return tuple(result), places, nodes[0] if nodes else None

    def _before_outputs(self, gradients: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Called with the gradients of the outputs, before anything in the module runs."""
        spread = self._spread(self.output_tensors_index, gradients, self.n_outputs)
        for hook in self.user_pre_hooks:
            changed = hook(self.module, spread)
            if changed is not None:
                spread = _checked(changed, len(spread), "pre hook")
        self.grad_outputs = spread
        chosen = tuple(spread[i] for i in self.output_tensors_index or ())
        if self.input_tensors_index is None:
            self._without_inputs()
        return chosen if self.user_pre_hooks else None

    def _without_inputs(self) -> None:
        """No input has a gradient: the hooks run now, for the gradients of the outputs."""
        if not self.user_hooks:
            return
        warnings.warn(
            "Full backward hook is firing without gradients of inputs, as none of these "
            "requires one; it gets those of the outputs",
            stacklevel=5,
        )
        gradients = (None,) * self.n_inputs
        for hook in self.user_hooks:
            changed = hook(self.module, gradients, self.grad_outputs)
            all_none = isinstance(changed, tuple) and all(each is None for each in changed)
            if changed is not None and not all_none:
                raise RuntimeError(
                    "a backward hook of a module none of whose inputs requires a gradient "
                    "must return None, or None for each"
                )
        self.grad_outputs = None

    def _after_inputs(
        self, gradients: tuple[Any, ...], _: tuple[Any, ...]
    ) -> tuple[Any, ...] | None:
        """Called with the gradients of the inputs, after everything in the module ran."""
        if self.grad_outputs is None:  # the gradient reached the inputs, not through the outputs
            raise RuntimeError(
                "Module backward hook: the gradients of the inputs are known before those of the "
                "outputs; no tensor that forward() returns may be changed in place by it later, "
                "and all results must be returned"
            )
        spread = self._spread(self.input_tensors_index, gradients, self.n_inputs)
        changed_any = False
        for hook in self.user_hooks:
            changed = hook(self.module, spread, self.grad_outputs)
            if changed is not None:
                spread = _checked(changed, len(spread), "hook")
                changed_any = True
        self.grad_outputs = None
        if not changed_any:
            return None
        return tuple(spread[i] for i in self.input_tensors_index or ())

    @staticmethod
    def _spread(places: list[int] | None, values: tuple[Any, ...], count: int) -> tuple[Any, ...]:
        """The values at their places among None."""
        result: list[Any] = [None] * count
        for place, value in zip(places or (), values):
            result[place] = value
        return tuple(result)


def _checked(value: Any, count: int, kind: str) -> tuple[Any, ...]:
    """What a hook returned, as a tuple of the right length."""
    result = value if isinstance(value, tuple) else (value,)
    if len(result) != count:
        raise RuntimeError(
            f"Backward {kind} returned an invalid number of grad, got {len(result)}, but expected "
            f"{count}"
        )
    return result


def first_tensor(value: Any) -> Tensor | None:
    """The first tensor in a result of nested dicts, lists and tuples."""
    while not isinstance(value, Tensor):
        if isinstance(value, dict):
            value = next((each for each in value.values() if isinstance(each, Tensor)), None)
        elif isinstance(value, tuple | list) and value:
            value = value[0]
        else:
            return None
    return value
