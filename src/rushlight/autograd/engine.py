"""`backward` and `grad`: entry points of the native backward pass."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, TypeAlias

from .. import _core
from .._core import Tensor
from .dual_calls import dual_gradients
from .forward_ad import active
from .graph import GradientEdge

Tensors: TypeAlias = "Tensor | Sequence[Tensor]"


def _as_tuple(values: Any) -> tuple[Any, ...]:
    return (values,) if isinstance(values, Tensor | GradientEdge) else tuple(values)


class _Warned:
    create_graph = False


def _warn_of_cycle() -> None:
    """Once: gradients that can be differentiated refer to the graph that refers to the leaves."""
    if not _Warned.create_graph:
        _Warned.create_graph = True
        warnings.warn(
            "backward() with create_graph=True creates a reference cycle between each parameter "
            "and its gradient, which can leak memory. Use autograd.grad instead, or reset the "
            ".grad fields to None after use to break the cycle.",
            stacklevel=4,
        )


def _check_outputs(outputs: tuple[Any, ...]) -> None:
    for output in outputs:
        if not isinstance(output, Tensor | GradientEdge):
            raise AssertionError(
                f"Expected output to be a torch.Tensor or GradientEdge, got {type(output).__name__}"
            )


def _gradients(gradients: Any, count: int) -> tuple[Any, ...]:
    return (None,) * count if gradients is None else _as_tuple(gradients)


def backward(
    tensors: Tensors,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Tensors | None = None,
) -> None:
    """Add the gradients of `tensors` to the `.grad` of the leaves they were computed from.

    `grad_tensors` holds the gradient of each tensor (None: 1, for tensors of one element).
    `inputs` limits the pass to these tensors.
    """
    if grad_variables is not None:
        if grad_tensors is not None:
            raise RuntimeError(
                "backward() was given `grad_tensors` and also `grad_variables`, which is its "
                "deprecated name; pass `grad_tensors` alone."
            )
        grad_tensors = grad_variables
    if inputs is not None:
        inputs = _as_tuple(inputs)
        if not inputs:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    tensors = _as_tuple(tensors)
    _check_outputs(tensors)
    if create_graph:
        _warn_of_cycle()
    keep = create_graph if retain_graph is None else retain_graph
    gradients = _gradients(grad_tensors, len(tensors))
    _core.run_backward(tensors, gradients, keep, create_graph, inputs, True, True)


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradients of `outputs` with respect to `inputs`, weighted by `grad_outputs`.

    No tensor's `.grad` changes.

    An input that no output depends on is an error, unless `allow_unused` (its gradient is None) or
    `materialize_grads` (zeros).
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "materialize_grads=True puts zeros where an input was not used, so allow_unused must "
            "be left out or True, but it is False."
        )
    if not only_inputs:
        warnings.warn(
            "only_inputs=False is deprecated and does nothing: gradients of other leaves are "
            "accumulated by torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    outputs, inputs = _as_tuple(outputs), _as_tuple(inputs)
    _check_outputs(outputs)
    if not inputs:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    keep = create_graph if retain_graph is None else retain_graph
    gradients = _gradients(grad_outputs, len(outputs))
    allow_unused = bool(allow_unused) or materialize_grads
    run = _run_batched if is_grads_batched else _core.run_backward
    if _core.dual_levels() and active():
        results = dual_gradients(run, outputs, gradients, keep, create_graph, inputs, allow_unused)
    else:
        results = run(outputs, gradients, keep, create_graph, inputs, allow_unused, False)
    if not materialize_grads:
        return results
    zeros_like = _core.registered("zeros_like")
    return tuple(
        zeros_like(x).requires_grad_(create_graph) if result is None else result
        for x, result in zip(inputs, results, strict=True)
    )


def _run_batched(
    outputs: tuple[Any, ...],
    gradients: tuple[Any, ...],
    keep: bool,
    create_graph: bool,
    inputs: tuple[Any, ...],
    allow_unused: bool,
    accumulate: bool,
) -> tuple[Any, ...]:
    """One backward pass for each gradient of a batch; results are stacked."""
    for i, (output, g) in enumerate(zip(outputs, gradients, strict=True)):
        if isinstance(g, Tensor) and isinstance(output, Tensor) and g.shape[1:] != output.shape:
            raise RuntimeError(
                "If `is_grads_batched=True`, the first dim of each of grad_outputs is the batch: "
                f"grad_output[{i}] has a shape of {g.shape}, so its entries have {g.shape[1:]}, "
                f"but output[{i}] has a shape of {output.shape}."
            )
    sizes = {len(g) for g in gradients if isinstance(g, Tensor) and g.ndim}
    if len(sizes) != 1 or any(isinstance(g, Tensor) and not g.ndim for g in gradients):
        shapes = [tuple(g.shape) for g in gradients if isinstance(g, Tensor)]
        raise ValueError(
            "grad(): with is_grads_batched=True each of grad_outputs must have a leading batch "
            f"dim of one size, but the shapes are {shapes}"
        )
    (count,) = sizes
    rows = [
        _core.run_backward(
            outputs,
            tuple([None if g is None else g[i] for g in gradients]),
            keep or i + 1 < count,
            create_graph,
            inputs,
            allow_unused,
            accumulate,
        )
        for i in range(count)
    ]
    stack, zeros = _core.registered("stack"), _core.registered("zeros_like")
    if not rows:
        return tuple([zeros(x).unsqueeze(0)[:0] for x in inputs])
    return tuple([None if row[0] is None else stack(row) for row in zip(*rows, strict=True)])
