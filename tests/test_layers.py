"""Each layer imports only from those before it: the table in ``docs/design.md``, "Layers".

All imports count: inside functions and under ``TYPE_CHECKING`` too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import rushlight

PACKAGE = Path(rushlight.__file__).parent

# Modules by layer, first to last. What is not listed is user API, the last layer.
LAYERS = {
    "types": ["dtypes", "formats", "limits", "promotion", "layout", "device", "stages"],
    "graph": ["graph"],
    "operators": ["ops"],
    "transforms": ["transform"],
    "code generation": ["codegen"],
    "devices": ["devices"],
    "runtime": [
        "autocasting",
        "check",
        "tolerance",
        "inspection",
        "factories",
        "plan",
        "operators",
        "tensor",
        "indexing",
        "inplace_views",
        "node_names",
    ],
    "user API": [],
}
ORDER = list(LAYERS)
LAYER_OF = {module: layer for layer, modules in LAYERS.items() for module in modules}

# The native core imports no layer. It holds tensors, so only layers that have tensors may use it.
CORE, CORE_FROM = "_core", "devices"

# A node applies a record: the graph's annotations name it, and nothing of it is imported.
ANNOTATIONS_ONLY = {
    ("graph/node.py", "ops.record"),
    ("graph/rewrite.py", "ops.record"),
    ("graph/context.py", "ops.record"),
    ("graph/trace.py", "ops.record"),
}


def layer_of(module: str) -> str:
    """The layer of a module, by its path below the package: ``graph.node``."""
    return LAYER_OF.get(module.partition(".")[0], "user API")


def imports(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Line, module below the package, and whether it is for annotations only, of each import."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    annotations = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        for module in imported(node, path):
            yield node.lineno, module, id(node) in annotations  # type: ignore[attr-defined]


def imported(node: ast.AST, path: Path) -> list[str]:
    """The modules of the package that a statement imports."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
        return [name.removeprefix("rushlight.") for name in names if name.startswith("rushlight.")]
    if not isinstance(node, ast.ImportFrom):
        return []
    if node.level:
        folder = path.parent
        for _ in range(node.level - 1):
            folder = folder.parent
        base = [*folder.relative_to(PACKAGE).parts, *(node.module or "").split(".")]
    elif node.module and node.module.split(".")[0] == "rushlight":
        base = node.module.split(".")[1:]
    else:
        return []
    base = [part for part in base if part]
    return [".".join(base)] if base else [alias.name for alias in node.names]


def violations(path: Path) -> list[str]:
    """What a file imports from layers after its own."""
    name = path.relative_to(PACKAGE).as_posix()
    own = layer_of(name.removesuffix(".py").replace("/", "."))
    found = []
    for line, module, is_annotation in imports(path):
        first = CORE_FROM if module == CORE else layer_of(module)
        allowed = is_annotation and (name, module) in ANNOTATIONS_ONLY
        if ORDER.index(first) > ORDER.index(own) and not allowed:
            found.append(f"{name}:{line}: {own} imports {module} ({first})")
    return found


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(PACKAGE)) for path in FILES])
def test_imports(path: Path) -> None:
    assert not violations(path)


def test_the_table_names_what_exists() -> None:
    for module in LAYER_OF:
        assert (PACKAGE / module).is_dir() or (PACKAGE / f"{module}.py").is_file(), module


def test_the_design_shows_the_table() -> None:
    design = PACKAGE.parent.parent / "docs" / "design.md"
    if not design.exists():
        pytest.skip("not a source tree")
    text = design.read_text(encoding="utf-8")
    rows = {
        cells[1].strip(): cells[2]
        for cells in (line.split("|") for line in text.splitlines() if line.startswith("| "))
        if cells[1].strip() in LAYERS
    }
    assert list(rows) == ORDER
    for layer, modules in LAYERS.items():
        for module in modules:
            is_folder = (PACKAGE / module).is_dir()
            assert f"`{module}{'/' if is_folder else '.py'}`" in rows[layer], (layer, module)


def test_violations_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    (tmp_path / "graph").mkdir()
    path = tmp_path / "graph" / "node.py"
    path.write_text(
        "from typing import TYPE_CHECKING\n"
        "from ..dtypes import dtype\n"
        "from . import rewrite\n"
        "if TYPE_CHECKING:\n"
        "    from ..ops.record import Primitive\n"
        "    from ..transform import reverse\n"
        "def f():\n"
        "    from .. import _core\n"
        "    import rushlight.plan\n"
    )
    assert [each.partition(" imports ")[2] for each in violations(path)] == [
        "transform (transforms)",
        "_core (devices)",
        "plan (runtime)",
    ]
