"""``jacrev``, ``jacfwd`` and ``hessian``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..graph.trace import Context, Traced
from ..layout import numel
from ..ops import build
from ..ops.record import op
from ..transform.batching import BatchedContext
from .arguments import Argnums, Selected, differentiable
from .forward import push
from .reverse import Pullback
from .trace import Source, run
from .trees import map_tree, unflatten

Function = Callable[..., Any]


def jacrev(
    func: Function,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Function:
    """A function that gives the Jacobian of ``func``, by reverse mode.

    Args:
        func: a function of tensors and nested dicts, lists and tuples of them.
        argnums: the positional arguments to differentiate with respect to.
        has_aux: whether ``func`` returns ``(output, aux)``.
        chunk_size: how many rows are computed at once, to save memory; None: all.

    Returns:
        A function whose result is nested like the output of ``func``, each entry like the chosen
        arguments, each Jacobian of the output's shape followed by the argument's.
    """
    _check_chunk_size("jacrev", chunk_size)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        selected = Selected(func, args, kwargs, argnums)

        def body(context: Context) -> Any:
            pullback = Pullback(context, "jacrev", selected.call, selected.leaves, has_aux)
            pullback.finish("jacrev: Expected f(*args) to return tensors,")
            rows = [
                selected.tree(_rows(context, pullback, position, chunk_size))
                for position in range(len(pullback.outputs))
            ]
            result = unflatten(rows, pullback.structure)
            return (result, pullback.aux) if has_aux else result

        return run("jacrev", body, None, Source(parameters, func, (args, kwargs)))

    parameters = (argnums, has_aux, chunk_size)
    wrapper._transform = ("jacrev", parameters, func)  # type: ignore[attr-defined]
    return wrapper


def _rows(
    context: Context, pullback: Pullback, position: int, chunk_size: int | None
) -> list[Traced]:
    """The Jacobians of one output with respect to each input."""
    output = pullback.outputs[position]
    count = numel(output.shape)
    parts: list[list[Traced]] = []
    for start, size in _chunks(count, chunk_size):
        batched = BatchedContext(context, size, "different")
        with context.active():
            basis = build.reshape(_unit_rows(output, start, size, count), (size, *output.shape))
            seeds = [
                batched.batched(basis, 0) if i == position else build.zeros_like(each)
                for i, each in enumerate(pullback.outputs)
            ]
        found = pullback(batched, seeds)
        with context.active():
            parts.append([batched.unbatched(each) for each in found])
    with context.active():
        return [
            build.reshape(_joined(list(pieces)), (*output.shape, *primal.shape))
            for primal, pieces in zip(pullback.primals, zip(*parts), strict=True)
        ]


def jacfwd(
    func: Function,
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
    randomness: str = "error",
) -> Function:
    """As ``jacrev``, by forward mode: better if there are more outputs than inputs.

    Args:
        func: a function of tensors and nested dicts, lists and tuples of them.
        argnums: the positional arguments to differentiate with respect to.
        has_aux: whether ``func`` returns ``(output, aux)``.
        chunk_size: how many columns are computed at once, to save memory; None: all.
        randomness: as for ``vmap``.
    """
    _check_chunk_size("jacfwd", chunk_size)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        selected = Selected(func, args, kwargs, argnums)

        def body(context: Context) -> Any:
            columns = _Columns(context, randomness, has_aux)
            columns.run(
                selected.call,
                [differentiable(leaf, "jacfwd") for leaf in selected.leaves],
                chunk_size,
            )
            trees = [selected.tree(each) for each in columns.jacobians]
            result = unflatten(trees, columns.structure)
            return (result, columns.aux) if has_aux else result

        return run("jacfwd", body, None, Source(parameters, func, (args, kwargs)))

    parameters = (argnums, has_aux, chunk_size, randomness)
    wrapper._transform = ("jacfwd", parameters, func)  # type: ignore[attr-defined]
    return wrapper


class _Columns:
    """Jacobians by forward mode, in a context."""

    def __init__(self, context: Context, randomness: str, has_aux: bool) -> None:
        self.context = context
        self.randomness = randomness
        self.has_aux = has_aux
        self.aux: Any = None
        self.structure: Any = None
        self.jacobians: list[list[Traced]] = []  # for each output: for each input

    def run(
        self, function: Callable[[list[Any]], Any], primals: Sequence[Traced], chunk: int | None
    ) -> None:
        counts = [numel(primal.shape) for primal in primals]
        parts = [
            self._part(function, primals, counts, start, size)
            for start, size in _chunks(sum(counts), chunk)
        ]
        with self.context.active():
            for pieces in zip(*parts, strict=True):
                self.jacobians.append(self._split(_joined(list(pieces)), primals, counts))

    def _part(
        self,
        function: Callable[[list[Any]], Any],
        primals: Sequence[Traced],
        counts: list[int],
        start: int,
        size: int,
    ) -> list[Traced]:
        """The tangents of the outputs for some of the directions, these in front."""
        context = self.context
        batched = BatchedContext(context, size, self.randomness)
        tangents, offset = [], 0
        with context.active():
            for primal, count in zip(primals, counts, strict=True):
                basis = _unit_rows(primal, start - offset, size, count)
                tangents.append(batched.batched(build.reshape(basis, (size, *primal.shape)), 0))
                offset += count
        pushed = push(batched, function, primals, tangents, self.has_aux)
        self.structure = pushed.structure
        with context.active():
            first = functools.partial(_first, batched)
            self.aux = map_tree(first, pushed.aux)
            return [batched.unbatched(each) for each in pushed.tangents]

    def _split(self, columns: Traced, primals: Sequence[Traced], counts: list[int]) -> list[Traced]:
        """Columns of all inputs, which are in front, as one Jacobian for each input."""
        shape, offset, result = columns.shape[1:], 0, []
        for primal, count in zip(primals, counts, strict=True):
            part = build.slice_(columns, 0, offset, 1, count)
            last = build.move_dim(part, 0, len(shape))
            result.append(build.reshape(last, (*shape, *primal.shape)))
            offset += count
        return result


def _first(batched: BatchedContext, value: Any) -> Any:
    """A value that is the same for all directions, without the batch dim."""
    if not isinstance(value, Traced):
        return value
    whole, is_batched = batched.whole(value)
    return op.select(whole, 0, 0) if is_batched else whole


def hessian(func: Function, argnums: Argnums = 0) -> Function:
    """A function that gives the second derivatives of ``func``: forward mode over reverse mode.

    Args:
        func: a function of tensors and nested dicts, lists and tuples of them.
        argnums: the positional arguments to differentiate with respect to.
    """
    return jacfwd(jacrev(func, argnums), argnums)


def _check_chunk_size(name: str, chunk_size: int | None) -> None:
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"{name}: `chunk_size` should be greater than 0.")


def _chunks(count: int, chunk_size: int | None) -> Iterator[tuple[int, int]]:
    """The start and size of each part of ``count`` directions; one empty part if there are none."""
    step = count if chunk_size is None else chunk_size
    for start in range(0, max(count, 1), max(step, 1)):
        yield start, min(max(step, 1), count - start)


def _unit_rows(like: Traced, start: int, size: int, count: int) -> Traced:
    """Rows ``start`` to ``start + size`` of the identity matrix; rows outside of it are zero."""
    shape = (size, count)
    rows = build.expand(build.reshape(build.iota(size), (size, 1)) + start, shape)
    columns = build.expand(build.reshape(build.iota(count), (1, count)), shape)
    return build.convert(rows == columns, like.dtype)


def _joined(parts: list[Traced]) -> Traced:
    return parts[0] if len(parts) == 1 else op.cat(parts, 0)
