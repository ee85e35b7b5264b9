"""`nn.utils.rnn`, and recurrent layers on packed sequences."""

from __future__ import annotations

import importlib

import numpy
import pytest

import rushlight


def tools(framework):
    return importlib.import_module(f"{framework.__name__}.nn.utils.rnn")


def sequences(framework, lengths=(2, 4, 1), width=3):
    """Sequences of these lengths, and leaves for their gradients."""
    generator = numpy.random.default_rng(0)
    return [
        framework.from_numpy(generator.standard_normal((n, width)).astype("float32"))
        for n in lengths
    ]


def test_packing(framework):
    rnn = tools(framework)
    packed = rnn.pack_sequence(sequences(framework), enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [3, 2, 1, 1]
    assert packed.sorted_indices.tolist() == [1, 0, 2]
    assert packed.unsorted_indices.tolist() == [1, 0, 2]
    for original, unpacked in zip(sequences(framework), rnn.unpack_sequence(packed)):
        assert framework.equal(original, unpacked)
    padded, lengths = rnn.pad_packed_sequence(packed, True, -1.0, 6)
    assert padded.shape == (3, 6, 3) and lengths.tolist() == [2, 4, 1]
    assert (padded[2, 1:] == -1).all()
    again = rnn.pack_padded_sequence(padded, lengths, True, False)
    assert framework.equal(again.data, packed.data)
    assert packed.double().data.dtype == framework.float64 and packed.cpu() is packed
    assert rnn.invert_permutation(framework.tensor([2, 0, 1])).tolist() == [1, 2, 0]
    assert rnn.invert_permutation(None) is None


def test_padding(framework):
    rnn = tools(framework)
    given = sequences(framework)
    assert rnn.pad_sequence(given).shape == (4, 3, 3)
    left = rnn.pad_sequence(given, True, 7.0, "left")
    assert left.shape == (3, 4, 3) and (left[2, :3] == 7).all()
    assert framework.equal(left[0, 2:], given[0])
    padded = rnn.pad_sequence(given, batch_first=True)
    for a, b in zip(rnn.unpad_sequence(padded, framework.tensor([2, 4, 1]), True), given):
        assert framework.equal(a, b)


def test_errors(framework):
    rnn, padded = tools(framework), framework.zeros(3, 2, 1)
    for lengths in ([3, 0], [3], [1, 2]):
        with pytest.raises(RuntimeError):
            rnn.pack_padded_sequence(padded, lengths)
    with pytest.raises(RuntimeError, match="empty"):
        rnn.pad_sequence([])
    with pytest.raises(ValueError, match="total_length"):
        rnn.pad_packed_sequence(rnn.pack_sequence(sequences(framework, (2, 1))), total_length=1)


def test_a_length_beyond_the_padding_is_an_error():
    """PyTorch returns more elements than there are."""
    with pytest.raises(RuntimeError, match="greater"):
        tools(rushlight).pack_padded_sequence(rushlight.zeros(3, 2, 1), [4, 1])


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("name", ["RNN", "GRU", "LSTM"])
def test_layers_on_packed_sequences(torch, name, bidirectional, sort):
    lengths = (4, 2, 1) if sort else (2, 4, 1)
    outcomes = []
    for library in (rushlight, torch):
        library.manual_seed(2)
        layer = getattr(library.nn, name)(3, 5, 2, bidirectional=bidirectional)
        given = [each.requires_grad_() for each in sequences(library, lengths)]
        packed = tools(library).pack_sequence(given, enforce_sorted=sort)
        output, state = layer(packed)
        states = state if isinstance(state, tuple) else (state,)
        sum((part * part).sum() for part in (output.data, *states)).backward()
        tensors = [output.data, *states, *(x.grad for x in given),
                   *(p.grad for p in layer.parameters())]  # fmt: skip
        outcomes.append([tensor.detach().numpy() for tensor in tensors])
        assert output.batch_sizes.tolist() == packed.batch_sizes.tolist()
    for ours, theirs in zip(*outcomes):
        numpy.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(
    ("make", "call", "error"),
    [
        ("LSTM", lambda f, m: m(f.zeros(3)), ValueError),
        ("LSTM", lambda f, m: m(f.zeros(2, 2, 5)), RuntimeError),
        ("GRU", lambda f, m: m(f.zeros(2, 2, 3), f.zeros(1, 3, 4)), RuntimeError),
        ("GRU", lambda f, m: m(f.zeros(2, 2, 3), f.zeros(3, 4)), RuntimeError),
        ("GRU", lambda f, m: m(f.zeros(0, 2, 3)), RuntimeError),
        ("GRU", lambda f, m: m(f.zeros(2, 2, 3, dtype=f.float64)), ValueError),
        ("GRUCell", lambda f, m: m(f.zeros(1, 2, 3)), ValueError),
        ("GRUCell", lambda f, m: m(f.zeros(2, 5)), RuntimeError),
        ("GRUCell", lambda f, m: m(f.zeros(2, 3), f.zeros(3, 4)), RuntimeError),
        ("LSTMCell", lambda f, m: m(f.zeros(2, 3), f.zeros(2, 4)), TypeError),
    ],
)
def test_errors_of_layers(framework, make, call, error):
    with pytest.raises(error):
        call(framework, getattr(framework.nn, make)(3, 4))


def test_errors_of_constructors(framework):
    nn = framework.nn
    for make, error in (
        (lambda: nn.RNN(3, 4, nonlinearity="x"), ValueError),
        (lambda: nn.GRU(3, 4, proj_size=2), ValueError),
        (lambda: nn.GRU(3, 4, dropout=2), ValueError),
        (lambda: nn.GRU(3, 0), ValueError),
        (lambda: nn.GRU(3, 4, 0), ValueError),
        (lambda: nn.LSTM(3, 4, proj_size=4), ValueError),
        (lambda: nn.GRU(3, 4.0), TypeError),
    ):
        with pytest.raises(error):
            make()
