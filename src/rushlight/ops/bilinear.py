"""Bilinear maps of two vectors."""

from __future__ import annotations

from .. import dtypes
from ..layout import numel
from . import build
from .record import Tensor, composite, op
from .samples import Draw, calls


@composite(
    names=["nn.functional.bilinear", "bilinear"],
    methods=[],
    samples=calls(
        (Draw((3, 4)), Draw((3, 5)), Draw((2, 4, 5)), Draw((2,))),
        (Draw((2, 3, 4)), Draw((2, 3, 1)), Draw((2, 4, 1))),
        (Draw((4,)), Draw((5,)), Draw((2, 4, 5))),
    ),
)
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias=None):
    """input1 @ weight @ input2 + bias for each matrix in weight.

    Args:
        input1: ``[*, in1]``.
        input2: ``[*, in2]``, with the same leading sizes.
        weight: ``[out, in1, in2]``.
        bias: ``[out]`` or None.

    Returns:
        ``[*, out]``.
    """
    _check(input1, input2, weight, bias)
    lead = tuple(input1.shape[:-1])
    out, size1, size2 = weight.shape
    count = numel(lead)
    left = build.reshape(input1, (count, size1))
    right = build.reshape(input2, (count, size2, 1))
    matrix = build.reshape(build.permute(weight, (1, 0, 2)), (size1, out * size2))
    products = op.matmul(build.reshape(op.matmul(left, matrix), (count, out, size2)), right)
    result = build.reshape(products, (*lead, out))
    return result if bias is None else result + bias


def _check(input1, input2, weight, bias) -> None:
    if input1.ndim != input2.ndim:
        raise RuntimeError(
            f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}"
        )
    if input1.ndim == 0 or weight.ndim != 3:
        raise RuntimeError(
            "bilinear(): inputs have at least 1 dimension and weight has 3, but got shapes "
            f"{list(input1.shape)}, {list(input2.shape)} and {list(weight.shape)}"
        )
    for dim in range(input1.ndim - 1):
        if input1.shape[dim] != input2.shape[dim]:
            raise RuntimeError(
                f"bilinear(): batch dimensions do not match: dim {dim} has size "
                f"{input1.shape[dim]} in input1 and {input2.shape[dim]} in input2"
            )
    for number, x in enumerate((input1, input2), start=1):
        if x.shape[-1] != weight.shape[number]:
            raise RuntimeError(
                f"bilinear(): input{number} size does not match weight size: got {x.shape[-1]} but "
                f"expected {weight.shape[number]}"
            )
    if bias is not None and (bias.ndim != 1 or bias.shape[0] != weight.shape[0]):
        raise RuntimeError(
            f"bilinear(): bias must have shape [{weight.shape[0]}], a value per output "
            f"feature, not {list(bias.shape)}"
        )
    if weight.dtype is dtypes.bool:
        raise NotImplementedError("\"bilinear\" not implemented for 'Bool'")
    operands = (input1, input2, weight) if bias is None else (input1, input2, weight, bias)
    if len({x.dtype for x in operands}) > 1:
        raise RuntimeError(
            "bilinear(): all arguments have one dtype, but got "
            + ", ".join(str(x.dtype) for x in operands)
        )
