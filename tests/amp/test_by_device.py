"""The older names of mixed precision, with the device in their path."""

from __future__ import annotations

import pytest

import rushlight


def test_on_the_cpu():
    with pytest.warns(FutureWarning, match=r"amp.autocast\('cpu'") as caught:
        context = rushlight.cpu.amp.autocast()
    assert caught[0].filename == __file__
    with context:
        assert (rushlight.ones(2, 2) @ rushlight.ones(2, 2)).dtype is rushlight.bfloat16
    with pytest.warns(FutureWarning):
        assert rushlight.cpu.amp.GradScaler(init_scale=4.0).scale(rushlight.ones(1)).item() == 4


@pytest.mark.filterwarnings("ignore:.*not available")
def test_on_gpus_they_are_off():
    with pytest.warns(FutureWarning):
        context = rushlight.cuda.amp.autocast()
    with context:
        assert (rushlight.ones(2, 2) @ rushlight.ones(2, 2)).dtype is rushlight.float32
    with pytest.warns(FutureWarning):
        assert not rushlight.cuda.amp.GradScaler().is_enabled()

    @context
    def product(x):
        return x @ x

    assert product(rushlight.ones(2, 2)).dtype is rushlight.float32


def test_functions_with_types():
    class Double(rushlight.autograd.Function):
        @staticmethod
        @rushlight.cuda.amp.custom_fwd
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @rushlight.cuda.amp.custom_bwd
        def backward(ctx, g):
            return g * 2

    x = rushlight.ones(2, requires_grad=True)
    Double.apply(x).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_the_version():
    assert rushlight.version.__version__ == rushlight.__version__
    assert rushlight.version.cuda is None
