"""Pieces and stacks: tensor_split, hsplit, atleast_2d, dstack, column_stack and their like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..graph.trace import Traced
from ..layout import normalize_dim
from . import build
from .join import cat, check_list
from .parts import concrete_size
from .record import Selector, Tensor, Tensors, composite
from .samples import Draw, calls

# ---------------------------------------------------------------- pieces


_MOST_PIECES = 1 << 24


def _pieces(input: Traced, sections: Any, dim: int, name: str) -> tuple[Traced, ...]:
    """So many pieces of nearly equal size, or the pieces between indices."""
    size = concrete_size(input.shape[dim], name)
    if isinstance(sections, int):
        if sections <= 0:
            raise RuntimeError(f"{name}: number of sections must be positive, not {sections}")
        if sections > _MOST_PIECES:
            raise RuntimeError(f"{name}(): {sections} pieces are more than {_MOST_PIECES}")
        small, larger = divmod(size, sections)
        ends = [small * i + min(i, larger) for i in range(1, sections + 1)]
    else:
        ends = [*sections, size]
    starts = [0, *ends[:-1]]
    result = []
    for start, end in zip(starts, ends, strict=True):
        start, end = (min(max(each + size if each < 0 else each, 0), size) for each in (start, end))
        result.append(build.slice_(input, dim, start, 1, max(end - start, 0)))
    return tuple(result)


def _given(name: str, *choices: Any) -> Any:
    """The one of the alternative arguments that was given."""
    for each in choices:
        if each is not None:
            return each
    raise TypeError(f"{name}(): give indices or sections")


def _split_at_tensor(function: Callable[[], Any]) -> Callable[..., Any]:
    """A split whose sections are in a tensor."""

    def run(input: Any, *args: Any, **kwargs: Any) -> Any:
        def known(argument: Any) -> Any:
            if isinstance(argument, list | tuple):
                return [int(each) for each in argument]
            if not hasattr(argument, "tolist"):
                return argument
            if argument.ndim > 1 or argument.dtype.name != "int64":
                raise RuntimeError(
                    "tensor_split: indices or sections in a tensor must be zero- or "
                    f"one-dimensional of int64, not {argument.ndim}-dimensional of "
                    f"{argument.dtype}"
                )
            return argument.tolist()

        return function()(
            input, *map(known, args), **{name: known(each) for name, each in kwargs.items()}
        )

    return run


@composite(
    names=["tensor_split"],
    views="input",
    overload=_split_at_tensor(lambda: tensor_split),
    samples=calls(
        (Draw((7,)), 3),
        (Draw((7, 2)), (2, 5)),
        ((Draw((2, 5)), 2), {"dim": 1}),
        (Draw((3,)), (-1,)),
    ),
)
def tensor_split(
    input: Tensor, tensor_indices_or_sections: Selector = None, dim: int = 0, *,
    indices: Selector = None, sections: Selector = None,
):  # fmt: skip
    """So many pieces of nearly equal size along dim, or the pieces between indices."""
    given = _given("tensor_split", tensor_indices_or_sections, indices, sections)
    if not input.ndim:
        raise RuntimeError("tensor_split: input must have a dimension to split, but has none")
    return _pieces(input, given, normalize_dim(dim, input.ndim), "tensor_split")


def _axis_split(name: str, least: int, axis: Callable[[int], int], doc: str) -> None:
    def body(
        input: Tensor, indices_or_sections: Selector = None, *,
        indices: Selector = None, sections: Selector = None,
    ):  # fmt: skip
        """"""
        given = _given(name, indices_or_sections, indices, sections)
        if input.ndim < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension"
                f"{'s' if least > 1 else ''}, but got a tensor with {input.ndim} dimensions!"
            )
        dim = axis(input.ndim)
        if isinstance(given, int):
            if given == 0:
                raise RuntimeError(f"torch.{name}: the number of sections must not be 0")
            if input.shape[dim] % given != 0:
                raise RuntimeError(
                    f"torch.{name} attempted to split along dimension {dim}, but the size of the "
                    f"dimension {input.shape[dim]} is not divisible by the split_size {given}!"
                )
        return _pieces(input, given, dim, name)

    body.__doc__ = doc
    composite(
        names=[name],
        views="input",
        samples=calls((Draw((2, 4, 6)), 2), (Draw((2, 4, 6)), (1, 3))),
    )(body)


_axis_split("hsplit", 1, lambda rank: 0 if rank == 1 else 1, "Pieces along dim 1, or 0 of vectors.")
_axis_split("vsplit", 2, lambda rank: 0, "Pieces along dim 0.")
_axis_split("dsplit", 3, lambda rank: 2, "Pieces along dim 2.")


# ---------------------------------------------------------------- at least so many dims


def at_least_1d(x: Traced) -> Traced:
    return x if x.ndim else build.reshape(x, (1,))


def at_least_2d(x: Traced) -> Traced:
    return x if x.ndim >= 2 else build.reshape(x, (1,) * (2 - x.ndim) + tuple(x.shape))


def at_least_3d(x: Traced) -> Traced:
    return x if x.ndim >= 3 else build.reshape(at_least_2d(x), (*at_least_2d(x).shape, 1))


def _at_least(name: str, function: Callable[[Traced], Traced], doc: str) -> None:
    def body(*tensors: Tensors):
        single = len(tensors) == 1 and not isinstance(tensors[0], list | tuple)
        given = tensors[0] if len(tensors) == 1 and not single else tensors
        for each in given:
            if not isinstance(each, Traced):
                raise TypeError(f"{name}(): expected tensors, not {type(each).__name__}")
        results = tuple(map(function, given))
        return results[0] if single else results

    body.__doc__ = doc
    composite(
        names=[name],
        methods=[],
        samples=calls((Draw(()),), (Draw((3,)),), (Draw((2, 3)),), ([Draw((2,)), Draw(())],)),
    )(body)


_at_least("atleast_1d", at_least_1d, "The tensor or tensors with at least one dim.")
_at_least("atleast_2d", at_least_2d, "The tensor or tensors with at least two dims.")
_at_least("atleast_3d", at_least_3d, "The tensor or tensors with at least three dims.")


# ---------------------------------------------------------------- stacks


@composite(
    names=["dstack"],
    methods=[],
    out="apart",
    samples=calls(([Draw((2, 3)), Draw((2, 3))],), ([Draw((2,)), Draw((2,))],)),
)
def dstack(tensors: Tensors):
    """Tensors along dim 2, with that many dims."""
    return cat([at_least_3d(x) for x in check_list(tensors, "dstack")], 2)


@composite(
    names=["column_stack"],
    methods=[],
    out="apart",
    samples=calls(([Draw((2,)), Draw((2, 3))],), ([Draw(()), Draw(())],)),
)
def column_stack(tensors: Tensors):
    """Vectors as columns, and matrices, side by side."""
    columns = [
        build.reshape(x, (x.shape[0] if x.ndim else 1, 1)) if x.ndim <= 1 else x
        for x in check_list(tensors, "column_stack")
    ]
    return cat(columns, 1)
