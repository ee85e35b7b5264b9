"""Connectionist temporal classification (Graves et al., "Connectionist temporal classification:
labelling unsegmented sequence data with recurrent neural networks", ICML 2006).

The sums over all alignments are taken by the forward and backward variables of section 4.1, as
logarithms in double precision.
"""

from __future__ import annotations

from typing import Any

import numpy

from ..graph.trace import Traced
from ..promotion import scalar_type_name
from . import build
from .kinds import Host
from .losses import reduction_of
from .record import Operands, Tensor, composite, op, primitive, unsupported

_NONE = -numpy.inf  # the logarithm of probability zero


# ---------------------------------------------------------------- the recursions


def _require(condition: Any, message: str) -> None:
    if not condition:
        raise RuntimeError(f"ctc_loss: {message}")


def _check_lengths(name: str, lengths: Any, most: int) -> None:
    if lengths.size:
        least, greatest = int(lengths.min()), int(lengths.max())
        _require(least >= 0, f"Expected {name} to have value at least 0, but got value {least}")
        _require(
            greatest <= most,
            f"Expected {name} to have value at most {most}, but got value {greatest}",
        )


def _padded(targets: Any, lengths: Any) -> Any:
    """The targets as rows, of which the first elements count."""
    longest = int(lengths.max(initial=0))
    if targets.ndim == 2:
        _require(
            targets.shape[1] >= longest,
            f"Expected tensor to have size at least {longest} at dimension 1, but got size "
            f"{targets.shape[1]} for argument #2 'targets'",
        )
        return targets[:, :longest]
    _require(
        targets.size == lengths.sum(),
        f"Expected tensor to have size {lengths.sum()} at dimension 0, but got size "
        f"{targets.size} for argument #2 'targets', the sum of target_lengths",
    )
    rows = numpy.zeros((len(lengths), longest), targets.dtype)
    rows[numpy.arange(longest) < lengths[:, None]] = targets
    return rows


def _labels(targets: Any, lengths: Any, classes: int, blank: int) -> tuple[Any, Any]:
    """The labels with blanks around each, as rows; and where two steps at once are allowed: to a
    label that is no blank and differs from the label before.
    """
    rows = _padded(targets, lengths)
    counted = rows[numpy.arange(rows.shape[1]) < lengths[:, None]]
    _require(
        not counted.size or (counted.min() >= 0 and counted.max() < classes),
        f"targets are classes from 0 to {classes - 1}, but one is out of range",
    )
    labels = numpy.full((len(lengths), 2 * rows.shape[1] + 1), blank, numpy.int64)
    labels[:, 1::2] = numpy.clip(rows, 0, classes - 1)
    skips = numpy.zeros(labels.shape, bool)
    skips[:, 2:] = (labels[:, 2:] != blank) & (labels[:, 2:] != labels[:, :-2])
    return labels, skips


def _later(x: Any, steps: int) -> Any:
    """x moved to later labels, with nothing in the first places."""
    result = numpy.full_like(x, _NONE)
    result[:, steps:] = x[:, : x.shape[1] - steps]
    return result


def _forward(scores: Any, skips: Any) -> Any:
    """The log-probabilities of all ways to each label at each time (equations 6 and 7)."""
    alpha = numpy.full(scores.shape, _NONE)
    alpha[0, :, :2] = scores[0, :, :2]
    for time in range(1, len(scores)):
        before = alpha[time - 1]
        total = numpy.logaddexp(before, _later(before, 1))
        total = numpy.logaddexp(total, numpy.where(skips, _later(before, 2), _NONE))
        alpha[time] = total + scores[time]
    return alpha


def _backward(scores: Any, skips: Any, times: Any, lengths: Any) -> Any:
    """The log-probabilities of all ways from each label at each time to the end (equations 10 and
    11); the label's own is included.
    """
    beta = numpy.full(scores.shape, _NONE)
    place = numpy.arange(scores.shape[2])
    ends = (place == 2 * lengths[:, None]) | (place == 2 * lengths[:, None] - 1)
    from_skips = numpy.zeros(skips.shape, bool)
    from_skips[:, :-2] = skips[:, 2:]
    for time in range(len(scores) - 1, -1, -1):
        total = numpy.full(scores.shape[1:], _NONE)
        if time + 1 < len(scores):
            after = beta[time + 1][:, ::-1]
            total = numpy.logaddexp(after, _later(after, 1))[:, ::-1]
            skipped = numpy.where(from_skips, _later(after, 2)[:, ::-1], _NONE)
            total = numpy.logaddexp(total, skipped)
        is_last = (times == time + 1)[:, None]
        total = numpy.where(is_last, numpy.where(ends, 0.0, _NONE), total)
        beta[time] = numpy.where((times > time)[:, None], total + scores[time], _NONE)
    return beta


def _prepared(
    log_probs: Any, targets: Any, times: Any, lengths: Any, blank: int
) -> tuple[Any, Any, Any]:
    """The labels, where they may be skipped to, and their log-probabilities at each time."""
    _check_lengths("input_lengths", times, len(log_probs))
    _check_lengths("target_lengths", lengths, numpy.iinfo(numpy.int64).max)
    labels, skips = _labels(targets, lengths, log_probs.shape[2], blank)
    indices = numpy.broadcast_to(labels, (len(log_probs), *labels.shape))
    return labels, skips, numpy.take_along_axis(log_probs.astype(numpy.float64), indices, 2)


def _negative_log(alpha: Any, times: Any, lengths: Any) -> Any:
    """Minus the log-probability of each target (equation 8)."""
    batch = numpy.arange(len(times))
    last = alpha[numpy.maximum(times - 1, 0), batch]
    end = last[batch, 2 * lengths]
    before = numpy.where(lengths > 0, last[batch, numpy.maximum(2 * lengths - 1, 0)], _NONE)
    result = -numpy.logaddexp(end, before)
    return numpy.where(times == 0, numpy.where(lengths == 0, 0.0, numpy.inf), result)


def _loss_arrays(
    log_probs: Any, targets: Any, times: Any, lengths: Any, blank: int, zero_infinity: bool
) -> Any:
    labels, skips, scores = _prepared(log_probs, targets, times, lengths, blank)
    with numpy.errstate(invalid="ignore"):
        losses = _negative_log(_forward(scores, skips), times, lengths)
    if zero_infinity:
        losses = numpy.where(losses == numpy.inf, 0.0, losses)
    return losses.astype(log_probs.dtype)


def _gradient_arrays(
    log_probs: Any, targets: Any, times: Any, lengths: Any, blank: int, zero_infinity: bool
) -> Any:
    labels, skips, scores = _prepared(log_probs, targets, times, lengths, blank)
    wide = log_probs.astype(numpy.float64)
    with numpy.errstate(invalid="ignore", over="ignore"):
        alpha = _forward(scores, skips)
        losses = _negative_log(alpha, times, lengths)
        both = alpha + _backward(scores, skips, times, lengths)
        # The logarithm of what each label contributes, added up for equal labels (equation 15).
        share = numpy.exp(both - scores + losses[:, None])
        share = numpy.where(numpy.isneginf(both) & numpy.isfinite(losses)[:, None], 0.0, share)
        posterior = numpy.zeros(log_probs.shape)
        batch = numpy.arange(len(times))
        for place in range(labels.shape[1]):
            counted = place < 2 * lengths + 1
            posterior[:, batch[counted], labels[counted, place]] += share[:, counted, place]
        result = numpy.exp(wide) - posterior
    result = numpy.where((numpy.arange(len(log_probs))[:, None] < times)[:, :, None], result, 0.0)
    impossible = (losses == numpy.inf)[:, None] & (result != 0)
    result = numpy.where(impossible, 0.0 if zero_infinity else numpy.nan, result)
    return result.astype(log_probs.dtype)


# ---------------------------------------------------------------- records

_NO_BATCH = "ctc_loss has a batch dim of its own; give it a batch rather than use vmap"


@primitive(
    Host(lambda environment, x, *others, blank, zero_infinity: [(x.dtype, tuple(x.shape), False)]),
    name="ctc_gradient",
    vjp=unsupported("ctc_loss has no second derivative"),
    jvp=unsupported("ctc_loss has no second derivative"),
    batch=unsupported(_NO_BATCH),
    reference=_gradient_arrays,
)
def ctc_gradient(log_probs, targets, times, lengths, blank, zero_infinity):
    """The derivative of each loss by the log-probabilities before they are normalised."""


def _losses_vjp(inputs: Any, outputs: Any, gradients: Any, attributes: Any) -> list:
    g = build.insert_dim(build.insert_dim(gradients[0], 1), 0)
    return [ctc_gradient.apply(*inputs, **attributes) * g, None, None, None]


@primitive(
    Host(lambda environment, x, *others, blank, zero_infinity: [(x.dtype, (x.shape[1],), False)]),
    name="ctc_losses",
    vjp=_losses_vjp,
    jvp=unsupported("ctc_loss has no forward-mode derivative"),
    batch=unsupported(_NO_BATCH),
    reference=_loss_arrays,
)
def ctc_losses(log_probs, targets, times, lengths, blank, zero_infinity):
    """Minus the log-probability of each target."""


@composite(names=["nn.functional.ctc_loss"], methods=[])
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Operands,
    target_lengths: Operands,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
):
    """Minus the log-probability of targets under all ways to align them to a longer sequence.

    As in PyTorch, the gradient is that by the logits from which log_softmax made log_probs, so it
    is right for log-probabilities that are normalised.

    Args:
        log_probs: ``[time, batch, classes]`` or ``[time, classes]``.
        targets: classes: ``[batch, most]``, or all targets one after the other.
        input_lengths: how many times count, for each element of the batch.
        target_lengths: the lengths of the targets.
        blank: the class that stands for no label.
        reduction: "none", "sum", or "mean" of the losses, each divided by its target's length.
        zero_infinity: whether infinite losses, where a target is too long, and their gradients
            count as zero.

    Returns:
        ``[batch]`` or a scalar.
    """
    reduction = reduction_of(reduction, None, None)
    if log_probs.ndim not in (2, 3):
        raise RuntimeError(
            "ctc_loss: Expected 3-dimensional tensor (or 2-dimensional without a batch), but got "
            f"{log_probs.ndim}-dimensional tensor for argument #1 'log_probs'"
        )
    if targets.ndim not in (1, 2):
        raise RuntimeError(
            f"ctc_loss: Expected 1 to 2 dimensions, but got {targets.ndim}-dimensional tensor for "
            "argument #2 'targets'"
        )
    if log_probs.dtype not in (build.FLOAT32, build.FLOAT64):
        raise NotImplementedError(
            f"\"ctc_loss_cpu\" not implemented for '{scalar_type_name(log_probs.dtype)}'"
        )
    x = log_probs if log_probs.ndim == 3 else build.insert_dim(log_probs, 1)
    if any(size == 0 for size in x.shape):
        raise RuntimeError("ctc_loss: log_probs tensor must not be empty")
    if blank < 0 or blank >= x.shape[2]:
        raise RuntimeError("ctc_loss: blank must be in label range")
    if targets.ndim == 2 and targets.shape[0] != x.shape[1]:
        raise RuntimeError(
            f"ctc_loss: Expected tensor to have size {x.shape[1]} at dimension 0, but got size "
            f"{targets.shape[0]} for argument #2 'targets'"
        )
    times = _lengths("input_lengths", input_lengths, x)
    lengths = _lengths("target_lengths", target_lengths, x)
    losses = ctc_losses.apply(
        x,
        build.convert(targets, build.INT64),
        times,
        lengths,
        blank=blank,
        zero_infinity=zero_infinity,
    )
    if reduction == "mean":
        return op.mean(losses / build.convert(op.clamp_min(lengths, 1), losses.dtype))
    if reduction == "sum":
        return op.sum(losses)
    return losses if log_probs.ndim == 3 else build.reshape(losses, ())


def _lengths(name: str, lengths: Any, x: Traced) -> Traced:
    """Lengths given as numbers or as a tensor, one for each element of the batch."""
    if isinstance(lengths, list | tuple):
        numbers = [build.lift(each, x.context, name) for each in lengths]
        if any(not each.dtype.is_integral for each in numbers):
            raise TypeError(f"ctc_loss(): argument '{name}' must be a tuple or tensor of ints")
        if not numbers:
            raise RuntimeError(f"ctc_loss: {name} must be of size batch_size, {x.shape[1]}, not 0")
        lengths = op.cat([build.full((1,), each, build.INT64) for each in numbers])
    elif build.is_number(lengths) or not lengths.dtype.is_integral:
        raise TypeError(f"ctc_loss(): argument '{name}' must be a tuple or tensor of ints")
    lengths = lengths if lengths.ndim else build.reshape(lengths, (1,))
    if lengths.ndim != 1 or lengths.shape[0] != x.shape[1]:
        raise RuntimeError(
            f"ctc_loss: {name} must be of size batch_size, {x.shape[1]}, not {list(lengths.shape)}"
        )
    return build.convert(lengths, build.INT64)
