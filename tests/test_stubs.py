"""The committed stubs are current, and type checkers can use them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rushlight

PROGRAM = """
import rushlight as torch
import rushlight.nn.functional as F
from rushlight import Tensor

x: Tensor = torch.ones(2, 3, requires_grad=True)
target = torch.tensor([[1.0], [2.0]], dtype=torch.float32)
y = (x * 2 + 1).sum(dim=1, keepdim=True)
loss = F.mse_loss(y, target)
loss.backward()
if x.grad is not None:
    print(x.grad.shape[0] + 1, x.grad.tolist())
n: int = x.size(0)
z = torch.cat([x, x], dim=0).reshape(3, -1)[0, 1:]
same: bool = torch.equal(x, x) and x.allclose(x)
a = -x + 2.5 ** x.abs()
with torch.no_grad():
    x.add_(1).mul_(2)
eps: float = torch.finfo(torch.float32).eps * 2
generator = torch.Generator().manual_seed(3)
numbers = torch.arange(0, 1, 0.25, dtype=torch.float64).numpy()


class Network(torch.nn.Module):
    def __init__(self, width: int = 4) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(3, width), torch.nn.GELU("tanh"))
        self.scale = torch.nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.layers(x) * self.scale
        return result


model = Network().train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model.load_state_dict(model.state_dict())
print(model(torch.ones(2, 3)).shape, sum(p.numel() for p in model.parameters()))
print(f"{loss.item():.3f}", torch.softmax(x, dim=-1), torch.float32.itemsize)
"""
MISTAKES = """
import rushlight as torch

x = torch.ones(2)
x.no_such_method()
torch.tensor([1.0], dtype="float")
n: str = x.numel()
"""


def run(*command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a Python module where only this package is found."""
    source = str(Path(rushlight.__file__).parent.parent)
    environment = {**os.environ, "MYPYPATH": source}
    if (
        "site-packages" in source
    ):  # mypy finds installed packages itself and rejects them in its path
        del environment["MYPYPATH"]
    return subprocess.run(
        [sys.executable, "-m", *command],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
    )


def mypy(text: str, folder: Path) -> str:
    pytest.importorskip("mypy")
    (folder / "program.py").write_text(text, encoding="utf-8")
    options = ("--strict", "--follow-imports=silent", f"--cache-dir={folder / 'cache'}")
    return run("mypy", *options, "program.py", folder=folder).stdout


def test_stubs_are_current(tmp_path: Path) -> None:
    result = run("rushlight.tools.stubs", "--check", folder=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


def test_correct_program(tmp_path: Path) -> None:
    assert "Success" in mypy(PROGRAM, tmp_path)
    exec(compile(PROGRAM, "program.py", "exec"), {})


def test_mistakes_are_found(tmp_path: Path) -> None:
    lines = [line for line in mypy(MISTAKES, tmp_path).splitlines() if "program.py" in line]
    assert [int(line.split(":")[1]) for line in lines] == [5, 6, 7]
