"""What we say to users is said in our own words: no long run of words is PyTorch's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import rushlight

torch = pytest.importorskip("torch")

RUN = 9  # words
PACKAGE = Path(rushlight.__file__).parent
NATIVE = Path(__file__).parents[1] / "native"
_LITERAL = r'"((?:[^"\\\n]|\\.)*)"'
CODE = "tools"  # its strings are pieces of programs


def words(text: str) -> list[str]:
    return re.sub(r"[\"'`\s\\]+", " ", text).split()


def python_strings(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def native_strings(path: Path) -> Iterator[tuple[int, str]]:
    text = path.read_text()
    for found in re.finditer(rf"{_LITERAL}(?:\s*{_LITERAL})*", text):
        yield text.count("\n", 0, found.start()) + 1, re.sub(r'"\s*"', "", found.group())


def our_runs() -> dict[tuple[str, ...], str]:
    """Every run of words that a string of ours has, and where."""
    runs = {}
    sources = [path for path in PACKAGE.rglob("*.py") if path.parent.name != CODE]
    for path in [*sources, *NATIVE.glob("*.cpp")]:
        strings = python_strings(path) if path.suffix == ".py" else native_strings(path)
        for line, text in strings:
            said = words(text)
            for start in range(len(said) - RUN + 1):
                runs[tuple(said[start : start + RUN])] = f"{path.name}:{line}"
    return runs


def their_texts() -> Iterator[str]:
    folder = Path(torch.__file__).parent
    for path in folder.rglob("*.py"):
        # strings that continue on the next line
        yield re.sub(r"[\"']\s*\n\s*f?[\"']", "", path.read_text(errors="ignore"))
    for name in ("libtorch_cpu.so", "libtorch_python.so", "libc10.so"):
        path = folder / "lib" / name
        if path.exists():
            texts = re.findall(rb"[\x20-\x7e\n]{20,}", path.read_bytes())
            yield "\n".join(text.decode("ascii") for text in texts)


def test_no_long_run_of_words_is_shared() -> None:
    ours, shared = our_runs(), {}
    first = {run[0] for run in ours}
    for text in their_texts():
        said = words(text)
        for start, word in enumerate(said):
            if word in first:
                run = tuple(said[start : start + RUN])
                if run in ours:
                    shared[run] = ours[run]
    assert not shared, "\n".join(sorted(f"{at}: {' '.join(run)}" for run, at in shared.items()))
