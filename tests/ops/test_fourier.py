"""Fourier transforms beside PyTorch's: values, gradients, sizes, norms, wrong calls."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import rushlight

torch = pytest.importorskip("torch")
LIBRARIES = (rushlight, torch)
ONE_DIM = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
REAL_INPUT = ("rfft", "ihfft")


def draw(*shape: int, is_complex: bool = False, seed: int = 0) -> Any:
    random = numpy.random.default_rng(seed)
    x = random.standard_normal(shape)
    return x + 1j * random.standard_normal(shape) if is_complex else x


def assert_same(results: list[list[Any]], tolerance: float = 1e-11) -> None:
    for ours, theirs in zip(*results, strict=True):
        assert ours.shape == theirs.shape
        assert ours.dtype == theirs.dtype
        numpy.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


def value_and_gradient(library: Any, function: Any, x: Any) -> list[Any]:
    """Also the second derivative's product with ones."""
    x = library.tensor(x, requires_grad=True)
    y = function(library, x)
    size = (y * y.conj()).real if y.is_complex() else y * y
    (first,) = library.autograd.grad(size.sum(), x, create_graph=True)
    square = (first * first.conj()).real if first.is_complex() else first * first
    (second,) = library.autograd.grad(square.sum(), x)
    return [each.detach().resolve_conj().numpy() for each in (y, first, second)]


def calls(name: str) -> list[dict[str, Any]]:
    if name.endswith("2"):
        return [{}, {"s": (4, 3)}, {"s": (-1, 6), "norm": "ortho"}, {"dim": (0, 2)}]
    if name.endswith("n"):
        return [{}, {"s": (5,)}, {"dim": (2, 0)}, {"s": (2, 5), "dim": (1, 2), "norm": "forward"}]
    return [{}, {"n": 3}, {"n": 8, "dim": 0}, {"norm": "ortho"}, {"norm": "forward", "dim": 1}]


@pytest.mark.parametrize("suffix", ["", "2", "n"])
@pytest.mark.parametrize("base", ONE_DIM)
@pytest.mark.parametrize("is_complex", [False, True])
def test_values_and_gradients(base: str, suffix: str, is_complex: bool) -> None:
    name = base + suffix
    if is_complex and base in REAL_INPUT:
        with pytest.raises(RuntimeError, match=f"{name} expects a real input tensor"):
            getattr(rushlight.fft, name)(rushlight.tensor(draw(2, 3, is_complex=True)))
        return
    x = draw(3, 4, 5, is_complex=is_complex)
    for kwargs in calls(name):
        assert_same(
            [
                value_and_gradient(
                    lib, lambda lib, x, kwargs=kwargs: getattr(lib.fft, name)(x, **kwargs), x
                )
                for lib in LIBRARIES
            ],
            1e-9,
        )


@pytest.mark.parametrize("name", ["fft", "rfft", "irfft", "hfft", "ihfft", "ifftn", "irfft2"])
def test_single_precision_stays_and_integers_become_floats(name: str) -> None:
    x = draw(2, 6).astype(numpy.float32)
    whole = numpy.arange(12).reshape(2, 6)
    for data in (x, whole, whole > 5):
        results = [
            [getattr(lib.fft, name)(lib.tensor(data)).resolve_conj().numpy()] for lib in LIBRARIES
        ]
        assert_same(results, 1e-5)


@pytest.mark.parametrize("name", ["fft", "irfft", "rfftn"])
def test_out_and_layouts(name: str) -> None:
    x = rushlight.tensor(draw(4, 3)).t()
    wanted = getattr(rushlight.fft, name)(x.contiguous())
    assert getattr(rushlight.fft, name)(x).allclose(wanted)
    out = rushlight.empty(0, dtype=wanted.dtype)
    assert getattr(rushlight.fft, name)(x, out=out) is out
    assert out.allclose(wanted)
    if wanted.is_complex():
        with pytest.raises(RuntimeError, match="can't be cast"):
            getattr(rushlight.fft, name)(x, out=rushlight.empty(0, dtype=rushlight.float64))


def test_empty_batches_and_vmap() -> None:
    assert rushlight.fft.fft(rushlight.zeros(0, 4)).shape == (0, 4)
    assert rushlight.fft.rfft(rushlight.zeros(0, 4)).shape == (0, 3)
    assert rushlight.fft.irfft(rushlight.zeros(0, 4)).shape == (0, 6)
    x = rushlight.tensor(draw(3, 4, 5))
    for name in ("fft", "rfft", "irfft", "rfft2"):
        function = getattr(rushlight.fft, name)
        one_by_one = rushlight.stack([function(each) for each in x])
        assert rushlight.vmap(function)(x).allclose(one_by_one)


def test_one_plan_serves_all_sizes() -> None:
    for size in (5, 6, 7, 12):
        x = rushlight.randn(2, size)
        assert rushlight.fft.irfft(rushlight.fft.rfft(x), size).allclose(x, atol=1e-6)


@pytest.mark.parametrize(
    "name, args, kwargs, error",
    [
        ("fft", (0,), {}, RuntimeError),
        ("fft", (), {"norm": "bad"}, RuntimeError),
        ("fft", (), {"dim": 2}, IndexError),
        ("fft", (2.5,), {}, TypeError),
        ("irfft", (0,), {}, RuntimeError),
        ("fftn", ((2, 3, 4),), {}, RuntimeError),
        ("fftn", ((2,),), {"dim": (0, 1)}, RuntimeError),
        ("fftn", (), {"dim": (0, 0)}, RuntimeError),
        ("rfftn", (), {"dim": ()}, RuntimeError),
    ],
)
def test_wrong_calls(name: str, args: tuple, kwargs: dict[str, Any], error: type) -> None:
    for library in LIBRARIES:
        with pytest.raises(error):
            getattr(library.fft, name)(library.ones(3, 4), *args, **kwargs)


def test_more_wrong_calls() -> None:
    for library in LIBRARIES:
        with pytest.raises(RuntimeError, match="Half"):
            library.fft.fft(library.ones(4, dtype=library.float16))
        with pytest.raises(IndexError):
            library.fft.fft(library.ones(()))
        with pytest.raises(IndexError):
            library.fft.rfftn(library.ones(()), dim=(0,))
        with pytest.raises(RuntimeError):
            library.fft.fftfreq(3, dtype=library.int64)


def test_frequencies_and_shifts() -> None:
    for n in (0, 1, 4, 5):
        for kwargs in ({}, {"d": 0.5}):
            results = [
                [lib.fft.fftfreq(n, **kwargs).numpy(), lib.fft.rfftfreq(n, **kwargs).numpy()]
                for lib in LIBRARIES
            ]
            assert_same(results, 1e-7)
    x = draw(4, 5)
    for dim in (None, 0, 1, (0, 1), -1):
        results = [
            [
                lib.fft.fftshift(lib.tensor(x), dim).numpy(),
                lib.fft.ifftshift(lib.tensor(x), dim).numpy(),
            ]
            for lib in LIBRARIES
        ]
        assert_same(results, 0)


# ---------------------------------------------------------------- short-time transforms


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("n_fft, hop, width", [(8, None, None), (8, 3, 6), (7, 2, 7), (8, 2, 5)])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("normalized", [True, False])
def test_short_time_transforms_and_back(
    is_complex: bool, n_fft: int, hop: int | None, width: int | None, center: bool, normalized: bool
) -> None:
    window = numpy.random.default_rng(1).uniform(0.5, 1, width or n_fft)
    for shape in ((2, 30), (30,)):
        results = []
        for library in LIBRARIES:
            x = library.tensor(draw(*shape, is_complex=is_complex), requires_grad=True)
            w = library.tensor(window, requires_grad=True)
            options = (n_fft, hop, width, w, center)
            spectra = library.stft(x, *options, normalized=normalized, return_complex=True)
            found = [spectra]
            if center:
                back = library.istft(
                    spectra, *options, normalized, not is_complex, 25, return_complex=is_complex
                )
                found.append(back)
            (abs(found[-1]) ** 2).sum().backward()
            parts = (*found, x.grad, w.grad)
            results.append([each.detach().resolve_conj().numpy() for each in parts])
        assert_same(results, 1e-9)


def test_a_signal_comes_back() -> None:
    x, window = rushlight.randn(2, 100), rushlight.hann_window(16)
    spectra = rushlight.stft(x, 16, window=window, return_complex=True)
    assert rushlight.istft(spectra, 16, window=window, length=100).allclose(x, atol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_wrong_calls_of_short_time_transforms() -> None:
    for library in LIBRARIES:
        x, window = library.ones(2, 20), library.hann_window(8)
        for args, kwargs in [
            ((8,), {}),
            ((8, 0), {"return_complex": True}),
            ((8, 2, 9), {"return_complex": True}),
            ((50,), {"return_complex": True, "center": False}),
            ((8,), {"return_complex": True, "window": library.ones(4)}),
            ((8,), {"return_complex": True, "align_to_window": True}),
        ]:
            with pytest.raises(RuntimeError):
                library.stft(x, *args, **kwargs)
        with pytest.raises(RuntimeError):
            library.stft(x.long(), 8, return_complex=True)
        spectra = library.stft(x, 8, window=window, return_complex=True)
        for args, kwargs in [
            ((8, 9), {}),
            ((8,), {"onesided": False}),
            ((8,), {"return_complex": True}),
            ((8,), {"window": window, "center": False}),
            ((8, 8), {"window": window}),
            ((8,), {"window": window, "length": 0}),
        ]:
            with pytest.raises(RuntimeError):
                library.istft(spectra, *args, **kwargs)
        with pytest.raises(RuntimeError):
            library.istft(spectra.real, 8)
