"""Products of matrices and vectors."""

from __future__ import annotations

import numpy

from ..graph.trace import Traced
from ..layout import broadcast_shapes, numel
from . import build
from .checks import require_same_dtype
from .kinds import Contraction
from .record import Operand, composite, primitive
from .samples import Draw, calls


def adjoint(x: Traced) -> Traced:
    """The conjugate transpose of the last two dims."""
    dims = list(range(x.ndim))
    dims[-2:] = dims[-1], dims[-2]
    return build.conjugate(build.permute(x, dims))


@primitive(
    Contraction(),
    name="matmul",
    reference=numpy.matmul,
    transpose=(
        lambda g, a, b: matmul_primitive.apply(g, adjoint(b)),
        lambda g, a, b: matmul_primitive.apply(adjoint(a), g),
    ),
)
def matmul_primitive(a, b):
    """The matrix product of a [..., m, k] and b [..., k, n]."""


def _check_inner(name: str, a: Traced, b: Traced) -> None:
    if a.shape[-1] != b.shape[-2]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a.shape[-2]}x{a.shape[-1]} and "
            f"{b.shape[-2]}x{b.shape[-1]}) (in {name}: "
            f"shapes {list(a.shape)} and {list(b.shape)})"
        )


def _ranks(name: str, **expected: tuple[Traced, int]) -> None:
    for label, (x, rank) in expected.items():
        if x.ndim != rank:
            raise RuntimeError(
                f"{name}: {label} must be a {rank}D tensor, got {x.ndim}D of shape {list(x.shape)}"
            )


@composite(
    names=["matmul", "linalg.matmul"],
    methods=["matmul", "__matmul__"],
    out="same dtype",
    onnx="MatMul",
    samples=calls(
        (Draw((3,)), Draw((3,))),
        (Draw((2, 3)), Draw((3,))),
        (Draw((3,)), Draw((3, 4))),
        (Draw((2, 3)), Draw((3, 4))),
        (Draw((5, 2, 3)), Draw((3, 4))),
        (Draw((2, 3)), Draw((5, 3, 4))),
        (Draw((5, 2, 3)), Draw((5, 3, 4))),
        (Draw((2, 1, 2, 3)), Draw((5, 3, 4))),
        (Draw((5, 2, 3)), Draw((3,))),
        (Draw((3,)), Draw((5, 3, 4))),
        (Draw((0, 3)), Draw((3, 4))),
        (Draw((2, 0)), Draw((0, 4))),
    ),
)
def matmul(input, other):
    """The matrix product; a vector counts as a row on the left and a column on the right; batch
    dims broadcast.
    """
    if not (input.ndim and other.ndim):
        raise RuntimeError(
            f"matmul: both arguments need at least one dimension, but have {input.ndim} and "
            f"{other.ndim}; multiply by a scalar with mul()"
        )
    require_same_dtype("matmul", input=input, other=other)
    a = build.insert_dim(input, 0) if input.ndim == 1 else input
    b = build.insert_dim(other, 1) if other.ndim == 1 else other
    _check_inner("matmul", a, b)
    result = _product(a, b)
    if input.ndim == 1:
        result = build.drop_dims(result, (result.ndim - 2,))
    return build.drop_dims(result, (result.ndim - 1,)) if other.ndim == 1 else result


def _product(a: Traced, b: Traced) -> Traced:
    """Of matrices, batch dims broadcast.

    One matrix on the right for a whole batch is a single large product.
    """
    if b.ndim == 2:
        rows = build.reshape(a, (numel(a.shape[:-1]), a.shape[-1]))
        return build.reshape(matmul_primitive.apply(rows, b), (*a.shape[:-1], b.shape[-1]))
    batch = broadcast_shapes([a.shape[:-2], b.shape[:-2]], "matmul")
    a, b = (build.expand(x, (*batch, *x.shape[-2:])) for x in (a, b))
    return matmul_primitive.apply(a, b)


@composite(names=["mm"], out="same dtype", samples=calls((Draw((2, 3)), Draw((3, 4)))))
def mm(input, mat2):
    """The product of two matrices."""
    _ranks("mm", self=(input, 2), mat2=(mat2, 2))
    return matmul(input, mat2)


@composite(names=["bmm"], out="same dtype", samples=calls((Draw((5, 2, 3)), Draw((5, 3, 4)))))
def bmm(input, mat2):
    """The products of two batches of matrices."""
    _ranks("bmm", batch1=(input, 3), batch2=(mat2, 3))
    if input.shape[0] != mat2.shape[0] or input.shape[2] != mat2.shape[1]:
        raise RuntimeError(
            f"bmm: batch2 must have {input.shape[0]} matrices of {input.shape[2]} rows to "
            f"follow batch1, but has {mat2.shape[0]} of {mat2.shape[1]}"
        )
    require_same_dtype("bmm", input=input, mat2=mat2)
    return _product(input, mat2)


@composite(names=["mv"], out="same dtype", samples=calls((Draw((2, 3)), Draw((3,)))))
def mv(input, vec):
    """The product of a matrix and a vector."""
    if not input.ndim:
        raise IndexError("mv: input must be a matrix, but has no dimensions")
    _ranks("mv", input=(input, 2), vec=(vec, 1))
    return matmul(input, vec)


@composite(names=["dot"], out="same dtype", samples=calls((Draw((3,)), Draw((3,)))))
def dot(input, tensor):
    """The sum of the products of two vectors' elements."""
    _ranks("dot", input=(input, 1), tensor=(tensor, 1))
    if input.shape[0] != tensor.shape[0]:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{input.shape[0]}] and src "
            f"[{tensor.shape[0]}] to have the same number of "
            "elements (in dot)"
        )
    return matmul(input, tensor)


@composite(names=["outer", "ger"], out=True, samples=calls((Draw((3,)), Draw((4,)))))
def outer(input, vec2):
    """All products of an element of one vector and an element of the other."""
    _ranks("outer", self=(input, 1), vec2=(vec2, 1))
    return build.insert_dim(input, 1) * vec2


@composite(
    names=["addmm"],
    inplace=True,
    out="same dtype",
    onnx="Gemm",
    samples=calls(
        (Draw((4,)), Draw((2, 3)), Draw((3, 4))),
        ((Draw((2, 4)), Draw((2, 3)), Draw((3, 4))), {"beta": 0.5, "alpha": 2}),
    ),
)
def addmm(input, mat1, mat2, *, beta: Operand = 1, alpha: Operand = 1):
    """beta * input + alpha * (mat1 @ mat2)"""
    _ranks("addmm", mat1=(mat1, 2), mat2=(mat2, 2))
    product = build.scaled(matmul(mat1, mat2), alpha)
    return product if build.is_zero(beta) else build.scaled(input, beta) + product


@composite(
    names=["baddbmm"],
    inplace=True,
    out="same dtype",
    samples=calls((Draw((5, 2, 4)), Draw((5, 2, 3)), Draw((5, 3, 4)))),
)
def baddbmm(input, batch1, batch2, *, beta: Operand = 1, alpha: Operand = 1):
    """beta * input + alpha * (batch1 @ batch2)"""
    product = build.scaled(bmm(batch1, batch2), alpha)
    return product if build.is_zero(beta) else build.scaled(input, beta) + product


@composite(
    names=["nn.functional.linear"],
    methods=[],
    out="same dtype",
    samples=calls(
        (Draw((2, 3)), Draw((4, 3))),
        (Draw((5, 2, 3)), Draw((4, 3)), Draw((4,))),
        (Draw((3,)), Draw((4, 3)), Draw((4,))),
    ),
)
def linear(input, weight, bias=None):
    """input @ weight.T + bias"""
    if weight.ndim not in (1, 2):
        raise RuntimeError(
            f"linear: weight must have 1 or 2 dims, but has shape {list(weight.shape)}"
        )
    biased = {} if bias is None else {"bias": bias}
    require_same_dtype("linear", input=input, weight=weight, **biased)
    result = matmul(input, build.permute(weight, tuple(reversed(range(weight.ndim)))))
    return result if bias is None else result + bias
