"""``vmap``: a function of one example becomes one of a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..graph.trace import Context, Traced, captures, lifted
from ..layout import normalize_dim
from ..ops import build
from ..ops.record import op
from ..transform.batching import BatchedContext, check_randomness
from .arguments import function_name, is_tensor
from .trace import Source, run
from .trees import broadcast, flatten, unflatten

Function = Callable[..., Any]
Dims = Any  # an int, None, or nested like what it is for


def vmap(
    func: Function,
    in_dims: Dims = 0,
    out_dims: Dims = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Function:
    """A function that applies ``func`` to every example of a batch at once.

    Args:
        func: takes and returns tensors, or nested dicts, lists and tuples of them, without the
            batch dim.
        in_dims: which dim of each argument is the batch; None for what all examples share. An int
            for all, or nested like the arguments.
        out_dims: where the batch dim of the results goes.
        randomness: what random operators do: ``"error"``, ``"different"`` numbers for each example,
            or the ``"same"`` for all.
        chunk_size: how many examples are computed at once, to save memory; None: all.

    Raises:
        ValueError: if the dims do not fit the arguments or results.

    Example:
        >>> rushlight.vmap(rushlight.dot)(rushlight.ones(2, 3), rushlight.ones(2, 3))
        tensor([3., 3.])
    """
    check_randomness(randomness)
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size is a number of examples or None, not {chunk_size}")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = _Call(func, in_dims, out_dims, randomness, args, kwargs)
        if chunk_size is None or chunk_size >= call.size:
            source = Source((str((in_dims, out_dims)), randomness), func, (args, kwargs))
            return run(
                "vmap", lambda context: call.apply(context, call.leaves, call.size), None, source
            )
        return call.in_chunks(chunk_size)

    parameters = (str((in_dims, out_dims)), randomness, chunk_size)
    wrapper._transform = ("vmap", parameters, func)  # type: ignore[attr-defined]
    return wrapper


class _Call:
    """A call of a function that ``vmap`` made."""

    def __init__(
        self,
        func: Function,
        in_dims: Dims,
        out_dims: Dims,
        randomness: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self.func, self.out_dims, self.randomness = func, out_dims, randomness
        self.kwargs = kwargs
        self.name = f"vmap({function_name(func)}, in_dims={in_dims}, ...)(<inputs>)"
        self.leaves, self.structure = flatten(args)
        self.dims = self._in_dims(in_dims, args)
        self.size = self._size()

    def _in_dims(self, in_dims: Dims, args: tuple[Any, ...]) -> list[int | None]:
        """The batch dim of each leaf, normalized.

        Raises:
            ValueError: if they do not fit.
        """
        if isinstance(in_dims, list):
            in_dims = tuple(in_dims)
        if not isinstance(in_dims, int | tuple):
            raise ValueError(
                f"{self.name}: in_dims is an int, or a tuple with one entry for each argument, but "
                f"got {type(in_dims)}."
            )
        if not args:
            raise ValueError(
                f"{self.name}: called without arguments by position, so there is no batch to map "
                "over."
            )
        try:
            dims = broadcast(in_dims, self.structure, _is_dim)
        except ValueError:
            raise ValueError(
                f"{self.name}: in_dims is not compatible with the structure of inputs. in_dims has "
                f"structure {flatten(in_dims)[1]} but inputs has structure {self.structure}."
            ) from None
        return [self._in_dim(leaf, dim) for leaf, dim in zip(self.leaves, dims, strict=True)]

    def _in_dim(self, leaf: Any, dim: Any) -> int | None:
        if not _is_dim(dim):
            raise ValueError(
                f"{self.name}: Got in_dim={dim!r}, but in_dim says which dim is the batch: an "
                "integer, or None where there is none."
            )
        if dim is None:
            return None
        if not is_tensor(leaf):
            raise ValueError(
                f"{self.name}: Got in_dim={dim} for a value of type {type(leaf)}, but only tensors "
                "have dims; pass None for it"
            )
        if not -leaf.ndim <= dim < leaf.ndim:
            raise ValueError(
                f"{self.name}: Got in_dim={dim}, but the tensor has {leaf.ndim} dims, so that "
                f"in_dim must be in [-{leaf.ndim}, {leaf.ndim - 1}]."
            )
        return dim % leaf.ndim

    def _size(self) -> int:
        sizes = [
            leaf.shape[dim]
            for leaf, dim in zip(self.leaves, self.dims, strict=True)
            if dim is not None
        ]
        if not sizes:
            raise ValueError(f"{self.name}: in_dims is None for each tensor; one must be mapped")
        if any(size != sizes[0] for size in sizes):
            raise ValueError(
                "vmap: the mapped dims must have one size, the number of examples, but have sizes "
                f"{sizes}"
            )
        return sizes[0]

    def apply(self, context: Context, leaves: Sequence[Any], size: int) -> Any:
        batched = BatchedContext(context, size, self.randomness)
        with context.active():
            inputs = [
                leaf if dim is None else batched.batched(lifted(leaf), dim)
                for leaf, dim in zip(leaves, self.dims, strict=True)
            ]
        with batched.active():
            result = self.func(*unflatten(inputs, self.structure), **self.kwargs)
        outputs, structure = flatten(result)
        dims = self._out_dims(outputs, structure, result)
        with context.active():
            placed = [
                self._placed(batched, lifted(output), dim)
                for output, dim in zip(outputs, dims, strict=True)
            ]
        return unflatten(placed, structure)

    def _out_dims(self, outputs: list[Any], structure: Any, result: Any) -> list[int | None]:
        name = f"vmap({function_name(self.func)}, ..., out_dims={self.out_dims})"
        for output in outputs:
            if not is_tensor(output):
                raise ValueError(
                    f"{name}: `{function_name(self.func)}` must only return Tensors, got type "
                    f"{type(output)}"
                )
        if is_tensor(result) and isinstance(self.out_dims, tuple) and len(self.out_dims) == 1:
            return list(self.out_dims)
        try:
            return broadcast(self.out_dims, structure, _is_dim)
        except ValueError:
            raise ValueError(
                f"{name}: out_dims is not compatible with the structure of outputs. out_dims has "
                f"structure {flatten(self.out_dims)[1]} but outputs has structure {structure}."
            ) from None

    def _placed(self, batched: BatchedContext, output: Traced, dim: int | None) -> Traced:
        if dim is None:
            value, is_batched = batched.whole(output)
            if is_batched:
                raise ValueError(
                    f"vmap({function_name(self.func)}): out_dim is None for a result that differs "
                    "between the examples; only one that is the same for all can have it"
                )
            return value
        value = batched.unbatched(output)
        if not -value.ndim <= dim < value.ndim:
            raise IndexError(
                f"vmap: out_dims: Dimension out of range: {dim} is not in [{-value.ndim}, "
                f"{value.ndim - 1}]"
            )
        return build.move_dim(value, 0, normalize_dim(dim, value.ndim))

    def in_chunks(self, chunk_size: int) -> Any:
        """The results of parts of the batch, joined.

        With the same random numbers for all examples each chunk starts from the same state.
        """
        from ..random import get_rng_state, set_rng_state

        state = get_rng_state() if self.randomness == "same" and captures() is None else None
        parts = []
        for start in range(0, self.size, chunk_size):
            size = min(chunk_size, self.size - start)
            leaves = [
                leaf if dim is None else op.narrow(leaf, dim, start, size)
                for leaf, dim in zip(self.leaves, self.dims, strict=True)
            ]
            if state is not None:
                set_rng_state(state)
            parameters = (str((self.dims, self.out_dims)), self.randomness, self.structure.key())
            result = run(
                "vmap of a chunk",
                functools.partial(self.apply, leaves=leaves, size=size),
                None,
                Source(parameters, self.func, (leaves, self.kwargs)),
            )
            parts.append(flatten(result))
        structure = parts[0][1]
        dims = broadcast(self.out_dims, structure, _is_dim)
        joined = [
            pieces[0] if dim is None else op.cat(list(pieces), dim)
            for dim, pieces in zip(dims, zip(*(leaves for leaves, _ in parts)), strict=True)
        ]
        return unflatten(joined, structure)


def _is_dim(value: Any) -> bool:
    return value is None or isinstance(value, int) and not isinstance(value, bool)
