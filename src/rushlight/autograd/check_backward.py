"""Checks of the backward pass for `gradcheck`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import _core
from .._core import Tensor
from .engine import grad
from .finite_differences import (
    Derivatives,
    GradcheckError,
    Options,
    Tensors,
    close,
    close_numbers,
    expected_gradients,
    inner,
    numerical_jacobians,
    operator,
    random_unit,
)

# ---------------------------------------------------------------- analytical


def _analytical(output: Tensor, x: Tensor, weight: complex) -> tuple[Tensor, bool, bool]:
    """The gradient matrix [input, output] by backward passes; whether sizes and dtypes fit."""
    zeros_like, stack = operator("zeros_like"), operator("stack")
    columns = []
    size_fits = dtype_fits = True
    for j in range(output.numel()):
        given = zeros_like(output, memory_format=operator("contiguous_format"))
        given.view(-1)[j] = weight if output.is_complex() else weight.real
        (found,) = grad(output, x, given, retain_graph=True, allow_unused=True)
        if found is None:
            found = zeros_like(x)
        size_fits &= found.shape == x.shape
        dtype_fits &= found.dtype == x.dtype
        columns.append(found.detach().reshape(-1))
    if not columns:
        return x.detach().reshape(-1, 1)[:, :0], True, True
    return stack(columns, 1), size_fits, dtype_fits


def mismatch(
    analytical: Tensor, numerical: Tensor, output: int, x: int, weight: complex, is_complex: bool
) -> str:
    part = ""
    if is_complex:
        part = (
            "While considering the imaginary part of complex outputs only, "
            if weight == 1j
            else "While considering the real part of complex outputs only, "
        )
    return (
        f"{part}Jacobian mismatch for output {output} with respect to input {x},\n"
        f"numerical:{numerical}\nanalytical:{analytical}\n"
    )


def check_slow(
    inputs: tuple[Any, ...],
    outputs: Tensors,
    numerical: dict[int, list[Derivatives]],
    options: Options,
) -> None:
    for i, derivatives in numerical.items():
        for j, output in enumerate(outputs):
            for weight in (1.0, 1j) if output.is_complex() else (1.0,):
                found, sizes, kinds = _analytical(output, inputs[i], complex(weight))
                again, _, _ = _analytical(output, inputs[i], complex(weight))
                expected = expected_gradients(derivatives[j], complex(weight))
                if not sizes:
                    raise GradcheckError("Analytical gradient has incorrect size")
                if not kinds:
                    raise GradcheckError("Analytical gradient has incorrect type")
                if not close(found, expected, options):
                    raise GradcheckError(
                        mismatch(found, expected, j, i, weight, output.is_complex())
                    )
                _check_same(found, again, options)


def _check_same(first: Tensor, again: Tensor, options: Options) -> None:
    if first.numel() and float((first - again).abs().max()) > options.nondet_tol:
        raise GradcheckError(
            "Backward is not reentrant: two runs with the same inputs and the same gradient of "
            "the output differ by more than nondet_tol="
            f"{options.nondet_tol}, while the gradients themselves agree with the numerical ones. "
            "If the operator is meant to be nondeterministic, pass a larger nondet_tol."
        )


# ---------------------------------------------------------------- fast mode


def check_fast(
    func: Callable[..., Any],
    inputs: tuple[Any, ...],
    outputs: Tensors,
    numerical: dict[int, list[Tensor]],
    options: Options,
) -> None:
    """Compares v . J u for one random u and v for each pair of input and output."""
    for i, derivatives in numerical.items():
        x = inputs[i]
        u = random_unit(x)
        for j, output in enumerate(outputs):
            v = random_unit(output)
            (found,) = grad(output, x, v, retain_graph=True, allow_unused=True)
            (again,) = grad(output, x, v, retain_graph=True, allow_unused=True)
            if found is not None and found.shape != x.shape:
                raise GradcheckError("Analytical gradient has incorrect size")
            if found is not None and found.dtype != x.dtype:
                raise GradcheckError("Analytical gradient has incorrect type")
            analytical = 0.0 if found is None else inner(found.detach(), u)
            expected = inner(v.reshape(-1), derivatives[j])
            atol = options.atol * math.sqrt(x.numel() * max(1, output.numel()))
            if not close_numbers(analytical, expected, atol, options.rtol):
                raise GradcheckError(_explain_fast(func, inputs, output, i, j, options))
            if found is not None:
                _check_same(found, again, options)


def _explain_fast(
    func: Callable[..., Any], inputs: tuple[Any, ...], output: Tensor, i: int, j: int, o: Options
) -> str:
    analytical, _, _ = _analytical(output, inputs[i], 1.0)
    numerical = expected_gradients(numerical_jacobians(func, inputs, i, o.eps)[j], 1.0)
    return (
        mismatch(analytical, numerical, j, i, 1.0, output.is_complex())
        + "\nThese are the two sides of the fast check, each projected on a random direction. The "
        "Jacobians below were computed anew, entry by entry."
    )


# ---------------------------------------------------------------- other checks


def check_undefined(outputs: Tensors, inputs: Tensors) -> None:
    """Undefined gradients of outputs must be taken for zeros."""

    def check(undefined: Sequence[int]) -> None:
        zeros_like = operator("zeros_like")
        attached = _pass_on(outputs, set(undefined))
        found = grad(
            attached,
            inputs,
            [zeros_like(out) for out in outputs],
            retain_graph=True,
            allow_unused=True,
        )
        for each in found:
            if each is not None and bool((each != 0).any()):
                raise GradcheckError(
                    "backward() must turn undefined output gradients into undefined or zero ones, "
                    "but another gradient came out. Return None where None arrives."
                )

    try:
        check(range(len(outputs)))
        if len(outputs) > 1:
            for j in range(len(outputs)):
                check([j])
    except GradcheckError:
        raise
    except RuntimeError as error:
        raise GradcheckError(
            "backward() has to handle undefined output grads, which arrive as None, but raised an "
            "error. Test them for None, or leave ctx.set_materialize_grads on."
        ) from error


def _pass_on(outputs: Tensors, undefined: set[int]) -> list[Tensor]:
    """The outputs behind one node each, some of which give None for a gradient."""
    results = []
    for j, out in enumerate(outputs):
        copy = out.detach().clone()
        _core.attach_node(
            (lambda g: (None,)) if j in undefined else (lambda g: (g,)), "Identity", (out,), (copy,)
        )
        results.append(copy)
    return results


def check_gradient_kinds(outputs: Tensors, inputs: Tensors) -> None:
    """Gradients of nothing must have their input's layout of memory, dtype and size."""
    zeros_like = operator("zeros_like")
    found = grad(
        outputs, inputs, [zeros_like(o) for o in outputs], retain_graph=True, allow_unused=True
    )
    for gradient, x in zip(found, inputs):
        if gradient is None:
            continue
        if bool((gradient != 0).any()):
            raise GradcheckError("backward not multiplied by grad_output")
        if gradient.dtype != x.dtype or gradient.device != x.device:
            raise GradcheckError("grad is incorrect type")
        if gradient.shape != x.shape:
            raise GradcheckError("grad is incorrect size")
