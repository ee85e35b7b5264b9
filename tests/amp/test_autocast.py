"""`autocast` and `GradScaler` on the CPU, beside PyTorch's."""

from __future__ import annotations

import warnings

import numpy
import pytest

import rushlight

torch = pytest.importorskip("torch")


def dtypes_under(module, dtype, enabled=True):
    """The result dtypes of some calls under autocast."""
    f = module.nn.functional
    x, w = module.ones(3, 3), module.ones(3, 3)
    low, double = x.to(dtype), x.double()
    with module.autocast("cpu", dtype, enabled):
        results = [
            x @ w,
            module.mm(x, w),
            module.addmm(x, x, w),
            module.bmm(x[None], w[None]),
            f.linear(x, w),
            f.linear(low, w, x[0]) if enabled else x,
            double @ double,
            x + w,
            low + x,
            f.mse_loss(low, low),
            module.cat([low, x]),
            module.stack([low, low]),
            low.prod(),
            low.softmax(0),
            module.ones(3, 3, dtype=module.int64) + x,
        ]
        with module.autocast("cpu", enabled=False):
            results.append(x @ w)
        results.append(x @ w)
    results.append(x @ w)
    return [str(each.dtype) for each in results]


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
@pytest.mark.parametrize("enabled", [True, False])
def test_the_same_types(name, enabled):
    ours = dtypes_under(rushlight, getattr(rushlight, name), enabled)
    assert ours == dtypes_under(torch, getattr(torch, name), enabled)


@pytest.mark.filterwarnings("ignore")
def test_types_of_linear_algebra():
    def found(module):
        low = module.eye(3).bfloat16()
        linalg = module.linalg
        with module.autocast("cpu"):
            results = [
                module.inverse(low),
                module.cholesky(low),
                module.qr(low)[0],
                module.lu(low)[0],
                module.ormqr(low, low[0], low),
                module.triangular_solve(low, low)[0],
                module.matrix_exp(low),
                linalg.inv(low),
                linalg.solve(low, low),
                linalg.svd(low)[1],
                linalg.eigvalsh(low),
                linalg.lstsq(low, low)[0],
                linalg.multi_dot([low, low]),
                linalg.matrix_norm(low),
                linalg.vector_norm(low),
                linalg.cross(low, low),
            ]
        return [str(each.dtype) for each in results]

    assert found(rushlight) == found(torch)


def test_gradients_have_the_parameters_types():
    found = []
    for module in (rushlight, torch):
        module.manual_seed(0)
        x = module.randn(4, 5)
        w = module.randn(3, 5).requires_grad_()
        b = module.randn(3).requires_grad_()
        with module.autocast("cpu"):
            loss = (module.nn.functional.linear(x, w, b).relu() ** 2).mean()
        loss.backward()
        assert str(w.grad.dtype) == "torch.float32" and str(b.grad.dtype) == "torch.float32"
        found.append((loss.item(), w.grad.numpy(), b.grad.numpy()))
    for ours, theirs in zip(*found):
        numpy.testing.assert_allclose(ours, theirs, rtol=3e-2, atol=3e-2)


def test_plans_are_kept_apart():
    x = rushlight.ones(2, 2)
    for _ in range(3):
        assert (x @ x).dtype is rushlight.float32
        with rushlight.autocast("cpu"):
            assert (x @ x).dtype is rushlight.bfloat16
        with rushlight.autocast("cpu", rushlight.float16):
            assert (x @ x).dtype is rushlight.float16


def test_functions_and_questions():
    @rushlight.autocast("cpu")
    def product(x):
        assert rushlight.is_autocast_enabled("cpu") and not rushlight.is_autocast_enabled("cuda")
        return x @ x

    assert product(rushlight.ones(2, 2)).dtype is rushlight.bfloat16
    assert not rushlight.is_autocast_enabled("cpu")
    assert rushlight.get_autocast_dtype("cpu") is rushlight.bfloat16
    with pytest.raises(ZeroDivisionError), rushlight.autocast("cpu"):
        raise ZeroDivisionError
    assert not rushlight.is_autocast_cpu_enabled()


def test_misuse():
    with pytest.warns(UserWarning, match="not available"):
        context = rushlight.autocast("cuda")
    with context:
        x = rushlight.ones(2, 2)
        assert (x @ x).dtype is rushlight.float32
    with pytest.warns(UserWarning, match="not supported"):
        rushlight.autocast("cpu", rushlight.int64)
    with pytest.raises(ValueError):
        rushlight.autocast(3)
    with pytest.raises(RuntimeError, match="unsupported autocast"):
        rushlight.autocast("tpu")


def test_custom_functions():
    amp = rushlight.amp

    class Square(rushlight.autograd.Function):
        @staticmethod
        @amp.custom_fwd(device_type="cpu", cast_inputs=rushlight.float32)
        def forward(ctx, x):
            assert not rushlight.is_autocast_enabled("cpu")
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * g * x

    x = rushlight.ones(2, dtype=rushlight.bfloat16, requires_grad=True)
    with rushlight.autocast("cpu"):
        y = Square.apply(x)
    assert y.dtype is rushlight.float32
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]


# ---------------------------------------------------------------- GradScaler


def scaled_steps(module, gradients):
    w = module.ones(2, requires_grad=True)
    optimizer = module.optim.SGD([w], lr=0.1)
    scaler = module.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    seen = []
    for gradient in gradients:
        optimizer.zero_grad()
        loss = (w * module.tensor(gradient)).sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        seen.append((scaler.get_scale(), w.tolist()))
    return seen, scaler.state_dict()


def test_steps_with_infinite_gradients_are_left_out():
    inf = float("inf")
    gradients = [[1.0, 2.0], [inf, 1.0], [1.0, 1.0], [3.0, 1.0], [float("nan"), 0.0], [1.0, 1.0]]
    assert scaled_steps(rushlight, gradients) == scaled_steps(torch, gradients)


def test_misuse_of_scalers():
    w = rushlight.ones(2, requires_grad=True)
    optimizer = rushlight.optim.SGD([w], lr=0.1)
    scaler = rushlight.GradScaler("cpu")
    with pytest.raises(AssertionError):
        scaler.update()
    scaler.scale(w.sum()).backward()
    scaler.unscale_(optimizer)
    assert w.grad.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="after step"):
        scaler.unscale_(optimizer)
    fresh = rushlight.GradScaler("cpu")
    fresh.load_state_dict(scaler.state_dict())
    assert fresh.get_scale() == scaler.get_scale()
    for options in ({"growth_factor": 1.0}, {"backoff_factor": 1.0}):
        with pytest.raises(ValueError):
            rushlight.GradScaler("cpu", **options)
    with pytest.warns(UserWarning, match="Disabling"):
        off = rushlight.GradScaler()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert off.scale(w) is w and off.get_scale() == 1.0 and off.state_dict() == {}
