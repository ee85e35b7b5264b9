"""Type promotion agrees with PyTorch's for every pair of dtypes and categories."""

from __future__ import annotations

import itertools

import pytest

from rushlight import dtypes, promotion

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")

NUMBER_DTYPES = {dtypes.bool: True, dtypes.int64: 1, dtypes.float64: 1.0, dtypes.complex128: 1j}


def operands():
    for dtype in dtypes.ALL:
        theirs = getattr(torch, dtype.name)
        yield (dtype, promotion.DIMENSIONED), torch.empty(2, dtype=theirs)
        yield (dtype, promotion.ZERO_DIM), torch.empty((), dtype=theirs)
        if dtype in NUMBER_DTYPES:
            yield (dtype, promotion.NUMBER), NUMBER_DTYPES[dtype]


def outcome(function, *args):
    try:
        return repr(function(*args))
    except RuntimeError as error:
        return str(error)[: len("Promotion for uint16")]


@pytest.mark.parametrize("default", [dtypes.float32, dtypes.float64], ids=repr)
def test_result_type(default):
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(getattr(torch, default.name))
        dtypes.set_default_dtype(default)
        for (ours, theirs), (our_other, their_other) in itertools.product(
            list(operands()), repeat=2
        ):
            expected = outcome(torch.result_type, theirs, their_other)
            assert outcome(promotion.result_type, [ours, our_other]) == expected, (
                ours,
                our_other,
            )
    finally:
        torch.set_default_dtype(before)
        dtypes.set_default_dtype(dtypes.float32)


def test_can_cast_and_promote_types():
    for a, b in itertools.product(dtypes.ALL, repeat=2):
        theirs = getattr(torch, a.name), getattr(torch, b.name)
        assert promotion.can_cast(a, b) == torch.can_cast(*theirs)
        assert outcome(promotion.promote_types, a, b) == outcome(torch.promote_types, *theirs)


def test_dtype_attributes():
    for ours in dtypes.ALL:
        theirs = getattr(torch, ours.name)
        for name in ("itemsize", "is_floating_point", "is_complex", "is_signed"):
            assert getattr(ours, name) == getattr(theirs, name)
        assert repr(ours) == repr(theirs)
        if ours.is_differentiable:
            assert repr(ours.to_complex()) == repr(theirs.to_complex())
            assert repr(ours.to_real()) == repr(theirs.to_real())
