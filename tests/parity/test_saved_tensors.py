"""Each operator's inputs and outputs may be changed in place before the backward pass wherever they
may in PyTorch: the backward pass reads none that PyTorch's does not.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import rushlight
from rushlight import dtypes
from rushlight.dtypes import dtype as DType
from rushlight.graph.trace import PRIMITIVES
from rushlight.ops.record import COMPOSITES, Record
from rushlight.ops.samples import Draw

torch = pytest.importorskip("torch")

RECORDS = {
    record.name: record
    for record in (*COMPOSITES.values(), *PRIMITIVES.values())
    if record.samples and record.is_operator and not record.random
}
# Where PyTorch keeps a value of its own that is cheap to compute from an input.
READS_MORE = {
    ("rms_norm", "input 0"),  # input * scale, when only the weight needs a gradient
    ("ldexp", "input 0"),  # the result, or the power of two
    ("ldexp", "input 1"),
    ("ldexp_", "input 1"),
    ("instance_norm", "input 1"),  # copies of parameters, one for each example
    ("instance_norm", "input 2"),
    # Padded, reshaped or permuted copies of operands: views of the inputs here, read as they are.
    ("conv2d", "input 0"),
    ("conv3d", "input 0"),
    ("norm_except_dim", "input 0"),
    *((name, f"input {i}") for name in ("kron", "tensordot", "einsum") for i in (0, 1)),
}
# PyTorch gives the written tensor another shape there, where broadcasting should be refused.
RESIZES = {"addbmm_"}
WRITTEN = "modified by an inplace operation"


def function_of(module: Any, record: Record, suffix: str = "") -> Any:
    """The record's function, or a method of this name with the suffix; None if there is none."""
    if suffix or not record.names:
        methods = record.methods
        return getattr(module.Tensor, f"{methods[0]}{suffix}", None) if methods else None
    if record.names[0] == "getitem":
        return lambda x, index: x[index]
    function: Any = module
    for part in record.names[0].split("."):
        function = getattr(function, part, None)
    return function


class Arguments:
    """The arguments of one call in one framework; ``tensors``: those that may require gradients."""

    def __init__(self, module: Any, seed: int, wrt: int | None) -> None:
        self.module = module
        self.random = numpy.random.default_rng(seed)
        self.wrt = wrt
        self.tensors: list[Any] = []

    def make(self, x: Any) -> Any:
        if isinstance(x, Draw):
            return self.tensor(x)
        if isinstance(x, DType):
            return getattr(self.module, x.name)
        if isinstance(x, list | tuple):
            return type(x)(map(self.make, x))
        return x

    def tensor(self, draw: Draw) -> Any:
        dtype = draw.dtype or dtypes.float64
        array = draw.array(dtypes.float64, self.random)
        made = self.module.from_numpy(numpy.array(array)).to(getattr(self.module, dtype.name))
        if dtype.is_floating_point:
            self.tensors.append(made)
            if self.wrt is None or self.wrt == len(self.tensors) - 1:
                made.requires_grad_()
            self.tensors[-1] = made = made.clone()
        return made


def read_tensors(
    module: Any, function: Any, args: Any, kwargs: Any, seed: int, wrt: int | None
) -> dict[str, bool] | None:
    """For each input and output: does the backward pass raise if it was written? None: no graph."""
    found: dict[str, bool] = {}
    count = None
    position = 0
    while count is None or position < count:
        made = Arguments(module, seed, wrt)
        given = [made.make(each) for each in args]
        named = {name: made.make(each) for name, each in kwargs.items()}
        result = function(*given, **named)
        outputs = [each for each in flat(result) if each.is_floating_point()]
        inputs = made.tensors
        if all(not each.requires_grad for each in outputs):
            return None
        loss = sum(each.sum() for each in outputs if each.requires_grad)
        tensors = inputs + [each for each in outputs if all(each is not x for x in inputs)]
        count = len(tensors)
        module.autograd.graph.increment_version(tensors[position])
        name = f"input {position}" if position < len(inputs) else f"output {position - len(inputs)}"
        try:
            loss.backward()
            found[name] = False
        except RuntimeError as error:
            if WRITTEN not in str(error):
                raise
            found[name] = True
        position += 1
    return found


def flat(result: Any) -> Iterator[Any]:
    if isinstance(result, list | tuple):
        for each in result:
            yield from flat(each)
    elif result is not None:
        yield result


def cases(record: Record) -> Iterator[tuple[Any, Any]]:
    """One sample of each pattern of arguments, preferring those with elements."""
    seen = set()
    for args, kwargs in record.samples(dtypes.float64):
        draws = [each for each in (*args, *kwargs.values()) if isinstance(each, Draw)]
        if any(0 in each.shape or len(each.shape) == 0 for each in draws):
            continue
        pattern = str([describe(each) for each in args]) + str(sorted(kwargs.items()))
        if pattern not in seen:
            seen.add(pattern)
            yield args, kwargs


def describe(argument: Any) -> Any:
    if isinstance(argument, Draw):
        return "tensor", argument.dtype
    if isinstance(argument, list | tuple):
        return list(map(describe, argument))
    return argument


def differences(record: Record, suffix: str) -> Iterator[str]:
    ours, theirs = (function_of(module, record, suffix) for module in (rushlight, torch))
    if ours is None or theirs is None:
        return
    resizes = record.name + suffix in RESIZES
    seed = zlib.crc32(record.name.encode())
    for args, kwargs in cases(record):
        made = Arguments(torch, seed, None)
        for each in (*args, *kwargs.values()):
            made.make(each)
        for wrt in (None, *range(len(made.tensors))) if len(made.tensors) > 1 else (None,):
            try:
                expected = read_tensors(torch, theirs, args, kwargs, seed, wrt)
            except (RuntimeError, TypeError, ValueError, NotImplementedError):
                continue
            if resizes and made.tensors[0].shape != theirs(*map(made.make, args), **kwargs).shape:
                continue
            found = read_tensors(rushlight, ours, args, kwargs, seed, wrt) or {}
            surplus = [
                name
                for name, read in found.items()
                if read and not (expected or {}).get(name)
                if (record.name + suffix, name) not in READS_MORE
            ]
            if surplus:
                yield f"{record.name}{suffix}{args}{kwargs} wrt {wrt}: reads {surplus}"


@pytest.mark.parametrize("name", sorted(RECORDS))
@pytest.mark.filterwarnings("ignore")
def test_writes_before_backward(name: str) -> None:
    record = RECORDS[name]
    for suffix in ("", "_") if record.inplace else ("",):
        assert not list(differences(record, suffix))
