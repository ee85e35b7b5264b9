"""How results lie in memory, and writes into tensors whose elements share memory."""

from __future__ import annotations

import itertools

import pytest

import rushlight

torch = pytest.importorskip("torch")


def strided(m, order):
    """A 4-dimensional tensor whose dims lie in memory in this order."""
    sizes = (2, 3, 4, 2)
    x = m.arange(48).to(m.float32).reshape([sizes[dim] for dim in order])
    return x.permute([order.index(dim) for dim in range(4)])


INDICES = (
    lambda m: (m.tensor([0, 1]),),
    lambda m: (slice(None), m.tensor([[0], [1]])),
    lambda m: (slice(None), m.tensor([[0, 1], [1, 1]]).t(), m.tensor([0, 1])),
    lambda m: (m.tensor([1, 0]), slice(None), m.tensor([3, 0])),
    lambda m: (slice(None), m.tensor([True, False, True]), slice(0, 2)),
    lambda m: (m.tensor([True, True]), None, 0),
    lambda m: (True,),
)


@pytest.mark.parametrize("order", itertools.permutations(range(4)))
def test_index_keeps_the_order_of_dims(order):
    for index in INDICES:
        found, expected = (strided(m, order)[index(m)] for m in (rushlight, torch))
        assert (found.tolist(), found.stride()) == (expected.tolist(), expected.stride())


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("order", ((0, 1, 2, 3), (3, 1, 0, 2)))
def test_resized_out_lies_as_a_new_result(order):
    for call in (
        lambda m, x, out: m.exp(x, out=out),
        lambda m, x, out: m.sum(x, 1, out=out),
        lambda m, x, out: m.cat([x, x], 2, out=out),
    ):
        outs = [m.zeros(5) for m in (rushlight, torch)]
        for m, out in zip((rushlight, torch), outs):
            call(m, strided(m, order), out)
        assert outs[0].stride() == outs[1].stride()
        assert outs[0].shape == outs[1].shape


def test_resized_out_decides_the_dtype():
    out = rushlight.zeros((1,), dtype=rushlight.bool)
    assert rushlight.sum(rushlight.ones(2, 3, dtype=rushlight.bool), 0, out=out) is out
    assert out.tolist() == [True] * 3


def test_angle_of_complex_numbers_is_row_major():
    for dtype in ("float32", "complex64"):
        found, expected = (
            m.angle(strided(m, (3, 2, 1, 0)).to(getattr(m, dtype))) for m in (rushlight, torch)
        )
        assert found.stride() == expected.stride()


def test_one_number_may_be_written_through_an_expanded_tensor():
    base = rushlight.ones(3)
    base.expand(4, 3).fill_(2)
    assert base.tolist() == [2, 2, 2]
    base.expand(4, 3).zero_()
    assert base.tolist() == [0, 0, 0]
    with pytest.raises(RuntimeError, match="several elements of the written tensor"):
        base.expand(4, 3).add_(1)


@pytest.mark.parametrize("index", (1, -1, 3))
def test_index_into_a_0d_tensor_is_checked(index):
    x = rushlight.tensor(5.0)
    with pytest.raises(IndexError):
        rushlight.index_select(x, 0, rushlight.tensor([index]))
    with pytest.raises((IndexError, RuntimeError)):
        rushlight.gather(x, 0, rushlight.tensor([index]))


def test_messages_tell_sizes():
    with pytest.raises(RuntimeError, match=r"size 2 .*must match the size of tensor b \(4\)"):
        rushlight.ones(2, 3) + rushlight.ones(4, 5)


@pytest.mark.parametrize("order", ((0, 1, 2, 3), (3, 1, 0, 2), (1, 0, 2, 3)))
def test_sorted_elements_and_their_indices_lie_as_the_input(order):
    for call in (
        lambda m, x: [*m.sort(x, 1), m.argsort(x, -1), m.msort(x)],
        lambda m, x: [*m.sort(x[:, ::2], 2), m.argsort(x[:1].expand(3, 3, 4, 2), 0)],
        lambda m, x: m.sort(x.requires_grad_(), 0, descending=True),
    ):
        found, expected = (call(m, strided(m, order)) for m in (rushlight, torch))
        assert [each.stride() for each in found] == [each.stride() for each in expected]
        assert [each.tolist() for each in found] == [each.tolist() for each in expected]


MATRICES = {
    "row-major": lambda m: m.ones(2, 3),
    "column-major": lambda m: m.ones(3, 2).t(),
    "one row": lambda m: m.ones(1, 3).expand(2, 3),
    "one column": lambda m: m.ones(2, 1).expand(2, 3),
    "one row of columns": lambda m: m.ones(3, 1).expand(3, 2).t(),
    "one element": lambda m: m.ones(1, 1).expand(2, 3),
    "vector": lambda m: m.ones(3),
    "stepped": lambda m: m.ones(2, 6)[:, ::2],
}


def of_dtype(m, name, dtype):
    """A matrix whose dims lie as those of MATRICES do."""
    x = MATRICES[name](m)
    like = m.empty(18, dtype=getattr(m, dtype)).fill_(1)
    return like.as_strided(x.shape, x.stride())


@pytest.mark.parametrize("name", MATRICES)
def test_operands_of_another_dtype_lie_as_their_copies(name):
    for other in MATRICES:
        for dtypes in (("int64", "float32"), ("float64", "float32"), ("bfloat16", "bfloat16")):
            for call in (
                lambda m, x, y: x * y,
                lambda m, x, y: y < x,
                lambda m, x, y: m.where(x > 0, x, y),
                lambda m, x, y: m.ldexp(x, y.to(x.dtype)),
                lambda m, x, y: x * 2.0**y,
                lambda m, x, y: m.ldexp(x.to(m.float64), x.int()),
            ):
                found, expected = (
                    call(m, *(of_dtype(m, *each) for each in zip((name, other), dtypes)))
                    for m in (rushlight, torch)
                )
                assert found.stride() == expected.stride(), (other, dtypes)


def test_a_conversion_keeps_the_strides_of_dims_of_size_1():
    """Which decide here on the order of the result's dims."""
    strides = []
    for m in (rushlight, torch):
        narrow = m.zeros(3, 1, dtype=m.int32).permute(1, 0).unsqueeze(-2)
        strides.append([m.le(m.zeros(3, 1), narrow).stride(), (narrow + m.zeros(3, 1)).stride()])
    assert strides[0] == strides[1]


PARTS = {
    "middle": lambda i: (slice(None), i(0, 0)),
    "first": lambda i: (i(0, 0),),
    "last": lambda i: (slice(None), slice(None), i(0, 0)),
    "apart": lambda i: (i(0, 0), slice(None), i(0, 0)),
    "two": lambda i: (slice(None), i([0], [0]), i(0, 0)),
    "after a slice": lambda i: (slice(-1, None), i(0, 0)),
    "matrix after a slice": lambda i: (slice(-1, None), i([0, 0])),
    "after a new dim": lambda i: (None, i(0, 0)),
    "two after a slice": lambda i: (slice(-1, None), i([0], [0]), i([0, 0])),
}


@pytest.mark.parametrize("name", PARTS)
def test_indices_into_dims_of_size_1(name):
    """Whose strides decide on the order of the result's dims."""
    found = []
    for m in (rushlight, torch):
        parts = PARTS[name](lambda *indices, m=m: m.tensor(indices))
        found.append([])
        for shape in ((2, 1, 3), (1, 2, 3), (1, 1, 3), (2, 3, 1), (1, 3, 1), (3, 1, 1)):
            for order in itertools.permutations(range(3)):
                base = m.zeros([shape[dim] for dim in order])
                result = base.permute([order.index(dim) for dim in range(3)])[parts]
                strides = zip(result.stride(), result.shape)
                found[-1].append([stride for stride, size in strides if size != 1])
    assert found[0] == found[1]
