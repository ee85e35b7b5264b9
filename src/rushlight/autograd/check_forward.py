"""Checks of forward mode, and of batches of gradients and tangents, for `gradcheck`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import _core
from .._core import Tensor
from .finite_differences import (
    Derivatives,
    GradcheckError,
    Options,
    Tensors,
    as_tuple,
    checked,
    close,
    close_numbers,
    differentiable_outputs,
    inner,
    is_differentiable,
    operator,
    random_unit,
)
from .forward_ad import dual_level, make_dual, unpack_dual

Function = Callable[..., Any]


# ---------------------------------------------------------------- tangents


def tangents_of(func: Function, inputs: Sequence[Any], tangents: dict[int, Tensor]) -> Tensors:
    """The tangents of the outputs; zeros where there is none. Inputs without one are constants."""
    with dual_level():
        duals = [
            make_dual(x.detach(), tangents[i])
            if i in tangents
            else x.detach()
            if isinstance(x, Tensor)
            else x
            for i, x in enumerate(inputs)
        ]
        pairs = [unpack_dual(out) for out in differentiable_outputs(func(*duals))]
        return tuple(
            [
                operator("zeros_like")(primal.detach()) if tangent is None else tangent
                for primal, tangent in pairs
            ]
        )


def _jacobians(func: Function, inputs: tuple[Any, ...], i: int, unit: complex) -> list[Tensor]:
    """For each output its tangents along each element of input ``i`` times ``unit``, as rows."""
    x = inputs[i]
    rows = []
    for k in range(x.numel()):
        direction = operator("zeros")(x.numel(), dtype=x.dtype)
        direction[k] = unit if x.is_complex() else unit.real
        slopes = tangents_of(func, inputs, {i: direction.reshape(x.shape)})
        rows.append([slope.detach().reshape(-1) for slope in slopes])
    return [operator("stack")(column) for column in zip(*rows, strict=True)]


def check_forward_slow(
    func: Function,
    inputs: tuple[Any, ...],
    numerical: dict[int, list[Derivatives]],
    options: Options,
) -> None:
    """Compare Jacobians column by column with differences."""
    for i, derivatives in numerical.items():
        for part, unit in enumerate((1.0, 1j) if inputs[i].is_complex() else (1.0,)):
            for j, found in enumerate(_jacobians(func, inputs, i, complex(unit))):
                expected = derivatives[j][part]
                if expected is None or close(found, expected, options):
                    continue
                side = ("real", "imaginary")[part]
                where = f"While considering the {side} part of complex inputs only, "
                raise GradcheckError(
                    f"{where if inputs[i].is_complex() else ''}Jacobian computed with forward mode "
                    f"mismatch for output {j} with respect to input {i},\n"
                    f"numerical:{expected}\nanalytical:{found}\n"
                )


def check_forward_fast(
    func: Function,
    inputs: tuple[Any, ...],
    numerical: dict[int, list[Tensor]],
    options: Options,
) -> None:
    """Compare v . J u for one random u and v for each pair of input and output."""
    for i, derivatives in numerical.items():
        x = inputs[i]
        for j, slope in enumerate(tangents_of(func, inputs, {i: random_unit(x)})):
            v = random_unit(slope)
            found, expected = inner(v, slope.detach()), inner(v.reshape(-1), derivatives[j])
            atol = options.atol * math.sqrt(x.numel() * max(1, slope.numel()))
            if not close_numbers(found, expected, atol, options.rtol):
                raise GradcheckError(
                    f"Jacobian computed with forward mode mismatch for output {j} with respect to "
                    f"input {i}, along one random direction (fast mode),\n"
                    f"numerical:{expected}\nanalytical:{found}\n"
                )


def check_undefined_tangents(func: Function, inputs: tuple[Any, ...], options: Options) -> None:
    """An input without a tangent must count as one with zeros."""
    positions = checked(inputs)
    tangents = {i: random_unit(inputs[i]) for i in positions}
    for i in positions:
        zeros = operator("zeros_like")(inputs[i].detach())
        defined = tangents_of(func, inputs, {**tangents, i: zeros})
        rest = {k: tangent for k, tangent in tangents.items() if k != i}
        undefined = tangents_of(func, inputs, rest)
        for j, (one, other) in enumerate(zip(defined, undefined, strict=True)):
            if not close(one.detach(), other.detach(), options):
                raise GradcheckError(
                    f"Mismatch in tangent values for output with index {j} when input {i} has an "
                    f"undefined tangent. Got:\n{other}\nbut expected, as for zeros:\n{one}"
                )


# ---------------------------------------------------------------- batches


def _batch_error(kind: str, error: Exception) -> GradcheckError:
    return GradcheckError(
        f"While computing batched {kind}, got: {error}\n\n"
        "gradcheck computes them with rushlight.func.vmap. If the function cannot be traced, leave "
        f"out {'check_batched_grad' if kind == 'gradients' else 'check_batched_forward_grad'}."
    )


def _compare_batch(found: Sequence[Any], expected: Sequence[Any], kind: str, index: str) -> None:
    for k, (one, other) in enumerate(zip(found, expected, strict=True)):
        if not operator("allclose")(one, other):
            raise GradcheckError(
                f"For {index.format(k)}: batched {kind} differ from those computed one by one.\n"
                f"Got:\n{one}\nExpected:\n{other}"
            )


def _two_random(x: Tensor) -> list[Tensor]:
    return [operator("randn_like")(x.detach()) for _ in range(2)]


def _stacked(rows: Sequence[Tensors]) -> list[Tensor]:
    return [operator("stack")(column) for column in zip(*rows, strict=True)]


def check_batched_tangents(func: Function, inputs: tuple[Any, ...]) -> None:
    """Tangents of a batch of directions must be those of its members."""
    from ..func import jvp, vmap

    for i in checked(inputs):
        if not is_differentiable(inputs[i]):
            continue

        def of_one(x: Any, i: int = i) -> Tensors:
            given = [each.detach() if isinstance(each, Tensor) else each for each in inputs]
            return differentiable_outputs(func(*given[:i], x, *given[i + 1 :]))

        directions = _two_random(inputs[i])
        expected = _stacked([tangents_of(func, inputs, {i: each}) for each in directions])
        primal = inputs[i].detach()

        def slopes(direction: Any, f: Function = of_one, primal: Tensor = primal) -> Any:
            return jvp(f, (primal,), (direction,))[1]

        try:
            found = vmap(slopes)(operator("stack")(directions))
        except (RuntimeError, TypeError, NotImplementedError, AttributeError) as error:
            raise _batch_error("tangents", error) from error
        _compare_batch(found, expected, "tangents", f"output {{}} and input {i}")


def check_batched_gradients(func: Function, inputs: tuple[Any, ...], outputs: Tensors) -> None:
    """Gradients of a batch of output gradients must be those of its members.

    func: what is traced; it computes what the outputs were computed by.
    """
    from ..func import vjp, vmap

    positions = checked(inputs)
    wanted = tuple([inputs[i] for i in positions])
    for j, output in enumerate(outputs):
        weights = _two_random(output)
        zeros_like = operator("zeros_like")
        expected = _stacked(
            [
                tuple(
                    [
                        zeros_like(x) if found is None else found.detach()
                        for x, found in zip(wanted, _gradients(output, wanted, weight), strict=True)
                    ]
                )
                for weight in weights
            ]
        )

        def of_checked(*xs: Any, j: int = j) -> Any:
            given = list(inputs)
            for i, x in zip(positions, xs, strict=True):
                given[i] = x
            return differentiable_outputs(func(*given))[j]

        try:
            pull = vjp(of_checked, *[x.detach() for x in wanted])[1]
            found = as_tuple(vmap(pull)(operator("stack")(weights)))
        except (RuntimeError, TypeError, NotImplementedError, AttributeError) as error:
            raise _batch_error("gradients", error) from error
        _compare_batch(found, expected, "gradients", f"output {j} and input {{}}")


def _gradients(output: Tensor, wanted: Tensors, weight: Tensor) -> tuple[Any, ...]:
    return _core.run_backward((output,), (weight,), True, False, wanted, True, False)
