"""Jacobians, Hessians and their products with vectors, for functions of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from .. import _core
from .._core import Tensor
from .engine import grad
from .grad_mode import enable_grad, set_grad_enabled

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors: TypeAlias = tuple[Tensor, ...]
Function: TypeAlias = Callable[..., Any]


# ---------------------------------------------------------------- arguments and results


def _as_tensors(value: Any, name: str, function: str) -> tuple[bool, Tensors]:
    """Whether the value was a tuple, and its tensors."""
    is_tuple = isinstance(value, tuple)
    items = value if is_tuple else (value,)
    for i, item in enumerate(items):
        if isinstance(item, Tensor):
            continue
        start = f"The {name} given to {function} must be either a Tensor or several in a tuple, but"
        if is_tuple:
            raise TypeError(f"{start} the value at index {i} has type {type(item)}.")
        raise TypeError(f"{start} the given {name} has type {type(item)}.")
    return is_tuple, items


def _prepare(inputs: Tensors, create_graph: bool, need_graph: bool) -> Tensors:
    """Tensors to differentiate with respect to, which nobody else has."""
    if create_graph:
        views = [x.view_as(x) for x in inputs]
        return tuple([x if x.requires_grad else x.requires_grad_(need_graph) for x in views])
    return tuple([x.detach().requires_grad_(need_graph) for x in inputs])


def _finish(results: Any, create_graph: bool) -> Any:
    if isinstance(results, Tensor):
        return results if create_graph else results.detach()
    return tuple([_finish(result, create_graph) for result in results])


def _unwrap(results: Tensors, was_tuple: bool) -> Any:
    return results if was_tuple else results[0]


def _check_vector(v: Tensors, like: Tensors, is_like_tuple: bool) -> None:
    if len(v) != len(like):
        if is_like_tuple:
            raise RuntimeError(f"v is a tuple of invalid length: {len(v)} instead of {len(like)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (each, other) in enumerate(zip(v, like)):
        if each.shape != other.shape:
            place = f"Entry {i} in " if is_like_tuple else ""
            raise RuntimeError(
                f"{place}v has invalid size: should be {other.shape} but got {each.shape}."
            )


def _vector(v: Any, like: Tensors, is_like_tuple: bool, create_graph: bool, name: str) -> Tensors:
    """The vector of a product; None stands for 1 where there is but one number."""
    if v is not None:
        _, given = _as_tensors(v, "v", name)
        given = _prepare(given, create_graph, need_graph=False)
        _check_vector(given, like, is_like_tuple)
        return given
    if len(like) == 1 and like[0].numel() == 1:
        return tuple([_core.registered("ones_like")(x) for x in like])
    subject = (
        "the user-provided function returns"
        if name == "vjp"
        else "the input to the user-provided function is"
    )
    raise RuntimeError(
        f"The vector v can only be None if {subject} a single Tensor with a single element."
    )


def _check_outputs(outputs: Tensors, strict: bool) -> None:
    for i, output in enumerate(outputs):
        if strict and not output.requires_grad:
            raise RuntimeError(
                f"Output {i} of the user-provided function does not require gradients, and "
                "strict=True asks that every output depends differentiably on the inputs."
            )


_NO_SECOND_ORDER = (
    "While computing the hessian, found that the first derivative is independent of input {}: its "
    "second derivatives there are zero, which strict=True refuses. Pass strict=False to get zeros."
)
_OUTPUT = (
    "The output of the function is independent of input {}, which strict=True refuses. Pass "
    "strict=False to get zeros."
)
_JACOBIAN = (
    "The jacobian of the function is independent of input {}, which strict=True refuses. Pass "
    "strict=False to get zeros."
)
_TRICK = (
    "jvp differentiates vjp with respect to its v, and the vjp is independent of entry {} of it, "
    "which strict=True refuses. Pass strict=False to get zeros."
)


def _check_used(results: Sequence[Tensor | None], message: str, strict: bool) -> None:
    for i, result in enumerate(results):
        if strict and result is None:
            raise RuntimeError(message.format(i))


def _check_twice(gradients: Sequence[Tensor | None], strict: bool) -> None:
    """In strict mode the gradients must depend on the inputs."""
    for i, gradient in enumerate(gradients):
        if strict and gradient is not None and not gradient.requires_grad:
            raise RuntimeError(_NO_SECOND_ORDER.format(i))


def _filled(
    results: Sequence[Tensor | None],
    like: Tensors,
    message: str,
    what: str,
    strict: bool,
    create_graph: bool,
) -> Tensors:
    """Zeros where a result does not depend on the input, which strict mode forbids.

    `message` tells so; `what` names results that create_graph wants to be differentiable.
    """
    _check_used(results, message, strict)
    for i, result in enumerate(results):
        if strict and create_graph and result is not None and not result.requires_grad:
            raise RuntimeError(
                f"The {what} of the function is independent of input {i}, so the result could not "
                "be differentiated, which strict=True with create_graph=True asks for."
            )
    zeros_like = _core.registered("zeros_like")
    return tuple([zeros_like(x) if r is None else r for r, x in zip(results, like)])


def _gradients(
    outputs: Sequence[Tensor],
    inputs: Tensors,
    weights: Sequence[Tensor | None] | None = None,
    create_graph: bool = False,
) -> tuple[Tensor | None, ...]:
    """`grad`, where outputs may be independent of everything."""
    if weights is None:
        weights = (None,) * len(outputs)
    used = [(out, w) for out, w in zip(outputs, weights) if out.requires_grad]
    if not used:
        return (None,) * len(inputs)
    return grad(
        [out for out, _ in used],
        inputs,
        [w for _, w in used],
        allow_unused=True,
        create_graph=create_graph,
        retain_graph=True,
    )


def _scalar_of(func: Function, inputs: Tensors, name: str) -> Tensor:
    """The one number that the function returns."""
    is_tuple, outputs = _as_tensors(func(*inputs), "outputs of the user-provided function", name)
    if is_tuple:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {name} should contain a single element"
        )
    return outputs[0]


# ---------------------------------------------------------------- first order


def vjp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The outputs of `func`, and the product of `v` with its Jacobian at `inputs`.

    Args:
        func: takes tensors, returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors.
        v: as the outputs; may be left out if `func` returns one number.
        create_graph: whether the results can be differentiated.
        strict: raise where an output does not depend on an input, instead of giving zeros.
    """
    with enable_grad():
        is_tuple, given = _as_tensors(inputs, "inputs", "vjp")
        given = _prepare(given, create_graph, need_graph=True)
        is_out_tuple, outputs = _as_tensors(
            func(*given), "outputs of the user-provided function", "vjp"
        )
        _check_outputs(outputs, strict)
        weights = _vector(v, outputs, is_out_tuple, create_graph, "vjp")
    with _graph_mode(create_graph):
        found = _gradients(outputs, given, weights, create_graph)
        product = _filled(found, given, _OUTPUT, "jacobian", strict, create_graph)
    outputs = _finish(outputs, create_graph)
    return _unwrap(outputs, is_out_tuple), _unwrap(_finish(product, create_graph), is_tuple)


def jvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The outputs of `func`, and the product of its Jacobian at `inputs` with `v`.

    The product is a gradient of a gradient (`vjp` is linear in its vector), so that `func` needs
    no forward mode. Arguments as of `vjp`; `v` is as the inputs.
    """
    with enable_grad():
        is_tuple, given = _as_tensors(inputs, "inputs", "jvp")
        given = _prepare(given, create_graph, need_graph=True)
        weights = _vector(v, given, is_tuple, create_graph, "jvp")
        is_out_tuple, outputs = _as_tensors(
            func(*given), "outputs of the user-provided function", "jvp"
        )
        _check_outputs(outputs, strict)
        zeros_like = _core.registered("zeros_like")
        dummies = tuple([zeros_like(out).requires_grad_() for out in outputs])
        found = _gradients(outputs, given, dummies, create_graph=True)
        _check_used(found, _OUTPUT, strict)
    with _graph_mode(create_graph):
        pairs = [(g, w) for g, w in zip(found, weights) if g is not None]
        products = _gradients([g for g, _ in pairs], dummies, [w for _, w in pairs], create_graph)
        result = _filled(products, outputs, _TRICK, "jacobian", strict, create_graph)
    outputs = _finish(outputs, create_graph)
    return _unwrap(outputs, is_out_tuple), _unwrap(_finish(result, create_graph), is_out_tuple)


def _graph_mode(create_graph: bool) -> Any:
    return set_grad_enabled(create_graph or _core.is_grad_enabled())


def jacobian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of `func` at `inputs`.

    Args:
        func: takes tensors, returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors.
        create_graph: whether the result can be differentiated.
        strict: raise where an output does not depend on an input, instead of giving zeros.
        vectorize, strategy: accepted; rows are always computed by one backward pass each.

    Returns:
        A tensor of the output's shape followed by the input's; a tuple over inputs, over outputs,
        or over outputs of tuples over inputs, where `inputs` or the outputs are tuples.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            f'strategy must be "forward-mode" or "reverse-mode", not {strategy!r}. '
            "Forward mode pays if the function has more outputs than inputs."
        )
    if strategy == "forward-mode" and create_graph:
        raise NotImplementedError(
            "jacobian: forward mode keeps no graph, so create_graph=True needs "
            'strategy="reverse-mode".'
        )
    if strategy == "forward-mode" and not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only "
            "implemented for `vectorize=True`."
        )
    if vectorize and strict:
        raise RuntimeError(
            "jacobian: strict=True and vectorize=True are not supported together, since a batched "
            "backward pass cannot tell zeros from no dependence. Drop one of them."
        )
    with enable_grad():
        is_tuple, given = _as_tensors(inputs, "inputs", "jacobian")
        given = _prepare(given, create_graph, need_graph=True)
        is_out_tuple, outputs = _as_tensors(
            func(*given), "outputs of the user-provided function", "jacobian"
        )
        _check_outputs(outputs, strict)
        parts = [_jacobian_of(out, given, create_graph, strict) for out in outputs]
    results = [_unwrap(_finish(part, create_graph), is_tuple) for part in parts]
    return tuple(results) if is_out_tuple else results[0]


def _jacobian_of(output: Tensor, inputs: Tensors, create_graph: bool, strict: bool) -> Tensors:
    """The Jacobian of one output with respect to each input."""
    flat = output.reshape(-1)
    rows = []
    for i in range(output.numel()):
        found = _gradients((flat[i],), inputs, None, create_graph)
        message = f"Output {i} of the user-provided function is independent of input {{}}. This is "
        message += "not allowed in strict mode."
        rows.append(_filled(found, inputs, message, "jacobian", strict, create_graph))
    stack, zeros = _core.registered("stack"), _core.registered("zeros")
    if not rows:
        return tuple([zeros((*output.shape, *x.shape), dtype=x.dtype) for x in inputs])
    return tuple(
        [stack(list(each)).view((*output.shape, *x.shape)) for each, x in zip(zip(*rows), inputs)]
    )


# ---------------------------------------------------------------- second order


def hessian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of `func`, which returns one number, at `inputs`.

    Returns:
        A tensor of the input's shape twice; for a tuple of inputs a tuple of tuples.
    """
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'outer_jacobian_strategy must be "forward-mode" or "reverse-mode", '
            f"not {outer_jacobian_strategy!r}."
        )
    is_tuple, given = _as_tensors(inputs, "inputs", "hessian")

    def single(*args: Tensor) -> Tensor:
        output = _scalar_of(func, args, "hessian")
        _check_outputs((output,), strict)
        return output.reshape(())

    def gradients(*args: Tensor) -> Any:
        result = jacobian(single, args, create_graph=True)
        _check_twice(result, strict)
        return result

    result = jacobian(
        gradients,
        given,
        create_graph=create_graph,
        strict=strict,
        vectorize=vectorize,
        strategy=outer_jacobian_strategy,
    )
    return result if is_tuple else result[0][0]


def vhp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The output of `func`, one number, and the product of `v` with its Hessian at `inputs`."""
    with enable_grad():
        is_tuple, given = _as_tensors(inputs, "inputs", "vhp")
        given = _prepare(given, create_graph, need_graph=True)
        weights = _vector(v, given, is_tuple, create_graph, "vhp")
        output = _scalar_of(func, given, "vhp")
        _check_outputs((output,), strict)
        first = _gradients((output,), given, None, create_graph=True)
        _check_used(first, _OUTPUT, strict)
        _check_twice(first, strict)
        pairs = [(g, w) for g, w in zip(first, weights) if g is not None]
    with _graph_mode(create_graph):
        found = _gradients([g for g, _ in pairs], given, [w for _, w in pairs], create_graph)
        product = _filled(found, given, _JACOBIAN, "hessian", strict, create_graph)
    return _finish(output, create_graph), _unwrap(_finish(product, create_graph), is_tuple)


def hvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The output of `func`, one number, and the product of its Hessian at `inputs` with `v`.

    `vhp` gives the same numbers for functions with continuous second derivatives, at less cost.
    """
    with enable_grad():
        is_tuple, given = _as_tensors(inputs, "inputs", "hvp")
        given = _prepare(given, create_graph, need_graph=True)
        weights = _vector(v, given, is_tuple, create_graph, "hvp")
        output = _scalar_of(func, given, "hvp")
        _check_outputs((output,), strict)
        first = _gradients((output,), given, None, create_graph=True)
        _check_used(first, _OUTPUT, strict)
        _check_twice(first, strict)
        zeros_like = _core.registered("zeros_like")
        dummies = tuple([zeros_like(x).requires_grad_() for x in given])
        used = [(g, w) for g, w in zip(first, dummies) if g is not None]
        seconds = _gradients([g for g, _ in used], given, [w for _, w in used], create_graph=True)
        _check_used(seconds, _JACOBIAN, strict)
    with _graph_mode(create_graph):
        pairs = [(g, w) for g, w in zip(seconds, weights) if g is not None]
        found = _gradients([g for g, _ in pairs], dummies, [w for _, w in pairs], create_graph)
        product = _filled(found, given, _TRICK, "hessian", strict, create_graph)
    return _finish(output, create_graph), _unwrap(_finish(product, create_graph), is_tuple)
