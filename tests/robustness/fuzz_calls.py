"""Calls every function and method of the table with arguments that mostly make no sense.

``python fuzz_calls.py SEED CALLS PART PARTS`` prints one line for each call that raised
what no wrong call may raise. A call that crashes or hangs is the last in the file ``FUZZ_LOG``.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy

import rushlight as rl
from rushlight import _core, dtypes
from rushlight.ops.record import FUNCTIONS, METHODS

ALLOWED = (TypeError, ValueError, RuntimeError, IndexError, OverflowError, MemoryError)
# Messages of allowed classes that speak of the inside, not of the call.
INTERNAL = ("llvm", "LLVM", "garbage collector", "Plan:", "Kernel:", "Atom")
# What PyTorch too raises where no file or no exportable tensor is given.
ALLOWED_ELSEWHERE = {
    "save": AttributeError,
    "load": AttributeError,
    "to_dlpack": BufferError,
    "from_dlpack": BufferError,
}
SECONDS = 30

SHAPES = ((), (0,), (1,), (3,), (2, 3), (3, 3), (1, 3), (0, 3), (2, 3, 4), (2, 1, 3, 2), (17, 33))


def tensor(draw: random.Random) -> Any:
    """Any dtype and shape; sometimes strided, overlapping, read-only, recorded or without data."""
    dtype = draw.choice((dtypes.float32, dtypes.float32, dtypes.int64, *dtypes.ALL))
    shape = draw.choice(SHAPES)
    made = rl.ones(shape, dtype=dtype)
    if dtype.is_floating_point and draw.random() < 0.2:
        made = made * draw.choice((float("nan"), float("inf"), -0.0, 1e30))
    elif dtype.is_integral and draw.random() < 0.3:
        made = made * draw.choice((0, -1, 100, 2**62)) if dtype is dtypes.int64 else made * 0
    form = draw.choice(
        (
            "plain",
            "plain",
            "plain",
            "expanded",
            "transposed",
            "stepped",
            "leaf",
            "derived",
            "meta",
            "locked",
        )
    )
    differentiable = dtype.is_floating_point or dtype.is_complex
    if form == "expanded":
        return made.expand(4, *shape)
    if form == "transposed" and made.dim() > 1:
        return made.transpose(0, -1)
    if form == "stepped" and made.dim() and shape[0] > 1:
        return made[::2]
    if form in ("leaf", "derived") and differentiable:
        leaf = made.detach().requires_grad_()
        return leaf if form == "leaf" else leaf[...]
    if form == "meta":
        return rl.empty(shape, dtype=dtype, device="meta")
    if form == "locked" and dtype.numpy is not None:
        array = made.numpy().copy()
        array.flags.writeable = False
        return rl.from_numpy(array)
    return made


NUMBERS = (
    0,
    1,
    2,
    -1,
    -2,
    3,
    7,
    True,
    False,
    0.5,
    -0.0,
    1.5,
    float("nan"),
    float("inf"),
    -float("inf"),
    1e308,
    1j,
    complex(float("nan"), 1),
    2**31,
    -(2**31),
    2**62,
    2**63 - 1,
    -(2**63),
    2**63,
    2**64,
    2**100,
    -(2**100),
)
SIZES = (
    0,
    1,
    2,
    3,
    -1,
    (),
    (3,),
    (2, 3),
    (0,),
    (-1,),
    (-1, -1),
    (2, -1),
    (2**62,),
    (2**31, 2**31),
    (2**62, 4),
    (2**63,),
    [3],
    [2, 3],
    (2, None),
    (1.5,),
    (True,),
    ("a",),
    (-(2**63),),
)
STRINGS = (
    "",
    "mean",
    "sum",
    "none",
    "floor",
    "trunc",
    "constant",
    "reflect",
    "ij",
    "float32",
    "cpu",
    "\0",
    "ü" * 50,
)


class Odd:
    """An object that nothing knows."""


def junk(draw: random.Random) -> Any:
    """Anything at all."""
    return draw.choice(
        (
            lambda: None,
            lambda: draw.choice(NUMBERS),
            lambda: draw.choice(STRINGS),
            lambda: draw.choice(SIZES),
            Odd,
            lambda: Odd,
            dict,
            lambda: {1: 2},
            lambda: b"abc",
            list,
            lambda: [[1, 2], [3]],
            lambda: slice(None),
            lambda: ...,
            lambda: numpy.ones((2, 3)),
            lambda: numpy.array(["a"], dtype=object),
            lambda: numpy.float32(2),
            lambda: numpy.int64(-1),
            lambda: draw.choice(dtypes.ALL),
            lambda: rl.device("cpu"),
            rl.Generator,
            lambda: len,
            lambda: [tensor(draw), None],
            lambda: [tensor(draw), 3],
            lambda: (tensor(draw), tensor(draw)),
            lambda: range(3),
            lambda: [1, "a"],
            lambda: {1, 2},
            lambda: tensor(draw),
            lambda: numpy.float64("nan"),
        )
    )()


def tensors(draw: random.Random) -> Any:
    """A list of tensors, alike or not."""
    if draw.random() < 0.5:
        return [tensor(draw) for _ in range(draw.randrange(4))]
    one = tensor(draw)
    return [one] * draw.randrange(1, 4)


def argument(draw: random.Random, mode: str, first: bool) -> Any:
    """Mostly of the kind that the parameter takes."""
    chance = draw.random()
    if chance < 0.12:
        return junk(draw)
    if mode.startswith("T"):
        if first and chance < 0.75:
            return tensor(draw)
        return draw.choice((tensor, tensor, tensors, lambda draw: draw.choice(NUMBERS)))(draw)
    if mode == "Z":
        return draw.choice(SIZES)
    return draw.choice(
        (
            lambda: draw.randrange(-3, 4),
            lambda: draw.choice(NUMBERS),
            lambda: draw.choice(SIZES),
            lambda: draw.choice((True, False, None)),
            lambda: draw.choice(STRINGS),
            lambda: draw.choice(dtypes.ALL),
        )
    )()


class Target:
    """A function or method and the parameters it is known to have."""

    def __init__(self, path: str, function: Callable[..., Any], record: Any) -> None:
        self.path = path
        self.function = function
        known = [(p.name, p.mode) for p in record.parameters] if record is not None else []
        self.parameters = known or [("input", "T"), ("a", "S"), ("b", "S")]
        self.is_plain_method = path.startswith("Tensor.") and not isinstance(
            function, _core.Operator
        )
        self.has_out = bool(getattr(record, "out", False))
        required = (
            [p for p in record.signature.parameters.values() if p.default is p.empty]
            if record is not None
            else []
        )
        self.least = len(required)

    def arguments(self, draw: random.Random) -> tuple[list[Any], dict[str, Any]]:
        if draw.random() < 0.05:  # any number of anything
            return self.bound(draw, [junk(draw) for _ in range(draw.randrange(6))]), {}
        count = draw.randrange(min(self.least, len(self.parameters)), len(self.parameters) + 1)
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for position, (name, mode) in enumerate(self.parameters[:count]):
            value = argument(draw, mode, position == 0)
            if position and (kwargs or draw.random() < 0.2):
                kwargs[name] = value
            else:
                args.append(value)
        if self.has_out and draw.random() < 0.15:
            kwargs["out"] = draw.choice((tensor, junk, tensors))(draw)
        if draw.random() < 0.03:
            kwargs["nonsense"] = junk(draw)
        return self.bound(draw, args), kwargs

    def bound(self, draw: random.Random, args: list[Any]) -> list[Any]:
        """Methods written in Python are called on tensors only."""
        return [tensor(draw), *args[1:]] if self.is_plain_method else args


SKIPPED = {
    "set_default_dtype",
    "set_num_threads",
    "manual_seed",
    "seed",
    "set_rng_state",
    "set_printoptions",
    "explain",
    "set_grad_enabled",
    "inference_mode",
    "no_grad",
    "enable_grad",
    "register_hook",
    "cuda",
    "can_cast",
    "promote_types",
}


def targets() -> list[Target]:
    """Every function by its path, every method of Tensor."""
    found: dict[str, Target] = {}
    for path, record in FUNCTIONS.items():
        found[path] = Target(path, record.operator, record)
    for name in dir(rl):
        value = getattr(rl, name)
        if (
            callable(value)
            and not isinstance(value, type)
            and not name.startswith("_")
            and name not in SKIPPED
        ):
            found[name] = Target(name, value, FUNCTIONS.get(name.rstrip("_"), FUNCTIONS.get(name)))
    for name in dir(rl.Tensor):
        value = getattr(rl.Tensor, name)
        if callable(value) and not name.startswith("__") and name not in SKIPPED:
            record = METHODS.get(name) or METHODS.get(name.rstrip("_"))
            found[f"Tensor.{name}"] = Target(f"Tensor.{name}", value, record)
    return [found[path] for path in sorted(found)]


def describe(value: Any) -> str:
    if isinstance(value, rl.Tensor):
        flags = (
            " leaf"
            if value.requires_grad and value.is_leaf
            else " derived"
            if value.requires_grad
            else ""
        )
        return f"<{value.dtype} {tuple(value.shape)} {value.stride()} {value.device}{flags}>"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({', '.join(map(describe, value))})"
    return repr(value)[:80]


def use(result: Any) -> None:
    """Reads a result and runs its graph."""
    for each in result if isinstance(result, (list, tuple)) else [result]:
        if isinstance(each, rl.Tensor) and each.numel() < 10_000 and each.device.type == "cpu":
            repr(each)
            if each.requires_grad:
                each.sum().backward()


def call(target: Target, args: list[Any], kwargs: dict[str, Any]) -> str | None:
    """What is wrong with how a call ended, or None."""
    stage = "call"
    try:
        result = target.function(*args, **kwargs)
        stage = "use"
        use(result)
    except ALLOWED as error:
        inside = any(word in str(error) for word in INTERNAL) or isinstance(error, RecursionError)
        if not inside:
            return None
        return f"{stage}: {type(error).__name__}: {str(error)[:200]}{place(error)}"
    except BaseException as error:
        if isinstance(error, ALLOWED_ELSEWHERE.get(target.path, ())):
            return None
        return f"{stage}: {type(error).__name__}: {str(error)[:200]}{place(error)}"
    return None


def place(error: BaseException) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f" at {os.path.basename(frame.filename)}:{frame.lineno}"


def on_alarm(number: int, frame: Any) -> None:
    raise KeyboardInterrupt(f"more than {SECONDS} s")


def main() -> None:
    seed, calls, part, parts = map(int, sys.argv[1:5])
    only = sys.argv[5:]
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, on_alarm)
    _core.set_memory_limit(256 << 20)
    chosen = targets()[part::parts]
    log = open(os.environ.get("FUZZ_LOG", os.devnull), "w")
    for target in chosen:
        if only and target.path not in only:
            continue
        draw = random.Random(f"{seed} {target.path}")
        for _ in range(calls):
            args, kwargs = target.arguments(draw)
            parameters = [
                *map(describe, args),
                *(f"{name}={describe(value)}" for name, value in kwargs.items()),
            ]
            text = f"{target.path}({', '.join(parameters)})"
            print(text, file=log, flush=True)
            signal.alarm(SECONDS)
            wrong = call(target, args, kwargs)
            signal.alarm(0)
            if wrong:
                print(f"{text}: {wrong}", flush=True)


if __name__ == "__main__":
    main()
