"""Networks trained beside PyTorch from the same seed: same weights, same masks, same losses.

The programs are the demos' scripts, which run on PyTorch when their import is swapped.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import resources
from types import ModuleType
from typing import Any

import numpy
import pytest

import rushlight

torch = pytest.importorskip("torch")
pytest.importorskip("sklearn")

STEPS = 100
PRECISION = {"float32": 1e-4, "float64": 1e-9}


def script(name: str, library: ModuleType) -> Any:
    """A demo's script on a library."""
    source = resources.files("rushlight.demos").joinpath(f"{name}.py").read_text()
    assert source.count("rushlight as torch") == 1
    module = ModuleType(f"{name}_on_{library.__name__}")
    sys.modules[module.__name__] = module  # dataclasses look there
    code = source.replace("import rushlight as torch", f"import {library.__name__} as torch")
    exec(compile(code, f"{name}.py", "exec"), module.__dict__)
    return module


def mlp(library: Any, dtype: str) -> list[float]:
    nn = library.nn
    images, labels, *_ = script("digits", library).load()
    images = images.flatten(1).to(getattr(library, dtype))
    library.manual_seed(3)
    network = nn.Sequential(
        nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 64), nn.ReLU(),
        nn.Dropout(0.2), nn.Linear(64, 10),
    ).to(getattr(library, dtype))  # fmt: skip
    optimizer = library.optim.Adam(network.parameters(), lr=2e-3)
    losses = []
    for step in range(STEPS):
        rows = slice(step * 64 % 1300, step * 64 % 1300 + 64)
        loss = nn.functional.cross_entropy(network(images[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def cnn(library: Any, dtype: str) -> list[float]:
    demo = script("digits", library)
    images, labels, *_ = demo.load()
    library.manual_seed(5)
    network = demo.Network(width=8).to(getattr(library, dtype))
    steps = demo.train(network, images.to(getattr(library, dtype)), labels, epochs=5)
    return [next(steps) for _ in range(STEPS)]


def gpt(library: Any, dtype: str) -> list[float]:
    demo = script("text", library)
    text, alphabet = demo.load()
    library.manual_seed(7)
    sizes = demo.Sizes(len(alphabet), context=32, width=32, heads=4, layers=2)
    network = demo.GPT(sizes).to(getattr(library, dtype))
    return list(demo.train(network, text, STEPS, batch_size=8))


def in_default(dtype: str, library: Any, program: Callable[[Any, str], list[float]]) -> list[float]:
    """The losses with ``dtype`` the default, so that normal numbers are drawn in it: in float32
    they agree to a unit in the last place only.
    """
    before = library.get_default_dtype()
    library.set_default_dtype(getattr(library, dtype))
    try:
        return program(library, dtype)
    finally:
        library.set_default_dtype(before)


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("program", [mlp, cnn, gpt], ids=lambda program: program.__name__)
def test_losses_are_pytorchs(program: Callable[[Any, str], list[float]], dtype: str) -> None:
    ours, theirs = (in_default(dtype, library, program) for library in (rushlight, torch))
    assert theirs[-1] < theirs[0]
    numpy.testing.assert_allclose(ours, theirs, rtol=PRECISION[dtype])


def test_demo_of_digits(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from rushlight.__main__ import main

    assert main(["demo", "--epochs", "6", "--folder", str(tmp_path)]) == 0
    assert "test accuracy" in capsys.readouterr().out
    assert (tmp_path / "digits.pt").exists()


def test_demo_of_text(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from rushlight.demos import text

    loss = text.run(20, folder=str(tmp_path))
    assert loss < 4.5
    assert "a sample" in capsys.readouterr().out


def test_the_loop_of_a_progress_bar(capsys: pytest.CaptureFixture[str]) -> None:
    from rushlight.utils.progress import Progress

    progress = Progress(iter(range(3)), "count", 3)
    for i in progress:
        progress.note(f"at {i}")
    assert "3/3" in capsys.readouterr().err
