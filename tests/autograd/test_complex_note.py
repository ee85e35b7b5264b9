"""Gradients of complex functions: the conventions of PyTorch's note on complex autograd."""

from __future__ import annotations

import pytest


def leaf(torch, *values):
    return torch.tensor(list(values), requires_grad=True)


def close(result, expected):
    assert result.tolist() == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_a_real_loss_gives_the_conjugate_gradient(torch):
    """dL/da + i dL/db for z = a + ib: the direction of steepest ascent."""
    z = leaf(torch, 1 + 2j, 3 - 1j)
    (z.abs() ** 2).sum().backward()
    close(z.grad, [2 + 4j, 6 - 2j])


def test_steps_against_the_gradient_descend(torch):
    z = leaf(torch, 1 + 2j)
    target = torch.tensor([3 - 1j])
    for _ in range(50):
        ((z - target).abs() ** 2).sum().backward()
        with torch.no_grad():
            z -= 0.2 * z.grad
            z.grad.zero_()
    assert (z - target).abs().item() < 1e-3


def test_holomorphic_functions_multiply_by_the_conjugate_derivative(torch):
    z, gradient = leaf(torch, 1 + 2j), torch.tensor([2 - 1j])
    (z**3).backward(gradient)
    derivative = 3 * (1 + 2j) ** 2
    close(z.grad, [(2 - 1j) * derivative.conjugate()])


def test_conjugation_conjugates_gradients(torch):
    z = leaf(torch, 1 + 2j)
    z.conj().backward(torch.tensor([2 - 1j]))
    close(z.grad, [2 + 1j])


def test_the_derivative_of_the_absolute_value(torch):
    z = leaf(torch, 3 + 4j, 0j)
    z.abs().sum().backward()
    close(z.grad, [0.6 + 0.8j, 0j])


def test_real_inputs_have_real_gradients(torch):
    x = leaf(torch, 1.0, 2.0)
    (x * (1 + 2j)).backward(torch.tensor([1 + 1j, 1j]))
    assert x.grad.dtype == torch.float32
    close(x.grad, [3.0, 2.0])


def test_complex_losses_need_a_gradient(torch):
    z = leaf(torch, 1 + 2j)
    with pytest.raises(RuntimeError, match="only for real scalar outputs"):
        (z * z).sum().backward()


def test_gradients_of_complex_outputs_are_complex(torch):
    z = leaf(torch, 1 + 2j)
    with pytest.raises(RuntimeError, match="same dtype"):
        (z * z).backward(torch.ones(1))
    x = leaf(torch, 1.0)
    with pytest.raises(RuntimeError, match="same dtype"):
        (x * x).backward(torch.ones(1, dtype=torch.complex64))


def test_second_derivatives(torch):
    z = leaf(torch, 1 + 2j)
    (first,) = torch.autograd.grad((z.abs() ** 4).sum(), z, create_graph=True)
    (second,) = torch.autograd.grad((first.abs() ** 2).sum(), z)
    # |z|^4 has the gradient 4 |z|^2 z, whose squared length 16 |z|^6 has the gradient 96 |z|^4 z
    close(first, [20 * (1 + 2j)])
    close(second, [96 * 25 * (1 + 2j)])


def test_writes_in_place(torch):
    z, w = leaf(torch, 1 + 2j, 3j), leaf(torch, 2 - 1j)
    x = z * 1
    x[:1].mul_(w)
    (x.abs() ** 2).sum().backward()
    close(z.grad, [2 * 5 * (1 + 2j), 6j])
    close(w.grad, [2 * 5 * (2 - 1j)])


def test_functions_return_gradients_of_the_kind_of_their_inputs(torch):
    class Turn(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 1j

    with pytest.raises(RuntimeError, match="input_is_complex == grad_is_complex"):
        Turn.apply(leaf(torch, 1.0)).backward()
    z = leaf(torch, 1 + 1j)
    Turn.apply(z).backward(torch.tensor([1 + 0j]))
    close(z.grad, [1j])


def test_complex_steps_between_real_numbers_do_not_matter(torch):
    """cos(x) by way of exp(ix)."""
    x = leaf(torch, 0.5, -1.0)
    ((x * 1j).exp().real * 3).sum().backward()
    close(x.grad, (-3 * torch.sin(x.detach())).tolist())


def test_real_factors_of_complex_numbers(torch):
    z = leaf(torch, 1 + 2j)
    (z * 3).backward(torch.tensor([1 + 0j]))
    close(z.grad, [3 + 0j])


def test_formulas_of_own_functions(torch):
    """For s = f(z): conj(g) ds/dconj(z) + g conj(ds/dz), and twice the first between domains."""

    class Square(torch.autograd.Function):  # holomorphic
        @staticmethod
        def forward(ctx, z):
            ctx.save_for_backward(z)
            return z * z

        @staticmethod
        def backward(ctx, gradient):
            (z,) = ctx.saved_tensors
            return gradient * (2 * z).conj()

    class Power(torch.autograd.Function):  # complex to real: z conj(z)
        @staticmethod
        def forward(ctx, z):
            ctx.save_for_backward(z)
            return z.real**2 + z.imag**2

        @staticmethod
        def backward(ctx, gradient):
            (z,) = ctx.saved_tensors
            return 2 * gradient * z

    class Turn(torch.autograd.Function):  # real to complex: (2 + i) x
        @staticmethod
        def forward(ctx, x):
            return x * (2 + 1j)

        @staticmethod
        def backward(ctx, gradient):
            return (gradient.conj() * (2 + 1j)).real

    z = torch.tensor([1 + 2j, -0.5j], dtype=torch.complex128, requires_grad=True)
    x = torch.tensor([0.5, -2.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(Square.apply, (z,))
    assert torch.autograd.gradcheck(Power.apply, (z,))
    assert torch.autograd.gradcheck(Turn.apply, (x,))


def test_optimizers_work_on_complex_parameters(torch):
    z = torch.nn.Parameter(torch.tensor([3 + 4j]))
    optimizer = torch.optim.SGD([z], lr=0.25)
    for _ in range(3):
        optimizer.zero_grad()
        (z.abs() ** 2).sum().backward()
        optimizer.step()
    close(z.detach(), [(3 + 4j) / 8])
