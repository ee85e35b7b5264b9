"""Nodes have PyTorch's names where one node does the work in both."""

from __future__ import annotations

import pytest

import rushlight

torch = pytest.importorskip("torch")

CALLS = [
    "x + 1", "x - y", "x * y", "x / 2", "2 - x", "x ** 2", "x ** y", "-x", "x @ x.t()", "x.t()",
    "x.exp()", "x.log1p()", "x.abs()", "x.sum()", "x.sum(0)", "x.mean()", "x.mean(1)", "x.prod()",
    "x.prod(0)", "x.max()", "x.max(0)[0]", "x.min()", "x.min(1).values", "x.median()", "x.amax(0)",
    "x.var()", "x.std(0)", "x.norm()", "x.cumsum(0)", "x.logsumexp(0)", "x.softmax(0)",
    "x.sort()[0]", "x @ x[0]", "x[0] @ x[0]", "z @ x[:, :2].new_ones(4, 2)",
    "x.clamp(0, 1)", "x.clamp(min=y)", "x.square()", "x.to(m.float64)", "x.double()", "x.clone()",
    "x.masked_fill(x > 0, 1)", "x.masked_fill(x > 0, y.sum())", "x.fmod(2)", "x.remainder(y)",
    "m.lerp(x, y, 0.5)", "m.lerp(x, y, y)", "m.where(x > 0, x, y)", "m.cat([x, y])",
    "m.stack([x, y])", "m.hstack([x, y])", "x.reshape(9)", "x[0]", "x[0:2]", "x[m.tensor([0, 1])]",
    "x.flip(0)", "m.fliplr(x)", "x.repeat(2, 1)", "x.tile(2)", "x.gather(0, i)",
    "x.scatter(0, i, 1.0)", "x.scatter(0, i, y)", "x.index_select(0, i[0])", "x.relu()",
    "F.relu(x)", "F.gelu(x)", "F.softplus(x)", "F.selu(x)", "F.relu6(x)", "F.log_softmax(x, 0)",
    "F.linear(x, y, x[0])", "F.layer_norm(x, (3,))", "F.mse_loss(x, y)", "F.cross_entropy(x, i[0])",
    "F.nll_loss(x, i[0])", "F.dropout(x, 0.5)", "F.embedding(i, x)", "F.conv2d(z, z, padding=1)",
    "F.max_pool2d(z, 2)", "F.avg_pool2d(z, 2)", "F.adaptive_avg_pool2d(z, 2)",
    "F.batch_norm(z, None, None, training=True)", "F.group_norm(z, 1)", "F.unfold(z, 2)",
    "m.special.entr(x)", "m.special.i0e(x)", "m.deg2rad(x)",
    "m.linalg.vector_norm(x)", "m.linalg.cross(x, y)", "m.diag_embed(x[0])",
    "m.broadcast_to(x, (2, 3, 3))",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS)
def test_names(call):
    names = []
    for m in (rushlight, torch):
        values = m.linspace(0.1, 0.9, 9).reshape(3, 3)
        scope = {
            "m": m,
            "F": m.nn.functional,
            "x": values.clone().requires_grad_(),
            "y": values.flip(0).requires_grad_(),
            "z": m.ones(2, 2, 4, 4, requires_grad=True),
            "i": m.tensor([[0, 1, 2], [1, 2, 0]]),
        }
        names.append(eval(call, scope).grad_fn.name())
    assert names[0] == names[1]


def test_written_in_place():
    names = []
    for m in (rushlight, torch):
        x = m.ones(3, requires_grad=True)
        steps = [x.clone().mul_(2), x.clone().exp_(), x.clone().copy_(x), x.clone().clamp_(0, 1)]
        names.append([type(each.grad_fn).__name__ for each in steps])
    assert names[0] == names[1]
