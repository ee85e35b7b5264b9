"""Losses with margins: between pairs, triplets and classes."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..graph.trace import Traced
from ..layout import broadcast_shapes
from ..promotion import scalar_type_name
from . import build
from .checks import require_same_rank
from .indexing import gather_primitive
from .losses import reduced, reduction_of
from .record import Operand, Selector, Tensor, composite, op
from .regression_losses import loss_samples, refuse_unless_floating
from .samples import Draw
from .statistics import require_range

_SIGNS = Draw((3,), special=(1.0, -1.0, 1.0))
_VECTORS = Draw((3, 4))


@composite(
    names=["nn.functional.margin_ranking_loss", "margin_ranking_loss"],
    methods=[],
    samples=loss_samples(Draw((3,)), Draw((3,)), _SIGNS),
)
def margin_ranking_loss(
    input1,
    input2,
    target,
    margin: Operand = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
):
    """margin - target * (input1 - input2), but at least 0: the target 1 wants input1 greater."""
    reduction = reduction_of(reduction, size_average, reduce)
    require_same_rank("margin_ranking_loss", input1=input1, input2=input2, target=target)
    wanted, difference = build.kept(-target), build.kept(input1 - input2)
    return reduced(op.clamp_min(build.kept(wanted * difference + margin * 1.0), 0), reduction)


@composite(
    names=["nn.functional.hinge_embedding_loss", "hinge_embedding_loss"],
    methods=[],
    samples=loss_samples(Draw((3,)), _SIGNS),
)
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: Operand = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
):
    """The input where the target is 1; max(margin - input, 0) where it is -1."""
    reduction = reduction_of(reduction, size_average, reduce)
    apart = op.clamp_min(build.full_like(input, margin) - input, 0)
    zero = build.full((), 0, apart.dtype)
    far, near = build.kept(target != 1), build.kept(target != -1)
    loss = op.where(far, apart, zero) + op.where(near, input, zero)
    return reduced(loss, reduction)


@composite(
    names=["nn.functional.soft_margin_loss"],
    methods=[],
    samples=loss_samples(Draw((3, 4)), Draw((3, 4))),
)
def soft_margin_loss(
    input,
    target,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
):
    """log(1 + exp(-target * input))"""
    reduction = reduction_of(reduction, size_average, reduce)
    if not input.dtype.is_complex:
        refuse_unless_floating("soft_margin_loss", input)
    return reduced(op.log1p(op.exp(-target * input)), reduction)


@composite(
    names=["nn.functional.cosine_embedding_loss", "cosine_embedding_loss"],
    methods=[],
    samples=loss_samples(_VECTORS, _VECTORS, _SIGNS),
)
def cosine_embedding_loss(
    input1,
    input2,
    target,
    margin: Operand = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
):
    """1 - cos(input1, input2) where the target is 1; max(cos - margin, 0) where it is -1."""
    reduction = reduction_of(reduction, size_average, reduce)
    if target.ndim > 1:
        raise RuntimeError(
            f"cosine_embedding_loss: target must be 0D or 1D, not {target.ndim}D: multi-target not "
            "supported"
        )
    if not input1.ndim == input2.ndim == target.ndim + 1:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found "
            f"inputs with sizes {list(input1.shape)} and {list(input2.shape)}."
        )
    broadcast_shapes([input1.shape, input2.shape], "cosine_embedding_loss")
    last, tiny = target.ndim, 1e-12
    product = op.sum(input1 * input2, last)
    squares = (op.sum(x * x, last) + tiny for x in (input1, input2))
    first, second = squares
    cosine = product / op.sqrt(first * second)
    zero = build.full_like(cosine, 0)
    alike, unlike = build.kept(target == 1), build.kept(target == -1)
    loss = op.where(alike, 1 - cosine, zero) + op.where(
        unlike, op.clamp_min(cosine - margin, 0), zero
    )
    return reduced(loss, reduction)


def _check_triplet(anchor: Traced, positive: Traced, negative: Traced, margin: Any) -> None:
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    require_same_rank("triplet_margin_loss", anchor=anchor, positive=positive, negative=negative)


@composite(
    names=["nn.functional.triplet_margin_loss", "triplet_margin_loss"],
    methods=[],
    samples=loss_samples(*[Draw((3, 4), 0, 4)] * 3),
)
def triplet_margin_loss(
    anchor,
    positive,
    negative,
    margin: Operand = 1.0,
    p: Selector = 2,
    eps: Operand = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
):
    """margin + distance(anchor, positive) - distance(anchor, negative), but at least 0. swap: the
    distance of positive and negative counts if it is less than that of anchor and negative.
    """
    reduction = reduction_of(reduction, size_average, reduce)
    _check_triplet(anchor, positive, negative, margin)
    near = op.pairwise_distance(anchor, positive, p, eps)
    far = op.pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = op.minimum(far, op.pairwise_distance(positive, negative, p, eps))
    return reduced(op.clamp_min(near - far + margin, 0), reduction)


# ---------------------------------------------------------------- classes


def _refuse_half(name: str, input: Traced) -> None:
    """NotImplementedError for dtypes other than float32 and float64."""
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise NotImplementedError(
            f"\"{name}\" not implemented for '{scalar_type_name(input.dtype)}'"
        )


def _rows(input: Traced, target: Traced, name: str) -> tuple[Traced, Traced, bool]:
    """Examples as rows; whether there is only one, without a dim of its own."""
    if input.ndim > 2 or (input.ndim == 2 and input.shape[1] == 0):
        raise RuntimeError(
            f"{name}: input must be a vector with elements or a batch of such vectors, but its "
            f"shape is {list(input.shape)}"
        )
    single = input.ndim <= 1
    if single:
        input = op.reshape(input, (1, -1))
        target = op.reshape(target, (1, -1))
    return input, target, single


@composite(
    names=["nn.functional.multi_margin_loss"],
    methods=[],
    samples=loss_samples(_VECTORS, Draw((3,), 0, 4, dtype=dtypes.int64)),
)
def multi_margin_loss(
    input,
    target,
    p: int = 1,
    margin: Operand = 1.0,
    weight=None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
):
    """The sum over the other classes of max(margin - input[target] + input, 0) ** p, over the
    number of classes.
    """
    reduction = reduction_of(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError(f"multi_margin_loss: p must be 1 or 2, not {p}")
    if weight is not None and weight.ndim != 1:
        raise ValueError(
            "weight must be one-dimensional, but it has shape "
            f"{list(weight.shape)} (in multi_margin_loss)"
        )
    _refuse_half("multi_margin_loss", input)
    x, y, single = _rows(input, target, "multi_margin_loss")
    y = op.reshape(y, (-1,))
    count, classes = x.shape
    if target.ndim > 1 or y.shape[0] != count:
        raise RuntimeError(
            f"multi_margin_loss: target must have shape [{count}], a class for each row of "
            f"input, {list(input.shape)}, not {list(target.shape)}"
        )
    if target.dtype is not dtypes.int64:
        raise RuntimeError(
            f"expected scalar type Long but found {scalar_type_name(target.dtype)} (in "
            "multi_margin_loss)"
        )
    if weight is not None and weight.shape[0] != classes:
        raise RuntimeError(
            f"inconsistent weight size, expected {classes} but got {list(weight.shape)} (in "
            "multi_margin_loss)"
        )
    column = build.insert_dim(y, 1)
    distance = op.clamp_min(x - gather_primitive.apply(x, column, dim=1) + margin, 0)
    loss = distance * distance if p == 2 else distance
    if weight is not None:
        loss = loss * build.insert_dim(gather_primitive.apply(weight, y, dim=0), 1)
    position = build.reshape(build.iota(classes), (1, classes))
    loss = op.sum(build.select_where(position == column, 0, loss, loss.dtype), 1) / classes
    return reduced(op.reshape(loss, ()) if single else loss, reduction)


@composite(
    names=["nn.functional.multilabel_margin_loss"],
    methods=[],
    samples=loss_samples(_VECTORS, Draw((3, 4), 0, 4, dtype=dtypes.int64)),
)
def multilabel_margin_loss(
    input,
    target,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
):
    """The sum over targets (classes, up to the first -1) and over other classes of
    max(1 - input[target] + input, 0), over the number of classes.
    """
    reduction = reduction_of(reduction, size_average, reduce)
    _refuse_half("multilabel_margin_loss", input)
    x, y, single = _rows(input, target, "multilabel_margin_loss")
    if target.ndim != input.ndim or tuple(y.shape) != tuple(x.shape):
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: "
            f"{list(input.shape)} (in multilabel_margin_loss)"
        )
    if target.dtype is not dtypes.int64:
        raise RuntimeError(
            f"expected scalar type Long but found {scalar_type_name(target.dtype)} (in "
            "multilabel_margin_loss)"
        )
    count, classes = x.shape
    y = require_range(y, -1, classes - 1, "argument #2 'target' is out of range")
    listed = op.cumsum(build.convert(y < 0, dtypes.int64), 1) == 0
    place = build.select_where(listed, y, 0, dtypes.int64)
    wanted = gather_primitive.apply(x, place, dim=1)
    position = build.reshape(build.iota(classes), (1, 1, classes))
    hits = (build.insert_dim(place, 2) == position) & build.insert_dim(listed, 2)
    is_target = build.convert(op.any(hits, 1), dtypes.bool)
    distance = op.clamp_min(1 - build.insert_dim(wanted, 2) + build.insert_dim(x, 1), 0)
    counted = build.insert_dim(listed, 2) & ~build.insert_dim(is_target, 1)
    total = op.sum(build.select_where(counted, distance, 0, distance.dtype), (1, 2)) / classes
    return reduced(op.reshape(total, ()) if single else total, reduction)


@composite(
    names=["nn.functional.multilabel_soft_margin_loss"],
    methods=[],
    samples=loss_samples(_VECTORS, Draw((3, 4), 0, 1)),
)
def multilabel_soft_margin_loss(
    input,
    target,
    weight=None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
):
    """The mean over classes of the negative log-likelihood of each being a target or not."""
    reduction = reduction_of(reduction, size_average, reduce)
    log_sigmoid = getattr(op, "nn.functional.logsigmoid")
    positive, negative = (build.kept(log_sigmoid(x)) for x in (input, -input))
    loss = -(target * positive + (1 - target) * negative)
    if weight is not None:
        loss = loss * weight
    classes = input.shape[input.ndim - 1]
    return reduced(op.sum(loss, loss.ndim - 1) / classes, reduction)
