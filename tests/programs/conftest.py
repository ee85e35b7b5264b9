"""Makes the support modules of this folder importable, and runs its tests first.

The programs are the same in each run; so is then what the process has planned before.
"""

from __future__ import annotations

import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: "programs" not in item.path.parts)
