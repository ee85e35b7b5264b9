"""`gradcheck` and `gradgradcheck`: compare gradients with finite differences."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from .. import _core, dtypes
from .._core import Tensor
from .engine import grad
from .grad_mode import enable_grad, no_grad

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]

Tensors: TypeAlias = tuple[Tensor, ...]


class GradcheckError(RuntimeError):
    """A gradient is wrong, or cannot be checked."""


class _Options(NamedTuple):
    eps: float
    atol: float
    rtol: float
    nondet_tol: float


def _operator(name: str) -> Any:
    import rushlight

    return getattr(rushlight, name)


def _is_differentiable(value: Any) -> bool:
    return isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex())


def _as_tuple(value: Any) -> tuple[Any, ...]:
    if isinstance(value, tuple):
        return value
    return tuple(value) if isinstance(value, list) else (value,)


def _outputs(value: Any) -> Tensors:
    """The differentiable tensors among what the function returned."""
    return tuple([out for out in _as_tuple(value) if _is_differentiable(out)])


def _checked(inputs: Sequence[Any]) -> list[int]:
    """Positions of the inputs whose gradients are checked."""
    return [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]


# ---------------------------------------------------------------- numerical


class Derivatives(NamedTuple):
    """Of one output, along the real and (for complex inputs) the imaginary axis of one input."""

    along_real: Tensor
    along_imaginary: Tensor | None


def _call(func: Callable[..., Any], inputs: Sequence[Any]) -> Tensors:
    """The outputs, detached and copied: some may be views of the inputs."""
    with no_grad():
        return tuple([out.detach().clone() for out in _outputs(func(*inputs))])


@contextlib.contextmanager
def _writable(tensor: Tensor) -> Iterator[Tensor]:
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
        after = _call(func, inputs)
        elements.copy_(before).sub_(direction * eps)
        minus = _call(func, inputs)
    return [((a - b) / (2 * eps)).reshape(-1) for a, b in zip(after, minus)]


def _numerical_jacobians(
    func: Callable[..., Any], inputs: Sequence[Any], input_index: int, eps: float
) -> list[Derivatives]:
    """For each output its derivatives as a matrix [element of the input, element of the output]."""
    tensor = inputs[input_index]
    rows = []
    with _writable(tensor) as elements:
        for i in range(tensor.numel()):
            element = elements[_index(i, tensor.shape)]
            before = element.clone()
            real = _steps(func, inputs, element, before, eps)
            imaginary: list[Any] = [None] * len(real)
            if tensor.is_complex():
                imaginary = _steps(func, inputs, element, before, eps * 1j)
            rows.append(list(zip(real, imaginary)))
    stack = _operator("stack")
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
        after = _call(func, inputs)
        element.copy_(before - step)
        minus = _call(func, inputs)
        element.copy_(before)
        return [((a - b) / (2 * abs(step))).reshape(-1) for a, b in zip(after, minus)]


def _expected(derivatives: Derivatives, weight: complex) -> Tensor:
    """The gradient matrix for outputs weighted by `weight`, from the two numerical matrices.

    In PyTorch's convention the gradient of a real number L is dL/dx + i dL/dy; a weight w on an
    output z = a + ib means dL = Re(conj(w) dz).
    """
    real = _real_product(weight, derivatives.along_real)
    if derivatives.along_imaginary is None:
        return real
    return _operator("complex")(real, _real_product(weight, derivatives.along_imaginary))


def _real_product(weight: complex, derivative: Tensor) -> Tensor:
    if not derivative.is_complex():
        return derivative * weight.real
    real, imaginary = _operator("real")(derivative), _operator("imag")(derivative)
    return weight.real * real + weight.imag * imaginary


# ---------------------------------------------------------------- analytical


def _analytical(output: Tensor, x: Tensor, weight: complex) -> tuple[Tensor, bool, bool]:
    """The gradient matrix [input, output] by backward passes; whether sizes and dtypes fit."""
    zeros_like, stack = _operator("zeros_like"), _operator("stack")
    columns = []
    size_fits = dtype_fits = True
    for j in range(output.numel()):
        given = zeros_like(output, memory_format=_operator("contiguous_format"))
        given.view(-1)[j] = weight if output.is_complex() else weight.real
        (found,) = grad(output, x, given, retain_graph=True, allow_unused=True)
        if found is None:
            found = zeros_like(x)
        size_fits &= found.shape == x.shape
        dtype_fits &= found.dtype == x.dtype
        columns.append(found.detach().reshape(-1))
    if not columns:
        return x.detach().reshape(-1, 1)[:, :0], True, True
    return stack(columns, 1), size_fits, dtype_fits


def _close(a: Tensor, b: Tensor, options: _Options) -> bool:
    wide = dtypes.complex128 if a.is_complex() or b.is_complex() else dtypes.float64
    return _operator("allclose")(a.to(wide), b.to(wide), options.rtol, options.atol, True)


def _mismatch(
    analytical: Tensor, numerical: Tensor, output: int, x: int, weight: complex, is_complex: bool
) -> str:
    part = ""
    if is_complex:
        part = (
            "While considering the imaginary part of complex outputs only, "
            if weight == 1j
            else "While considering the real part of complex outputs only, "
        )
    return (
        f"{part}Jacobian mismatch for output {output} with respect to input {x},\n"
        f"numerical:{numerical}\nanalytical:{analytical}\n"
    )


def _slow_numerical(
    func: Callable[..., Any], inputs: tuple[Any, ...], options: _Options
) -> dict[int, list[Derivatives]]:
    return {
        i: _numerical_jacobians(func, inputs, i, options.eps)
        for i in _checked(inputs)
        if inputs[i].numel()
    }


def _check_slow(
    inputs: tuple[Any, ...],
    outputs: Tensors,
    numerical: dict[int, list[Derivatives]],
    options: _Options,
) -> None:
    for i, derivatives in numerical.items():
        for j, output in enumerate(outputs):
            for weight in (1.0, 1j) if output.is_complex() else (1.0,):
                found, sizes, kinds = _analytical(output, inputs[i], complex(weight))
                again, _, _ = _analytical(output, inputs[i], complex(weight))
                expected = _expected(derivatives[j], complex(weight))
                if not sizes:
                    raise GradcheckError("Analytical gradient has incorrect size")
                if not kinds:
                    raise GradcheckError("Analytical gradient has incorrect type")
                if not _close(found, expected, options):
                    raise GradcheckError(
                        _mismatch(found, expected, j, i, weight, output.is_complex())
                    )
                _check_same(found, again, options)


def _check_same(first: Tensor, again: Tensor, options: _Options) -> None:
    if first.numel() and float((first - again).abs().max()) > options.nondet_tol:
        raise GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input and grad_output "
            "multiple times gives different values, although analytical gradient matches "
            f"numerical gradient.The tolerance for nondeterminism was {options.nondet_tol}.\n\n"
            "NOTE: If your op relies on non-deterministic operations i.e., it is listed here:\n"
            "https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html\n"
            "this failure might be expected."
        )


# ---------------------------------------------------------------- fast mode


def _random_unit(like: Tensor) -> Tensor:
    """A random direction; complex for complex tensors."""
    generator = _operator("Generator")().manual_seed(0)
    sizes, kind = tuple(like.shape), dtypes.float64
    rand = _operator("rand")
    vector = rand(sizes, dtype=kind, generator=generator)
    if like.is_complex():
        imaginary = rand(sizes, dtype=kind, generator=generator)
        vector = _operator("complex")(vector, imaginary)
    norm = math.sqrt(float((vector.abs() ** 2).sum()))
    return (vector / norm if norm else vector).to(like.dtype)


def _inner(a: Tensor, b: Tensor) -> float:
    """Re(conj(a) . b)."""
    product = a.conj() * b if a.is_complex() or b.is_complex() else a * b
    return float((_operator("real")(product) if product.is_complex() else product).sum())


def _fast_numerical(
    func: Callable[..., Any], inputs: tuple[Any, ...], options: _Options
) -> dict[int, list[Tensor]]:
    """Of each output, its derivative along one random direction of each input."""
    results = {}
    for i in _checked(inputs):
        if inputs[i].numel():
            direction = _random_unit(inputs[i])
            with _writable(inputs[i]) as elements:
                results[i] = _difference(func, inputs, elements, direction, options.eps)
    return results


def _check_fast(
    func: Callable[..., Any],
    inputs: tuple[Any, ...],
    outputs: Tensors,
    numerical: dict[int, list[Tensor]],
    options: _Options,
) -> None:
    """Compares v . J u for one random u and v for each pair of input and output."""
    for i, derivatives in numerical.items():
        x = inputs[i]
        u = _random_unit(x)
        for j, output in enumerate(outputs):
            v = _random_unit(output)
            (found,) = grad(output, x, v, retain_graph=True, allow_unused=True)
            (again,) = grad(output, x, v, retain_graph=True, allow_unused=True)
            if found is not None and found.shape != x.shape:
                raise GradcheckError("Analytical gradient has incorrect size")
            if found is not None and found.dtype != x.dtype:
                raise GradcheckError("Analytical gradient has incorrect type")
            analytical = 0.0 if found is None else _inner(found.detach(), u)
            expected = _inner(v.reshape(-1), derivatives[j])
            atol = options.atol * math.sqrt(x.numel() * max(1, output.numel()))
            if not _close_numbers(analytical, expected, atol, options.rtol):
                raise GradcheckError(_explain_fast(func, inputs, output, i, j, options))
            if found is not None:
                _check_same(found, again, options)


def _close_numbers(a: float, b: float, atol: float, rtol: float) -> bool:
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= atol + rtol * abs(b)


def _explain_fast(
    func: Callable[..., Any], inputs: tuple[Any, ...], output: Tensor, i: int, j: int, o: _Options
) -> str:
    analytical, _, _ = _analytical(output, inputs[i], 1.0)
    numerical = _expected(_numerical_jacobians(func, inputs, i, o.eps)[j], 1.0)
    return (
        _mismatch(analytical, numerical, j, i, 1.0, output.is_complex())
        + "\nThe above quantities relating the numerical and analytical jacobians are computed in "
        "fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more background "
        "about fast mode. Below, we recompute numerical and analytical jacobians in slow mode."
    )


# ---------------------------------------------------------------- other checks


def _check_inputs(inputs: tuple[Any, ...]) -> None:
    if not _checked(inputs):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the "
            "them have requires_grad=True."
        )
    for i in _checked(inputs):
        x = inputs[i]
        if x.dtype not in (dtypes.float64, dtypes.complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or "
                "complex. This check will likely fail if all the inputs are not of double "
                "precision floating point or complex. ",
                stacklevel=4,
            )
        if any(stride == 0 and size > 1 for stride, size in zip(x.stride(), x.shape)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs "
                "that are non-overlapping to be able to compute the numerical gradients correctly. "
                "You should call .contiguous on the input before passing it to gradcheck."
            )


def _check_undefined(outputs: Tensors, inputs: Tensors) -> None:
    """Undefined gradients of outputs must be taken for zeros."""

    def check(undefined: Sequence[int]) -> None:
        zeros_like = _operator("zeros_like")
        attached = _pass_on(outputs, set(undefined))
        found = grad(
            attached,
            inputs,
            [zeros_like(out) for out in outputs],
            retain_graph=True,
            allow_unused=True,
        )
        for each in found:
            if each is not None and bool((each != 0).any()):
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are "
                    "undefined or zero. Please look at 'Notes about undefined output gradients' in "
                    "'tools/autograd/derivatives.yaml'"
                )

    try:
        check(range(len(outputs)))
        if len(outputs) > 1:
            for j in range(len(outputs)):
                check([j])
    except GradcheckError:
        raise
    except RuntimeError as error:
        raise GradcheckError(
            "Expected backward function to handle undefined output grads. Please look at 'Notes "
            "about undefined output gradients' in 'tools/autograd/derivatives.yaml'"
        ) from error


def _pass_on(outputs: Tensors, undefined: set[int]) -> list[Tensor]:
    """The outputs behind one node each, some of which give None for a gradient."""
    results = []
    for j, out in enumerate(outputs):
        copy = out.detach().clone()
        _core.attach_node(
            (lambda g: (None,)) if j in undefined else (lambda g: (g,)), "Identity", (out,), (copy,)
        )
        results.append(copy)
    return results


def _check_gradient_kinds(outputs: Tensors, inputs: Tensors) -> None:
    """Gradients of nothing must have their input's layout of memory, dtype and size."""
    zeros_like = _operator("zeros_like")
    found = grad(
        outputs, inputs, [zeros_like(o) for o in outputs], retain_graph=True, allow_unused=True
    )
    for gradient, x in zip(found, inputs):
        if gradient is None:
            continue
        if bool((gradient != 0).any()):
            raise GradcheckError("backward not multiplied by grad_output")
        if gradient.dtype != x.dtype or gradient.device != x.device:
            raise GradcheckError("grad is incorrect type")
        if gradient.shape != x.shape:
            raise GradcheckError("grad is incorrect size")


def _check_no_outputs(func: Callable[..., Any], inputs: tuple[Any, ...], eps: float) -> None:
    """A function all of whose outputs are constant must not depend on its inputs."""
    for i in _checked(inputs):
        if inputs[i].numel():
            for real, imaginary in _numerical_jacobians(func, inputs, i, eps):
                if bool((real != 0).any()) or (
                    imaginary is not None and bool((imaginary != 0).any())
                ):
                    raise GradcheckError("Numerical gradient for function expected to be zero")


# ---------------------------------------------------------------- entry points


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare gradients of `func` at `inputs` with central differences.

    Args:
        func: takes the inputs, returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple; those that require a gradient are checked, and should be of
            double precision.
        eps: half the step of the differences.
        atol, rtol: tolerances of the comparison.
        raise_exception: raise `GradcheckError` instead of returning False.
        nondet_tol: how much two backward passes may differ.
        check_undefined_grad: whether undefined gradients must be handled as zeros.
        check_grad_dtypes: whether gradients must have the dtype of their inputs.
        fast_mode: compare one random projection of each Jacobian only.
        check_backward_ad: whether to check the backward pass.
        check_forward_ad, check_batched_forward_grad: not supported yet.
        check_batched_grad, masked: accepted; they change nothing.

    Returns:
        Whether all agree.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True"
        )
    if check_batched_grad and not check_backward_ad:
        raise AssertionError(
            "Setting check_batched_grad=True requires check_backward_ad to be True"
        )
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError(
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True"
        )
    if check_forward_ad:
        raise NotImplementedError(
            "gradcheck(): check_forward_ad=True is not supported yet; leave it out to check the "
            "backward pass"
        )
    options = _Options(eps, atol, rtol, nondet_tol)
    try:
        with enable_grad():
            _run(func, _as_tuple(inputs), options, check_undefined_grad, fast_mode)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _run(
    func: Callable[..., Any],
    inputs: tuple[Any, ...],
    options: _Options,
    check_undefined_grad: bool,
    fast_mode: bool,
) -> None:
    _check_inputs(inputs)
    for i in _checked(inputs):
        inputs[i].retain_grad()
    # First: it writes to the inputs, which the graph below must not see.
    numerical: Any = (_fast_numerical if fast_mode else _slow_numerical)(func, inputs, options)
    outputs = _outputs(func(*inputs))
    if not any(out.requires_grad for out in outputs):
        _check_no_outputs(func, inputs, options.eps)
        return
    outputs = tuple([out if out.requires_grad else _joined(out, inputs) for out in outputs])
    if fast_mode:
        _check_fast(func, inputs, outputs, numerical, options)
    else:
        _check_slow(inputs, outputs, numerical, options)
    checked = tuple([inputs[i] for i in _checked(inputs)])
    _check_gradient_kinds(outputs, checked)
    if check_undefined_grad:
        _check_undefined(outputs, checked)


def _joined(output: Tensor, inputs: tuple[Any, ...]) -> Tensor:
    """A constant output, so that a backward pass may start from it: all its gradients are None."""
    copy = output.detach().clone()
    tensors = tuple([inputs[i] for i in _checked(inputs)])
    _core.attach_node(lambda g: (None,) * len(tensors), "Constant", tensors, (copy,))
    return copy


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Compare gradients of gradients of `func` at `inputs` with central differences.

    Args:
        func, inputs: as of `gradcheck`.
        grad_outputs: gradients of the outputs to differentiate with; random ones by default.
        gen_non_contig_grad_outputs: whether these random ones have gaps.

    The other arguments are those of `gradcheck`.
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError(
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
        )
    if check_fwd_over_rev:
        raise NotImplementedError(
            "gradgradcheck(): check_fwd_over_rev=True is not supported yet; leave it out to check "
            "the backward pass of the backward pass"
        )
    given = _as_tuple(inputs)
    if grad_outputs is None:
        gradients = _random_gradients(func, given, gen_non_contig_grad_outputs)
    else:
        gradients = _as_tuple(grad_outputs)
    count = len(gradients)
    positions = _checked(given)

    def first_order(*args: Any) -> Any:
        xs, weights = args[:-count], args[-count:]
        xs = tuple(
            [
                x.detach().requires_grad_() if i in positions and not x.requires_grad else x
                for i, x in enumerate(xs)
            ]
        )
        outputs = _outputs(func(*xs))
        wanted = tuple([xs[i] for i in positions])
        with enable_grad():
            found = grad(outputs, wanted, weights, create_graph=True, allow_unused=True)
        return tuple([each for each in found if each is not None])

    def with_graph(*args: Any) -> Any:
        with enable_grad():
            return first_order(*args)

    return gradcheck(
        with_graph,
        given + gradients,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        fast_mode=fast_mode,
    )


def _random_gradients(func: Callable[..., Any], inputs: tuple[Any, ...], gaps: bool) -> Tensors:
    """A random tensor like each output, which requires a gradient."""
    results = []
    for out in _outputs(func(*inputs)):
        kind = out.dtype if out.dtype in (dtypes.float64, dtypes.complex128) else dtypes.float64
        shape = tuple(out.shape)
        size = (*shape, 2) if gaps else shape
        real = _operator("rand")(size, dtype=dtypes.float64) * 2 - 1
        if kind is dtypes.complex128:
            imaginary = _operator("rand")(size, dtype=dtypes.float64) * 2 - 1
            real = _operator("complex")(real, imaginary)
        gradient = real[..., 0] if gaps else real
        results.append(gradient.to(out.dtype).detach().requires_grad_())
    return tuple(results)
