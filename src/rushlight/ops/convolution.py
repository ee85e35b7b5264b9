"""Convolutions over one, two and three dims, and transposed ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..graph.trace import Traced
from ..promotion import scalar_type_name
from . import build
from .convolution_maps import convolution_input_primitive, convolution_primitive
from .record import Dim, Selector, Tensor, composite
from .samples import Draw, Samples, calls

# ---------------------------------------------------------------- arguments


def _each_dim(name: str, label: str, argument: Any, rank: int, least: int) -> tuple[int, ...]:
    """An option given for all dims at once, or one for each."""
    values = tuple(argument) if isinstance(argument, list | tuple) else (argument,)
    if len(values) == 1:
        values *= rank
    if len(values) != rank:
        raise RuntimeError(
            f"expected {label} to be a single integer value or a list of {rank} values to match "
            f"the convolution dimensions, but got {label}={list(values)} (in {name})"
        )
    for value in values:
        if not hasattr(value, "__index__"):
            raise TypeError(f"{name}(): argument '{label}' must be tuple of ints, not {argument!r}")
        if value < least:
            kind = "negative" if least == 0 else "non-positive"
            raise RuntimeError(f"{kind} {label} is not supported (in {name}: {list(values)})")
    return values


def _check_operands(
    name: str, input: Traced, weight: Traced, bias: Any, groups: int, rank: int, transposed: bool
) -> None:
    if input.ndim not in (rank + 1, rank + 2):
        raise RuntimeError(
            f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input to {name}, but got "
            f"input of size: {list(input.shape)}"
        )
    if weight.ndim != rank + 2:
        raise RuntimeError(
            f"{name}: expected weight of {rank + 2} dims, but got size {list(weight.shape)}"
        )
    if groups < 1:
        raise RuntimeError(f"non-positive groups is not supported (in {name}: {groups})")
    if weight.shape[0] % groups != 0 or weight.shape[0] == 0:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} and at least "
            f"{groups} at dimension 0, but got weight of size {list(weight.shape)} (in {name})"
        )
    channels = input.shape[input.ndim - rank - 1]
    expected = weight.shape[0] if transposed else weight.shape[1] * groups
    if channels != expected:
        given = "transposed=1" if transposed else f"groups={groups}"
        raise RuntimeError(
            f"Given {given}, weight of size {list(weight.shape)}, expected input"
            f"{list(input.shape)} to have {expected} channels, but got {channels} channels "
            f"instead (in {name})"
        )
    outputs = weight.shape[1] * groups if transposed else weight.shape[0]
    if bias is not None and (bias.ndim != 1 or bias.shape[0] != outputs):
        raise RuntimeError(
            f"Given weight of size {list(weight.shape)}, expected bias to be 1-dimensional with "
            f"{outputs} elements, but got bias of size {list(bias.shape)} instead (in {name})"
        )
    _check_dtypes(name, input, weight, bias)


def _check_dtypes(name: str, input: Traced, weight: Traced, bias: Any) -> None:
    for label, x in (("weight", weight), ("bias", bias)):
        if x is not None and x.dtype is not input.dtype:
            raise RuntimeError(
                f"Input type ({scalar_type_name(input.dtype)}) and {label} type "
                f"({scalar_type_name(x.dtype)}) should be the same (in {name})"
            )
    if input.dtype is dtypes.bool:
        raise NotImplementedError(f"\"{name}\" not implemented for 'Bool'; convert the input")


def _with_bias(y: Traced, bias: Any, rank: int) -> Traced:
    return y if bias is None else y + build.reshape(bias, (bias.shape[0], *[1] * rank))


# ---------------------------------------------------------------- convolution


def _padding_of(
    name: str, padding: Any, weight: Traced, stride: Sequence[int], dilation: Sequence[int]
) -> list[tuple[Any, Any]]:
    """How much is added before and after each dim."""
    rank = len(stride)
    if not isinstance(padding, str):
        return [(p, p) for p in _each_dim(name, "padding", padding, rank, 0)]
    if padding == "valid":
        return [(0, 0)] * rank
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}' (in {name}: 'valid' or 'same')")
    if any(step != 1 for step in stride):
        raise RuntimeError(f"padding='same' is not supported for strided convolutions (in {name})")
    totals = [(weight.shape[2 + d] - 1) * dilation[d] for d in range(rank)]
    return [(total // 2, total - total // 2) for total in totals]


def _padded(x: Traced, padding: Sequence[tuple[Any, Any]]) -> Traced:
    first = x.ndim - len(padding)
    for d, (before, after) in enumerate(padding, start=first):
        if not (before == 0 and after == 0):
            x = build.pad(x, d, before, x.shape[d] + before + after)
    return x


def _convolve(
    name: str,
    rank: int,
    input: Traced,
    weight: Traced,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Traced:
    _check_operands(name, input, weight, bias, groups, rank, False)
    stride = _each_dim(name, "stride", stride, rank, 1)
    dilation = _each_dim(name, "dilation", dilation, rank, 1)
    x = input if input.ndim == rank + 2 else build.insert_dim(input, 0)
    x = _padded(x, _padding_of(name, padding, weight, stride, dilation))
    spans = [(taps - 1) * d + 1 for taps, d in zip(weight.shape[2:], dilation, strict=True)]
    if any(taps == 0 for taps in weight.shape[2:]) or any(
        size < span for size, span in zip(x.shape[2:], spans, strict=True)
    ):
        sizes, kernel = (" x ".join(map(str, each)) for each in (x.shape[2:], spans))
        raise RuntimeError(
            f"{name}: Kernel size can't be greater than the padded input, but the kernel spans "
            f"({kernel}) of its ({sizes}); pad more, or take a smaller kernel or dilation"
        )
    y = convolution_primitive.apply(x, weight, stride=stride, dilation=dilation, groups=groups)
    y = _with_bias(y, bias, rank)
    return y if input.ndim == rank + 2 else build.drop_dims(y, (0,))


def _sizes(rank: int, *lead: int) -> tuple[int, ...]:
    return (*lead, *(7, 6, 5)[:rank])


def _numeric(samples: Samples, least: int = 1) -> Samples:
    """The samples for numbers of at least so many bytes."""
    return lambda dtype: iter(()) if dtype.kind == "b" or dtype.itemsize < least else samples(dtype)


def _convolution_samples(rank: int) -> Samples:
    kernel = (3, 2, 2)[:rank]
    samples = calls(
        (Draw(_sizes(rank, 2, 4)), Draw((6, 4, *kernel)), Draw((6,))),
        (
            (Draw(_sizes(rank, 2, 4)), Draw((6, 2, *kernel))),
            {"stride": 2, "padding": 1, "groups": 2},
        ),
        ((Draw(_sizes(rank, 4)), Draw((4, 1, *kernel))), {"groups": 4, "padding": "same"}),
        ((Draw(_sizes(rank, 1, 2)), Draw((3, 2, *kernel))), {"dilation": 2, "padding": 2}),
        (Draw(_sizes(rank, 0, 2)), Draw((3, 2, *kernel))),
        (Draw(_sizes(rank, 2, 3)), Draw((2, 3, *[1] * rank))),
    )
    return _numeric(samples)


def _convolution(rank: int) -> Any:
    name = f"conv{rank}d"

    def convolution(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Dim = 1,
        padding: Selector = 0,
        dilation: Dim = 1,
        groups: int = 1,
    ):
        return _convolve(name, rank, input, weight, bias, stride, padding, dilation, groups)

    convolution.__doc__ = f"""Slide weight over the last {rank} dims of input, adding up products.

    Args:
        input: ``[batch, in, *sizes]``, or without the batch.
        weight: ``[out, in / groups, *kernel]``.
        bias: ``[out]``.
        stride, dilation: how far apart windows, and the elements in one, are.
        padding: zeros at both ends of each dim; "same" keeps the sizes, "valid" adds none.
        groups: the channels are split into so many parts, each with its part of the weight.

    Returns:
        ``[batch, out, *lengths]`` with lengths ``(size + 2 * padding - dilation * (kernel - 1) - 1)
        // stride + 1``.

    Raises:
        RuntimeError: sizes or dtypes do not fit.
    """
    return composite(
        name=name,
        names=[name, f"nn.functional.{name}"],
        methods=[],
        channels_as=["input", "weight"],
        onnx="Conv",
        samples=_convolution_samples(rank),
    )(convolution)


conv1d = _convolution(1)
conv2d = _convolution(2)
conv3d = _convolution(3)


# ---------------------------------------------------------------- transposed convolution


def _convolve_transposed(
    name: str,
    rank: int,
    input: Traced,
    weight: Traced,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Traced:
    _check_operands(name, input, weight, bias, groups, rank, True)
    stride = _each_dim(name, "stride", stride, rank, 1)
    padding = _each_dim(name, "padding", padding, rank, 0)
    extra = _each_dim(name, "output_padding", output_padding, rank, 0)
    dilation = _each_dim(name, "dilation", dilation, rank, 1)
    if any(e >= s and e >= d for e, s, d in zip(extra, stride, dilation, strict=True)):
        raise RuntimeError(
            f"{name}: output padding must be smaller than stride or dilation, but "
            f"output_padding={list(extra)}, stride={list(stride)} and "
            f"dilation={list(dilation)}"
        )
    y = input if input.ndim == rank + 2 else build.insert_dim(input, 0)
    if any(size == 0 for size in (*y.shape[2:], *weight.shape[2:])):
        raise RuntimeError(
            f"{name}: only the batch and the channels may be empty, but input has shape "
            f"{list(input.shape)} and weight {list(weight.shape)}"
        )
    full = tuple(
        (size - 1) * s + (taps - 1) * d + 1
        for size, taps, s, d in zip(y.shape[2:], weight.shape[2:], stride, dilation, strict=True)
    )
    x = convolution_input_primitive.apply(
        y, weight, stride=stride, dilation=dilation, groups=groups, sizes=full
    )
    for d in range(rank):
        length = full[d] + extra[d] - 2 * padding[d]
        if length <= 0:
            raise RuntimeError(
                f"{name}: the output's size in dim {d} would be {length}: padding of "
                f"{padding[d]} leaves nothing of {full[d]} elements"
            )
        if extra[d] > padding[d]:
            x = build.pad(x, 2 + d, 0, full[d] + extra[d] - padding[d])
        if padding[d] != 0:
            x = build.slice_(x, 2 + d, padding[d], 1, length)
    x = _with_bias(x, bias, rank)
    return x if input.ndim == rank + 2 else build.drop_dims(x, (0,))


def _transposed_samples(rank: int) -> Samples:
    kernel = (3, 2, 2)[:rank]
    samples = calls(
        (Draw(_sizes(rank, 2, 4)), Draw((4, 3, *kernel)), Draw((3,))),
        (
            (Draw(_sizes(rank, 2, 4)), Draw((4, 3, *kernel))),
            {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2},
        ),
        ((Draw(_sizes(rank, 4)), Draw((4, 1, *kernel))), {"groups": 4}),
        ((Draw(_sizes(rank, 1, 2)), Draw((2, 3, *kernel))), {"dilation": 2, "padding": 1}),
        (Draw(_sizes(rank, 0, 2)), Draw((2, 3, *kernel))),
    )
    return _numeric(samples, 4)  # in half precision PyTorch is inaccurate


def _transposed_convolution(rank: int) -> Any:
    name = f"conv_transpose{rank}d"

    def convolution(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Dim = 1,
        padding: Dim = 0,
        output_padding: Dim = 0,
        groups: int = 1,
        dilation: Dim = 1,
    ):
        return _convolve_transposed(
            name, rank, input, weight, bias, stride, padding, output_padding, groups, dilation
        )

    convolution.__doc__ = f"""The gradient of conv{rank}d with respect to its input.

    Args:
        input: ``[batch, in, *sizes]``, or without the batch.
        weight: ``[in, out / groups, *kernel]``.
        bias: ``[out]``.
        stride, dilation, groups: of the convolution of which this is the gradient.
        padding: how much is cut off at both ends of each dim.
        output_padding: zeros at the end of each dim.

    Returns:
        ``[batch, out, *lengths]`` with lengths ``(size - 1) * stride - 2 * padding + dilation *
        (kernel - 1) + output_padding + 1``.

    Raises:
        RuntimeError: sizes or dtypes do not fit.
    """
    return composite(
        name=name,
        names=[name, f"nn.functional.{name}"],
        methods=[],
        channels_as=["input", "weight"],
        onnx="ConvTranspose",
        samples=_transposed_samples(rank),
    )(convolution)


conv_transpose1d = _transposed_convolution(1)
conv_transpose2d = _transposed_convolution(2)
conv_transpose3d = _transposed_convolution(3)
