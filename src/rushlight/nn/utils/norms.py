"""Norms that weight and spectral normalisation share."""

from __future__ import annotations

from ..._core import Tensor
from ...autograd import no_grad


def norm_except_dim(v: Tensor, dim: int | None) -> Tensor:
    """The norms of the slices along a dim, which stays; None or -1: the norm of all elements."""
    if dim is None or dim == -1:
        return (v * v).sum().sqrt()
    others = [d for d in range(v.dim()) if d != dim % v.dim()]
    squares = v * v
    return (squares.sum(others, keepdim=True) if others else squares).sqrt()


def weight_norm(v: Tensor, g: Tensor, dim: int | None) -> Tensor:
    """g * v / |v| (Salimans and Kingma, arXiv:1602.07868)."""
    return v * (g / norm_except_dim(v, dim))


def normalized(x: Tensor, eps: float) -> Tensor:
    """A vector divided by its norm, which counts as eps at least."""
    return x / (x * x).sum().sqrt().clamp_min(eps)


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """A weight as a matrix with a dim as rows."""
    if dim != 0:
        weight = weight.permute(dim, *[d for d in range(weight.dim()) if d != dim])
    return weight.reshape(weight.size(0), -1)


@no_grad()
def power_iteration(matrix: Tensor, u: Tensor, v: Tensor, steps: int, eps: float) -> None:
    """Move u and v, in place, towards the singular vectors of the greatest singular value."""
    for _ in range(steps):
        u.copy_(normalized(matrix @ v, eps))
        v.copy_(normalized(matrix.mT @ u, eps))
