"""`copy.deepcopy` and pickles of tensors."""

from __future__ import annotations

import copy
import pickle

import pytest

import rushlight

DTYPES = ["float32", "float64", "float16", "bfloat16", "complex64", "int64", "uint8", "bool"]


@pytest.mark.parametrize("make", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize("dtype", DTYPES)
def test_copies_are_equal(make, dtype):
    x = rushlight.arange(24).reshape(2, 3, 4).to(getattr(rushlight, dtype))
    for each in (x, x.permute(2, 0, 1), x[0, 0, 0], x[:, :0], x.expand(2, 2, 3, 4)):
        twin = make(each)
        assert rushlight.equal(twin, each) and twin.dtype == each.dtype
        assert twin.shape == each.shape
        assert twin.numel() == 0 or twin.data_ptr() != each.data_ptr()
    assert make(x.permute(2, 0, 1)).stride() == x.permute(2, 0, 1).stride()


@pytest.mark.parametrize("make", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_gradients_and_attributes(make):
    x = rushlight.ones(3, requires_grad=True)
    x.name = "x"
    twin = make(x)
    assert twin.requires_grad and twin.is_leaf and twin.name == "x"
    with pytest.raises(RuntimeError, match="detach"):
        make(x * 2)


def test_shared_memory_stays_shared():
    x = rushlight.arange(6.0)
    whole, part, again = copy.deepcopy([x, x[2:4], x])
    part.fill_(7)
    assert whole.tolist() == [0, 1, 7, 7, 4, 5] and again is whole
    assert x.tolist() == [0, 1, 2, 3, 4, 5]


def test_the_gradient_is_copied_too():
    x = rushlight.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    twin = copy.deepcopy(x)
    assert twin.grad.tolist() == [3, 3] and twin.grad.data_ptr() != x.grad.data_ptr()


def test_subclasses_stay_what_they_are():
    class Named(rushlight.Tensor):
        pass

    x = rushlight.ones(2).as_subclass(Named)
    x.name = ["a"]
    twin = copy.deepcopy(x)
    assert type(twin) is Named and twin.name == ["a"] and twin.name is not x.name


def test_meta_tensors():
    x = rushlight.empty(2, 3, device="meta")
    assert copy.deepcopy(x).shape == (2, 3) and copy.deepcopy(x).device.type == "meta"
    with pytest.raises(NotImplementedError):
        pickle.dumps(x)
