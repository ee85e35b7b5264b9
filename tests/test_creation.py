"""Constructors from data, exchange with NumPy, limits, generators; and PyTorch where installed."""

from __future__ import annotations

import array
import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight


def check(tensor: rushlight.Tensor, values: Any, dtype: rushlight.dtype) -> None:
    assert tensor.dtype is dtype
    assert tensor.tolist() == values


# ---------------------------------------------------------------- tensor()


def test_numbers_and_sequences() -> None:
    check(rushlight.tensor(3), 3, rushlight.int64)
    check(rushlight.tensor(2.5), 2.5, rushlight.float32)
    check(rushlight.tensor(True), True, rushlight.bool)
    check(rushlight.tensor(1j), 1j, rushlight.complex64)
    check(rushlight.tensor([[1, 2], [3, 4]]), [[1, 2], [3, 4]], rushlight.int64)
    check(rushlight.tensor([1, 2.0]), [1.0, 2.0], rushlight.float32)
    check(rushlight.tensor([True, 2]), [1, 2], rushlight.int64)
    check(rushlight.tensor(range(3)), [0, 1, 2], rushlight.int64)
    check(rushlight.tensor(()), [], rushlight.float32)
    assert rushlight.tensor([[], []]).shape == (2, 0)
    check(rushlight.tensor([1, 2], dtype=rushlight.float64), [1.0, 2.0], rushlight.float64)
    check(rushlight.tensor([1.5], dtype=rushlight.int32), [1], rushlight.int32)


def test_numpy_data_is_copied() -> None:
    source = np.arange(6, dtype=np.int16).reshape(2, 3)
    tensor = rushlight.tensor(source)
    check(tensor, source.tolist(), rushlight.int16)
    source[0, 0] = 7
    assert tensor[0, 0].item() == 0
    check(rushlight.tensor(source.T[::-1]), source.T[::-1].tolist(), rushlight.int16)
    check(rushlight.tensor(np.float64(3)), 3.0, rushlight.float64)
    check(rushlight.tensor([np.float32(1), np.float32(2)]), [1.0, 2.0], rushlight.float32)
    check(rushlight.tensor([np.array([1, 2]), np.array([3, 4])]), [[1, 2], [3, 4]], rushlight.int64)
    check(rushlight.tensor(source, dtype=rushlight.float32)[1], [3.0, 4.0, 5.0], rushlight.float32)
    check(rushlight.tensor(np.array(1.5)), 1.5, rushlight.float64)
    assert rushlight.tensor(np.zeros((0, 3))).shape == (0, 3)


def test_tensors_in_sequences() -> None:
    check(
        rushlight.tensor([rushlight.tensor(1), rushlight.tensor(2.5)]), [1, 2.5], rushlight.float32
    )
    with pytest.raises(ValueError, match="only one element tensors"):
        rushlight.tensor([rushlight.ones(2), rushlight.ones(2)])


def test_copy_of_a_tensor_warns() -> None:
    source = rushlight.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match=r"detach\(\)\.clone\(\)"):
        result = rushlight.tensor(source)
    assert not result.requires_grad
    assert result.data_ptr() != source.data_ptr()


def test_requires_grad_and_device() -> None:
    assert rushlight.tensor([1.0], requires_grad=True).requires_grad
    meta = rushlight.tensor([1, 2], device="meta")
    assert meta.device.type == "meta"
    assert meta.shape == (2,)
    assert rushlight.zeros(2, 3, requires_grad=True).is_leaf
    assert rushlight.empty(10**15, device="meta").shape == (10**15,)
    assert rushlight.ones(2).new_zeros(3, requires_grad=True).requires_grad


WRONG: list[tuple[Callable[[Any], Any], type[Exception]]] = [
    (lambda t: t.tensor("a"), TypeError),
    (lambda t: t.tensor(["a"]), ValueError),
    (lambda t: t.tensor(None), RuntimeError),
    (lambda t: t.tensor([[1], [1, 2]]), ValueError),
    (lambda t: t.tensor([[1], 2]), TypeError),
    (lambda t: t.tensor([1, [2]]), TypeError),
    (lambda t: t.tensor({1}), RuntimeError),
    (lambda t: t.tensor(object()), RuntimeError),
    (lambda t: t.tensor(2**70), ValueError),
    (lambda t: t.tensor(300, dtype=t.uint8), RuntimeError),
    (lambda t: t.tensor([1 + 2j], dtype=t.float32), TypeError),
    (lambda t: t.tensor(1, requires_grad=True), RuntimeError),
    (lambda t: t.tensor([1], device="nowhere"), RuntimeError),
    (lambda t: t.tensor([1.5], dtype="float"), TypeError),
    (lambda t: t.tensor(), TypeError),
    (lambda t: t.tensor(1, 2), TypeError),
    (lambda t: t.tensor([1], foo=1), TypeError),
    (lambda t: t.tensor(np.array(["a"])), TypeError),
    (lambda t: t.tensor(1.0, pin_memory=True), RuntimeError),
    (lambda t: t.arange(t.tensor([3])), TypeError),
    (lambda t: t.arange(t.tensor(3.0, requires_grad=True)), TypeError),
    (lambda t: t.arange("3"), TypeError),
    (lambda t: t.arange(0, [3]), TypeError),
    (lambda t: t.from_numpy([1]), TypeError),
    (lambda t: t.from_numpy(np.arange(3).astype(">i4")), ValueError),
    (lambda t: t.from_numpy(np.arange(3)[::-1]), ValueError),
    (lambda t: t.frombuffer(bytearray(8), dtype=t.int32, offset=5), ValueError),
    (lambda t: t.frombuffer(bytearray(0), dtype=t.int32), ValueError),
    (lambda t: t.frombuffer(bytearray(8), dtype=t.int32, count=3), ValueError),
    (lambda t: t.frombuffer(bytearray(8), dtype=t.int32, offset=9), ValueError),
    (lambda t: t.frombuffer(3, dtype=t.int32), ValueError),
    (lambda t: t.asarray([1, 2], copy=False), ValueError),
    (lambda t: t.asarray(t.ones(2), dtype=t.int32, copy=False), ValueError),
    (lambda t: t.ones(2, requires_grad=True).numpy(), RuntimeError),
    (lambda t: t.ones(2, dtype=t.bfloat16).numpy(), TypeError),
    (lambda t: t.ones(2, device="meta").numpy(), TypeError),
    (lambda t: t.ones(2, device="meta").cpu(), NotImplementedError),
    (lambda t: t.equal(t.ones(2), 1), TypeError),
    (lambda t: t.allclose(t.ones(2), t.ones(2, dtype=t.float64)), RuntimeError),
    (lambda t: t.allclose(t.ones(2), t.ones(3)), RuntimeError),
    (lambda t: t.ones(2).type("foo"), ValueError),
    (lambda t: t.set_num_threads(0), RuntimeError),
    (lambda t: t.set_num_threads(1.5), RuntimeError),
    (lambda t: t.is_nonzero(t.ones(2)), RuntimeError),
    (lambda t: t.Generator().set_state(t.zeros(3, dtype=t.uint8)), RuntimeError),
    (lambda t: t.Generator().set_state(t.zeros(5056)), TypeError),
    (lambda t: t.Generator().set_state(3), TypeError),
    (lambda t: t.finfo(t.int8), TypeError),
    (lambda t: t.iinfo(t.float32), TypeError),
    (lambda t: t.iinfo(t.bool), TypeError),
    (lambda t: t.finfo("float"), TypeError),
    (lambda t: t.ones(2).cuda(), AssertionError),
    (lambda t: t.ones(2).H, RuntimeError),
    (lambda t: "a" in t.ones(2), RuntimeError),
    (lambda t: t.set_default_dtype(t.int32), TypeError),
    (lambda t: t.empty_strided((2, 2), (-1, 1)), RuntimeError),
    (lambda t: t.empty_strided((2, 2), (1,)), RuntimeError),
]


@pytest.mark.parametrize(("call", "error"), WRONG)
def test_errors(call: Callable[[Any], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        call(rushlight)


@pytest.mark.parametrize(("call", "error"), WRONG)
def test_errors_of_pytorch(call: Callable[[Any], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        call(pytest.importorskip("torch"))


# ---------------------------------------------------------------- sharing memory


def test_as_tensor() -> None:
    x = rushlight.ones(2, requires_grad=True)
    assert rushlight.as_tensor(x) is x
    assert rushlight.as_tensor(x, dtype=rushlight.float64).grad_fn is not None
    source = np.arange(3)
    shared = rushlight.as_tensor(source)
    source[0] = 5
    check(shared, [5, 1, 2], rushlight.int64)
    check(rushlight.as_tensor([1, 2], dtype=rushlight.float32), [1.0, 2.0], rushlight.float32)


def test_asarray() -> None:
    source = np.arange(3.0)
    shared = rushlight.asarray(source)
    copied = rushlight.asarray(source, copy=True)
    source[0] = 9
    assert shared[0].item() == 9
    assert copied[0].item() == 0
    x = rushlight.ones(2, requires_grad=True)
    assert rushlight.asarray(x, requires_grad=True) is x
    assert not rushlight.asarray(x, requires_grad=False).requires_grad
    check(rushlight.asarray(bytearray(b"ab"), dtype=rushlight.uint8), [97, 98], rushlight.uint8)
    check(rushlight.asarray(np.float32(3)), 3.0, rushlight.float32)
    check(rushlight.asarray(3), 3, rushlight.int64)


def test_frombuffer() -> None:
    memory = array.array("i", [1, 2, 3])
    shared = rushlight.frombuffer(memory, dtype=rushlight.int32)
    memory[0] = 7
    check(shared, [7, 2, 3], rushlight.int32)
    check(
        rushlight.frombuffer(memory, dtype=rushlight.int32, offset=4, count=1), [2], rushlight.int32
    )
    with pytest.warns(UserWarning, match="not writable"):
        check(rushlight.frombuffer(b"abc", dtype=rushlight.uint8), [97, 98, 99], rushlight.uint8)


def test_to_numpy() -> None:
    x = rushlight.tensor([[1.0, 2.0], [3.0, 4.0]])
    view = x.t().numpy()
    view[0, 1] = 9
    assert x[1, 0].item() == 9
    assert rushlight.ones(2, requires_grad=True).numpy(force=True).tolist() == [1.0, 1.0]
    assert np.asarray(x, dtype=np.int32).dtype == np.int32
    assert not np.shares_memory(np.array(x, copy=True), view)
    assert isinstance(np.sin(x), rushlight.Tensor)
    for dtype in (rushlight.bool, rushlight.uint64, rushlight.float16, rushlight.complex128):
        assert rushlight.from_numpy(rushlight.ones(3, dtype=dtype).numpy()).dtype is dtype


def test_empty_strided() -> None:
    x = rushlight.empty_strided((2, 3), (1, 2), dtype=rushlight.int32)
    assert (x.shape, x.stride(), x.dtype) == ((2, 3), (1, 2), rushlight.int32)
    assert x.new_empty_strided((2,), (3,)).dtype is rushlight.int32


# ---------------------------------------------------------------- questions


def test_equal_and_allclose_are_bools() -> None:
    x = rushlight.tensor([1.0, 2.0])
    assert rushlight.equal(x, x) is True
    assert rushlight.equal(x, rushlight.tensor([1.0])) is False
    assert x.equal(rushlight.tensor([1.0, 3.0])) is False
    assert rushlight.allclose(x, x + 1e-9) is True
    assert x.allclose(x + 1) is False
    nan = rushlight.tensor([float("nan")])
    assert not rushlight.allclose(nan, nan)
    assert rushlight.allclose(nan, nan, equal_nan=True)


def test_conveniences() -> None:
    x = rushlight.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.type() == "torch.FloatTensor"
    assert x.type("torch.LongTensor").dtype is rushlight.int64
    assert x.cpu() is x
    assert (x.is_cpu, x.is_cuda, x.is_meta, x.is_sparse) == (True, False, False, False)
    assert x.layout is rushlight.strided
    assert x.get_device() == -1
    assert 3.0 in x and 5.0 not in x
    assert [row.tolist() for row in reversed(x)] == [[3.0, 4.0], [1.0, 2.0]]
    check(x.new_tensor([1, 2]), [1.0, 2.0], rushlight.float32)
    assert x.is_set_to(x) and not x.is_set_to(x[0])
    assert rushlight.is_tensor(x) and not rushlight.is_tensor(3)
    assert rushlight.numel(x) == 4
    assert rushlight.is_storage(x.untyped_storage())
    check(rushlight.scalar_tensor(3), 3.0, rushlight.float32)


def test_default_dtype() -> None:
    try:
        rushlight.set_default_dtype(rushlight.float64)
        assert rushlight.tensor(1.0).dtype is rushlight.float64
        assert rushlight.ones(2).dtype is rushlight.float64
        assert rushlight.tensor(1j).dtype is rushlight.complex128
    finally:
        rushlight.set_default_dtype(rushlight.float32)
    assert rushlight.ones(2).dtype is rushlight.float32


@pytest.mark.parametrize("constant", ["strided", "channels_last", "preserve_format"])
def test_formats(constant: str) -> None:
    value = getattr(rushlight, constant)
    assert repr(value) == f"torch.{constant}"
    assert pickle.loads(pickle.dumps(value)) is value
    with pytest.raises(TypeError):
        type(value)()


# ---------------------------------------------------------------- limits of dtypes


def test_limits() -> None:
    assert rushlight.finfo(rushlight.float32).eps == 2.0**-23
    assert rushlight.finfo().dtype == "float32"
    assert rushlight.iinfo(rushlight.uint64).max == 2**64 - 1
    assert rushlight.finfo(rushlight.float32) == rushlight.finfo(rushlight.complex64)
    with pytest.raises(AttributeError):
        rushlight.finfo(rushlight.float32).eps = 1  # type: ignore[misc]


NAMES = (
    "uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64"
).split()


@pytest.mark.parametrize("name", NAMES)
def test_limits_as_pytorch(name: str) -> None:
    torch = pytest.importorskip("torch")
    kind = "iinfo" if "int" in name else "finfo"
    ours, theirs = (getattr(each, kind)(getattr(each, name)) for each in (rushlight, torch))
    assert repr(ours) == repr(theirs)
    for attribute in (each for each in dir(theirs) if not each.startswith("_")):
        assert getattr(ours, attribute) == getattr(theirs, attribute)


# ---------------------------------------------------------------- generators


def test_generator() -> None:
    generator = rushlight.Generator(device="cpu")
    assert generator.manual_seed(3) is generator
    assert generator.initial_seed() == 3
    assert generator.device == rushlight.device("cpu")
    state = generator.get_state()
    assert (state.shape, state.dtype) == ((5056,), rushlight.uint8)
    for same in (generator.clone_state(), copy.deepcopy(generator)):
        assert rushlight.equal(same.get_state(), state)
    assert isinstance(rushlight.default_generator, rushlight.Generator)


def test_rng_state_as_pytorch() -> None:
    torch = pytest.importorskip("torch")
    rushlight.manual_seed(11)
    theirs = torch.Generator().manual_seed(11).get_state()
    assert rushlight.get_rng_state().tolist() == theirs.tolist()


def test_rng_state_is_restored() -> None:
    state = rushlight.get_rng_state()
    rushlight.manual_seed(5)
    rushlight.set_rng_state(state)
    assert rushlight.equal(rushlight.get_rng_state(), state)


# ---------------------------------------------------------------- against PyTorch

DATA: list[Callable[[Any], Any]] = [
    lambda t: t.tensor([np.float64(3), 2]),
    lambda t: t.tensor([np.float16(1)]),
    lambda t: t.tensor([np.int8(1)]),
    lambda t: t.tensor(np.bool_(True)),
    lambda t: t.tensor(bytearray(b"ab")),
    lambda t: t.tensor(array.array("f", [1, 2])),
    lambda t: t.tensor([1, 2j]),
    lambda t: t.tensor([-1], dtype=t.uint8),
    lambda t: t.tensor(1e40),
    lambda t: t.tensor(70000.0, dtype=t.float16),
    lambda t: t.tensor([t.ones(1, 1)]),
    lambda t: t.asarray(np.arange(2), dtype=t.float32, requires_grad=True),
    lambda t: t.arange(t.tensor([2, 3]).max()),
    lambda t: t.arange(t.tensor(1), t.tensor(2.5), step=t.tensor(0.5), requires_grad=True),
    lambda t: t.arange(t.tensor(2, dtype=t.int8), pin_memory=None),
    lambda t: t.arange(t.tensor(2.0), out=t.zeros(0, dtype=t.int16)),
    lambda t: t.scalar_tensor(2, dtype=t.int8),
    lambda t: t.ones(2).new_tensor(2.5, requires_grad=True),
    lambda t: t.ones(2, dtype=t.int32).new_tensor([1.5]),
    lambda t: t.ones(2).new_tensor(np.arange(3)),
    lambda t: t.from_numpy(np.arange(4, dtype=np.uint16)[::2]),
    lambda t: t.frombuffer(bytearray(b"abcdefgh"), dtype=t.float32),
]


@pytest.mark.parametrize("make", DATA)
def test_as_pytorch(make: Callable[[Any], Any]) -> None:
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert repr(make(rushlight)) == repr(make(torch))


def test_new_leaves() -> None:
    with rushlight.no_grad():
        x = rushlight.zeros(3, requires_grad=True)
    assert x.requires_grad and x.is_leaf
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
    assert not rushlight.zeros_like(x).requires_grad
    assert rushlight.rand_like(x, requires_grad=True).is_leaf
    for _ in range(2):  # planned, then replayed
        assert rushlight.ones(3, requires_grad=True) is not rushlight.ones(3, requires_grad=True)
        with pytest.raises(RuntimeError, match="floating point and complex"):
            rushlight.ones(3, dtype=rushlight.int64, requires_grad=True)
    with pytest.raises(TypeError, match="requires_grad"):
        rushlight.ones(3, requires_grad="yes")


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "rand", "randn"])
def test_sizes_must_be_given(name: str) -> None:
    make = getattr(rushlight, name)
    for _ in range(2):
        with pytest.raises(TypeError, match="size"):
            make()
        with pytest.raises(TypeError, match="size"):
            make(dtype=rushlight.float64)
    assert make(()).shape == make(size=()).shape == ()
    with pytest.raises(TypeError, match="size"):
        make(2).new_zeros()
