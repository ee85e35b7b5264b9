"""Scaling to unit norm."""

from __future__ import annotations

from .norms import vector_norm
from .record import Dim, Operand, Selector, Tensor, composite, op
from .samples import Draw, calls


@composite(
    names=["nn.functional.normalize"],
    methods=[],
    out=True,
    laid_out_as=["input"],
    onnx="LpNormalization",
    samples=calls((Draw((3, 4)),), (Draw((2, 3, 4)), 1.0, 2), (Draw((5,)), 3.0, 0)),
)
def normalize(input: Tensor, p: Selector = 2.0, dim: Dim = 1, eps: Operand = 1e-12):
    """The input divided by its norm of order p over dim, or by eps if the norm is less."""
    return input / op.clamp_min(vector_norm(input, p, dim, True), eps)
