"""Functions and methods that older programs use, beside PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import rushlight

torch = pytest.importorskip("torch")
LIBRARIES = (rushlight, torch)


@pytest.mark.parametrize("args", [(), (2,), (2, True), (0,), (5,)])
def test_powers_by_column(args: tuple) -> None:
    for data in ([1, 2, 3], [1.5, -2.0], []):
        ours, theirs = (library.vander(library.tensor(data), *args) for library in LIBRARIES)
        assert tuple(ours.shape) == tuple(theirs.shape)
        assert str(ours.dtype) == str(theirs.dtype)
        numpy.testing.assert_array_equal(ours.numpy(), theirs.numpy())
    for library in LIBRARIES:
        with pytest.raises(RuntimeError):
            library.vander(library.ones(2, 2))
        with pytest.raises(RuntimeError):
            library.vander(library.ones(2), -1)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("args", [(0, 4), (0, 4, 0.5), (4, 0, -1), (0.5, 3), (2, 2)])
def test_range_with_its_end(args: tuple) -> None:
    ours, theirs = (library.range(*args) for library in LIBRARIES)
    assert str(ours.dtype) == str(theirs.dtype)
    assert ours.tolist() == theirs.tolist()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("args", [(0, 1, 0), (0, 4, -1), (0, float("inf"))])
def test_wrong_ranges(args: tuple) -> None:
    for library in LIBRARIES:
        with pytest.raises(RuntimeError):
            library.range(*args)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int8", "bool"])
def test_hashes(dtype: str) -> None:
    data = [[1.0, 0.0, 3.0], [-3.0, 2.0, 1.0]]
    for args, kwargs in (((), {}), ((1,), {}), ((0,), {"keepdim": True}), (((0, 1),), {})):
        ours, theirs = (
            library.hash_tensor(library.tensor(data).to(getattr(library, dtype)), *args, **kwargs)
            for library in LIBRARIES
        )
        assert tuple(ours.shape) == tuple(theirs.shape)
        assert ours.tolist() == theirs.tolist()
    for library in LIBRARIES:
        with pytest.raises(RuntimeError):
            library.hash_tensor(library.ones(2), mode=1)
        with pytest.raises(IndexError):
            library.hash_tensor(library.ones(2, 0), 1)
        with pytest.raises(NotImplementedError):
            library.hash_tensor(library.ones(2, dtype=library.complex64))


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (7, 3), (3, 3), (2, 2, 2), (0, 3), (8, 1)])
@pytest.mark.parametrize("wrap", [False, True])
def test_diagonals_are_filled(shape: tuple[int, ...], wrap: bool) -> None:
    ours, theirs = (library.zeros(shape).fill_diagonal_(7, wrap) for library in LIBRARIES)
    assert ours.tolist() == theirs.tolist()
    ours, theirs = (
        library.zeros(shape[::-1]).permute(*reversed(range(len(shape)))).fill_diagonal_(2)
        for library in LIBRARIES
    )
    assert ours.tolist() == theirs.tolist()


def test_filled_diagonals_get_no_gradient() -> None:
    results = []
    for library in LIBRARIES:
        x = library.ones(3, 3, requires_grad=True)
        y = x * 2
        y.fill_diagonal_(5.0)
        (y * y).sum().backward()
        results.append(x.grad.tolist())
    assert results[0] == results[1]
    for library in LIBRARIES:
        with pytest.raises(RuntimeError):
            library.zeros(3).fill_diagonal_(1)
        with pytest.raises(RuntimeError):
            library.zeros(2, 3, 2).fill_diagonal_(1)


def test_questions_about_tensors() -> None:
    for library in LIBRARIES:
        x = library.ones(2, 3, 4, 5).to(memory_format=library.channels_last)
        assert x.dim_order() == (0, 2, 3, 1)
        assert library.ones(2, 3).t().dim_order() == (1, 0)
        assert not (x.is_conj() or x.is_neg() or x.is_nested or x.is_shared() or x.is_sparse_csr)
        assert library.tensor([1.0, 2.0]).apply_(lambda number: number + 1).tolist() == [2, 3]
        assert x.to_dense() is x


def test_norms_by_their_older_names() -> None:
    x = numpy.random.default_rng(0).standard_normal((3, 4))
    calls: list[Any] = [
        lambda lib, t: lib.frobenius_norm(t, (0, 1)),
        lambda lib, t: lib.frobenius_norm(t, 1, True),
        lambda lib, t: lib.norm_except_dim(t, 2, 0),
        lambda lib, t: lib.norm_except_dim(t, 2, 1),
        lambda lib, t: lib.norm_except_dim(t, 2, -1),
        lambda lib, t: lib.nuclear_norm(t),
    ]
    for call in calls:
        ours, theirs = (call(library, library.tensor(x)) for library in LIBRARIES)
        assert tuple(ours.shape) == tuple(theirs.shape)
        numpy.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12)


def test_embedding_with_the_table_first() -> None:
    results = []
    for library in LIBRARIES:
        table = library.arange(6.0).reshape(3, 2).requires_grad_()
        library.embedding(table, library.tensor([0, 2, 0]), 2, True).sum().backward()
        results.append(table.grad.tolist())
    assert results[0] == results[1]


def test_classes_may_run_functions() -> None:
    from rushlight import overrides

    class Own:
        @classmethod
        def __torch_function__(cls, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
            return function.__name__, len(args)

    class Refusing:
        @classmethod
        def __torch_function__(cls, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
            return NotImplemented

    @overrides.wrap_torch_function(lambda x, y: (x, y))
    def both(x: Any, y: Any) -> str:
        return "plain"

    assert both(1, 2) == "plain"
    assert both(1, Own()) == ("both", 2)
    with pytest.raises(TypeError, match="no implementation found"):
        both(Refusing(), 1)
    assert overrides.is_tensor_like(Own()) and overrides.is_tensor_like(rushlight.ones(1))
    assert not overrides.is_tensor_like(1)
    assert overrides.resolve_name(rushlight.nn.functional.gelu) == "torch.nn.functional.gelu"
    assert overrides.resolve_name(rushlight.fft.fft) == "torch.fft.fft"
    assert overrides.is_tensor_method_or_property(rushlight.Tensor.add)
    assert rushlight.exp in overrides.get_overridable_functions()[rushlight]


def test_convolutions_with_other_arguments() -> None:
    draw = numpy.random.default_rng(0).standard_normal
    line, taps, bias = draw((5, 2, 3)), draw((3, 3, 4)), draw(4)
    image, kernel = draw((1, 2, 5, 6)), draw((2, 3, 2, 2))
    calls: list[Any] = [
        lambda lib: lib.conv_tbc(lib.tensor(line), lib.tensor(taps), lib.tensor(bias), 1),
        lambda lib: lib.convolution(
            lib.tensor(image), lib.tensor(kernel), None, [2], [1], [1], True, [1], 1
        ),
        lambda lib: lib.native_channel_shuffle(lib.arange(8.0).reshape(1, 4, 2), 2),
    ]
    for call in calls:
        ours, theirs = (call(library) for library in LIBRARIES)
        assert tuple(ours.shape) == tuple(theirs.shape)
        numpy.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12)
    for library in LIBRARIES:
        for shapes in (
            ((2, 3), (3, 3, 4), (4,)),
            ((5, 2, 3), (3, 2, 4), (4,)),
            ((5, 2, 3), (3, 3, 4), (3,)),
        ):
            with pytest.raises(RuntimeError):
                library.conv_tbc(*(library.ones(shape) for shape in shapes))


def test_dropout_of_channels_and_in_place() -> None:
    results = []
    for library in LIBRARIES:
        library.manual_seed(0)
        x = library.ones(4, 6)
        assert library.dropout_(x, 0.5, True) is x
        results.append(
            [x.tolist(), library.feature_dropout(library.ones(2, 3, 2), 0.5, True).tolist()]
        )
        with pytest.raises(RuntimeError):
            library.feature_dropout(library.ones(3), 0.5, True)
    assert results[0] == results[1]
