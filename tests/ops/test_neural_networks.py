"""Neural-network operators: what the laws over the table do not see."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import rushlight

torch = pytest.importorskip("torch")
LIBRARIES = (rushlight, torch)


def draw(*shape: int, seed: int = 0) -> numpy.ndarray:
    return numpy.random.default_rng(seed).uniform(-2, 2, shape)


def assert_close(ours: Any, theirs: Any, tolerance: float = 1e-10) -> None:
    assert tuple(ours.shape) == tuple(theirs.shape)
    numpy.testing.assert_allclose(
        ours.detach().numpy(), theirs.detach().numpy(), rtol=tolerance, atol=tolerance
    )


# ---------------------------------------------------------------- normalisation


@pytest.mark.parametrize("affine", [True, False])
def test_batch_norm_moves_running_statistics(affine: bool) -> None:
    results = []
    for library in LIBRARIES:
        x = library.from_numpy(draw(4, 3, 5, 2)).requires_grad_()
        mean, variance = library.from_numpy(draw(3, seed=1)), library.from_numpy(draw(3, seed=2))
        weight = library.from_numpy(draw(3, seed=3)).requires_grad_() if affine else None
        batch_norm = library.nn.functional.batch_norm
        y = batch_norm(x, mean, variance, weight, None, training=True, momentum=0.3)
        (y * y * y).sum().backward()
        z = batch_norm(x, mean, variance.abs(), weight, None)
        gradients = [x.grad] if weight is None else [x.grad, weight.grad]
        results.append([y, z, mean, variance, *gradients])
    for ours, theirs in zip(*results, strict=True):
        assert_close(ours, theirs)


def test_batch_norm_in_evaluation_writes_nothing() -> None:
    mean, variance = rushlight.zeros(3), rushlight.ones(3)
    x = rushlight.ones(2, 3, requires_grad=True)
    y = rushlight.nn.functional.batch_norm(x, mean, variance)
    assert mean._version == 0
    y.sum().backward()
    assert x.grad is not None
    batched = rushlight.func.vmap(
        lambda example: rushlight.nn.functional.batch_norm(example, mean, variance)
    )
    assert batched(rushlight.ones(4, 2, 3)).shape == (4, 2, 3)


def test_batch_norm_of_an_empty_batch_keeps_the_statistics() -> None:
    mean, variance = rushlight.zeros(3), rushlight.ones(3)
    y = rushlight.nn.functional.batch_norm(rushlight.ones(0, 3), mean, variance, training=True)
    assert y.shape == (0, 3)
    assert mean.tolist() == [0, 0, 0] and variance.tolist() == [1, 1, 1]


@pytest.mark.parametrize("shape", [(1, 3), (1, 3, 1, 1)])
def test_batch_norm_needs_more_than_one_value(shape: tuple[int, ...]) -> None:
    for library in LIBRARIES:
        with pytest.raises(ValueError, match="more than 1 value per channel"):
            library.nn.functional.batch_norm(library.ones(shape), None, None, training=True)


def test_instance_norm_moves_running_statistics() -> None:
    results = []
    for library in LIBRARIES:
        x = library.from_numpy(draw(4, 3, 5))
        mean, variance = library.zeros(3), library.ones(3)
        y = library.nn.functional.instance_norm(x.to(library.float32), mean, variance)
        results.append([y, mean, variance])
    for ours, theirs in zip(*results, strict=True):
        assert_close(ours, theirs, 1e-5)


def test_local_response_norm() -> None:
    results = [
        library.nn.functional.local_response_norm(
            library.from_numpy(draw(2, 6, 3)), 4, alpha=0.3, beta=0.6, k=0.5
        )
        for library in LIBRARIES
    ]
    assert_close(*results)


# ---------------------------------------------------------------- embedding


@pytest.mark.parametrize("by_frequency", [True, False])
@pytest.mark.parametrize("padding", [None, 2, -1])
def test_embedding_gradient(padding: int | None, by_frequency: bool) -> None:
    indices = numpy.array([[0, 2, 2], [3, 3, 3]])
    results = []
    for library in LIBRARIES:
        weight = library.from_numpy(draw(4, 5)).requires_grad_()
        y = library.nn.functional.embedding(
            library.from_numpy(indices), weight, padding, scale_grad_by_freq=by_frequency
        )
        (y * library.from_numpy(draw(2, 3, 5, seed=1))).sum().backward()
        results.append([y, weight.grad])
    for ours, theirs in zip(*results, strict=True):
        assert_close(ours, theirs)


def test_embedding_with_max_norm_scales_the_rows_in_place() -> None:
    indices = numpy.array([0, 2, 2])
    results = []
    for library in LIBRARIES:
        weight = library.from_numpy(draw(4, 5)).requires_grad_()
        y = library.nn.functional.embedding(library.from_numpy(indices), weight, max_norm=0.5)
        y.sum().backward()
        results.append([y, weight, weight.grad])
    for ours, theirs in zip(*results, strict=True):
        assert_close(ours, theirs, 1e-6)


def test_embedding_refuses_what_it_has_not() -> None:
    weight = rushlight.ones(4, 5, requires_grad=True)
    index = rushlight.tensor([1, 4])
    with pytest.raises(IndexError):
        rushlight.nn.functional.embedding(index, weight)
    with pytest.raises(IndexError):
        rushlight.nn.functional.embedding(rushlight.tensor([-1]), weight)
    with pytest.raises(NotImplementedError, match="sparse"):
        rushlight.nn.functional.embedding(rushlight.tensor([1]), weight, sparse=True)


# ---------------------------------------------------------------- attention


def test_attention_of_a_row_that_is_masked_throughout_is_zero() -> None:
    results = []
    for library in LIBRARIES:
        q, k, v = (library.from_numpy(draw(2, 3, 4, seed=s)).requires_grad_() for s in range(3))
        mask = library.from_numpy(numpy.array([[1, 1, 0], [0, 0, 0], [0, 1, 1]], bool))
        y = library.nn.functional.scaled_dot_product_attention(q, k, v, mask)
        (y * y).sum().backward()
        results.append([y, q.grad, k.grad, v.grad])
    for ours, theirs in zip(*results, strict=True):
        assert_close(ours, theirs)


# ---------------------------------------------------------------- convolution and pooling


@pytest.mark.parametrize(
    "name, shape, weight, options",
    [
        ("conv2d", (2, 4, 7, 6), (6, 2, 3, 2), {"stride": (2, 1), "padding": 1, "groups": 2}),
        ("conv2d", (5, 64, 7, 7), (32, 64, 3, 3), {"padding": 1}),
        ("conv2d", (2, 64, 20, 20), (32, 64, 1, 1), {"stride": 2}),
        ("conv2d", (2, 3, 40, 50), (16, 3, 7, 7), {"stride": 2, "padding": 3}),
        ("conv1d", (4, 9), (8, 4, 3), {"padding": "same"}),
        ("conv_transpose2d", (2, 4, 5, 6), (4, 3, 3, 2), {"dilation": 2, "output_padding": 1}),
    ],
)
def test_second_derivatives_of_convolutions(
    name: str, shape: tuple[int, ...], weight: tuple[int, ...], options: dict[str, Any]
) -> None:
    results = []
    for library in LIBRARIES:
        x = library.from_numpy(draw(*shape)).requires_grad_()
        w = library.from_numpy(draw(*weight, seed=1)).requires_grad_()
        y = getattr(library.nn.functional, name)(x, w, **options)
        first = library.autograd.grad((y * y * y).sum(), [x, w], create_graph=True)
        total = (first[0] * first[0]).sum() + (first[1] * first[1]).sum()
        second = library.autograd.grad(total, [x, w])
        results.append([y, *first, *second])
    for ours, theirs in zip(*results, strict=True):
        scale = max(float(theirs.detach().abs().max()), 1)
        assert_close(ours / scale, theirs / scale)


def test_convolution_of_expanded_and_strided_operands() -> None:
    results = []
    for library in LIBRARIES:
        x = library.from_numpy(draw(2, 9, 8, 5)).permute(0, 3, 1, 2).requires_grad_()
        w = library.from_numpy(draw(3, 3, 5, 6)).permute(3, 2, 0, 1)
        y = library.nn.functional.conv2d(x, w)
        gradient = library.ones(1, 1, 1, 1, dtype=library.float64).expand(y.shape)
        results.append([y, *library.autograd.grad(y, x, gradient)])
    for ours, theirs in zip(*results, strict=True):
        assert_close(ours, theirs)


def test_max_pool_of_equal_elements_takes_the_first() -> None:
    for value in (1.0, -numpy.inf):
        x = rushlight.full((1, 1, 3, 3), value)
        _, places = rushlight.nn.functional.max_pool2d(x, 3, 2, 1, return_indices=True)
        assert places.tolist() == [[[[0, 1], [3, 4]]]]


def test_of_equal_elements_the_first_in_a_window_takes_the_gradient() -> None:
    functional = rushlight.nn.functional
    for pool in (functional.max_pool2d, functional.adaptive_max_pool2d):
        x = rushlight.zeros(1, 1, 4, 4, requires_grad=True)
        pool(x, 2).sum().backward()
        expected = rushlight.zeros(1, 1, 4, 4)
        expected[..., ::2, ::2] = 1
        assert rushlight.equal(x.grad, expected)
        derived = rushlight.func.grad(lambda x, pool=pool: pool(x, 2).sum())
        assert rushlight.equal(derived(x.detach()), expected)


def test_max_unpool_inverts_max_pool() -> None:
    x = rushlight.from_numpy(draw(2, 3, 6, 8)).requires_grad_()
    pooled, places = rushlight.nn.functional.max_pool2d(x, 2, return_indices=True)
    back = rushlight.nn.functional.max_unpool2d(pooled, places, 2)
    assert_close(back, rushlight.where(back != 0, x, 0.0))
    assert rushlight.equal(rushlight.nn.functional.max_pool2d(back.clamp(min=-9), 2) >= pooled,
                           rushlight.ones(2, 3, 3, 4, dtype=rushlight.bool))  # fmt: skip


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_grid_sample(mode: str, padding: str) -> None:
    results = []
    for library in LIBRARIES:
        x = library.from_numpy(draw(2, 3, 5, 4)).requires_grad_()
        grid = library.from_numpy(draw(2, 3, 6, 2, seed=1) * 0.7).requires_grad_()
        y = library.nn.functional.grid_sample(x, grid, mode, padding, align_corners=False)
        results.append([y, *library.autograd.grad((y * y).sum(), [x, grid])])
    for ours, theirs in zip(*results, strict=True):
        assert_close(ours, theirs)
