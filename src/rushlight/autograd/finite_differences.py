"""What the checks of gradients share: derivatives by central differences, and comparisons."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from .. import dtypes
from .._core import Tensor
from .grad_mode import no_grad

Tensors: TypeAlias = tuple[Tensor, ...]


class GradcheckError(RuntimeError):
    """A gradient is wrong, or cannot be checked."""


class Options(NamedTuple):
    eps: float
    atol: float
    rtol: float
    nondet_tol: float


def operator(name: str) -> Any:
    import rushlight

    return getattr(rushlight, name)


def is_differentiable(value: Any) -> bool:
    return isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex())


def as_tuple(value: Any) -> tuple[Any, ...]:
    if isinstance(value, tuple):
        return value
    return tuple(value) if isinstance(value, list) else (value,)


def differentiable_outputs(value: Any) -> Tensors:
    """The differentiable tensors among what the function returned."""
    return tuple([out for out in as_tuple(value) if is_differentiable(out)])


def checked(inputs: Sequence[Any]) -> list[int]:
    """Positions of the inputs whose gradients are checked."""
    return [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]


# ---------------------------------------------------------------- numerical


class Derivatives(NamedTuple):
    """Of one output, along the real and (for complex inputs) the imaginary axis of one input."""

    along_real: Tensor
    along_imaginary: Tensor | None


def call(func: Callable[..., Any], inputs: Sequence[Any]) -> Tensors:
    """The outputs, detached and copied: some may be views of the inputs."""
    with no_grad():
        return tuple([out.detach().clone() for out in differentiable_outputs(func(*inputs))])


@contextlib.contextmanager
def writable(tensor: Tensor) -> Iterator[Tensor]:
    """The tensor's elements, to be changed for a moment."""
    elements = tensor.detach()
    saved = elements.clone()
    try:
        yield elements
    finally:
        with no_grad():
            elements.copy_(saved)


def _index(flat: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The position of element number `flat`."""
    position = []
    for size in reversed(shape):
        flat, last = divmod(flat, size)
        position.append(last)
    return tuple(reversed(position))


def _difference(
    func: Callable[..., Any], inputs: Sequence[Any], elements: Tensor, direction: Tensor, eps: float
) -> list[Tensor]:
    """The derivative along a direction of each output, flattened."""
    before = elements.clone()
    with no_grad():
        elements.add_(direction * eps)
        after = call(func, inputs)
        elements.copy_(before).sub_(direction * eps)
        minus = call(func, inputs)
    return [((a - b) / (2 * eps)).reshape(-1) for a, b in zip(after, minus)]


def numerical_jacobians(
    func: Callable[..., Any], inputs: Sequence[Any], input_index: int, eps: float
) -> list[Derivatives]:
    """For each output its derivatives as a matrix [element of the input, element of the output]."""
    tensor = inputs[input_index]
    rows = []
    with writable(tensor) as elements:
        for i in range(tensor.numel()):
            element = elements[_index(i, tensor.shape)]
            before = element.clone()
            real = _steps(func, inputs, element, before, eps)
            imaginary: list[Any] = [None] * len(real)
            if tensor.is_complex():
                imaginary = _steps(func, inputs, element, before, eps * 1j)
            rows.append(list(zip(real, imaginary)))
    stack = operator("stack")
    return [
        Derivatives(
            stack([real for real, _ in column]),
            None if column[0][1] is None else stack([imaginary for _, imaginary in column]),
        )
        for column in zip(*rows)
    ]


def _steps(
    func: Callable[..., Any], inputs: Sequence[Any], element: Tensor, before: Tensor, step: Any
) -> list[Tensor]:
    """Central differences of all outputs for a step of one element, per unit of `abs(step)`."""
    with no_grad():
        element.copy_(before + step)
        after = call(func, inputs)
        element.copy_(before - step)
        minus = call(func, inputs)
        element.copy_(before)
        return [((a - b) / (2 * abs(step))).reshape(-1) for a, b in zip(after, minus)]


def expected_gradients(derivatives: Derivatives, weight: complex) -> Tensor:
    """The gradient matrix for outputs weighted by `weight`, from the two numerical matrices.

    In PyTorch's convention the gradient of a real number L is dL/dx + i dL/dy; a weight w on an
    output z = a + ib means dL = Re(conj(w) dz).
    """
    real = _real_product(weight, derivatives.along_real)
    if derivatives.along_imaginary is None:
        return real
    return operator("complex")(real, _real_product(weight, derivatives.along_imaginary))


def _real_product(weight: complex, derivative: Tensor) -> Tensor:
    if not derivative.is_complex():
        return derivative * weight.real
    real, imaginary = operator("real")(derivative), operator("imag")(derivative)
    return weight.real * real + weight.imag * imaginary


def slow_numerical(
    func: Callable[..., Any], inputs: tuple[Any, ...], options: Options
) -> dict[int, list[Derivatives]]:
    return {
        i: numerical_jacobians(func, inputs, i, options.eps)
        for i in checked(inputs)
        if inputs[i].numel()
    }


def fast_numerical(
    func: Callable[..., Any], inputs: tuple[Any, ...], options: Options
) -> dict[int, list[Tensor]]:
    """Of each output, its derivative along one random direction of each input."""
    results = {}
    for i in checked(inputs):
        if inputs[i].numel():
            direction = random_unit(inputs[i])
            with writable(inputs[i]) as elements:
                results[i] = _difference(func, inputs, elements, direction, options.eps)
    return results


def check_no_outputs(func: Callable[..., Any], inputs: tuple[Any, ...], eps: float) -> None:
    """A function all of whose outputs are constant must not depend on its inputs."""
    for i in checked(inputs):
        if inputs[i].numel():
            for real, imaginary in numerical_jacobians(func, inputs, i, eps):
                if bool((real != 0).any()) or (
                    imaginary is not None and bool((imaginary != 0).any())
                ):
                    raise GradcheckError("Numerical gradient for function expected to be zero")


# ---------------------------------------------------------------- comparisons


def random_unit(like: Tensor) -> Tensor:
    """A random direction; complex for complex tensors."""
    generator = operator("Generator")().manual_seed(0)
    sizes, kind = tuple(like.shape), dtypes.float64
    rand = operator("rand")
    vector = rand(sizes, dtype=kind, generator=generator)
    if like.is_complex():
        imaginary = rand(sizes, dtype=kind, generator=generator)
        vector = operator("complex")(vector, imaginary)
    norm = math.sqrt(float((vector.abs() ** 2).sum()))
    return (vector / norm if norm else vector).to(like.dtype)


def inner(a: Tensor, b: Tensor) -> float:
    """Re(conj(a) . b)."""
    product = a.conj() * b if a.is_complex() or b.is_complex() else a * b
    return float((operator("real")(product) if product.is_complex() else product).sum())


def close(a: Tensor, b: Tensor, options: Options) -> bool:
    wide = dtypes.complex128 if a.is_complex() or b.is_complex() else dtypes.float64
    return operator("allclose")(a.to(wide), b.to(wide), options.rtol, options.atol, True)


def close_numbers(a: float, b: float, atol: float, rtol: float) -> bool:
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= atol + rtol * abs(b)
