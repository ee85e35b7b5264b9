"""Draws the lines of programs over autograd: each function here returns one line, or None where
nothing fits.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy
from autograd_program import AutogradProgram
from drawing import broadcasts
from memory import storage_place
from program import new

SHAPES = ((2, 3), (3,), (2, 3), (), (3, 2), (1, 3), (2, 1), (6,), (2, 2, 3), (1,), (0, 3))
# Without prod and logsumexp: PyTorch's second derivatives run through their results, and it divides
# the saved product by the input, which x.data.mul_(0.5) may change.
UNARY = """sin cos tanh sigmoid neg relu abs clone contiguous square sin().exp sin().contiguous
    sum mean detach cumsum(0) softmax(-1) mul(0.5) add(1) clamp(-1,1) sum(0) mean(-1) amax(0)
    sum(-1,keepdim=True) data to(m.float32) to(m.float64) flip(0) var(unbiased=False)
    log_softmax(0) pow(2) pow(3) leaky repeat(2) sigmoid().detach
    """.split()
BINARY = "add sub mul maximum minimum".split()
UNARY_WRITES = """sin_ cos_ tanh_ sigmoid_ neg_ relu_ abs_ zero_ fill_(0.5) mul_(0.5) add_(1)
    clamp_(-1,1) square_ pow_(2) div_(2) cumsum_(0) fill_(0)
    """.split()
LAYOUT_WRITES = "unsqueeze_(0) squeeze_ t_ transpose_(0,-1) squeeze_(0)".split()
FLAG_WRITES = "detach_ requires_grad_ requires_grad_(False)".split()
BINARY_WRITES = "add_ sub_ mul_ copy_ add_ mul_".split()
VIEWS = """view(-1) reshape(-1) t transpose(0,-1) unsqueeze(0) unsqueeze(-1) squeeze squeeze(0)
    [0] [-1] [...] [...,0] [...,1:] [1:] [:1] [None] flatten view_as(SELF) expand(2,*SHAPE)
    expand_as(SELF) narrow(0,0,1) select(-1,0) detach view(SHAPE) permute(REVERSED) [:,None]
    [::2] movedim(0,-1) as_strided((2,),(1,)) alias T
    """.split()
MANY_VIEWS = ("unbind(0)", "split(1)", "chunk(2)", "unbind(-1)", "split(2,-1)", "split((1,1),-1)")
FUNCTIONS = """Square Tanh Doubled View Same Part Once Halves Pair Added Nothing Failing Wide Narrow
    Rerun Nested Square Tanh Doubled View
    """.split()
RESULTS = {"Part": 2, "Halves": 2, "Pair": 2, "Added": 2}
MODES = ("m.no_grad()", "m.enable_grad()", "m.no_grad()", "kept()", "m.set_grad_enabled(False)")


class AutogradDrawing:
    """random: where the choices come from; program: what ran so far."""

    def __init__(self, random: Random, program: AutogradProgram) -> None:
        self.random = random
        self.program = program
        self.mode = ""
        self.handles = 0

    def percent(self, chance: int) -> bool:
        return self.random.randrange(100) >= 100 - chance

    def choice(self, options: Any) -> Any:
        return options[self.random.randrange(len(options))]

    def pick(self, accept: Callable[[Any], bool] | None = None) -> str | None:
        """A tensor that is accepted, the later the likelier."""

        def accepted(name: str) -> bool:
            # Both are asked, since asking makes views renew their histories; PyTorch's counts.
            answers = [accept(space[name]) for space in self.program.spaces] if accept else [True]
            return answers[-1]

        names = list(filter(accepted, self.program.names))
        if not names:
            return None
        position = min(self.random.randrange(len(names)), self.random.randrange(len(names)))
        return names[::-1][position]

    def step(self) -> None:
        """Draw and run one line."""
        line = self.choice(LINES)(self)
        if line is None:
            return
        names, text = line if isinstance(line, tuple) else ([], line)
        if names:
            text = f"{', '.join(names)}{',' if len(names) > 1 else ''} = {text}"
        if self.mode:
            text = f"with {self.mode}: {text}"
        self.program.run(text, names)

    def recorded(self) -> bool:
        """Is grad mode on?"""
        return self.mode in ("", "m.enable_grad()", "kept()")

    def new_names(self, count: int) -> list[str]:
        return [self.program.new_name() for _ in range(count)]


def leaf(d: AutogradDrawing) -> None:
    """A new tensor in both frameworks."""
    shape = d.choice(SHAPES)
    array = numpy.random.default_rng(d.random.randrange(1000)).normal(0, 1, shape)
    array = (array * 64).round() / 64  # sums are exact, so that what is equal is so in both
    dtype = "float32" if d.percent(7) else "float64"
    requires_grad = d.percent(75)
    name = d.program.new_name()
    for space in d.program.spaces:
        space["new"] = new
        space["array"] = numpy.array
    text = f"{name} = new(m, array({array.tolist()}).reshape({shape}), {dtype!r})"
    d.program.run(text + (".requires_grad_()" if requires_grad else ""), [name])
    if dtype == "float32":
        d.program.precision = dtype


# ---------------------------------------------------------------- calls


def called(name: str, method: str, shape: Any = ()) -> str:
    """``x.method()``, or what stands for it."""
    method = method.replace("SELF", name).replace("SHAPE", str(tuple(shape)))
    method = method.replace("REVERSED", str(tuple(reversed(range(len(shape))))))
    if method.startswith("["):
        return f"{name}{method}"
    if method in ("data", "T"):
        return f"{name}.{method}"
    if method == "leaky":
        return f"m.nn.functional.leaky_relu({name})"
    if method == "alias":
        return f"{name}.view_as({name})"
    if method.endswith(")"):
        return f"{name}.{method}"
    return f"{name}.{method}()"


def unary(d: AutogradDrawing) -> Any:
    x, method = d.pick(), d.choice(UNARY)
    if method == "data" and not given(d, x):
        return None
    if "float32" in method:
        d.program.precision = "float32"
    return d.new_names(1), called(x, method)


def partner(d: AutogradDrawing, x: str, into: bool = False) -> str | None:
    """Another operand; for a write one that broadcasts to ``x``."""
    tensor = d.program.value(x)
    shape = tensor.shape

    def fits(other: Any) -> bool:
        if not broadcasts(other.shape, shape):
            return False
        if into and other is not tensor and storage_place(other)[0] == storage_place(tensor)[0]:
            return False  # which elements are read before they are written varies
        return (
            not into
            or len(other.shape) <= len(shape)
            and all(size in (1, own) for size, own in zip(other.shape[::-1], shape[::-1]))
        )

    return d.pick(fits)


def binary(d: AutogradDrawing) -> Any:
    x = d.pick()
    y = partner(d, x)
    operation = d.choice(BINARY)
    kind = d.random.randrange(6)
    if kind == 0:
        return d.new_names(1), f"{x}.div({y}.abs() + 1)"
    if kind == 1:
        return d.new_names(1), f"m.where({x} > 0, {x}, {y})"
    if kind == 2:
        return d.new_names(1), f"m.lerp({x}, {y}.to({x}.dtype), 0.25)"
    return d.new_names(1), f"{x}.{operation}({y})"


def joined(d: AutogradDrawing) -> Any:
    x = d.pick(lambda each: each.ndim > 0)
    if x is None:
        return None
    shape, dtype = d.program.value(x).shape, d.program.value(x).dtype
    y = d.pick(lambda each: each.shape == shape and each.dtype == dtype)
    operation = d.choice(("cat", "stack"))
    return d.new_names(1), f"m.{operation}([{x}, {y}, {x}])"


def product(d: AutogradDrawing) -> Any:
    x = d.pick(lambda each: each.ndim in (1, 2) and each.numel())
    if x is None:
        return None
    tensor = d.program.value(x)
    y = d.pick(
        lambda each: (
            each.ndim in (1, 2) and each.dtype == tensor.dtype and each.shape[0] == tensor.shape[-1]
        )
    )
    return None if y is None else (d.new_names(1), f"{x} @ {y}")


def indexed(d: AutogradDrawing) -> Any:
    x = d.pick(lambda each: each.ndim > 0 and each.shape[0] > 0 and each.is_contiguous())
    if x is None:
        return None  # the order of dims of other results follows from PyTorch's own steps
    size = d.program.value(x).shape[0]
    rows = [d.random.randrange(-size, size) for _ in range(3)]
    index = f"m.tensor({[row % size for row in rows]})"
    shape = (3, *d.program.value(x).shape[1:])
    result = d.choice(
        (
            f"{x}[{rows}]",
            f"{x}[{x} > 0]",
            f"{x}.index_select(0, {index})",
            f"{x}.gather(0, {index}.reshape(3, *[1] * {len(shape) - 1}).expand({shape}))",
            f"{x}.index_add(0, {index}, {x}[{rows}])",
            f"{x}.index_put(({index},), {x}[0], accumulate=True)",
            f"m.utils.checkpoint.checkpoint(lambda x: x.sin() * x, {x}, use_reentrant=False)",
        )
    )
    return d.new_names(1), result


def view(d: AutogradDrawing) -> Any:
    method = d.choice(VIEWS)
    x = d.pick(lambda each: each.ndim == 2) if method == "T" else d.pick()
    if x is None:
        return None
    shape = tuple(d.program.value(x).shape)
    if method == "t" and len(shape) > 2:
        return None
    return d.new_names(1), called(x, method, shape)


def views(d: AutogradDrawing) -> Any:
    """Several views at once."""
    x = d.pick(lambda each: each.ndim > 0 and each.numel())
    if x is None:
        return None
    text = called(x, d.choice(MANY_VIEWS))
    try:
        count = len(eval(text, dict(d.program.spaces[1])))
    except (RuntimeError, IndexError):
        return text
    return (d.new_names(count), text) if count > 1 else (d.new_names(1), f"{text}[0]")


def function(d: AutogradDrawing) -> Any:
    name = d.choice(FUNCTIONS)
    x = d.pick()
    arguments = f"{x}, {d.pick()}" if name in ("Pair", "Added") else x
    if name == "Nested":
        arguments = f"{x}, 0.5"
    return d.new_names(RESULTS.get(name, 1)), f"F.{name}.apply({arguments})"


# ---------------------------------------------------------------- writes


def write(d: AutogradDrawing) -> Any:
    kind = d.random.randrange(10)
    x = d.pick()
    if kind < 4:
        return called(x, d.choice(UNARY_WRITES))
    if kind < 8:
        y, method = partner(d, x, into=True), d.choice(BINARY_WRITES)
        if y is None or method == "copy_" and y == x:  # PyTorch does nothing, expanded or not
            return None
        return f"{x}.{method}({y})"
    if kind == 8:
        return f"{x}.masked_fill_({x} > 0, 0.5)"
    y = partner(d, x, into=True)
    return f"{x}.div_({y}.abs() + 1)" if y and d.percent(50) else f"{x} += 1"


def assignment(d: AutogradDrawing) -> Any:
    x = d.pick(lambda each: each.ndim > 0 and each.numel())
    if x is None:
        return None
    index = d.choice(("0", "-1", "...", "...,0", ":1", "1:", "::2", "[0]", f"{x}>0"))
    if d.percent(30):
        return f"{x}[{index}] = 0.5"
    place = storage_place(d.program.value(x))[0]
    y = d.pick(lambda each: each.ndim <= 1 and storage_place(each)[0] != place)
    return None if y is None else f"{x}[{index}] = {y}"


def given(d: AutogradDrawing, x: str) -> bool:
    """Is it no result? Whether a backward pass reads results is the implementation's matter, so
    that writes which are not noticed may change gradients or not.
    """
    return any(line.startswith(f"{x} = new(") for line in d.program.lines)


def flags(d: AutogradDrawing) -> Any:
    x = d.pick()
    if d.percent(15):
        if d.percent(60):
            return f"{x}.data.mul_(0.5)" if given(d, x) else None
        place = storage_place(d.program.value(x))[0]
        shared = sum(storage_place(d.program.value(name))[0] == place for name in d.program.names)
        # PyTorch's views go on sharing the count of writes with other memory.
        return None if shared > 1 else f"{x}.data = {x}.data * 0.5"
    if d.percent(50):
        return called(x, d.choice(FLAG_WRITES))
    if told(d.program.value(x)) and not d.recorded():
        return None  # nodes keep the shape that PyTorch's leaf had
    return called(x, d.choice(LAYOUT_WRITES))


# ---------------------------------------------------------------- hooks and backward passes


def hook(d: AutogradDrawing) -> Any:
    if not d.recorded():
        return None  # PyTorch crashes if the tensor is a view that was written in no_grad mode
    d.handles += 1
    handle = f"h{d.handles}"
    kind = d.random.randrange(8)
    x = d.pick(lambda each: has_history(each) or not told(each) and d.percent(10))
    if x is None:
        return None
    if kind < 2:
        return f"{handle} = {x}.register_hook(watch({handle!r}))"
    if kind == 2:
        return f"{handle} = {x}.register_hook(scale({handle!r}, 0.5))"
    if kind < 5:
        return f"{x}.retain_grad()"
    if kind == 5:
        known = [name for name in d.program.spaces[1] if name[0] == "h" and name[1:].isdigit()]
        return f"{d.choice(known)}.remove()" if known else None
    if kind == 6:
        return f"{handle} = {x}.register_post_accumulate_grad_hook(leaf_watch({handle!r}))"
    what = d.choice((f"hook(node_watch({handle!r}))", f"prehook(node_scale({handle!r}, 0.5))"))
    x = d.pick(lambda each: told(each, lambda: each.grad_fn is not None))
    return None if x is None else f"{handle} = {x}.grad_fn.register_{what}"


def has_history(tensor: Any) -> bool:
    """Whether hooks can be registered; PyTorch crashes for a view whose base lost its history."""
    return told(tensor) and told(tensor, lambda: tensor._base is None or tensor.grad_fn is not None)


def told(tensor: Any, question: Callable[[], bool] | None = None) -> bool:
    """Does it need a gradient (or the answer to the question)? Some views cannot say."""
    try:
        return question() if question else tensor.requires_grad
    except RuntimeError:
        return False


def outputs(d: AutogradDrawing) -> list[str]:
    return [
        name
        for name in (d.pick(told) for _ in range(1 + d.random.randrange(3)))
        if name is not None
    ]


def backward(d: AutogradDrawing) -> Any:
    names = outputs(d)
    if not names:
        return None
    options = [
        option
        for option, chance in (("retain_graph=True", 60), ("create_graph=True", 15))
        if d.percent(chance)
    ]
    if d.percent(20):
        options.append(f"inputs=[{', '.join(sorted(set(outputs(d))))}]")
    if d.percent(15):
        pair = f"[{names[0]}, {names[-1]}], [m.ones_like({names[0]}), m.ones_like({names[-1]})]"
        return f"m.autograd.backward({', '.join([pair, *options])})"
    if d.percent(20):
        gradient = f"m.ones_like({names[0]})"
        return f"{names[0]}.backward({', '.join([gradient, *options])})"
    return f"weighted({', '.join(names)}).backward({', '.join(options)})"


def gradients(d: AutogradDrawing) -> Any:
    names, wrt = outputs(d), list(dict.fromkeys(outputs(d)))
    if not names:
        return None
    options = ["allow_unused=True"] if d.percent(85) else []
    options += ["create_graph=True"] if d.percent(60) else []
    options += ["retain_graph=True"] if d.percent(50) else []
    options += ["materialize_grads=True"] if d.percent(15) else []
    text = f"grad(weighted({', '.join(names)}), [{', '.join(wrt)}]"
    text = ", ".join([text, *options]) + ")"
    return d.new_names(len(wrt)), text if len(wrt) > 1 else f"{text}[0]"


def stored_gradient(d: AutogradDrawing) -> Any:
    x = d.pick(lambda each: told(each, lambda: each.is_leaf and each.grad is not None))
    if x is None or d.program.value(x).grad.storage_offset():
        return None  # part of other memory in PyTorch
    kind = d.random.randrange(4)
    if kind == 0:
        return f"{x}.grad = None"
    if kind == 1:
        return d.new_names(1), f"{x}.grad"
    if kind == 2:
        return f"{x}.grad.zero_()"
    return f"with m.no_grad(): {x}.sub_({x}.grad)" if not d.mode else f"{x}.sub_({x}.grad)"


# ---------------------------------------------------------------- modes and names


def mode(d: AutogradDrawing) -> None:
    """Later lines run in this mode, or in none."""
    d.mode = "" if d.mode else d.choice(MODES)


def forget(d: AutogradDrawing) -> Any:
    if len(d.program.names) < 3:
        return None
    name = d.choice(d.program.names)
    d.program.names.remove(name)
    return f"del {name}"


LINES = [
    *[unary] * 5, *[binary] * 6, *[view] * 6, views, *[write] * 7, *[assignment] * 2, flags,
    *[function] * 3, joined, product, indexed, *[hook] * 3, *[backward] * 2, *[gradients] * 2,
    stored_gradient, *[mode] * 2, forget,
]  # fmt: skip
