"""``real`` and ``imag``: views of the parts of complex numbers."""

from __future__ import annotations

import pytest

import rushlight

torch = pytest.importorskip("torch")

VALUES = [[1 + 2j, 3 - 1j, 0.5j], [1, 2, 3j]]


def described(x):
    return str(x.dtype), x.stride(), x.storage_offset(), x.tolist()


@pytest.mark.parametrize("part", ("real", "imag"))
@pytest.mark.parametrize("dtype", ("complex64", "complex128"))
def test_parts_are_views(dtype, part):
    found, expected = [], []
    for m, seen in ((rushlight, found), (torch, expected)):
        z = m.tensor(VALUES, dtype=getattr(m, dtype))
        seen += [described(getattr(x, part)) for x in (z, z.t(), z[1], z[:, ::2])]
        getattr(z, part).mul_(3)
        seen.append(z.tolist())
        z.real.copy_(z.imag)
        seen.append(z.tolist())
        setattr(z, part, 7)
        seen.append(z.tolist())
        assert getattr(z, part)._base is z
    assert found == expected


@pytest.mark.parametrize("part", ("real", "imag"))
def test_gradients_of_parts(part):
    results = []
    for m in (rushlight, torch):
        z = m.tensor(VALUES, requires_grad=True)
        (first,) = m.autograd.grad((getattr(z, part) ** 2 * z.abs()).sum(), z, create_graph=True)
        (second,) = m.autograd.grad((first.real * first.imag).sum(), z)
        results.append(torch.tensor([first.tolist(), second.tolist()]))
    torch.testing.assert_close(results[0], results[1])


def test_real_tensors():
    x = rushlight.tensor([1.0])
    assert x.real is x
    with pytest.raises(RuntimeError):
        _ = x.imag
