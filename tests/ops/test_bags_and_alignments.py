"""Bags of embeddings and connectionist temporal classification beside PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import rushlight

torch = pytest.importorskip("torch")
LIBRARIES = (rushlight, torch)
NAN, INF = float("nan"), float("inf")


def assert_same(results: list[list[Any]], tolerance: float = 1e-12) -> None:
    for ours, theirs in zip(*results, strict=True):
        assert ours.shape == theirs.shape
        numpy.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


# ---------------------------------------------------------------- bags

TABLE = numpy.random.default_rng(0).standard_normal((6, 3))
BAGS = [
    ([[0, 2, 5], [1, 1, 2]], None, False),
    ([0, 2, 5, 1, 1, 2], [0, 2, 2, 6], False),
    ([0, 2, 5, 1, 1, 2], [0, 2, 2, 6], True),
    ([2, 2], [0, 1], False),
]


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding", [None, 2, -1])
@pytest.mark.parametrize("indices, offsets, last", BAGS)
@pytest.mark.parametrize("weighted", [False, True])
def test_bags(
    mode: str, padding: int | None, indices: Any, offsets: Any, last: bool, weighted: bool
) -> None:
    if weighted and mode != "sum":
        pytest.skip("weights are for sums")
    results = []
    for library in LIBRARIES:
        table = library.tensor(TABLE, requires_grad=True)
        input = library.tensor(indices)
        factors = None
        if weighted:
            factors = library.linspace(-1, 2, input.numel(), dtype=library.float64)
            factors = factors.reshape(input.shape).requires_grad_()
        y = library.nn.functional.embedding_bag(
            input,
            table,
            None if offsets is None else library.tensor(offsets),
            mode=mode,
            per_sample_weights=factors,
            include_last_offset=last,
            padding_idx=padding,
        )
        (y * y + y).sum().backward()
        found = [y, table.grad] if factors is None else [y, table.grad, factors.grad]
        results.append([each.detach().numpy() for each in found])
    assert_same(results)


def test_no_indices_give_zeros() -> None:
    none = rushlight.tensor([], dtype=rushlight.int64)
    for mode in ("sum", "mean", "max"):
        table = rushlight.ones(6, 3, requires_grad=True)
        y = rushlight.nn.functional.embedding_bag(none, table, rushlight.tensor([0, 0]), mode=mode)
        assert y.shape == (2, 3) and not y.any()
        y.sum().backward()
        assert table.grad is not None and not table.grad.any()


def test_gradients_are_divided_by_frequency() -> None:
    table = rushlight.ones(4, 1, requires_grad=True)
    bags = rushlight.tensor([[1, 1], [1, 2]])
    rushlight.nn.functional.embedding_bag(
        bags, table, mode="sum", scale_grad_by_freq=True
    ).sum().backward()
    assert table.grad is not None and table.grad.flatten().tolist() == [0, 1, 1, 0]


def test_long_rows_are_shortened_in_place() -> None:
    results = []
    for library in LIBRARIES:
        table = library.tensor(TABLE)
        bags = library.tensor([[0, 1], [1, 2]])
        y = library.nn.functional.embedding_bag(bags, table, max_norm=0.5)
        results.append([y.numpy(), table.numpy()])
    assert_same(results, 1e-6)


@pytest.mark.parametrize(
    "kwargs, error",
    [
        ({"offsets": [0]}, ValueError),
        ({"mode": "median"}, ValueError),
        ({"mode": "max", "scale_grad_by_freq": True}, ValueError),
        ({"mode": "mean", "per_sample_weights": numpy.ones((1, 2))}, NotImplementedError),
        ({"mode": "sum", "per_sample_weights": numpy.ones(3)}, ValueError),
        ({"padding_idx": 6}, (RuntimeError, AssertionError)),
    ],
)
def test_wrong_bags(kwargs: dict[str, Any], error: Any) -> None:
    for library in LIBRARIES:
        options = {
            key: library.tensor(value) if isinstance(value, list | numpy.ndarray) else value
            for key, value in kwargs.items()
        }
        with pytest.raises(error):
            table = library.tensor(TABLE)
            library.nn.functional.embedding_bag(library.tensor([[0, 1]]), table, **options)


@pytest.mark.parametrize("offsets", [[1, 2], [0, 9], [0, -1]])
def test_offsets_lie_among_the_indices(offsets: list[int]) -> None:
    with pytest.raises(RuntimeError, match="embedding_bag: offsets"):
        rushlight.nn.functional.embedding_bag(
            rushlight.tensor([1, 2]), rushlight.ones(6, 1), rushlight.tensor(offsets)
        )


# ---------------------------------------------------------------- alignments

LOGITS = numpy.random.default_rng(1).standard_normal((5, 2, 4))
TARGETS = [[1, 2], [3, 1]]


def losses(library: Any, targets: Any, times: Any, lengths: Any, **options: Any) -> list[Any]:
    """The losses, and the gradient of their sum by the log-probabilities."""
    scores = library.tensor(LOGITS).log_softmax(2).requires_grad_()
    loss = library.nn.functional.ctc_loss(
        scores, library.tensor(targets), times, lengths, **options
    )
    loss.sum().backward()
    return [loss.detach().numpy(), scores.grad.numpy()]


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("zero_infinity", [False, True])
@pytest.mark.parametrize(
    "targets, times, lengths",
    [
        (TARGETS, (5, 5), (2, 2)),
        ([1, 2, 3, 1], (5, 5), (2, 2)),
        (TARGETS, (4, 5), (2, 1)),
        ([3, 3, 1], (5, 4), (2, 1)),
        (TARGETS, (1, 5), (2, 2)),
        (TARGETS, (5, 3), (0, 2)),
        (TARGETS, (0, 5), (0, 2)),
        ([[1, 1], [2, 2]], (3, 2), (2, 2)),
    ],
)
def test_losses(
    reduction: str, zero_infinity: bool, targets: Any, times: Any, lengths: Any
) -> None:
    options = {"reduction": reduction, "zero_infinity": zero_infinity}
    results = [losses(library, targets, times, lengths, **options) for library in LIBRARIES]
    assert_same(results, 1e-10)


def test_other_blanks_lengths_in_tensors_and_no_batch() -> None:
    results = []
    for library in LIBRARIES:
        ctc_loss = library.nn.functional.ctc_loss
        scores = library.tensor(LOGITS).log_softmax(2)
        times, lengths = library.tensor([5, 4]), library.tensor([2, 1])
        targets = library.tensor([[0, 1], [2, 0]])
        found = [
            ctc_loss(scores, targets, times, lengths, blank=3, reduction="none"),
            ctc_loss(scores[:, 0], targets[0], (5,), (2,), blank=3, reduction="none"),
            ctc_loss(scores[:, 0], targets[0], library.tensor(5), library.tensor(2), blank=3),
        ]
        results.append([each.numpy() for each in found])
    assert_same(results, 1e-10)


def test_the_loss_is_the_sum_over_all_alignments() -> None:
    scores = rushlight.tensor(LOGITS[:3, :1]).log_softmax(2)
    loss = rushlight.nn.functional.ctc_loss(scores, rushlight.tensor([[1, 2]]), (3,), (2,))
    p = scores[:, 0].exp().numpy()
    ways = [(1, 1, 2), (1, 2, 2), (0, 1, 2), (1, 0, 2), (1, 2, 0)]
    total = sum(p[0, a] * p[1, b] * p[2, c] for a, b, c in ways)
    numpy.testing.assert_allclose(loss.item() * 2, -numpy.log(total))


def test_long_sequences_do_not_underflow() -> None:
    scores = rushlight.zeros(2000, 1, 30).log_softmax(2)
    targets = rushlight.randint(1, 30, (1, 300))
    loss = rushlight.nn.functional.ctc_loss(scores, targets, (2000,), (300,), reduction="sum")
    assert 0 < loss.item() < INF


@pytest.mark.parametrize(
    "times, lengths, options",
    [
        ((6, 5), (2, 2), {}),
        ((5, 5), (3, 2), {}),
        ((5,), (2, 2), {}),
        ((5, 5), (2,), {}),
        ((-1, 5), (2, 2), {}),
        ((5, 5), (-1, 2), {}),
        ((5, 5), (2, 2), {"blank": 4}),
        ((5, 5), (2, 2), {"blank": -1}),
    ],
)
def test_wrong_lengths(times: Any, lengths: Any, options: dict[str, Any]) -> None:
    for library in LIBRARIES:
        with pytest.raises(RuntimeError):
            losses(library, TARGETS, times, lengths, **options)


def test_targets_out_of_range_and_other_wrong_calls() -> None:
    with pytest.raises(RuntimeError, match="out of range"):
        losses(rushlight, [[9, 2], [3, 1]], (5, 5), (2, 2))
    scores = rushlight.zeros(5, 2, 4)
    ctc_loss = rushlight.nn.functional.ctc_loss
    targets = rushlight.tensor(TARGETS)
    with pytest.raises(NotImplementedError, match="Half"):
        ctc_loss(scores.half(), targets, (5, 5), (2, 2))
    with pytest.raises(TypeError, match="input_lengths"):
        ctc_loss(scores, targets, rushlight.tensor([5.0, 5.0]), (2, 2))
    with pytest.raises(ValueError, match="reduction"):
        ctc_loss(scores, targets, (5, 5), (2, 2), reduction="most")
    with pytest.raises(NotImplementedError, match="second derivative"):
        x = scores.requires_grad_()
        loss = ctc_loss(x.log_softmax(2), targets, (5, 5), (2, 2))
        (first,) = rushlight.autograd.grad(loss, x, create_graph=True)
        first.sum().backward()
