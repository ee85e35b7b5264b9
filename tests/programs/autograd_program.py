"""A program over autograd: lines of Python that run in Rushlight and in PyTorch, with everything
that either tells about its tensors compared after each.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import torch
import torch.utils.checkpoint
from autograd_helpers import namespace
from calls import MODULES
from memory import dtype_name, numbers, storage_place
from program import Difference, EndOfProgram, meaningful_strides

import rushlight
import rushlight.utils.checkpoint

TOLERANCE = {"float64": 1e-9, "float32": 1e-3}
LARGEST = 1e8  # beyond it a program tells nothing more
# Of two errors in one line PyTorch tells this one first.
UNKNOWN_HISTORY = "its base or another view of its base has been modified inplace"
# PyTorch reads more in the backward pass than Rushlight does: what was written since, a saved view
# whose history cannot be told any more, or what an earlier pass freed before another error.
READ_MORE = (
    "modified by an inplace operation",
    "saved tensor that has been detached in-place",
    UNKNOWN_HISTORY,
)
OWN_READ = ("modified by an inplace operation", "has been detached in-place")
FREED = "Trying to backward through the graph a second time"
FAULTS = ("INTERNAL ASSERT FAILED", "ZeroTensors are immutable")  # PyTorch's own
# After these a view's history may be one that PyTorch cannot tell any more.
LAYOUT_WRITES = ("squeeze_(", ".t_(", "transpose_(")
# PyTorch's gradient of a write through an expanded tensor writes through one itself.
OWN_OVERLAP = "more than one element of the written-to tensor"
# Where Rushlight may save nothing that could be freed: of a tensor without dims these are the
# tensor itself, a gradient may be known as constant, and nobody waits for that of a view without a
# history.
NOTHING_SAVED = (".amax(", ".amin(", "create_graph=True", "no_grad()", "set_grad_enabled(False)")


class AutogradProgram:
    """names: the live tensors; lines: the program so far; quiet: whether what it tells about its
    history is asked for at the end only, since asking makes views renew theirs.
    """

    def __init__(self, quiet: bool) -> None:
        self.spaces = [namespace(module) for module in MODULES]
        self.names: list[str] = []
        self.lines: list[str] = []
        self.quiet = quiet
        self.count = 0
        self.precision = "float64"
        self.versions: dict[str, int] = {}  # what PyTorch had counted more when a name was new
        self.retained: dict[str, int] = {}  # which of its function's outputs keeps its gradient

    def new_name(self) -> str:
        self.count += 1
        return f"t{self.count - 1}"

    def value(self, name: str) -> Any:
        """PyTorch's tensor."""
        return self.spaces[1][name]

    def run(self, line: str, names: list[str] | None = None) -> bool:
        """Run a line that assigns ``names``; returns whether it raised nothing."""
        self.lines.append(line)
        code = compile(line, f"<line {len(self.lines)}>", "exec")
        errors = []
        for space in self.spaces:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    exec(code, space)
                errors.append(None)
            except Exception as error:
                errors.append(error)
        self._compare_errors(*errors)
        if errors[1] is not None and ("backward" in line or "grad(" in line):
            raise EndOfProgram  # how far it had come depends on the order of nodes
        if errors[1] is None:
            self._add(names or [])
        self.compare(self.quiet)
        return errors[1] is None

    def _add(self, names: list[str]) -> None:
        for name in names:
            ours, theirs = (space[name] for space in self.spaces)
            if isinstance(theirs, torch.Tensor):
                if not isinstance(ours, rushlight.Tensor):
                    raise self.difference(f"{name} is {ours!r}, PyTorch's {theirs!r}")
                if "grad" in self.lines[-1]:
                    end_if_constant(ours, theirs)
                self.names.append(name)
            elif ours is not None:
                raise self.difference(f"{name} is {ours!r}, PyTorch's {theirs!r}")

    def _compare_errors(self, ours: Exception | None, theirs: Exception | None) -> None:
        if ours is None and theirs is None:
            return
        if theirs is None:
            # PyTorch's second derivatives keep values of their own instead, and products of vectors
            # are several nodes, of which not all need to run.
            other_nodes = any("create_graph=True" in x or " @ " in x for x in self.lines[:-1])
            if other_nodes and any(part in str(ours) for part in (FREED, *OWN_READ)):
                raise EndOfProgram
            raise self.difference(f"Rushlight raised {type(ours).__name__}: {ours}") from ours
        passes = "backward(" in self.lines[-1] or "grad(" in self.lines[-1]
        if any(part in str(theirs) for part in FAULTS):
            raise EndOfProgram
        if passes and any(part in str(theirs) for part in READ_MORE):
            raise EndOfProgram
        if passes and OWN_OVERLAP in str(theirs):
            raise EndOfProgram
        if ours is not None and UNKNOWN_HISTORY in str(theirs):
            raise EndOfProgram
        saved_less = any(name in line for line in self.lines for name in NOTHING_SAVED)
        saved_less = saved_less or any(not self.value(name).numel() for name in self.names)
        if passes and FREED in str(theirs) and (ours is not None or saved_less):
            raise EndOfProgram
        if ours is None:
            raise self.difference(f"PyTorch raised {type(theirs).__name__}: {theirs}")
        if not any(kind.__name__ == type(theirs).__name__ for kind in type(ours).__mro__):
            raise self.difference(
                f"Rushlight raised {type(ours).__name__}: {ours}\n"
                f"PyTorch raised {type(theirs).__name__}: {theirs}"
            ) from ours

    # ---------------------------------------------------------------- comparison

    def compare(self, quiet: bool = False) -> None:
        """Everything about every tensor, and what the hooks noted."""
        places: list[dict[int, str]] = [{}, {}]
        for name in self.names:
            ours, theirs = (space[name] for space in self.spaces)
            self._compare_tensor(name, ours, theirs)
            if not quiet:
                self._compare_history(name, ours, theirs)
            found, expected = (
                first.setdefault(storage_place(tensor)[0], name)
                for first, tensor in zip(places, (ours, theirs))
            )
            if storage_place(theirs)[0] and found != expected:
                raise self.difference(f"{name} shares memory with {found}, PyTorch's {expected}")
        self._compare_logs()

    def _compare_tensor(self, name: str, ours: Any, theirs: Any) -> None:
        found, expected = (plain_facts(tensor) for tensor in (ours, theirs))
        found["version"] += self.versions.setdefault(name, theirs._version - ours._version)
        if found != expected:
            raise self.difference(f"{name} (Rushlight, PyTorch): {changed(found, expected)}")
        self._compare_numbers(name, ours, theirs)

    def _compare_history(self, name: str, ours: Any, theirs: Any) -> None:
        found, expected = (history(tensor) for tensor in (ours, theirs))
        untold = "RuntimeError" in expected.values() and "RuntimeError" not in found.values()
        if untold and any(part in line for line in self.lines for part in LAYOUT_WRITES):
            raise EndOfProgram
        if found != expected:
            raise self.difference(f"{name} (Rushlight, PyTorch): {changed(found, expected)}")
        output = told(lambda: theirs.output_nr if theirs.retains_grad else 0)
        if output != self.retained.setdefault(name, output) != 0:
            raise EndOfProgram  # written: PyTorch moves what keeps the first output's gradient
        self.retained[name] = output
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            a, b = ours.grad, theirs.grad
        if (a is None) != (b is None):
            one = b if a is None else a
            if not one.any() and any("create_graph=True" in line for line in self.lines):
                raise EndOfProgram  # where one knows that there is no gradient the other has zeros
            raise self.difference(f"{name}.grad: {a}, PyTorch's {b}")
        if b is not None:
            end_if_constant(a, b)
            found, expected = gradient_facts(a), gradient_facts(b)
            if found != expected:
                raise self.difference(f"{name}.grad: {changed(found, expected)}")
            self._compare_numbers(f"{name}.grad", a, b)

    def _compare_numbers(self, name: str, ours: Any, theirs: Any) -> None:
        self._compare_arrays(name, numbers(ours), numbers(theirs))

    def _compare_arrays(self, name: str, found: Any, expected: Any) -> None:
        if expected.dtype.kind not in "fc":
            if not numpy.array_equal(found, expected):
                raise self.difference(f"{name}: {found.tolist()}\nPyTorch's {expected.tolist()}")
            return
        if not numpy.isfinite(expected).all() or numpy.abs(expected).max(initial=0) > LARGEST:
            raise EndOfProgram
        scale = 1 + numpy.abs(expected).max(initial=0)
        if not (numpy.abs(found - expected) <= TOLERANCE[self.precision] * scale).all():
            raise self.difference(f"{name}: {found.tolist()}\nPyTorch's {expected.tolist()}")

    def _compare_logs(self) -> None:
        ours, theirs = (list(space["log"]) for space in self.spaces)
        for space in self.spaces:
            space["log"].clear()
        names = [[name for name, _ in log] for log in (ours, theirs)]
        if names[0] != names[1]:
            # Where one knows that there is no gradient the other may pass zeros on.
            ours, theirs = (
                [call for call in log if told_something(call)] for log in (ours, theirs)
            )
            names = [[name for name, _ in log] for log in (ours, theirs)]
        if names[0] != names[1] and any(" @ " in line for line in self.lines):
            # PyTorch's products of vectors are several nodes, so that their leaves come later.
            ours, theirs = (sorted(log, key=lambda call: call[0]) for log in (ours, theirs))
            names = [[name for name, _ in log] for log in (ours, theirs)]
        if names[0] != names[1]:
            raise self.difference(f"hooks ran in the order {names[0]}, in PyTorch {names[1]}")
        for (name, found), (_, expected) in zip(ours, theirs):
            if [each is None for each in found] != [each is None for each in expected]:
                raise self.difference(f"hook {name}: {found}, PyTorch's {expected}")
            for a, b in zip(found, expected):
                if a is not None:
                    self._compare_arrays(f"hook {name}", a, b)

    def difference(self, message: str) -> Difference:
        return Difference("\n".join([message, *self.lines]))


def plain_facts(tensor: Any) -> dict[str, Any]:
    return {
        "dtype": dtype_name(tensor),
        "shape": tuple(tensor.shape),
        "stride": meaningful_strides(tensor),
        "offset": tensor.storage_offset() if tensor.numel() else None,
        "version": tensor._version,
    }


def history(tensor: Any) -> dict[str, Any]:
    return {
        "requires_grad": told(lambda: tensor.requires_grad),
        "is_leaf": told(lambda: tensor.is_leaf),
        "grad_fn": told(lambda: tensor.grad_fn is not None),
        "output_nr": told(lambda: tensor.output_nr),
        "is_view": told(lambda: tensor._base is not None),
        "retains_grad": tensor.retains_grad,
    }


def told(question: Any) -> Any:
    """The answer, or the class of the error (a view that was written may have no history)."""
    try:
        return question()
    except RuntimeError as error:
        return type(error).__name__


def end_if_constant(ours: Any, theirs: Any) -> None:
    """Rushlight knows that a gradient is constant where PyTorch's steps make it look like one that
    is not.
    """
    if ours.requires_grad != theirs.requires_grad and (theirs.requires_grad or not theirs.numel()):
        raise EndOfProgram


def told_something(call: tuple[str, list[Any]]) -> bool:
    """Was a hook given a gradient that is not zero?"""
    return any(each is not None and each.any() for each in call[1])


def gradient_facts(gradient: Any) -> dict[str, Any]:
    return {
        "dtype": dtype_name(gradient),
        "shape": tuple(gradient.shape),
        "requires_grad": gradient.requires_grad,
    }


def changed(found: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    return {name: (found[name], expected[name]) for name in found if found[name] != expected[name]}
