"""Forward mode on tensors: a *dual tensor* carries a tangent, which operators pass on.

A dual tensor is a subclass that operators hand to its ``__torch_function__``: the call is traced in
forward mode, with the tangents as further inputs, and planned like any other.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from .. import _core, dtypes
from .._core import Tensor

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]


class _Level(threading.local):
    current = -1
    serial = 0  # of the level: dual tensors of levels that were left have no tangents


_level = _Level()


def enter_dual_level() -> int:
    """Enter forward mode; ``dual_level`` is the context manager.

    Raises:
        RuntimeError: if it was entered before: levels do not nest, as in PyTorch.
    """
    if _level.current >= 0:
        raise RuntimeError(
            "Nested forward mode AD is not supported at the moment; leave the level first, or use "
            "rushlight.func.jvp, which nests"
        )
    _level.current += 1
    _level.serial += 1
    return _level.current


def exit_dual_level(*, level: int | None = None) -> None:
    """Leave forward mode: dual tensors become plain tensors.

    Raises:
        RuntimeError: if the level is not the one that was entered last.
    """
    level = _level.current if level is None else level
    if level != _level.current or level < 0:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is "
            "not supported."
        )
    _level.current = level - 1
    _level.serial += 1


class dual_level:
    """A context manager in which dual tensors can be made and carry tangents.

    Example:
        >>> with dual_level():
        ...     x = make_dual(rushlight.ones(2), rushlight.ones(2))
        ...     unpack_dual(x * x).tangent
        tensor([2., 2.])
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exception: object) -> None:
        exit_dual_level()


class UnpackedDualTensor(NamedTuple):
    """A tensor and its tangent, None if it has none."""

    primal: Tensor
    tangent: Tensor | None


class DualTensor(Tensor):
    """A tensor with a tangent, in the level in which it was made."""

    _primal: Tensor
    _tangent: Tensor
    _serial: int

    @classmethod
    def __torch_function__(
        cls, operator: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return call_operator(operator, args, kwargs or {})

    def __getitem__(self, index: Any) -> Any:
        return call_operator(lambda x, index: x[index], (self, _without_masks(index)), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        from ..ops.record import op

        primal, tangent = _parts(self)
        new, slope = _parts(value)
        primal[index] = new
        if tangent is not None:
            tangent[index] = 0 if slope is None else slope
        elif slope is not None:
            self._tangent = op.zeros_like(primal)
            self._tangent[index] = slope

    def __repr__(self) -> str:
        primal, tangent = _parts(self)
        return f"{primal!r}" if tangent is None else f"{primal!r} (tangent: {tangent!r})"


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A tensor that has ``tangent`` as its derivative along a direction.

    Raises:
        RuntimeError: outside of ``dual_level``, or if the tangent's shape or dtype is another.
        ValueError: if one is of an integer dtype.
    """
    from ..func.forward import check_tangent

    if _level.current < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    check_tangent(tensor, tangent)
    primal, known = _parts(tensor)
    if known is not None:
        raise RuntimeError(
            "Trying to create a dual tensor from a tensor that has a tangent at this level already"
        )
    return _dual(primal, tangent)


def _dual(primal: Tensor, tangent: Tensor) -> Tensor:
    result = _core.alias_as(DualTensor, primal)
    result._primal, result._tangent, result._serial = primal, tangent, _level.serial
    return result


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The tensor without its tangent, and the tangent; None if there is none or no level."""
    return UnpackedDualTensor(*_parts(tensor))


def _without_masks(index: Any) -> Any:
    """A subscript with the places of the true elements for each mask: their number is known."""
    parts: list[Any] = []
    for part in index if isinstance(index, tuple) else (index,):
        if isinstance(part, Tensor) and part.dtype is dtypes.bool:
            parts += _parts(part)[0].nonzero(as_tuple=True)
        else:
            parts.append(part)
    return tuple(parts)


def _parts(value: Any) -> tuple[Any, Any]:
    if not isinstance(value, DualTensor):
        return value, None
    is_current = _level.current >= 0 and value._serial == _level.serial
    return value._primal, value._tangent if is_current else None


def call_operator(operator: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """An operator's call with dual tensors among its arguments."""
    from ..func.forward import outputs_and_tangents
    from ..func.trace import Source
    from ..func.trees import flatten, unflatten

    leaves, structure = flatten((args, kwargs))
    pairs = [_parts(leaf) for leaf in leaves]
    plain_args, plain_kwargs = unflatten([primal for primal, _ in pairs], structure)
    if all(tangent is None for _, tangent in pairs):
        return operator(*plain_args, **plain_kwargs)
    name = getattr(operator, "name", "getitem")
    if name.endswith("_"):
        return _in_place(name, args, kwargs)

    def function(duals: list[Any]) -> Any:
        given = iter(duals)
        arguments = [primal if tangent is None else next(given) for primal, tangent in pairs]
        new_args, new_kwargs = unflatten(arguments, structure)
        return operator(*new_args, **new_kwargs)

    given = [pair for pair in pairs if pair[1] is not None]
    duals = tuple(tangent is not None for _, tangent in pairs)
    tangents_given = [tangent for _, tangent in given]
    source = Source((duals,), operator, (plain_args, plain_kwargs, tangents_given))
    outputs, tangents, out_structure = outputs_and_tangents(name, function, given, source)
    results = [
        primal if tangent is None else _dual(primal, tangent)
        for primal, tangent in zip(outputs, tangents, strict=True)
    ]
    return unflatten(results, out_structure)


def _in_place(name: str, args: tuple, kwargs: dict[str, Any]) -> Any:
    """``x.add_(y)``: the result of ``add`` replaces both the values and the tangent."""
    target = args[0]
    result = getattr(Tensor, name[:-1])(*args, **kwargs)
    new, slope = _parts(result)
    primal, tangent = _parts(target)
    if not isinstance(target, DualTensor):
        raise RuntimeError(
            f"{name}: a tensor without a tangent cannot get one in place; use {name[:-1]}"
        )
    primal.copy_(new)
    if slope is None:
        tangent.zero_()
    elif tangent is None:
        target._tangent, target._serial = slope, _level.serial
    else:
        target._tangent = slope
    return target
