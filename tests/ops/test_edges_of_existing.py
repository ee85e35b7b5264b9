"""Edge cases in which operators once differed from PyTorch."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import rushlight

torch = pytest.importorskip("torch")
LIBRARIES = (rushlight, torch)
_NAN, _INF = float("nan"), float("inf")


def both(function: Any, numbers: Any) -> list[Any]:
    """Values and gradients of a function of one tensor in both libraries."""
    found = []
    for library in LIBRARIES:
        x = library.tensor(numbers, dtype=library.float64, requires_grad=True)
        y = function(library, x)
        (y * y + y).sum().backward()
        found.append((y.detach().numpy(), x.grad.numpy()))
    return found


def assert_same(found: list[Any]) -> None:
    for ours, theirs in zip(*found, strict=True):
        numpy.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize(
    "name",
    ["relu", "relu6", "elu", "selu", "celu", "softshrink", "hardswish", "hardsigmoid", "hardtanh"],
)
def test_gradients_of_activations_where_the_input_is_not_a_number(name: str) -> None:
    found = []
    for library in LIBRARIES:
        x = library.tensor([_NAN, _INF, -1.0, 0.0, 7.0], requires_grad=True)
        getattr(library.nn.functional, name)(x).backward(library.full((5,), 3.0))
        found.append(x.grad.numpy())
    numpy.testing.assert_allclose(*found, rtol=1e-6)


@pytest.mark.parametrize("order", [-1, -3.5, -0.5])
@pytest.mark.parametrize(
    "numbers", [[0.0, 0, 0], [0.0, 2, -3], [1.0, 2, 3], [0.0, _INF, 1], [_INF, 1, 1], [_NAN, 1, 1]]
)
def test_norms_of_negative_order_are_flat_at_zero(order: float, numbers: list[float]) -> None:
    assert_same(both(lambda library, x: library.linalg.vector_norm(x, order), numbers))


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 0, 0)])
@pytest.mark.parametrize("order", [_INF, 1])
def test_the_greatest_norm_of_no_rows_is_zero(shape: tuple[int, ...], order: float) -> None:
    ours, theirs = (
        library.linalg.matrix_norm(library.ones(shape), order, keepdim=True)
        for library in LIBRARIES
    )
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert not ours.any()


@pytest.mark.parametrize(
    "pad", [(-4, 5), (-5, 6), (2, -4), (2, -5), (6, -5), (1, -1), (-1, 2), (3, 1)]
)
def test_replicating_pads_take_edges_that_are_cut_off(pad: tuple[int, int]) -> None:
    assert_same(
        both(
            lambda library, x: library.nn.functional.pad(x, pad, "replicate"),
            [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 9.0]],
        )
    )


@pytest.mark.parametrize("pad", [(-1, -3), (-4, 0), (-5, 1)])
def test_replicating_pads_leave_something(pad: tuple[int, int]) -> None:
    with pytest.raises(RuntimeError, match="leaves nothing of the 4 elements of dim 1"):
        rushlight.nn.functional.pad(rushlight.ones(1, 4), pad, "replicate")


def test_copies_of_parts_go_to_a_list() -> None:
    x = rushlight.tensor([[1.0, 2.0], [3.0, 4.0]])
    out = [rushlight.empty(0), rushlight.empty(2)]
    assert rushlight.unbind_copy(x, out=out) is None
    assert [part.tolist() for part in out] == [[1, 2], [3, 4]]
    one = rushlight.empty(2, 2)
    assert rushlight.split_with_sizes_copy(x, [2], out=[one]) is None
    assert one.equal(x)
    with pytest.raises(RuntimeError, match="'out' must be 2 Tensors, not 1"):
        rushlight.unbind_copy(x, out=out[:1])
    with pytest.raises(RuntimeError, match="unbind_copy.*torch.float32"):
        rushlight.unbind_copy(x, out=[part.double() for part in out])


def test_bad_input() -> None:
    x = rushlight.ones(3, 4)
    with pytest.raises(RuntimeError, match="narrow_copy"):
        rushlight.narrow_copy(x, 2, 0, 0)
    with pytest.raises(IndexError):
        rushlight.narrow_copy(x, -3, 0, 0)
    with pytest.raises(RuntimeError, match="multinomial.*torch.int64"):
        rushlight.multinomial(x, 2, out=rushlight.empty(3, 2))
    with pytest.raises(ValueError, match="one-dimensional"):
        target = rushlight.zeros(3, dtype=rushlight.int64)
        rushlight.nn.functional.multi_margin_loss(x, target, weight=rushlight.ones(()))


@pytest.mark.parametrize("shape, dim", (((0, 2), 1), ((2, 0), 0), ((0, 0), 1)))
def test_index_fill_looks_at_no_index_where_nothing_is_written(shape, dim):
    x = rushlight.ones(shape)
    assert x.index_fill_(dim, rushlight.tensor([102]), 1.0) is x
    assert x.index_fill(dim, rushlight.tensor([102]), 1.0) is not x
    with pytest.raises((RuntimeError, IndexError)):
        rushlight.ones(0).index_fill_(0, rushlight.tensor([0]), 1.0)


def test_lcm_that_the_type_does_not_hold_wraps_around_and_is_positive():
    values = [2147483647, -5, 6], [2, 10, -4]
    found, expected = (
        m.lcm(*(m.tensor(each, dtype=m.int32) for each in values)) for m in (rushlight, torch)
    )
    assert found.tolist() == expected.tolist() == [2, 10, 12]
    for name in ("int8", "uint8", "int16"):
        found, expected = (
            m.lcm(*(m.tensor(each, dtype=getattr(m, name)) for each in ([100, 77], [-44, 3])))
            for m in (rushlight, torch)
        )
        assert found.tolist() == expected.tolist()


def test_true_as_the_subscript_is_a_new_dim_also_in_writes():
    for value in (rushlight.ones(3, dtype=rushlight.float16), rushlight.ones(1, 1, 2, 3), 1):
        x = rushlight.zeros(2, 3)
        x[True] = value
        assert x.tolist() == [[1, 1, 1], [1, 1, 1]]
    with pytest.raises(RuntimeError, match="dtypes"):
        x[(True,)] = rushlight.ones(3, dtype=rushlight.float16)


def test_numbers_that_bound_beside_tensors_must_fit_too():
    x = rushlight.ones(2).half()
    for bounds in ((-(2**63), rushlight.tensor(1.0).half()), (-1e30, 1)):
        with pytest.raises(RuntimeError, match="without overflow"):
            x.clamp(*bounds)
