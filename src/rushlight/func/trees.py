"""Nested dicts, lists and tuples of values: flattened to leaves, and put together again."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

Tree = Any  # a value, or dicts, lists and tuples of trees


class Structure:
    """What a tree is without its leaves; equal for trees of the same form."""

    __slots__ = ("children", "context", "kind", "leaves")

    def __init__(self, kind: Any, context: Any, children: tuple[Structure, ...]) -> None:
        self.kind = kind  # the container's type; None for a leaf
        self.context = context  # what the container holds besides: keys
        self.children = children
        self.leaves: int = 1 if kind is None else sum(child.leaves for child in children)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Structure)
            and self.kind is other.kind
            and self.context == other.context
            and self.children == other.children
        )

    __hash__ = None  # type: ignore[assignment]

    def key(self) -> Any:
        """A hashable stand-in."""
        if self.kind is None:
            return None
        keys = tuple(self.context) if isinstance(self.context, list) else self.context
        return self.kind, keys, tuple([child.key() for child in self.children])

    def __repr__(self) -> str:
        return repr(unflatten(["*"] * self.leaves, self))


LEAF = Structure(None, None, ())


def parts_of(tree: Tree) -> tuple[Any, Any, list[Tree]] | None:
    """A container's type, keys and parts; None for a leaf."""
    kind = type(tree)
    if kind is tuple or kind is list:
        return kind, None, list(tree)
    if kind is dict or kind is OrderedDict:
        return kind, list(tree), list(tree.values())
    if kind is defaultdict:
        return kind, (tree.default_factory, list(tree)), list(tree.values())
    if isinstance(tree, tuple) and hasattr(kind, "_fields"):
        return kind, None, list(tree)
    return None


def flatten(tree: Tree) -> tuple[list[Any], Structure]:
    """The leaves in order, and the structure."""
    parts = parts_of(tree)
    if parts is None:
        return [tree], LEAF
    kind, context, children = parts
    leaves: list[Any] = []
    structures = []
    for child in children:
        found, structure = flatten(child)
        leaves += found
        structures.append(structure)
    return leaves, Structure(kind, context, tuple(structures))


def unflatten(leaves: Iterable[Any], structure: Structure) -> Tree:
    """The tree of this structure with these leaves."""
    return _unflatten(iter(leaves), structure)


def _unflatten(leaves: Any, structure: Structure) -> Tree:
    kind, context = structure.kind, structure.context
    if kind is None:
        return next(leaves)
    children = [_unflatten(leaves, child) for child in structure.children]
    if kind is tuple or kind is list:
        return kind(children)
    if kind is dict or kind is OrderedDict:
        return kind(zip(context, children, strict=True))
    if kind is defaultdict:
        return defaultdict(context[0], zip(context[1], children, strict=True))
    return kind(*children)


def map_tree(function: Callable[[Any], Any], tree: Tree) -> Tree:
    """The tree with each leaf replaced by ``function(leaf)``."""
    leaves, structure = flatten(tree)
    return unflatten(map(function, leaves), structure)


def broadcast(prefix: Tree, structure: Structure, is_leaf: Callable[[Any], bool]) -> list[Any]:
    """One leaf of ``prefix`` for each leaf of the structure.

    A leaf of the prefix may stand for a whole part.

    Raises:
        ValueError: if the prefix does not fit.
    """
    if is_leaf(prefix):
        return [prefix] * structure.leaves
    parts = parts_of(prefix)
    if parts is None or parts[0] is not structure.kind or parts[1] != structure.context:
        raise ValueError(f"{prefix} does not fit the structure {structure}")
    if len(parts[2]) != len(structure.children):
        raise ValueError(f"{prefix} does not fit the structure {structure}")
    return [
        leaf
        for part, child in zip(parts[2], structure.children, strict=True)
        for leaf in broadcast(part, child, is_leaf)
    ]
