"""What the transforms ask of their arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._core import Tensor
from ..graph.trace import Traced, lifted
from .trees import Tree, flatten, unflatten

Argnums = int | tuple[int, ...]


def is_tensor(value: Any) -> bool:
    """A tensor, or what stands for one in a function that is being traced."""
    return isinstance(value, Tensor | Traced)


def as_traced(value: Any, transform: str) -> Traced:
    """A tensor argument of a transform in the trace.

    Raises:
        ValueError: if it is something else.
    """
    if not is_tensor(value):
        raise no_tensor(value, transform)
    return lifted(value)


def no_tensor(value: Any, transform: str) -> ValueError:
    """What is raised where a transform needs a tensor."""
    return ValueError(f"{transform} works on tensors and containers of them, not on {type(value)}")


def differentiable(value: Any, transform: str) -> Traced:
    """A tensor argument that derivatives are wanted with respect to.

    Raises:
        RuntimeError: for integers and bools.
    """
    traced = as_traced(value, transform)
    if not traced.dtype.is_differentiable:
        raise RuntimeError(
            f"{transform}: only Tensors of floating point or complex dtype can require gradients, "
            f"not {traced.dtype}; convert it, or leave it out of argnums"
        )
    return traced


def chosen(argnums: Any, count: int) -> tuple[int, ...]:
    """The positions that ``argnums`` names among ``count`` arguments."""
    if isinstance(argnums, bool) or not isinstance(argnums, int | tuple):
        raise RuntimeError(f"argnum must be int or Tuple[int, ...], got: {type(argnums)}")
    if isinstance(argnums, tuple) and not argnums:
        raise RuntimeError("argnums must be non-empty")
    positions = (argnums,) if isinstance(argnums, int) else argnums
    for each in positions:
        if not isinstance(each, int):
            raise RuntimeError(f"argnum must be int or Tuple[int, ...], got a {type(each)} in it")
        if not -count <= each < count:
            raise RuntimeError(f"Got argnum={each}, but only {count} positional inputs")
    normalized = tuple(each % count for each in positions)
    if len(set(normalized)) < len(normalized):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return normalized


class Selected:
    """A call, of which the arguments that ``argnums`` names are a list of leaves."""

    def __init__(
        self,
        func: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        argnums: Argnums,
    ) -> None:
        self.func = func
        self.args = tuple(args)
        self.kwargs = kwargs
        self.positions = chosen(argnums, len(args))
        self.single = isinstance(argnums, int)
        trees = tuple(args[i] for i in self.positions)
        self.leaves, self.structure = flatten(trees)

    def call(self, leaves: Sequence[Any]) -> Any:
        """The function's result for other leaves."""
        args = list(self.args)
        for i, tree in zip(self.positions, unflatten(leaves, self.structure), strict=True):
            args[i] = tree
        return self.func(*args, **self.kwargs)

    def tree(self, leaves: Sequence[Any]) -> Tree:
        """Leaves as what belongs to argnums: one tree for an int, else a tuple."""
        trees = unflatten(leaves, self.structure)
        return trees[0] if self.single else trees


def with_aux(result: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    """The output and the auxiliary output of a function.

    Raises:
        RuntimeError: if ``has_aux`` and there is none.
    """
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        raise RuntimeError(
            f"{name}: with has_aux=True the function must return a pair (output, aux)"
        )
    return result


def function_name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", repr(function))


def tensor_leaves(tree: Tree, message: str) -> tuple[list[Traced], Any]:
    """The leaves of a result in the trace, and its structure.

    Raises:
        RuntimeError: with the message, if one is no tensor or there is none.
    """
    leaves, structure = flatten(tree)
    for leaf in leaves:
        if not is_tensor(leaf):
            raise RuntimeError(f"{message} got type {type(leaf)}")
    return [lifted(leaf) for leaf in leaves], structure
