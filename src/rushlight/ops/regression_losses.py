"""Losses between numbers, and between distributions."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ..graph.trace import Traced, warn_user
from ..layout import broadcast_shapes
from ..promotion import scalar_type_name
from . import build
from .host_kinds import HostElementwise
from .kinds import Elementwise, floating
from .losses import difference_of, reduced, reduction_of
from .record import Operand, composite, op, primitive
from .samples import Draw
from .statistics import require_range

REDUCTIONS = ("none", "mean", "sum")


def refuse_unless_floating(name: str, *tensors: Any) -> None:
    """NotImplementedError for tensors of other than floating-point dtypes."""
    for x in tensors:
        if not x.dtype.is_floating_point:
            raise NotImplementedError(
                f"\"{name}\" not implemented for '{scalar_type_name(x.dtype)}'"
            )


def loss_samples(*tensors: Draw, **options: Any) -> Any:
    """These tensors with each reduction."""

    def samples(dtype: Any) -> Any:
        for reduction in REDUCTIONS:
            yield tensors, {"reduction": reduction, **options}

    return samples


_PAIR = (Draw((3, 4)), Draw((3, 4)))


@composite(names=["nn.functional.smooth_l1_loss"], methods=[], samples=loss_samples(*_PAIR))
def smooth_l1_loss(
    input,
    target,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: Operand = 1.0,
):
    """The absolute difference, less beta / 2; below beta half the square over beta."""
    reduction = reduction_of(reduction, size_average, reduce)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    difference = difference_of(input, target, "smooth_l1_loss")
    if not difference.dtype.is_differentiable or difference.dtype.is_complex:
        refuse_unless_floating("smooth_l1_cpu", difference)
    distance = op.abs(difference)
    if beta == 0:
        return reduced(distance, reduction)
    near = difference * difference * 0.5 / beta
    return reduced(op.where(distance < beta, near, distance - 0.5 * beta), reduction)


@composite(names=["nn.functional.huber_loss"], methods=[], samples=loss_samples(*_PAIR))
def huber_loss(input, target, reduction: str = "mean", delta: Operand = 1.0, weight=None):
    """Half the square of the difference; beyond delta delta times the distance, less delta / 2."""
    reduction = reduction_of(reduction, None, None)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    difference = difference_of(input, target, "huber_loss")
    refuse_unless_floating("huber_cpu", difference)
    distance = op.abs(difference)
    near = difference * difference * 0.5
    loss = op.where(distance <= delta, near, (distance - 0.5 * delta) * delta)
    return reduced(loss if weight is None else loss * weight, reduction)


# ---------------------------------------------------------------- probabilities


def _entropy_arrays(x: Any, t: Any) -> Any:
    log, complement = numpy.log(x), numpy.log1p(-x)
    return (t - 1) * numpy.maximum(complement, -100) - t * numpy.maximum(log, -100)


@primitive(
    Elementwise(floating),
    name="binary_entropy",
    scalar=lambda s, x, t: s.sub(
        s.mul(s.sub(t, 1), s.maximum(s.log1p(s.neg(x)), -100)), s.mul(t, s.maximum(s.log(x), -100))
    ),
    derivative=lambda out, x, t: (
        (x - t) / op.clamp_min((1 - x) * x, 1e-12),
        op.clamp_min(op.log1p(-x), -100) - op.clamp_min(op.log(x), -100),
    ),
    reference=_entropy_arrays,
)
def binary_entropy(x, t):
    """-t * log(x) - (1 - t) * log(1 - x), the logarithms at least -100."""


_PROBABILITIES = (Draw((3, 4), 0.05, 0.95), Draw((3, 4), 0.05, 0.95))


@composite(
    names=["nn.functional.binary_cross_entropy"],
    methods=[],
    samples=loss_samples(*_PROBABILITIES),
)
def binary_cross_entropy(
    input,
    target,
    weight=None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
):
    """The negative log-likelihood of targets from 0 to 1 under probabilities."""
    reduction = reduction_of(reduction, size_average, reduce)
    if len(input.shape) != len(target.shape) or tuple(input.shape) != tuple(target.shape):
        raise ValueError(
            "binary_cross_entropy: input and target must have one shape, but have "
            f"{list(input.shape)} and {list(target.shape)}; expand() or reshape one"
        )
    refuse_unless_floating("binary_cross_entropy", input, target)
    if input.dtype is not target.dtype:
        raise RuntimeError(
            f"Found dtype {scalar_type_name(target.dtype)} but expected "
            f"{scalar_type_name(input.dtype)} (in binary_cross_entropy)"
        )
    input = require_range(
        input,
        0.0,
        1.0,
        "binary_cross_entropy: all elements of input should be probabilities, from 0 to 1",
    )
    wide = build.widened(input), build.widened(target)
    loss = build.convert(binary_entropy.apply(*wide), input.dtype)
    if weight is not None:
        broadcast_shapes([weight.shape, loss.shape], "binary_cross_entropy")
        loss = loss * weight
    return reduced(loss, reduction)


@composite(
    names=["nn.functional.binary_cross_entropy_with_logits"],
    methods=[],
    samples=loss_samples(Draw((3, 4)), Draw((3, 4), 0, 1)),
)
def binary_cross_entropy_with_logits(
    input,
    target,
    weight=None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight=None,
):
    """The negative log-likelihood of targets from 0 to 1 under sigmoid(input); pos_weight weighs
    the positive part.
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if len(input.shape) != len(target.shape) or tuple(input.shape) != tuple(target.shape):
        raise ValueError(
            "binary_cross_entropy_with_logits: input and target must have one shape, but have "
            f"{list(input.shape)} and {list(target.shape)}; expand() or reshape one"
        )
    log_sigmoid = getattr(op, "nn.functional.logsigmoid")(input)
    if pos_weight is not None:
        log_sigmoid = log_sigmoid * ((pos_weight - 1) * target + 1)
    loss = (1 - target) * input - log_sigmoid
    return reduced(loss if weight is None else loss * weight, reduction)


@composite(
    names=["nn.functional.kl_div", "kl_div"],
    methods=[],
    samples=loss_samples(Draw((3, 4)), Draw((3, 4), 0.1, 2)),
)
def kl_div(
    input,
    target,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str | int = "mean",
    log_target: bool = False,
):
    """The Kullback-Leibler divergence of targets (probabilities, or their logarithms) from
    log-probabilities; "batchmean" divides the sum by the batch's size.
    """
    reduction = {0: "none", 1: "mean", 2: "sum"}.get(reduction, reduction)  # type: ignore[arg-type]
    batch_mean = reduction == "batchmean"
    how = "sum" if batch_mean else reduction_of(str(reduction), size_average, reduce)
    for x in (input, target):
        if x.dtype.is_integral:
            raise RuntimeError("kl_div: Integral inputs not supported.")
        if x.dtype.is_complex:
            raise RuntimeError("kl_div: Complex inputs not supported.")
    if how == "mean":
        warn_user(
            "kl_div: reduction 'mean' divides by the number of elements; 'batchmean' is the "
            "divergence"
        )
    if log_target:
        loss = op.exp(target) * (target - input)
    else:
        loss = op.xlogy(target, target) - target * input
    result = reduced(loss, how)
    return result / input.shape[0] if batch_mean and input.ndim else result


@composite(
    names=["nn.functional.poisson_nll_loss", "poisson_nll_loss"],
    methods=[],
    samples=loss_samples(Draw((3, 4)), Draw((3, 4), 0.5, 4)),
)
def poisson_nll_loss(
    input,
    target,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: Operand = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
):
    """The negative log-likelihood of counts under Poisson rates (or their logarithms); ``full``
    adds Stirling's approximation of the targets' factorials.
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if log_input:
        loss = build.kept(op.exp(input)) - target * input
    else:
        loss = input - target * op.log(input + eps)
    if full:
        large = target > 1
        safe = op.where(large, target, 1)
        stirling = safe * op.log(safe) - safe + 0.5 * op.log(2 * math.pi * safe)
        loss = loss + op.where(large, stirling, 0)
    return reduced(loss, reduction)


def _check_variance(x: Any) -> Any:
    if x.size and (x < 0).any():
        raise ValueError("var has negative entry/entries")
    return x


def _fitting_variance(input: Traced, var: Traced) -> Traced:
    """The variance with a dim for each of the input's, or ValueError."""
    if tuple(var.shape) == tuple(input.shape):
        return var
    if tuple(var.shape) == tuple(input.shape[:-1]):
        return build.insert_dim(var, var.ndim)
    mismatched = [(a, b) for a, b in zip(var.shape, input.shape, strict=False) if a != b and a != 1]
    if var.ndim != input.ndim or mismatched:
        raise ValueError(
            f"var is of incorrect size: {list(var.shape)} for input of shape {list(input.shape)}"
        )
    return var


@primitive(
    HostElementwise(floating),
    name="not_negative",
    derivative=lambda out, x: 1,
    reference=_check_variance,
)
def not_negative(x):
    """x itself; ValueError if an element is negative."""


@composite(
    names=["nn.functional.gaussian_nll_loss"],
    methods=[],
    samples=loss_samples(Draw((3, 4)), Draw((3, 4)), Draw((3, 4), 0.5, 2)),
)
def gaussian_nll_loss(
    input, target, var: Operand, full: bool = False, eps: Operand = 1e-6, reduction: str = "mean"
):
    """The negative log-likelihood of targets under normal distributions of means ``input`` and
    variances var (at least eps); ``full`` adds the constant term.
    """
    if build.is_number(var):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = build.full_like(input, var)
    elif var.dtype.is_complex:
        raise RuntimeError("gaussian_nll_loss: var must be real")
    refuse_unless_floating("gaussian_nll_loss", input, var)
    var = _fitting_variance(input, var)
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not valid")
    var = not_negative.apply(var)
    # The bound does not count in the gradient.
    var = var + op.detach(op.clamp_min(var, eps) - var)
    distance = build.kept(input - target)
    loss = 0.5 * (op.log(var) + distance * distance / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)
