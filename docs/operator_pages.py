"""Writes the operators' pages from the operator table: one for each family."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

from sphinx.ext.napoleon import GoogleDocstring

from rushlight import dtypes
from rushlight.ops.record import NONE, Composite, Primitive, Record, Unsupported
from rushlight.tools.table import accepted_dtypes, records

COLUMNS = ("operator", "method", "in-place", "out=", "derivative", "vmap", "ONNX")


def write(folder: Path) -> None:
    """Write an index and the families' pages into a folder; current files are left alone."""
    families: dict[str, list[Record]] = {}
    for record in records():
        families.setdefault(record.function.__module__, []).append(record)
    pages = {
        f"{module.rpartition('.')[2]}.rst": page(module, families[module]) for module in families
    }
    pages["operators.rst"] = index(sorted(pages))
    write_pages(folder, pages)


def write_pages(folder: Path, pages: dict[str, str]) -> None:
    """Write pages into a folder and remove others; current files are left alone."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in folder.glob("*.rst"):
        if path.name not in pages:
            path.unlink()


def index(names: list[str]) -> str:
    entries = "".join(f"   {name.removesuffix('.rst')}\n" for name in names)
    return (
        heading("Operators", "=")
        + "Each page shows one family of the operator table (``rushlight/ops``).\n\n"
        + f".. toctree::\n   :maxdepth: 1\n\n{entries}"
    )


def page(module: str, found: list[Record]) -> str:
    """A family's page: what each operator supports, then each operator."""
    title = (sys.modules[module].__doc__ or module).splitlines()[0].rstrip(".").replace("``", "")
    found = sorted(found, key=lambda record: record.name)
    return heading(title, "=") + support_table(found) + "".join(map(entry, found))


def heading(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}\n\n"


def support_table(found: list[Record]) -> str:
    rows = [COLUMNS, *map(support, found)]
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in rows:
        lines += [f"   {'*' if cell is row[0] else ' '} - {cell}" for cell in row]
    return "\n".join(lines) + "\n\n"


def support(record: Record) -> tuple[str, ...]:
    """A record's row of the table."""
    onnx = record.onnx if isinstance(record.onnx, str) else "yes" if record.onnx else ""
    return (
        f":py:func:`{record.name} <{path_of(record)}>`",
        yes(record.methods),
        yes(record.inplace or record.mutates),
        yes(record.out),
        derivative(record),
        batching(record),
        onnx,
    )


def yes(supported: Any) -> str:
    return "yes" if supported else ""


def derivative(record: Record) -> str:
    """Where the gradient comes from."""
    if isinstance(record, Composite):
        return "derived; own rule" if record.derivative else "derived from its body"
    assert isinstance(record, Primitive)
    rules = (record.own_vjp, record.derivative, record.transpose)
    unsupported = next((rule for rule in rules if isinstance(rule, Unsupported)), None)
    if unsupported:
        return f"not supported: {unsupported.why}"
    if record.derivative is NONE:
        return "none"
    kinds = ("own rule", "partial derivatives", "linear: transposed")
    stated = [kind for kind, rule in zip(kinds, rules, strict=True) if rule is not None]
    return stated[0] if stated else "by its kind"


def batching(record: Record) -> str:
    """Where the batching rule comes from."""
    if isinstance(record, Composite):
        return "derived from its body"
    assert isinstance(record, Primitive)
    if isinstance(record.own_batch, Unsupported):
        return f"not supported: {record.own_batch.why}"
    return "own rule" if record.own_batch else "by its kind"


def path_of(record: Record) -> str:
    """The name under which the operator's entry is found."""
    if record.names:
        return f"rushlight.{record.names[0]}"
    return f"rushlight.Tensor.{record.methods[0]}"


def entry(record: Record) -> str:
    """A record's function with signature, docstring and further facts."""
    signature = record.signature
    plain = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    if record.out and not record.mutates:
        out = inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None)
        plain.append(out)
    directive = "function" if record.names else "method"
    text = f".. py:{directive}:: {path_of(record)}{signature.replace(parameters=plain)}\n\n"
    doc = str(GoogleDocstring(inspect.cleandoc(record.__doc__ or "")))
    blocks = [*escaped(doc).splitlines(), "", *facts(record)]
    return text + "".join(f"   {line}\n" if line else "\n" for line in blocks) + "\n"


def escaped(doc: str) -> str:
    """A docstring in which stars, bars and final underscores are no markup, except in literals."""
    parts = doc.split("``")
    parts[::2] = [re.sub(r"[*|]|_(?!\w)", r"\\\g<0>", part) for part in parts[::2]]
    return "``".join(parts)


def facts(record: Record) -> list[str]:
    """Other names, methods, in-place forms, and the dtypes it accepts, as a list of fields."""
    lines = []
    if record.names[1:]:
        lines.append(f":also: {', '.join(f'``rushlight.{name}``' for name in record.names[1:])}")
    if record.methods and record.names:
        lines.append(f":methods: {', '.join(f'``Tensor.{name}``' for name in record.methods)}")
    if record.inplace:
        lines.append(f":in-place: {', '.join(f'``Tensor.{name}_``' for name in record.methods)}")
    if record.samples is not None:
        accepted = accepted_dtypes(record)
        names = [each.name for each in accepted]
        lines.append(f":dtypes: {'all' if len(names) == len(dtypes.ALL) else ', '.join(names)}")
    return lines
