"""Dropout."""

from __future__ import annotations

from typing import Any

from ..graph.symbols import same_shape
from ..layout import numel
from . import build
from .random_numbers import Layout, double_uniform, layout_like
from .record import Operand, composite, op


def _check(p: Any, name: str) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"{name}: dropout probability has to be in [0, 1], but is {p}")


def _layout(input: Any, noise_shape: Any) -> Layout:
    """Noise for each element lies as the input."""
    if same_shape(noise_shape, input.shape):
        return layout_like(input, None, "dropout")
    return lambda noise: noise


def _dropped(input: Any, p: Any, training: bool, noise_shape: Any, name: str) -> Any:
    _check(p, name)
    if not training or p == 0:
        return input
    if p == 1:
        return input * 0
    keep = double_uniform(noise_shape, None, _layout(input, noise_shape)) < 1 - p
    return input * build.convert(keep, input.dtype) * (1 / (1 - p))


@composite(
    names=["dropout", "nn.functional.dropout"],
    methods=[],
    random=True,
    laid_out_as=["input"],
    onnx="Dropout",
)
def dropout(input, p: Operand = 0.5, training: bool = True, inplace: bool = False):
    """Set elements to zero with probability p and scale the others by 1 / (1 - p)."""
    return _dropped(input, p, training, input.shape, "dropout")


def _channels(name: str, batch_rank: int, spatial: int) -> Any:
    def body(input, p: Operand = 0.5, training: bool = True, inplace: bool = False):
        lead = input.ndim - spatial
        if lead not in (batch_rank - 1, batch_rank):
            raise RuntimeError(
                f"{name}: expected input with {spatial + 1} or {spatial + 2} dims, but got shape "
                f"{list(input.shape)}"
            )
        noise_shape = (*input.shape[:lead], *[1] * spatial)
        return _dropped(input, p, training, noise_shape, name)

    body.__doc__ = f"Drop whole channels of {spatial} dims with probability p and scale the others."
    return composite(
        names=[f"nn.functional.{name}"], methods=[], random=True, laid_out_as=["input"]
    )(body)


dropout1d = _channels("dropout1d", 2, 1)
dropout2d = _channels("dropout2d", 2, 2)
dropout3d = _channels("dropout3d", 2, 3)


# ---------------------------------------------------------------- keeping mean and variance


def _alpha_dropped(input: Any, p: Any, training: bool, noise_shape: Any, name: str) -> Any:
    """Dropped elements become the value that selu has at minus infinity; then all are scaled and
    shifted to keep mean and variance (Klambauer et al. 2017, section 3).
    """
    _check(p, name)
    if not training or p == 0 or numel(input.shape) == 0:
        return input
    if p == 1:
        return input * 0
    if not input.dtype.is_floating_point:
        raise RuntimeError(
            f"{name}: result type Float can't be cast to {input.dtype}; give a floating-point input"
        )
    alpha = 1.7580993408473766
    keep = double_uniform(noise_shape, None, _layout(input, noise_shape)) < 1 - p
    a = 1 / ((alpha * alpha * p + 1) * (1 - p)) ** 0.5
    dropped = op.where(keep, 0.0, -alpha * a)
    shift = alpha * a * p
    scale = op.where(keep, a, 0.0)
    x = build.widened(input)
    return build.convert(x * scale + (dropped + shift), input.dtype)


@composite(names=["alpha_dropout"], methods=[], random=True, laid_out_as=["input"])
def alpha_dropout(input, p: Operand, train: bool):
    """Dropout that keeps mean and variance of selu's results."""
    return _alpha_dropped(input, p, train, input.shape, "alpha_dropout")


@composite(
    name="functional_alpha_dropout",
    names=["nn.functional.alpha_dropout"],
    methods=[],
    random=True,
    laid_out_as=["input"],
)
def functional_alpha_dropout(
    input, p: Operand = 0.5, training: bool = False, inplace: bool = False
):
    """Dropout that keeps mean and variance of selu's results."""
    return _alpha_dropped(input, p, training, input.shape, "alpha_dropout")


def _channel_noise(input: Any) -> tuple[Any, ...]:
    if input.ndim < 2:
        raise RuntimeError(
            "feature dropout drops whole channels, so input needs at least 2 dimensions, not "
            f"{input.ndim}"
        )
    return (*input.shape[:2], *[1] * (input.ndim - 2))


@composite(names=["feature_dropout"], methods=[], random=True, laid_out_as=["input"])
def feature_dropout(input, p: Operand, train: bool):
    """Dropout of whole channels."""
    shape = _channel_noise(input) if train and p != 0 else ()
    return _dropped(input, p, train, shape, "feature_dropout")


@composite(names=["feature_alpha_dropout"], methods=[], random=True, laid_out_as=["input"])
def feature_alpha_dropout(input, p: Operand, train: bool):
    """alpha_dropout of whole channels."""
    shape = _channel_noise(input) if train and p != 0 else ()
    return _alpha_dropped(input, p, train, shape, "feature_alpha_dropout")


@composite(
    name="functional_feature_alpha_dropout",
    names=["nn.functional.feature_alpha_dropout"],
    methods=[],
    random=True,
    laid_out_as=["input"],
)
def functional_feature_alpha_dropout(
    input, p: Operand = 0.5, training: bool = False, inplace: bool = False
):
    """alpha_dropout of whole channels."""
    return feature_alpha_dropout(input, p, training)
