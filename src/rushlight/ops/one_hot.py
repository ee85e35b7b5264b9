"""One-hot encoding."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from . import build
from .kinds import Host
from .record import NONE, Size, Tensor, composite, op, primitive, unsupported
from .samples import Draw, calls
from .statistics import require_range


def _one_hot_arrays(x: Any) -> Any:
    if x.min() < 0:
        raise RuntimeError("Class values must be non-negative. (in one_hot)")
    return (x[..., None] == numpy.arange(x.max() + 1)).astype(numpy.int64)


@primitive(
    Host(lambda environment, x: [(dtypes.int64, (*x.shape, environment.unbacked()), False)]),
    names=["_one_hot_of_all"],
    methods=[],
    derivative=NONE,
    batch=unsupported("give one_hot num_classes under vmap: only the data tell how many there are"),
    reference=_one_hot_arrays,
)
def one_hot_of_all(x):
    """``one_hot`` with as many classes as the greatest needs."""


@composite(
    names=["nn.functional.one_hot"],
    methods=[],
    samples=calls(
        (Draw((2, 3), 0, 4, dtype=dtypes.int64), 5), (Draw((), 0, 4, dtype=dtypes.int64), 4)
    ),
)
def one_hot(input: Tensor, num_classes: Size = -1):
    """Each class as a vector with a 1 in its place; num_classes -1: one more than the greatest."""
    if input.dtype is not dtypes.int64:
        raise RuntimeError(
            f"one_hot: input must be int64, not {input.dtype}; convert it with .long()"
        )
    if num_classes <= 0 and input.numel() == 0:
        raise RuntimeError("one_hot: an empty input tells no number of classes; give num_classes")
    if num_classes == -1:
        return one_hot_of_all(input)
    if num_classes < 1:
        raise RuntimeError("Class values must be smaller than num_classes.")
    lowest = "Class values must be non-negative."
    highest = "Class values must be smaller than num_classes."
    classes = require_range(input, 0, 2**63 - 1, lowest)
    hot = op.unsqueeze(classes, -1) == build.iota(num_classes)
    known = require_range(num_classes - 1 - classes, 0, 2**63 - 1, highest)
    return build.convert(hot & (op.unsqueeze(known, -1) >= 0), dtypes.int64)
