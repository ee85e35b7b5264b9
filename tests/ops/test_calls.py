"""What operators say of a call: numbers among tensors, warnings at the caller's line."""

from __future__ import annotations

import warnings

import pytest

import rushlight
from rushlight.ops.record import COMPOSITES, PRIMITIVES, Record

LISTS = [
    record
    for record in {**PRIMITIVES, **COMPOSITES}.values()
    if record.operator is not None
    and record.names
    and any(each.kind == "Tensors" for each in record.parameters[:1])
]


@pytest.mark.parametrize("record", LISTS, ids=lambda record: record.name)
def test_lists_of_tensors_hold_no_numbers(record: Record) -> None:
    with pytest.raises(TypeError, match=rf"{record.name}\(\): expected Tensor as element 1 .* int"):
        arguments = [rushlight.ones(2), 3]
        record.operator(*arguments) if record.parameters[0].variadic else record.operator(arguments)


def test_tensor_split_by_its_names() -> None:
    x = rushlight.arange(6)
    by = {"tensor_indices_or_sections": rushlight.tensor(2), "sections": 2, "indices": [3]}
    for name, value in by.items():
        halves = rushlight.tensor_split(x, **{name: value})
        assert [each.tolist() for each in halves] == [[0, 1, 2], [3, 4, 5]]


def test_warnings_name_the_line_of_the_caller() -> None:
    x = rushlight.rand(3, 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            rushlight.nn.functional.kl_div(x.log(), x)
            rushlight.nn.MSELoss()(x, x[:1])
    assert [each.filename for each in caught] == [__file__] * 4


def test_warnings_may_be_errors() -> None:
    x = rushlight.rand(4, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="batchmean"):
            rushlight.nn.functional.kl_div(x.log(), x)


def test_one_tensor_is_not_a_list_of_results() -> None:
    with pytest.raises(TypeError, match="'out' must be tuple of Tensors, not Tensor"):
        rushlight.unbind_copy(rushlight.ones(3, 1), 1, out=rushlight.ones(3))


def test_lists_in_the_place_of_tensors() -> None:
    with pytest.raises(TypeError, match="expected Tensor as element 0"):
        rushlight.atleast_2d([[1, 2], [3]])


@pytest.mark.parametrize("p", (2**21, 2**63 - 1))
def test_mvlgamma_of_endless_dims(p: int) -> None:
    with pytest.raises(RuntimeError, match="p must be at most"):
        rushlight.mvlgamma(rushlight.ones(0), p)


def test_tensors_in_lists_of_dims() -> None:
    x = rushlight.ones(2, 2)
    dims = (rushlight.tensor([1]), rushlight.tensor([0]))
    with pytest.raises(TypeError, match="tensordot.*lists with tensors"):
        rushlight.tensordot(x, x, dims=dims)
    assert rushlight.tensordot(x, x, dims=rushlight.tensor([[1], [0]])).tolist() == [[2, 2], [2, 2]]
    pieces = rushlight.tensor_split(rushlight.arange(6), [rushlight.tensor(1), 3])
    assert [each.tolist() for each in pieces] == [[0], [1, 2], [3, 4, 5]]
    with pytest.raises(TypeError, match="must be Tensor, not NoneType"):
        rushlight.Tensor.tensor_split(None, [rushlight.tensor(1), 3])


@pytest.mark.parametrize("shape", ((4, 0), (4, 2), (3,)))
def test_probabilities_of_other_shapes(shape: tuple[int, ...]) -> None:
    p = rushlight.ones(shape)
    with pytest.raises(TypeError, match="p must be a number"):
        rushlight.bernoulli(rushlight.ones(1), p)
    with pytest.raises(RuntimeError, match="does not expand"):
        rushlight.ones(2).bernoulli_(p)
