"""The native tensor: attributes, conversions, construction, sharing, Python's protocols."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import weakref

import numpy
import pytest

import rushlight
from rushlight import _core, dtypes

Tensor, Size = _core.Tensor, _core.Size


def tensor(data, dtype=None):
    return _core.tensor_from_data(data, -1 if dtype is None else dtype.code)


def empty(*sizes, dtype=dtypes.float32, device=0):
    return _core.empty(sizes, dtype.code, device)


def leaf(data):
    return tensor(data).requires_grad_()


# ---------------------------------------------------------------- attributes


def test_layout_attributes():
    x = tensor([[1, 2, 3], [4, 5, 6]], dtypes.int16)
    assert x.shape == x.size() == (2, 3) and isinstance(x.shape, Size)
    assert x.stride() == (3, 1) and x.stride(-1) == 1 and x.size(dim=-1) == 3
    assert x.ndim == x.dim() == x.ndimension() == 2
    assert x.numel() == x.nelement() == 6
    assert x.itemsize == x.element_size() == 2 and x.nbytes == 12
    assert x.dtype is dtypes.int16 and x.device.type == "cpu"
    assert x.is_signed() and not x.is_floating_point() and not x.is_complex()
    assert x.storage_offset() == 0 and x[1].storage_offset() == 3
    assert x.data_ptr() + 6 == x[1].data_ptr()
    assert len(x) == 2


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=lambda d: d.name)
def test_every_dtype(dtype):
    x = tensor([0, 1], dtype)
    assert x.dtype is dtype and x.itemsize == dtype.itemsize
    assert x.is_floating_point() == (dtype.kind == "f") and x.is_complex() == (dtype.kind == "c")
    assert x.is_signed() == (dtype.kind in "ifc")
    assert x.tolist() == [0, 1]


@pytest.mark.parametrize("name", ["shape", "dtype", "ndim", "grad_fn", "is_leaf"])
def test_read_only_attributes(name):
    with pytest.raises(AttributeError):
        setattr(tensor([1.0]), name, 1)


def test_size_errors():
    x = empty(2, 3)
    with pytest.raises(IndexError, match=r"Dimension out of range: 2 is not in \[-2, 1\]"):
        x.size(2)
    with pytest.raises(IndexError, match="Dimension specified as 0 but tensor has no dimensions"):
        empty().size(0)
    with pytest.raises(TypeError, match="must be int, not str"):
        x.size("a")
    with pytest.raises(TypeError):
        x.stride(0, 1)
    with pytest.raises(TypeError):
        x.size(axis=0)


def test_zero_dimensional_and_empty():
    x = tensor(2.5)
    assert x.shape == () and x.stride() == () and x.numel() == 1 and x.is_contiguous()
    with pytest.raises(TypeError, match="len\\(\\) of a 0-d tensor"):
        len(x)
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        iter(x)
    y = empty(2, 0, 3)
    assert y.numel() == 0 and y.tolist() == [[], []] and y.is_contiguous() and y.data_ptr() == 0


def test_size_type():
    size = tensor([[1, 2, 3]]).shape
    assert repr(size) == "torch.Size([1, 3])" and size == (1, 3) and hash(size) == hash((1, 3))
    assert size.numel() == 3 and Size([]).numel() == 1
    for made in (size[1:], size + (4,), (4,) + size, size * 2, 2 * size, copy.deepcopy(size)):
        assert type(made) is Size
    assert (2, *size) + size == (2, 1, 3, 1, 3)
    assert type(pickle.loads(pickle.dumps(size))) is Size
    assert Size([True, numpy.int64(2), tensor(3)]) == (1, 2, 3)
    with pytest.raises(TypeError, match=r"is made of ints, but item 0 is 'float\'"):
        Size([1.5])
    with pytest.raises(TypeError):
        size + [1]
    with pytest.raises(TypeError):
        Size(3)


def test_storage_handles():
    x = tensor([1.0, 2.0, 3.0])
    storage = x[1:].untyped_storage()
    assert storage.nbytes() == len(storage) == storage.size() == 12
    assert storage.data_ptr() == x.data_ptr()
    assert storage == x.untyped_storage() and storage != tensor([1.0]).untyped_storage()
    assert _core.same_storage(x, x[1:]) and not _core.same_storage(x, tensor([1.0]))
    del x
    assert storage.nbytes() == 12


# ---------------------------------------------------------------- numbers


def test_item_and_conversions():
    assert tensor([[3]]).item() == 3 and type(tensor(True).item()) is bool
    assert int(tensor(2.7)) == 2 and int(tensor(-2.7)) == -2 and float(tensor(3)) == 3.0
    assert int(tensor(1e30)) == int(numpy.float32(1e30))
    assert complex(tensor(2.5)) == 2.5 and complex(tensor(1 + 2j)) == 1 + 2j
    assert float(tensor(2 + 0j)) == 2.0
    assert range(5)[tensor(2)] == 2 and tensor(True).__index__() == 1
    assert bool(tensor(float("nan"))) and not bool(tensor(0)) and bool(tensor([[1e-40]]))
    assert tensor(2**64 - 1, dtypes.uint64).item() == 2**64 - 1


ONE_ELEMENT = "only one element tensors can be converted to a number"
INDEX = "only integer tensors of a single element serve as an index"


@pytest.mark.parametrize(
    ("convert", "value", "error", "message"),
    [
        (bool, [1, 2], RuntimeError, "with more than one value is ambiguous"),
        (bool, [], RuntimeError, "with no values is ambiguous"),
        (int, [1, 2], ValueError, ONE_ELEMENT),
        (float, [], ValueError, ONE_ELEMENT),
        (complex, [1, 2], ValueError, ONE_ELEMENT),
        (int, float("nan"), ValueError, "NaN"),
        (int, float("inf"), OverflowError, "infinity"),
        (float, 1j, RuntimeError, "value cannot be converted to type double without overflow"),
        (range, 1.5, TypeError, INDEX),
        (range, [1, 2], TypeError, INDEX),
        (Tensor.item, [1, 2], RuntimeError, "with 2 elements cannot be converted to Scalar"),
    ],
)
def test_conversion_errors(convert, value, error, message):
    with pytest.raises(error, match=message):
        convert(tensor(value))


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16], ids=lambda d: d.name)
def test_short_floats_round_as_torch(dtype):
    torch = pytest.importorskip("torch")
    rng = numpy.random.default_rng(0)
    values = numpy.ldexp(rng.standard_normal(4000), rng.integers(-150, 120, 4000))
    special = [0.0, -0.0, 65504.0, 65519.99, 65520.0, 2.0**-24, 2.0**-25, 2.0**-25 * 1.0001]
    special += [2.0**-14, 1 + 2.0**-11, 1 + 3 * 2.0**-11, 1 + 2.0**-8, 3.4e38]
    special += [float("inf"), float("-inf"), float("nan")]
    data = values.astype(numpy.float32).tolist() + special
    expected = torch.tensor(data, dtype=torch.float32).to(getattr(torch, dtype.name))
    assert numpy.array_equal(tensor(data, dtype).tolist(), expected.tolist(), equal_nan=True)
    signs = numpy.signbit(tensor([0.0, -0.0], dtype).tolist())
    assert signs.tolist() == [False, True]


def test_every_half_survives_the_round_trip():
    bits = numpy.arange(65536, dtype=numpy.uint16)
    halves = _core.from_numpy(bits.view(numpy.float16))
    again = _core.to_numpy(tensor(halves.tolist(), dtypes.float16)).view(numpy.uint16)
    nan = numpy.isnan(bits.view(numpy.float16))
    assert numpy.array_equal(again[~nan], bits[~nan])
    assert numpy.isnan(again[nan].view(numpy.float16)).all()


# ---------------------------------------------------------------- tensors of Python numbers


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        ([True, False], dtypes.bool),
        ([True, 1], dtypes.int64),
        ([1, 2.5], dtypes.float32),
        ([1, 2j], dtypes.complex64),
        ([], dtypes.float32),
        ([[], []], dtypes.float32),
        ((1, (2)), dtypes.int64),
        (range(3), dtypes.int64),
        ([numpy.float64(1)], dtypes.float64),
        ([numpy.float32(1), 2], dtypes.float32),
        ([numpy.int32(1), numpy.uint8(2)], dtypes.int32),
        ([numpy.int8(1), numpy.uint8(2)], dtypes.int16),
        ([numpy.float16(1), 2.0], dtypes.float32),
        ([numpy.complex64(1), 2.0], dtypes.complex64),
        ([numpy.zeros(2), numpy.zeros(2)], dtypes.float64),
        ([numpy.bool_(True)], dtypes.bool),
    ],
)
def test_inferred_dtype(data, dtype):
    assert tensor(data).dtype is dtype


def test_nested_data():
    assert tensor([[1, 2], (3, 4)]).tolist() == [[1, 2], [3, 4]]
    assert tensor([[[1.5]], [[2.5]]]).shape == (2, 1, 1)
    assert tensor([tensor(2.5), 1]).tolist() == [2.5, 1.0]
    assert tensor(2**70, dtypes.float32).item() == 2.0**70
    assert tensor(1e39).item() == float("inf")
    assert tensor(-1, dtypes.uint8).item() == 255
    assert tensor([1.9, -1.9], dtypes.int32).tolist() == [1, -1]
    assert tensor([0.5, 0, 3j], dtypes.bool).tolist() == [True, False, True]
    assert tensor(-(2**63)).item() == -(2**63)


OVERFLOW = "without overflow"


@pytest.mark.parametrize(
    ("data", "dtype", "error", "message"),
    [
        ([[1, 2], [3]], None, ValueError, r"expected sequence of length 2 at dim 1 \(got 1\)"),
        ([[1], [2, 3]], None, ValueError, r"expected sequence of length 1 at dim 1 \(got 2\)"),
        ([[[1, 2]], [[1, 2, 3]]], None, ValueError, r"length 2 at dim 2 \(got 3\)"),
        ([[1, 2], 3], None, TypeError, "not a sequence"),
        ([1, [2]], None, TypeError, "'list' object cannot be interpreted as an integer"),
        ("a", None, TypeError, "new\\(\\): invalid data type 'str'"),
        (b"ab", None, TypeError, "new\\(\\): invalid data type 'bytes'"),
        ([1, "a"], None, TypeError, "new\\(\\): invalid data type 'str'"),
        (["ab"], None, ValueError, "too many dimensions 'str'"),
        (None, None, RuntimeError, "Could not infer dtype of NoneType"),
        ({1: 2}, None, RuntimeError, "Could not infer dtype of dict"),
        (300, dtypes.uint8, RuntimeError, f"type uint8 {OVERFLOW}"),
        (-256, dtypes.uint8, RuntimeError, f"type uint8 {OVERFLOW}"),
        (-5.5, dtypes.uint8, RuntimeError, f"type uint8 {OVERFLOW}"),
        (128, dtypes.int8, RuntimeError, f"type int8 {OVERFLOW}"),
        (2**40, dtypes.int32, RuntimeError, f"type int32 {OVERFLOW}"),
        (1e19, dtypes.int64, RuntimeError, f"type int64 {OVERFLOW}"),
        (2.0**63, dtypes.int64, RuntimeError, f"type int64 {OVERFLOW}"),
        (float("nan"), dtypes.int64, RuntimeError, f"type int64 {OVERFLOW}"),
        (2**63, None, ValueError, "Overflow"),
        (2**64, dtypes.uint64, OverflowError, "int"),
        (-1, dtypes.uint64, OverflowError, "int"),
        (1.0, dtypes.uint64, TypeError, "an integer is required"),
        (1j, dtypes.float32, TypeError, "must be real number"),
        (1j, dtypes.int32, TypeError, "cannot be interpreted as an integer"),
        (10**400, dtypes.float32, OverflowError, "int too large"),
        ([numpy.uint16(1), 2], None, RuntimeError, "Promotion for uint16"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_data_errors(data, dtype, error, message):
    with pytest.raises(error, match=message):
        tensor(data, dtype)


def test_hostile_sequences():
    endless: list = []
    endless.append(endless)
    with pytest.raises(ValueError, match="too many dimensions"):
        tensor(endless)

    class Shrinking:
        """An item that empties the list it is in while it is converted."""

        def __init__(self, items):
            self.items = items

        def __float__(self):
            self.items.clear()
            return 1.0

        def __index__(self):
            self.items.clear()
            return 1

    items: list = []
    items.extend([Shrinking(items), 2.0, 3.0])
    with pytest.raises(ValueError, match="expected sequence of length 3"):
        tensor(items, dtypes.float32)

    class Liar:
        def __len__(self):
            return 2

        def __getitem__(self, index):
            if index < 5:
                return index
            raise IndexError

    with pytest.raises(ValueError, match="expected sequence of length 2"):
        tensor(Liar(), dtypes.int64)
    with pytest.raises(ValueError):
        _core.tensor_from_data([1], 99)


def test_uninitialised():
    x = _core.empty_strided((2, 3), (1, 2), dtypes.int32.code)
    assert x.stride() == (1, 2) and x.untyped_storage().nbytes() == 24
    assert empty(3, device=1).device.type == "meta"
    for call in (
        lambda: _core.empty((-1,), 11),
        lambda: _core.empty((2**62, 4), 11),
        lambda: _core.empty((2**61,), 12),
        lambda: _core.empty((0, 2**62, 2**62), 11),
        lambda: _core.empty((1,) * 65, 11),
        lambda: _core.empty_strided((2,), (2**62,), 11),
        lambda: _core.empty_strided((2, 2), (1,), 11),
        lambda: _core.empty_strided((2,), (-1,), 11),
        lambda: _core.empty((2**50,), 11),  # no machine has that much
    ):
        with pytest.raises(RuntimeError):
            call()
    with pytest.raises(ValueError):
        _core.empty((1,), 16)


def test_meta_device():
    x = empty(2, 3, device=1)
    assert x[1, 1:].shape == (2,) and x[1].storage_offset() == 3 and x.data_ptr() == 0
    with pytest.raises(RuntimeError, match="cannot be called on meta tensors"):
        empty(device=1).item()
    with pytest.raises(NotImplementedError):
        x.tolist()
    with pytest.raises(TypeError, match="meta"):
        _core.to_numpy(x)


# ---------------------------------------------------------------- NumPy


NUMPY_DTYPES = [d for d in dtypes.ALL if d.numpy is not None]


@pytest.mark.parametrize("dtype", NUMPY_DTYPES, ids=lambda d: d.name)
def test_numpy_shares_memory(dtype):
    array = numpy.arange(6).reshape(2, 3).astype(dtype.numpy)
    x = _core.from_numpy(array)
    assert x.dtype is dtype and x.data_ptr() == array.ctypes.data and x.stride() == (3, 1)
    back = _core.to_numpy(x)
    assert back.dtype == array.dtype and back.dtype.char == array.dtype.char
    back[1, 2] = 0
    assert array[1, 2] == 0
    assert numpy.shares_memory(_core.to_numpy(x.T), array)


def test_numpy_layouts():
    array = numpy.arange(24.0).reshape(2, 3, 4)
    views = [array.T, array[:, ::2], array[1, 1], array[:, None, :, 1]]
    for view in (*views, numpy.array(1.5), numpy.zeros((0, 3))):
        x = _core.from_numpy(view)
        assert x.shape == view.shape and x.tolist() == view.tolist()
        assert numpy.array_equal(_core.to_numpy(x), view)


def test_numpy_keeps_memory_alive():
    x = tensor([1.0, 2.0])
    array = _core.to_numpy(x)
    _core.set_data(x, tensor([[5.0]]))
    del x
    gc.collect()
    assert array.tolist() == [1.0, 2.0]
    y = _core.from_numpy(numpy.arange(5))
    gc.collect()
    assert y.tolist() == [0, 1, 2, 3, 4]


def test_numpy_errors():
    with pytest.raises(TypeError, match=r"expected np.ndarray \(got list\)"):
        _core.from_numpy([1])
    with pytest.raises(ValueError, match="negative"):
        _core.from_numpy(numpy.arange(4)[::-1])
    with pytest.raises(TypeError, match=r"can't convert np.ndarray of type numpy.str_"):
        _core.from_numpy(numpy.zeros(2, "U3"))
    with pytest.raises(TypeError, match=r"numpy.datetime64"):
        _core.from_numpy(numpy.zeros(2, "M8[s]"))
    with pytest.raises(TypeError):
        _core.from_numpy(numpy.zeros(2, object))
    with pytest.raises(TypeError):
        _core.from_numpy(numpy.zeros(2, "f4,f8"))
    with pytest.raises(ValueError, match="byte order"):
        _core.from_numpy(numpy.zeros(2, ">f4"))
    with pytest.raises(ValueError, match="not a multiple of the element size"):
        _core.from_numpy(numpy.zeros(3, "f4,i1")["f0"])
    with pytest.raises(RuntimeError, match="requires grad"):
        _core.to_numpy(leaf([1.0]))
    with pytest.raises(TypeError, match="Got unsupported ScalarType BFloat16"):
        _core.to_numpy(tensor([1.0], dtypes.bfloat16))
    with pytest.raises(TypeError):
        _core.to_numpy(3)


def test_read_only_arrays():
    array = numpy.arange(3.0)
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        x = _core.from_numpy(array)
    assert not _core.to_numpy(x).flags.writeable


# ---------------------------------------------------------------- gradients' attributes


def test_requires_grad():
    x = tensor([1.0])
    assert not x.requires_grad and x.is_leaf and x.output_nr == 0
    assert x.grad is None and x.grad_fn is None
    x.requires_grad = True
    assert x.requires_grad and x.requires_grad_(False) is x and not x.requires_grad
    with pytest.raises(RuntimeError, match="only Tensors of floating point"):
        tensor([1]).requires_grad_()
    tensor([1]).requires_grad = False
    with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
        x.requires_grad = 1
    with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
        del x.requires_grad


def test_views_are_not_leaves():
    x = leaf([1.0, 2.0])
    view = x[0]
    assert view.requires_grad and not view.is_leaf and view.grad_fn is not None and view._base is x
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf"):
        view.requires_grad = False
    with pytest.warns(UserWarning, match="not a leaf"):
        assert view.grad is None
    assert tensor([1.0, 2.0])[0].grad_fn is None


def test_grad_assignment():
    x = leaf([1.0, 2.0])
    x.grad = tensor([3.0, 4.0])
    assert x.grad.tolist() == [3.0, 4.0]
    x.grad = None
    assert x.grad is None
    for value, error in (
        (3, TypeError),
        (x, RuntimeError),
        (tensor([1.0]), RuntimeError),
        (tensor([1, 2]), RuntimeError),
        (empty(2, device=1), RuntimeError),
    ):
        with pytest.raises(error):
            x.grad = value
    del x.grad


def test_data():
    x = leaf([1.0, 2.0])
    assert not x.data.requires_grad and _core.same_storage(x, x.data)
    x.data = tensor([[3.0, 4.0]])
    assert x.shape == (1, 2) and x.requires_grad
    _core.set_data(x, x)
    assert x.tolist() == [[3.0, 4.0]]
    with pytest.raises(TypeError, match="has to be a tensor, not int"):
        x.data = 3
    with pytest.raises(RuntimeError, match="must be floating point or complex"):
        x.data = tensor([1])


# ---------------------------------------------------------------- Python's object protocols


def test_identity_hash_and_attributes():
    x, y = tensor([1.0]), tensor([1.0])
    assert hash(x) == hash(x) and len({x, y, x}) == 2
    x.note = "kept"
    assert x.note == "kept" and x.__dict__ == {"note": "kept"}
    assert y.__dict__ == {}


def test_weak_references():
    x = tensor([1.0])
    reference = weakref.ref(x)
    assert reference() is x
    del x
    assert reference() is None


def test_cycles_are_collected():
    x = leaf([1.0])
    x.self = x
    y = leaf([1.0])
    y.grad = z = leaf([2.0])
    z.grad = y
    references = [weakref.ref(t) for t in (x, y, z)]
    del x, y, z
    gc.collect()
    assert [r() for r in references] == [None] * 3


def test_long_chains_are_freed_without_recursion():
    last = leaf([1.0])
    for _ in range(200_000):
        following = leaf([1.0])
        following.grad = last
        last = following
    del last, following


def test_subclasses():
    class Special(Tensor):
        def __new__(cls, data, name="none"):
            made = Tensor._make_subclass(cls, tensor(data), True)
            made.name = name
            return made

        def __del__(self):
            deleted.append(self.name)

    deleted: list[str] = []
    x = Special([1.0, 2.0], "x")
    assert type(x) is Special and x.requires_grad and x.is_leaf
    assert x.name == "x" and x.tolist() == [1.0, 2.0]
    del x
    assert deleted == ["x"]
    y = tensor([1.0]).as_subclass(Special)
    assert type(y) is Special and not y.requires_grad
    y.name = "y"
    with pytest.raises(TypeError, match="subclass of Tensor"):
        tensor([1.0]).as_subclass(int)
    with pytest.raises(TypeError):
        Tensor._make_subclass(Special, 3)


def test_slots_subclass():
    class Slotted(Tensor):
        __slots__ = ("extra",)

    x = Slotted(3)
    x.extra = [x]
    reference = weakref.ref(x)
    del x
    gc.collect()
    assert reference() is None


def test_constructor():
    assert Tensor().shape == (0,) and Tensor(2, 3).shape == (2, 3)
    assert Tensor(Size([4])).shape == (4,)
    assert Tensor([1, 2]).tolist() == [1.0, 2.0] and Tensor((2, 3)).dtype is dtypes.float32
    x = tensor([1, 2])
    assert _core.same_storage(Tensor(x), x) and Tensor(x).dtype is dtypes.int64
    assert Tensor(numpy.arange(2)).tolist() == [0.0, 1.0]
    for arguments, error in (
        (("a",), TypeError),
        ((1.5,), TypeError),
        ((-1,), RuntimeError),
        (([1], [2]), TypeError),
        ((2**70,), OverflowError),
    ):
        with pytest.raises(error):
            Tensor(*arguments)
    with pytest.raises(TypeError):
        Tensor([1], dtype=dtypes.int64)
    with pytest.raises(TypeError):
        object.__new__(Tensor)


def test_methods_can_be_attached():
    Tensor.twice_the_rank = lambda self: 2 * self.ndim
    try:
        assert tensor([[1]]).twice_the_rank() == 4
    finally:
        del Tensor.twice_the_rank
    assert not hasattr(tensor([1]), "twice_the_rank")


@pytest.mark.parametrize("other", [None, "a", [1], (1,), object(), {}])
def test_foreign_operands(other):
    x = tensor([1.0])
    with pytest.raises(TypeError):
        x + other
    with pytest.raises(TypeError):
        other - x
    with pytest.raises(TypeError):
        _ = x < other
    assert (x == other) is False and (x != other) is True


def test_foreign_operand_answers_itself():
    class Other:
        def __radd__(self, left):
            return "radd"

        def __rmatmul__(self, left):
            return "rmatmul"

        def __gt__(self, right):
            return "gt"

    x = tensor([1.0])
    assert x + Other() == "radd" and x @ Other() == "rmatmul" and (x < Other()) == "gt"
    x += Other()
    assert x == "radd"


def test_matmul_and_pow_reject_numbers():
    x = tensor([1.0])
    with pytest.raises(TypeError, match="unsupported operand"):
        2 @ x
    with pytest.raises(TypeError):
        pow(x, 2, 3)
    with pytest.raises(RuntimeError, match="bool tensor"):
        +tensor(True)
    assert +x is x


def test_metadata_is_freed():
    """Layouts come and go; the table of interned metadata must not keep or lose any."""
    x = empty(300, 300)
    for _ in range(3):
        starts = [(i, j) for i in range(0, 100, 7) for j in range(0, 100, 3)]
        views = [x[i : i + 1 + j, j:] for i, j in starts]
        assert all(v.shape == (1 + j, 300 - j) for v, (_, j) in zip(views, starts, strict=True))
        del views[::2]
        assert all(v.is_contiguous() == (v.shape[1] == 300 or v.shape[0] == 1) for v in views)


def test_reference_counts_are_balanced():
    x, index = leaf([[1.0, 2.0], [3.0, 4.0]]), (0, slice(None), None)

    def use():
        x[index], x.T, x.shape, x.size(0), x.data, x.dtype, x.tolist(), x.detach()
        x.untyped_storage(), _core.to_numpy(x.detach()), list(x), tensor([1, 2.5]), Tensor(2)

    use()
    gc.collect()
    watched = (x, index, x.dtype, x.device, Size, None)
    before = [sys.getrefcount(each) for each in watched]
    for _ in range(100):
        use()
    gc.collect()
    grown = [sys.getrefcount(each) - b for each, b in zip(watched, before, strict=True)]
    assert all(abs(count) < 10 for count in grown), grown


def test_registry():
    marker = object()
    _core.register("test_registry_marker", marker)
    assert _core.registered("test_registry_marker") is marker
    assert _core.registered("never registered") is None
    with pytest.raises(TypeError):
        _core.set_parameter_type(int)
    with pytest.raises(ValueError):
        _core.set_dtypes([])
    assert rushlight.Tensor is Tensor
