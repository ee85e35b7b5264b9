"""Loss functions."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..graph.trace import Traced, warn_user
from ..layout import broadcast_shapes, numel
from . import build
from .indexing import gather_primitive
from .record import Operand, composite, op
from .samples import Draw


def reduction_of(reduction: str, size_average: bool | None, reduce: bool | None) -> str:
    """The reduction's name; PyTorch's older arguments decide if given."""
    if size_average is not None or reduce is not None:
        if reduce is False:
            return "none"
        return "sum" if size_average is False else "mean"
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def reduced(loss: Traced, reduction: str) -> Traced:
    """All losses, their mean or their sum."""
    if reduction == "none":
        return loss
    return op.mean(loss) if reduction == "mean" else op.sum(loss)


_PAIR = (Draw((3, 4)), Draw((3, 4)))
_REDUCTIONS = ("none", "mean", "sum")


def _pair_samples(dtype: Any) -> Any:
    for reduction in _REDUCTIONS:
        yield _PAIR, {"reduction": reduction}


@composite(names=["nn.functional.mse_loss"], methods=[], samples=_pair_samples)
def mse_loss(
    input,
    target,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight=None,
):
    """The squared difference."""
    difference = difference_of(input, target, "mse_loss")
    loss = difference * difference
    if weight is not None:
        loss = loss * weight
        if reduction_of(reduction, size_average, reduce) == "mean":
            return op.sum(loss) / op.sum(build.expand(weight, loss.shape))
    return reduced(loss, reduction_of(reduction, size_average, reduce))


@composite(names=["nn.functional.l1_loss"], methods=[], samples=_pair_samples)
def l1_loss(
    input,
    target,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight=None,
):
    """The absolute difference."""
    loss = op.abs(build.kept(difference_of(input, target, "l1_loss")))
    if weight is not None:
        loss = loss * weight
        if reduction_of(reduction, size_average, reduce) == "mean":
            return op.sum(loss) / op.sum(build.expand(weight, loss.shape))
    return reduced(loss, reduction_of(reduction, size_average, reduce))


def difference_of(input: Traced, target: Traced, name: str) -> Traced:
    if len(input.shape) != len(target.shape) or tuple(input.shape) != tuple(target.shape):
        warn_user(
            f"Using a target size of {list(target.shape)} with an input size of "
            f"{list(input.shape)}: they are broadcast, which is seldom meant; give both one "
            "shape",
        )
    broadcast_shapes([input.shape, target.shape], name)
    return input - target


# ---------------------------------------------------------------- classes


def _class_dim(input: Traced) -> int:
    return 0 if input.ndim == 1 else 1


def _check_classes(input: Traced, target: Traced, weight: Any, name: str) -> None:
    if not input.ndim:
        raise RuntimeError(f"{name}: input must have at least 1 dim, but it is 0-d")
    dim = _class_dim(input)
    expected = tuple(input.shape[:dim]) + tuple(input.shape[dim + 1 :])
    _check_batch(input, target, name)
    if target.ndim != len(expected):
        raise RuntimeError(
            f"{name}: target of shape {list(target.shape)} does not fit input of shape "
            f"{list(input.shape)}; expected "
            f"{list(expected)}"
        )
    if expected != tuple(target.shape):
        raise RuntimeError(
            f"{name}: expected target size {list(expected)}, got {list(target.shape)}"
        )
    if weight is not None and (weight.ndim != 1 or weight.shape[0] != input.shape[dim]):
        raise RuntimeError(
            f"{name}: weight must be a vector with a value for each of the {input.shape[dim]} "
            f"classes, but its shape is {list(weight.shape)}"
        )
    if weight is not None and weight.dtype is not input.dtype:
        raise RuntimeError(
            f"{name}: weight must have the input's dtype {input.dtype}, but it has {weight.dtype}; "
            "convert it with .to()"
        )


def _check_batch(input: Traced, target: Traced, name: str) -> None:
    if target.ndim and input.ndim > 1 and target.shape[0] != input.shape[0]:
        raise ValueError(
            f"Expected input batch_size ({input.shape[0]}) to match target batch_size "
            f"({target.shape[0]}). (in {name})"
        )


def _class_losses(
    log_probabilities: Traced, target: Traced, weight: Any, ignore_index: int
) -> tuple[Traced, Traced | None]:
    """The loss of each target and, unless all count fully, how much it counts."""
    dim = _class_dim(log_probabilities)
    target = build.insert_dim(build.convert(target, dtypes.int64), dim)
    counts = target != ignore_index
    index = build.select_where(counts, target, 0, dtypes.int64)
    chosen = build.drop_dims(gather_primitive.apply(log_probabilities, index, dim=dim), (dim,))
    counts = build.drop_dims(counts, (dim,))
    if weight is None:
        share = build.convert(counts, log_probabilities.dtype)
    else:
        flat = build.reshape(index, (numel(index.shape),))
        share = build.reshape(gather_primitive.apply(weight, flat, dim=0), counts.shape)
        share = build.select_where(counts, share, 0, share.dtype)
    loss = build.select_where(
        counts, -chosen * share if weight is not None else -chosen, 0, chosen.dtype
    )
    return loss, share


def _reduce_classes(loss: Traced, share: Traced | None, reduction: str) -> Traced:
    if reduction == "none":
        return loss
    total = op.sum(loss)
    return total if reduction == "sum" else total / op.sum(share)


_TARGET = Draw((4,), 0, 3, dtype=dtypes.int64)


def _class_samples(dtype: Any) -> Any:
    for reduction in _REDUCTIONS:
        yield (Draw((4, 3)), _TARGET), {"reduction": reduction}
        yield (Draw((4, 3)), _TARGET, Draw((3,), 0.5, 2)), {"reduction": reduction}
        yield (Draw((4, 3)), _TARGET), {"reduction": reduction, "ignore_index": 1}
    yield (Draw((2, 3, 5)), Draw((2, 5), 0, 3, dtype=dtypes.int64)), {}
    yield (Draw((3,)), Draw((), 0, 3, dtype=dtypes.int64)), {}


@composite(
    names=["nn.functional.nll_loss"],
    methods=[],
    samples=_class_samples,
    onnx="NegativeLogLikelihoodLoss",
)
def nll_loss(
    input,
    target,
    weight=None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
):
    """Minus the log-probability of the target class."""
    _check_classes(input, target, weight, "nll_loss")
    loss, share = _class_losses(input, target, weight, ignore_index)
    return _reduce_classes(loss, share, reduction_of(reduction, size_average, reduce))


def _cross_entropy_samples(dtype: Any) -> Any:
    yield from _class_samples(dtype)
    for reduction in _REDUCTIONS:
        yield (Draw((4, 3)), _TARGET), {"label_smoothing": 0.1, "reduction": reduction}
        yield (
            (Draw((4, 3)), _TARGET, Draw((3,), 0.5, 2)),
            {"label_smoothing": 0.1, "reduction": reduction, "ignore_index": 1},
        )
        yield (Draw((4, 3)), Draw((4, 3), 0, 1)), {"reduction": reduction}
    yield (Draw((2, 3, 5)), Draw((2, 3, 5), 0, 1), Draw((3,), 0.5, 2)), {"label_smoothing": 0.2}
    yield (Draw((3,)), Draw((3,), 0, 1)), {}


@composite(
    names=["nn.functional.cross_entropy"],
    methods=[],
    samples=_cross_entropy_samples,
    onnx="SoftmaxCrossEntropyLoss",
)
def cross_entropy(
    input,
    target,
    weight=None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: Operand = 0.0,
):
    """The negative log-likelihood of targets (classes or probabilities) under softmax(input)."""
    reduction = reduction_of(reduction, size_average, reduce)
    if label_smoothing < 0.0 or label_smoothing > 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if not input.ndim:
        raise IndexError("cross_entropy: input must have at least 1 dim, but it is 0-d")
    dim = _class_dim(input)
    log_probabilities = op.log_softmax(build.widened(input), dim)
    if target.dtype.is_floating_point:
        _check_batch(input, target, "cross_entropy")
        if ignore_index >= 0:
            raise RuntimeError(
                "cross_entropy: ignore_index is for targets that are classes, not for probabilities"
            )
        loss = _probability_loss(log_probabilities, target, weight, reduction, label_smoothing)
        return build.convert(loss, input.dtype)
    _check_classes(input, target, weight, "cross_entropy")
    loss, share = _class_losses(
        log_probabilities, target, None if weight is None else build.widened(weight), ignore_index
    )
    result = _reduce_classes(loss, share, reduction)
    if label_smoothing != 0.0:
        smooth = _smooth_loss(log_probabilities, target, weight, ignore_index)
        smooth = _reduce_classes(smooth, share, reduction)
        classes = input.shape[dim]
        result = (1 - label_smoothing) * result + label_smoothing / classes * smooth
    return build.convert(result, input.dtype)


def _along_classes(weight: Traced, input: Traced) -> Traced:
    dim = _class_dim(input)
    return build.reshape(
        weight, [size if each == dim else 1 for each, size in enumerate(input.shape)]
    )


def _smooth_loss(
    log_probabilities: Traced, target: Traced, weight: Any, ignore_index: int
) -> Traced:
    """The loss summed over all classes, for the targets that count."""
    dim = _class_dim(log_probabilities)
    terms = (
        log_probabilities
        if weight is None
        else log_probabilities * _along_classes(build.widened(weight), log_probabilities)
    )
    loss = -build.drop_dims(build.reduce_sum(terms, (dim,)), (dim,))
    return build.select_where(target != ignore_index, loss, 0, loss.dtype)


def _probability_loss(
    log_probabilities: Traced, target: Traced, weight: Any, reduction: str, label_smoothing: Any
) -> Traced:
    if len(target.shape) != len(log_probabilities.shape) or tuple(target.shape) != tuple(
        log_probabilities.shape
    ):
        raise RuntimeError(
            "cross_entropy: a target of class probabilities must have the shape of input, "
            f"{list(log_probabilities.shape)}, not {list(target.shape)}"
        )
    dim = _class_dim(log_probabilities)
    target = build.widened(target)
    if label_smoothing != 0.0:
        target = target * (1 - label_smoothing) + label_smoothing / log_probabilities.shape[dim]
        target = build.kept(target)
    terms = log_probabilities * target
    if weight is not None:
        terms = terms * _along_classes(build.widened(weight), terms)
    if reduction == "none":
        return -build.drop_dims(build.reduce_sum(terms, (dim,)), (dim,))
    total = -op.sum(terms)
    if reduction == "sum":
        return total
    return total / (numel(target.shape) // target.shape[dim] if target.ndim > 1 else 1)
