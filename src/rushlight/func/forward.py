"""``jvp`` and ``linearize``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..graph.symbols import same_shape
from ..graph.trace import Context, Traced, lifted
from ..ops import build
from ..transform.forward import DualContext
from .arguments import as_traced, is_tensor, tensor_leaves, with_aux
from .trace import Source, run
from .trees import flatten, map_tree, unflatten

Function = Callable[..., Any]


def jvp(
    func: Function,
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> tuple[Any, ...]:
    """The value of ``func(*primals)`` and its derivative in the direction ``tangents``.

    Args:
        func: a function of tensors and nested dicts, lists and tuples of them.
        primals: its arguments.
        tangents: the direction: the same structure, shapes and dtypes.
        strict: not supported, as in PyTorch.
        has_aux: whether ``func`` returns ``(output, aux)``.

    Returns:
        ``(output, tangent)`` or ``(output, tangent, aux)``.
    """
    leaves, directions, structure = _checked(primals, tangents)
    if strict:
        raise RuntimeError("jvp: strict=True is not supported; test tangents for zeros")

    def body(context: Context) -> Any:
        pushed = push(
            context, lambda leaves: func(*unflatten(leaves, structure)), leaves, directions, has_aux
        )
        outputs = unflatten(pushed.outputs, pushed.structure)
        slopes = unflatten(pushed.tangents, pushed.structure)
        return (outputs, slopes, pushed.aux) if has_aux else (outputs, slopes)

    def eager() -> Any:
        return _jvp_of_duals(func, leaves, directions, structure, has_aux)

    return run("jvp", body, eager, Source((has_aux,), func, (primals, tangents)))


def _checked(primals: Any, tangents: Any) -> tuple[list[Any], list[Any], Any]:
    if not isinstance(primals, tuple):
        raise RuntimeError(
            "jvp: primals are the arguments of the function in a tuple, not "
            f"{type(primals).__name__}."
        )
    leaves, structure = flatten(primals)
    directions, given = flatten(tangents)
    if given != structure:
        raise RuntimeError(
            f"jvp: each tensor of primals needs its tangent, but primals are {structure} and "
            f"tangents are {given}"
        )
    for kind, values in (("primals", leaves), ("tangents", directions)):
        if not values:
            raise RuntimeError(f"jvp(f, primals, tangents): Expected {kind} to contain Tensors")
        for value in values:
            if not is_tensor(value):
                raise RuntimeError(
                    f"jvp(f, primals, tangents): Expected {kind} to be Tensors, got unsupported "
                    f"type {type(value)}"
                )
    return leaves, directions, structure


class Pushed:
    """The outputs of a function and their tangents, of the context of the call."""

    def __init__(
        self, context: Context, dual: DualContext, result: Any, has_aux: bool, name: str = "jvp"
    ) -> None:
        output, aux = with_aux(result, has_aux, name)
        self.aux = map_tree(lambda x: dual.split(x)[0] if isinstance(x, Traced) else x, aux)
        found, self.structure = tensor_leaves(
            output, f"{name}(f, primals, tangents): Expected f(*primals) to return only tensors,"
        )
        pairs = [dual.split(each) for each in found]
        self.outputs = [primal for primal, _ in pairs]
        with context.active():
            self.tangents = [
                build.zeros_like(primal) if tangent is None else tangent
                for primal, tangent in pairs
            ]


def push(
    context: Context,
    function: Callable[[list[Any]], Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool,
) -> Pushed:
    """Call a function of leaves in forward mode."""
    dual = DualContext(context)
    with context.active():
        duals = []
        for primal, tangent in zip(primals, tangents, strict=True):
            primal, tangent = as_traced(primal, "jvp"), as_traced(tangent, "jvp")
            check_tangent(primal, tangent)
            duals.append(dual.dual(primal, tangent))
    with dual.active():
        result = function(duals)
    return Pushed(context, dual, result, has_aux)


def check_tangent(primal: Any, tangent: Any) -> None:
    """An error as PyTorch's if a tangent does not fit."""
    for role, value in (("primal", primal), ("tangent", tangent)):
        if not value.dtype.is_differentiable:
            raise ValueError(
                f"Expected {role} to be floating point or complex, but got: {value.dtype}"
            )
    if not same_shape(tuple(primal.shape), tuple(tangent.shape)):
        raise RuntimeError(
            f"Expected tangent to have the shape {list(primal.shape)} of the primal, but got "
            f"{list(tangent.shape)}"
        )
    if primal.dtype is not tangent.dtype:
        raise RuntimeError(
            f"Expected tangent to have the dtype {primal.dtype} of the primal, but got "
            f"{tangent.dtype}"
        )


def _jvp_of_duals(
    func: Function, leaves: list[Any], directions: list[Any], structure: Any, has_aux: bool
) -> Any:
    """Forward mode operator by operator, for functions that cannot be traced."""
    from ..autograd import forward_ad

    with forward_ad.dual_level():
        duals = map(forward_ad.make_dual, leaves, directions)
        output, aux = with_aux(func(*unflatten(duals, structure)), has_aux, "jvp")
        results, out_structure = flatten(output)
        pairs = [forward_ad.unpack_dual(each) for each in results]
        outputs = unflatten([primal for primal, _ in pairs], out_structure)
        slopes = unflatten(
            [primal.detach() * 0 if tangent is None else tangent for primal, tangent in pairs],
            out_structure,
        )
        aux = map_tree(lambda x: forward_ad.unpack_dual(x).primal if is_tensor(x) else x, aux)
    return (outputs, slopes, aux) if has_aux else (outputs, slopes)


def outputs_and_tangents(
    name: str,
    function: Callable[[list[Any]], Any],
    pairs: Sequence[tuple[Any, Any]],
    source: Source | None = None,
) -> tuple[list[Any], list[Any], Any]:
    """The outputs of a function of dual values, their tangents (None: zero), and the structure."""

    def body(context: Context) -> Any:
        dual = DualContext(context)
        with context.active():
            duals = [dual.dual(lifted(primal), lifted(tangent)) for primal, tangent in pairs]
        with dual.active():
            leaves, structure = flatten(function(duals))
        parts = [dual.split(x) if isinstance(x, Traced) else (x, None) for x in leaves]
        primals, tangents = [primal for primal, _ in parts], [tangent for _, tangent in parts]
        return unflatten(primals, structure), unflatten(tangents, structure)

    outputs, tangents = run(name, body, source=source)
    leaves, structure = flatten(outputs)
    return leaves, flatten(tangents)[0], structure


def linearize(func: Function, *primals: Any) -> tuple[Any, Function]:
    """The value of ``func(*primals)``, and a function from tangents to the derivative along them.

    Returns:
        ``(output, jvp_fn)``; ``jvp_fn(*tangents)`` takes one for each primal.
    """
    output = run("linearize", lambda context: func(*primals))

    def jvp_fn(*tangents: Any) -> Any:
        return jvp(func, primals, tangents)[1]

    return output, jvp_fn
