"""How results lie in memory: with channels last where PyTorch's do; and random numbers that are
drawn in the order of memory.
"""

from __future__ import annotations

import warnings

import numpy
import pytest

import rushlight

torch = pytest.importorskip("torch")

DRAW = numpy.random.default_rng(0)
IMAGES = DRAW.normal(size=(2, 4, 6, 8)).astype("float32")
VOLUMES = DRAW.normal(size=(2, 4, 3, 6, 8)).astype("float32")
WEIGHTS = {
    "3x3": DRAW.normal(size=(8, 4, 3, 3)).astype("float32"),
    "1x1": DRAW.normal(size=(8, 4, 1, 1)).astype("float32"),
    "each channel": DRAW.normal(size=(8, 1, 3, 3)).astype("float32"),
    "transposed": DRAW.normal(size=(4, 8, 3, 3)).astype("float32"),
    "volume": DRAW.normal(size=(8, 4, 2, 2, 2)).astype("float32"),
}


def _last(m, array):
    x = m.tensor(array)
    return x.to(memory_format=m.channels_last if x.ndim == 4 else m.channels_last_3d)


LAYOUTS = {
    "row-major": lambda m, array: m.tensor(array),
    "channels last": _last,
    "one image, channels last": lambda m, array: _last(m, array[:1]),
    "turned": lambda m, array: m.tensor(array.swapaxes(2, 3).copy()).transpose(2, 3),
    "batch inside": lambda m, array: m.tensor(array.swapaxes(0, 1).copy()).transpose(0, 1),
    "part of channels last": lambda m, array: _last(m, array)[..., ::2],
}


def _same(found, expected, tolerance=1e-5):
    found, expected = (x if isinstance(x, list | tuple) else [x] for x in (found, expected))
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.stride() == theirs.stride()
        numpy.testing.assert_allclose(
            ours.detach().numpy(), theirs.detach().numpy(), tolerance, tolerance
        )


def _both(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [call(m) for m in (rushlight, torch)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("weight_layout", ("row-major", "channels last"))
@pytest.mark.parametrize("kind", ("3x3", "1x1", "each channel", "transposed", "volume"))
def test_convolutions(kind, weight_layout, layout):
    if kind == "volume" and layout.startswith("one"):
        pytest.skip("PyTorch's result lies otherwise than that of two volumes")

    def call(m):
        x = LAYOUTS[layout](m, VOLUMES if kind == "volume" else IMAGES)
        w = LAYOUTS[weight_layout](m, WEIGHTS[kind])
        if kind == "transposed":
            return m.nn.functional.conv_transpose2d(x, w, m.ones(8), stride=2)
        if kind == "volume":
            return m.nn.functional.conv3d(x, w)
        bias = m.ones(8) if kind == "3x3" else None
        return m.nn.functional.conv2d(x, w, bias, groups=4 if kind == "each channel" else 1)

    _same(*_both(call))


FUNCTIONS = {
    "max_pool2d": lambda m, F, x: F.max_pool2d(x, 2, return_indices=True),
    "avg_pool2d": lambda m, F, x: F.avg_pool2d(x, 2),
    "adaptive_avg_pool2d": lambda m, F, x: F.adaptive_avg_pool2d(x, (3, 2)),
    "adaptive_max_pool2d": lambda m, F, x: F.adaptive_max_pool2d(x, (3, 2), return_indices=True),
    "lp_pool2d": lambda m, F, x: F.lp_pool2d(x, 2, 2),
    "max_unpool2d": lambda m, F, x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2),
    "batch_norm": lambda m, F, x: F.batch_norm(x, None, None, m.ones(4), m.ones(4), True),
    "batch_norm, frozen": lambda m, F, x: F.batch_norm(x, m.zeros(4), m.ones(4)),
    "instance_norm": lambda m, F, x: F.instance_norm(x),
    "group_norm": lambda m, F, x: F.group_norm(x, 2, m.ones(4), m.ones(4)),
    "layer_norm": lambda m, F, x: F.layer_norm(x, x.shape[-1:]),
    "local_response_norm": lambda m, F, x: F.local_response_norm(x, 2),
    "normalize": lambda m, F, x: F.normalize(x),
    "nearest": lambda m, F, x: F.interpolate(x, scale_factor=2),
    "bilinear": lambda m, F, x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    "bicubic": lambda m, F, x: F.interpolate(x, scale_factor=2, mode="bicubic"),
    "area": lambda m, F, x: F.interpolate(x, size=(2, 2), mode="area"),
    "constant padding": lambda m, F, x: F.pad(x, (1, 1, 0, 2)),
    "padding with a number": lambda m, F, x: F.pad(x, (1, 1, 0, 2), value=3.0),
    "reflected padding": lambda m, F, x: F.pad(x, (1, 0, 0, 1), "reflect"),
    "repeated padding": lambda m, F, x: F.pad(x, (1, 1, 1, 1), "replicate"),
    "circular padding": lambda m, F, x: F.pad(x, (1, 0, 0, 1), "circular"),
    "pixel_shuffle": lambda m, F, x: F.pixel_shuffle(x, 2),
    "pixel_unshuffle": lambda m, F, x: F.pixel_unshuffle(x, 2),
    "channel_shuffle": lambda m, F, x: m.channel_shuffle(x, 2),
    "prelu": lambda m, F, x: F.prelu(x, m.full((4,), 0.5)),
    "glu": lambda m, F, x: F.glu(x, 1),
    "roll": lambda m, F, x: x.roll(1, 3),
    "cat": lambda m, F, x: m.cat([x, x * 2], 1),
    "cat of a tuple": lambda m, F, x: m.cat((x, x, x)),
    "cat of one": lambda m, F, x: m.cat([x]),
    "hstack": lambda m, F, x: m.hstack([x, x]),
    "dropout": lambda m, F, x: F.dropout(x),
    "dropout2d": lambda m, F, x: F.dropout2d(x),
    "alpha_dropout": lambda m, F, x: F.alpha_dropout(x, 0.3, True),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_images(name, layout):
    def call(m):
        m.manual_seed(3)
        return FUNCTIONS[name](m, m.nn.functional, LAYOUTS[layout](m, IMAGES))

    _same(*_both(call))


VOLUME_FUNCTIONS = {
    "max_pool3d": lambda m, F, x: F.max_pool3d(x, 2, return_indices=True),
    "avg_pool3d": lambda m, F, x: F.avg_pool3d(x, 2),
    "adaptive_avg_pool3d": lambda m, F, x: F.adaptive_avg_pool3d(x, 2),
    "adaptive_max_pool3d": lambda m, F, x: F.adaptive_max_pool3d(x, 2),
    "batch_norm": lambda m, F, x: F.batch_norm(x, None, None, training=True),
    "group_norm": lambda m, F, x: F.group_norm(x, 2),
    "nearest": lambda m, F, x: F.interpolate(x, scale_factor=2),
    "trilinear": lambda m, F, x: F.interpolate(x, scale_factor=2, mode="trilinear"),
    "repeated padding": lambda m, F, x: F.pad(x, (1, 1, 1, 1, 1, 1), "replicate"),
}


@pytest.mark.parametrize("layout", ("row-major", "channels last"))
@pytest.mark.parametrize("name", VOLUME_FUNCTIONS)
def test_functions_of_volumes(name, layout):
    _same(*_both(lambda m: VOLUME_FUNCTIONS[name](m, m.nn.functional, LAYOUTS[layout](m, VOLUMES))))


@pytest.mark.parametrize("layout", ("channels last", "batch inside"))
def test_gradients_through_a_network(layout):
    def call(m):
        F = m.nn.functional
        x = LAYOUTS[layout](m, IMAGES).requires_grad_()
        w = _last(m, WEIGHTS["3x3"]).requires_grad_()
        y = F.conv2d(x, w, padding=1)
        y = F.max_pool2d(F.relu(F.batch_norm(y, None, None, training=True)), 2)
        y = F.interpolate(y, scale_factor=2, mode="bilinear")
        (F.pad(y, (1, 1)) ** 2).sum().backward()
        return x.grad, w.grad

    _same(*_both(call), tolerance=1e-4)


# ---------------------------------------------------------------- like other tensors


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("format", (None, "preserve_format", "contiguous_format", "channels_last"))
@pytest.mark.parametrize(
    "name", ("empty_like", "zeros_like", "ones_like", "rand_like", "randn_like", "randint_like")
)
def test_new_tensors_like_others(name, format, layout):
    def call(m):
        m.manual_seed(1)
        x = LAYOUTS[layout](m, IMAGES)
        options = {} if format is None else {"memory_format": getattr(m, format)}
        arguments = (50,) if name == "randint_like" else ()
        result = getattr(m, name)(x, *arguments, **options)
        keeps = name not in ("empty_like", "randn_like")  # the latter draws otherwise if strided
        return result if keeps else m.zeros_like(result)

    _same(*_both(call), tolerance=0)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "draw",
    (
        lambda x: x.uniform_(-1, 2),
        lambda x: x.bernoulli_(0.3),
        lambda x: x.bernoulli_(x * 0 + 0.4),
        lambda x: x.exponential_(),
        lambda x: x.geometric_(0.3),
        lambda x: x.random_(7),
        lambda x: x.random_(),
    ),
)
def test_numbers_in_place_are_drawn_in_the_order_of_memory(draw, layout):
    def call(m):
        m.manual_seed(2)
        return draw(LAYOUTS[layout](m, IMAGES) * 0)

    _same(*_both(call), tolerance=1e-6)


def test_to_keeps_a_tensor_whose_dims_are_in_order():
    for m in (rushlight, torch):
        turned = m.ones(4, 6).t()
        assert turned.to(memory_format=m.contiguous_format) is turned
        last = m.ones(2, 3, 4, 5).to(memory_format=m.channels_last)
        assert last.stride() == (60, 1, 15, 3)
        rows = last[:, :, ::2]
        assert rows.to(memory_format=m.channels_last) is rows
        assert last.to(memory_format=m.contiguous_format).stride() == (60, 20, 5, 1)
        narrow = m.ones(8, 1, 3, 3)
        assert narrow.to(memory_format=m.channels_last).stride() == (9, 1, 3, 1)
        assert narrow.contiguous(memory_format=m.channels_last) is narrow
