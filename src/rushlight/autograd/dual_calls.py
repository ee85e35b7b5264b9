"""Calls with dual tensors among the arguments.

While a call runs, its dual tensors' tangents are out of sight: then these are tensors like any
other, and the call itself is an ordinary one. Views apply the operator to the tangent as well, so
that a view's tangent is a view of the tangent. Other operators are traced in forward mode, with the
tangents as further inputs, and planned like any other. What is written gets its new tangent
written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .. import _core
from .._core import Tensor
from ..ops.record import NONE, Record
from . import forward_ad


def dual_call(operator: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """What an operator's call gives; NotImplemented if no argument has a tangent."""
    from ..func.trees import flatten, unflatten

    leaves, structure = flatten((args, kwargs))
    tangents = [_core.tangent(leaf) for leaf in leaves]
    if all(tangent is None for tangent in tangents):
        return NotImplemented
    if not forward_ad.active():  # the level is another thread's
        plain = [
            leaf if tangent is None else _core.alias_as(Tensor, leaf)
            for leaf, tangent in zip(leaves, tangents, strict=True)
        ]
        args, kwargs = unflatten(plain, structure)
        return operator(*args, **kwargs)
    with hidden(leaves):
        record = getattr(operator, "record", None)
        if record is None or not forward_ad._is_fwd_grad_enabled():
            return operator(*args, **kwargs)
        return _Call(operator, record, args, kwargs, leaves, tangents, structure).run()


@contextmanager
def hidden(tensors: Sequence[Any]) -> Iterator[None]:
    """The tensors have no tangents inside."""
    known = [(x, tangent) for x in tensors if (tangent := _core.tangent(x)) is not None]
    for x, _ in known:
        _core.set_tangent(x, None)
    try:
        yield
    finally:
        for x, tangent in known:
            _core.set_tangent(x, tangent)


class _Call:
    """A call whose dual tensors are hidden."""

    def __init__(
        self,
        operator: Any,
        record: Record,
        args: tuple,
        kwargs: dict[str, Any],
        leaves: list[Any],
        tangents: list[Any],
        structure: Any,
    ) -> None:
        self.operator, self.record, self.args, self.kwargs = operator, record, args, kwargs
        self.leaves, self.tangents, self.structure = leaves, tangents, structure

    def run(self) -> Any:
        record, kwargs = self.record, self.kwargs
        if kwargs.get("out") is not None:
            raise NotImplementedError(
                f"{record.name}: forward mode does not support out=; use the result instead"
            )
        if self.operator.inplace or record.mutates or kwargs.get("inplace") is True:
            return self.written()
        if getattr(record, "derivative", None) is NONE:
            return self.operator(*self.args, **kwargs)
        if record.views is not None and self.args and self.args[0] is self.leaves[0]:
            return self.viewed()
        return self.traced()

    # ---- views

    def viewed(self) -> Any:
        """The operator, which is linear, applied to the argument and to its tangent."""
        result = self.operator(*self.args, **self.kwargs)
        tangent = self.tangents[0]
        if tangent is None:
            return result
        slopes = self.operator(tangent, *self.args[1:], **self.kwargs)
        if isinstance(result, Tensor):
            attach(result, slopes)
        else:
            for part, slope in zip(result, slopes, strict=True):
                attach(part, slope)
        return result

    # ---- functions

    def traced(self) -> Any:
        from ..func.trees import unflatten

        outputs, slopes, structure = self.forward(self.operator, "result")
        for output, slope in zip(outputs, slopes, strict=True):
            if slope is not None:
                attach(output, slope)
        return unflatten(outputs, structure)

    def forward(self, function: Callable[..., Any], what: str) -> tuple[list[Any], list[Any], Any]:
        """The results of a traceable function of the arguments, and their tangents."""
        from ..func.forward import outputs_and_tangents
        from ..func.trace import Source
        from ..func.trees import unflatten

        pairs = list(zip(self.leaves, self.tangents, strict=True))
        given = [pair for pair in pairs if pair[1] is not None]

        def call(duals: list[Any]) -> Any:
            rest = iter(duals)
            new = [leaf if tangent is None else next(rest) for leaf, tangent in pairs]
            args, kwargs = unflatten(new, self.structure)
            return function(*args, **kwargs)

        kinds = tuple(tangent is not None for tangent in self.tangents)
        tangents = [tangent for _, tangent in given]
        source = Source((kinds, what), self.operator, (self.args, self.kwargs, tangents))
        return outputs_and_tangents(self.record.name, call, given, source)

    # ---- writes

    def written(self) -> Any:
        """The new contents of what is written are computed first, then written."""
        targets = self.targets()
        tangents = [self.tangent_of(target) for target in targets]
        if _core.is_grad_enabled():
            self.copy_old(targets)
        outputs, slopes, _ = self.forward(self.contents, "contents")
        count = len(outputs) - len(targets)
        for target, tangent, content, slope in zip(
            targets, tangents, outputs[count:], slopes[count:], strict=True
        ):
            target.copy_(content)
            write_tangent(target, tangent, slope)
        if count == 0:
            return targets[0] if len(targets) == 1 else None
        return self.result(outputs[:count], slopes[:count])

    def targets(self) -> list[Any]:
        from ..operators import mutated_arguments

        if not self.record.mutates:
            return [self.args[0]]
        return mutated_arguments(self.record, self.record.bind(*self.args, **self.kwargs).arguments)

    def copy_old(self, targets: list[Any]) -> None:
        """Compute with copies of what is written: the graph may need the old values."""
        from ..func.trees import unflatten

        written = {id(target) for target in targets}
        for i, (leaf, tangent) in enumerate(zip(self.leaves, self.tangents, strict=True)):
            if id(leaf) in written:
                self.leaves[i] = leaf.clone()
                self.tangents[i] = None if tangent is None else tangent.clone()
        self.args, self.kwargs = unflatten(self.leaves, self.structure)

    def tangent_of(self, target: Tensor) -> Any:
        return next(
            (t for x, t in zip(self.leaves, self.tangents, strict=True) if x is target), None
        )

    def contents(self, *args: Any, **kwargs: Any) -> Any:
        """The results proper, if there are some, and the new contents."""
        from ..graph.trace import lifted
        from ..operators import mutated_arguments

        kwargs = {name: each for name, each in kwargs.items() if name != "inplace"}
        bound = self.record.bind(*lifted(args), **lifted(kwargs))
        result, contents = self.record.trace_bound(bound)
        results = list(result) if isinstance(result, list | tuple) else [result]
        if contents:
            return [*results, *contents]
        if not self.record.mutates:
            return results
        written = mutated_arguments(self.record, bound.arguments)
        return results[-len(written) :]

    def result(self, outputs: list[Any], slopes: list[Any]) -> Any:
        for output, slope in zip(outputs, slopes, strict=True):
            if slope is not None:
                attach(output, slope)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)


def attach(tensor: Any, slope: Any) -> None:
    """Make a result dual, if it can be."""
    if tensor.dtype.is_differentiable:
        forward_ad.set_tangent(tensor, slope)


def write_tangent(target: Tensor, tangent: Tensor | None, slope: Any) -> None:
    """The tangent of a tensor whose content was replaced by one with this slope."""
    if tangent is not None:
        if slope is None:
            tangent.zero_()
        else:
            tangent.copy_(slope)
    elif slope is not None and target.dtype.is_differentiable:
        new_tangent(target).copy_(slope)


def new_tangent(target: Tensor) -> Tensor:
    """Zeros as the tangent of a tensor: if that is a view, a view of its base's tangent."""
    base = target._base
    if base is None:
        tangent = forward_ad.empty_like_strided(target).zero_()
    else:
        whole = _core.tangent(base)
        if whole is None:
            whole = new_tangent(base)
        offset = target.storage_offset() - base.storage_offset() + whole.storage_offset()
        tangent = whole.as_strided(tuple(target.shape), target.stride(), offset)
    forward_ad.set_tangent(target, tangent)
    return tangent


# ---------------------------------------------------------------- subscripts


def dual_getitem(x: Tensor, index: Any) -> Tensor:
    """``x[index]``, which is linear in ``x``."""
    tangent = _core.tangent(x)
    with hidden([x]):
        result = x[index]
        if forward_ad.active() and forward_ad._is_fwd_grad_enabled():
            attach(result, tangent[index])
        return result


def dual_setitem(x: Tensor, index: Any, value: Any) -> None:
    """``x[index] = value``."""
    tangent, slope = _core.tangent(x), _core.tangent(value)
    with hidden([x, value]):
        x[index] = value
        if not (forward_ad.active() and forward_ad._is_fwd_grad_enabled()):
            return
        if tangent is not None:
            tangent[index] = 0 if slope is None else slope
    if tangent is None:
        new_tangent(x)[index] = slope


# ---------------------------------------------------------------- gradients


def dual_gradients(
    run: Callable[..., Any],
    outputs: tuple[Any, ...],
    gradients: tuple[Any, ...],
    keep: bool,
    create_graph: bool,
    inputs: tuple[Any, ...],
    allow_unused: bool,
) -> tuple[Any, ...]:
    """Gradients, with their tangents, of what was computed in forward mode.

    For outputs y(x) with tangents y' = J(x) x', the gradient is g = J(x)^T v. Its tangent
    J'(x)[x']^T v + J(x)^T v' is the gradient of v . y' + v' . y with respect to x.
    """
    tensors = [each for each in (*outputs, *inputs, *gradients) if isinstance(each, Tensor)]
    known = {id(each): tangent for each in tensors if (tangent := _core.tangent(each)) is not None}
    with hidden(tensors):
        results = run(outputs, gradients, True, create_graph, inputs, allow_unused, False)
        roots, weights = [], []
        for output, gradient in zip(outputs, gradients, strict=True):
            slope, change = known.get(id(output)), known.get(id(gradient))
            if slope is not None and slope.requires_grad:
                roots.append(slope)
                weights.append(gradient)
            if change is not None:
                roots.append(output)
                weights.append(change)
        slopes: Sequence[Any] = [None] * len(results)
        if roots:
            slopes = run(tuple(roots), tuple(weights), keep, create_graph, inputs, True, False)
        elif not keep and not create_graph:
            release(run, outputs, gradients, inputs, allow_unused)
    for result, slope in zip(results, slopes, strict=True):
        if result is not None and slope is not None:
            attach(result, slope)
    return results


def release(
    run: Callable[..., Any], outputs: Any, gradients: Any, inputs: Any, allow_unused: bool
) -> None:
    """Free a graph that was kept for a pass that turned out to be needless."""
    run(outputs, gradients, False, False, inputs, allow_unused, False)


# ---------------------------------------------------------------- functions of users


def function_tangents(jvp: Callable[..., Any], name: str, outputs: Any, tangents: Any) -> None:
    """Give the outputs of a user's function the tangents that its ``jvp`` returns.

    outputs: what ``apply`` returns; tangents: of its arguments, None where there is none.
    """
    results = outputs if isinstance(outputs, tuple) else (outputs,)
    slopes = jvp(*tangents)
    slopes = slopes if isinstance(slopes, tuple) else (slopes,)
    if len(slopes) != len(results):
        raise RuntimeError(
            f"jvp of {name} returned an invalid number of forward gradients (expected "
            f"{len(results)} but got {len(slopes)}), one for each output"
        )
    for output, slope in zip(results, slopes, strict=True):
        if not isinstance(output, Tensor) or slope is None:
            continue
        if tuple(slope.shape) != tuple(output.shape):
            raise RuntimeError(
                f"jvp of {name} returned a forward gradient of shape {list(slope.shape)} for an "
                f"output of shape {list(output.shape)}; the shapes must be equal"
            )
        attach(output, slope)


_core.register("dual_call", dual_call)
_core.register("dual_getitem", dual_getitem)
_core.register("dual_setitem", dual_setitem)
