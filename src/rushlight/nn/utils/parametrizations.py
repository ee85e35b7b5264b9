"""Parametrizations: weight and spectral normalisation, orthogonal weights."""

from __future__ import annotations

from typing import Any

import rushlight

from ..._core import Tensor
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module
from .norms import as_matrix, norm_except_dim, normalized, power_iteration
from .norms import weight_norm as apply_weight_norm
from .orthogonal import MAPS, Orthogonal
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    """original0 * original1 / |original1|"""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return apply_weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """The norms and the weight itself."""
        return norm_except_dim(weight, self.dim), weight.clone()


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Let a parameter be a vector's direction times a length, for each slice along a dim.

    (Salimans and Kingma, arXiv:1602.07868.)

    Args:
        module: the module.
        name: the parameter's name.
        dim: the dim; None: one length for all.

    Returns:
        The module, with the lengths as ``parametrizations.<name>.original0`` and the vectors as
        ``original1``.
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def translate(state_dict: Any, prefix: str, *rest: Any) -> None:
        """States of the older weight normalisation have other names."""
        old = (f"{prefix}{name}_g", f"{prefix}{name}_v")
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                new = f"{prefix}parametrizations.{name}.original{i}"
                state_dict[new] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(translate)
    return module


class _SpectralNorm(Module):
    """The weight divided by its greatest singular value, which is found by power iteration."""

    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(
                f"spectral_norm: dim={dim} is out of range for a weight of {weight.ndim} dimensions"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % weight.ndim
        self.eps = eps
        if weight.ndim > 1:
            self.n_power_iterations = n_power_iterations
            with rushlight.no_grad():
                matrix = as_matrix(weight, self.dim)
                u, v = (matrix.new_empty(size).normal_(0, 1) for size in matrix.shape)
                self.register_buffer("_u", normalized(u, eps))
                self.register_buffer("_v", normalized(v, eps))
                power_iteration(matrix, self._u, self._v, 15, eps)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return normalized(weight, self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            power_iteration(matrix, self._u, self._v, self.n_power_iterations, self.eps)
        # Copies: the next call changes the vectors in place, perhaps before this one's backward.
        u, v = self._u.clone(), self._v.clone()
        return weight / (u * (matrix @ v)).sum()

    def right_inverse(self, value: Tensor) -> Tensor:
        """The value itself."""
        return value


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Let a parameter be divided by its greatest singular value.

    (Miyato et al., arXiv:1802.05957.)

    Args:
        module: the module.
        name: the parameter's name.
        n_power_iterations: the steps of power iteration for each call in training.
        eps: what norms are at least.
        dim: the dim of the outputs, by default 0 (1 for transposed convolutions).

    Returns:
        The module.

    Raises:
        ValueError: if it has no such parameter.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        transposed = ConvTranspose1d | ConvTranspose2d | ConvTranspose3d
        dim = 1 if isinstance(module, transposed) else 0
    parametrization = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return register_parametrization(module, name, parametrization)


def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    """Let a parameter be a matrix with orthonormal columns, or rows if it is wide (of complex
    numbers: a unitary matrix); of tensors with more dims, in the last two.

    Args:
        module: the module.
        name: the parameter's name.
        orthogonal_map: how any matrix is made orthogonal: "matrix_exp", "cayley" or "householder";
            by default "matrix_exp" for square or complex matrices, else "householder".
        use_trivialization: whether a base is kept, by which the result is multiplied: training
            starts from the weight as it is, made orthogonal, and any weight can be assigned.

    Returns:
        The module, with the unconstrained matrix as ``parametrizations.<name>.original``.

    Raises:
        ValueError: if the module has no such parameter, it has fewer than 2 dims, or the map is
            unknown.

    Example:
        >>> layer = orthogonal(rushlight.nn.Linear(4, 2))
        >>> Q = layer.weight
        >>> rushlight.allclose(Q @ Q.mT, rushlight.eye(2), atol=1e-6)
        True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"weight must hold matrices. Got a tensor of {weight.ndim} dimensions")
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1] or weight.is_complex()
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in MAPS:
        raise ValueError(f"orthogonal_map has to be one of {', '.join(MAPS)}, not {orthogonal_map}")
    made = Orthogonal(weight, orthogonal_map, use_trivialization)
    register_parametrization(module, name, made, unsafe=True)
    return module
