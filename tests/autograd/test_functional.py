"""`autograd.functional`, `gradcheck`, `gradgradcheck`: one test for each behaviour."""

from __future__ import annotations

import pytest


def vector(torch, *values):
    return torch.tensor(list(values), dtype=torch.float64)


def cube(x):
    return (x * x * x).sum()


# ---------------------------------------------------------------- jacobian


def test_jacobian(torch):
    x = vector(torch, 1.0, 2.0)
    result = torch.autograd.functional.jacobian(lambda x: x * x, x)
    assert result.tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert not result.requires_grad and not x.requires_grad


def test_jacobian_of_tuples(torch):
    x, y = vector(torch, 1.0, 2.0), vector(torch, 3.0)
    jacobian = torch.autograd.functional.jacobian
    (by_x, by_y), (second_by_x, second_by_y) = jacobian(lambda x, y: (x * y, y.exp()), (x, y))
    assert by_x.tolist() == [[3.0, 0.0], [0.0, 3.0]]
    assert by_y.tolist() == [[1.0], [2.0]]
    assert second_by_x.tolist() == [[0.0, 0.0]]
    assert torch.allclose(second_by_y, y.exp().view(1, 1))


def test_jacobian_shapes(torch):
    x = torch.rand(2, 3, dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian
    assert jacobian(lambda x: x.sum(), x).shape == (2, 3)
    assert jacobian(lambda x: x.sum(1), x).shape == (2, 2, 3)
    assert jacobian(lambda x: (x,), x)[0].shape == (2, 3, 2, 3)
    assert jacobian(lambda x: x, (x,))[0].shape == (2, 3, 2, 3)
    assert torch.equal(
        jacobian(lambda x: x.exp(), x, vectorize=True), jacobian(lambda x: x.exp(), x)
    )


def test_jacobian_with_a_graph(torch):
    x = vector(torch, 2.0).requires_grad_()
    result = torch.autograd.functional.jacobian(lambda x: x * x * x, x, create_graph=True)
    result.sum().backward()
    assert x.grad.tolist() == [12.0]


def test_jacobian_in_strict_mode(torch):
    jacobian = torch.autograd.functional.jacobian
    x = vector(torch, 2.0)
    assert jacobian(lambda x: torch.ones(1), x).tolist() == [[0.0]]
    with pytest.raises(RuntimeError, match="does not require gradients"):
        jacobian(lambda x: torch.ones(1), x, strict=True)
    with pytest.raises(RuntimeError, match="independent of input 1"):
        jacobian(lambda x, y: x, (x, x.clone()), strict=True)
    with pytest.raises(RuntimeError, match="independent of input 0"):
        jacobian(lambda x: x * 2, x, strict=True, create_graph=True)
    with pytest.raises(RuntimeError, match="not supported together"):
        jacobian(lambda x: x, x, strict=True, vectorize=True)


def test_arguments_must_be_tensors(torch):
    functional = torch.autograd.functional
    x = vector(torch, 2.0)
    with pytest.raises(TypeError, match="inputs given to jacobian must be either a Tensor"):
        functional.jacobian(lambda x: x, 3)
    with pytest.raises(TypeError, match="the value at index 1 has type"):
        functional.vjp(lambda x, y: x, (x, 3), x)
    with pytest.raises(TypeError, match="outputs of the user-provided function given to hessian"):
        functional.hessian(lambda x: 3, x)


# ---------------------------------------------------------------- products


def test_vjp(torch):
    x, v = vector(torch, 1.0, 2.0), vector(torch, 3.0, 5.0)
    output, product = torch.autograd.functional.vjp(lambda x: x * x, x, v)
    assert output.tolist() == [1.0, 4.0] and product.tolist() == [6.0, 20.0]
    assert not output.requires_grad and not product.requires_grad


def test_vjp_without_v(torch):
    vjp = torch.autograd.functional.vjp
    assert vjp(cube, vector(torch, 2.0))[1].tolist() == [12.0]
    with pytest.raises(RuntimeError, match="v can only be None if the user-provided function"):
        vjp(lambda x: x, vector(torch, 1.0, 2.0))


def test_wrong_v(torch):
    functional = torch.autograd.functional
    x = vector(torch, 1.0, 2.0)
    with pytest.raises(RuntimeError, match="v has invalid size: should be"):
        functional.vjp(lambda x: x, x, vector(torch, 1.0))
    with pytest.raises(
        RuntimeError, match="v is a tuple of invalid length: (should be 2 but got 1|1 instead of 2)"
    ):
        functional.vjp(lambda x: (x, x), x, x)
    with pytest.raises(RuntimeError, match="Entry 1 in v has invalid size"):
        functional.vjp(lambda x: (x, x), x, (x, vector(torch, 1.0)))


def test_jvp(torch):
    x, v = vector(torch, 1.0, 2.0), vector(torch, 3.0, 5.0)
    output, product = torch.autograd.functional.jvp(lambda x: (x * x, x.sum()), x, v)
    assert output[0].tolist() == [1.0, 4.0] and output[1].item() == 3.0
    assert product[0].tolist() == [6.0, 20.0] and product[1].item() == 8.0


def test_jvp_of_a_constant(torch):
    jvp = torch.autograd.functional.jvp
    x = vector(torch, 1.0)
    assert jvp(lambda x: torch.ones(2), x, x)[1].tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="does not require gradients"):
        jvp(lambda x: torch.ones(2), x, x, strict=True)


def test_products_with_a_graph(torch):
    functional = torch.autograd.functional
    for product in (functional.vjp, functional.jvp):
        x = vector(torch, 2.0).requires_grad_()
        v = vector(torch, 3.0).requires_grad_()
        product(lambda x: x * x * x, x, v, create_graph=True)[1].sum().backward()
        assert x.grad.tolist() == [36.0] and v.grad.tolist() == [12.0]


# ---------------------------------------------------------------- hessian


def test_hessian(torch):
    x = vector(torch, 1.0, 2.0)
    assert torch.autograd.functional.hessian(cube, x).tolist() == [[6.0, 0.0], [0.0, 12.0]]


def test_hessian_of_tuples(torch):
    x, y = vector(torch, 1.0, 2.0), vector(torch, 3.0)
    result = torch.autograd.functional.hessian(lambda x, y: (x * x * y).sum(), (x, y))
    assert result[0][0].tolist() == [[6.0, 0.0], [0.0, 6.0]]
    assert result[0][1].tolist() == [[2.0], [4.0]]
    assert result[1][0].tolist() == [[2.0, 4.0]]
    assert result[1][1].tolist() == [[0.0]]


def test_hessian_needs_one_number(torch):
    hessian = torch.autograd.functional.hessian
    with pytest.raises(RuntimeError, match="should contain a single element"):
        hessian(lambda x: x, vector(torch, 1.0, 2.0))
    with pytest.raises(RuntimeError, match="should return a single Tensor"):
        hessian(lambda x: (x, x), vector(torch, 1.0))


def test_hessian_in_strict_mode(torch):
    with pytest.raises(RuntimeError, match="independent of"):
        torch.autograd.functional.hessian(lambda x: x.sum(), vector(torch, 1.0), strict=True)
    for name in ("hvp", "vhp"):
        product = getattr(torch.autograd.functional, name)
        with pytest.raises(RuntimeError, match="While computing the hessian, found that"):
            product(lambda x: x.sum(), vector(torch, 1.0), strict=True)
        with pytest.raises(RuntimeError, match="The output .* independent of input 1"):
            product(
                lambda x, y: cube(x),
                (vector(torch, 1.0),) * 2,
                (vector(torch, 1.0),) * 2,
                strict=True,
            )


@pytest.mark.parametrize("name", ["vhp", "hvp"])
def test_products_with_hessians(torch, name):
    product = getattr(torch.autograd.functional, name)
    x, y = vector(torch, 1.0, 2.0), vector(torch, 3.0)
    output, result = product(
        lambda x, y: (x * x * y).sum(), (x, y), (vector(torch, 1.0, 0.0), vector(torch, 1.0))
    )
    assert output.item() == 15.0
    assert result[0].tolist() == [8.0, 4.0] and result[1].tolist() == [2.0]
    assert product(lambda x: x.sum(), x, x)[1].tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="v can only be None if the input"):
        product(cube, x)


# ---------------------------------------------------------------- gradcheck


def leaf(torch, *values, dtype="float64"):
    return torch.tensor(list(values), dtype=getattr(torch, dtype), requires_grad=True)


def wrong(torch, factor):
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * factor

    return Wrong.apply


@pytest.mark.parametrize("fast_mode", [False, True])
def test_gradcheck(torch, fast_mode):
    check = torch.autograd.gradcheck
    x, y = leaf(torch, 0.3, 0.7), leaf(torch, 0.2)
    assert check(lambda x, y: (x.sin() * y, y.exp()), (x, y), fast_mode=fast_mode)
    assert check(wrong(torch, 2), x, fast_mode=fast_mode)
    assert not check(wrong(torch, 3), x, fast_mode=fast_mode, raise_exception=False)
    with pytest.raises(
        RuntimeError, match="Jacobian mismatch for output 0 with respect to input 0"
    ):
        check(wrong(torch, 3), x, fast_mode=fast_mode)
    assert issubclass(torch.autograd.gradcheck.__globals__["GradcheckError"], RuntimeError)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_gradcheck_of_complex_functions(torch, fast_mode):
    check = torch.autograd.gradcheck
    x = leaf(torch, 0.3 + 0.1j, 0.7 - 0.4j, dtype="complex128")
    for function in (
        lambda x: x * x,
        lambda x: x.conj() * x.exp(),
        lambda x: x.abs(),
        lambda x: torch.real(x) * torch.imag(x),
    ):
        assert check(function, (x,), fast_mode=fast_mode)
    assert check(lambda x: x * (1 + 2j), leaf(torch, 0.3, 0.7), fast_mode=fast_mode)
    assert not check(wrong(torch, 2j), x, fast_mode=fast_mode, raise_exception=False)


def test_gradcheck_needs_an_input_with_gradient(torch):
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        torch.autograd.gradcheck(lambda x: x, vector(torch, 1.0))


def test_gradcheck_warns_of_single_precision(torch):
    x = leaf(torch, 1.0, dtype="float32")
    with pytest.warns(UserWarning, match="not a double precision"):
        torch.autograd.gradcheck(lambda x: x * 2, x, eps=1e-2, atol=1e-2)


def test_gradcheck_refuses_overlapping_inputs(torch):
    x = vector(torch, 1.0).expand(3).requires_grad_()
    with pytest.raises(RuntimeError, match="has a dimension with stride 0"):
        torch.autograd.gradcheck(lambda x: x * 2, x)


def test_gradcheck_finds_gradients_that_differ_between_runs(torch):
    calls = []

    class Drifting(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            calls.append(1)
            return gradient * (2 + 1e-7 * len(calls))

    x = leaf(torch, 1.0)
    with pytest.raises(RuntimeError, match="Backward is not reentrant"):
        torch.autograd.gradcheck(Drifting.apply, x)
    assert torch.autograd.gradcheck(Drifting.apply, x, nondet_tol=1e-3)


def test_gradcheck_finds_gradients_that_need_defined_ones(torch):
    class Needs(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            if gradient is None:
                raise RuntimeError("undefined")
            return gradient * 2

    x = leaf(torch, 1.0)
    assert torch.autograd.gradcheck(Needs.apply, x, check_undefined_grad=False)
    with pytest.raises(RuntimeError, match="to handle undefined output grads"):
        torch.autograd.gradcheck(Needs.apply, x)


def test_gradcheck_leaves_inputs_as_they_were(torch):
    x = leaf(torch, 0.3, 0.7)
    torch.autograd.gradcheck(lambda x: x.sin(), x)
    assert x.tolist() == [0.3, 0.7]


def test_gradgradcheck(torch):
    check = torch.autograd.gradgradcheck
    x, y = leaf(torch, 0.3, 0.7), leaf(torch, 0.2)
    assert check(lambda x, y: x.sin() * y.exp(), (x, y))
    assert check(lambda x, y: x.sin() * y.exp(), (x, y), fast_mode=True)
    assert check(lambda x: x.sin(), (x,), (leaf(torch, 1.0, 2.0),))
    assert check(lambda x: x.sin(), (x,), gen_non_contig_grad_outputs=True)


def test_gradgradcheck_finds_wrong_second_gradients(torch):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return 2 * x.detach() * gradient  # right, but constant

    x = leaf(torch, 0.5)
    assert torch.autograd.gradcheck(Square.apply, x)
    assert not torch.autograd.gradgradcheck(Square.apply, x, raise_exception=False)
