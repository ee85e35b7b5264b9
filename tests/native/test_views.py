"""Native views and basic indexing: layouts, errors, and what they share with their base."""

from __future__ import annotations

import itertools
import random

import numpy
import pytest

import rushlight  # noqa: F401  (attaches the methods)
from rushlight import _core, dtypes


def arange(*sizes):
    count = int(numpy.prod(sizes))
    return _core.from_numpy(numpy.arange(count, dtype=numpy.float32).reshape(sizes))


def layout(x):
    """What a view is: values, sizes, strides, offset."""
    return x.detach().tolist(), tuple(x.shape), x.stride(), x.storage_offset()


def outcome(function):
    """A view's layout, or the class of the error."""
    try:
        result = function()
    except Exception as error:
        return type(error).__name__
    return [layout(x) for x in result] if isinstance(result, tuple | list) else layout(result)


# ---------------------------------------------------------------- as PyTorch


def split(text):
    return [part.strip() for part in text.split(";")]


EXPRESSIONS = split(
    """
    x.view(4, 6); x.view(-1); x.view((3, 8)); x.view(-1, 6); x.view(size=(24,));
    x.view(2, 3, 2, 2); x.view(1, 2, 1, 3, 4, 1); x.view(5); x.view(-1, -1); x.view(-2);
    x.view(0, -1); x.view(-1, 5); y.view(12, 2); y.view(24); y.view(4, 3, 1, 2);
    y.view(2, 2, 3, 2); z.view(-1, 3); z.view(-1, 0); z.view(0); z.view(7, 0, 5); s.view(());
    s.view(1, 1); s.view(2); w.view(10); w.view(5, 2, 1); x.reshape(6, 4);
    x.reshape(shape=(2, 12)); x.reshape(7); z.reshape(3, 0, 2); s.reshape(1); x.permute(2, 0, 1);
    x.permute((0, -1, 1)); x.permute(dims=(2, 1, 0)); x.permute(0, 1); x.permute(0, 0, 1);
    x.permute(0, 1, 3); s.permute(()); x.transpose(0, 2); x.transpose(-1, -2);
    x.transpose(dim0=0, dim1=1); x.transpose(0, 3); s.transpose(0, -1); s.transpose(0, 1);
    x.swapaxes(0, 1); x.swapaxes(axis0=0, axis1=-1); x[0].t(); x[0, 0].t(); s.t(); x.t(); x.T;
    x.mT; x[0, 0].mT; s.T; x.movedim(0, 2); x.movedim((0, 1), (1, 2)); x.movedim(0, 3);
    x.movedim((0, 0), (1, 2)); x.movedim((0, 1), (1, 1)); x.movedim(-1, 0); x.expand(2, 3, 4);
    x.expand(5, -1, -1, -1); x.expand(3, 4); x.expand(2, 3, 5); x.expand(-1, 2, 3, 4);
    x.expand(2, -2, 4); x[:, :1].expand(2, 7, 4); x[:, :1].expand(2, 0, 4); s.expand(2, 3);
    s.expand(()); x.expand(size=(1, 2, 3, 4)); z.expand(2, 0, 3); z.expand(4, 2, 0, 3);
    z.expand(2, 1, 3); s.expand_as(x); x.expand_as(s); x.view_as(y); x.view_as(s); x.unsqueeze(0);
    x.unsqueeze(1); x.unsqueeze(3); x.unsqueeze(-1); x.unsqueeze(4); x.unsqueeze(-5);
    s.unsqueeze(0); s.unsqueeze(dim=-1); y.unsqueeze(2); o.squeeze(); o.squeeze(0); o.squeeze(1);
    o.squeeze(dim=-1); o.squeeze((0, 2)); o.squeeze((0, 0)); o.squeeze((0, -3)); o.squeeze(5);
    o.squeeze(()); s.squeeze(); s.squeeze(0); s.squeeze(1); x.narrow(0, 1, 1); x.narrow(2, -2, 2);
    x.narrow(1, 3, 0); x.narrow(1, 2, 2); x.narrow(1, -4, 1); x.narrow(1, 4, 0);
    x.narrow(3, 0, 1); x.narrow(0, 0, -1); s.narrow(0, 0, 0); x.narrow(dim=1, start=1, length=2);
    x.select(0, 1); x.select(-1, -1); x.select(1, 3); x.select(3, 0); x.select(dim=1, index=-3);
    s.select(0, 0); x.unbind(); x.unbind(1); x.unbind(dim=-1); x.unbind(3); z.unbind(1);
    z.unbind(0); s.unbind(); x.flatten(); x.flatten(1); x.flatten(0, 1); x.flatten(-2, -1);
    x.flatten(start_dim=1, end_dim=1); x.flatten(1, 0); x.flatten(0, 3); s.flatten(); z.flatten();
    z.flatten(1); x.as_strided((2, 2), (1, 2)); x.as_strided((3,), (4,), 2);
    x.as_strided(size=(), stride=(), storage_offset=23); x[1].as_strided((2,), (1,));
    x[1].as_strided((2,), (1,), 0); x.as_strided((2,), (23,)); x.as_strided((2,), (24,));
    x.as_strided((2,), (-1,)); x.as_strided((2, 2), (1,)); x.as_strided((2,), (1,), -1);
    x.as_strided((0,), (100,)); x.as_strided((2**40,), (2**40,)); x.as_strided((2,), (1,), 2**62);
    x.detach(); x.contiguous(); list(x); list(s); list(z)
    """
)

INDICES = split(
    """
    0; -1; 1; 2; -3; 2**62; 2**70; -2**70; ...; None; :; 1:; :-1; ::2; ::-1; ::0; 5:; 3:1;
    -100:100; 2**70:; :2**70; 0, 1; 0, 1, 2; 0, 1, 2, 0; 0, ..., 1; ..., 1; ..., None; None, 0;
    0, None, 1; None, ..., None; :, 1:3, ::2; 1, :, 1:; (0, 5); 0, 3; 0, -4; ..., 4; 1, 1:1;
    :, :, :, :; 0, 0, 0, :; None, None, None; slice(None, None, None); np.int64(1);
    np.int64(0), np.int32(-1); slice(np.int64(0), np.int64(1)); slice('a', None); ();
    1:2, 0, None
    """
)


def evaluate(expression, names):
    return outcome(lambda: eval(expression, names))


def environments(torch):
    """The same tensors twice: ours and PyTorch's.

    y and w are strided, z is empty, s has no dims, o has sizes of 1.
    """
    results = []
    for make in (_core.from_numpy, torch.from_numpy):
        x = make(numpy.arange(24, dtype=numpy.float32).reshape(2, 3, 4))
        y = make(numpy.arange(24, dtype=numpy.float32).reshape(2, 3, 4)).permute(2, 1, 0)
        z = make(numpy.zeros(0, dtype=numpy.float32)).view(2, 0, 3)
        o = make(numpy.zeros(3, dtype=numpy.float32)).view(1, 3, 1)
        w = make(numpy.arange(20, dtype=numpy.float32))[::2]
        s = x[1, 2, 3]
        results.append({"x": x, "y": y, "z": z, "o": o, "w": w, "s": s, "np": numpy})
    return results


@pytest.mark.filterwarnings("ignore:.*deprecated")
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_views_like_torch(expression):
    torch = pytest.importorskip("torch")
    ours, theirs = environments(torch)
    assert evaluate(expression, ours) == evaluate(expression, theirs)


@pytest.mark.parametrize("name", ["x", "y", "z", "s"])
@pytest.mark.parametrize("index", INDICES)
def test_indexing_like_torch(name, index):
    torch = pytest.importorskip("torch")
    expression = f"{name}[{index}]"
    if name == "s" and index in ("::-1", "::0", "slice('a', None)"):
        pytest.skip("two errors, either may come first")
    ours, theirs = environments(torch)
    assert evaluate(expression, ours) == evaluate(expression, theirs)


def test_several_ellipses():
    x = arange(2, 3, 4)
    assert x[..., ...].shape == (2, 3, 4) and x[..., 0, ...].shape == (2, 3)


def random_part(rng, size):
    if size and rng.random() < 0.3:
        return rng.randrange(-size, size)
    bounds = [rng.choice([None, rng.randint(-size - 2, size + 2)]) for _ in range(2)]
    return slice(*bounds, rng.choice([None, 1, 2, 3]))


def random_index(rng, shape):
    """Parts for some leading dims, for some trailing ones after an Ellipsis, perhaps a None."""
    middle = rng.randint(0, len(shape))
    left = [random_part(rng, size) for size in shape[: rng.randint(0, middle)]]
    right = [random_part(rng, size) for size in shape[rng.randint(middle, len(shape)) :]]
    parts = [*left, Ellipsis, *right] if right or rng.random() < 0.5 else left
    if rng.random() < 0.3:
        parts.insert(rng.randint(0, len(parts)), None)
    return tuple(parts)


def test_random_chains_agree_with_numpy():
    """Any chain of views shows the elements that NumPy's shows."""
    rng = random.Random(0)
    for _ in range(2000):
        array = numpy.arange(120, dtype=numpy.float32).reshape(2, 3, 4, 5)
        x = _core.from_numpy(array)
        for _ in range(3):
            dims = list(range(array.ndim))
            rng.shuffle(dims)
            if rng.random() < 0.5:
                array, x = array.transpose(dims), x.permute(dims)
            index = random_index(rng, array.shape)
            array, x = array[index], x[index]
        assert x.shape == array.shape and x.tolist() == array.tolist()
        assert x.is_contiguous() == array.flags.c_contiguous or 0 in array.shape


def test_reshape_is_a_view_exactly_when_numpy_makes_one():
    rng = random.Random(1)
    shapes = [(24,), (2, 12), (4, 6), (2, 3, 4), (2, 2, 2, 3), (1, 24, 1), (6, 1, 4)]
    for _ in range(500):
        array = numpy.arange(96, dtype=numpy.float32).reshape(2, 4, 4, 3)[:, ::2, ::2]
        dims = list(range(4))
        rng.shuffle(dims)
        array = array.transpose(dims)
        x = _core.from_numpy(array)
        shape = rng.choice(shapes)
        expected = array.reshape(shape)
        if numpy.shares_memory(expected, array):
            assert x.view(shape).tolist() == expected.tolist()
        else:
            with pytest.raises(RuntimeError, match=r"Use .reshape\(...\) instead"):
                x.view(shape)


# ---------------------------------------------------------------- contiguity


def test_contiguity():
    x = arange(2, 3, 4)
    assert x[1].is_contiguous() and x[:1, 2].is_contiguous() and x[:, :0].is_contiguous()
    assert not x[:, 1].is_contiguous() and not x.transpose(0, 1).is_contiguous()
    assert x.unsqueeze(1).is_contiguous() and x[:1].transpose(0, 1).is_contiguous()
    assert x.contiguous() is x


# ---------------------------------------------------------------- sharing


def test_views_share_memory_and_version():
    x = arange(2, 3)
    for view in (
        x[0],
        x.t(),
        x.view(6),
        x.detach(),
        x.expand(4, 2, 3),
        x.unbind()[1],
        x[..., None],
    ):
        assert _core.same_storage(view, x) and view._version == x._version
    assert x.data_ptr() + 4 == x[0, 1].data_ptr()


def test_base():
    x = arange(2, 3)
    assert x._base is None and x[0]._base is x and x.view(6)[1:][0]._base is x
    assert x.detach()._base is None
    assert list(x)[1]._base is x


def test_gradient_history():
    x = arange(2, 3).requires_grad_()
    assert x.view(6).grad_fn is not None and x.view(6)[0].requires_grad
    assert not x.detach().requires_grad
    before = _core.set_grad_enabled(False)
    try:
        # as in PyTorch: a view of what requires a gradient does, even without a history
        assert x[0].requires_grad and x[0].is_leaf and x[0].grad_fn is None
    finally:
        _core.set_grad_enabled(before)


def test_parameter_like_subclass_gives_plain_views():
    x = arange(2, 3)
    assert type(x[0]) is type(x.view(6)) is _core.Tensor


# ---------------------------------------------------------------- assignment


def test_assignment():
    x = arange(2, 3)
    x[0] = 7.0
    x[1, 1:] = _core.tensor_from_data([[8.0, 9.0]])  # leading dims of size 1 are dropped
    assert x.tolist() == [[7.0, 7.0, 7.0], [3.0, 8.0, 9.0]]
    x[...] = 1
    x[0, 0] = True
    assert x.tolist() == [[1.0] * 3] * 2
    x[:, 0:0] = 5.0
    assert x.tolist() == [[1.0] * 3] * 2


def test_assignment_errors():
    x = arange(2, 3)
    with pytest.raises(IndexError, match="index 2 is out of bounds for dimension 0 with size 2"):
        x[2] = 1.0
    with pytest.raises(IndexError, match="too many indices for tensor of dimension 2"):
        x[0, 0, 0] = 1.0
    with pytest.raises(ValueError, match="step must be greater than zero"):
        x[::-1] = 1.0
    with pytest.raises(TypeError, match="does not support deleting items"):
        del x[0]
    for value in ("a", [1.0], None):
        with pytest.raises(TypeError):
            x[0] = value
    assert x.tolist() == arange(2, 3).tolist()


def test_error_messages():
    x = arange(2, 3)
    with pytest.raises(IndexError, match="index -3 is out of bounds for dimension 0 with size 2"):
        x[-3]
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        x[0, 0][0]
    with pytest.raises(RuntimeError, match=r"shape '\[5\]' is invalid for input of size 6"):
        x.view(5)
    with pytest.raises(RuntimeError, match=r"Target sizes: \[2, 4\].  Tensor sizes: \[2, 3\]"):
        x.expand(2, 4)


def test_too_many_dims():
    x = arange(1)
    for _ in range(63):
        x = x.unsqueeze(0)
    assert x.ndim == 64 and x.tolist() is not None
    with pytest.raises(RuntimeError, match="at most 64 dimensions"):
        x.unsqueeze(0)
    with pytest.raises(RuntimeError, match="at most 64 dimensions"):
        x[None]
    with pytest.raises(IndexError, match="too many indices"):
        x[(0,) * 100]
    with pytest.raises(RuntimeError, match="at most 64 dimensions"):
        x[(None,) * 100]
    assert x[(slice(None),) * 64].ndim == 64 and x[(0,) * 64].ndim == 0


def test_huge_views():
    x = arange(1)
    assert x.expand(2**40).shape == (2**40,)
    with pytest.raises(RuntimeError, match="overflowed"):
        x.expand(2**40, 2**40)
    with pytest.raises(MemoryError):
        x.expand(2**60).unbind()
    empty = x[:0].view(0, 1, 1).expand(0, 2**62, 2**62)
    with pytest.raises(RuntimeError):
        empty.flatten(1)
    assert empty[:, 5, -1].shape == (0,) and empty.unsqueeze(1).shape == (0, 1, 2**62, 2**62)


def test_meta_views_agree_with_cpu():
    x, m = arange(2, 3, 4), _core.empty((2, 3, 4), dtypes.float32.code, 1)
    steps = [
        lambda t: t.transpose(0, -1),
        lambda t: t[1:, 0],
        lambda t: t.unsqueeze(0),
        lambda t: t.narrow(-1, 1, 1),
    ]
    for first, second in itertools.permutations(steps, 2):
        a, b = second(first(x)), second(first(m))
        assert (a.shape, a.stride(), a.storage_offset()) == (
            b.shape,
            b.stride(),
            b.storage_offset(),
        )
