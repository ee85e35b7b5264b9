"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

import rushlight

from ..._core import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of parameters as one vector.

    Raises:
        TypeError: if they are on different devices.
    """
    given = list(parameters)
    _check_devices(given)
    return rushlight.cat([parameter.reshape(-1) for parameter in given])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Let parameters have the elements of a vector: they become views of it.

    Raises:
        TypeError: if `vec` is no tensor, or the parameters are on different devices.
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    given = list(parameters)
    _check_devices(given)
    start = 0
    for parameter in given:
        count = parameter.numel()
        parameter.data = vec[start : start + count].view_as(parameter).data
        start += count


def _check_devices(parameters: list[Tensor]) -> None:
    if len({parameter.device for parameter in parameters}) > 1:
        raise TypeError(
            "parameters must be on one device, but are on "
            f"{', '.join(sorted({str(each.device) for each in parameters}))}"
        )
