"""`gradcheck` and `gradgradcheck`: compare gradients with finite differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from .. import _core, dtypes
from .._core import Tensor
from .check_backward import check_fast, check_gradient_kinds, check_slow, check_undefined
from .check_forward import (
    check_batched_gradients,
    check_batched_tangents,
    check_forward_fast,
    check_forward_slow,
    check_undefined_tangents,
)
from .engine import grad
from .finite_differences import (
    GradcheckError,
    Options,
    Tensors,
    as_tuple,
    check_no_outputs,
    checked,
    differentiable_outputs,
    fast_numerical,
    operator,
    slow_numerical,
)
from .grad_mode import enable_grad

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


def _check_inputs(inputs: tuple[Any, ...]) -> None:
    if not checked(inputs):
        raise ValueError(
            "gradcheck needs at least one input tensor to require gradient: set "
            "requires_grad=True on those whose gradients are to be checked."
        )
    for i in checked(inputs):
        x = inputs[i]
        if x.dtype not in (dtypes.float64, dtypes.complex128):
            warnings.warn(
                f"gradcheck: input {i} has {x.dtype}, not a double precision dtype, so rounding "
                "will likely hide or fake a difference. Use float64 or complex128.",
                stacklevel=4,
            )
        if any(stride == 0 and size > 1 for stride, size in zip(x.stride(), x.shape)):
            raise RuntimeError(
                f"gradcheck: input {i} has a dimension with stride 0, whose elements are one "
                "number in memory and cannot be varied one by one. Pass x.contiguous()."
            )


# ---------------------------------------------------------------- entry points


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare gradients of `func` at `inputs` with central differences.

    Args:
        func: takes the inputs, returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple; those that require a gradient are checked, and should be of
            double precision.
        eps: half the step of the differences.
        atol, rtol: tolerances of the comparison.
        raise_exception: raise `GradcheckError` instead of returning False.
        nondet_tol: how much two backward passes may differ.
        check_undefined_grad: whether undefined gradients must be handled as zeros.
        check_grad_dtypes: whether gradients must have the dtype of their inputs.
        fast_mode: compare one random projection of each Jacobian only.
        check_backward_ad: whether to check the backward pass.
        check_forward_ad: whether to check forward mode (`forward_ad`).
        check_batched_grad, check_batched_forward_grad: whether `func.vmap` must give the same
            gradients and tangents for a batch as one by one.
        masked: accepted; it changes nothing.

    Returns:
        Whether all agree.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError(
            "gradcheck has nothing to do: check_forward_ad and check_backward_ad are both False"
        )
    if check_batched_grad and not check_backward_ad:
        raise AssertionError(
            "Setting check_batched_grad=True requires check_backward_ad to be True"
        )
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError(
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True"
        )
    options = Options(eps, atol, rtol, nondet_tol)
    checks = _Checks(
        forward=check_forward_ad,
        backward=check_backward_ad,
        undefined=check_undefined_grad,
        batched=check_batched_grad,
        batched_forward=check_batched_forward_grad,
        fast=fast_mode,
    )
    try:
        with enable_grad():
            _run(func, as_tuple(inputs), options, checks)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


class _Checks(NamedTuple):
    """What is to be checked. batched_function: computes the same, for `func` transforms to trace;
    None: the function itself.
    """

    forward: bool
    backward: bool
    undefined: bool
    batched: bool
    batched_forward: bool
    fast: bool
    batched_function: Callable[..., Any] | None = None


def _run(
    func: Callable[..., Any], inputs: tuple[Any, ...], options: Options, checks: _Checks
) -> None:
    _check_inputs(inputs)
    for i in checked(inputs):
        inputs[i].retain_grad()
    # First: it writes to the inputs, which the graph below must not see.
    numerical: Any = (fast_numerical if checks.fast else slow_numerical)(func, inputs, options)
    outputs = differentiable_outputs(func(*inputs))
    if not outputs or (checks.backward and not any(out.requires_grad for out in outputs)):
        check_no_outputs(func, inputs, options.eps)
        return
    if checks.forward:
        compare = check_forward_fast if checks.fast else check_forward_slow
        compare(func, inputs, numerical, options)
        if checks.undefined:
            check_undefined_tangents(func, inputs, options)
    if checks.backward:
        outputs = tuple([out if out.requires_grad else _joined(out, inputs) for out in outputs])
        if checks.fast:
            check_fast(func, inputs, outputs, numerical, options)
        else:
            check_slow(inputs, outputs, numerical, options)
    if checks.batched_forward:
        check_batched_tangents(func, inputs)
    if checks.backward:
        _check_properties(func, inputs, outputs, checks)


def _check_properties(
    func: Callable[..., Any], inputs: tuple[Any, ...], outputs: Tensors, checks: _Checks
) -> None:
    """What must hold of a backward pass besides its numbers."""
    if checks.batched:
        check_batched_gradients(checks.batched_function or func, inputs, outputs)
    wanted = tuple([inputs[i] for i in checked(inputs)])
    check_gradient_kinds(outputs, wanted)
    if checks.undefined:
        check_undefined(outputs, wanted)


def _joined(output: Tensor, inputs: tuple[Any, ...]) -> Tensor:
    """A constant output, so that a backward pass may start from it: all its gradients are None."""
    copy = output.detach().clone()
    tensors = tuple([inputs[i] for i in checked(inputs)])
    _core.attach_node(lambda g: (None,) * len(tensors), "Constant", tensors, (copy,))
    return copy


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Compare gradients of gradients of `func` at `inputs` with central differences.

    Args:
        func, inputs: as of `gradcheck`.
        grad_outputs: gradients of the outputs to differentiate with; random ones by default.
        gen_non_contig_grad_outputs: whether these random ones have gaps.

    The other arguments are those of `gradcheck`.
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError(
            "gradgradcheck has nothing to do: check_fwd_over_rev and check_rev_over_rev are both "
            "False"
        )
    given = as_tuple(inputs)
    if grad_outputs is None:
        gradients = _random_gradients(func, given, gen_non_contig_grad_outputs)
    else:
        gradients = as_tuple(grad_outputs)
    count = len(gradients)
    positions = checked(given)

    def first_order(*args: Any) -> Any:
        xs, weights = args[:-count], args[-count:]
        xs = tuple([_leaf(x) if i in positions else x for i, x in enumerate(xs)])
        outputs = differentiable_outputs(func(*xs))
        wanted = tuple([xs[i] for i in positions])
        with enable_grad():
            found = grad(outputs, wanted, weights, create_graph=True, allow_unused=True)
        return tuple([each for each in found if each is not None])

    def traceable(*args: Any) -> Any:
        """The same with function transforms."""
        from ..func import vjp

        xs, weights = args[:-count], args[-count:]

        def of_checked(*chosen: Any) -> Any:
            new = list(xs)
            for i, x in zip(positions, chosen, strict=True):
                new[i] = x
            return differentiable_outputs(func(*new))

        return vjp(of_checked, *[xs[i] for i in positions])[1](tuple(weights))

    def with_graph(*args: Any) -> Any:
        with enable_grad():
            return first_order(*args)

    options = Options(eps, atol, rtol, nondet_tol)
    checks = _Checks(
        forward=check_fwd_over_rev,
        backward=check_rev_over_rev,
        undefined=check_undefined_grad,
        batched=check_batched_grad,
        batched_forward=False,
        fast=fast_mode,
        batched_function=traceable,
    )
    try:
        with enable_grad():
            _run(with_graph, given + gradients, options, checks)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _leaf(x: Tensor) -> Tensor:
    """The tensor, or one like it that requires a gradient; with its tangent in forward mode."""
    if x.requires_grad:
        return x
    if _core.dual_levels() and _core.tangent(x) is not None:
        return x.requires_grad_()
    return x.detach().requires_grad_()


def _random_gradients(func: Callable[..., Any], inputs: tuple[Any, ...], gaps: bool) -> Tensors:
    """A random tensor like each output, which requires a gradient."""
    results = []
    for out in differentiable_outputs(func(*inputs)):
        kind = out.dtype if out.dtype in (dtypes.float64, dtypes.complex128) else dtypes.float64
        shape = tuple(out.shape)
        size = (*shape, 2) if gaps else shape
        real = operator("rand")(size, dtype=dtypes.float64) * 2 - 1
        if kind is dtypes.complex128:
            imaginary = operator("rand")(size, dtype=dtypes.float64) * 2 - 1
            real = operator("complex")(real, imaginary)
        gradient = real[..., 0] if gaps else real
        results.append(gradient.to(out.dtype).detach().requires_grad_())
    return tuple(results)
