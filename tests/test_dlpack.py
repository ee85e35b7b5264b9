"""Tensors from and to other libraries without copies."""

from __future__ import annotations

import gc

import numpy
import pytest

import rushlight

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "complex64", "complex128",
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_in_both_directions(dtype):
    array = numpy.arange(24).reshape(2, 3, 4).astype(dtype)
    for given in (
        array,
        array.transpose(2, 0, 1),
        array[:, ::2, 1:],
        array[0, 0, 0:1],
        array[:, :0],
    ):
        tensor = rushlight.from_dlpack(given)
        assert tensor.shape == given.shape and tensor.dtype is getattr(rushlight, dtype)
        assert tensor.tolist() == given.tolist()
        back = numpy.from_dlpack(tensor)
        assert back.dtype == given.dtype and back.tolist() == given.tolist()
        if given.size:
            assert tensor.data_ptr() == given.ctypes.data == back.ctypes.data
    scalar = rushlight.from_dlpack(numpy.array(1).astype(dtype))
    assert scalar.shape == () and numpy.from_dlpack(scalar).shape == ()


@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16"])
def test_pytorch_in_both_directions(dtype):
    torch = pytest.importorskip("torch")
    theirs = torch.arange(12).reshape(3, 4).to(getattr(torch, dtype)).t()
    ours = rushlight.from_dlpack(theirs)
    assert ours.tolist() == theirs.tolist() and ours.stride() == theirs.stride()
    ours[0, 0] = 1
    assert theirs[0, 0].item() == 1
    for back in (
        torch.from_dlpack(ours),
        torch.utils.dlpack.from_dlpack(rushlight.to_dlpack(ours)),
    ):
        assert back.data_ptr() == theirs.data_ptr() and back.dtype == theirs.dtype


def test_memory_lives_as_long_as_anyone_uses_it():
    class Array(numpy.ndarray):
        pass

    array = numpy.arange(1000.0).view(Array)
    gone = []

    class Watch:
        def __del__(self):
            gone.append(1)

    array.watch = Watch()
    tensor = rushlight.from_dlpack(array)
    part = tensor[10:]
    del array, tensor
    gc.collect()
    assert not gone and part[0].item() == 10
    del part
    gc.collect()
    assert gone
    tensor = rushlight.arange(1000.0)
    exported = numpy.from_dlpack(tensor)
    del tensor
    assert exported[999] == 999


def test_capsules_are_consumed_once():
    capsule = rushlight.to_dlpack(rushlight.ones(3, requires_grad=True))
    assert rushlight.from_dlpack(capsule).tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError, match="only once"):
        rushlight.from_dlpack(capsule)
    capsule = rushlight.ones(3).__dlpack__(max_version=(1, 0))
    assert "dltensor_versioned" in repr(capsule)
    assert rushlight.utils.dlpack.from_dlpack(capsule).tolist() == [1, 1, 1]
    for other in (3, "a", None):
        with pytest.raises(RuntimeError, match="invalid capsule"):
            rushlight.from_dlpack(other)
    del capsule
    rushlight.to_dlpack(rushlight.ones(3))  # never consumed


def test_read_only_memory_stays_so():
    array = numpy.arange(3.0)
    array.flags.writeable = False
    tensor = rushlight.from_dlpack(array)
    with pytest.raises(RuntimeError):
        tensor.fill_(1)
    with pytest.raises(BufferError, match="read-only"):
        tensor.__dlpack__()
    assert not numpy.from_dlpack(tensor).flags.writeable


def test_what_cannot_be_exported():
    with pytest.raises(BufferError, match="detach"):
        rushlight.ones(2, requires_grad=True).__dlpack__()
    with pytest.raises(BufferError, match="no data"):
        rushlight.to_dlpack(rushlight.ones(2, device="meta"))
    with pytest.raises(ValueError, match="Unknown device type"):
        rushlight.ones(2, device="meta").__dlpack_device__()
    with pytest.raises(BufferError, match="only the CPU"):
        rushlight.ones(2).__dlpack__(dl_device=(2, 0))
    with pytest.raises(AssertionError):
        rushlight.ones(2).__dlpack__(stream=1)


def test_copies_on_request():
    x = rushlight.ones(2)
    assert x.__dlpack_device__() == (1, 0)
    twin = rushlight.from_dlpack(x, copy=True)
    assert twin.data_ptr() != x.data_ptr() and twin.tolist() == [1, 1]
    assert rushlight.from_dlpack(x, copy=False).data_ptr() == x.data_ptr()
    assert rushlight.from_dlpack(x, device="cpu").data_ptr() == x.data_ptr()
    with pytest.raises(BufferError):
        rushlight.from_dlpack(x, device="meta")


def test_old_exporters():
    class Old:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, stream=None):
            return rushlight.to_dlpack(rushlight.ones(2))

    assert rushlight.from_dlpack(Old()).tolist() == [1, 1]

    class Elsewhere(Old):
        def __dlpack_device__(self):
            return (2, 0)

    with pytest.raises(BufferError, match="kind 2"):
        rushlight.from_dlpack(Elsewhere())


def test_negative_strides_are_refused():
    with pytest.raises(BufferError, match="negative"):
        rushlight.from_dlpack(numpy.arange(3.0)[::-1])


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "float16", "complex64"])
def test_views_as_another_dtype(dtype):
    torch = pytest.importorskip("torch")
    base = numpy.arange(64, dtype="uint8").view("float32").reshape(4, 4)
    for make in (
        lambda x: x, lambda x: x[1:, :2], lambda x: x[::2], lambda x: x.t(), lambda x: x[0, 0],
        lambda x: x[:, 1:], lambda x: x[:0],
    ):  # fmt: skip
        outcomes = []
        for module in (rushlight, torch):
            x = make(module.from_numpy(base.copy()))
            try:
                y = x.view(getattr(module, dtype))
                outcomes.append((tuple(y.shape), tuple(y.stride()), repr(y.tolist())))
                assert y.data_ptr() == x.data_ptr()
            except RuntimeError:
                outcomes.append(RuntimeError)
        assert outcomes[0] == outcomes[1]
    x = rushlight.ones(2, requires_grad=True)
    assert not x.view(rushlight.int32).requires_grad
    assert x.view(dtype=rushlight.float32).requires_grad
