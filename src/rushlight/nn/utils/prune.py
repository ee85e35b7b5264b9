"""Pruning: parameters some of whose elements are held at zero by a mask."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

import rushlight

from ..._core import Tensor
from ..modules.module import Module
from .pre_hooks import find_pre_hook, remove_pre_hook

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured",
    "PruningContainer", "RandomStructured", "RandomUnstructured", "custom_from_mask",
    "global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured",
    "random_structured", "random_unstructured", "remove",
]  # fmt: skip


class BasePruningMethod(ABC):
    """A way to choose which elements stay; a hook that applies the mask before each call.

    Subclasses define `compute_mask` and `PRUNING_TYPE`: ``"unstructured"``, ``"structured"`` or
    ``"global"``.
    """

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The new mask, for the importance of elements and the mask there is."""

    def apply_mask(self, module: Module) -> Tensor:
        """The parameter with its mask."""
        original = getattr(module, f"{self._tensor_name}_orig")
        return getattr(module, f"{self._tensor_name}_mask").to(original.dtype) * original

    @classmethod
    def apply(
        cls,
        module: Module,
        name: str,
        *args: Any,
        importance_scores: Tensor | None = None,
        **kwargs: Any,
    ) -> BasePruningMethod:
        """Prune a parameter, which may have been pruned before.

        Args:
            module: the module.
            name: the parameter's name.
            args: arguments of the constructor.
            importance_scores: the importance of elements, by default their values.
            kwargs: keyword arguments of the constructor.

        Returns:
            The hook.
        """
        old = find_pre_hook(module, _of(name))
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        original = getattr(module, f"{name}_orig" if old else name)
        if importance_scores is None:
            importance_scores = getattr(module, name) if old else original
        elif importance_scores.shape != original.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}"
            )
        if old:
            container = PruningContainer(old[1])
            container.add_pruning_method(method)
            del module._forward_pre_hooks[old[0]]
            method, default = container, getattr(module, f"{name}_mask")
        else:
            module.register_parameter(f"{name}_orig", original)
            del module._parameters[name]
            default = rushlight.ones_like(original)
        try:
            with rushlight.no_grad():
                mask = method.compute_mask(importance_scores.detach(), default.detach())
        except Exception:
            if not old:  # as it was
                module.register_parameter(name, module._parameters.pop(f"{name}_orig"))
            raise
        module.register_buffer(f"{name}_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(
        self,
        t: Tensor,
        default_mask: Tensor | None = None,
        importance_scores: Tensor | None = None,
    ) -> Tensor:
        """A tensor with its elements chosen by this method; no module is concerned."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        default = rushlight.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default)

    def remove(self, module: Module) -> None:
        """Make the pruned values the parameter, for good."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original: Any = module._parameters.pop(f"{name}_orig")
        original.data = weight.detach()
        del module._buffers[f"{name}_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several methods, each of which prunes what the ones before left."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if len(args) == 1 and isinstance(args[0], Iterable):
            args = tuple(args[0])
        for i, method in enumerate(args):
            if i == 0:
                self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Add a method for the same parameter."""
        if method is not None and not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is None:
            return
        if self._tensor_name != method._tensor_name:
            raise ValueError(
                f"{self} prunes the parameter '{self._tensor_name}', so a method for "
                f"'{method._tensor_name}' cannot be added"
            )
        inner = method._pruning_methods if isinstance(method, PruningContainer) else (method,)
        self._pruning_methods += inner

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: int) -> BasePruningMethod:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of the last method for what is left."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            left: Any = mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = method.dim % t.dim()
            others = [d for d in range(t.dim()) if d != dim]
            kept = (mask.sum(others) if others else mask) != 0
            left = (slice(None),) * dim + (kept,)
        elif method.PRUNING_TYPE == "global":
            left = (slice(None),) * t.dim()
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        result = mask.clone()
        result[left] = method.compute_mask(t[left], mask[left]).to(mask.dtype)
        return result


class Identity(BasePruningMethod):
    """Prunes nothing; for a module to have the form of a pruned one."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask there is."""
        return default_mask


class _Unstructured(BasePruningMethod):
    """Prunes an amount of elements.

    Args:
        amount: how many, or (a float) which share.
    """

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: float) -> None:
        _check_amount(amount)
        self.amount = amount

    def _without(self, default_mask: Tensor, places: Tensor | None) -> Tensor:
        mask = default_mask.clone()
        if places is not None:
            mask.view(-1)[places] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes elements at random."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask without an amount of elements."""
        count = _count(self.amount, t.numel())
        if not count:
            return self._without(default_mask, None)
        return self._without(default_mask, rushlight.rand_like(t).view(-1).topk(count).indices)


class L1Unstructured(_Unstructured):
    """Prunes the elements of least magnitude."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask without an amount of elements."""
        count = _count(self.amount, t.numel())
        if not count:
            return self._without(default_mask, None)
        return self._without(default_mask, t.abs().view(-1).topk(count, largest=False).indices)


class _Structured(BasePruningMethod):
    """Prunes whole slices along a dim."""

    PRUNING_TYPE = "structured"
    amount: float
    dim: int

    def _mask(self, t: Tensor, default_mask: Tensor, importance: Tensor, count: int) -> Tensor:
        """The mask without the least important slices."""
        mask = rushlight.zeros_like(t)
        kept = importance.topk(t.size(self.dim) - count, largest=True).indices
        mask[(slice(None),) * (self.dim % t.dim()) + (kept,)] = 1
        return mask * default_mask.to(mask.dtype)

    def _checked_count(self, t: Tensor) -> int:
        if t.dim() <= 1:
            raise ValueError(
                "structured pruning needs tensors of at least 2 dimensions, but one has shape "
                f"{tuple(t.shape)}"
            )
        if not -t.dim() <= self.dim < t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        return _count(self.amount, t.size(self.dim))


class RandomStructured(_Structured):
    """Prunes slices along a dim at random.

    Args:
        amount: how many, or (a float) which share.
        dim: the dim.
    """

    def __init__(self, amount: float, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount = amount
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask without an amount of slices."""
        count = self._checked_count(t)
        if not count:
            return default_mask
        return self._mask(t, default_mask, rushlight.rand(t.size(self.dim)), count)


class LnStructured(_Structured):
    """Prunes the slices along a dim of the least norm.

    Args:
        amount: how many, or (a float) which share.
        n: the p of the norm.
        dim: the dim.
    """

    def __init__(self, amount: float, n: float, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount = amount
        self.n = n
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask without an amount of slices."""
        count = self._checked_count(t)
        if not count:
            return default_mask
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        return self._mask(t, default_mask, rushlight.norm(t, p=self.n, dim=others), count)


class CustomFromMask(BasePruningMethod):
    """Prunes by a given mask."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Where both masks keep elements."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"the mask has shape {self.mask.shape}, the parameter {default_mask.shape}"
            )
        return default_mask * self.mask.to(default_mask.dtype)


def _check_amount(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if (isinstance(amount, numbers.Integral) and amount < 0) or (
        not isinstance(amount, numbers.Integral) and not 0.0 <= float(amount) <= 1.0
    ):
        raise ValueError(f"amount={amount} must be a fraction from 0 to 1 or a count of at least 0")


def _count(amount: float, available: int) -> int:
    """How many of those available an amount is.

    Raises:
        ValueError: if it is more than there are.
    """
    if not isinstance(amount, numbers.Integral):
        return round(amount * available)
    if amount > available:
        raise ValueError(f"amount={amount} exceeds the {available} parameters there are to prune")
    return int(amount)


# ---------------------------------------------------------------- functions


def identity(module: Module, name: str) -> Module:
    """Give a module the form of a pruned one, with all elements kept."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune an amount (a share, if a float) of a parameter's elements at random."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: Module, name: str, amount: float, importance_scores: Tensor | None = None
) -> Module:
    """Prune an amount (a share, if a float) of a parameter's elements: those of least magnitude,
    or of least magnitude of given scores.
    """
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prune an amount (a share, if a float) of a parameter's slices along a dim at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module,
    name: str,
    amount: float,
    n: float,
    dim: int,
    importance_scores: Tensor | None = None,
) -> Module:
    """Prune an amount (a share, if a float) of a parameter's slices along a dim: those of the
    least n-norm.
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune an amount of the elements of several parameters taken together.

    Args:
        parameters: modules and names of their parameters.
        pruning_method: an unstructured method, such as `L1Unstructured`.
        importance_scores: the importance of elements, by default their values.
        kwargs: arguments of the method, such as `amount`.

    Raises:
        TypeError: for a method of another type.
    """
    given = list(parameters)
    scores = importance_scores or {}
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            "global pruning needs a method with PRUNING_TYPE 'unstructured', but "
            f"{pruning_method} has '{method.PRUNING_TYPE}'"
        )
    values = [
        scores.get((module, name), getattr(module, name)).reshape(-1) for module, name in given
    ]
    masks = [
        getattr(module, f"{name}_mask", rushlight.ones_like(getattr(module, name))).reshape(-1)
        for module, name in given
    ]
    container = PruningContainer()
    container._tensor_name = method._tensor_name = "all"
    container.add_pruning_method(method)
    with rushlight.no_grad():
        final = container.compute_mask(rushlight.cat(values).detach(), rushlight.cat(masks))
    start = 0
    for module, name in given:
        parameter = getattr(module, name)
        count = parameter.numel()
        custom_from_mask(module, name, final[start : start + count].view_as(parameter))
        start += count


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune a parameter by a mask, which is 1 where elements stay."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: Module, name: str) -> Module:
    """Make the pruned values of a parameter its values, for good.

    Raises:
        ValueError: if it is not pruned.
    """
    if not remove_pre_hook(module, _of(name)):
        raise ValueError(
            f"parameter '{name}' of {module} is not pruned, so no pruning can be removed"
        )
    return module


def _of(name: str) -> Callable[[Any], bool]:
    """Whether a hook prunes a parameter."""
    return lambda hook: isinstance(hook, BasePruningMethod) and hook._tensor_name == name


def is_pruned(module: Module) -> bool:
    """Whether a module or a part of it has pruned parameters."""
    return any(
        isinstance(hook, BasePruningMethod)
        for part in module.modules()
        for hook in part._forward_pre_hooks.values()
    )
