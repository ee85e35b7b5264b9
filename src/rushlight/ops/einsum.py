"""Sums of products by Einstein's notation."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..graph.trace import Traced
from ..layout import numel
from ..promotion import scalar_type_name
from . import build
from .record import Selector, Tensors, composite, op
from .samples import Draw, calls

_LETTERS = string.ascii_uppercase + string.ascii_lowercase
_ELLIPSIS = "..."


@dataclass
class _Term:
    """A tensor and a label for each of its dims, all different."""

    tensor: Traced
    labels: list[str]


def _error(message: str) -> RuntimeError:
    return RuntimeError(f"einsum(): {message}")


def _subscripts(text: str, what: str) -> list[str]:
    """The labels of one operand or of the output; an ellipsis is one of them."""
    labels, position = [], 0
    while position < len(text):
        if text.startswith(_ELLIPSIS, position):
            if _ELLIPSIS in labels:
                raise _error(f"found more than one ellipsis in {what}")
            labels.append(_ELLIPSIS)
            position += 3
            continue
        letter = text[position]
        if letter == ".":
            raise _error(f"found '.' for {what} that is not part of any ellipsis")
        if letter not in _LETTERS:
            raise _error(
                f"invalid subscript given at index {position} in the equation string, subscripts "
                f"must be in [a-zA-Z], but it is {letter!r}"
            )
        labels.append(letter)
        position += 1
    return labels


def _parse(equation: str, count: int) -> tuple[list[list[str]], list[str] | None]:
    """The labels of each operand, and of the output if it is given."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    if ">" in left or "-" in left:
        raise _error(f"the equation {equation!r} is not of the form 'ab,bc->ac'")
    terms = left.split(",")
    if len(terms) > count:
        raise _error(f"fewer operands were provided ({count}) than the equation has ({len(terms)})")
    if len(terms) < count:
        raise _error(f"more operands were provided ({count}) than the equation has ({len(terms)})")
    inputs = [_subscripts(term, f"operand {i}") for i, term in enumerate(terms)]
    return inputs, _subscripts(right, "the output") if arrow else None


def _implicit_output(inputs: Sequence[Sequence[str]]) -> list[str]:
    """The ellipsis, then the labels that occur once, in the order of the alphabet."""
    every = [label for labels in inputs for label in labels]
    once = [letter for letter in _LETTERS if every.count(letter) == 1]
    return [_ELLIPSIS, *once] if _ELLIPSIS in every else once


def _spread(labels: Sequence[str], rank: int, wide: int) -> list[str]:
    """The labels with the ellipsis replaced by labels of the ``rank`` dims that it stands for."""
    dims = [f"{_ELLIPSIS}{wide - rank + i}" for i in range(rank)]
    return [each for label in labels for each in (dims if label == _ELLIPSIS else [label])]


def _labelled(
    inputs: Sequence[Sequence[str]], output: Sequence[str] | None, operands: Sequence[Traced]
) -> tuple[list[_Term], list[str]]:
    """The operands with a label for each dim, and the labels of the output."""
    ranks = []
    for i, (labels, x) in enumerate(zip(inputs, operands, strict=True)):
        named = len(labels) - labels.count(_ELLIPSIS)
        if _ELLIPSIS in labels and named > x.ndim:
            raise _error(
                f"the number of subscripts beside the ellipsis is {named} for operand {i}, but "
                f"it has only {x.ndim} dimensions"
            )
        if _ELLIPSIS not in labels and named != x.ndim:
            raise _error(
                f"the number of subscripts is {named} for operand {i}, but it has {x.ndim} "
                "dimensions; write ... for those without a name"
            )
        ranks.append(x.ndim - named if _ELLIPSIS in labels else 0)
    wide = max(ranks, default=0)
    if output is None:
        output = _implicit_output(inputs)
    known = {label for labels in inputs for label in labels}
    for position, label in enumerate(output):
        if label != _ELLIPSIS and label in output[:position]:
            raise _error(f"output subscript {label} appears more than once in the output")
        if label != _ELLIPSIS and label not in known:
            raise _error(f"output subscript {label} is a subscript of no operand")
    terms = [
        _without_repeats(x, _spread(labels, rank, wide), i)
        for i, (labels, x, rank) in enumerate(zip(inputs, operands, ranks, strict=True))
    ]
    return terms, _spread(output, wide, wide)


def _without_repeats(x: Traced, labels: list[str], operand: int) -> _Term:
    """The diagonal over dims of one label."""
    while len(set(labels)) < len(labels):
        label = next(each for each in labels if labels.count(each) > 1)
        first = labels.index(label)
        second = labels.index(label, first + 1)
        if x.shape[first] != x.shape[second]:
            raise _error(
                f"subscript {label} is repeated for operand {operand} but the sizes don't match, "
                f"{x.shape[second]} != {x.shape[first]}"
            )
        x = op.diagonal(x, 0, first, second)
        labels = [each for i, each in enumerate(labels) if i not in (first, second)] + [label]
    return _Term(x, labels)


def _check_sizes(terms: Sequence[_Term]) -> None:
    sizes: dict[str, Any] = {}
    for i, term in enumerate(terms):
        for label, size in zip(term.labels, term.tensor.shape, strict=True):
            known = sizes.get(label, 1)
            if size != 1 and known != 1 and size != known:
                raise _error(
                    f"subscript {label} has size {size} for operand {i} which does not broadcast "
                    f"with previously seen size {known}"
                )
            sizes[label] = known if size == 1 else size


def _sum_out(term: _Term, kept: set[str]) -> _Term:
    """Without the labels that nothing else needs."""
    dims = [i for i, label in enumerate(term.labels) if label not in kept]
    if not dims:
        return term
    total = op.sum(term.tensor, dims, dtype=term.tensor.dtype)
    return _Term(total, [label for label in term.labels if label in kept])


def _aligned(term: _Term, labels: Sequence[str]) -> Traced:
    """The tensor with its dims in the order of labels, of size 1 where it lacks one."""
    order = [term.labels.index(label) for label in labels if label in term.labels]
    x = build.permute(term.tensor, order)
    sizes = iter(x.shape)
    return build.reshape(x, [next(sizes) if label in term.labels else 1 for label in labels])


def _size(term: _Term, label: str) -> Any:
    return term.tensor.shape[term.labels.index(label)] if label in term.labels else 1


def _matrices(term: _Term, groups: Sequence[Sequence[str]], batch: Sequence[Any]) -> Traced:
    """As a batch of matrices: the dims of each group as one, the first group of sizes batch."""
    flat = [label for group in groups for label in group]
    x = _aligned(term, flat)
    x = build.expand(x, (*batch, *x.shape[len(batch) :]))
    sizes = [numel(tuple(_size(term, label) for label in group)) for group in groups[1:]]
    return build.reshape(x, (numel(tuple(batch)), *sizes))


def _multiplied(a: _Term, b: _Term, kept: set[str]) -> _Term:
    """The product of two terms, summed over the shared labels that are not kept."""
    a = _sum_out(a, kept | set(b.labels))
    b = _sum_out(b, kept | set(a.labels))
    shared = [label for label in a.labels if label in b.labels]
    summed = [label for label in shared if label not in kept]
    for label in list(summed):  # a dim of size 1 against a wider one
        if _size(a, label) != _size(b, label):
            a, b = _sum_out(a, set(a.labels) - {label}), _sum_out(b, set(b.labels) - {label})
            summed.remove(label)
    batch = [label for label in shared if label in kept]
    rows = [label for label in a.labels if label not in shared]
    columns = [label for label in b.labels if label not in shared]
    labels = [*batch, *rows, *columns]
    if not summed:
        return _Term(_aligned(a, labels) * _aligned(b, labels), labels)
    sizes = [_size(b, each) if _size(a, each) == 1 else _size(a, each) for each in batch]
    left = _matrices(a, (batch, rows, summed), sizes)
    right = _matrices(b, (batch, summed, columns), sizes)
    if batch:
        product = op.bmm(left, right)
    else:
        product = op.mm(build.drop_dims(left, (0,)), build.drop_dims(right, (0,)))
    outer = [*(_size(a, each) for each in rows), *(_size(b, each) for each in columns)]
    return _Term(build.reshape(product, (*sizes, *outer)), labels)


_USAGE = (
    "einsum(): give an equation and its operands, or each operand followed by its list of "
    "subscripts"
)


def _from_sublists(*arguments: Any) -> Any:
    """``einsum`` of tensors that are each followed by a list of ints, the output's list last."""
    if not arguments:
        raise ValueError(_USAGE)
    pairs, output = list(arguments), None
    if len(pairs) % 2:
        output = pairs.pop()

    def letters(subscripts: Any) -> str:
        text = ""
        for each in subscripts:
            if each is Ellipsis:
                text += _ELLIPSIS
            elif not 0 <= each < 52:
                raise ValueError(
                    f"einsum(): subscripts in a list must be from 0 to 51, but one is {each}"
                )
            else:
                text += _LETTERS[each]
        return text

    equation = ",".join(letters(each) for each in pairs[1::2])
    if output is not None:
        equation += f"->{letters(output)}"
    return op.einsum(equation, *pairs[::2])


@composite(
    names=["einsum"],
    methods=[],
    overload=_from_sublists,
    onnx="Einsum",
    samples=calls(
        ("ij,jk->ik", Draw((2, 3)), Draw((3, 4))),
        ("bij,bjk", Draw((2, 3, 4)), Draw((2, 4, 5))),
        ("ii->i", Draw((3, 3))),
        ("...ij,...j->...i", Draw((2, 3, 4)), Draw((4,))),
        ("i,j,ik->jk", Draw((2,)), Draw((3,)), Draw((2, 4))),
        ("ij->", Draw((2, 3))),
        ("ij,ij->ij", Draw((2, 3)), Draw((1, 3))),
        ("ba", Draw((2, 3))),
    ),
)
def einsum(equation: Selector = None, *operands: Tensors):
    """The sums of products that an equation such as "ij,jk->ik" names: dims with one letter are
    multiplied, and summed if the output lacks the letter. Without an output it has the letters that
    occur once, in the order of the alphabet. "..." stands for dims that broadcast.
    """
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = tuple(operands[0])
    if not isinstance(equation, str) or not operands:
        raise ValueError(_USAGE)
    inputs, output = _parse(equation, len(operands))
    terms, wanted = _labelled(inputs, output, operands)
    _check_sizes(terms)
    for term in terms:
        if term.tensor.dtype is not terms[0].tensor.dtype:
            raise RuntimeError(
                f"expected scalar type {scalar_type_name(terms[0].tensor.dtype)} but found "
                f"{scalar_type_name(term.tensor.dtype)} (in einsum)"
            )
    result = terms[0]
    for i, term in enumerate(terms[1:], 1):
        later = {label for each in terms[i + 1 :] for label in each.labels}
        result = _multiplied(result, term, later | set(wanted))
    dims = [i for i, label in enumerate(result.labels) if label not in wanted]
    if dims:
        kept = [label for label in result.labels if label in wanted]
        result = _Term(op.sum(result.tensor, dims), kept)
    return _aligned(result, wanted)
