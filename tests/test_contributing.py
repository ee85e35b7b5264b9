"""The record in CONTRIBUTING.md makes a complete operator, and no other file has to change."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rushlight

ROOT = Path(__file__).parent.parent
GUIDE = ROOT / "CONTRIBUTING.md"

# Runs as a program of its own: "ops/exponential.py" with the records of the guide at its end.
WITH_RECORDS = """
import importlib.abc, importlib.machinery, importlib.util, sys

class Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, name):
        source = self.get_data(self.path).decode() + RECORDS
        return compile(source, self.path, "exec")

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "rushlight.ops.exponential":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        return importlib.util.spec_from_file_location(
            name, spec.origin, loader=Loader(name, spec.origin)
        )

sys.meta_path.insert(0, Finder())
import math
import numpy
import rushlight

data = numpy.linspace(-3, 3, 12, dtype=numpy.float32).reshape(3, 4)
expected = numpy.copysign(numpy.log1p(numpy.abs(data)), data)

def tensor():
    return rushlight.tensor(data.tolist())

def close(found, expected):
    numpy.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-6, atol=1e-6)
"""


def records() -> str:
    """The guide's two records, as they would be pasted in."""
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.S | re.M)
    assert len(blocks) == 2
    assert len(blocks[0].splitlines()) <= 12, "a dozen lines"
    return "from .record import composite, op\n" + "\n".join(blocks)


def run(program: str) -> None:
    code = f"RECORDS = {records()!r}\n{WITH_RECORDS}\n{program}"
    source = str(Path(rushlight.__file__).parent.parent)
    path = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "RUSHLIGHT_CHECK": "1"}
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


FORMS = """
close(rushlight.symlog(tensor()), expected)
close(tensor().symlog(), expected)
x = tensor()
assert x.symlog_() is x
close(x, expected)
out = rushlight.empty(3, 4)
assert rushlight.symlog(tensor(), out=out) is out
close(out, expected)
close(rushlight.symlog(tensor().t()), expected.T)
assert rushlight.symlog(rushlight.tensor([1, 2])).dtype is rushlight.float32
assert rushlight.symlog(rushlight.ones(2, dtype=rushlight.bfloat16)).dtype is rushlight.bfloat16
special = rushlight.symlog(rushlight.tensor([math.inf, -math.inf, math.nan, -0.0])).tolist()
assert special[:2] == [math.inf, -math.inf] and math.isnan(special[2])
assert math.copysign(1, special[3]) == -1
assert rushlight.symlog(rushlight.empty(0, 3)).shape == (0, 3)
close(rushlight.symexp(rushlight.symlog(tensor())), data)
try:
    rushlight.symlog(rushlight.ones(2, dtype=rushlight.complex64))
except NotImplementedError as error:
    assert "symlog" in str(error)
else:
    raise AssertionError("complex numbers are accepted")
"""

GRADIENTS = """
x = tensor().requires_grad_()
(first,) = rushlight.autograd.grad(rushlight.symlog(x).sum(), x, create_graph=True)
close(first, 1 / (1 + numpy.abs(data)))
(second,) = rushlight.autograd.grad(first.sum(), x)
close(second, -numpy.sign(data) / (1 + numpy.abs(data)) ** 2)
x = tensor().requires_grad_()
rushlight.symexp(rushlight.symlog(x)).sum().backward()
close(x.grad, numpy.ones_like(data))
"""

BATCHING = """
from rushlight import dtypes
from rushlight.devices import reference
from rushlight.graph.trace import GraphContext
from rushlight.ops.record import FUNCTIONS
from rushlight.transform.batching import batch_graph

for name, inverse in (("symlog", False), ("symexp", True)):
    context = GraphContext()
    with context.active():
        graph = context.finish([FUNCTIONS[name].trace(context.input(dtypes.float32, (4,)))])
    (found,) = reference.run(batch_graph(graph, [0], 3), [expected if inverse else data])
    numpy.testing.assert_allclose(found.data, data if inverse else expected, rtol=1e-5)
"""

STUBS = """
from rushlight.tools import stubs

functions = stubs.module_stub(rushlight, "")
entry = functions.partition("def symlog(")[2].partition("def ")[0]
assert entry.startswith("input: ") and "out: Any = None" in entry and "-> Tensor:" in entry
assert "compresses large numbers" in entry
table = stubs.records_by_operator()
for name in ("symlog", "symlog_"):
    method = stubs.operator_stub(name, vars(rushlight.Tensor)[name], table, True)
    assert f"def {name}(self) -> Tensor:" in method
"""

DOCUMENTATION = """
import operator_pages
from rushlight.tools.table import records

found = [each for each in records() if each.function.__module__ == "rushlight.ops.exponential"]
page = operator_pages.page("rushlight.ops.exponential", found)
assert ".. py:function:: rushlight.symlog(input, *, out=None)" in page
assert ":py:func:`symlog <rushlight.symlog>`" in page
entry = page.partition("rushlight.symlog(input")[2].partition(".. py:")[0]
assert "compresses large numbers" in entry
assert "``Tensor.symlog_``" in entry and "float32" in entry and "complex" not in entry
"""


@pytest.mark.parametrize(
    "program", [FORMS, GRADIENTS, BATCHING, STUBS], ids=["forms", "gradients", "batching", "stubs"]
)
def test_the_record_is_all_it_takes(program: str) -> None:
    run(program)


def test_the_documentation_lists_it() -> None:
    pytest.importorskip("sphinx")
    run(f"sys.path.insert(0, {str(ROOT / 'docs')!r})\n{DOCUMENTATION}")


def test_the_commands_exist() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    for name in re.findall(r"`([\w./]+/[\w.]+)`", text) + re.findall(r"\]\(([\w./]+)\)", text):
        places = (ROOT / name, ROOT / "src" / "rushlight" / name)
        assert any(place.exists() for place in places), name
    ci = re.search(r"^(\.ci/\w+)", text, re.M)
    assert ci and (ROOT / ci.group(1)).exists()
