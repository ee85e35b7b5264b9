"""``grad``, ``grad_and_value`` and ``vjp``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, cast

from .. import _core
from .._core import Tensor
from ..autograd.engine import grad as tape_grad
from ..graph.symbols import same_shape
from ..graph.trace import Context, Traced, captures, lifted
from ..ops import build
from ..transform.reverse import gradients
from .arguments import (
    Argnums,
    Selected,
    as_traced,
    differentiable,
    is_tensor,
    no_tensor,
    tensor_leaves,
    with_aux,
)
from .recording import ReverseContext
from .trace import Source, run
from .trees import Tree, flatten, map_tree, unflatten

Function = Callable[..., Any]


class Pullback:
    """A function called in a context where what it did was noted: its outputs, and gradients.

    outputs: the leaves of the result, of the context in which the transform was called.
    """

    def __init__(
        self,
        context: Context,
        name: str,
        function: Callable[[list[Any]], Any],
        leaves: Sequence[Any],
        has_aux: bool = False,
    ) -> None:
        self.primals = [differentiable(leaf, name) for leaf in leaves]
        self.reverse = ReverseContext(context)
        variables = [self.reverse.variable(primal) for primal in self.primals]
        self.wanted = [self.reverse.node(variable) for variable in variables]
        with self.reverse.active():
            output, aux = with_aux(function(variables), has_aux, name)
        self.tree = output
        self.aux = map_tree(self.reverse.lower, aux)

    def finish(self, message: str) -> None:
        """Take the result's leaves, which must be tensors."""
        leaves, self.structure = tensor_leaves(self.tree, message)
        self.nodes = [
            self.reverse.node(leaf) if leaf.context is self.reverse else None for leaf in leaves
        ]
        self.outputs = [self.reverse.lower(leaf) for leaf in leaves]
        check_differentiable(leaves)

    def __call__(self, context: Context, cotangents: Sequence[Traced]) -> list[Traced]:
        """The gradients of the inputs, in a context at or above the one of the call."""
        seeds: dict[Any, Traced] = {}
        for node, cotangent in zip(self.nodes, cotangents, strict=True):
            if node is not None:
                seeds[node] = seeds[node] + cotangent if node in seeds else cotangent
        with context.active():
            found = gradients(
                cast(Any, context),  # seeds are traced values, so any context will do
                self.reverse.graph,
                seeds,
                self.wanted,
                self.reverse.lookup,
            )
            return [
                build.zeros_like(primal) if gradient is None else gradient
                for primal, gradient in zip(self.primals, found, strict=True)
            ]


# ---------------------------------------------------------------- grad


def grad(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """A function that gives the gradient of ``func``, whose result must be a scalar tensor.

    Args:
        func: any function of tensors and nested dicts, lists and tuples of them.
        argnums: the positional arguments to differentiate with respect to.
        has_aux: whether ``func`` returns ``(output, aux)``; then the gradient comes with aux.

    Raises:
        RuntimeError: if the result is no scalar tensor, or an argument has an integer dtype.

    Example:
        >>> rushlight.func.grad(rushlight.sin)(rushlight.zeros(()))
        tensor(1.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    wrapper._transform = ("grad", (argnums, has_aux), func)  # type: ignore[attr-defined]
    return wrapper


def grad_and_value(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """As ``grad``; the function gives ``(gradient, value)``, value with aux if there is one."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        selected = Selected(func, args, kwargs, argnums)

        def body(context: Context) -> Any:
            pullback = Pullback(context, "grad", selected.call, selected.leaves, has_aux)
            check_scalar(pullback.tree)
            pullback.finish("grad: Expected f(*args) to return a tensor,")
            (output,) = pullback.outputs
            found = pullback(context, [build.full_like(output, 1)])
            value = (output, pullback.aux) if has_aux else output
            return selected.tree(found), value

        def eager() -> Any:
            return _grad_on_tape(selected, has_aux)

        return run("grad", body, eager, Source((argnums, has_aux), func, (args, kwargs)))

    wrapper._transform = ("grad_and_value", (argnums, has_aux), func)  # type: ignore[attr-defined]
    return wrapper


def check_scalar(output: Any) -> None:
    """RuntimeError if the result of a function that is differentiated is no scalar tensor."""
    if not is_tensor(output):
        raise RuntimeError(
            f"Expected f(*args) to return a tensor, got type {type(output)}"
            + (" (has_aux=True takes a pair)" if isinstance(output, tuple) else "")
        )
    if output.ndim:
        raise RuntimeError(
            f"grad: the function must return a scalar tensor, but returned one with {output.ndim} "
            "dims. Use vjp for a product with a vector, or jacrev for all derivatives."
        )
    if output.dtype.is_complex:
        raise RuntimeError(
            f"grad: the function must return a real number, not {output.dtype}; use vjp, which "
            "takes its gradient"
        )


def _grad_on_tape(selected: Selected, has_aux: bool) -> Any:
    """The gradient by the tape, for functions that cannot be traced."""
    call = TapeCall(selected.call, selected.leaves, "grad", has_aux)
    check_scalar(call.tree)
    value = call.released(call.tree)
    found = call.gradients([None])
    return selected.tree(found), (value, call.aux) if has_aux else value


# ---------------------------------------------------------------- vjp


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value of ``func(*primals)``, and a function from gradients of it to those of primals.

    Args:
        func: a function of tensors and nested dicts, lists and tuples of them.
        *primals: its arguments; all are differentiated with respect to.
        has_aux: whether ``func`` returns ``(output, aux)``.

    Returns:
        ``(output, vjp_fn)`` or ``(output, vjp_fn, aux)``. ``vjp_fn(cotangents)`` takes what has the
        output's structure and shapes and gives a tuple with one entry for each primal.
    """
    if captures() is None:
        return _vjp_on_tape(func, primals, has_aux)
    return run("vjp", lambda context: _vjp_traced(context, func, primals, has_aux))


def _vjp_traced(
    context: Context, func: Function, primals: tuple[Any, ...], has_aux: bool
) -> tuple[Any, ...]:
    leaves, structure = flatten(primals)
    pullback = Pullback(
        context, "vjp", lambda leaves: func(*unflatten(leaves, structure)), leaves, has_aux
    )
    pullback.finish("vjp(f, *primals): Expected f(*primals) to return tensors,")

    def vjp_fn(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        def body(context: Context) -> Any:
            given = fitting_cotangents(pullback.structure, pullback.outputs, cotangents)
            traced = [as_traced(each, "vjp") for each in given]
            return unflatten(pullback(context, traced), structure)

        return run("vjp", body)

    outputs = unflatten(pullback.outputs, pullback.structure)
    return (outputs, vjp_fn, pullback.aux) if has_aux else (outputs, vjp_fn)


def check_differentiable(outputs: Sequence[Any]) -> None:
    """RuntimeError if an output is of an integer dtype."""
    for output in outputs:
        if is_tensor(output) and not output.dtype.is_differentiable:
            raise RuntimeError(
                "vjp: all results of the function need a floating-point or complex dtype, but one "
                f"has {output.dtype}; return it with has_aux=True instead"
            )


def fitting_cotangents(structure: Any, outputs: Sequence[Any], cotangents: Tree) -> list[Any]:
    """The leaves of cotangents for outputs of a structure.

    Raises:
        RuntimeError: if structure or shapes differ.
    """
    leaves, given = flatten(cotangents)
    if given != structure:
        raise RuntimeError(
            f"vjp: each output needs its cotangent, but outputs are {structure} and cotangents are "
            f"{given}"
        )
    for output, leaf in zip(outputs, leaves, strict=True):
        if is_tensor(leaf) and not same_shape(tuple(leaf.shape), tuple(output.shape)):
            raise RuntimeError(
                f"vjp: a cotangent has shape {list(leaf.shape)}, but the output has shape "
                f"{list(output.shape)}"
            )
    return leaves


def _vjp_on_tape(func: Function, primals: tuple[Any, ...], has_aux: bool) -> tuple[Any, ...]:
    leaves, structure = flatten(primals)

    def function(leaves: list[Any]) -> Any:
        def body(context: Context) -> Any:
            result = func(*unflatten(map(lifted, leaves), structure))
            output, aux = with_aux(result, has_aux, "vjp")
            message = "vjp(f, *primals): Expected f(*primals) to return tensors,"
            found, structure_out = tensor_leaves(output, message)
            output = unflatten(found, structure_out)
            return (output, aux) if has_aux else output

        def eager() -> Any:
            return func(*unflatten(leaves, structure))

        source = Source((has_aux,), func, unflatten(leaves, structure))
        return run("vjp", body, eager, source)

    call = TapeCall(function, leaves, "vjp", has_aux)
    outputs, out_structure = flatten(call.tree)
    check_differentiable(outputs)

    def vjp_fn(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        if captures() is not None:  # vmap(vjp_fn): the function is traced again, there
            again = vjp(func, *primals, has_aux=has_aux)
            return again[1](cotangents)
        given = fitting_cotangents(out_structure, outputs, cotangents)
        return unflatten(call.gradients(given), structure)

    released = unflatten([call.released(each) for each in outputs], out_structure)
    return (released, vjp_fn, call.aux) if has_aux else (released, vjp_fn)


class TapeCall:
    """A function called on tensors that require gradients: the tape gives those."""

    def __init__(
        self, function: Callable[[list[Any]], Any], leaves: Sequence[Any], name: str, has_aux: bool
    ) -> None:
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                raise no_tensor(leaf, name)
            if not leaf.dtype.is_differentiable:
                raise RuntimeError(
                    f"{name}: only Tensors of floating point or complex dtype can require "
                    f"gradients, not {leaf.dtype}"
                )
        self.outer_grad = _core.is_grad_enabled()
        _core.set_grad_enabled(True)
        try:
            self.inputs = [
                leaf.view_as(leaf)
                if self.outer_grad and leaf.requires_grad
                else leaf.detach().requires_grad_()
                for leaf in leaves
            ]
            self.tree, self._aux = with_aux(function(self.inputs), has_aux, name)
        finally:
            _core.set_grad_enabled(self.outer_grad)
        # Whether results have a history besides this transform's own.
        self.kept = self.outer_grad and reaches_others(
            flatten((self.tree, self._aux))[0], self.inputs
        )

    @property
    def aux(self) -> Any:
        return map_tree(self.released, self._aux)

    def released(self, output: Any) -> Any:
        """A result for the caller."""
        return output if self.kept or not isinstance(output, Tensor) else output.detach()

    def gradients(self, cotangents: Sequence[Any]) -> list[Tensor]:
        """The gradients of the inputs for those of the outputs."""
        pairs = [
            (output, cotangent)
            for output, cotangent in zip(flatten(self.tree)[0], cotangents, strict=True)
            if isinstance(output, Tensor) and output.requires_grad
        ]
        given = any(isinstance(each, Tensor) and each.requires_grad for each in cotangents)
        found: Sequence[Any] = [None] * len(self.inputs)
        if pairs:
            found = tape_grad(
                [output for output, _ in pairs],
                self.inputs,
                [cotangent for _, cotangent in pairs],
                retain_graph=True,
                create_graph=_core.is_grad_enabled() and (self.kept or given),
                allow_unused=True,
            )
        zeros_like = _core.registered("zeros_like")
        return [
            zeros_like(leaf) if gradient is None else gradient
            for leaf, gradient in zip(self.inputs, found, strict=True)
        ]


def reaches_others(results: Sequence[Any], own: Sequence[Tensor]) -> bool:
    """Whether the results' history has leaves that are not the given ones."""
    known = {id(each) for each in own if each.is_leaf}
    pending = [x.grad_fn for x in results if isinstance(x, Tensor) and x.grad_fn is not None]
    leaves = [x for x in results if isinstance(x, Tensor) and x.requires_grad and x.is_leaf]
    seen: set[Any] = set()
    if any(id(leaf) not in known for leaf in leaves):
        return True
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if variable is not None and id(variable) not in known:
            return True
        pending += [following for following, _ in node.next_functions if following is not None]
    return False
