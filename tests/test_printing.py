"""The text of tensors: fixed examples, and equality with PyTorch's where it is installed."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import pytest

import rushlight
from rushlight.tensor import Parameter

INF, NAN = math.inf, math.nan


@pytest.fixture(autouse=True)
def default_options() -> Iterator[None]:
    rushlight.set_printoptions(profile="default")
    yield
    rushlight.set_printoptions(profile="default")


EXAMPLES = [
    ([1, 2, 3], {}, "tensor([1, 2, 3])"),
    ([1.0, 2.0], {}, "tensor([1., 2.])"),
    ([1.5, -2.0], {}, "tensor([ 1.5000, -2.0000])"),
    (3, {}, "tensor(3)"),
    (2.5, {}, "tensor(2.5000)"),
    (True, {}, "tensor(True)"),
    ([True, False], {}, "tensor([ True, False])"),
    ([], {}, "tensor([])"),
    ([[], []], {}, "tensor([], size=(2, 0))"),
    ([], {"dtype": rushlight.int64}, "tensor([], dtype=torch.int64)"),
    ([0.0, NAN], {}, "tensor([0., nan])"),
    ([1.0, INF, -INF], {}, "tensor([1., inf, -inf])"),
    ([1.5, NAN], {}, "tensor([1.5000,    nan])"),
    ([1e-5, 1.0], {}, "tensor([1.0000e-05, 1.0000e+00])"),
    ([1e9], {}, "tensor([1.0000e+09])"),
    ([100000.0], {}, "tensor([100000.])"),
    ([1, 2000], {"dtype": rushlight.int32}, "tensor([   1, 2000], dtype=torch.int32)"),
    ([1.0, 2.0], {"dtype": rushlight.float64}, "tensor([1., 2.], dtype=torch.float64)"),
    ([1.25], {"dtype": rushlight.bfloat16}, "tensor([1.2500], dtype=torch.bfloat16)"),
    ([1 + 2j, 0.5 - 1j], {}, "tensor([1.0000+2.j, 0.5000-1.j])"),
    ([[1, 2], [3, 4]], {}, "tensor([[1, 2],\n        [3, 4]])"),
    (
        [[[1], [2]], [[3], [4]]],
        {},
        "tensor([[[1],\n         [2]],\n\n        [[3],\n         [4]]])",
    ),
    ([1.0], {"requires_grad": True}, "tensor([1.], requires_grad=True)"),
]


@pytest.mark.parametrize(
    ("data", "keywords", "text"), EXAMPLES, ids=[text for *_, text in EXAMPLES]
)
def test_examples(data: Any, keywords: dict[str, Any], text: str) -> None:
    tensor = rushlight.tensor(data, **keywords)
    assert repr(tensor) == text
    assert str(tensor) == text


def test_long_rows_are_wrapped() -> None:
    lines = repr(rushlight.arange(30)).splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert lines[0].startswith("tensor([ 0,  1,") and lines[1].startswith("        ")


def test_large_tensors_are_summarised() -> None:
    assert repr(rushlight.arange(1001)) == "tensor([   0,    1,    2,  ...,  998,  999, 1000])"
    text = repr(rushlight.zeros(40, 40))
    assert text.splitlines()[0] == "tensor([[0., 0., 0.,  ..., 0., 0., 0.],"
    assert text.splitlines()[3] == "        ...,"


def test_gradient_suffixes() -> None:
    x = rushlight.ones(2, requires_grad=True)
    assert repr(x + 1) == "tensor([2., 2.], grad_fn=<AddBackward0>)"
    assert repr(x.detach()) == "tensor([1., 1.])"
    with rushlight.no_grad():
        assert repr(x) == "tensor([1., 1.], requires_grad=True)"


def test_printing_leaves_no_trace() -> None:
    x = rushlight.ones(3, requires_grad=True)
    y = x * 2
    node, version, state = y.grad_fn, y._version, rushlight.get_rng_state()
    repr(y)
    assert y.grad_fn is node
    assert y._version == version
    assert rushlight.equal(rushlight.get_rng_state(), state)


def test_parameter_and_subclass() -> None:
    parameter = Parameter(rushlight.tensor([1.0]))
    assert repr(parameter) == "Parameter containing:\ntensor([1.], requires_grad=True)"

    class Image(rushlight.Tensor):
        pass

    assert repr(rushlight.tensor([1, 2]).as_subclass(Image)) == "Image([1, 2])"


def test_meta() -> None:
    empty = rushlight.empty(2, 3, device="meta")
    assert repr(empty) == "tensor(..., device='meta', size=(2, 3))"


def test_format() -> None:
    assert f"{rushlight.tensor(1.25):.1f}" == "1.2"
    assert f"{rushlight.tensor(7):>4}" == "   7"
    assert f"{rushlight.tensor([1, 2])}" == "tensor([1, 2])"
    with pytest.raises(TypeError, match="unsupported format string"):
        format(rushlight.tensor([1, 2]), ".2f")
    required = rushlight.tensor(2.0, requires_grad=True)
    assert f"{required:.2f}" == "2.00"


def test_options() -> None:
    x = rushlight.tensor([1.12345])
    rushlight.set_printoptions(precision=2)
    assert repr(x) == "tensor([1.12])"
    rushlight.set_printoptions(profile="default", sci_mode=True)
    assert repr(x) == "tensor([1.1235e+00])"
    rushlight.set_printoptions(sci_mode=False, precision=6)
    assert repr(x) == "tensor([1.123450])"
    with pytest.raises(ValueError, match="profile"):
        rushlight.set_printoptions(profile="long")


# ---------------------------------------------------------------- equality with PyTorch

DTYPES = (
    "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128"
).split()
SHAPES = [
    (), (1,), (3,), (40,), (1001,), (0,), (2, 0), (2, 3), (5, 30), (40, 40), (2, 3, 4),
    (11, 11, 11), (2, 2, 2, 2), (3, 500), (1, 1500),
]  # fmt: skip
OPTIONS: list[dict[str, Any]] = [
    {},
    {"precision": 2},
    {"threshold": 5},
    {"edgeitems": 1, "threshold": 10},
    {"edgeitems": 0, "threshold": 10},
    {"linewidth": 40},
    {"profile": "short"},
    {"sci_mode": True},
    {"sci_mode": False},
]


def real_numbers(torch: Any, shape: tuple[int, ...], source: random.Random) -> Any:
    """Random numbers of one of several ranges, some of them special."""
    x = torch.randn(shape, dtype=torch.float64)
    scale = source.choice([1, 10, 1e5, 1e-6, 1e10, 0])
    x = source.choice([lambda: x * scale, lambda: (x * scale).round(), lambda: (8 * x).exp()])()
    if x.numel() and source.random() < 0.3:
        for _ in range(3):
            place = source.randrange(x.numel())
            x.view(-1)[place] = source.choice([NAN, INF, -INF, 0.0, -0.0])
    return x


def numbers(torch: Any, shape: tuple[int, ...], name: str, source: random.Random) -> Any:
    dtype = getattr(torch, name)
    if dtype.is_complex:
        parts = (real_numbers(torch, shape, source) for _ in range(2))
        return torch.complex(*parts).to(dtype)
    if dtype.is_floating_point:
        return real_numbers(torch, shape, source).to(dtype)
    return torch.randint(0, source.choice([2, 100, 120]), shape).to(dtype)


def same(torch: Any, x: Any) -> rushlight.Tensor:
    """The same tensor in Rushlight."""
    name = str(x.dtype).removeprefix("torch.")
    if name == "bfloat16":
        return rushlight.tensor(x.float().numpy()).to(rushlight.bfloat16)
    return rushlight.tensor(x.numpy())


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", DTYPES)
def test_as_pytorch(name: str, options: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    source = random.Random(f"{name} {options}")
    torch.manual_seed(source.randrange(1000))
    torch.set_printoptions(profile="default")
    for package in (torch, rushlight):
        package.set_printoptions(**options)
    try:
        for shape in SHAPES:
            for _ in range(3):
                expected = numbers(torch, shape, name, source)
                assert repr(same(torch, expected)) == repr(expected)
    finally:
        torch.set_printoptions(profile="default")
