"""Random programs over differentiable operators: gradients, and gradients of gradients, are
PyTorch's.
"""

from __future__ import annotations

import os
import warnings
from random import Random
from typing import Any

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from calls import MODULES  # noqa: E402
from drawing import Drawing  # noqa: E402
from memory import PRECISION, dtype_name, numbers  # noqa: E402
from operators import OPERATORS, run  # noqa: E402
from program import EndOfProgram, Program, new  # noqa: E402

COUNT = int(os.environ.get("RUSHLIGHT_PROGRAMS", "0"))
DIFFERENTIABLE = set(
    """add sub mul div pow neg exp log tanh relu sigmoid sqrt square abs reciprocal expm1 log1p
    where masked_fill clamp clamp_min maximum minimum lerp addcmul addcdiv .to clone .contiguous
    sum mean prod amax max min cumsum logsumexp matmul mm mv dot outer nn.functional.linear
    reshape .view transpose permute movedim t .expand broadcast_to squeeze unsqueeze flatten
    select narrow unbind chunk split flip .repeat [] []= cat stack gather scatter scatter_add
    index_select index_add index_fill index_put tril triu softmax log_softmax
    nn.functional.layer_norm nn.functional.cross_entropy .__add__ .__rsub__ .__mul__ .__imul__
    .__iadd__ .__rtruediv__ .copy_ detach
    """.split()
)
CHOSEN = [each for each in OPERATORS if each.name in DIFFERENTIABLE]
TOLERANCE = {
    "float16": 0.05,
    "bfloat16": 0.3,
    "float32": 2e-3,
    "float64": 1e-8,
    "complex64": 2e-3,
    "complex128": 1e-8,
}
# What is saved for the backward pass, and so may not be written, is a matter of the implementation.
WRITTEN = "modified by an inplace operation"
PROFILE = settings(
    max_examples=COUNT or 2000,
    derandomize=not COUNT,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def weights(shape: tuple[int, ...]) -> numpy.ndarray:
    return numpy.cos(numpy.arange(int(numpy.prod(shape)))).reshape(shape)


def weighted_sum(module: Any, tensors: list[Any]) -> Any:
    """One number that depends on all tensors, on each element by its own factor."""
    total = None
    for tensor in tensors:
        name = dtype_name(tensor)
        weighted = tensor * new(module, weights(tuple(tensor.shape)), name)
        term = (
            (module.real(weighted) if weighted.is_complex() else weighted).sum().to(module.float64)
        )
        total = term if total is None else total + term
    return total


def gradients(module: Any, values: list[Any], leaves: list[int], order: int) -> list[Any]:
    """The gradients of the leaves of each order up to ``order``."""
    results: list[Any] = []
    wrt = [values[index] for index in leaves]
    outputs = [each for each in values if each.requires_grad and not each.is_leaf]
    for current in range(1, order + 1):
        if not outputs:
            break
        loss = weighted_sum(module, outputs)
        found = module.autograd.grad(
            loss, wrt, retain_graph=True, create_graph=current < order, allow_unused=True
        )
        results += found
        outputs = [each for each in found if each is not None and each.requires_grad]
    return results


def steepest(program: Program, order: int) -> float:
    """The largest gradient of any value on the way: to it rounding is proportional."""
    wrt = [index for index, each in enumerate(program.theirs) if each.requires_grad]
    found = [each for each in gradients(torch, program.theirs, wrt, order) if each is not None]
    sizes = [numpy.abs(numbers(each.detach().resolve_conj())) for each in found]
    return max(float(each[numpy.isfinite(each)].max(initial=0.0)) for each in sizes)


def check_gradients(program: Program, leaves: list[int], order: int) -> None:
    outcomes = []
    for module, values in zip(MODULES, program.values):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                outcomes.append((gradients(module, values, leaves, order), None))
        except (RuntimeError, NotImplementedError, IndexError, ValueError, TypeError) as error:
            outcomes.append(([], error))
    (ours, our_error), (theirs, their_error) = outcomes
    if our_error is not None and their_error is None:
        if WRITTEN in str(our_error):
            return
        raise program.difference(f"backward: Rushlight raised {our_error!r}") from our_error
    if their_error is not None:
        excuses = (
            WRITTEN,
            "Could this error message be improved",
            "with a bool tensor",
            "the broadcast shape",  # of clamp with bounds that are broadcast
            "cast to the desired output type",  # of addcdiv by integers
        )
        if our_error is None and not any(part in str(their_error) for part in excuses):
            raise program.difference(f"backward: PyTorch raised {their_error!r}")
        return  # what must be saved, and so may not be written, is a matter of the implementation
    # A gradient that does not depend on the leaves may be known as such, or be a constant that has
    # no gradient.
    for position, (found, expected) in enumerate(zip(ours, theirs)):
        compare_gradient(program, position, found, expected, order)


def plain(ours: Any, theirs: Any) -> list[numpy.ndarray | None]:
    """The elements; PyTorch may hold a conjugate, or zeros, without having written them down."""
    written = (
        None
        if theirs is None
        else torch.empty(theirs.shape, dtype=theirs.dtype).copy_(theirs.detach())
    )
    return [None if each is None else numbers(each.detach()) for each in (ours, written)]


def tolerance(program: Program) -> float:
    """That of the coarsest type that took part."""
    return max(TOLERANCE.get(dtype_name(each), 0.0) for each in program.theirs)


def lost_in_exponentials(program: Program) -> float:
    """The relative error of PyTorch's exponentials of numbers as large as these."""
    if not any(name in line for line in program.lines for name in ("exp", "softmax")):
        return 0.0
    lost = 0.0
    for each in program.theirs:
        size = numpy.abs(numbers(each.detach()).astype(complex))
        epsilon, _ = PRECISION.get(dtype_name(each), (0.0, 0.0))
        lost = max(lost, 8 * epsilon * float(size[numpy.isfinite(size)].max(initial=0.0)))
    return lost


def lost_in_normalization(program: Program, order: int) -> float:
    """The absolute error where equal numbers are normalized: each derivative divides once more by
    the root of the 1e-5 that is added to their variance.
    """
    if not any("layer_norm" in line for line in program.lines):
        return 0.0
    epsilons = [PRECISION.get(dtype_name(each), (0.0, 0.0))[0] for each in program.theirs]
    return 8 * max(epsilons) * 1e-5 ** (-(order + 1) / 2)


def compare_gradient(
    program: Program, position: int, found: Any, expected: Any, order: int
) -> None:
    if found is None or expected is None:
        # Rushlight knows zeros by no tensor where PyTorch materialises them, and the other way
        # round.
        given = plain(found, expected)
        if any(numpy.any(each) for each in given if each is not None):
            raise program.difference(f"gradient {position}: {found}, PyTorch's {expected}")
        return
    if (dtype_name(found), tuple(found.shape)) != (dtype_name(expected), tuple(expected.shape)):
        raise program.difference(
            f"gradient {position}: {found.dtype} {found.shape}, PyTorch's {expected}"
        )
    a, b = plain(found, expected)
    broadcast_to_nothing = any(not each.numel() for each in program.theirs) and any(
        "addc" in line for line in program.lines
    )
    if broadcast_to_nothing and numpy.isnan(a).any():
        return  # a quotient by 0 that PyTorch does not take, as the result has no elements
    finite = numpy.isfinite(b)
    scale = 1 + numpy.abs(b[finite]).max(initial=0.0)
    if scale > 1e20:  # nothing is left of the digits that the forward passes have in common
        return
    with numpy.errstate(invalid="ignore"):
        far = numpy.abs(a - b) > tolerance(program) * scale
    if (far | ~numpy.isfinite(a))[finite].any():
        with numpy.errstate(invalid="ignore"):
            steep = steepest(program, order)
            bound = tolerance(program) * steep + lost_in_exponentials(program) * steep**order
            bound += lost_in_normalization(program, order)
            far = numpy.abs(a - b) > bound
    if (far | ~numpy.isfinite(a))[finite].any():
        raise program.difference(f"gradient {position}: {a.tolist()}\nPyTorch's {b.tolist()}")


def run_program(random: Random) -> None:
    program = Program()
    drawing = Drawing(random, program, mistakes=1)
    drawing.special = False
    dtype = drawing.choice(("float64", "float64", "float32", "complex128"))
    leaves = [
        drawing.leaf(dtype=dtype, requires_grad=True).index for _ in range(drawing.integer(1, 2))
    ]
    if drawing.percent(30):
        drawing.leaf(dtype=dtype)
    try:
        for _ in range(drawing.integer(1, 5)):
            run(program, drawing, drawing.choice(CHOSEN))
    except EndOfProgram:
        return
    check_gradients(program, leaves, 2 if drawing.percent(40) else 1)


@PROFILE
@given(st.randoms(use_true_random=False))
def test_gradients(random: Random) -> None:
    run_program(random)
