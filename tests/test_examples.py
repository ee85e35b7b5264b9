"""The examples in docstrings run and give what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path
from typing import Any

import pytest

import rushlight

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
LEFT_OUT = ("rushlight.__main__", "rushlight.demos", "rushlight.tools")


def modules() -> list[str]:
    found = pkgutil.walk_packages(rushlight.__path__, "rushlight.")
    return [each.name for each in found if not each.name.startswith(LEFT_OUT)]


@pytest.mark.parametrize("name", modules())
def test_examples(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # examples may write files
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    rushlight.manual_seed(0)
    report: list[str] = []
    names: dict[str, Any] = {**vars(module), "rushlight": rushlight}
    for example in doctest.DocTestFinder(exclude_empty=True).find(module, name, globs=names):
        runner.run(example, out=report.append)
    assert not runner.failures, "".join(report)
