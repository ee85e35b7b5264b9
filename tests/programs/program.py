"""A program that runs step by step in Rushlight and in PyTorch, with everything compared after
each step.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import torch
from calls import MODULES, Call, Dtype
from memory import (
    PRECISION,
    SMALLEST,
    dtype_name,
    fill,
    numbers,
    overwrite_storage,
    storage_bytes,
    storage_place,
)

import rushlight

ULPS = 4
# Where PyTorch refuses what Rushlight does: out= of another dtype that only some operators convert
# to, signatures that
# take tensors only, and a broken check of its own for empty tensors.
NARROWER = (
    "Found dtype",
    "for result, got",
    "must have the same scalar type",
    "Expected out tensor to have dtype",
    "does not support non-boolean outputs",
    "Index put requires the source",
    "should match",
    "invalid combination of arguments",
    "missing 1 required positional",
    "c10::complex<float> without overflow",
    "could not infer output dtype",
    "only supports boolean masks",  # x[uint8 mask] = number
    "indexing axis dim should be positive",
    "INDICES element is out of DATA bounds",
    "step must be greater than zero",
    "some elements of the input tensor and the written-to tensor",
    "modified inplace. This view is the output of a function that returns multiple views",
    "unexpected keyword argument 'out'",
    "must be Tensor, not",
    "setStorage",
    "input types can't be cast",
    "please report a bug to PyTorch",
    "to type float without overflow",  # the imaginary part of a 0-d tensor
    "to type double without overflow",
    "Autograd not support dtype",
    "dtype for input and out to match",
    "operation's result requires dtype",
)
# Where Rushlight refuses what PyTorch does: growing memory that several tensors share, and out=
# whose elements overlap, where PyTorch adds up what it finds.
WIDER = ("cannot grow with it", "several elements of the written tensor")
LACKING = ("not implemented for", "Could not run", "is not supported for", "not supported on")
TENSORS = (rushlight.Tensor, torch.Tensor)


class Difference(AssertionError):
    """The frameworks disagree."""


class EndOfProgram(Exception):
    """PyTorch's state can no longer be followed; nothing is wrong with Rushlight's."""


class Program:
    """values: per framework, the tensors by number; lines: the program as Python, ``m`` being the
    framework.
    """

    def __init__(self) -> None:
        self.values: tuple[list[Any], list[Any]] = ([], [])
        self.versions: list[tuple[int, int]] = []  # at the last comparison
        self.lines: list[str] = []
        self.steps = 0

    @property
    def ours(self) -> list[Any]:
        return self.values[0]

    @property
    def theirs(self) -> list[Any]:
        return self.values[1]

    # ---------------------------------------------------------------- new tensors

    def leaf(self, array: numpy.ndarray, dtype: str, layout: str, **flags: Any) -> int:
        """A new tensor with these elements in a layout; returns its number."""
        made = [lay_out(module, array, dtype, layout) for module in MODULES]
        number = len(self.ours)
        for values, tensor in zip(self.values, made):
            values.append(
                tensor.detach().requires_grad_() if flags.get("requires_grad") else tensor
            )
        grad = ".detach().requires_grad_()" if flags.get("requires_grad") else ""
        self.lines.append(
            f"t{number} = lay_out(m, {short(array)}, {dtype!r}, {layout!r}){grad}"
            f"  # {list(array.shape)}"
        )
        self.compare_state(None)
        return number

    # ---------------------------------------------------------------- steps

    def step(self, call: Call, slack: Any = 0.0, ulps: float = ULPS) -> bool:
        """Run a call in both and compare. Returns whether it gave a result. slack: see
        ``differing``.
        """
        self.steps += 1
        before = [(tensor._version, storage_bytes(tensor)) for tensor in self.ours]
        shapes = [tensor.shape for tensor in self.theirs]
        outcomes = []
        for module, values in zip(MODULES, self.values):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    outcomes.append((call.run(values, module), None))
            except Exception as error:
                outcomes.append((None, error))
        (ours, our_error), (theirs, their_error) = outcomes
        self.lines.append(repr(call))
        if their_error is not None or our_error is not None:
            self._compare_errors(our_error, their_error)
            self._compare_unwritten(before)
            if shapes != [tensor.shape for tensor in self.theirs]:
                raise EndOfProgram  # PyTorch resized out= before it raised
            return False
        self._append(ours, theirs, call)
        self.compare_state(slack, ulps)
        return True

    def _compare_errors(self, ours: Exception | None, theirs: Exception | None) -> None:
        if theirs is None:
            # PyTorch returns empty results before it looks at the dtypes.
            empty = any(0 in tensor.shape for tensor in self.theirs)
            of_dtypes = lacks_kernel(ours) or "must have the same dtype" in str(ours)
            unwritten = "index_add" in str(ours) and "with size 0" in str(
                ours
            )  # has no index there
            if any(part in str(ours) for part in WIDER) or (of_dtypes and empty) or unwritten:
                raise EndOfProgram
            raise self.difference(f"Rushlight raised {type(ours).__name__}: {ours}") from ours
        if ours is None:
            if lacks_kernel(theirs) or any(part in str(theirs) for part in NARROWER):
                raise EndOfProgram
            raise self.difference(f"PyTorch raised {type(theirs).__name__}: {theirs}")
        excused = (
            lacks_kernel(ours)
            or lacks_kernel(theirs)
            or any(part in str(theirs) for part in NARROWER)
        )
        # Several mistakes at once: which is told first may differ.
        excused |= any(part in str(theirs) for part in ("leaf Variable", "without overflow"))
        excused |= any(
            part in str(ours) for part in (*WIDER, "appears multiple", "dtypes match only")
        )
        excused |= "step" in str(ours) or "step" in str(theirs)  # of a slice
        if not isinstance(ours, type(theirs)) and not excused:
            raise self.difference(
                f"Rushlight raised {type(ours).__name__}: {ours}\n"
                f"PyTorch raised {type(theirs).__name__}: {theirs}"
            ) from ours

    def _compare_unwritten(self, before: list[tuple[int, bytes]]) -> None:
        for number, (version, content) in enumerate(before):
            tensor = self.ours[number]
            if storage_bytes(tensor) != content:
                raise self.difference(f"the failed call wrote into t{number}")
            if tensor._version != version:
                raise self.difference(f"the failed call changed the version of t{number}")
            other = self.theirs[number]
            if other._version != version or storage_bytes(other) != content:
                raise EndOfProgram  # PyTorch wrote before it raised

    def _append(self, ours: Any, theirs: Any, call: Call) -> None:
        """Number the results."""
        if isinstance(theirs, tuple | list) and all(
            isinstance(each, torch.Tensor) for each in theirs
        ):
            if not isinstance(ours, tuple | list) or len(ours) != len(theirs):
                raise self.difference(f"results: {ours!r}, PyTorch's: {theirs!r}")
            names = [f"t{len(self.ours) + i}" for i in range(len(ours))]
            self.lines[-1] = f"{', '.join(names)}, = {self.lines[-1]}" if names else self.lines[-1]
            for pair in zip(ours, theirs):
                for values, value in zip(self.values, pair):
                    values.append(value)
        elif isinstance(theirs, torch.Tensor):
            if not isinstance(ours, rushlight.Tensor):
                raise self.difference(f"result: {type(ours)}, PyTorch's: {type(theirs)}")
            self.lines[-1] = f"t{len(self.ours)} = {self.lines[-1]}"
            self.ours.append(ours)
            self.theirs.append(theirs)
        elif not isinstance(theirs, torch.Tensor) and type(ours) is not type(theirs):
            raise self.difference(f"result: {ours!r}, PyTorch's: {theirs!r}")
        elif repr(ours) != repr(theirs):
            raise self.difference(f"result: {ours!r}, PyTorch's: {theirs!r}")

    # ---------------------------------------------------------------- comparison

    def compare_state(self, slack: Any, ulps: float = ULPS) -> None:
        """Everything about every value; then Rushlight goes on from PyTorch's numbers."""
        for number, (ours, theirs) in enumerate(zip(*self.values)):
            found, expected = description(ours), description(theirs)
            # PyTorch may count one write several times, and those that made a new tensor.
            versions = found.pop("version"), expected.pop("version")
            if number < len(self.versions):
                found["written"], expected["written"] = (
                    new != old for new, old in zip(versions, self.versions[number])
                )
            else:
                self.versions.append(versions)
            self.versions[number] = versions
            if found != expected:
                changed = {
                    name: (found[name], expected[name])
                    for name in found
                    if found[name] != expected[name]
                }
                raise self.difference(f"t{number} (Rushlight, PyTorch): {changed}")
        self._compare_sharing()
        seen: set[int] = set()
        for number, (ours, theirs) in enumerate(zip(*self.values)):
            address, _ = storage_place(theirs)
            if address in seen:
                continue
            content = storage_bytes(theirs)
            if storage_bytes(ours) != content:
                self._compare_numbers(number, address, slack, ulps)
                overwrite_storage(ours, content)
            seen.add(address)

    def _compare_numbers(self, number: int, address: int, slack: Any, ulps: float) -> None:
        for other in range(number, len(self.theirs)):
            ours, theirs = self.ours[other], self.theirs[other]
            if storage_place(theirs)[0] != address:
                continue
            found, expected = numbers(ours), numbers(theirs)
            # A view of what was written differs from it by no more than its elements do.
            allowed = slack if numpy.shape(slack) in ((), found.shape) else numpy.max(slack)
            places = differing(found, expected, dtype_name(theirs), allowed, ulps)
            if places.any():
                raise self.difference(
                    f"t{other} ({dtype_name(theirs)}{list(theirs.shape)}): {found[places][:5]}, "
                    f"PyTorch's {expected[places][:5]} at {numpy.argwhere(places)[:5].tolist()}"
                )

    def _compare_sharing(self) -> None:
        places = []
        for values in self.values:
            first: dict[int, int] = {}
            identical: dict[int, int] = {}
            places.append(
                [
                    (
                        identical.setdefault(id(tensor), number),
                        first.setdefault(storage_place(tensor)[0], number),
                    )
                    for number, tensor in enumerate(values)
                ]
            )
        for number, (ours, theirs) in enumerate(zip(*places)):
            if storage_place(self.theirs[number])[0] == 0:  # an empty storage has no address
                ours, theirs = ours[:1], theirs[:1]
            if ours != theirs:
                raise self.difference(
                    f"t{number} is the same object as, and shares memory with, t{ours}, "
                    f"in PyTorch t{theirs}"
                )

    def difference(self, message: str) -> Difference:
        return Difference("\n".join([message, *self.lines]))


def lacks_kernel(error: Exception) -> bool:
    """Whether PyTorch refuses only because nobody wrote the kernel for this dtype."""
    text = str(error)
    return isinstance(error, RuntimeError) and any(part in text for part in LACKING)


def description(tensor: Any) -> dict[str, Any]:
    return {
        "dtype": dtype_name(tensor),
        "shape": tuple(tensor.shape),
        "stride": meaningful_strides(tensor),
        "offset": tensor.storage_offset() if tensor.numel() else None,
        "contiguous": tensor.is_contiguous(),
        "version": tensor._version,
        "requires_grad": tensor.requires_grad,
        "is_leaf": is_leaf(tensor),
    }


def is_leaf(tensor: Any) -> bool:
    try:
        return tensor.is_leaf
    except RuntimeError:  # PyTorch: one of several views that split() returned, written since
        raise EndOfProgram from None


def meaningful_strides(tensor: Any) -> tuple[int, ...] | None:
    """The strides that reach elements: those of dims of size 1, and of empty tensors, tell
    nothing.
    """
    if tensor.numel() == 0:
        return None
    return tuple(stride for stride, size in zip(tensor.stride(), tensor.shape) if size != 1)


def differing(found: Any, expected: Any, dtype: str, slack: Any, ulps: float) -> numpy.ndarray:
    """Where numbers differ by more than some units in the last place plus slack. slack: absolute,
    NaN where anything goes.
    """
    if dtype not in PRECISION:
        different = found != expected
        return different & ~numpy.isnan(slack)
    epsilon, largest = PRECISION[dtype]
    with numpy.errstate(all="ignore"):
        size = numpy.maximum(numpy.abs(found), numpy.abs(expected)).astype(numpy.float64)
        bound = numpy.maximum(size * (ulps * epsilon), ulps * SMALLEST[dtype]) + slack
        close = numpy.abs(found.astype(complex) - expected.astype(complex)) <= bound
        if "complex" in dtype:
            finite = numpy.isfinite(found) | numpy.isfinite(expected)
            # Which part of a complex number overflows depends on the vector width in PyTorch.
            return finite & ~close & ~numpy.isnan(slack) & (size < largest / 4)
        same = (found == expected) | (numpy.isnan(found) & numpy.isnan(expected))
        edge = (
            (size > largest * (1 - 4 * epsilon))
            & (numpy.sign(found) == numpy.sign(expected))
            & (slack > 0)
        )
        return ~(same | close & numpy.isfinite(size) | edge | numpy.isnan(slack))


def lay_out(module: Any, array: numpy.ndarray, dtype: str, layout: str) -> Any:
    """A tensor with the array's elements; for an expanded layout those at index 0 of the first
    dim.
    """
    shape = array.shape
    if not shape:
        layout = "offset" if layout == "offset" else "contiguous"
    if layout == "transposed":
        return new(module, array.T, dtype).permute(tuple(reversed(range(len(shape)))))
    if layout == "swapped":
        return new(module, array.swapaxes(0, -1), dtype).transpose(0, -1)
    if layout == "stepped":
        return new(module, numpy.repeat(array, 2, -1), dtype)[..., ::2]
    if layout == "rows":
        return new(module, numpy.repeat(array, 2, 0), dtype)[1::2]
    if layout == "offset":
        flat = numpy.concatenate([numpy.ones(3, array.dtype), array.reshape(-1)])
        return new(module, flat, dtype)[3:].reshape(shape)
    if layout == "expanded":
        return new(module, array[:1], dtype).expand(shape)
    return new(module, array, dtype)


def new(module: Any, array: numpy.ndarray, dtype: str) -> Any:
    tensor = module.empty(array.shape, dtype=getattr(module, dtype))
    fill(tensor, array)
    return tensor


def short(array: numpy.ndarray) -> str:
    text = numpy.array2string(array, separator=", ", threshold=40, max_line_width=10**6)
    return f"array({' '.join(text.split())})"


__all__ = ["Call", "Difference", "Dtype", "EndOfProgram", "Program", "differing"]
