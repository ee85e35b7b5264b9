"""Configuration of Sphinx: ``sphinx-build -W docs build/docs``, with the package installed."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import operator_pages
import package_pages

import rushlight

project = "Rushlight"
author = "Rushlight contributors"
version = release = rushlight.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "myst_parser"]
exclude_patterns = ["_build"]

html_theme = "alabaster"
html_theme_options = {"description": "Python defines, LLVM compiles, a small native core replays."}
default_role = "py:obj"
autodoc_typehints = "signature"
add_module_names = False


def setup(app: object) -> None:
    """Write the operators' and the packages' pages before Sphinx looks for sources."""
    generated = Path(__file__).parent / "generated"
    operator_pages.write(generated / "operators")
    package_pages.write(generated / "packages")
