"""Weight normalisation by a hook; `parametrizations.weight_norm` is newer."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..._core import Tensor
from ..modules.module import Module
from ..parameter import Parameter, is_lazy
from .norms import norm_except_dim
from .norms import weight_norm as apply_weight_norm
from .pre_hooks import find_pre_hook, remove_pre_hook

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


class WeightNorm:
    """A hook that computes a weight from its lengths and directions before each call."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Tensor:
        """The weight."""
        g, v = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        return apply_weight_norm(v, g, self.dim)

    @staticmethod
    def apply(module: Any, name: str, dim: int | None) -> WeightNorm:
        """Replace a parameter, and register the hook."""
        if find_pre_hook(module, _of(name)):
            raise RuntimeError(
                f"parameter '{name}' has a weight_norm hook already; remove_weight_norm() "
                "takes it off"
            )
        hook = WeightNorm(name, dim)
        weight = getattr(module, name)
        if is_lazy(weight):
            raise ValueError(
                "weight_norm needs initialized parameters: call the module's forward() once first"
            )
        del module._parameters[name]
        lengths = norm_except_dim(weight.detach(), hook.dim)
        module.register_parameter(f"{name}_g", Parameter(lengths))
        module.register_parameter(f"{name}_v", Parameter(weight.detach()))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[f"{self.name}_g"]
        del module._parameters[f"{self.name}_v"]
        setattr(module, self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Let a parameter be ``<name>_g * <name>_v / |<name>_v|``, for each slice along a dim.

    Args:
        module: the module.
        name: the parameter's name.
        dim: the dim; None: one length for all.

    Returns:
        The module.
    """
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Take weight normalisation away again.

    Raises:
        ValueError: if the parameter has none.
    """
    if not remove_pre_hook(module, _of(name)):
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    return module


def _of(name: str) -> Callable[[Any], bool]:
    """Whether a hook is the weight normalisation of a parameter."""
    return lambda hook: isinstance(hook, WeightNorm) and hook.name == name
