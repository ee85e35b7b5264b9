"""Spectral normalisation by a hook; `parametrizations.spectral_norm` is newer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._core import Tensor
from ...autograd import no_grad
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module
from ..parameter import Parameter, is_lazy
from .norms import as_matrix, normalized
from .pre_hooks import find_pre_hook, remove_pre_hook

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """A hook that divides a weight by its greatest singular value before each call.

    Buffers ``<name>_u`` and ``<name>_v`` hold its singular vectors; they are improved by power
    iteration in each call in training.
    """

    _version = 1

    def __init__(
        self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Tensor:
        """The weight."""
        weight, u, v = (getattr(module, self.name + suffix) for suffix in ("_orig", "_u", "_v"))
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalized(matrix.mT @ u, self.eps))
                    u.copy_(normalized(matrix @ v, self.eps))
            # Copies: the next call changes them in place, perhaps before this one's backward.
            u, v = u.clone(), v.clone()
        return weight / (u * (matrix @ v)).sum()

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for suffix in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))

    @staticmethod
    def apply(
        module: Any, name: str, n_power_iterations: int, dim: int, eps: float
    ) -> SpectralNorm:
        """Replace a parameter, and register the hook."""
        if find_pre_hook(module, _of(name)):
            raise RuntimeError(
                f"parameter '{name}' has a spectral_norm hook already; remove_spectral_norm() "
                "takes it off"
            )
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None or is_lazy(weight):
            state = "None" if weight is None else "not initialized: call the module once first"
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is {state}")
        with no_grad():
            rows, columns = as_matrix(weight, dim).shape
            u = normalized(weight.new_empty(rows).normal_(0, 1), eps)
            v = normalized(weight.new_empty(columns).normal_(0, 1), eps)
        delattr(module, name)
        module.register_parameter(f"{name}_orig", weight)
        setattr(module, name, weight.detach())
        module.register_buffer(f"{name}_u", u)
        module.register_buffer(f"{name}_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(_StateVersion(hook))
        return hook


class _StateVersion:
    """Notes in states that they have both singular vectors, as PyTorch does."""

    def __init__(self, hook: SpectralNorm) -> None:
        self.hook = hook

    def __call__(self, module: Any, state_dict: Any, prefix: str, local_metadata: Any) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        versions[f"{self.hook.name}.version"] = self.hook._version


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Let a parameter be divided by its greatest singular value; arguments as of
    `parametrizations.spectral_norm`.
    """
    if dim is None:
        transposed = ConvTranspose1d | ConvTranspose2d | ConvTranspose3d
        dim = 1 if isinstance(module, transposed) else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Take spectral normalisation away again.

    Raises:
        ValueError: if the parameter has none.
    """
    if not remove_pre_hook(module, _of(name)):
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    for number, hook in module._state_dict_hooks.items():
        if isinstance(hook, _StateVersion) and hook.hook.name == name:
            del module._state_dict_hooks[number]
            break
    return module


def _of(name: str) -> Callable[[Any], bool]:
    """Whether a hook is the spectral normalisation of a parameter."""
    return lambda hook: isinstance(hook, SpectralNorm) and hook.name == name
