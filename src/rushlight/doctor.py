"""``rushlight doctor``: what is installed and what each device can do."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata


def version_of(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def report() -> str:
    """A text for people and bug reports: versions, CPU, threads, cache, devices."""
    from . import _core
    from .codegen import cache, target

    lines = [
        f"rushlight {version_of('rushlight')} on Python {platform.python_version()}, "
        f"{platform.platform()}",
        "",
    ]
    lines.append("packages")
    for package in ("numpy", "scipy", "llvmlite", "scipy-openblas32"):
        lines.append(f"  {package:18}{version_of(package)}")
    lines += ["", "processor"]
    for name, text in target.describe():
        lines.append(f"  {name:18}{text}")
    lines.append(f"  {'threads':18}{_core.get_num_threads()} of {os.cpu_count()}")
    lines += ["", "memory"]
    for name, value in _core.allocator_statistics().items():
        lines.append(f"  {name:18}{value}")
    lines += ["", "kernel cache"]
    for name, text in cache.describe():
        lines.append(f"  {name:18}{text}")
    lines += [
        "",
        "devices",
        "  cpu               ready",
        "  meta              ready (shapes without data)",
    ]
    for name in ("cuda", "hip", "opencl"):
        lines.append(f"  {name:18}not supported by this build")
    if sys.flags.optimize:
        lines += ["", "note: Python runs with -O; internal checks are off"]
    return "\n".join(lines)
