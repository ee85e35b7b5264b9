"""Softmax and normalisation."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.trace import Traced, warn_user
from ..layout import normalize_dim, numel
from ..promotion import scalar_type_name
from . import build
from .conversion import require_dtype
from .record import Operand, Size, Tensor, composite, op
from .samples import Draw, calls, with_dim


def _softmax_input(input: Traced, dtype: DType | None, name: str) -> Traced:
    if dtype is not None:
        input = build.convert(input, require_dtype(dtype, name))
    if not input.dtype.is_floating_point:
        raise NotImplementedError(
            f"\"{name}\" not implemented for '{scalar_type_name(input.dtype)}'; convert the input "
            "or give dtype="
        )
    return input


def _shifted(x: Traced, dim: int) -> Traced:
    """x minus its maximum along dim: its exponential cannot overflow."""
    if x.shape[dim] == 0:
        return x
    return x - op.detach(op.amax(x, dim, True))


def _softmax_derivative(g: Any, out: Any, input: Any, dim: int, dtype: DType | None = None) -> Any:
    dim = normalize_dim(dim, out.ndim)
    g, out = build.widened(g), build.widened(out)
    weighted = g * out
    total = build.reduce_sum(weighted, (dim,)) if out.ndim else weighted
    return build.convert(weighted - out * total, input.dtype)


@composite(
    names=["softmax", "special.softmax"],
    methods=["softmax"],
    derivative=_softmax_derivative,
    out="same dtype",
    onnx="Softmax",
    samples=with_dim(rank=(1, 4)),
)
def softmax(input, dim: int, dtype: DType | None = None):
    """Scale exp(input) to sum to one along dim; shifting by the maximum prevents overflow."""
    input = _softmax_input(input, dtype, "softmax")
    dim = normalize_dim(dim, input.ndim)
    if not input.ndim:
        return op.softmax(build.reshape(input, (1,)), 0).reshape(())
    exponentials = op.exp(_shifted(build.widened(input), dim))
    factor = op.reciprocal(build.reduce_sum(exponentials, (dim,)))  # one division a row
    return build.convert(exponentials * factor, input.dtype)


def _log_softmax_derivative(
    g: Any, out: Any, input: Any, dim: int, dtype: DType | None = None
) -> Any:
    dim = normalize_dim(dim, out.ndim)
    g, out = build.widened(g), build.widened(out)
    total = build.reduce_sum(g, (dim,)) if out.ndim else g
    return build.convert(g - op.exp(out) * total, input.dtype)


@composite(
    names=["log_softmax", "special.log_softmax"],
    methods=["log_softmax"],
    derivative=_log_softmax_derivative,
    out="same dtype",
    onnx="LogSoftmax",
    samples=with_dim(rank=(1, 4)),
)
def log_softmax(input, dim: int, dtype: DType | None = None):
    """The logarithm of softmax."""
    input = _softmax_input(input, dtype, "log_softmax")
    dim = normalize_dim(dim, input.ndim)
    if not input.ndim:
        return op.log_softmax(build.reshape(input, (1,)), 0).reshape(())
    shifted = _shifted(build.widened(input), dim)
    return build.convert(shifted - op.log(build.reduce_sum(op.exp(shifted), (dim,))), input.dtype)


def _implicit_dim(input: Traced, dim: int | None, name: str) -> int:
    """The dim that PyTorch's nn.functional takes when none is given."""
    if dim is None:
        warn_user(
            f"Implicit dimension choice for {name} is deprecated, since it varies with the "
            "rank of input; pass dim="
        )
        return 0 if input.ndim in (0, 1, 3) else 1
    return dim


@composite(
    name="functional_softmax", names=["nn.functional.softmax"], methods=[], samples=with_dim()
)
def functional_softmax(
    input, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
):
    """Scale exp(input) to sum to one along dim."""
    return op.softmax(input, _implicit_dim(input, dim, "softmax"), dtype)


@composite(
    name="functional_log_softmax",
    names=["nn.functional.log_softmax"],
    methods=[],
    samples=with_dim(),
)
def functional_log_softmax(
    input, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
):
    """The logarithm of softmax."""
    return op.log_softmax(input, _implicit_dim(input, dim, "log_softmax"), dtype)


@composite(name="softmin", names=["nn.functional.softmin"], methods=[], samples=with_dim())
def softmin(input, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None):
    """softmax of -input."""
    return op.softmax(-input, _implicit_dim(input, dim, "softmin"), dtype)


def _normalized_dims(
    input: Traced, normalized_shape: Any, weight: Any, bias: Any, name: str
) -> tuple[int, ...]:
    shape = (
        tuple(normalized_shape)
        if isinstance(normalized_shape, list | tuple)
        else (normalized_shape,)
    )
    if not shape:
        raise RuntimeError(f"{name}: normalized_shape must name at least one size, but is {shape}")
    if len(shape) > input.ndim or tuple(input.shape[input.ndim - len(shape) :]) != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, "
            f"{', '.join(map(str, shape))}], but got input of "
            f"size{list(input.shape)} (in {name})"
        )
    for label, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and tuple(parameter.shape) != shape:
            raise RuntimeError(
                f"{name}: {label} must have the shape normalized_shape={list(shape)}, not "
                f"{list(parameter.shape)}"
            )
    return tuple(range(input.ndim - len(shape), input.ndim))


_LAYER_NORM_SAMPLES = (
    (Draw((4, 5)), (5,), None, None, 1e-05),
    (Draw((2, 3, 4)), (3, 4), Draw((3, 4)), Draw((3, 4)), 1e-05),
    (Draw((4, 5)), (5,), Draw((5,)), None, 1e-05),
    (Draw((2, 3)), [3], None, None, 0.1),
)


@composite(
    names=["layer_norm", "nn.functional.layer_norm"],
    methods=[],
    onnx="LayerNormalization",
    samples=calls(*_LAYER_NORM_SAMPLES),
)
def layer_norm(
    input,
    normalized_shape: Size,
    weight=None,
    bias=None,
    eps: Operand = 1e-05,
    cudnn_enable: bool = True,
):
    """Shift and scale to mean 0 and variance 1 over the last dims, then apply weight and bias."""
    return native_layer_norm(input, normalized_shape, weight, bias, eps)[0]


@composite(names=["native_layer_norm"], methods=[], samples=calls(*_LAYER_NORM_SAMPLES))
def native_layer_norm(
    input, normalized_shape: Size, weight: Tensor | None, bias: Tensor | None, eps: Operand
):
    """What layer_norm gives, the means, and one over the standard deviations."""
    dims = _normalized_dims(input, normalized_shape, weight, bias, "layer_norm")
    if not input.dtype.is_floating_point:
        raise NotImplementedError(
            f"\"LayerNormKernelImpl\" not implemented for '{scalar_type_name(input.dtype)}'"
        )
    x = build.widened(input)
    count = numel(tuple(x.shape[dim] for dim in dims))
    mean = build.reduce_sum(x, dims) / count
    distance = x - mean
    variance = build.reduce_sum(distance * distance, dims) / count
    scale = op.rsqrt(variance + eps)
    result = distance * scale
    if weight is not None:
        result = result * build.widened(weight)
    if bias is not None:
        result = result + build.widened(bias)
    return tuple(build.convert(each, input.dtype) for each in (result, mean, scale))


@composite(
    names=["rms_norm", "nn.functional.rms_norm"],
    methods=[],
    samples=calls(
        (Draw((4, 5)), (5,)),
        (Draw((2, 3, 4)), (4,), Draw((4,))),
        ((Draw((2, 3)), [3]), {"eps": 0.1}),
    ),
)
def rms_norm(input, normalized_shape: Size, weight=None, eps: Operand = None):
    """Scale by the root of the mean square over the last dims."""
    dims = _normalized_dims(input, normalized_shape, weight, None, "rms_norm")
    x = build.widened(input)
    if eps is None:
        eps = {dtypes.float64: 2.0**-52}.get(x.dtype, 2.0**-23)
    count = numel(tuple(x.shape[dim] for dim in dims))
    result = x * op.rsqrt(build.reduce_sum(x * x, dims) / count + eps)
    return build.convert(result if weight is None else result * build.widened(weight), input.dtype)
