"""Masked operators, windows of signals, histograms and further small operators beside PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import rushlight

torch = pytest.importorskip("torch")
LIBRARIES = (rushlight, torch)
INF = float("inf")


def assert_same(results: list[Any], tolerance: float = 1e-12) -> None:
    for ours, theirs in zip(*results, strict=True):
        assert ours.shape == theirs.shape
        assert ours.dtype == theirs.dtype
        numpy.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


def both(function: Callable[[Any], Any]) -> None:
    """Equal results, tensors or tuples of them, in both libraries."""
    results = []
    for library in LIBRARIES:
        found = function(library)
        found = found if isinstance(found, tuple) else (found,)
        results.append([each.detach().numpy() for each in found])
    assert_same(results)


def both_raise(error: Any, function: Callable[[Any], Any]) -> None:
    for library in LIBRARIES:
        with pytest.raises(error):
            function(library)


# ---------------------------------------------------------------- masks

REDUCTIONS = ("sum", "prod", "amax", "amin", "mean", "var", "std", "norm", "logsumexp")
ALONG = ("softmax", "log_softmax", "softmin", "cumsum", "cumprod", "median", "argmax", "argmin")
MASK = numpy.array([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]], bool)


def draw(*shape: int) -> numpy.ndarray:
    return numpy.random.default_rng(0).standard_normal(shape)


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("mask", [MASK, MASK[0], MASK[:, :1], None])
@pytest.mark.parametrize("dim", [None, 0, 1, (0, 1)])
def test_masked_reductions(name: str, mask: Any, dim: Any) -> None:
    def call(library: Any) -> Any:
        x = library.tensor(draw(3, 4), requires_grad=True)
        m = None if mask is None else library.tensor(mask)
        y = getattr(library.masked, name)(x, dim=dim, mask=m, keepdim=True)
        y[y.isfinite()].sum().backward()
        return (y, x.grad) if name not in ("std", "norm") else y

    both(call)


@pytest.mark.parametrize("name", ALONG)
@pytest.mark.parametrize("dim", [0, -1])
def test_masked_operators_along_a_dim(name: str, dim: int) -> None:
    for mask in (MASK, MASK[0], None):
        both(
            lambda lib, mask=mask: getattr(lib.masked, name)(
                lib.tensor(draw(3, 4)), dim, mask=None if mask is None else lib.tensor(mask)
            )
        )


def test_masked_normalize_and_logaddexp() -> None:
    both(lambda lib: lib.masked.normalize(lib.tensor(draw(3, 4)), 2, 1, mask=lib.tensor(MASK)))
    both(
        lambda lib: lib.masked.logaddexp(
            lib.tensor(draw(3, 4)), lib.ones(3, 4, dtype=lib.float64), input_mask=lib.tensor(MASK)
        )
    )


def test_masked_integers() -> None:
    whole = numpy.arange(12).reshape(3, 4) - 5
    for name in ("sum", "prod", "amax", "amin", "cumsum", "argmax"):
        both(
            lambda lib, name=name: getattr(lib.masked, name)(
                lib.tensor(whole), 1, mask=lib.tensor(MASK)
            )
        )
    both(lambda lib: lib.masked.median(lib.tensor(whole), 1, mask=lib.tensor(MASK[:1] | True)))


def test_wrong_masks() -> None:
    both_raise(IndexError, lambda lib: lib.masked.sum(lib.ones(3), mask=lib.ones(2, 3) > 0))
    both_raise(ValueError, lambda lib: lib.masked.mean(lib.ones(3).long()))
    none = numpy.zeros(3, bool)
    both_raise(
        ValueError, lambda lib: lib.masked.median(lib.ones(3).long(), 0, mask=lib.tensor(none))
    )
    both_raise(
        AssertionError, lambda lib: lib.masked.var(lib.ones(3), 0, unbiased=True, correction=1)
    )
    both_raise(NotImplementedError, lambda lib: lib.masked.amax(lib.ones(3) > 0, mask=lib.ones(3)))


# ---------------------------------------------------------------- windows

WINDOWS: dict[str, list[dict[str, Any]]] = {
    "bartlett": [{}],
    "blackman": [{}],
    "cosine": [{}],
    "exponential": [{}, {"tau": 2.5}, {"center": 1.0, "sym": False}],
    "gaussian": [{}, {"std": 3.0}],
    "general_cosine": [{"a": [0.5, 0.3, 0.2]}, {"a": (1,)}],
    "general_hamming": [{}, {"alpha": 0.6}],
    "hamming": [{}],
    "hann": [{}],
    "kaiser": [{}, {"beta": 3.0}, {"beta": 0}],
    "nuttall": [{}],
}


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("length", [0, 1, 2, 5, 8])
@pytest.mark.parametrize("sym", [True, False])
def test_windows(name: str, length: int, sym: bool) -> None:
    for kwargs in WINDOWS[name]:
        options = {"sym": sym, **kwargs}
        both(
            lambda lib, options=options: getattr(lib.signal.windows, name)(
                length, dtype=lib.float64, **options
            )
        )


@pytest.mark.parametrize("name", ["hann", "hamming", "bartlett", "blackman", "kaiser"])
def test_windows_by_their_older_names(name: str) -> None:
    for args in ((8,), (8, False), (1,), (0,), (2, True)):
        both(lambda lib, args=args: getattr(lib, f"{name}_window")(*args, dtype=lib.float64))
    both(lambda lib: lib.hamming_window(6, True, 0.5, 0.25, dtype=lib.float64))
    both(lambda lib: lib.kaiser_window(6, False, 4.0, dtype=lib.float64))


@pytest.mark.parametrize("name, option", [("gaussian", "std"), ("exponential", "tau")])
def test_windows_of_a_width_that_is_a_tensor(name: str, option: str) -> None:
    def window(lib: Any) -> Any:
        width = lib.tensor(2.0, dtype=lib.float64)
        return getattr(lib.signal.windows, name)(6, **{option: width}, dtype=lib.float64)

    both(window)


def test_wrong_windows() -> None:
    both_raise(ValueError, lambda lib: lib.signal.windows.hann(-1))
    both_raise(ValueError, lambda lib: lib.signal.windows.hann(3, dtype=lib.float16))
    both_raise(ValueError, lambda lib: lib.signal.windows.hann(3, layout=lib.sparse_coo))
    both_raise(ValueError, lambda lib: lib.signal.windows.exponential(3, tau=0))
    both_raise(ValueError, lambda lib: lib.signal.windows.exponential(3, center=1.0))
    both_raise(ValueError, lambda lib: lib.signal.windows.gaussian(3, std=-1.0))
    both_raise(ValueError, lambda lib: lib.signal.windows.general_cosine(3, a=[]))
    both_raise(TypeError, lambda lib: lib.signal.windows.general_cosine(3, a=2))
    both_raise(RuntimeError, lambda lib: lib.hann_window(3, dtype=lib.int64))


# ---------------------------------------------------------------- histograms of points


@pytest.mark.parametrize(
    "kwargs",
    [
        {"bins": 3},
        {"bins": [2, 4]},
        {"bins": [2, 3], "range": [-1.0, 1.0, -2.0, 0.5]},
        {"bins": [2, 3], "density": True},
        {"bins": [numpy.array([-1.0, 0, 0.5]), numpy.array([-2.0, 3])]},
        {"bins": 2, "weight": numpy.linspace(0, 1, 20)},
    ],
)
def test_histograms_of_points(kwargs: dict[str, Any]) -> None:
    def as_tensor(library: Any, value: Any) -> Any:
        if isinstance(value, list):
            return [as_tensor(library, each) for each in value]
        return library.tensor(value) if isinstance(value, numpy.ndarray) else value

    def call(library: Any) -> Any:
        options = {key: as_tensor(library, value) for key, value in kwargs.items()}
        hist, edges = library.histogramdd(library.tensor(draw(20, 2)), **options)
        return (hist, *edges)

    both(call)


def test_wrong_histograms_of_points() -> None:
    for kwargs in ({"bins": [2]}, {"bins": [0, 2]}, {"bins": 2, "range": [0.0, 1.0]}):
        both_raise(
            RuntimeError, lambda lib, kwargs=kwargs: lib.histogramdd(lib.ones(3, 2), **kwargs)
        )
    both_raise(RuntimeError, lambda lib: lib.histogramdd(lib.ones(3), 2))
    both_raise(RuntimeError, lambda lib: lib.histogramdd(lib.ones(3, 2), [lib.ones(2)]))
    both_raise(TypeError, lambda lib: lib.histogramdd(lib.ones(3, 2), 2.5))


# ---------------------------------------------------------------- further operators


def test_places_in_a_given_number_of_rows() -> None:
    x = numpy.array([[0, 1, 2], [0, 0, 3]])
    for size in (0, 2, 3, 5):
        both(lambda lib, size=size: lib.nonzero_static(lib.tensor(x), size=size, fill_value=-7))
    both(lambda lib: lib.nonzero_static(lib.tensor(1.0), size=2))
    both_raise(RuntimeError, lambda lib: lib.nonzero_static(lib.ones(3), size=-1))


def test_logspace() -> None:
    for args in ((0, 3, 4), (-2.5, 2.5, 5), (1, 2, 1), (0, 1, 0), (0, 3, 4, 2.0)):
        both(lambda lib, args=args: lib.logspace(*args, dtype=lib.float64))
        both(lambda lib, args=args: lib.logspace(*args, dtype=lib.int32))
    both(lambda lib: lib.logspace(lib.tensor(1.0), 2, 3, dtype=lib.float64))
    both_raise(RuntimeError, lambda lib: lib.logspace(0, 1, -1))


def test_shapes_and_layouts() -> None:
    for shapes in (((2, 1), 3), (), ((0,), (1,)), (5, (1, 5))):
        assert rushlight.broadcast_shapes(*shapes) == torch.broadcast_shapes(*shapes)
    both_raise(RuntimeError, lambda lib: lib.broadcast_shapes((2,), (3,)))
    both_raise(RuntimeError, lambda lib: lib.broadcast_shapes(1.5))
    both_raise(ValueError, lambda lib: lib.broadcast_shapes((-1,)))
    for size, order in (
        ((2, 3), (1, 0)),
        ((2, 3, 4, 5), (0, 2, 3, 1)),
        ((2, 0, 4), (2, 0, 1)),
        ((), ()),
    ):
        ours, theirs = (lib.empty_permuted(size, order).stride() for lib in LIBRARIES)
        assert ours == theirs
    for order in ((0,), (0, 0), (0, 2), (-1, 0)):
        both_raise(RuntimeError, lambda lib, order=order: lib.empty_permuted((2, 3), order))
    with pytest.raises(NotImplementedError, match="sparse_coo"):
        rushlight.zeros(2, layout=rushlight.sparse_coo)


def test_vander_of_single_numbers_and_wrong_calls() -> None:
    both(lambda lib: lib.linalg.vander(lib.tensor(2.0, dtype=lib.float64), N=3))
    both(lambda lib: lib.linalg.vander(lib.tensor([2, 3], dtype=lib.int8)))
    both_raise(RuntimeError, lambda lib: lib.linalg.vander(lib.ones(1)))
    both_raise(RuntimeError, lambda lib: lib.linalg.vander(lib.ones(3) > 0))


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
def test_gradients_of_grid_samples_at_whole_pixels(padding: str, mode: str) -> None:
    def call(library: Any) -> Any:
        x = library.tensor(draw(1, 2, 5, 5), requires_grad=True)
        theta = library.tensor([[[1.0, 0, 0], [0, 1, 0]]], dtype=library.float64)
        functional = library.nn.functional
        grid = functional.affine_grid(theta, (1, 2, 5, 5), True)
        grid = grid.detach().requires_grad_()
        y = functional.grid_sample(x, grid, mode, padding, True)
        (y * y).sum().backward()
        return y, x.grad, grid.grad

    both(call)


@pytest.mark.parametrize("rank", [2, 3])
def test_pooling_at_pseudo_random_places(rank: int) -> None:
    for shape in ((2, 3, 7, 6, 8)[: 2 + rank], (3, 7, 6, 8)[: 1 + rank]):
        for size, kwargs in ((2, {"output_size": 3}), (3, {"output_ratio": (0.5,) * rank})):

            def call(
                library: Any, kwargs: Any = kwargs, shape: Any = shape, size: Any = size
            ) -> Any:
                library.manual_seed(3)
                x = library.tensor(draw(*shape), requires_grad=True)
                pool = getattr(library.nn.functional, f"fractional_max_pool{rank}d")
                y, indices = pool(x, size, return_indices=True, **kwargs)
                (y * y).sum().backward()
                return y, indices, x.grad

            both(call)
    pools = [f"fractional_max_pool{rank}d", f"fractional_max_pool{rank}d_with_indices"]
    for name in pools:
        with pytest.raises(ValueError, match="output_size or an output_ratio"):
            getattr(rushlight.nn.functional, name)(rushlight.ones(1, 1, *[5] * rank), 2)
        with pytest.raises(RuntimeError, match="too large"):
            getattr(rushlight.nn.functional, name)(rushlight.ones(1, 1, *[5] * rank), 2, 5)


def test_losses_of_any_distance() -> None:
    def call(library: Any) -> Any:
        anchor, near, far = (library.tensor(draw(3, 4, seed)[..., 0]) for seed in (1, 2, 3))
        return library.nn.functional.triplet_margin_with_distance_loss(
            anchor,
            near,
            far,
            distance_function=lambda x, y: (x - y).abs().sum(-1),
            swap=True,
            reduction="none",
        )

    both(call)
    loss = "triplet_margin_with_distance_loss"
    both_raise(
        ValueError,
        lambda lib: getattr(lib.nn.functional, loss)(*[lib.ones(2)] * 3, margin=-1.0),
    )


def test_named_results_print_as_in_pytorch() -> None:
    x = [[1.0, 3.0], [2.0, 0.0]]
    for name in ("max", "sort", "mode", "kthvalue"):
        args = (1, 1) if name == "kthvalue" else (1,)
        ours, theirs = (repr(getattr(lib, name)(lib.tensor(x), *args)) for lib in LIBRARIES)
        assert ours == theirs
    assert isinstance(rushlight.max(rushlight.tensor(x), 0), rushlight.return_types.max)
    assert rushlight.return_types.max_out is rushlight.return_types.max
