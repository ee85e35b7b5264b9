"""The meta device gives shapes without data."""

from __future__ import annotations

import pytest

import rushlight


def meta(*shape: int) -> rushlight.Tensor:
    return rushlight.empty(*shape, device="meta")


def test_shapes_dtypes_and_gradients() -> None:
    x, w = meta(3, 4), rushlight.randn(4, 5, device="meta", requires_grad=True)
    y = rushlight.softmax(x @ w, 1)
    assert y.is_meta and y.shape == (3, 5) and y.requires_grad
    y.sum().backward()
    assert w.grad.is_meta and w.grad.shape == (4, 5)
    assert meta(2, 3).t().stride() == (1, 3)
    assert (meta(2) + meta(3, 1).double()).dtype is rushlight.float64
    assert meta(4, 6).view(3, 8)[:, ::2].shape == (3, 4)


def test_memory_is_not_needed() -> None:
    x = meta(1 << 20, 1 << 20)
    assert (x * 2 + x.t()).shape == x.shape
    assert x.untyped_storage().nbytes() == 1 << 42


def test_moves() -> None:
    x = rushlight.arange(6.0).view(2, 3)
    for moved in (x.to("meta"), x.to(device="meta"), x.to(meta(1)), x.to(rushlight.device("meta"))):
        assert moved.is_meta and moved.shape == x.shape and moved.stride() == x.stride()
    both = x.to("meta", rushlight.int64)
    assert both.is_meta and both.dtype is rushlight.int64
    assert x.to("cpu") is x and meta(2).to("meta").is_meta
    assert meta(2).copy_(rushlight.ones(2)).is_meta
    for move in (
        lambda: meta(2).to("cpu"),
        lambda: meta(2).cpu(),
        lambda: rushlight.ones(2).copy_(meta(2)),
        lambda: meta(2).to(rushlight.ones(1)),
    ):
        with pytest.raises(NotImplementedError, match="no data"):
            move()


def test_devices_are_not_mixed() -> None:
    x, y = meta(3), rushlight.ones(3)
    for call in (lambda: x + y, lambda: y @ x, lambda: y.add_(x), lambda: rushlight.cat([x, y])):
        with pytest.raises(RuntimeError, match="device"):
            call()
    assert (y == 1).all()
    assert (x + rushlight.tensor(2.0)).is_meta  # a tensor that stands for a number
    with pytest.raises(RuntimeError, match="device"):
        y * rushlight.tensor(2.0, device="meta")


def test_data_is_refused() -> None:
    x = meta(3)
    for read in (x.tolist, x.nonzero, lambda: x[x > 0]):
        with pytest.raises(NotImplementedError):
            read()
    for read in (lambda: x.sum().item(), lambda: bool(x.sum() > 0)):
        with pytest.raises(RuntimeError):
            read()
    with pytest.raises(TypeError):
        x.numpy()


def test_constructors_take_no_memory() -> None:
    n = 1 << 20
    for make in (rushlight.zeros, rushlight.ones, rushlight.rand, rushlight.empty):
        assert make(n, n, device="meta").shape == (n, n)
    assert rushlight.eye(n, device="meta").is_meta
    x = meta(2, 3)
    assert rushlight.zeros_like(x).is_meta and x.new_ones(3).is_meta
    assert rushlight.ones_like(x, device="cpu").tolist() == [[1.0] * 3] * 2
    assert x.new_full((2,), 3, device="cpu", requires_grad=True).requires_grad
    assert rushlight.empty_like(rushlight.ones(2, 3).t(), device="meta").stride() == (1, 3)
    with pytest.raises(RuntimeError, match="out="):
        rushlight.zeros(3, device="meta", out=rushlight.ones(3))
