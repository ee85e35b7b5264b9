"""Forward mode on tensors: the statements of PyTorch's notes on forward-mode differentiation."""

from __future__ import annotations

import pytest


def test_tangents_go_along(torch):
    forward = torch.autograd.forward_ad
    x, direction = torch.tensor([1.0, 2.0]), torch.tensor([10.0, 1.0])
    with forward.dual_level():
        dual = forward.make_dual(x, direction)
        value, tangent = forward.unpack_dual(dual * dual)
        assert value.tolist() == [1.0, 4.0] and tangent.tolist() == [20.0, 4.0]


def test_plain_tensors_have_no_tangent(torch):
    forward = torch.autograd.forward_ad
    with forward.dual_level():
        value, tangent = forward.unpack_dual(torch.ones(2))
        assert value.tolist() == [1.0, 1.0] and tangent is None


def test_tangents_end_with_their_level(torch):
    forward = torch.autograd.forward_ad
    with forward.dual_level():
        dual = forward.make_dual(torch.ones(2), torch.ones(2))
    assert forward.unpack_dual(dual).tangent is None


def test_levels_do_not_nest(torch):
    forward = torch.autograd.forward_ad
    with (
        forward.dual_level(),
        pytest.raises(RuntimeError, match="Nested forward mode AD"),
        forward.dual_level(),
    ):
        pass


def test_dual_tensors_need_a_level(torch):
    with pytest.raises(RuntimeError, match="no level exists"):
        torch.autograd.forward_ad.make_dual(torch.ones(2), torch.ones(2))


def test_tangents_must_fit(torch):
    forward = torch.autograd.forward_ad
    with forward.dual_level():
        with pytest.raises(RuntimeError):
            forward.make_dual(torch.ones(2), torch.ones(3))
        with pytest.raises(ValueError, match="floating point or complex"):
            forward.make_dual(torch.ones(2, dtype=torch.int64), torch.ones(2))


def test_gradients_of_tangents(torch):
    """Reverse mode over forward mode: the product of the Hessian with the direction."""
    forward = torch.autograd.forward_ad
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with forward.dual_level():
        dual = forward.make_dual(x, torch.tensor([10.0, 1.0]))
        tangent = forward.unpack_dual((dual**3).sum()).tangent
        (product,) = torch.autograd.grad(tangent, x)
    assert product.tolist() == [60.0, 12.0]


def test_writes_in_place_change_the_tangent(torch):
    forward = torch.autograd.forward_ad
    with forward.dual_level():
        dual = forward.make_dual(torch.tensor([1.0, 2.0]), torch.ones(2))
        x = dual.clone()
        x[0].mul_(5)
        assert forward.unpack_dual(x).tangent.tolist() == [5.0, 1.0]


def test_transforms_nest_where_levels_do_not(torch):
    def slope(x):
        return torch.func.jvp(torch.sin, (x,), (torch.ones_like(x),))[1]

    x = torch.tensor([0.0, 1.0])
    _, curvature = torch.func.jvp(slope, (x,), (torch.ones_like(x),))
    assert torch.allclose(curvature, -torch.sin(x))
