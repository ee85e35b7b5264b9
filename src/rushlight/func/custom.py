"""Users' autograd functions in functions that are transformed.

The context of the arguments decides: reverse mode asks the function's ``backward``, forward mode
its ``jvp``, batching its ``vmap``; each works with values of the context below, where the function
is applied again. ``ctx`` is filled anew by ``setup_context`` wherever a rule needs one, from the
inputs and outputs as they are there, so rules can be differentiated and batched themselves.
"""

from __future__ import annotations

import inspect
import itertools
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from .._core import Tensor
from ..graph.node import Node, Value
from ..graph.symbols import DataDependentError
from ..graph.trace import Context, Traced, current_context, lifted
from ..ops import build
from ..transform.batching import BatchedContext
from ..transform.forward import DualContext
from .recording import Recorded, ReverseContext
from .trace import Root, TensorCaptures

_numbers = itertools.count()
_keys: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()


class VmapInfo(NamedTuple):
    """What a function's ``vmap`` is told about the batch."""

    batch_size: int
    randomness: str


class Rules:
    """What is known of a function: arguments and outputs are traced tensors and other objects."""

    name: str
    key: str  # equal for functions with equal rules

    def forward(self, args: Sequence[Any]) -> Any:
        """The outputs: one, or a tuple."""
        raise NotImplementedError

    def backward(self, args: Sequence[Any], outputs: Any, gradients: Sequence[Any]) -> list[Any]:
        """Gradients of the arguments (None: none) for those of the outputs."""
        raise NotImplementedError

    def jvp(self, args: Sequence[Any], outputs: Any, tangents: Sequence[Any]) -> list[Any]:
        """Tangents of the outputs for those of the arguments."""
        raise NotImplementedError

    def vmap(self, context: BatchedContext, args: Sequence[Any]) -> Any:
        """The outputs for a whole batch, of the context or the one below."""
        raise NotImplementedError

    def constant(self, args: Sequence[Any], outputs: Any) -> set[int]:
        """The ids of the outputs that are not differentiable."""
        return set()


class UserRules(Rules):
    """The static methods of a user's ``Function``."""

    def __init__(self, function: Any) -> None:
        from ..autograd.function import Function

        self.base = Function
        self.function = function
        self.name = function.__name__
        self.key = _keys.setdefault(function, f"{self.name}#{next(_numbers)}")
        if function.setup_context is Function.setup_context:
            raise RuntimeError(
                f"{self.name}: in a function that is transformed (vmap, grad, jvp, ...) an "
                "autograd.Function must override the setup_context staticmethod, and its forward "
                "takes no ctx"
            )

    def forward(self, args: Sequence[Any]) -> Any:
        return self.function.forward(*args)

    def _ctx(self, args: Sequence[Any], outputs: Any, *, forward_mode: bool = False) -> Any:
        from ..autograd.function import FunctionCtx

        class Ctx(FunctionCtx):
            saved_tensors: tuple[Any, ...] = ()

        ctx = Ctx()
        ctx.needs_input_grad = tuple([_differentiable(arg) for arg in args])
        self.function.setup_context(ctx, tuple(args), outputs)
        if ctx.dirty_tensors:
            raise RuntimeError(
                f"{self.name}: a function that changes its arguments in place (mark_dirty) cannot "
                "be transformed by vmap, grad, jvp, ..."
            )
        saved = ctx.saved_for_forward if forward_mode else ctx.to_save
        ctx.saved_tensors = tuple(saved or ())
        return ctx

    def constant(self, args: Sequence[Any], outputs: Any) -> set[int]:
        ctx = self._ctx(args, outputs)
        return {id(each) for each in ctx.non_differentiable or ()}

    def backward(self, args: Sequence[Any], outputs: Any, gradients: Sequence[Any]) -> list[Any]:
        ctx = self._ctx(args, outputs)
        if ctx.materialize_grads:
            gradients = [
                build.zeros_like(output) if g is None and isinstance(output, Traced) else g
                for output, g in zip(_as_tuple(outputs), gradients, strict=True)
            ]
        own_vjp = self.function.vjp is not self.base.vjp
        rule = self.function.vjp if own_vjp else self.function.backward
        boxed = self.function.boxed_grads_call
        results = list(_as_tuple(rule(ctx, list(gradients)) if boxed else rule(ctx, *gradients)))
        if all(surplus is None for surplus in results[len(args) :]):
            results = results[: len(args)]
        if len(results) != len(args):
            raise RuntimeError(
                f"function {self.name}Backward returned an incorrect number of gradients (expected "
                f"{len(args)}, got {len(results)})"
            )
        return [lifted(each) for each in results]

    def jvp(self, args: Sequence[Any], outputs: Any, tangents: Sequence[Any]) -> list[Any]:
        ctx = self._ctx(args, outputs, forward_mode=True)
        results = _as_tuple(self.function.jvp(ctx, *tangents))
        count = len(_as_tuple(outputs))
        if len(results) != count:
            raise RuntimeError(
                f"jvp of {self.name} returned an invalid number of forward gradients (expected "
                f"{count} but got {len(results)}), one for each output"
            )
        return [lifted(each) for each in results]

    def vmap(self, context: BatchedContext, args: Sequence[Any]) -> Any:
        overridden = self.function.vmap is not self.base.vmap
        if self.function.generate_vmap_rule:
            if overridden:
                raise RuntimeError(
                    f"vmap: {self.name} has both generate_vmap_rule=True and a vmap staticmethod, "
                    "which are two ways to do the same; remove one."
                )
            return _generated(self, context, args)
        if not overridden:
            raise RuntimeError(
                f"vmap: {self.name} does not have vmap support. Give it a vmap staticmethod, or "
                "generate_vmap_rule=True if its other methods use operators that can be batched."
            )
        whole, batched = _whole(context, args)
        in_dims = tuple([0 if each else None for each in batched])
        info = VmapInfo(context.size, context.randomness)
        with context.below.active():
            result = self.function.vmap(info, in_dims, *whole)
            if not isinstance(result, tuple) or len(result) != 2:
                raise RuntimeError(
                    f"The vmap staticmethod of {self.name} must return a pair: the output, and "
                    "out_dims for it"
                )
            outputs, dims = result
            many = isinstance(outputs, tuple)
            each_dim = dims if isinstance(dims, tuple) else (dims,) * len(_as_tuple(outputs))
            placed = tuple(
                [
                    context.batched(lifted(output), dim)
                    for output, dim in zip(_as_tuple(outputs), each_dim, strict=True)
                ]
            )
        return placed if many else placed[0]


class BatchedRules(Rules):
    """A function for whole batches, whose rules are those of the function of one example."""

    def __init__(self, rules: Rules, batched: Sequence[bool], context: BatchedContext) -> None:
        self.rules = rules
        self.batched = list(batched)
        self.size, self.randomness = context.size, context.randomness
        self.name = f"vmap({rules.name})"
        self.key = f"vmap({rules.key}, {self.batched}, {self.size}, {self.randomness})"

    def _inside(self, function: Callable[[BatchedContext], Any]) -> Any:
        below = current_context()
        assert below is not None
        context = BatchedContext(below, self.size, self.randomness)
        with context.active():
            return function(context)

    def _examples(self, context: BatchedContext, values: Sequence[Any]) -> list[Any]:
        """Values with the batch dim in front as those of one example."""
        with context.below.active():
            return [context.batched(x, 0) if isinstance(x, Traced) else x for x in values]

    def _arguments(self, context: BatchedContext, args: Sequence[Any]) -> list[Any]:
        with context.below.active():
            return [
                context.batched(x, 0) if is_batched else x
                for x, is_batched in zip(args, self.batched, strict=True)
            ]

    def _outputs(self, context: BatchedContext, outputs: Any) -> Any:
        examples = tuple(self._examples(context, _as_tuple(outputs)))
        return examples if isinstance(outputs, tuple) else examples[0]

    def _with_batch(self, context: BatchedContext, values: Sequence[Any]) -> list[Any]:
        with context.below.active():
            return [context.unbatched(x) if isinstance(x, Traced) else x for x in values]

    def forward(self, args: Sequence[Any]) -> Any:
        def body(context: BatchedContext) -> Any:
            outputs = self.rules.forward(self._arguments(context, args))
            results = tuple(self._with_batch(context, lifted(_as_tuple(outputs))))
            return results if isinstance(outputs, tuple) else results[0]

        return self._inside(body)

    def constant(self, args: Sequence[Any], outputs: Any) -> set[int]:
        def body(context: BatchedContext) -> set[int]:
            examples = self._outputs(context, outputs)
            found = self.rules.constant(self._arguments(context, args), examples)
            pairs = zip(_as_tuple(outputs), _as_tuple(examples), strict=True)
            return {id(whole) for whole, example in pairs if id(example) in found}

        return self._inside(body)

    def backward(self, args: Sequence[Any], outputs: Any, gradients: Sequence[Any]) -> list[Any]:
        def body(context: BatchedContext) -> list[Any]:
            found = self.rules.backward(
                self._arguments(context, args),
                self._outputs(context, outputs),
                self._examples(context, gradients),
            )
            results = self._with_batch(context, found)
            with context.below.active():
                return [
                    result
                    if result is None or is_batched
                    else build.drop_dims(build.reduce_sum(result, (0,)), (0,))  # it is shared
                    for result, is_batched in zip(results, self.batched, strict=True)
                ]

        return self._inside(body)

    def jvp(self, args: Sequence[Any], outputs: Any, tangents: Sequence[Any]) -> list[Any]:
        def body(context: BatchedContext) -> list[Any]:
            found = self.rules.jvp(
                self._arguments(context, args),
                self._outputs(context, outputs),
                self._arguments(context, tangents),
            )
            return self._with_batch(context, found)

        return self._inside(body)

    def vmap(self, context: BatchedContext, args: Sequence[Any]) -> Any:
        return _generated(self, context, args)


def _generated(rules: Rules, context: BatchedContext, args: Sequence[Any]) -> Any:
    """Batching by running the forward pass, and later the rules, on whole batches."""
    whole, batched = _whole(context, args)
    with context.below.active():
        outputs = apply_rules(BatchedRules(rules, batched, context), whole)
        placed = tuple(
            [context.batched(x, 0) if isinstance(x, Traced) else x for x in _as_tuple(outputs)]
        )
    return placed if isinstance(outputs, tuple) else placed[0]


def _whole(context: BatchedContext, args: Sequence[Any]) -> tuple[list[Any], list[bool]]:
    pairs = [context.whole(x) if isinstance(x, Traced) else (x, False) for x in args]
    return [value for value, _ in pairs], [is_batched for _, is_batched in pairs]


def _as_tuple(outputs: Any) -> tuple[Any, ...]:
    return outputs if isinstance(outputs, tuple) else (outputs,)


def _differentiable(x: Any) -> bool:
    return isinstance(x, Traced) and x.dtype.is_differentiable and not x.weak


# ---------------------------------------------------------------- applying


def apply_function(function: Any, args: Sequence[Any]) -> Any:
    """``function.apply(*args)`` while a function that is being transformed is traced."""
    return apply_rules(UserRules(function), [lifted(arg) for arg in args])


def apply_rules(rules: Rules, args: Sequence[Any]) -> Any:
    """Apply a function in the highest context among its arguments, else in the current one."""
    contexts = [x.context for x in args if isinstance(x, Traced)]
    context: Any = max(contexts, key=lambda each: each.level, default=current_context())
    if isinstance(context, ReverseContext):
        return _apply_reverse(rules, args, context)
    if isinstance(context, DualContext):
        return _apply_dual(rules, args, context)
    if isinstance(context, BatchedContext):
        return rules.vmap(context, args)
    return _apply_in_graph(rules, args, context)


@dataclass(eq=False)
class _Recorded:
    """Stands in the place of a primitive in what reverse mode notes."""

    rules: Rules
    args: Sequence[Any]  # traced values stand at `places`
    places: Sequence[int]
    template: Any  # the outputs
    differentiable: bool = True

    @property
    def name(self) -> str:
        return self.rules.name

    def vjp(
        self, inputs: Sequence[Any], outputs: Sequence[Any], gradients: Sequence[Any], _: Any
    ) -> list[Any]:
        args = list(self.args)
        for place, value in zip(self.places, inputs, strict=True):
            args[place] = value
        template = _as_tuple(self.template)
        known, arrived = iter(outputs), iter(gradients)
        traced = [isinstance(each, Traced) for each in template]
        full = tuple([next(known) if t else each for each, t in zip(template, traced)])
        given = [next(arrived) if t else None for t in traced]
        results = self.rules.backward(
            args, full if isinstance(self.template, tuple) else full[0], given
        )
        return [results[place] for place in self.places]


def _apply_reverse(rules: Rules, args: Sequence[Any], context: ReverseContext) -> Any:
    lowered = [context.lower(x) for x in args]
    with context._below():
        outputs = lifted(apply_rules(rules, lowered))
        constant = rules.constant(lowered, outputs)
    places = [i for i, x in enumerate(args) if isinstance(x, Traced)]
    stand_in: Any = _Recorded(rules, lowered, places, outputs)
    node = Node(stand_in, tuple([context.node(args[i]) for i in places]), {})
    found = [each for each in _as_tuple(outputs) if isinstance(each, Traced)]
    node.outputs = tuple(
        [context._known(Value(x.dtype, x.shape, node, i, x.weak), x) for i, x in enumerate(found)]
    )
    context.graph.nodes.append(node)
    values = iter(node.outputs)
    results = []
    for output in _as_tuple(outputs):
        if isinstance(output, Traced):
            value = next(values)
            if _differentiable(output) and id(output) not in constant:
                output = Traced(context, Recorded(output, value))
        results.append(output)
    return tuple(results) if isinstance(outputs, tuple) else results[0]


def _apply_dual(rules: Rules, args: Sequence[Any], context: DualContext) -> Any:
    pairs = [context.split(x) if isinstance(x, Traced) else (x, None) for x in args]
    primals = [primal for primal, _ in pairs]
    with context.below.active():
        outputs = lifted(apply_rules(rules, primals))
        tangents = [
            build.zeros_like(primal) if tangent is None and _differentiable(primal) else tangent
            for primal, tangent in pairs
        ]
        slopes = rules.jvp(primals, outputs, tangents)
        results = tuple(
            [
                context.dual(output, slope) if isinstance(output, Traced) else output
                for output, slope in zip(_as_tuple(outputs), slopes, strict=True)
            ]
        )
    return results if isinstance(outputs, tuple) else results[0]


class _NoTensors(TensorCaptures):
    """A rule that runs when a plan is made may use only its arguments."""

    def capture(self, tensor: Tensor) -> Traced:
        raise RuntimeError(
            "a gradient of a transformed function (vmap, ...) is asked for by backward(), and the "
            "backward of an autograd.Function in it uses a tensor that is none of its arguments; "
            "pass it to apply() and save it on ctx"
        )


class _Parameter(NamedTuple):
    name: str = "args"
    mode: str = "T*"


class _Composite:
    """Stands in the place of a composite in a graph: the tape asks it for the gradients."""

    signature = inspect.Signature([inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)])
    parameters = (_Parameter(),)

    def __init__(self, rules: Rules, single: bool) -> None:
        self.rules = rules
        self.single = single
        self.name = rules.key  # part of the key of the graph's plan

    def derivative(self, g: Any, out: Any, *args: Any) -> tuple[list[Any]]:
        outputs = out if self.single else _as_tuple(out)
        with _NoTensors().tracing_calls():
            found = self.rules.backward(args, outputs, _as_tuple(g))
        return ([x for x, arg in zip(found, args, strict=True) if isinstance(arg, Traced)],)


def _apply_in_graph(rules: Rules, args: Sequence[Any], context: Context) -> Any:
    if isinstance(context, Root) and context.has_eager and context.reaches_tape():
        raise DataDependentError(f"{rules.name}: the tape asks the function itself for gradients")
    composite: Any = _Composite(rules, True)
    token = context.enter(composite, {"args": list(args)})
    outputs = lifted(rules.forward(args))
    composite.single = not isinstance(outputs, tuple)
    if all(isinstance(each, Traced) for each in _as_tuple(outputs)):
        context.leave(token, outputs)
    return outputs
