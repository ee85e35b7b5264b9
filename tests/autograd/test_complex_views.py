"""Real views of complex tensors and complex views of real ones: what is written through them, or
through their bases, is part of the history of all that share the memory.
"""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import rushlight

oracle = pytest.importorskip("torch")

# z: complex128 (2, 3); w: float64 (2, 3); both have a history. The results are in `out`.
PROGRAMS = [
    "v = z.real; v.mul_(w); out = [z]",
    "v = z.imag; v.add_(w); v.sin_(); out = [z, v]",
    "v = z.imag[0]; v.mul_(w[0]); out = [z]",
    "z.real.mul_(w); z.imag.copy_(w * 2); out = [z * z]",
    "v = m.view_as_real(z); v[..., 0].mul_(w); out = [z, v]",
    "p = m.stack([w, w * 3], -1); c = m.view_as_complex(p); c.mul_(z); out = [p, c]",
    "p = m.stack([w, w * 3], -1); c = m.view_as_complex(p); c[1].mul_(z[0]); out = [p]",
    "v = z.real; z.mul_(2j); out = [v, z]",
    "v = m.view_as_real(z).transpose(0, 1); z.add_(w); out = [v, z]",
    "p = m.stack([w, w], -1); c = m.view_as_complex(p); p.mul_(3); out = [c.abs(), p]",
    "v = m.view_as_complex(m.view_as_real(z)); v.mul_(2j); out = [z]",
    "v = z.t().real; v.mul_(w.t()); out = [z]",
    "z.real[0] = w[1]; z.imag = w; out = [z]",
    "z.real = w; out = [z, z.real.sin()]",
    "z.imag.zero_(); out = [z]",
    "z.real[:, 1].fill_(2.0); out = [z]",
    "v = z.real; v[0] *= v[1].clone(); out = [z, v]",
    "p = m.stack([w, w * 3], -1); c = m.view_as_complex(p.expand(2, 2, 3, 2)); out = [c * z]",
    "v = z.imag.unsqueeze(0).expand(4, 2, 3); out = [v * w]",
    "v = m.view_as_real(z.t()); v[1, 0] *= 2; out = [z, v]",
]
REFUSED = [
    "v = m.view_as_real(z); v.mul_(v); (v * v).sum().backward()",  # what it saved was written
    "z.detach().requires_grad_().real.mul_(2)",  # a view of a leaf
    "m.view_as_complex(w.requires_grad_())",
    "m.view_as_complex(m.ones(2, 2, dtype=m.float64).t()[:, ::1])",
    "m.view_as_complex(m.ones(2, 3, dtype=m.float64)[:, :2])",
    "m.view_as_complex(m.ones(5, dtype=m.float64)[1:3])",
    "m.view_as_complex(m.ones((), dtype=m.float64))",
    "m.view_as_complex(m.ones(2, dtype=m.int64))",
    "m.view_as_real(w)",
]


def names(m: Any) -> dict[str, Any]:
    generator = numpy.random.default_rng(0)
    w, a, b = (generator.normal(size=(2, 3)) for _ in range(3))
    real = m.tensor(w.tolist(), dtype=m.float64, requires_grad=True)
    both = m.tensor((a + 1j * b).tolist(), dtype=m.complex128, requires_grad=True)
    return {"m": m, "leaves": [both, real], "z": both * 1, "w": real * 1}


def weighted(m: Any, tensors: list[Any]) -> Any:
    """A real number that depends on each part of each element by its own factor."""
    total = 0
    for tensor in tensors:
        parts = m.view_as_real(tensor) if tensor.is_complex() else tensor
        factors = m.cos(m.arange(parts.numel()).to(m.float64)).reshape(parts.shape)
        total = total + (parts * parts * factors).sum()
    return total


def facts(m: Any, program: str) -> tuple[list[Any], list[Any]]:
    """What is equal exactly: versions, views, strides; and numbers: values and two gradients."""
    space = names(m)
    exec(program, space)
    first = m.autograd.grad(
        weighted(m, space["out"]), space["leaves"], create_graph=True, materialize_grads=True
    )
    second = m.autograd.grad(weighted(m, list(first)), space["leaves"], materialize_grads=True)
    tensors = [space[name] for name in "zvpc" if name in space]
    plain = [(t._version, t._base is not None, t.stride(), str(t.dtype)[-7:]) for t in tensors]
    return plain, [t.detach().tolist() for t in (*space["out"], *first, *second)]


@pytest.mark.parametrize("program", PROGRAMS)
def test_history_of_views_of_parts(program: str) -> None:
    (found, ours), (expected, theirs) = (facts(m, program) for m in (rushlight, oracle))
    assert found == expected
    for a, b in zip(ours, theirs, strict=True):
        numpy.testing.assert_allclose(numpy.array(a), numpy.array(b), 1e-12, 1e-12)


@pytest.mark.parametrize("program", REFUSED)
def test_refused(program: str) -> None:
    outcomes = []
    for m in (rushlight, oracle):
        try:
            exec(program, names(m))
            outcomes.append("done")
        except Exception as error:
            outcomes.append(type(error).__name__)
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_both_views_share_memory_and_count_writes_together(torch: Any, dtype: str) -> None:
    pairs = torch.zeros(3, 2, dtype=getattr(torch, dtype))
    numbers = torch.view_as_complex(pairs)
    again = torch.view_as_real(numbers)
    again[1] = 1.0
    assert pairs.tolist() == [[0, 0], [1, 1], [0, 0]]
    assert numbers.stride() == (1,) and again.stride() == (2, 1)
    assert pairs._version == numbers._version == again._version == 1
    assert pairs.data_ptr() == numbers.data_ptr() == again.data_ptr()
