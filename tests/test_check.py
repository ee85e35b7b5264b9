"""``RUSHLIGHT_CHECK``: sound plans pass, and a planted fault is found and named."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import rushlight
from rushlight import _core, check, dtypes, plan
from rushlight.check import CheckError
from rushlight.codegen import builder, legalize, scalars
from rushlight.graph.trace import PRIMITIVES
from rushlight.ops.record import FUNCTIONS, Record
from rushlight.ops.samples import Draw
from rushlight.tools.table import records

RECORDS = sorted((each.name, each) for each in records() if each.samples is not None)
REFUSED = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError)


@pytest.fixture(autouse=True)
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Check every plan; kernels that these tests spoil are kept for no other."""
    cache = tmp_path / "kernels"
    cache.mkdir(mode=0o700)
    monkeypatch.setenv("RUSHLIGHT_CACHE_DIR", str(cache))
    monkeypatch.setattr(plan, "_kernels", {})
    before = check.set_enabled(True)
    yield
    check.set_enabled(before)
    forget()


def forget() -> None:
    for record in FUNCTIONS.values():
        record.operator.clear()  # type: ignore[union-attr]


def random_tensor(*shape: int) -> Any:
    return rushlight.tensor(numpy.random.default_rng(0).uniform(-2, 2, shape).tolist())


# ---------------------------------------------------------------- planted faults


def test_a_wrong_scalar_instruction_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    monkeypatch.setitem(scalars._TABLE, "exp", scalars._TABLE["expm1"])
    with pytest.raises(CheckError) as error:
        rushlight.softmax(random_tensor(3, 4), 1)
    message = str(error.value)
    assert message.startswith("softmax: the fused kernels diverge at v4 = exp(v3)")
    assert "compiled alone" in message and "# nest:" in message and "test_check.py:" in message


def test_a_wrong_scalar_instruction_in_a_backward_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    x = random_tensor(5).requires_grad_()
    y = rushlight.tanh(x).sum()
    monkeypatch.setitem(scalars._TABLE, "mul", scalars._TABLE["add"])
    with pytest.raises(CheckError, match=r"tanh_backward: the fused kernels diverge at .* = mul\("):
        y.backward()


def test_a_wrong_fusion_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Right when compiled alone, wrong once other instructions are there."""
    forget()
    right = builder.NestBuilder.scalar_instruction

    def wrong(self: Any, node: Any, arguments: list[int], value: Any) -> int:
        fused = any(each.name.startswith("reduce_") for each in self.body)
        return right(
            self, node, arguments[::-1] if fused and node.name == "sub" else arguments, value
        )

    monkeypatch.setattr(builder.NestBuilder, "scalar_instruction", wrong)
    with pytest.raises(CheckError) as error:
        rushlight.softmax(random_tensor(3, 4), 1)
    message = str(error.value)
    assert message.startswith("softmax: the fused kernels diverge at v3 = sub(a0, v2)")
    assert "fused with what it needs" in message


def test_a_wrong_legalization_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    right = legalize.Legalizer.emit

    def wrong(self: Any, name: str, *rest: Any, **attributes: Any) -> Any:
        dims = {"dims": (0,)} if name == "sum" else {}
        return right(self, name, *rest, **attributes | dims)

    monkeypatch.setattr(legalize.Legalizer, "emit", wrong)
    x = rushlight.tensor([[1, 2], [3, 4]])
    with pytest.raises(CheckError, match="matmul: the legalized graph .*"):
        rushlight.matmul(x, x)


def test_a_wrong_value_of_legalization_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    right = legalize.Legalizer.matmul
    monkeypatch.setattr(
        legalize.Legalizer,
        "matmul",
        lambda self, node: self.convert(node.inputs[0], right(self, node).dtype),
    )
    x = rushlight.tensor([[1, 2], [3, 4]])
    expected = r"matmul: the legalized graph diverges at .* = matmul\(.*1 instead of 7 at \[0, 0\]"
    with pytest.raises(CheckError, match=expected):
        rushlight.matmul(x, x)


def test_a_node_without_a_lowering_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    monkeypatch.delitem(scalars._TABLE, "exp")
    with pytest.raises(
        CheckError, match="exp: the legalized graph breaks a rule: exp: there is no"
    ):
        rushlight.exp(random_tensor(3))


def test_a_wrong_derived_shape_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    right = PRIMITIVES["exp"].infer

    def wrong(inputs: Any, attributes: Any, environment: Any) -> list[tuple]:
        ((dtype, shape, weak),) = right(inputs, attributes, environment)
        return [(dtype, shape[::-1], weak)]

    monkeypatch.setattr(PRIMITIVES["exp"], "infer", wrong)
    with pytest.raises(CheckError, match=r"exp: the traced graph cannot run at v0 = exp\(a0\)"):
        rushlight.exp(random_tensor(3, 4))


def test_a_nest_that_breaks_a_rule_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    monkeypatch.setattr(builder.NestBuilder, "level", lambda self, binding: "")
    with pytest.raises(CheckError, match="exp: the fused kernels breaks? a rule: operand 0: level"):
        rushlight.exp(random_tensor(3, 4))


# ---------------------------------------------------------------- sound plans


@pytest.mark.parametrize("name, record", RECORDS, ids=[name for name, _ in RECORDS])
def test_samples_pass(name: str, record: Record) -> None:
    """Each record's samples, and their gradients."""
    if record.operator is None:
        pytest.skip("no operator")
    random = numpy.random.default_rng(zlib.crc32(name.encode()))
    for args, kwargs in record.samples(dtypes.float32):  # type: ignore[misc]
        args = draw(args, random)
        kwargs = {key: draw(each, random) for key, each in kwargs.items()}
        for each in args:
            if (
                isinstance(each, rushlight.Tensor)
                and each.is_floating_point()
                and not record.mutates
            ):
                each.requires_grad_()
        try:
            result = record.operator(*args, **kwargs)
            if isinstance(result, rushlight.Tensor) and result.requires_grad:
                result.backward(rushlight.ones_like(result))
        except REFUSED:
            continue  # not a call that this dtype allows; what is refused is for other tests


def draw(argument: Any, random: numpy.random.Generator) -> Any:
    if isinstance(argument, Draw):
        data = numpy.array(argument.array(dtypes.float32, random))
        return _core.from_numpy(data).to(argument.dtype or dtypes.float32)
    if isinstance(argument, tuple | list):
        return type(argument)(draw(each, random) for each in argument)
    return argument


def test_draws_are_made_once() -> None:
    def numbers() -> list[float]:
        rushlight.manual_seed(3)
        forget()
        x = rushlight.rand(5)
        y = rushlight.nn.functional.dropout(rushlight.ones(20), 0.5)
        z = rushlight.randn(3)
        return [*x.tolist(), *y.tolist(), *z.tolist()]

    with_checks = numbers()
    check.set_enabled(False)
    assert with_checks == numbers()


def test_arguments_are_left_alone_and_aliases_work() -> None:
    forget()
    x = rushlight.tensor([[1.0, 2.0], [3.0, 4.0]])
    x.add_(x)
    assert x.tolist() == [[2.0, 4.0], [6.0, 8.0]]
    x.mul_(x)
    assert x.tolist() == [[4.0, 16.0], [36.0, 64.0]]
    y = rushlight.ones(1, 2).expand(2, 2)
    assert (y + x[:, 1:]).tolist() == [[17.0, 17.0], [65.0, 65.0]]
    x[:, 0].add_(1)
    assert x.tolist() == [[5.0, 16.0], [37.0, 64.0]]


def test_the_environment_variable_turns_it_on() -> None:
    code = (
        "from rushlight.codegen import scalars\n"
        "import rushlight\n"
        "scalars._TABLE['add'] = scalars._TABLE['sub']\n"
        "rushlight.ones(3) + rushlight.ones(3)\n"
    )
    environment = {**os.environ, "RUSHLIGHT_CHECK": "1"}
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode != 0
    assert "CheckError: add: the fused kernels diverge at" in result.stderr
