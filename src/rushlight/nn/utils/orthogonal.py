"""Weights that stay orthogonal while they are trained.

Lezcano-Casado, Trivializations for gradient-based optimization on manifolds, NeurIPS 2019,
arXiv:1909.09501; the Cayley map and products of Householder reflections as in Mhammedi et al.,
Efficient orthogonal parametrisation of recurrent neural networks using Householder reflections,
arXiv:1612.00188.
"""

from __future__ import annotations

import rushlight

from ..._core import Tensor
from ...autograd import no_grad
from ..modules.module import Module

MAPS = ("matrix_exp", "cayley", "householder")


def has_orthonormal_columns(Q: Tensor) -> bool:
    """Whether the columns of Q are orthonormal, up to rounding that grows with their length."""
    size = Q.size(-1)
    identity = rushlight.eye(size, dtype=Q.dtype, device=Q.device)
    error = 10 * Q.size(-2) * rushlight.finfo(Q.dtype).eps
    return bool(rushlight.allclose(Q.mH @ Q, identity, atol=error))


def orthonormal(A: Tensor) -> Tensor:
    """The orthonormal columns next to A's: Q of the decomposition in which R's diagonal is
    positive, so that orthonormal columns stay as they are.
    """
    factors, tau = rushlight.geqrf(A)
    Q = rushlight.linalg.householder_product(factors, tau)
    return Q * factors.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class Orthogonal(Module):
    """Makes a matrix with orthonormal columns (or rows, if it is wide) of any matrix.

    base: a buffer by which the result is multiplied, so that any orthogonal matrix can be assigned;
    only with ``use_trivialization``.
    """

    base: Tensor

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError(
                "The householder parametrization does not support complex tensors; use matrix_exp "
                "or cayley."
            )
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        """The orthogonal matrix of the unconstrained one."""
        wide = X.size(-2) < X.size(-1)
        X = X.mT if wide else X
        Q = self._by_reflections(X) if self.orthogonal_map == "householder" else self._by_skew(X)
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.mT if wide else Q

    def _by_skew(self, X: Tensor) -> Tensor:
        """By a skew-Hermitian matrix, of which X has the lower triangle."""
        rows, columns = X.size(-2), X.size(-1)
        X = X.tril()
        if rows != columns:
            rest = X.new_zeros(rows, rows - columns).expand(*X.shape[:-2], -1, -1)
            X = rushlight.cat([X, rest], dim=-1)
        skew = X - X.mH
        if self.orthogonal_map == "matrix_exp":
            Q = rushlight.linalg.matrix_exp(skew)
        else:
            identity = rushlight.eye(rows, dtype=skew.dtype, device=skew.device)
            Q = rushlight.linalg.solve(identity - skew / 2, identity + skew / 2)
        return Q[..., :columns]

    def _by_reflections(self, X: Tensor) -> Tensor:
        """By reflections, of which X has the vectors below the diagonal; their signs on it."""
        vectors = X.tril(diagonal=-1)
        tau = 2 / (1 + (vectors * vectors).sum(dim=-2))
        Q = rushlight.linalg.householder_product(vectors, tau)
        return Q * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)

    @no_grad()
    def right_inverse(self, Q: Tensor) -> Tensor:
        """What gives Q; with a base, Q is made orthogonal first."""
        if Q.shape != self.shape:
            raise ValueError(f"weight must be of shape {tuple(self.shape)}, not {tuple(Q.shape)}")
        wide = Q.size(-2) < Q.size(-1)
        tall = Q.mT if wide else Q
        if not hasattr(self, "base"):
            result = self._vectors_of(tall)
            return result.mT if wide else result
        rows, columns = tall.size(-2), tall.size(-1)
        if rows == columns:
            self.base = tall.clone() if has_orthonormal_columns(tall) else orthonormal(tall)
        else:
            shape = (*tall.shape[:-2], rows, rows - columns)
            more = rushlight.randn(*shape, dtype=tall.dtype, device=tall.device)
            self.base = orthonormal(rushlight.cat([tall, more], dim=-1))
        start = rushlight.zeros_like(Q)  # of this the orthogonal matrix is the identity
        start.diagonal(dim1=-2, dim2=-1).fill_(-1)
        return start

    def _vectors_of(self, Q: Tensor) -> Tensor:
        """The reflections whose product is Q."""
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                f"not possible to assign to parametrizations by {self.orthogonal_map} without "
                "trivialization; make them with use_trivialization=True or the map "
                "householder"
            )
        factors, tau = rushlight.geqrf(Q)
        diagonal = factors.diagonal(dim1=-2, dim2=-1)
        signs = diagonal.sign()
        diagonal.copy_(rushlight.where(tau == 0, -signs, signs))
        return factors
